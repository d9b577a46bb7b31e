"""Parse what is typed in an input once, for its colours, its rows, its errors and completion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from spackscope.model.core.errors import QueryError
from spackscope.model.core.frozen import Frozen, field, replace
from spackscope.model.query import lexer
from spackscope.model.query.ast import Query
from spackscope.model.query.builder import Spans
from spackscope.model.query.column_filter import apply_filter
from spackscope.model.query.lexer import Token
from spackscope.model.query.matchers import ANY
from spackscope.model.query.parser import Packages, parse_tokens

if TYPE_CHECKING:
    from spackscope.model.query.named_queries import NamedQueries


class ParsedInput(Frozen):
    """What is typed in the query line, or in the filter of `column`, parsed once.

    Offsets are in characters. `query` is the whole query once the text is typed; None where the
    text is not a query, and `error` says why. `spans` has the start and end of each condition in
    the text, `tokens` those of the query line, and `words` the tokens that are searched in any
    column. `others` are the conditions on other columns, which a filter keeps. `named` and
    `packages` are the queries and packages that the text may name.

    Example: `parse_input("hdf5 +mpi", 9).spans[Term("variants", "+mpi")] == (5, 9)`.
    """

    text: str
    cursor: int
    query: Query | None
    spans: Spans
    tokens: tuple[Token, ...] = ()
    error: QueryError | None = None
    column: str = ""
    others: Query = Query()
    named: NamedQueries | None = field(default=None, repr=False)
    packages: Packages = field(default=(), repr=False)
    words: Sequence[Token] = ()

    @property
    def settled_text(self) -> str:
        """The text with its key at each word that is searched in any column.

        As it is while no packages are known, which a word may be.
        """
        text = self.text
        for word in reversed(self.words if self.packages else ()):
            keyed = f"{ANY}={lexer.quoted(lexer.unquoted(word.text))}"
            text = text[: word.start] + keyed + text[word.end :]
        return text


def parse_input(
    text: str, cursor: int, *, packages: Packages = (), named: NamedQueries | None = None
) -> ParsedInput:
    """Parse the text of the query line; keyword arguments as of `parse`. Never raises."""
    tokens = tuple(lexer.tokens(text))
    parsed = ParsedInput(text, cursor, None, {}, tokens, named=named, packages=packages)
    try:
        query, spans, words = parse_tokens(text, tokens, packages=packages, named=named)
        return replace(parsed, query=query, spans=spans, words=words)
    except QueryError as error:
        # The frames of a traceback would keep the parser.
        return replace(parsed, error=QueryError(str(error), error.offset))


def parse_filter_input(text: str, cursor: int, column: str, query: Query) -> ParsedInput:
    """Parse the filter of a column, which replaces that column's part of a query. Never raises."""
    others = query.without_column(column)
    try:
        filtered, spans = apply_filter(others, column, text)
    except QueryError as error:
        return ParsedInput(text, cursor, None, {}, (), error.with_traceback(None), column, others)
    return ParsedInput(text, cursor, filtered, spans, (), None, column, others)
