"""Lay out what the line commands print: the table of a terminal, one spec, an index."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from spackscope.model.core.column import Column, Value
from spackscope.model.core.columns import BY_NAME, COLUMNS
from spackscope.model.core.records import Spec
from spackscope.model.core.text import cell_width, clean, pad, shorten
from spackscope.model.presentation.detail import (
    DetailLine,
    variants_cell,
)

_GAP = "  "
_LABEL_WIDTH = 10
_MOST_SHARED_LINES = 4
_NARROWEST = 9
_Texts = Callable[[Column, Value], str]

# Lists are last, since they are cut first where the terminal is narrow.
_ORDER = sorted((c for c in COLUMNS if c.in_find), key=lambda column: column.cut_at_end)


class Table:
    """Lay out records in columns that fit a terminal.

    `specs` gives the records anew at each call, `constants` the columns whose value is the same
    in all of them, `varying` the variants that are not, as a listing has both.
    """

    def __init__(
        self,
        specs: Callable[[], Iterable[Spec]],
        count: int,
        constants: Mapping[str, Value],
        varying: Mapping[str, int],
    ) -> None:
        self._specs = specs
        self._count = count
        self._constants = constants
        self._varying = varying
        self._text = _remembered(self._make_text)

    def lines(self, width: int, *, bold: bool) -> Iterator[str]:
        """Yield lines that fit so many cells: what all rows share, the heads, the rows.

        A single row keeps its columns, for nothing is to be seen in a table of a hash alone.
        """
        columns, widest = self._measured()
        yield from _wrapped(self._shared(columns), " · ", width)
        if same := self._same_variants():
            yield from _wrapped(["same in all:", *same], " ", width, most=_MOST_SHARED_LINES)
        widths = dict(zip(columns, _fitted(columns, widest, width), strict=True))
        fits = sum(widths.values()) + len(_GAP) * (len(columns) - 1) <= width

        def joined(cells: list[str]) -> str:
            line = _GAP.join(cells).rstrip()
            return line if fits else shorten(line, width, keep="start")

        head = joined([_fit(column, column.label, widths[column]) for column in columns])
        yield f"\x1b[1m{head}\x1b[0m" if bold else head
        fit = _remembered(lambda c, value: _fit(c, self._text(c, value), widths[c]))
        for spec in self._specs():
            yield joined([fit(column, column.value(spec)) for column in columns])

    def _measured(self) -> tuple[list[Column], list[int]]:
        """Choose the columns, and find the width that each would like to have."""
        widest = {column: cell_width(column.label) for column in _ORDER if self._is_shown(column)}
        sized = False
        for spec in self._specs():
            sized = sized or spec.size is not None
            for column in tuple(widest):
                width = cell_width(self._text(column, column.value(spec)))
                widest[column] = max(widest[column], width)
        columns = [column for column in widest if sized or column.name != "size"]
        return columns, [widest[column] for column in columns]

    def _is_shown(self, column: Column) -> bool:
        if column.name not in self._constants:
            return True
        return self._count == 1 and (column.shown != "if_varied" or column.name == "package")

    def _make_text(self, column: Column, value: Value) -> str:
        if column.name == "variants" and isinstance(value, tuple) and self._count > 1:
            return variants_cell(value, self._varying)[0] or "-"
        return column.cell(value) or "-"

    def _same_variants(self) -> list[str]:
        if self._count == 1:
            return []
        first = next(iter(self._specs()))
        return variants_cell(first.variants, self._varying)[1].split()

    def _shared(self, columns: Sequence[Column]) -> list[str]:
        """Spell the values that have no column because all rows have them."""
        folded = {
            column.name: column.find_prefix + column.cell(value)
            for column in COLUMNS
            if (value := self._constants.get(column.name))
            and column not in columns
            and column.find_prefix is not None
        }
        spec = folded.pop("package", "")
        if spec and "version" in folded:
            spec += f"@{BY_NAME['version'].cell(self._constants['version'])}"
            del folded["version"]
        count = f"{self._count:,} {'spec' if self._count == 1 else 'specs'}"
        return [count, *([spec] if spec else []), *folded.values()]


def candidates(specs: Sequence[Spec]) -> Iterator[str]:
    """Name specs by what tells them apart at a glance, in columns."""
    rows = [
        (
            spec.hash,
            clean(f"{spec.package}@{spec.version}"),
            *(BY_NAME[name].cell(getattr(spec, name)) for name in ("compiler", "os", "target")),
        )
        for spec in specs
    ]
    return aligned(rows)


def aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Spell rows of clean texts in columns as wide as their content; numbers stand right."""
    widths = [max(map(cell_width, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (
            pad(text, width, right=text.replace(",", "").isdecimal())
            for text, width in zip(row, widths, strict=True)
        )
        yield _GAP.join(cells).rstrip()


def detail_lines(lines: Iterable[DetailLine]) -> Iterator[str]:
    """Spell the lines of a spec: labels in a column, and what stands under a head indented."""
    indent = ""
    for line in lines:
        if line.kind == "head":
            indent = "  "
            yield line.text
        elif line.kind in ("title", "hash"):
            yield line.text
        elif line.label or line.is_continued:
            yield f"{indent}{line.label:<{_LABEL_WIDTH}}{line.text}"
        else:
            yield f"{indent or ' ' * _LABEL_WIDTH}{line.text}"


def labelled(pairs: Iterable[tuple[str, object]]) -> Iterator[str]:
    """Spell labels and their values in two columns."""
    for label, value in pairs:
        yield f"{label:<{_LABEL_WIDTH}}{clean(str(value))}"


def _remembered(make: _Texts) -> _Texts:
    """Remember the text of a value, of which there are few, unless each record has its own."""
    texts: dict[tuple[str, Value], str] = {}

    def remembered(column: Column, value: Value) -> str:
        if not column.has_dictionary:
            return make(column, value)
        text = texts.get((column.name, value))
        if text is None:
            text = texts[column.name, value] = make(column, value)
        return text

    return remembered


def _fitted(columns: Sequence[Column], widest: Sequence[int], width: int) -> list[int]:
    """Cut columns down to a width in all, the widest first, and lists before others.

    A hash stays whole, and what is cut keeps enough to be told from its like, while it can.
    """
    room = width - len(_GAP) * (len(columns) - 1)
    widths = [min(wanted, max(room, _NARROWEST)) for wanted in widest]
    lists = [at for at, column in enumerate(columns) if column.cut_at_end]
    others = [at for at in range(len(columns)) if at not in lists and columns[at].name != "hash"]
    for giving, least in ((lists, 16), (others, 12), (lists, _NARROWEST), (others, _NARROWEST)):
        while giving and sum(widths) > room:
            at = max(giving, key=widths.__getitem__)
            if widths[at] <= least:
                break
            widths[at] -= 1
    return widths


def _fit(column: Column, text: str, width: int) -> str:
    fitted = shorten(text, width, keep="start" if column.cut_at_end else "ends")
    return pad(fitted, width, right=column.align_right)


def _wrapped(parts: Iterable[str], between: str, width: int, most: int = 0) -> Iterator[str]:
    """Join parts into lines that fit so many cells; `…` ends the last of `most` lines."""
    line = ""
    count = 1
    for part in parts:
        fitted = shorten(part, width)
        longer = f"{line}{between}{fitted}" if line else fitted
        if cell_width(longer) <= width:
            line = longer
        elif count == most:
            line = shorten(longer, width, keep="start")
            break
        else:
            yield line
            line, count = fitted, count + 1
    yield line
