"""The query line on top, with its syntax highlighted, and the count of its matches beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.highlighter import Highlighter
from rich.text import Text
from textual import getters
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Static

from spackscope.model.core.frozen import replace
from spackscope.model.core.text import cell_width
from spackscope.model.query import lexer
from spackscope.model.query.ast import Query
from spackscope.model.query.parser import ParsedInput, parse_input
from spackscope.tui.widgets.drawing import draw, part_style
from spackscope.tui.widgets.filter_input import FilterInput, FilterMessage

if TYPE_CHECKING:
    from spackscope.model.query.parser import NamedQueries

_COUNT_MARGIN = 2
"""Cells between the query and the count."""


_EXAMPLES = ("words", "os=ubuntu22.04", "compiler=gcc@13:", "+mpi", "~cuda", "!target=aarch64")
"""What a query may have, the most useful first."""


class _QueryHighlighter(Highlighter):
    """Style each token of a query by its kind."""

    def __init__(self, input_: QueryInput) -> None:
        self._input = input_

    def highlight(self, text: Text) -> None:
        for start, end, kind in lexer.highlights(self._input.parsed.tokens):
            style = part_style(self._input, f"query--{kind}")
            text.stylize(style, start, end)


class QueryInput(FilterInput):
    """An input for a query; Up and Down walk through the history.

    `named` are the named queries that its text may use, `packages` the packages that a word of it
    may name.
    """

    class Recalled(FilterMessage):
        """Posted to show the previous query of the history, or with a positive step the next."""

        def __init__(self, input: FilterInput, step: int) -> None:
            super().__init__(input)
            self.step = step

    def __init__(self, *, name: str = "", id: str | None = None) -> None:
        super().__init__(name=name, id=id)
        self.named: NamedQueries | None = None
        self.packages: frozenset[str] = frozenset()
        self._parsed = parse_input("", 0)
        self.highlighter = _QueryHighlighter(self)

    def render_line(self, y: int) -> Strip:
        """Draw the text, which ends in … where it is longer and not typed in."""
        line, width = super().render_line(y), self.size.width
        if self.has_focus or cell_width(self.value) <= width:
            return line
        return Strip.join([line.crop(0, width - 1), draw(self, [("…", "")], 1, "query")])

    def on_resize(self) -> None:
        """Show as many examples as fit where nothing is typed."""
        texts = (f"query: {', '.join(_EXAMPLES[:end])}" for end in range(len(_EXAMPLES), 0, -1))
        self.placeholder = next((text for text in texts if len(text) <= self.size.width), "")

    @property
    def parsed(self) -> ParsedInput:
        """What is in the line now; each text is parsed once."""
        text, cursor = self.value, self.cursor_position
        if self._parsed.text != text or self._parsed.packages is not self.packages:
            self._parsed = parse_input(text, cursor, packages=self.packages, named=self.named)
        elif self._parsed.cursor != cursor:
            self._parsed = replace(self._parsed, cursor=cursor)
        return self._parsed

    def action_older(self) -> None:
        """Request the previous query."""
        self.post_message(self.Recalled(self, -1))

    def action_newer(self) -> None:
        """Request the next query."""
        self.post_message(self.Recalled(self, 1))


class QueryCount(Widget):
    """The count of the matches, which leaves most of the line to the query."""

    _forms: Sequence[str] = ("",)
    _width = 0

    @property
    def text(self) -> str:
        """The form that is shown."""
        room = self.screen.size.width * 2 // 5
        forms = (text for text in self._forms if cell_width(text) + _COUNT_MARGIN <= room)
        return next(forms, "")

    def show(self, forms: Sequence[str]) -> None:
        """Show another count; the line is laid out again only where its width changes."""
        if forms != self._forms:
            self._forms = forms
            self.fit()

    def fit(self) -> None:
        """Take as many cells as the text needs, and draw it."""
        width = cell_width(self.text) + _COUNT_MARGIN
        if self._width != width:
            self._width = width
            self.styles.width = width
        self.refresh()

    def on_mount(self) -> None:
        """Begin without a text."""
        self.fit()

    def render_line(self, y: int) -> Strip:
        """Draw the text after a gap."""
        width = self.size.width
        return draw(self, [("  ", ""), (self.text, "text")], width, "count")


class QueryBar(Horizontal):
    """The query line and the count of its matches.

    `named` are the named queries that the line may use.
    """

    named: NamedQueries | None = None

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._texts: dict[Query, str] = {}

    def compose(self) -> ComposeResult:
        """Lay out the sign, the line and the count side by side."""
        yield Static(Content("›"), id="query-sign")
        input_ = QueryInput(name="query", id="query-input")
        input_.named = self.named
        yield input_
        yield QueryCount(id="query-count")

    input = getters.query_one(QueryInput)

    def focus_input(self) -> None:
        """Go to the query line."""
        input_ = self.input
        if input_.value and not input_.value.endswith(" "):
            # The next word must not run into the last one.
            input_.reflect(f"{input_.value} ")
        input_.focus()

    def reflect(self, query: Query, typed_in: Widget | None) -> None:
        """Show a query as it was typed, except in the line that is typed in."""
        input_ = self.input
        if input_ is typed_in:
            return
        is_shown = input_.parsed.query == query
        input_.reflect(input_.parsed.settled_text if is_shown else self._texts.get(query, ""))
        if input_.parsed.query != query:
            input_.reflect(str(query))
        self._texts[query] = input_.value.strip()

    def on_resize(self) -> None:
        """Show the form of the count that fits."""
        self.query_one(QueryCount).fit()

    def show_count(self, forms: Sequence[str]) -> None:
        """Show the count of the matches in the longest of some forms that leaves room."""
        self.query_one(QueryCount).show(forms)
