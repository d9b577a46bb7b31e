"""The lines above the rows of the table: shared values, heads and filters."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from textual import events, on
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input

from spackscope.model.core.errors import QueryError
from spackscope.model.core.frozen import Frozen, field
from spackscope.model.core.text import cell_width, clean, counted, cut_words, pad, shorten
from spackscope.model.index.view import Sort
from spackscope.model.query.ast import Group, Query
from spackscope.model.query.column_filter import column_groups, column_text
from spackscope.model.report.report import LinePart, Piece
from spackscope.model.report.table_columns import (
    HeadText,
    Layout,
    Placed,
    TableColumn,
    TableColumns,
    head_line,
    lay_out,
)
from spackscope.tui.widgets.drawing import RULE_MARGIN, RuleLine, draw
from spackscope.tui.widgets.query_line import FilterInput
from spackscope.tui.widgets.virtual_list import Browse

if TYPE_CHECKING:
    from spackscope.tui.widgets.table_rows import ShownRows


_BETWEEN = " ─ "
"""The text between the title of the table and the values that all rows share."""


class HeadLine(RuleLine):
    """The rule above the table: its title, the values that all rows share, and columns cut off.

    Each value can be clicked, and be the current column.
    """

    is_stale = reactive(False)
    """Whether the rows are those of an older query, which the title then names."""
    _shown: tuple[str, Sequence[HeadText], str, str, str, str] = ("", (), "", "", "", " ")
    _query = ""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(self._texts, id=id)

    def show(self, rows: ShownRows, head: Sequence[HeadText], current: str, columns: int) -> None:
        """Show other values after the text `before` of the rows.

        `columns` is the number of columns out of view to the right.
        """
        after = f"{counted(columns, 'column')} ›" if columns else ""
        self._query = clean(str(rows.query or "all builds")) if rows.listing is not None else ""
        shown = rows.name, head, current, after, rows.before, rows.between
        if shown != self._shown:
            self._shown = shown
            self.refresh()

    @property
    def title(self) -> str:
        """The title of the table."""
        title, *_ = self._shown
        return f"rows of: {self._query}" if self.is_stale and self._query else title

    @property
    def pieces(self) -> list[HeadText]:
        """The values that all rows share, and texts between them."""
        _, head, current, after, before, between = self._shown
        name = self.title
        room = self.size.width - RULE_MARGIN - cell_width(name + _BETWEEN + after)
        return head_line(head, room, current, before, between)

    def _texts(self, width: int) -> tuple[Sequence[LinePart], Sequence[LinePart]]:
        """Return the title and the values, package and version in bold; and the cut columns."""
        _, _, current, after, *_ = self._shown
        left = [LinePart([(shorten(self.title, width, keep="start"), "")])]
        for number, (column, text) in enumerate(self.pieces):
            style = "plain strong" if column in ("package", "version") else "plain dim"
            style = "current" if column and column == current else style
            left += [LinePart([(_BETWEEN, "rule")])] * (not number)
            left.append(LinePart([(text, style)], Browse("filter", column) if column else ""))
        is_room = cell_width(self.title + after) <= width
        return left, [LinePart([(after, "plain dim")])] if after and is_room else []


ASCENDING, DESCENDING = "↑", "↓"


class Heads(Frozen):
    """The content of the heads: columns after a gutter, the current column, sort and filters."""

    layout: Layout = field(default_factory=Layout)
    gutter: int = 2
    current: str = ""
    sort: Sort | None = None
    filters: Mapping[str, str] = field(default_factory=dict)

    def sign(self, column: str) -> str:
        """Return the arrow of the column that sorts the rows; empty for other columns."""
        if self.sort is None or self.sort.column != column:
            return ""
        return DESCENDING if self.sort.descending else ASCENDING


class HeadCells(Widget):
    """A line of cells over the columns; each cell can be clicked."""

    heads = reactive(Heads())
    CLICKED: str
    """The action of a click on a cell; its value is the name of the column."""

    def render_line(self, y: int) -> Strip:
        """Draw the cells."""
        heads, width = self.heads, self.size.width
        if y or not heads.layout.placed:
            return Strip.blank(width, self.rich_style)
        pieces: list[Piece] = [(pad(self.lead, heads.gutter), "dim")]
        at = 0
        for placed in heads.layout.placed:
            pieces += [(" " * (placed.at - at), ""), *self.cell(placed)]
            at = placed.end
        return draw(self, pieces, width)

    @property
    @abstractmethod
    def lead(self) -> str:
        """The text before the cells."""

    @abstractmethod
    def cell(self, placed: Placed) -> Sequence[Piece]:
        """Return the pieces of the cell of a column."""

    def on_click(self, event: events.Click) -> None:
        """Post the action of the line for the clicked column."""
        placed = self.heads.layout.at(event.x - self.heads.gutter)
        if placed is not None:
            self.post_message(Browse(self.CLICKED, placed.column.name))


class ColumnHeader(HeadCells):
    """The heads of the columns, some replaced by filters, with the current column and the sort."""

    CLICKED = "sort_by"

    @property
    def lead(self) -> str:
        """The sign of columns out of view before the first."""
        return "‹" if self.heads.layout.before else ""

    def cell(self, placed: Placed) -> Sequence[Piece]:
        """Return the head of a column, or its filter."""
        column, heads = placed.column, self.heads
        sign, style = heads.sign(column.name), "dim"
        filter_ = heads.filters.get(column.name, "")
        if filter_:
            style = "match"
        if filter_ in ("+", "~"):
            # The sign alone would not name the variant.
            filter_ += column.variant
        room = placed.width - len(sign)
        text = (cut_words(filter_, room) if filter_ else column.head(room)) + sign
        if column.name == heads.current:
            style = "current match" if filter_ else "current"
        return [(pad(text, placed.width, right=column.aligns_right), style)]


class Patterns:
    """Filters that act while they are typed: patterns by column."""

    is_typed = True
    """Whether a filter acts at each letter, without a query."""

    def __init__(self, patterns: Mapping[str, str]) -> None:
        self._patterns = patterns

    def text(self, column: str) -> str:
        """Return the filter of a column as it is typed."""
        return self._patterns.get(column, "")

    def meaning(self, column: str) -> object:
        """Return the meaning of the filter of a column; falsy if the filter is empty."""
        return self.text(column)

    def parsed(self, column: str, text: str) -> object:
        """Return the meaning of a text as a filter; None if the text is wrong."""
        return text


class QueryFilters(Patterns):
    """The filters of a query: for each column the conditions on this column alone."""

    is_typed = False

    def __init__(self, query: Query) -> None:
        super().__init__({})
        self._query, self._texts = query, dict[str, str]()

    def text(self, column: str) -> str:
        """Return the filter of a column as it is typed."""
        if column not in self._texts:
            self._texts[column] = column_text(self._query, column)
        return self._texts[column]

    def meaning(self, column: str) -> tuple[Group, ...]:
        """Return the conditions on a column."""
        return self._query.of_column(column)

    def parsed(self, column: str, text: str) -> tuple[Group, ...] | None:
        """Return the conditions of a text as a filter; None if the text is wrong."""
        return _parsed(column, text)


@lru_cache(256)
def _parsed(column: str, text: str) -> tuple[Group, ...] | None:
    try:
        return column_groups(column, text)[0]
    except QueryError:
        return None


MIN_INPUT_WIDTH = 12
"""The least width of an input: room for a word, even if it covers the next columns."""
FILTER = "filter "
"""The word before the filters, in a gutter that is wide enough."""
_FIELD = "▁"
"""Fills a filter: a rule would part the heads from the rows."""


class FilterBar(HeadCells):
    """The filters of the columns, each under its head; the open filter is an input.

    On a low screen, which has no line for it, the bar replaces the heads while a filter is open.
    """

    CLICKED = "filter"

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._inputs: dict[str, FilterInput] = {}
        self._open = ""
        # The first cell and the width of the open input.
        self._span = 0, 0
        self._filters: Patterns = QueryFilters(Query())
        # The text of the open input when it was opened.
        self._before = ""

    @property
    def lead(self) -> str:
        """The word before the filters."""
        return FILTER if self.heads.gutter >= len(FILTER) else ""

    def watch_heads(self) -> None:
        """Put the open input under its head."""
        self._place()

    def cell(self, placed: Placed) -> Sequence[Piece]:
        """Return a field with the filter of a column; blank under the open input."""
        name, width = placed.column.name, placed.width
        if not placed.column.takes_filter or self._is_covered(placed):
            return [(" " * width, "")]
        text = cut_words(self.heads.filters.get(name, ""), width)
        return [(text, "match"), (_FIELD * (width - cell_width(text)), "dim")]

    def _is_covered(self, placed: Placed) -> bool:
        """Check whether the open input covers the beginning of a column."""
        at, width = self._span
        return bool(self._open) and at <= self.heads.gutter + placed.at < at + width

    def reflect(self, filters: Patterns, typed_in: Widget | None = None) -> None:
        """Show other filters, except in the input `typed_in` and inputs with the same meaning."""
        is_other, self._filters = type(filters) is not type(self._filters), filters
        for column, input_ in self._inputs.items():
            if input_ is typed_in and not is_other:
                continue
            # A query may not know a column of a sheet.
            if is_other or filters.meaning(column) != filters.parsed(column, input_.value):
                input_.reflect(filters.text(column))
            elif input_.value.isspace():
                input_.reflect("")

    def texts(self, columns: Sequence[str]) -> Mapping[str, str]:
        """Return the filters of some columns as they were typed.

        A text that is not a condition counts as a filter only while its input is open.
        """
        filtered = {column: self.text(column) for column in filter(self.is_filtered, columns)}
        return {column: text for column, text in filtered.items() if text}

    def text(self, column: str) -> str:
        """Return the filter of a column."""
        return self._inputs[column].value if column in self._inputs else self._filters.text(column)

    def is_filtered(self, column: str) -> bool:
        """Check whether a column has a filter or is the column of the open input."""
        return bool(self._filters.meaning(column)) or column == self._open

    def open(self, column: str, *, takes_text: bool) -> None:
        """Show the input of a column; `enter` goes to the input once it is mounted."""
        self._before = text = self.text(column)
        if column not in self._inputs:
            self._inputs[column] = FilterInput(name=column)
            self._inputs[column].reflect(text)
            self.mount(self._inputs[column])
        label = f"{clean(column.removeprefix('+'))}…" if takes_text else "no filter"
        self._inputs[column].placeholder = label
        self._inputs[column].restrict = None if takes_text else "(?!)"
        for name, input_ in self._inputs.items():
            input_.display = name == column
        self._open = column
        self._place()
        self.refresh()

    def enter_open(self) -> None:
        """Go to the open input."""
        if self._open:
            self._inputs[self._open].focus()

    def _place(self) -> None:
        """Put the open input under its head, wide enough to type in, and inside of the table."""
        if not self._open:
            return
        heads, room = self.heads, self.size.width
        placed = next((p for p in heads.layout.placed if p.column.name == self._open), None)
        # A column without room on the screen is not placed.
        at, width = (placed.at, placed.width) if placed is not None else (0, room)
        width = min(max(width, MIN_INPUT_WIDTH), room)
        self._span = max(0, min(heads.gutter + at, room - width)), width
        input_ = self._inputs[self._open]
        input_.styles.offset, input_.styles.width = (self._span[0], 0), width

    def close(self) -> bool:
        """Hide the open input; return False if an input has the focus, or none is open."""
        if self.focused_column is not None or not self._open:
            return False
        self._inputs[self._open].display, self._open = False, ""
        self.refresh()
        return True

    @on(Input.Changed)
    def _type(self, event: Input.Changed) -> None:
        """Filter a sheet by a text while it is typed."""
        if self._filters.is_typed:
            event.stop()
            self.post_message(Browse("filter_sheet", event.input.name or "", event.value))

    @on(FilterInput.Pressed)
    def _press(self, event: FilterInput.Pressed) -> None:
        """Leave the filter of a sheet with its old text, or go on to the next pane."""
        if not self._filters.is_typed:
            return
        event.stop()
        if event.key == "give_up":
            event.input.value = self._before
            event.input.finish(given_up=True)
        elif event.key == "take":
            self.post_message(Browse("next_pane"))

    @property
    def focused_column(self) -> str | None:
        """The column whose filter has the focus."""
        return next((name for name, input_ in self._inputs.items() if input_.has_focus), None)


class ColumnState:
    """The columns of the rows; the current column may be a value of the head line.

    Columns in `kept` have a filter, and stay as long as they have it.
    """

    def __init__(self, current: str = "") -> None:
        self.columns = TableColumns()
        self.current = current
        self.hidden: Collection[str] = ()
        self.kept: set[str] = set()
        self.filters: Patterns = QueryFilters(Query())
        self.gutter = 2
        self._first = 0
        self._query: object = Query()
        self._is_new = self._was_scrolled = False

    @property
    def head(self) -> list[str]:
        """The columns of the values in the head line."""
        return [text.column for text in self.columns.head]

    @property
    def is_in_head(self) -> bool:
        """Whether the current column is in the head line."""
        return self.current not in self.columns.names

    def column(self, name: str) -> TableColumn | None:
        """Return a column of the table; None for a value of the head line or a hidden column."""
        return next((column for column in self.columns.all if column.name == name), None)

    def choose(
        self, rows: ShownRows, is_filtered: Callable[[str], bool], *, has_slots: bool = True
    ) -> None:
        """Choose the columns for some rows; for an empty listing the columns stay.

        Rows of another query begin with the first columns, unless the current one has a filter.
        """
        if rows.query != self._query:
            self._query, self._is_new = rows.query, True
            self._first, self._was_scrolled = 0, self._first > 0
        self.kept = set(filter(is_filtered, self.kept))
        if rows.differ or not self.columns.all:
            self.columns = rows.choose_columns(self.kept, self.hidden, has_slots=has_slots)
        else:
            self.columns = self.columns.without(self.hidden)
        names = self.columns.names
        if self.current not in (*names, *self.head):
            self.current = next(filter(names.__contains__, (rows.column_of_specs, *names)), "")

    def constant_head(self, rows: ShownRows) -> list[HeadText]:
        """Return the values of the head line that newer rows share too."""
        return [text for text in self.columns.head if rows.is_constant(text.column)]

    def move(self, step: int) -> bool:
        """Go to the next or previous column; the head line is before the first column.

        Returns False at the edge. From the first column the cursor goes to the first value of the
        head line, since the last values may be out of view.
        """
        names, head = self.columns.names, self.head
        if self.is_in_head:
            number = head.index(self.current) + step if self.current in head else len(head)
            if number < 0:
                return False
            self.current = head[number] if number < len(head) else names[0]
            return True
        number = names.index(self.current) + step
        if number >= len(names) or (number < 0 and not head):
            return False
        self.current = names[number] if number >= 0 else head[0]
        return True

    def next_filter(self, step: int) -> bool:
        """Go to the next or previous column that can be filtered; return False at the edge."""
        columns = self.columns.all
        number = self.columns.names.index(self.current) if not self.is_in_head else len(columns)
        others = columns[number + 1 :] if step > 0 else columns[:number][::-1]
        following = next((column.name for column in others if column.takes_filter), None)
        if following is not None:
            self.current = following
        return following is not None

    def lay_out(self, width: int, sort: Sort | None) -> Layout:
        """Place the columns; the view does not scroll if the current column is in it."""
        floors: dict[str, int] = {}
        sorting = self.column(sort.column) if sort is not None else None
        if sorting is not None:
            width_with_arrow = max(sorting.min_width, min(len(sorting.label), 4)) + 1
            floors[sorting.name] = width_with_arrow

        def laid_out() -> Layout:
            return lay_out(
                self.columns, width, current=self.current, first=self._first, floors=floors
            )

        layout = laid_out()
        is_away = layout.before or (self._was_scrolled and self.is_in_head)
        if self._is_new and is_away and self.current not in self.kept:
            self.current = self.columns.names[0]
            layout = laid_out()
        self._first, self._is_new = layout.before, False
        return layout
