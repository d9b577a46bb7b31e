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
from spackscope.model.core.errors import (
    QueryError,
)
from spackscope.model.presentation.column_layout import GAP, Placed
from spackscope.model.query.ast import Query
from spackscope.model.query.column_filter import column_groups, column_text
from spackscope.model.query.conditions import Group
from spackscope.tui.widgets.filter_input import FilterInput


class FilterBar(Horizontal):
    """Hold an input for every column, and show those of the columns that are placed."""

    @dataclass
    class Changed(Message):
        """Tell what stands in the filter of a column."""

        input: FilterInput
        column: str
        text: str

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._inputs: dict[str, FilterInput] = {}
        # What each filter shows, and as which text.
        self._shown: dict[str, tuple[tuple[Group, ...], str]] = {}

    def place(self, placed: Sequence[Placed], gutter: int) -> None:
        """Put the inputs under their heads, making those that are needed the first time."""
        shown = {p.column.name: p for p in placed}
        for column in COLUMNS:
            here = shown.get(column.name)
            input_ = self._inputs.get(column.name)
            if input_ is None and here is not None:
                input_ = self._inputs[column.name] = FilterInput(name=column.name)
                input_.tooltip = None
                later = [self._inputs[c.name] for c in COLUMNS if c.name in self._inputs]
                position = later.index(input_)
                before = later[position + 1] if position + 1 < len(later) else None
                self.mount(input_, before=before)
            if input_ is None:
                continue
            input_.display = here is not None
            if here is not None:
                first = here.at == 0
                input_.styles.width = here.width
                input_.styles.margin = (0, 0, 0, gutter if first else GAP)
                input_.placeholder = "▁" * here.width

    def reflect(self, query: Query, typed_in: Widget | None) -> None:
        """Show what a query says of each column.

        Left alone is what means the same, and what is being typed.
        """
        for column, input_ in self._inputs.items():
            if input_ is typed_in:
                continue
            groups = query.of_column(column)
            same = self._groups_of(column, input_.value) == groups
            if not same or not input_.value.strip():
                input_.reflect(column_text(query, column))
            self._shown[column] = groups, input_.value

    def _groups_of(self, column: str, text: str) -> tuple[Group, ...] | None:
        """Return what a filter asks for, parsing only a text that is new; None for an error."""
        groups, shown = self._shown.get(column, ((), ""))
        if text == shown:
            return groups
        try:
            return column_groups(column, text)
        except QueryError:
            return None

    def focus_on(self, column: str) -> None:
        """Let the user type in the filter of a column."""
        if (input_ := self._inputs.get(column)) is not None:
            input_.focus()

    @property
    def focused_column(self) -> str | None:
        """Name the column whose filter is typed in."""
        return next((name for name, input_ in self._inputs.items() if input_.has_focus), None)

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        if isinstance(event.input, FilterInput) and event.input.name:
            self.post_message(self.Changed(event.input, event.input.name, event.value))
