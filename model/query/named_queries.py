"""Queries that have a name, and are used as `view=NAME` in others.

A view stands for its conditions, as if they were in parentheses: they are put into the query where
it is parsed, so that rows, filters and messages know no views.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from spackscope.model.core.errors import QueryError, WrongNamedQuery
from spackscope.model.query.ast import Query

MAX_NESTED = 20
"""Views that are used in each other at most."""


class NamedQueries:
    """The texts of queries by their names; `places` has where each is defined, such as a line."""

    def __init__(self, texts: Mapping[str, str], places: Mapping[str, str] = {}) -> None:
        self.texts, self._places = texts, places
        self._queries: dict[str, Query] = {}

    def query(self, name: str, inside: Sequence[str] = ()) -> Query:
        """Return the query of a name; `inside` are the views that it is used in.

        Raises QueryError where there is none, it is not a query, or it needs itself.
        """
        if name not in self.texts:
            raise QueryError(f"Unknown view {name}{self._nearest(name)}")
        if name in inside:
            circle = tuple(inside[inside.index(name) :])
            sentence = f"view={name} needs itself: {' → '.join([*circle, name])}"
            raise WrongNamedQuery(sentence, sentence, circle)
        if len(inside) >= MAX_NESTED:
            sentence = f"More than {MAX_NESTED} views are used in each other"
            raise WrongNamedQuery(sentence, sentence, tuple(inside))
        if name not in self._queries:
            self._queries[name] = self._parse(name, inside)
        return self._queries[name]

    def _parse(self, name: str, inside: Sequence[str]) -> Query:
        # The parser calls this.
        from spackscope.model.query.lexer import tokens
        from spackscope.model.query.parser import parse_tokens

        try:
            text, inside = self.texts[name], (*inside, name)
            return parse_tokens(text, tokens(text), named=self, inside=inside)[0]
        except QueryError as error:
            sentence = str(error)
            names: tuple[str, ...] = (name,)
            if isinstance(error, WrongNamedQuery):
                sentence, names = error.sentence, error.names
            place = self._places.get(name, "")
            message = f"view={name}{place and f' ({place})'}: {error}"
        raise WrongNamedQuery(message, sentence, names)

    def _nearest(self, name: str) -> str:
        from spackscope.model.core.suggestions import did_you_mean

        guess = did_you_mean(name, self.texts)
        return guess or f"; there are {', '.join(sorted(self.texts))}"
