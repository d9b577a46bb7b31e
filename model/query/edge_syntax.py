"""Read the attributes of a dependency's edge: the virtuals and the deptypes."""

from __future__ import annotations

from spackscope.model.query import tokens
from spackscope.model.query.limits import QueryError
from spackscope.model.query.tokens import Token

_DEPTYPES = ("build", "link", "run", "test")


def read_edge(token: Token) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Return the sigil of a dependency token (`%` or `^`), its virtuals and its deptypes.

    `%[deptypes=build] c,cxx=` has both ways to name what an edge must have; the rules are those
    of `EdgeAttributeParser` in lib/spack/spack/spec_parser.py. Raises QueryError.
    """
    parts = tokens.EDGE_PARTS.fullmatch(token.text)
    assert parts is not None
    sigil, _, virtuals = parts.groups()
    values: dict[str, tuple[str, ...]] = {"virtuals": _words(virtuals or ""), "deptypes": ()}
    at, end = parts.span(2)
    while at < end:
        attribute = tokens.ATTRIBUTE.match(token.text, at, end)
        if attribute is None or attribute[1] not in values:
            raise QueryError("an edge has virtuals=… and deptypes=…", token.start + at)
        name, written = attribute[1], tokens.unquoted(attribute[3])
        if name == "deptypes":
            values[name] = _deptypes(written, token.start + attribute.start(3))
        else:
            values[name] = tuple(sorted({*values[name], *_words(written)}))
        at = attribute.end()
    return sigil[:1], values["virtuals"], values["deptypes"]


def _deptypes(text: str, offset: int) -> tuple[str, ...]:
    if text == "all":
        return _DEPTYPES
    words = _words(text)
    for word in words:
        if word not in _DEPTYPES:
            raise QueryError(f"{word} is no deptype: build, link, run or test is", offset)
    return words


def _words(text: str) -> tuple[str, ...]:
    return tuple(sorted({part.strip() for part in text.split(",")} - {""}))
