"""Match typed text with package names, best matches first."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

_T = TypeVar("_T")

EXACT, PREFIX, WORD_START, SUBSTRING, SUBSEQUENCE = range(5)


def tier(text: str, name: str) -> int | None:
    """Rank how a name fits a text, the least being the best; None where it does not.

    Case is ignored. Below the exact name come names that begin with the text, names with a word
    that does, names that hold it, and names that hold its letters in this order.
    """
    text, name = text.lower(), name.lower()
    at = name.find(text)
    if at == 0:
        return EXACT if text == name else PREFIX
    if at > 0:
        return WORD_START if f"-{text}" in name or f"_{text}" in name else SUBSTRING
    letters = iter(name)
    return SUBSEQUENCE if all(letter in letters for letter in text) else None


def matching(text: str, items: Iterable[_T], name_of: Callable[[_T], str]) -> list[_T]:
    """Give the items whose names fit every word of a text, by tier and then as they came.

    A word behind `!` must not stand in the name. Names that fit by scattered letters only are
    left out where another name fits better.
    """
    words = text.split()
    wanted = [word for word in words if not word.startswith("!")]
    unwanted = [word[1:].lower() for word in words if len(word) > 1 and word.startswith("!")]
    ranked: list[tuple[int, _T]] = []
    for item in items:
        name = name_of(item)
        if any(word in name.lower() for word in unwanted):
            continue
        worst = EXACT
        for word in wanted:
            rank = tier(word, name)
            if rank is None:
                break
            worst = max(worst, rank)
        else:
            ranked.append((worst, item))
    best = min((rank for rank, _ in ranked), default=EXACT)
    if best < SUBSEQUENCE:
        ranked = [pair for pair in ranked if pair[0] < SUBSEQUENCE]
    ranked.sort(key=lambda pair: pair[0])
    return [item for _, item in ranked]
