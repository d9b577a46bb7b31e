"""Choose and lay out the columns of the table, and the line of values that all rows share."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from spackscope.model.core.columns import BY_NAME, COLUMNS, Column
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.records import UNKNOWN, Spec
from spackscope.model.core.text import cell_width, clean, cut_apart, cut_name, cut_words, shorten
from spackscope.model.core.variants import short_digests, split_variant, variant_key
from spackscope.model.index.view import USED_BY, WAYS
from spackscope.model.report.report import Line, Piece, Style

if TYPE_CHECKING:
    from spackscope.model.index.listing import Listing


DIFFERS_IN = "differs in"
"""The column with the differences of a row, or between its specs."""

UNSORTED = (WAYS, DIFFERS_IN)
"""The columns by which rows cannot be sorted."""

MISSING = "-"
"""The cell of a slot for a spec without the variant."""

MAX_SLOTS = 40
"""The most variants that have a column: the detail has all variants."""

MAX_SLOT_WIDTH = 16
_MIN_VALUE_WIDTH, _MAX_SLOT_LABEL = 6, 12
_MIN_VARIANTS, _MAX_VARIANTS = 18, 56
"""The least and most cells of the variants in one column."""
_NOT_FIELDS = ("package", "hash", "variants")
_FROZEN = ("package", "version")
_PROVENANCE = ("state", "source", "tag", "stack")
"""Columns that follow the variants, unless they are filtered: they say where a spec is from."""

_SIGNS = {"version": "@", "compiler": "%", "fits": "fits=", "reusable": "reusable="}


def signed(name: str, text: str) -> str:
    """Return the value of a field, with a sign or name where it would be ambiguous."""
    if name == "compiler" and text == "none":
        return "no compiler"
    if name == "compiler" and text == UNKNOWN:
        return "unknown compiler"
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

    @property
    def variant(self) -> str:
        """The name of the variant of a slot; empty for other columns."""
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
        return self.name in (USED_BY, WAYS) or (self.field is not None and self.field.align_right)

    def head(self, room: int) -> str:
        """Return its label, cut to `room` cells without an ellipsis if it is ASCII."""
        is_ascii = self.label.isascii()
        return self.label[:room] if is_ascii else shorten(self.label, room, keep="start")

    def cell(self, spec: Spec) -> str:
        """Return the clean cell of a spec; empty for a note."""
        if self.field is not None:
            return self.field.cell(self.field.value(spec))
        if self.variant:
            return slot_cell(variant_texts(spec.variants).get(self.variant, ""))
        return ""


class ShownWidths(NamedTuple):
    """The columns that a table shows, each with its width."""

    widths: tuple[tuple[str, int], ...] = ()


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
def variant_texts(variants: tuple[str, ...]) -> Mapping[str, str]:
    """Return the variants of a spec by their names."""
    return {split_variant(text)[0]: text for text in variants}


def slot_cell(text: str) -> str:
    """Return the cell of a variant in its slot, such as `+`, `~` or `ofi,verbs`."""
    if not text:
        return MISSING
    if text[0] in "+~":
        return text[0]
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
    has_slots: bool = True,
) -> TableColumns:
    """Return the columns for the rows of a listing that was summarised (`Listing.precompute`).

    `shared` are the values that all rows share, as `frame.shared_texts` returns them. Columns
    that were `filtered` under their heads stay, even where all rows have the same value. Variants
    have a column each with `has_slots`, for rows of one package; else they flow in one.
    """
    values, varying = listing.values, listing.values.varying_columns
    fields = []
    for column in COLUMNS:
        name = column.name
        # The name of an operating system implies its platform.
        if name in ("hash", "variants") or (name == "platform" and "os" in varying):
            continue
        is_told = name in varying or (listing.shown <= 1 and column.shown == "always")
        if name in filtered or (is_told and name not in hidden):
            width = max(values.widths[name], len(column.label))
            least = min(width, column.min_width)
            fields.append(TableColumn(name, column.label, width, least, column))
    stay = [name[1:] for name in filtered if name[:1] == "+"]
    variants: list[TableColumn] = []
    if has_slots and "package" not in varying:
        shown = [v for v in values.varying_variants if f"+{v}" not in hidden and v not in stay]
        variants = [_slot(listing, variant) for variant in [*stay, *shown][:MAX_SLOTS]]
    else:
        variants = [_slot(listing, variant) for variant in stay]
        if values.varying_variants and "variants" not in hidden:
            column = BY_NAME["variants"]
            width = max(len(column.label), min(values.widths["variants"], _MAX_VARIANTS))
            variants.append(TableColumn("variants", column.label, width, _MIN_VARIANTS, column))
    hash_ = BY_NAME["hash"]
    notes = []
    if listing.has_ways:
        notes.append(_number(WAYS, WAYS))
    if listing.has_users:
        notes.append(_number(USED_BY, "used"))
    # A package with one build has nothing to differ from.
    if listing.shown > len({*values.shown_values("package")}):
        notes.append(TableColumn(DIFFERS_IN, DIFFERS_IN, _MAX_VARIANTS, len(DIFFERS_IN)))
    follow = {
        *values.followers.difference(_PROVENANCE),
        *(n for n in _PROVENANCE if n not in filtered),
    }
    frozen = [column for column in fields if column.name in _FROZEN]
    scrolled = [column for column in fields if column.name not in (*_FROZEN, *follow)]
    last = [TableColumn("hash", hash_.label, hash_.width, hash_.width, hash_)]
    last += [note for note in notes if note.name not in hidden]
    behind = [column for column in fields if column.name in follow]
    parts = tuple(frozen), (*scrolled, *variants), tuple(last)
    columns = TableColumns(*parts, behind=tuple(behind))
    return columns._replace(head=_head(listing, dict(shared), columns.names))


def _number(name: str, label: str) -> TableColumn:
    return TableColumn(name, label, len(label), len(label))


def _slot(listing: Listing, variant: str) -> TableColumn:
    cells = [cell_width(slot_cell(text)) for text in listing.values.variants.get(variant, ("",))]
    width, label = min(max(cells), MAX_SLOT_WIDTH), clean(variant)
    most = max(width, cell_width(label))
    least = max(min(width, _MIN_VALUE_WIDTH), min(cell_width(label), _MAX_SLOT_LABEL))
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


MIN_WITH_SLOTS = 140
"""The least columns of a terminal on which each variant of one package has a column."""

GAP = 1
"""Blank cells between two columns."""

_MAX_FIELD_WIDTH = 24
"""The most cells of a field before variants get room."""
_SHORT_SLOT, _GOOD_DIFFERS, _UNBOUNDED = 10, 36, 1 << 16
_MIN_WITH_USERS = 56
"""The least cells of a table in which the column `used by` comes before fields."""
_SHORT_DIFFERS, _MIN_DIFFERS, _MAX_DIFFERS = 14, 20, 30
"""Cells of the column `differs in` before variants get room: about a quarter of the table."""


class Placed(Frozen):
    """A column with its offset and its width in cells."""

    column: TableColumn
    at: int
    width: int

    @property
    def end(self) -> int:
        """The offset of the cell after the last cell."""
        return self.at + self.width


class Layout(NamedTuple):
    """The columns that fit, and the number of columns scrolled out of view on each side."""

    placed: Sequence[Placed] = ()
    before: int = 0
    after: int = 0

    @property
    def shown_widths(self) -> ShownWidths:
        """The columns with their widths, for the notes on rows."""
        return ShownWidths(tuple((placed.column.name, placed.width) for placed in self.placed))

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

    Frozen columns and the last ones stay, but for a second frozen one without room for the
    `current` column. Other columns are shown from number `first` on, or from another one so that
    the `current` column is in view. Where there is little room, fields shrink first, then the
    column `differs in`; variants get the room that is left. `floors` are widths that columns need.
    """
    width = max(width, 1)
    least = {column.name: column.min_width for column in columns.all}
    needed = [c for c in columns.all if c in columns.frozen or c.name in ("hash", current)]
    frozen = columns.frozen if _total(needed, least) <= width else columns.frozen[:1]
    scrolled = (*columns.frozen[len(frozen) :], *columns.scrolled, *columns.behind)
    fixed = [*frozen, *columns.last]
    fields = [c for c in columns.scrolled if c.field is not None and c.name != "variants"]
    if width < _MIN_WITH_USERS and _total([*fixed, *fields], least) > width:
        fixed = [column for column in fixed if column.name != USED_BY]
    widths = _widths(columns.all, fixed, fields, width, floors or {})
    names = [column.name for column in scrolled]
    asked = widths[current] + GAP if current in names else 0
    for name in (DIFFERS_IN, USED_BY, WAYS):
        if _total(fixed, widths) + asked > width:
            fixed = [column for column in fixed if column.name != name]
    room = width - _total(fixed, widths)
    cells = [widths[column.name] + GAP for column in scrolled]
    first = max(0, min(first, len(scrolled) - 1)) if sum(cells) > room else 0
    if current in names and sum(cells) > room:
        first = _first_in_view(cells, room, names.index(current), first)
    in_view = scrolled[first : first + _fitting(cells[first:], room)]
    shown = [column for column in columns.all if column in fixed or column in in_view]
    good = {column.name: min(column.width, _GOOD_DIFFERS) for column in shown}
    while _total(shown, good) > width and in_view[-1:] and in_view[-1] in columns.behind:
        if in_view[-1].name == current:
            break
        shown.remove(in_view[-1])
        in_view = in_view[:-1]
    rest = width - _total(shown, widths)
    for column, most in _growing(shown):
        more = max(0, min(rest, most - widths[column.name]))
        widths[column.name] += more
        rest -= more
    after = len(scrolled) - first - len(in_view)
    placed, at = [], 0
    for column in shown:
        if (cells_left := min(widths[column.name], width - at)) <= 0:
            break
        placed.append(Placed(column, at, cells_left))
        at += cells_left + GAP
    return Layout(placed, first, after)


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


def _widths(
    columns: Sequence[TableColumn],
    fixed: Sequence[TableColumn],
    fields: Sequence[TableColumn],
    width: int,
    floors: Mapping[str, int],
) -> dict[str, int]:
    """Return the widths before columns grow into the room that is left.

    Fields shrink until they fit beside the fixed columns; then the fixed columns shrink until they
    fit alone. The column `differs in` is narrower where one more field fits then.
    """
    least = {c.name: max(c.min_width, floors.get(c.name, 0)) for c in columns}
    widths, all_ = dict(least), [*fixed, *fields]
    for column in all_:
        if column.field is not None:
            widths[column.name] = max(least[column.name], min(column.width, _MAX_FIELD_WIDTH))
        elif column.name == DIFFERS_IN:
            room = width - _total([c for c in fixed if c is not column], least) - GAP
            ends = [0, *accumulate(least[each.name] + GAP for each in fields)]
            most, short = max(_MIN_DIFFERS, min(width // 4, _MAX_DIFFERS)), _SHORT_DIFFERS
            fields_beside = max((end for end in ends if end + short <= room), default=0)
            widths[column.name] = max(short, min(most, room - fields_beside))
    for shown, stage in ((all_, [c for c in all_ if c.field is not None]), (fixed, fixed)):
        while (excess := _total(shown, widths) - width) > 0:
            shrinkable = [c.name for c in stage if widths[c.name] > least[c.name]]
            if not shrinkable:
                break
            widest = max(shrinkable, key=widths.__getitem__)
            widths[widest] -= max(
                1, min(excess // len(shrinkable), widths[widest] - least[widest])
            )
    return widths


def _growing(shown: Sequence[TableColumn]) -> list[tuple[TableColumn, int]]:
    """Return the columns in the order in which they grow, each with the width to grow to."""
    differs = [column for column in shown if column.name == DIFFERS_IN]
    others = sorted((c for c in shown if c not in differs), key=lambda column: column.width)
    fields = [column for column in others if not column.variant and column.name != "variants"]
    short = [column for column in others if column.variant and column.width <= _SHORT_SLOT]
    return [
        *((column, column.width) for column in (*fields, *short)),
        *((column, _GOOD_DIFFERS) for column in differs),
        *((column, column.width) for column in others),
        *((column, _UNBOUNDED) for column in differs),
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
    pieces = [HeadText("", cut_words(before, max(0, width)) + _BETWEEN)] if before else []
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
    return [piece for piece in pieces if piece.text]


def _cut(its: HeadText) -> HeadText:
    return its._replace(text=cut_words(its.text, _MAX_HEAD_TEXT))
