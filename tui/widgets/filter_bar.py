"""The filters of the columns: what each shows, and an input over the heads to type one in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from textual.containers import Horizontal
from textual.widget import Widget

from spackscope.model.core.errors import QueryError
from spackscope.model.core.text import clean
from spackscope.model.query.ast import Group, Query
from spackscope.model.query.column_filter import column_groups, column_text
from spackscope.tui.widgets.query_line import FilterInput

MIN_WIDTH = 20
"""Cells that an input has at least, over what is beside it, so that a word can be typed."""


class FilterBar(Horizontal):
    """The inputs of the columns, of which the one that is typed in is on the screen."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._inputs: dict[str, FilterInput] = {}
        self._open = ""
        self._query = Query()
        self._texts: dict[str, str] = {}
        # What each filter shows, and as which text.
        self._shown: dict[str, tuple[tuple[Group, ...], str]] = {}

    def reflect(self, query: Query, typed_in: Widget | None) -> None:
        """Show the filters of a query, except where the text means the same or is typed in."""
        self._query, self._texts = query, {}
        for column, input_ in self._inputs.items():
            if input_ is typed_in:
                continue
            groups = query.of_column(column)
            if self._groups_of(column, input_.value) != groups:
                input_.reflect(column_text(query, column))
            elif input_.value.isspace():
                input_.reflect("")
            self._shown[column] = groups, input_.value

    def _groups_of(self, column: str, text: str) -> tuple[Group, ...] | None:
        """Return what a filter asks for, parsing only a text that is new; None for an error."""
        groups, shown = self._shown.get(column, ((), ""))
        if text == shown:
            return groups
        try:
            return column_groups(column, text)[0]
        except QueryError:
            return None

    def texts(self, columns: Sequence[str]) -> Mapping[str, str]:
        """Return the filters of some columns, as they were typed where they were.

        A text that is not a condition yet is none once its input is left.
        """
        filtered = filter(self.is_filtered, columns)
        return {column: text for column in filtered if (text := self.text(column))}

    def text(self, column: str) -> str:
        """Return the filter of a column."""
        if column in self._inputs:
            return self._inputs[column].value
        if column not in self._texts:
            self._texts[column] = column_text(self._query, column)
        return self._texts[column]

    def is_filtered(self, column: str) -> bool:
        """Check whether the query has conditions on a column alone, or its filter is open."""
        return bool(self._query.of_column(column)) or column == self._open

    def open(self, column: str) -> None:
        """Show the input of a column; `enter` goes to it once it is there."""
        if column not in self._inputs:
            label = clean(column.removeprefix("+"))
            input_ = self._inputs[column] = FilterInput(f"{label}…", name=column)
            input_.reflect(column_text(self._query, column))
            self.mount(input_)
        for name, input_ in self._inputs.items():
            input_.display = name == column
        self.display, self._open = True, column

    def enter(self, column: str) -> None:
        """Go to the input of a column."""
        if column in self._inputs:
            self._inputs[column].focus()

    def place(self, at: int, width: int, room: int, y: int) -> None:
        """Put the open input at a cell, wide enough to type in, and inside of the table."""
        width = min(max(width, MIN_WIDTH), room)
        self.styles.offset = (max(0, min(at, room - width)), y)
        self.styles.width = width

    def close(self) -> bool:
        """Remove the input from the screen; return False if it is typed in, or there is none."""
        if self.focused_column is not None or not self._open:
            return False
        self.display, self._open = False, ""
        return True

    @property
    def focused_column(self) -> str | None:
        """The column whose filter has the focus."""
        return next((name for name, input_ in self._inputs.items() if input_.has_focus), None)
