"""Guess what was meant by a name that does not exist."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from spackscope.model.core.text import clean

MAX_NEAR = 3
"""Names that are suggested at most."""

_CLOSE = 0.6
_MAX_COMPARED = 5_000


def near(typed: str, names: Iterable[str], closeness: float = _CLOSE) -> list[str]:
    """Return the names that begin with a text, the shortest first, or else look like it.

    `closeness` is how similar they must be, from 0 to 1.
    """
    # Few commands guess.
    from difflib import get_close_matches

    candidates = list(dict.fromkeys(names))[:_MAX_COMPARED]
    by_lower = {text.lower(): text for text in reversed(candidates)}
    close = get_close_matches(typed.lower(), by_lower, MAX_NEAR, closeness)
    longer = [low for low in by_lower if len(typed) > 1 and low.startswith(typed.lower())]
    lows = dict.fromkeys(sorted(longer, key=len) + close)
    return [by_lower[low] for low in lows][:MAX_NEAR]


def did_you_mean(typed: str, names: Iterable[str]) -> str:
    """Guess what was meant, as `. Did you mean mpi?`; empty where nothing is close."""
    texts = list(map(clean, near(typed, names)))
    return f". Did you mean {listed(texts, 'or')}?" if texts else ""


def listed(texts: Sequence[str], word: str) -> str:
    """Join texts for a sentence, as `a, b or c`."""
    return f" {word} ".join(filter(None, [", ".join(texts[:-1]), texts[-1]]))
