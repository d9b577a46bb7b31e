"""Make outside text safe and measurable before it meets a terminal."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import Literal

_MOST_MARKS = 4

_ELLIPSIS = "…"
_DOTTED_CIRCLE = "\u25cc"


def _characters(*ranges: tuple[int, int]) -> frozenset[str]:
    return frozenset(chr(code) for first, last in ranges for code in range(first, last + 1))


# Printable to Python, yet they draw nothing: joiners, fillers and variation selectors, with
# which a text can be given a twin or a hidden load.
_INVISIBLE = _characters(
    (0x034F, 0x034F),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFFA0, 0xFFA0),
    (0xE0100, 0xE01EF),
)
# Not marks by category, and still drawn onto the character before them: vowels and finals of
# Hangul in parts, skin tones.
_JOINING = _characters((0x1161, 0x11FF), (0xD7B0, 0xD7FB), (0x1F3FB, 0x1F3FF))
# Wide since Unicode 16 (trigrams, hexagrams, counting rods), which not every supported Python
# knows of.
_WIDE = _characters(
    (0x2630, 0x2637),
    (0x268A, 0x268F),
    (0x4DC0, 0x4DFF),
    (0x1D300, 0x1D356),
    (0x1D360, 0x1D376),
)


def clean(text: str) -> str:
    r"""Replace everything in a text that could act on a terminal, or hide in it, by visible marks.

    C0 controls and DEL become their control pictures (`␛`), other controls, format characters,
    invisible, private and unassigned characters and lone surrogates their escaped form (`\x9b`,
    `\u202e`), and blanks of any other width a plain blank. No base keeps more than four combining
    marks: one `…` stands for the rest. The result is printable and has no line ends; cleaning
    it again changes nothing.
    """
    if text.isascii() and text.isprintable():
        return text
    text = "".join([_visible(character) for character in text])
    # No character below the combining diacritical marks joins another.
    if text.isascii() or max(text) < "\u0300":
        return text
    return _bound_marks(text)


def is_clean(text: str) -> bool:
    """Tell whether a text may go to a terminal as it is."""
    return clean(text) == text


def cell_width(text: str) -> int:
    """Return the number of terminal cells that a cleaned text takes.

    The width is the sum of its characters' widths, as `rich.cells.cell_len`, with which Textual
    draws, has it for cleaned text.
    """
    if text.isascii():
        return len(text)
    return sum(map(_character_width, text))


def shorten(text: str, width: int, *, keep: Literal["ends", "start", "end"] = "ends") -> str:
    """Fit a cleaned text into so many cells, with one `…` where it gave way.

    It gives way in the middle, so that the telling start and end stay; with `keep="start"` at
    its end, as suits lists, and with `keep="end"` at its start. The result may be narrower
    than `width`, where a wide character does not fit, but never wider; a width of 0 or less
    leaves nothing.
    """
    if width <= 0:
        return ""
    if _prefix_length(text, width) == len(text):
        return text
    room = width - 1
    head_room = {"ends": room // 2, "start": room, "end": 0}[keep]
    head = text[: _prefix_length(text, head_room)]
    if keep == "start":
        return head + _ELLIPSIS
    tail = text[_suffix_start(text, room - cell_width(head)) :]
    return head + _ELLIPSIS + tail


def pad(text: str, width: int, *, right: bool = False) -> str:
    """Fit a cleaned text into exactly so many cells, with blanks behind it.

    With `right` it stands at the right, as numbers do. A text that is too wide is shortened in
    its middle.
    """
    fitted = shorten(text, width)
    blanks = " " * (width - cell_width(fitted))
    return blanks + fitted if right else fitted + blanks


def _visible(character: str) -> str:
    if character.isprintable() and character not in _INVISIBLE:
        return character
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    if unicodedata.category(character) == "Zs":
        return " "
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _bound_marks(text: str) -> str:
    if not _character_width(text[0]):
        # Without a base of its own a mark would change what stands to its left on the screen.
        text = _DOTTED_CIRCLE + text
    kept: list[str] = []
    marks = 0
    for character in text:
        marks = 0 if _character_width(character) else marks + 1
        if marks <= _MOST_MARKS:
            kept.append(character)
        elif marks == _MOST_MARKS + 1:
            kept.append(_ELLIPSIS)
    return "".join(kept)


@lru_cache(maxsize=4096)
def _character_width(character: str) -> int:
    if unicodedata.category(character).startswith("M") or character in _JOINING:
        return 0
    if unicodedata.east_asian_width(character) in "WF" or character in _WIDE:
        return 2
    return 1


def _prefix_length(text: str, room: int) -> int:
    """Return how many characters from the start fit into `room` cells."""
    if text.isascii():
        return min(len(text), room)
    for position, character in enumerate(text):
        room -= _character_width(character)
        if room < 0:
            return position
    return len(text)


def _suffix_start(text: str, room: int) -> int:
    """Return where the longest end of `text` begins that fits into `room` cells.

    It begins at a base character, never at the mark of a base that was left out.
    """
    if text.isascii():
        return max(0, len(text) - room)
    start = len(text)
    for position in range(len(text) - 1, -1, -1):
        width = _character_width(text[position])
        room -= width
        if room < 0:
            break
        if width:
            start = position
    return start


def wrap(text: str, width: int) -> list[str]:
    """Break a text into lines of some cells: at blanks where it can be, else anywhere.

    Gives at least one line. A character wider than the width gets a line of its own.
    """
    parts: list[str] = []
    part = ""
    for word in text.split(" "):
        joined = f"{part} {word}" if part else word
        if cell_width(joined) <= width:
            part = joined
            continue
        if part:
            parts.append(part)
        # Measuring no more than fits: a value may be as long as a page.
        while (cut := max(1, _prefix_length(word, width))) < len(word):
            parts.append(word[:cut])
            word = word[cut:]
        part = word
    return [*parts, part] if part or not parts else parts
