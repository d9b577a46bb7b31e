"""The lines above the rows of the table: shared values, heads and filters."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import lru_cache

from textual import events, on
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input

from spackscope.model.core.errors import QueryError
from spackscope.model.core.frozen import Frozen, field
from spackscope.model.core.text import cell_width, clean, cut_words, pad
from spackscope.model.index.order import Sort
from spackscope.model.query.ast import Group, Query
from spackscope.model.query.column_filter import column_groups, column_text
from spackscope.model.report.report import Piece
from spackscope.model.report.table_columns import Layout, Placed
from spackscope.tui.widgets.drawing import draw
from spackscope.tui.widgets.query_line import FilterInput
from spackscope.tui.widgets.virtual_list import Browse

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

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
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

    def on_resize(self) -> None:
        """Put the open input under its head: it is opened while its pane has no size yet."""
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
