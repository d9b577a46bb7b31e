"""Read what stands between a sigil and the name of a dependency: virtuals and deptypes."""

from __future__ import annotations

from spackscope.model.query import tokens
from spackscope.model.query.limits import QueryError
from spackscope.model.query.tokens import Token

_DEPTYPES = frozenset({"build", "link", "run", "test"})


def read_edge(token: Token) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Read a sigil with its edge: `%`, `^`, the virtuals and the deptypes. Raises QueryError."""
    parts = tokens.EDGE_PARTS.fullmatch(token.text)
    assert parts is not None
    sigil, attributes, virtuals = parts.groups()
    given = {"virtuals": _texts(virtuals or "")}
    for pair in (attributes or "").split():
        key, _, values = pair.partition("=")
        if key not in ("virtuals", "deptypes") or not _texts(values):
            at = token.start + token.text.index(pair)
            raise QueryError(f"{pair}: an edge has virtuals=… and deptypes=…", at)
        given[key] = _texts(tokens.unquoted(values))
    if attributes is not None and not attributes.strip():
        raise QueryError("an edge has virtuals=… and deptypes=…", token.start)
    for deptype in given.get("deptypes", ()):
        if deptype not in _DEPTYPES:
            at = token.start + token.text.index(deptype)
            raise QueryError(f"{deptype} is no deptype: build, link, run or test is", at)
    return sigil, given["virtuals"], given.get("deptypes", ())


def _texts(text: str) -> tuple[str, ...]:
    return tuple(sorted({part for part in text.split(",") if part}))
