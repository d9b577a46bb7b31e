"""Match typed text with package names, best matches first."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

_T = TypeVar("_T")

_EXACT, _PREFIX, _WORD_START, _SUBSTRING, _SUBSEQUENCE = range(5)


def _tier(text: str, name: str) -> int | None:
    """Rank how well a name fits a text, 0 being the best; None where it does not.

    Case is ignored. After the exact name come names that begin with the text, names with a word
    that does, names that contain it, and names that contain its letters in this order.
    """
    text, name = text.lower(), name.lower()
    position = name.find(text)
    if position == 0:
        return _EXACT if text == name else _PREFIX
    if position > 0:
        return _WORD_START if f"-{text}" in name or f"_{text}" in name else _SUBSTRING
    letters = iter(name)
    return _SUBSEQUENCE if all(letter in letters for letter in text) else None


def matching(text: str, items: Iterable[_T], name_of: Callable[[_T], str]) -> list[_T]:
    """Return the items whose names fit every word of a text, best first, then in their order.

    A word after `!` must not be in the name. Names that fit only by scattered letters are left
    out where another name fits better.
    """
    words = text.split()
    included = [word for word in words if not word.startswith("!")]
    excluded = [word[1:].lower() for word in words if len(word) > 1 and word.startswith("!")]
    ranked: list[tuple[int, _T]] = []
    for item in items:
        name = name_of(item)
        if any(word in name.lower() for word in excluded):
            continue
        worst = _EXACT
        for word in included:
            rank = _tier(word, name)
            if rank is None:
                break
            worst = max(worst, rank)
        else:
            ranked.append((worst, item))
    best = min((rank for rank, _ in ranked), default=_EXACT)
    if best < _SUBSEQUENCE:
        ranked = [pair for pair in ranked if pair[0] < _SUBSEQUENCE]
    ranked.sort(key=lambda pair: pair[0])
    return [item for _, item in ranked]
