"""Find names by parts that are typed, and suggest names that exist for one that does not."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from spackscope.model.core.text import clean

_T = TypeVar("_T")

_EXACT, _PREFIX, _WORD_START, _SUBSTRING, _WORD_STARTS, _SCATTERED = range(6)

_LEAST_SCATTERED = 2
"""Letters of the shortest text that names may have with other letters between."""


def _pattern(text: str) -> re.Pattern[str]:
    """Return the pattern of a word that has the letters of a text in this order."""
    letters = [re.escape(letter) for letter in text]
    if len(text) < _LEAST_SCATTERED:
        return re.compile("".join(letters))
    return re.compile("(?<![^ ])" + "".join(f"[^ {letter}]*{letter}" for letter in letters))


def letters_in(name: str, text: str) -> Sequence[int]:
    """Return the offsets in a name of the letters of a text, both in lower case; none if it fails.

    In a name without the text each letter follows the one before or begins a part of the name, if
    it can. They are all in one word.

    >>> letters_in("py-torch-scatter", "pyts")
    [0, 1, 3, 9]
    """
    if (start := name.find(text)) >= 0:
        return range(start, start + len(text))
    if (word := _pattern(text).search(name)) is None:
        return ()
    begin, end = word.start(), f"{name} ".find(" ", word.end())
    # The last place of each letter that leaves room for those after it.
    ends = list[int]()
    for letter in reversed(text):
        end = name.rfind(letter, begin, end)
        ends.insert(0, end)
    offsets = list[int]()
    for letter, end in zip(text, ends, strict=True):
        if name[begin] != letter:
            part = re.compile(rf"(?<![^\W_]){re.escape(letter)}").search(name, begin, end + 1)
            begin = part.start() if part else name.find(letter, begin)
        offsets.append(begin)
        begin += 1
    return offsets


def _rank(name: str, text: str) -> tuple[int, ...]:
    """Return how well a name fits a text that it has the letters of, the best first.

    After the exact name come names that begin with the text, names with a part that begins with
    it, names that contain it, names in which each letter follows the one before or begins a part,
    and names with scattered letters: of these two, names with few pieces, close together.
    """
    if (start := name.find(text)) == 0:
        return (_EXACT if text == name else _PREFIX,)
    if start > 0:
        return (_WORD_START if f"-{text}" in name or f"_{text}" in name else _SUBSTRING,)
    offsets = letters_in(name, text)
    pieces = [at for before, at in zip((-1, *offsets), offsets, strict=False) if at != before + 1]
    is_inside = any(at and name[at - 1].isalnum() for at in pieces)
    return (_SCATTERED if is_inside else _WORD_STARTS), len(pieces), offsets[-1] - offsets[0]


def matching(
    text: str, items: Iterable[_T], name_of: Callable[[_T], str], *, is_strict: bool = False
) -> list[_T]:
    """Return the items whose names fit every word of a text, best first, then in their order.

    A word after `!` must not be in the name. Names that fit only by scattered letters, or if it
    is strict by letters that begin parts, are left out where another name fits better.
    """
    items, words = list(items), text.lower().split()
    names = [*map(str.lower, map(name_of, items))]
    numbers: Iterable[int] = range(len(names))
    included = [word for word in words if not word.startswith("!")]
    for word in words:
        if word in included:
            search = _pattern(word).search
            numbers = [number for number in numbers if search(names[number])]
        elif len(word) > 1:
            numbers = [number for number in numbers if word[1:] not in names[number]]
    if not included:
        return [items[number] for number in numbers]
    ranks = {number: max(_rank(names[number], word) for word in included) for number in numbers}
    ranked = sorted(ranks, key=ranks.__getitem__)
    worst = _WORD_STARTS if is_strict else _SCATTERED
    has_better = any(ranks[number][0] < worst for number in ranked[:1])
    return [items[n] for n in ranked if ranks[n][0] < worst or not has_better]


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
    return f". Did you mean {enumerated(texts, 'or')}?" if texts else ""


def enumerated(texts: Sequence[str], conjunction: str) -> str:
    """Join texts for a sentence, as `a, b or c` with the conjunction `or`."""
    return f" {conjunction} ".join(filter(None, [", ".join(texts[:-1]), texts[-1]]))
