"""The filter inputs under the column heads, one per column."""

from __future__ import annotations

from collections.abc import Sequence

from textual.containers import Horizontal
from textual.widget import Widget

from spackscope.model.core.columns import COLUMNS
from spackscope.model.core.errors import QueryError
from spackscope.model.presentation.column_layout import GAP, Placed
from spackscope.model.query.ast import Query
from spackscope.model.query.column_filter import column_groups, column_text
from spackscope.model.query.conditions import Group
from spackscope.tui.widgets.filter_input import FilterInput


class FilterBar(Horizontal):
    """An input for each column that is on the screen, under its head."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._inputs: dict[str, FilterInput] = {}
        self._query = Query()
        # What each filter shows, and as which text.
        self._shown: dict[str, tuple[tuple[Group, ...], str]] = {}

    def place(self, placed: Sequence[Placed], gutter: int) -> None:
        """Align the inputs with their heads; those that were never needed are not mounted."""
        placed_by_name = {p.column.name: p for p in placed}
        following: FilterInput | None = None
        for column in [column.name for column in reversed(COLUMNS)]:
            position = placed_by_name.get(column)
            if position is not None and column not in self._inputs:
                input_ = self._inputs[column] = FilterInput(name=column)
                input_.reflect(column_text(self._query, column))
                self.mount(input_, before=following)
            if column not in self._inputs:
                continue
            input_ = following = self._inputs[column]
            input_.display = position is not None
            if position is not None:
                input_.styles.width = position.width
                input_.styles.margin = (0, 0, 0, GAP if position.at else gutter)
                input_.placeholder = "▁" * position.width

    def reflect(self, query: Query, typed_in: Widget | None) -> None:
        """Show the filters of a query, except where the text means the same or is typed in."""
        self._query = query
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
        """Go to the filter of a column, if it was ever on the screen."""
        if column in self._inputs:
            self._inputs[column].focus()

    @property
    def focused_column(self) -> str | None:
        """The column whose filter has the focus."""
        return next((name for name, input_ in self._inputs.items() if input_.has_focus), None)
