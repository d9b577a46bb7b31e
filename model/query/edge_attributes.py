"""Read the attributes of a dependency's edge: the virtuals and the deptypes."""

from __future__ import annotations

from spackscope.model.core.errors import (
    QueryError,
)
from spackscope.model.query import lexer
from spackscope.model.query.lexer import Token

_DEPTYPES = ("build", "link", "run", "test")


def read_edge(token: Token) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Return the sigil of a dependency token (`%` or `^`), its virtuals and its deptypes.

    `%[deptypes=build] c,cxx=` has both ways to name what an edge must have; the rules are those
    of `EdgeAttributeParser` in lib/spack/spack/spec_parser.py. Raises QueryError.
    """
    parts = lexer.EDGE_PARTS.fullmatch(token.text)
    assert parts is not None
    sigil, _, virtuals = parts.groups()
    values: dict[str, tuple[str, int]] = {}
    at, end = parts.span(2)
    while token.text[at:end].strip():
        attribute = lexer.ATTRIBUTE.match(token.text, at, end)
        if attribute is None or attribute[1] not in ("virtuals", "deptypes"):
            raise QueryError("an edge has virtuals=… and deptypes=…", token.start + at)
        # The last of several counts.
        values[attribute[1]] = attribute[3].strip("'\" "), token.start + attribute.start(3)
        at = attribute.end()
    deptypes = _deptypes(*values["deptypes"]) if "deptypes" in values else ()
    named = values["virtuals"][0] if "virtuals" in values else ""
    return sigil[:1], _words(f"{named},{virtuals or ''}"), deptypes


def _deptypes(text: str, offset: int) -> tuple[str, ...]:
    words = set(text.split(","))
    if odd := sorted(words.difference(_DEPTYPES)):
        raise QueryError(f"{odd[0]} is no deptype: build, link, run or test is", offset)
    return tuple(sorted(words))


def _words(text: str) -> tuple[str, ...]:
    return tuple(sorted({part.strip() for part in text.split(",")} - {""}))
