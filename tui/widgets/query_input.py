"""The input of the query line: coloured by the syntax, with Up and Down for the history."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rich.highlighter import Highlighter
from rich.style import Style
from rich.text import Text

from spackscope.model.query import lexer
from spackscope.tui.widgets.filter_input import FilterInput, FilterMessage

_KINDS = (
    *(lexer.NAME, lexer.WORD, lexer.VERSION, lexer.VARIANT, lexer.HASH, lexer.DEPENDENCY),
    *(lexer.NOT, lexer.OR, lexer.ERROR, "key", "value"),
)


class _QueryHighlighter(Highlighter):
    """Give each piece of a query the style of its kind."""

    def __init__(self, style_of: Callable[[str], Style]) -> None:
        self._style_of = style_of

    def highlight(self, text: Text) -> None:
        for start, end, kind in lexer.coloured(text.plain):
            text.stylize(self._style_of(f"query--{kind}"), start, end)


class QueryInput(FilterInput):
    """Take a query; Up and Down ask for those of before."""

    COMPONENT_CLASSES = {f"query--{kind}" for kind in _KINDS}

    @dataclass
    class Recalled(FilterMessage):
        """Ask for the query before the one shown, or for the one after it."""

        step: int

    def __init__(self, placeholder: str = "", *, name: str = "", id: str | None = None) -> None:
        super().__init__(placeholder, name=name, id=id)
        self.highlighter = _QueryHighlighter(self._style_of)

    def _style_of(self, component: str) -> Style:
        return self.get_component_rich_style(component, partial=True)

    def action_older(self) -> None:
        """Ask for the query before."""
        self.post_message(self.Recalled(self, -1))

    def action_newer(self) -> None:
        """Ask for the query after."""
        self.post_message(self.Recalled(self, 1))
