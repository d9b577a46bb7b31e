"""Choose and lay out the columns of the table, and the line of values that all rows share."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from spackscope.model.core.columns import BY_NAME, COLUMNS, Column
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.records import (
    NO_COMPILER,
    UNKNOWN,
    Spec,
    short_digests,
    split_variant,
    variant_key,
)
from spackscope.model.core.text import cell_width, clean, cut_apart, cut_name, cut_words, shorten
from spackscope.model.index.order import USED_BY
from spackscope.model.report.report import UNBOUNDED, Line, Piece, Style

if TYPE_CHECKING:
    from spackscope.model.index.catalog import Listing


UNLIKE_OTHERS = "unlike others"
"""The column with what sets a row apart from the other rows, and is in no other column."""

UNSORTED = (UNLIKE_OTHERS,)
"""The columns by which rows cannot be sorted."""

MAX_VARIANT_COLUMNS = 40
"""The most variants that have a column: the detail has all variants."""

MAX_VARIANT_WIDTH = 16
_MIN_VALUE_WIDTH, _MAX_VARIANT_LABEL = 6, 12
_MIN_VARIANTS, _GOOD_VARIANTS, _MAX_VARIANTS = 18, 30, 56
"""Cells of the variants in one column: at the least, where others have room, and at most."""
_LEAST_SENTENCE = 24
"""Cells of what sets builds apart that look the same, if each has a row."""
_NOT_FIELDS = ("package", "hash", "variants")
_FROZEN = ("package", "version")
_FIRST = ("compiler", "target", "os")
"""The fields that follow the version; the target before the compiler if there is room for one."""
_PROVENANCE = ("state", "source", "tag", "stack")
"""Columns that follow the variants, unless they are filtered: they say where a spec is from."""

_SIGNS = {"version": "@", "compiler": "%", "fits": "fits=", "reusable": "reusable="}


def signed(name: str, text: str) -> str:
    """Return the value of a field, with a sign or name where it would be ambiguous."""
    if name == "compiler" and text == UNKNOWN:
        return "unknown compiler"
    if name == "compiler" and text == BY_NAME[name].cell(NO_COMPILER):
        return text
    return _SIGNS.get(name, "") + text


class TableColumn(Frozen):
    """A column of the table: a field of the registry, a variant, or a note on the rows.

    `name` is the name in the registry, `+x` for the variant `x`, or the name of a note. A column
    is at most `width` cells wide, and not less than `min_width`.
    """

    name: str
    label: str
    width: int
    min_width: int
    field: Column | None = None
    is_bar: bool = False
    is_right: bool = False

    @property
    def variant(self) -> str:
        """The name of its variant; empty for other columns."""
        return self.name[1:] if self.name.startswith("+") else ""

    @property
    def is_note(self) -> bool:
        """Whether its cells are computed after the rows are shown."""
        return self.name in (USED_BY, *UNSORTED)

    @property
    def takes_filter(self) -> bool:
        """Whether its cells have a text by which rows can be filtered."""
        return not (self.is_bar or self.is_note)

    @property
    def aligns_right(self) -> bool:
        """Whether its cells are numbers."""
        return self.is_right or (self.field is not None and self.field.align_right)

    def head(self, room: int) -> str:
        """Return its label, cut to `room` cells without an ellipsis if it is ASCII."""
        is_ascii = self.label.isascii()
        return self.label[:room] if is_ascii else shorten(self.label, room, keep="start")

    def cell(self, spec: Spec) -> str:
        """Return the clean cell of a spec; empty for a note."""
        if self.field is not None:
            return self.field.cell(self.field.value(spec))
        if self.variant:
            return variant_cell(variants_by_name(spec.variants).get(self.variant, ""))
        return ""


def cut_value(name: str, text: str, width: int, column: tuple[str, ...] = ()) -> str:
    """Shorten the text of a cell: a variant or a list at its end, other values in the middle.

    Different texts of its `column` stay different, where that is possible.
    """
    is_list = name[:1] == "+" or (name in BY_NAME and BY_NAME[name].cut_at_end)
    cut = cut_words if is_list else cut_name
    return cut_apart(column, width, cut)[text] if text in column else cut(text, width)


class HeadText(NamedTuple):
    """A value that all rows share, and the name of its column; empty for words between values."""

    column: str
    text: str


class TableColumns(NamedTuple):
    """The columns of a table: frozen ones, scrolled ones, and the last, which always fit.

    Columns `behind` scroll too, but take no room from others. `head` has the values that all rows
    share, in the order of the head line.
    """

    frozen: tuple[TableColumn, ...] = ()
    scrolled: tuple[TableColumn, ...] = ()
    last: tuple[TableColumn, ...] = ()
    head: tuple[HeadText, ...] = ()
    behind: tuple[TableColumn, ...] = ()

    @property
    def all(self) -> tuple[TableColumn, ...]:
        """All columns from left to right."""
        return self.frozen + self.scrolled + self.behind + self.last

    @property
    def names(self) -> list[str]:
        """The names of all columns from left to right."""
        return [column.name for column in self.all]

    def without(self, names: Collection[str]) -> TableColumns:
        """Return the columns without some, which are not in the head line either."""

        def left(part: Sequence[TableColumn]) -> tuple[TableColumn, ...]:
            return tuple(column for column in part if column.name not in names)

        return TableColumns(
            left(self.frozen), left(self.scrolled), left(self.last), self.head, left(self.behind)
        )


@lru_cache(4096)
def variants_by_name(variants: tuple[str, ...]) -> Mapping[str, str]:
    """Return the variants of a spec by their names."""
    return {split_variant(text)[0]: text for text in variants}


def variant_cell(text: str) -> str:
    """Return the cell of a variant in its column, such as `+`, `~` or `ofi,verbs`, or nothing."""
    if not text or text[0] in "+~":
        return text[:1]
    return clean(text.partition("=")[2]) or clean(text)


def split_variants(
    variants: Iterable[str], varying: Mapping[str, int]
) -> tuple[list[str], list[str]]:
    """Return the variants that vary among the rows, by their rank, and the others."""
    ranked = [(varying.get(split_variant(text)[0]), text) for text in variants]
    differing = sorted(
        ((rank, text) for rank, text in ranked if rank is not None), key=lambda pair: pair[0]
    )
    return [text for _, text in differing], [text for rank, text in ranked if rank is None]


def variants_cell(variants: Iterable[str], varying: Mapping[str, int]) -> tuple[str, str]:
    """Return a cell's text in two parts: the variants that vary among the rows, and the others."""
    parts = split_variants(variants, varying)
    differing, same = (clean(" ".join(map(short_digests, part))) for part in parts)
    return differing, same


def flowing_variants(
    variants: Iterable[str], varying: Mapping[str, int], counts: Mapping[str, Mapping[str, int]]
) -> tuple[str, str]:
    """Split the varying variants into variants with rare values and with usual values.

    `varying` and `counts` are of the rows of the package (`ShownValues.variants_of`).
    """
    differing, _ = split_variants(variants, varying)
    parts: tuple[list[str], list[str]] = [], []
    for text in differing:
        of_name = counts[split_variant(text)[0]]
        is_usual = variant_key(text) == max(of_name, key=of_name.__getitem__)
        # People cannot read digests of patches.
        parts[is_usual or text.startswith("patches")].append(short_digests(text))
    return clean(" ".join(parts[False])), clean(" ".join(parts[True]))


def variants_line(text: str, *, are_values_marked: bool = False) -> Line:
    """Return variants in styles: on, off, and with `are_values_marked` also other values."""
    pieces: list[Piece] = []
    for word in text.split(" "):
        style: Style = "differs" if are_values_marked and "=" in word else ""
        if word[:1] in ("+", "~"):
            style = "good" if word[0] == "+" else "dim"
        pieces += [(" ", ""), (word, style)]
    return tuple(pieces[1:])


def choose_columns(
    listing: Listing,
    shared: Iterable[tuple[str, str]],
    filtered: Collection[str] = (),
    hidden: Collection[str] = (),
    *,
    spreads_variants: bool = True,
) -> TableColumns:
    """Return the columns for the rows of a listing that was summarised (`Listing.precompute`).

    `shared` are the values that all rows share, as `titles.shared_texts` returns them. Columns
    that were `filtered` under their heads stay, even where all rows have the same value. Variants
    have a column each with `spreads_variants`, for rows of one package; else they flow in one.
    """
    values, varying = listing.values, listing.values.varying_columns
    fields = []
    for column in COLUMNS:
        name = column.name
        # The name of an operating system implies its platform.
        if name in ("hash", "variants") or (name == "platform" and "os" in varying):
            continue
        is_wanted = name in varying or (listing.shown <= 1 and column.shown == "always")
        if name in filtered or (is_wanted and name not in hidden):
            width = max(values.widths[name], len(column.label))
            least = min(width, column.min_width)
            fields.append(TableColumn(name, column.label, width, least, column))
    stay = [name[1:] for name in filtered if name[:1] == "+"]
    if spreads_variants and "package" not in varying:
        shown = [v for v in values.varying_variants if f"+{v}" not in hidden and v not in stay]
        variants = [
            _variant_column(listing, variant) for variant in [*stay, *shown][:MAX_VARIANT_COLUMNS]
        ]
    else:
        variants = [_variant_column(listing, variant) for variant in stay]
        if values.varying_variants and "variants" not in hidden:
            column = BY_NAME["variants"]
            width = max(len(column.label), min(values.widths["variants"], _MAX_VARIANTS))
            variants.append(TableColumn("variants", column.label, width, _MIN_VARIANTS, column))
    hash_ = BY_NAME["hash"]
    notes = []
    if listing.has_users:
        notes.append(TableColumn(USED_BY, "used", len("used"), len("used"), is_right=True))
    # The only row of a package has nothing to be unlike.
    if len(listing) > len({*values.shown_values("package")}):
        least = len(UNLIKE_OTHERS) if listing.view.folded else _LEAST_SENTENCE
        notes.append(TableColumn(UNLIKE_OTHERS, UNLIKE_OTHERS, _MAX_VARIANTS, least))
    follow = {
        *values.followers.difference(_PROVENANCE),
        *(n for n in _PROVENANCE if n not in filtered),
    }
    frozen = [column for column in fields if column.name in _FROZEN]
    scrolled = [column for column in fields if column.name not in (*_FROZEN, *follow)]
    scrolled.sort(key=lambda column: (*_FIRST, column.name).index(column.name))
    last = [TableColumn("hash", hash_.label, hash_.width, hash_.width, hash_)]
    last += [note for note in notes if note.name not in hidden]
    behind = [column for column in fields if column.name in follow]
    parts = tuple(frozen), (*scrolled, *variants), tuple(last)
    columns = TableColumns(*parts, behind=tuple(behind))
    return columns._replace(head=_head(listing, dict(shared), columns.names))


def _variant_column(listing: Listing, variant: str) -> TableColumn:
    cells = [
        cell_width(variant_cell(text)) for text in listing.values.variants.get(variant, ("",))
    ]
    width, label = min(max(cells), MAX_VARIANT_WIDTH), clean(variant)
    most = max(width, cell_width(label))
    least = max(min(width, _MIN_VALUE_WIDTH), min(cell_width(label), _MAX_VARIANT_LABEL))
    return TableColumn(f"+{variant}", label, most, least)


def _head(
    listing: Listing, shared: Mapping[str, str], columns: Collection[str]
) -> tuple[HeadText, ...]:
    """Return the values of all rows: fields, then variants with `+`, with `~`, and with values.

    The source is last: it does not describe the specs.
    """
    texts = [
        HeadText(name, signed(name, text))
        for name, text in shared.items()
        if text and name not in columns and name not in _NOT_FIELDS
    ]
    if "package" in shared and "package" not in columns:
        has_version = bool(texts) and texts[0].column == "version"
        version = texts.pop(0).text if has_version else ""
        name = "version" if has_version else "package"
        texts.insert(0, HeadText(name, shared["package"] + version))
    constant = sorted(
        (text for texts in listing.values.variants.values() if len(texts) == 1 for text in texts),
        key=lambda text: ("+~".find(text[:1]) % 3, split_variant(text)[0]),
    )
    variants = [HeadText(f"+{split_variant(text)[0]}", clean(text)) for text in constant]
    heads = [*texts, *(head for head in variants if head.column not in columns)]
    return tuple(sorted(heads, key=lambda head: head.column == "source"))


MIN_FOR_VARIANTS = 140
"""The least columns of a terminal on which each variant of one package has a column."""

GAP = 1
"""Blank cells between two columns."""

_MAX_NAME_WIDTH, _MAX_FIELD_WIDTH = 40, 24
"""The most cells of a package or version, and of any other field, before others get room."""
_SHORT_VARIANT, _GOOD_UNLIKE = 10, 36


class Placed(Frozen):
    """A column with its offset and its width in cells."""

    column: TableColumn
    at: int
    width: int

    @property
    def end(self) -> int:
        """The offset of the cell after the last cell."""
        return self.at + self.width


class Layout(Frozen):
    """The columns that fit, and the number of columns scrolled out of view on each side."""

    placed: Sequence[Placed] = ()
    before: int = 0
    after: int = 0

    @property
    def widths(self) -> Mapping[str, int]:
        """The columns that the table shows, by name, each with its width."""
        return {placed.column.name: placed.width for placed in self.placed}

    @property
    def is_whole(self) -> bool:
        """Whether all columns are in view, each as wide as its content."""
        is_cut = any(placed.width < placed.column.width for placed in self.placed)
        return not (self.before or self.after or is_cut)

    def at(self, x: int) -> Placed | None:
        """Return the column at a cell; None between columns."""
        return next((placed for placed in self.placed if placed.at <= x < placed.end), None)


def lay_out(
    columns: TableColumns,
    width: int,
    *,
    current: str = "",
    first: int = 0,
    floors: Mapping[str, int] | None = None,
) -> Layout:
    """Place columns side by side in `width` cells, each as wide as its content if possible.

    A column is left out whole before another one is cut; only where there is no room for the
    frozen columns and the hash are these cut. Fields and variants are shown from number `first`
    on, or from another one so that the `current` column is in view. The column `unlike others`
    keeps the cells of its head, and takes all that are left. `floors` are widths that columns
    need.
    """
    width = max(width, 1)
    widths = {c.name: max(_full_width(c), (floors or {}).get(c.name, 0)) for c in columns.all}
    least = {column.name: column.min_width for column in columns.all}
    least[UNLIKE_OTHERS] = len(UNLIKE_OTHERS)
    needed = [c for c in columns.all if c in columns.frozen or c.name in ("hash", current)]
    frozen = columns.frozen if _total(needed, least) <= width else columns.frozen[:1]
    scrolled = [*columns.frozen[len(frozen) :], *columns.scrolled, *columns.behind]
    names = [column.name for column in scrolled]
    fixed = [*frozen, *(column for column in columns.last if column.name == "hash")]
    notes = {column.name: column for column in columns.last if column.name != "hash"}
    asked = next((c for c in columns.all if c.name == current and c not in fixed), None)
    unlike, users = notes.get(UNLIKE_OTHERS), notes.get(USED_BY)
    # Long names are cut where nothing else would set their rows apart.
    beside = [column for column in (asked, unlike) if column is not None]
    _shrink([*fixed, *dict.fromkeys(beside)], widths, least, width)
    for needed in ([*fixed, asked], fixed) if asked is not None else (fixed,):
        _shrink(needed, widths, least, width)
    asked_width = widths[current] + GAP if asked is not None else 0
    shown = list(fixed)
    others = 0 if current == UNLIKE_OTHERS else asked_width
    if unlike is not None and _total([*fixed, unlike], widths) + others <= width:
        shown.append(unlike)
    room = width - _total(shown, widths)
    if not first and current not in names[:1]:
        scrolled = _target_first(scrolled, widths, room)
        names = [column.name for column in scrolled]
    cells = [widths[column.name] + GAP for column in scrolled]
    # Beside the hash or a note the view is that of the first columns.
    start = first if current in names else 0
    for is_counted in (True, False) if users is not None else (False,):
        # Users come before variants, and after fields.
        left = room - (widths[USED_BY] + GAP if is_counted else 0)
        is_cut = sum(cells) > left
        first = max(0, min(start, len(scrolled) - 1)) if is_cut else 0
        if current in names and is_cut:
            first = _first_in_view(cells, left, names.index(current), first)
        in_view = scrolled[first : first + _fitting(cells[first:], left)]
        fitting = _fitting(cells[first:], room)
        fields = [column for column in scrolled[first : first + fitting] if _is_field(column)]
        is_in_view = current not in names or current in [column.name for column in in_view]
        if current == USED_BY or (len(in_view) >= len(fields) and is_in_view):
            break
    shown += in_view
    if users is not None and _total([*shown, users], widths) <= width:
        shown.append(users)
    good = {**widths, UNLIKE_OTHERS: _GOOD_UNLIKE}
    while _total(shown, good) > width and in_view[-1:] and in_view[-1] in columns.behind:
        if in_view[-1].name == current:
            break
        shown.remove(in_view.pop())
    order = columns.names
    shown.sort(key=lambda column: order.index(column.name))
    rest = width - _total(shown, widths)
    for column, most in _growing(shown):
        more_cells = max(0, min(rest, most - widths[column.name]))
        widths[column.name] += more_cells
        rest -= more_cells
    after = len(scrolled) - first - len(in_view)
    placed, at = [], 0
    for column in shown:
        if (cells_left := min(widths[column.name], width - at)) <= 0:
            break
        placed.append(Placed(column, at, cells_left))
        at += cells_left + GAP
    return Layout(placed, first, after)


def _is_field(column: TableColumn) -> bool:
    return column.field is not None and column.name != "variants"


def _full_width(column: TableColumn) -> int:
    """Return the width of a column before it grows into the room that is left."""
    if column.name == "variants":
        return _GOOD_VARIANTS
    if not _is_field(column):
        return column.min_width
    most = _MAX_NAME_WIDTH if column.name in _FROZEN else _MAX_FIELD_WIDTH
    return max(column.min_width, min(column.width, most))


def _target_first(
    scrolled: Sequence[TableColumn], widths: Mapping[str, int], room: int
) -> list[TableColumn]:
    """Put the target before the compiler if there is no room for both."""
    two = [column for column in scrolled[:2] if column.name in _FIRST[:2]]
    if len(two) == 2 and sum(widths[column.name] + GAP for column in two) > room:
        return [*reversed(two), *scrolled[2:]]
    return [*scrolled]


def _shrink(
    columns: Sequence[TableColumn], widths: dict[str, int], least: Mapping[str, int], width: int
) -> None:
    """Shrink the widest columns until all fit, or have their least widths."""
    while (excess := _total(columns, widths) - width) > 0:
        shrinkable = [c.name for c in columns if widths[c.name] > least[c.name]]
        if not shrinkable:
            break
        widest = max(shrinkable, key=widths.__getitem__)
        widths[widest] -= max(1, min(excess // len(shrinkable), widths[widest] - least[widest]))


def _fitting(widths: Sequence[int], room: int, more: Callable[[int], str] | None = None) -> int:
    """Return how many columns fit, whose widths include the gaps.

    If not all columns fit, there is also room for the text of `more` for their number.
    """
    ends = list(accumulate(widths))
    if not ends or ends[-1] <= room:
        return len(ends)
    room -= cell_width(more(len(ends))) if more is not None else 0
    return sum(end <= room for end in ends)


def _first_in_view(
    widths: Sequence[int],
    room: int,
    current: int,
    first: int = 0,
    more: Callable[[int], str] | None = None,
) -> int:
    """Return the first column to show so that `current` is in view: `first` if possible."""
    first = min(first, current)
    while first < current and _fitting(widths[first:], room, more) <= current - first:
        first += 1
    return first


def _total(columns: Sequence[TableColumn], widths: Mapping[str, int]) -> int:
    return sum(widths[column.name] + GAP for column in columns) - (GAP if columns else 0)


def _growing(shown: Sequence[TableColumn]) -> list[tuple[TableColumn, int]]:
    """Return the columns in the order in which they grow, each with the width to grow to."""
    unlike = [column for column in shown if column.name == UNLIKE_OTHERS]
    others = sorted((c for c in shown if c not in unlike), key=lambda column: column.width)
    fields = [column for column in others if not column.variant and column.name != "variants"]
    short = [column for column in others if column.variant and column.width <= _SHORT_VARIANT]
    return [
        *((column, column.width) for column in (*fields, *short)),
        *((column, _GOOD_UNLIKE) for column in unlike),
        *((column, column.width) for column in others),
        *((column, UNBOUNDED) for column in unlike),
    ]


_SAME = "same in all: "
_MORE = " … {} more"
_BETWEEN = " · "
_MAX_HEAD_TEXT = 28
"""Cells of one value if not all have room: a list of patches would leave none for others."""


def head_line(
    head: Sequence[HeadText], width: int, current: str = "", before: str = "", between: str = " "
) -> list[HeadText]:
    """Return the parts of the head line in `width` cells, cut between values.

    Only if some values have no room, long values are cut. The value of the `current` column is in
    view; `before` precedes all values, and `between` is between two.

    Example: `hdf5@1.14.6 · same in all: linux +shared ~java … 3 more`.
    """
    ends = _BETWEEN if head else ""
    pieces = [HeadText("", cut_words(before, max(0, width)) + ends)] if before else []
    named = [text for text in head[:1] if text.column in ("package", "version")]
    rest = head[len(named) :]
    pieces += [_cut(text) for text in named]
    if rest:
        pieces.append(HeadText("", (_BETWEEN if named else "") + _SAME))
    room = width - sum(cell_width(piece.text) for piece in pieces)
    gap = len(between)
    if sum(cell_width(text.text) + gap for text in rest) > room + gap:
        rest = [_cut(text) for text in rest]
    widths = [cell_width(text.text) + gap for text in rest]
    # The last value has no blank after it.
    number = next((n for n, text in enumerate(rest) if text.column == current), 0)
    first = _first_in_view(widths, room + gap - 2, number, more=_MORE.format)
    if first:
        pieces.append(HeadText("", "… "))
        room -= 2
    shown = rest[first : first + _fitting(widths[first:], room + gap, _MORE.format)]
    for number, text in enumerate(shown):
        pieces += [HeadText("", between if number else ""), text]
    left = len(rest) - first - len(shown)
    if left and shown:
        pieces.append(HeadText("", _MORE.format(left)))
    elif left:
        dot = _BETWEEN if named else ""
        pieces[-1 - bool(first) :] = [HeadText("", f"{dot}{len(rest)} same in all")]
    if sum(cell_width(piece.text) for piece in pieces) > width:
        pieces = pieces[: bool(before)]
        room = max(0, width - sum(cell_width(piece.text) for piece in pieces))
        pieces += [text._replace(text=cut_name(text.text, room)) for text in named]
    pieces = [piece for piece in pieces if piece.text]
    if pieces and pieces[-1].text.endswith(_BETWEEN):
        pieces[-1] = HeadText("", pieces[-1].text.removesuffix(_BETWEEN))
    return pieces


def _cut(its: HeadText) -> HeadText:
    return its._replace(text=cut_words(its.text, _MAX_HEAD_TEXT))
