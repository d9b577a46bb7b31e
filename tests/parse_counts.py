"""Count how often a text is lexed and parsed."""

from collections.abc import Iterable, Iterator

import pytest

from spackscope.model.query import lexer
from spackscope.model.query.ast import Query
from spackscope.model.query.lexer import Token
from spackscope.model.query.parser import Parser


class ParseCounts:
    """The numbers of parses and of lexer runs since this was built."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.parses = self.lexer_runs = 0
        lex, parse = lexer.tokens, Parser.parse

        def count_run(text: str) -> Iterator[Token]:
            self.lexer_runs += 1
            return lex(text)

        def count_parse(parser: Parser, text: str, tokens: Iterable[Token]) -> Query:
            self.parses += 1
            return parse(parser, text, tokens)

        monkeypatch.setattr(lexer, "tokens", count_run)
        monkeypatch.setattr(Parser, "parse", count_parse)
