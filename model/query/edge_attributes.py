"""Parse the attributes of a dependency's edge: the virtuals and the deptypes."""

from __future__ import annotations

from typing import NamedTuple

from spackscope.model.core.errors import QueryError
from spackscope.model.core.records import DEPTYPES
from spackscope.model.query import lexer
from spackscope.model.query.lexer import Token


class Edge(NamedTuple):
    """What a query asks of the edge to a dependency; both are sorted."""

    virtuals: tuple[str, ...]
    deptypes: tuple[str, ...]


def parse_edge(token: Token) -> Edge:
    """Return the virtuals and the deptypes of a dependency token.

    `%[deptypes=build] c,cxx=` has both ways to write them; the rules are those of
    `EdgeAttributeParser` in lib/spack/spack/spec_parser.py. Raises QueryError.
    """
    parts = lexer.EDGE_PARTS.fullmatch(token.text)
    assert parts is not None
    values: dict[str, tuple[str, int]] = {}
    start, end = parts.span(2)
    while token.text[start:end].strip():
        attribute = lexer.ATTRIBUTE.match(token.text, start, end)
        if attribute is None or attribute[1] not in ("virtuals", "deptypes"):
            raise QueryError("Expected virtuals=… or deptypes=…", token.start + start)
        # The last of several counts.
        values[attribute[1]] = attribute[3].strip("'\" "), token.start + attribute.start(3)
        start = attribute.end()
    deptypes = _deptypes(*values["deptypes"]) if "deptypes" in values else ()
    virtuals = values["virtuals"][0] if "virtuals" in values else ""
    return Edge(_words(f"{virtuals},{parts[3] or ''}"), deptypes)


def _deptypes(text: str, offset: int) -> tuple[str, ...]:
    words = set(text.split(","))
    if unknown := sorted(words.difference(DEPTYPES)):
        hint = "use build, link, run or test"
        raise QueryError(f"{unknown[0]} is not a dependency type: {hint}", offset)
    return tuple(sorted(words))


def _words(text: str) -> tuple[str, ...]:
    return tuple(sorted({part.strip() for part in text.split(",")} - {""}))
