"""Mark in a text what was searched."""

from __future__ import annotations

from collections.abc import Iterable

DrawnPiece = tuple[str, str]
"""Some text of a line, and the names of its styles: component classes without their prefix.

Of several names, separated by blanks, each adds to those before it: `dim current`.
"""


def highlight(text: str, needles: Iterable[str], style: str = "") -> list[DrawnPiece]:
    """Return the pieces of a text, the first needle that occurs in it in the style of a match.

    Needles are in lower case; case is ignored in the text.

    >>> highlight("py-build", ["build"])
    [('py-', ''), ('build', 'match'), ('', '')]
    """
    lower = text.lower()
    # Lowering can change the length ("İ"), and then offsets are those of another text.
    for needle in needles if len(lower) == len(text) else ():
        start = lower.find(needle)
        if start >= 0:
            end = start + len(needle)
            return [(text[:start], style), (text[start:end], "match"), (text[end:], style)]
    return [(text, style)]


def filter_needles(text: str) -> list[str]:
    """Return what to mark in the items that fit the filter of a list: its first included word."""
    return [word for word in text.lower().split() if not word.startswith("!")][:1]
