"""The query line on top, with the count of what it matches beside it."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from spackscope.model.query.ast import Query
from spackscope.tui.widgets.query_input import QueryInput


class QueryBar(Horizontal):
    """The query line and the count of its matches."""

    def compose(self) -> ComposeResult:
        """Lay out the sign, the line and the count side by side."""
        yield Static(Content("›"), id="query-sign")
        yield QueryInput(
            "query: words, os=ubuntu22.04, compiler=gcc@13:, +mpi, ~cuda, !target=aarch64",
            name="query",
            id="query-input",
        )
        yield Static(id="query-count")

    @property
    def input(self) -> QueryInput:
        """The input."""
        return self.query_one(QueryInput)

    def focus_input(self) -> None:
        """Go to the query line."""
        input_ = self.input
        if input_.value and not input_.value.endswith(" "):
            # The next word must not run into the last one.
            input_.reflect(f"{input_.value} ")
        input_.focus()

    def reflect(self, query: Query, typed_in: Widget | None) -> None:
        """Show a query, except where the text means the same or is typed in."""
        if self.input is not typed_in and self.input.parsed.query != query:
            self.input.reflect(str(query))

    def show_count(self, text: str) -> None:
        """Show the count of the matches."""
        self.query_one("#query-count", Static).update(Content(text))
