"""Name a source by the end of its name, and find the source that an end means."""

from __future__ import annotations

from collections.abc import Collection

from spackscope.model.core.errors import Unanswerable
from spackscope.model.core.frozen import replace
from spackscope.model.core.suggestions import listed
from spackscope.model.core.text import clean
from spackscope.model.query.ast import Term, exact_term
from spackscope.model.query.matchers import is_glob

_CUT = "…/"
"""What a name begins with where the screen has no room for all of it."""

_MAX_LISTED = 4


def with_full_name(term: Term, names: Collection[str]) -> Term:
    """Return a condition on a source with its whole name, if only one name has that end.

    Ends that begin with a part of a path come first. Raises Unanswerable if several sources have
    the same end.

    >>> str(with_full_name(Term("source", "b.json"), ["/a/b.json", "/a/c.json"]))
    'source=/a/b.json'
    """
    end = term.pattern.removeprefix(_CUT)
    if term.column != "source" or not end or is_glob(end) or term.pattern in names:
        return term
    with_end = [name for name in names if name.endswith(end)]
    matching = [name for name in with_end if name.endswith(f"/{end}")] or with_end
    if not matching:
        return term
    if len(matching) > 1:
        shown = sorted(map(clean, matching))
        more = len(shown) - _MAX_LISTED
        texts = [*shown[:_MAX_LISTED], f"{more:,} more"] if more > 0 else shown
        message = f"{len(shown):,} sources end in {clean(end)}: {listed(texts, 'and')}"
        raise Unanswerable(message, term)
    return replace(exact_term("source", matching[0]), negated=term.negated)


def unique_end(name: str, names: Collection[str]) -> str:
    """Return the last parts of a path or an address: as few as no other name ends with.

    >>> unique_end("/a/b/c.json", ["/a/b/c.json", "/a/d/c.json"])
    'b/c.json'
    """
    stem = name.rstrip("/")
    parts, slash = stem.split("/"), name[len(stem) :]
    others = ["/" + other.rstrip("/") for other in names if other != name]
    for first in range(len(parts) - 1, -1, -1):
        end = "/".join(parts[first:])
        if end and not any(other.endswith("/" + end) for other in others):
            return end + slash
    return name


def source_term(name: str, names: Collection[str]) -> Term:
    """Return the shortest condition that only a source of some sources fits."""
    term = exact_term("source", unique_end(name, names))
    return exact_term("source", name) if is_glob(term.pattern) else term
