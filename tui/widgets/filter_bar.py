"""The filter inputs under the column heads, one a column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual import on
from textual.containers import Horizontal
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input

from spackscope.model.core.columns import COLUMNS
from spackscope.model.core.errors import QueryError
from spackscope.model.presentation.column_layout import GAP, Placed
from spackscope.model.query.ast import Query
from spackscope.model.query.column_filter import column_groups, column_text
from spackscope.model.query.conditions import Group
from spackscope.tui.widgets.filter_input import FilterInput


class FilterBar(Horizontal):
    """An input for each column that is on the screen, under its head."""

    @dataclass
    class Changed(Message):
        """Tell the text of a column's filter."""

        input: FilterInput
        column: str
        text: str

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._inputs: dict[str, FilterInput] = {}
        # What each filter shows, and as which text.
        self._shown: dict[str, tuple[tuple[Group, ...], str]] = {}

    def place(self, placed: Sequence[Placed], gutter: int) -> None:
        """Put the inputs under their heads; inputs are created when they are first needed."""
        placed_by_name = {p.column.name: p for p in placed}
        for column in COLUMNS:
            place = placed_by_name.get(column.name)
            if place is not None and column.name not in self._inputs:
                self._add_input(column.name)
            if (input_ := self._inputs.get(column.name)) is None:
                continue
            input_.display = place is not None
            if place is not None:
                input_.styles.width = place.width
                input_.styles.margin = (0, 0, 0, GAP if place.at else gutter)
                input_.placeholder = "▁" * place.width

    def _add_input(self, column: str) -> None:
        """Create the input of a column, in the order of the columns: Tab follows it."""
        self._inputs[column] = input_ = FilterInput(name=column)
        input_.tooltip = None
        names = [c.name for c in COLUMNS if c.name in self._inputs]
        following = names[names.index(column) + 1 :]
        self.mount(input_, before=self._inputs[following[0]] if following else None)

    def reflect(self, query: Query, typed_in: Widget | None) -> None:
        """Show the filters of a query, except where the text means the same or is typed in."""
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

    def focus_on(self, column: str) -> None:
        """Go to the filter of a column."""
        if (input_ := self._inputs.get(column)) is not None:
            input_.focus()

    @property
    def focused_column(self) -> str | None:
        """The column whose filter has the focus."""
        return next((name for name, input_ in self._inputs.items() if input_.has_focus), None)

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        if isinstance(event.input, FilterInput) and event.input.name:
            self.post_message(self.Changed(event.input, event.input.name, event.value))
