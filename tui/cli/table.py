"""Lay out the lines that commands print: a table of specs, or one spec a line."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from spackscope.model.core.columns import BY_NAME, COLUMNS, Column, Value
from spackscope.model.core.records import HASH_LENGTH, Spec
from spackscope.model.core.text import aligned, cell_width, clean, pad, shorten
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.listing import Listing
from spackscope.model.report.table_columns import variants_cell
from spackscope.tui.cli.colours import Colours

_GAP = "  "
_MAX_SHARED_LINES = 4
_MIN_WIDTH = 9
_Texts = Callable[[Column, Value], str]

# Lists are last, since they are cut first where the terminal is narrow.
_ORDER = sorted((c for c in COLUMNS if c.in_find), key=lambda column: column.cut_at_end)


class Table:
    """The rows of a listing in columns that fit a terminal.

    Those that depend on the host are shown if they are `named`.
    """

    def __init__(
        self, catalog: Catalog, listing: Listing, named: Collection[str] = frozenset()
    ) -> None:
        self._named = named
        self._catalog, self._listing, self._count = catalog, listing, len(listing)
        self._text = _cached(self._make_text)

    def lines(self, width: int, colours: Colours) -> Iterator[str]:
        """Yield lines that fit `width` cells: what all rows have in common, header, rows.

        A single row keeps its columns, or its table would consist of a hash only.
        """
        natural = self._measure()
        yield from _wrapped(self._shared(natural), " · ", width)
        if same := self._same_variants():
            parts = _wrapped(["same in all:", *same], " ", width, max_lines=_MAX_SHARED_LINES)
            yield from map(colours.dim, parts)
        widths = _shrink(natural, width)
        fits = sum(widths.values()) + len(_GAP) * (len(widths) - 1) <= width

        def joined(cells: Iterable[str]) -> str:
            line = _GAP.join(cells).rstrip()
            return line if fits else shorten(line, width, keep="start")

        head = joined(_fit(column, column.label, cells) for column, cells in widths.items())
        yield colours.bold(head)
        # A line that is cut must have no colours in it.
        styles = self._styles(colours) if fits else {}

        def fit_cell(column: Column, value: Value) -> str:
            fitted = _fit(column, self._text(column, value), widths[column])
            text = fitted.rstrip()
            return styles.get(column.name, str)(text) + " " * (len(fitted) - len(text))

        fit = _cached(fit_cell)
        for spec in self._catalog.specs(self._listing):
            yield joined([fit(column, column.value(spec)) for column in widths])

    def _styles(self, colours: Colours) -> Mapping[str, Callable[[str], str]]:
        """Return what styles the cells of a column, where anything does."""
        varies = self._count > 1
        return {
            "hash": colours.link,
            "variants": lambda text: colours.variants(text, varying=varies),
            "state": colours.states,
            "source": colours.dim,
        }

    def _measure(self) -> dict[Column, int]:
        """Choose the columns, and return the widths of their contents."""
        widths = {column: cell_width(column.label) for column in _ORDER if self._is_shown(column)}
        has_sizes = False
        for spec in self._catalog.specs(self._listing):
            has_sizes = has_sizes or spec.size is not None
            for column, widest in widths.items():
                width = cell_width(self._text(column, column.value(spec)))
                if width > widest:
                    widths[column] = width
        if not has_sizes:
            widths.pop(BY_NAME["size"], None)
        return widths

    def _is_shown(self, column: Column) -> bool:
        if column.is_by_host:
            return column.name in self._named
        if column.name not in self._listing.values.constants:
            return True
        return self._count == 1 and (column.shown != "if_varied" or column.name == "package")

    def _make_text(self, column: Column, value: Value) -> str:
        if column.name == "variants" and isinstance(value, tuple) and self._count > 1:
            return variants_cell(value, self._listing.values.varying_variants)[0] or "-"
        return column.cell(value) or "-"

    def _same_variants(self) -> list[str]:
        if self._count == 1:
            return []
        first = next(iter(self._catalog.specs(self._listing)))
        return variants_cell(first.variants, self._listing.values.varying_variants)[1].split()

    def _shared(self, columns: Collection[Column]) -> list[str]:
        """Return the values that have no column because all rows have them."""
        folded = {
            column.name: column.find_prefix + column.cell(value)
            for column in COLUMNS
            if (value := self._listing.values.constants.get(column.name))
            and column not in columns
            and column.find_prefix is not None
        }
        spec = folded.pop("package", "")
        if spec and "version" in folded:
            spec += f"@{BY_NAME['version'].cell(self._listing.values.constants['version'])}"
            del folded["version"]
        count = f"{self._count:,} {'spec' if self._count == 1 else 'specs'}"
        return [count, *([spec] if spec else []), *folded.values()]


def candidates(specs: Sequence[Spec], hash_length: int = HASH_LENGTH) -> Iterator[str]:
    """Return one line for each spec, in columns, its hash first."""
    rows = [
        (
            spec.hash[:hash_length],
            clean(f"{spec.package}@{spec.version}"),
            *(BY_NAME[name].cell(getattr(spec, name)) for name in ("compiler", "os", "target")),
        )
        for spec in specs
    ]
    return aligned(rows)


def _cached(make: _Texts) -> _Texts:
    """Cache the texts of columns with few different values."""
    texts: dict[tuple[str, Value], str] = {}

    def cached(column: Column, value: Value) -> str:
        if not column.has_dictionary:
            return make(column, value)
        text = texts.get((column.name, value))
        if text is None:
            text = texts[column.name, value] = make(column, value)
        return text

    return cached


def _shrink(natural: Mapping[Column, int], width: int) -> dict[Column, int]:
    """Shrink columns to a total width, the widest first, and lists before others.

    A hash is never cut, and others only as far as they can be distinguished, if possible.
    """
    room = width - len(_GAP) * (len(natural) - 1)
    widths = {column: min(cells, max(room, _MIN_WIDTH)) for column, cells in natural.items()}
    lists = [column for column in widths if column.cut_at_end]
    others = [column for column in widths if not column.cut_at_end and column.name != "hash"]
    for columns, least in ((lists, 16), (others, 12), (lists, _MIN_WIDTH), (others, _MIN_WIDTH)):
        while columns and sum(widths.values()) > room:
            widest = max(columns, key=widths.__getitem__)
            if widths[widest] <= least:
                break
            widths[widest] -= 1
    return widths


def _fit(column: Column, text: str, width: int) -> str:
    fitted = shorten(text, width, keep="start" if column.cut_at_end else "ends")
    return pad(fitted, width, right=column.align_right)


def _wrapped(parts: Iterable[str], between: str, width: int, max_lines: int = 0) -> Iterator[str]:
    """Join parts into lines that fit `width` cells; at most `max_lines`, the last ends in `…`."""
    line = ""
    count = 1
    for part in parts:
        fitted = shorten(part, width)
        longer = f"{line}{between}{fitted}" if line else fitted
        if cell_width(longer) <= width:
            line = longer
        elif count == max_lines:
            line = shorten(longer, width, keep="start")
            break
        else:
            yield line
            line, count = fitted, count + 1
    yield line
