"""The input of the query line, with its syntax highlighted and a history."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rich.highlighter import Highlighter
from rich.text import Text

from spackscope.model.query import lexer
from spackscope.model.query.parsed_input import ParsedInput, parse_input
from spackscope.tui.widgets.filter_input import FilterInput, FilterMessage

_KINDS = (
    *(lexer.NAME, lexer.WORD, lexer.VERSION, lexer.VARIANT, lexer.HASH, lexer.DEPENDENCY),
    *(lexer.NOT, lexer.OR, lexer.ERROR, "key", "value"),
)


class _QueryHighlighter(Highlighter):
    """Style each token of a query by its kind."""

    def __init__(self, input_: QueryInput) -> None:
        self._input = input_

    def highlight(self, text: Text) -> None:
        for start, end, kind in lexer.highlights(self._input.parsed.tokens):
            style = self._input.get_component_rich_style(f"query--{kind}", partial=True)
            text.stylize(style, start, end)


class QueryInput(FilterInput):
    """An input for a query; Up and Down walk through the history."""

    COMPONENT_CLASSES = {f"query--{kind}" for kind in _KINDS}

    @dataclass
    class Recalled(FilterMessage):
        """Posted to show the previous query of the history, or with a positive step the next."""

        step: int

    def __init__(self, placeholder: str = "", *, name: str = "", id: str | None = None) -> None:
        super().__init__(placeholder, name=name, id=id)
        self._parsed = parse_input("", 0)
        self.highlighter = _QueryHighlighter(self)

    @property
    def parsed(self) -> ParsedInput:
        """What is in the line now; each text is parsed once."""
        text, cursor = self.value, self.cursor_position
        if self._parsed.text != text:
            self._parsed = parse_input(text, cursor)
        elif self._parsed.cursor != cursor:
            self._parsed = replace(self._parsed, cursor=cursor)
        return self._parsed

    def action_older(self) -> None:
        """Request the previous query."""
        self.post_message(self.Recalled(self, -1))

    def action_newer(self) -> None:
        """Request the next query."""
        self.post_message(self.Recalled(self, 1))
