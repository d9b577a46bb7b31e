"""Find names by parts that are typed, and suggest names that exist for one that does not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from spackscope.model.core.text import clean

_T = TypeVar("_T")

_EXACT, _PREFIX, _WORD_START, _SUBSTRING, _SUBSEQUENCE, _NO_MATCH = range(6)


def _tier(text: str, name: str) -> int:
    """Return how well a name fits a text, from 0 (the same name) to `_NO_MATCH`.

    Case is ignored. After the exact name come names that begin with the text, names with a word
    that begins with it, names that contain it, and names with a word that contains its letters in
    this order.
    """
    text, name = text.lower(), name.lower()
    position = name.find(text)
    if position == 0:
        return _EXACT if text == name else _PREFIX
    if position > 0:
        return _WORD_START if f"-{text}" in name or f"_{text}" in name else _SUBSTRING
    for word in name.split():
        letters = iter(word)
        if all(letter in letters for letter in text):
            return _SUBSEQUENCE
    return _NO_MATCH


def matching(text: str, items: Iterable[_T], name_of: Callable[[_T], str]) -> list[_T]:
    """Return the items whose names fit every word of a text, best first, then in their order.

    A word after `!` must not be in the name. Names that fit only by scattered letters are left
    out where another name fits better.
    """
    words = text.split()
    if not words:
        return list(items)
    included = [word for word in words if not word.startswith("!")]
    excluded = [word[1:].lower() for word in words if len(word) > 1 and word.startswith("!")]
    ranked: list[tuple[int, _T]] = []
    for item in items:
        name = name_of(item)
        worst = max((_tier(word, name) for word in included), default=_EXACT)
        if worst < _NO_MATCH and not any(word in name.lower() for word in excluded):
            ranked.append((worst, item))
    ranked.sort(key=lambda pair: pair[0])
    if ranked and ranked[0][0] < _SUBSEQUENCE:
        return [item for rank, item in ranked if rank < _SUBSEQUENCE]
    return [item for _, item in ranked]


MAX_NEAR = 3
"""The most names that are suggested."""

CLOSE = 0.6
"""The least similarity of a name to a text, from 0 to 1."""

_MAX_COMPARED = 5_000


def near(typed: str, names: Iterable[str], closeness: float = CLOSE) -> list[str]:
    """Return the names that begin with a text, the shortest first, or else look like it.

    `closeness` is the least similarity, from 0 to 1. At most `MAX_NEAR` names are returned.
    """
    # Few commands guess.
    from difflib import get_close_matches

    candidates = list(dict.fromkeys(names))[:_MAX_COMPARED]
    by_lower = {text.lower(): text for text in reversed(candidates)}
    close = get_close_matches(typed.lower(), by_lower, MAX_NEAR, closeness)
    longer = [low for low in by_lower if len(typed) > 1 and low.startswith(typed.lower())]
    lows = dict.fromkeys(sorted(longer, key=len) + close)
    return [by_lower[low] for low in lows][:MAX_NEAR]


def did_you_mean(typed: str, names: Iterable[str], closeness: float = CLOSE) -> str:
    """Suggest names for a typed text, as `. Did you mean mpi?`; empty if no name is close."""
    texts = list(map(clean, near(typed, names, closeness)))
    return f". Did you mean {listed(texts, 'or')}?" if texts else ""


def listed(texts: Sequence[str], word: str) -> str:
    """Join texts for a sentence, as `a, b or c`."""
    return f" {word} ".join(filter(None, [", ".join(texts[:-1]), texts[-1]]))
