"""An answer, the one way to lay out its tables, and the lines and the JSON made from it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeVar, cast

from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.core.text import cell_width, clean, shorten, times

if TYPE_CHECKING:
    from spackscope.model.query.ast import Query

_INDENT = _GAP = "  "
_UNBOUNDED = 1 << 16
_MAX_PATH = 8
"""Names of a path: the middle of a longer one is left out."""
_MAX_FITTED = 1 << 14
"""Cells of a table that are kept as they were cut: columns have few different values."""

Style = Literal["", "bold", "dim", "differs", "link", "good", "virtual", "error", "bar"]
"""How a text looks: `dim` is a remark, or a value that most have, and `link` a hash."""


class Piece(NamedTuple):
    """A part of a line: clean text, its style, and the hash of the spec that it leads to."""

    text: str
    style: Style = ""
    leads_to: str = ""


Line = tuple[Piece, ...]
Cell = str | Line
_Item = TypeVar("_Item")


def styled(text: str, style: Style) -> Line:
    """Return a text in one style."""
    return (Piece(text, style),)


def path_text(path: Sequence[str]) -> str:
    """Return the clean names on a path from a spec to a dependency."""
    names = list(map(clean, path))
    if len(names) > _MAX_PATH:
        names[_MAX_PATH // 2 : -_MAX_PATH // 2] = ["…"]
    return " › ".join(names)


def text_of(cell: Cell) -> str:
    """Return the text of a cell or a line."""
    return cell if isinstance(cell, str) else "".join(piece.text for piece in cell)


class Row(NamedTuple):
    """The clean cells of a row, and what is known of the spec or thing that it is about.

    A row of one cell is a line across all columns. `note` is a sentence on it, in the last cell,
    or on a line of its own where it is about what the row `leads_to`, by its hash. `key` is the
    hash of the row itself, or what else tells it from the others, and `group` what rows of the
    same kind have in common. `queries` find the specs that it is about, the most exact first.
    """

    cells: Sequence[Cell]
    note: str = ""
    key: str = ""
    leads_to: str = ""
    group: str = ""
    queries: tuple[Query, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts of its cells."""
        return tuple(map(text_of, self.cells))

    @property
    def printed(self) -> Sequence[Cell]:
        """The cells as they are printed."""
        if not self.note or self.leads_to:
            return self.cells
        return (*self.cells[:-1], ", ".join(filter(None, (self.texts[-1], self.note))))


class Column(NamedTuple):
    """How wide the cells of a column are, and how they are cut.

    A column is as wide as its widest cell, but at most `most`. In a table that is too wide, one
    that `may_go` shrinks to the first of its `floors`, or is left out. Then columns shrink, the
    widest first, and lists, which `keep` their start, before others: first to the first of their
    floors, then to the second. Unless `is_right` is told, plain numbers are aligned right.
    `styles` returns a cell that is a text, after it was cut, in its styles. Of a table whose
    columns all say their `width` no cell is read before it is drawn.
    """

    head: str = ""
    most: int = _UNBOUNDED
    floors: tuple[int, ...] = ()
    keep: Literal["ends", "start"] = "ends"
    is_right: bool | None = None
    may_go: bool = False
    styles: Callable[[str], Line] | None = None
    width: int = 0


class Section(NamedTuple):
    """A heading, and below it rows, which are one table, and further sections.

    What `is_apart` has a blank line before it. A heading that is a text is printed as one. Nothing
    is printed of a section without heading and rows. Of a section with `columns` the rows are read
    twice, and fitted into the width that there is; other tables are as wide as their content.
    On the screen, some columns may be `scrolled`, by their numbers.
    """

    heading: Cell = ""
    rows: Iterable[Row | Section] = ()
    is_apart: bool = False
    columns: Sequence[Column] = ()
    indent: str = _INDENT
    scrolled: range = range(0)


class Report(Frozen):
    """An answer: its title, its sections, and a function that returns its data, if it has JSON.

    Sections may be a generator, which is not run for JSON, and once for anything else.
    """

    title: str
    sections: Iterable[Section]
    data: Callable[[], object] = lambda: None

    def json(self) -> str:
        """Return the data as JSON on one line."""
        return json.dumps(self.data())

    def lines(self, width: int | None = None) -> Iterator[Line]:
        """Yield the lines: headings are not indented; without a width nothing is cut."""
        if self.title:
            yield styled(self.title, "bold")
        for section in self.sections:
            if section.is_apart:
                yield ()
            yield from section_lines(section, width)

    def read(self) -> Report:
        """Return the report with its sections read from the index."""
        return replace(self, sections=tuple(self.sections))

    def rows(self, heading: str) -> Sequence[Row]:
        """Return the rows below a heading; none if there is no such section."""
        found = (section.rows for section in self.sections if section.heading == heading)
        return [row for row in next(found, ()) if isinstance(row, Row)]


def section_lines(section: Section, width: int | None = None, indent: str = "") -> Iterator[Line]:
    """Yield the heading of a section and, indented further, what is below it."""
    heading = section.heading
    if isinstance(heading, str):
        heading = styled(indent + heading, "" if indent else "bold") if heading else ()
    if heading:
        yield heading
    indent += section.indent
    before = (Piece(indent),) if indent else ()
    if section.columns:
        rows = cast("Iterable[Row]", section.rows)
        yield from (before + line for line in lay_out(rows, section.columns, width))
        return
    for is_table, parts in groupby(section.rows, lambda part: isinstance(part, Row)):
        if is_table:
            rows = cast("list[Row]", list(parts))
            yield from (before + line for line in lay_out(rows))
            continue
        for part in parts:
            yield from section_lines(cast("Section", part), width, indent)


def cut(rows: Sequence[Row], limit: int | None) -> list[Row]:
    """Return at most some rows, and after them how many more there are."""
    more = len(rows) - len(rows[:limit])
    return [*rows[:limit], *([Row((f"and {more:,} more; --all lists all",))] if more else [])]


def of_total(count: int, total: int) -> str:
    """Return a part of a number, as wide as for each other part: ` 84 of 104`."""
    return f"{count:>{len(f'{total:,}')},} of {total:,}"


def folded(items: Iterable[_Item], key: Callable[[_Item], object]) -> Iterator[tuple[_Item, str]]:
    """Yield the first of items in sequence that have the same key, with how many these are."""
    for _, (first, *others) in groupby(items, key):
        yield first, times(1 + len(others))


class TableLayout:
    """Rows fitted into a width, if there is one: how wide their columns are, 0 for one left out.

    A row of one cell has no part in that.
    """

    def __init__(
        self,
        rows: Iterable[Sequence[Cell]],
        columns: Sequence[Column] = (),
        width: int | None = None,
    ) -> None:
        widest = [column.width or cell_width(column.head) for column in columns]
        for cells in rows if not (columns and all(column.width for column in columns)) else ():
            if len(cells) > 1:
                widest = [*map(max, widest or [0] * len(cells), map(_width, cells))]
        self.columns = columns or [Column()] * len(widest)
        self._all = self.widths = fitted_widths(self.columns, widest, width)
        self.width = width
        self._fitted = lru_cache(_MAX_FITTED)(self._fit)

    def _fit(self, cell: Cell, number: int) -> Line:
        column, cells = self.columns[number], self.widths[number]
        text = shorten(text_of(cell), cells, keep=column.keep)
        is_right = column.is_right
        if is_right is None:
            is_right = isinstance(cell, str) and text.replace(",", "").isdecimal()
        styles = column.styles or (lambda text: restyled(cell, text))
        line, blanks = styles(text), " " * (cells - cell_width(text))
        if is_right:
            return (Piece(blanks), *line, Piece(_GAP))
        return (*line, Piece(blanks + _GAP))

    def cells(self, cells: Sequence[Cell]) -> Iterator[tuple[int, Line]]:
        """Yield the cells in view, as wide as their columns and the gap, with their numbers."""
        for number, width in enumerate(self.widths):
            if width:
                yield number, self._fitted(cells[number], number)

    def line(self, cells: Sequence[Cell]) -> Line:
        """Return cells as a line without blanks at its end."""
        line = [piece for _, of_cell in self.cells(cells) for piece in of_cell]
        while line and not line[-1].text.strip():
            line.pop()
        # A table that is not fitted is wider than the terminal, rather than cut.
        if self.width is not None and any(column.floors for column in self.columns):
            text = text_of(tuple(line))
            if cell_width(text) > self.width:
                return restyled(tuple(line), shorten(text, self.width, keep="start"))
        return tuple(line)

    def scroll(self, scrolled: range, current: int) -> tuple[int, int]:
        """Leave out columns that do not fit around the current one; return how many on each side.

        Only some are scrolled; those after them are left out first. Columns before the current
        one come first, so that nothing moves before it must.
        """
        width = self.width
        if width is None or not scrolled or _total(self._all) <= width:
            return 0, 0
        # One step for each column: a matrix has thousands.
        widths = [cells + len(_GAP) for cells in self._all]
        room = width + len(_GAP) - sum(widths[: scrolled.start]) - widths[current]
        first = last = current
        while first > scrolled.start and widths[first - 1] <= room:
            first -= 1
            room -= widths[first]
        while last + 1 < scrolled.stop and widths[last + 1] <= room:
            last += 1
            room -= widths[last]
        self.widths = [
            cells * (number < scrolled.start or first <= number <= last)
            for number, cells in enumerate(self._all)
        ]
        return first - scrolled.start, scrolled.stop - 1 - last


def lay_out(
    rows: Iterable[Row], columns: Sequence[Column] = (), width: int | None = None
) -> Iterator[Line]:
    """Yield the rows as lines, below the heads of their columns, if they have any.

    Columns without text are left out. Lines fit a width, if there is one. The rows are read twice.
    """
    layout = TableLayout((row.printed for row in rows), columns, width)
    if any(column.head for column in columns):
        yield styled(text_of(layout.line([column.head for column in columns])), "bold")
    for row in rows:
        cells = row.printed
        yield layout.line(cells) if len(cells) > 1 else restyled(cells[0], text_of(cells[0]))
        if row.note and row.leads_to:
            yield (Piece(f"{' ' * _width(cells[0])}{_GAP}{row.note}"),)


def fitted_widths(
    columns: Sequence[Column], widest: Sequence[int], width: int | None = None
) -> list[int]:
    """Return the widths of columns with so wide cells, so that they fit a width if possible."""
    widths = [min(cells, column.most) for cells, column in zip(widest, columns, strict=True)]

    def excess() -> int:
        return 0 if width is None else _total(widths) - width

    for number, column in enumerate(columns):
        if column.may_go and excess() > 0:
            least, *_ = column.floors
            left = widths[number] - excess()
            widths[number] = left if left >= least else 0
    for stage in range(max((len(column.floors) for column in columns), default=0)):
        for keep in ("start", "ends"):
            floors = {
                number: column.floors[stage]
                for number, column in enumerate(columns)
                if column.keep == keep and len(column.floors) > stage
            }
            while floors and excess() > 0:
                first = max(floors, key=widths.__getitem__)
                second = max((widths[number] for number in floors if number != first), default=0)
                if widths[first] <= floors[first]:
                    break
                # As wide as the next one, and then both in turn.
                least = max(floors[first], min(second, widths[first] - 1))
                widths[first] = max(least, widths[first] - excess())
    return widths


def _total(widths: Sequence[int]) -> int:
    """Return the cells of columns side by side; those without any have no gap either."""
    return sum(widths) + len(_GAP) * (sum(map(bool, widths)) - 1)


def _width(cell: Cell) -> int:
    return cell_width(text_of(cell))


def restyled(cell: Cell, text: str) -> Line:
    """Return the text that a cell was cut to in the styles of the cell."""
    if isinstance(cell, str):
        return (Piece(text),)
    pieces, at = list[Piece](), 0
    for piece in cell:
        if not text.startswith(piece.text, at):
            # What stands for the rest looks like what it begins with.
            return (*pieces, piece._replace(text=text[at:]))
        pieces.append(piece)
        at += len(piece.text)
    return tuple(pieces)


def flow(
    values: Iterable[Cell], between: str, width: int | None, indent: int = 0
) -> Iterator[Line]:
    """Join values to lines that fit a width, the later ones after an `indent`.

    A value that does not fit has a line of its own.
    """
    line, used = list[Piece](), 0
    for number, value in enumerate(values):
        cells = _width(value)
        if number and width is not None and used + len(between) + cells > width:
            yield tuple(line)
            line, used = [Piece(" " * indent)], indent
        elif number:
            line.append(Piece(between))
            used += len(between)
        line += restyled(value, text_of(value))
        used += cells
    if line:
        yield tuple(line)
