"""Clean, measure, shorten and wrap text for a terminal."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Literal

_MAX_MARKS = 4
_ELLIPSIS = "…"
_MIN_NAME = 3
_DOTTED_CIRCLE = "\u25cc"


def _characters(*ranges: tuple[int, int]) -> frozenset[str]:
    return frozenset(chr(code) for first, last in ranges for code in range(first, last + 1))


# Printable to Python, yet invisible: joiners, fillers and variation selectors, which can make two
# different texts look the same, or hide text.
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
# Not marks by category, yet drawn onto the character before them: vowels and finals of Hangul
# in parts, skin tones.
_JOINING = _characters((0x1161, 0x11FF), (0xD7B0, 0xD7FB), (0x1F3FB, 0x1F3FF))
# Wide since Unicode 16 (trigrams, hexagrams, counting rods), which is newer than some supported
# versions of Python.
_WIDE = _characters(
    (0x2630, 0x2637), (0x268A, 0x268F), (0x4DC0, 0x4DFF), (0x1D300, 0x1D356), (0x1D360, 0x1D376)
)


def clean(text: str) -> str:
    r"""Replace everything in a text that could control a terminal, or be hidden in it.

    C0 controls and DEL become their control pictures (`␛`), other controls, format characters,
    invisible, private and unassigned characters and lone surrogates their escaped form (`\x9b`,
    `\u202e`), and blanks of any other width a plain blank. No base keeps more than four combining
    marks; `…` replaces the rest. The result is printable and has no line ends; cleaning it again
    changes nothing.
    """
    if text.isascii() and text.isprintable():
        return text
    text = "".join([_visible(character) for character in text])
    # No character below the combining diacritical marks joins another.
    if text.isascii() or max(text) < "\u0300":
        return text
    return _bound_marks(text)


def is_clean(text: str) -> bool:
    """Check whether a text can be printed unchanged."""
    return clean(text) == text


def cell_width(text: str) -> int:
    """Return the number of terminal cells of a cleaned text.

    It is the sum of its characters' widths, like `rich.cells.cell_len`, which Textual uses.
    """
    if text.isascii():
        return len(text)
    return sum(map(_character_width, text))


def shorten(text: str, width: int, *, keep: Literal["ends", "start"] = "ends") -> str:
    """Shorten a cleaned text to a width in cells, with `…` in place of the rest.

    The middle is left out, so that both ends stay; with `keep="start"`, as suits lists, the end.
    The result may be narrower than `width`, where a wide character does not fit,
    but never wider; it is empty for a width of 0 or less.

    Example: `shorten("ubuntu22.04", 8) == "ubu…2.04"`.
    """
    if width <= 0:
        return ""
    if _prefix_length(text, width) == len(text):
        return text
    room = width - 1
    if keep == "start":
        return text[: _prefix_length(text, room)] + _ELLIPSIS
    return _cut_after(text, room // 2, room)


def _cut_after(text: str, head_width: int, room: int) -> str:
    """Leave out the middle of a text after some cells; both ends have `room` cells."""
    head = text[: _prefix_length(text, head_width)]
    return head + _ELLIPSIS + text[_suffix_start(text, room - cell_width(head)) :]


def cut_words(text: str, width: int) -> str:
    """Shorten a cleaned text at its end, after a whole word where one fits.

    Example: `cut_words("libiconv 1.17, others 1.18", 20) == "libiconv 1.17…"`.
    """
    cut = shorten(text, width, keep="start")
    if cut == text or not cut:
        return cut
    kept = cut.removesuffix(_ELLIPSIS)
    is_word_end = text[len(kept) : len(kept) + 1] in (" ", ",")
    words = (kept if is_word_end else kept.rpartition(" ")[0]).rstrip(" ,")
    return words + _ELLIPSIS if 2 * cell_width(words) >= width else cut


def cut_name(text: str, width: int) -> str:
    """Shorten a cleaned text in the middle; in `name@version` only the name, if the version fits.

    Example: `cut_name("oneapi@2024.0.2", 14) == "onea…@2024.0.2"`.
    """
    name, at, version = text.partition("@")
    room = width - cell_width(at + version)
    if at and room >= _MIN_NAME and cell_width(text) > width:
        return shorten(name, room, keep="start") + at + version
    return shorten(text, width)


@lru_cache(256)
def cut_apart(
    texts: tuple[str, ...], width: int, cut: Callable[[str, int], str] = cut_name
) -> Mapping[str, str]:
    """Shorten different texts with `cut`, but where two would be the same, at another place.

    Example: `ml-linux-x86_64-cpu` and `ml-linux-aarch64-cpu` in 12 cells are `ml-l…_64-cpu` and
    `ml-l…h64-cpu`.
    """
    alike = defaultdict[str, list[str]](list)
    for text in texts:
        alike[cut(text, width)].append(text)
    shortened = {text: short for short, group in alike.items() for text in group}
    room = width - 1
    for group in alike.values():
        if len(group) > 1 and room > 0:
            heads = (*range(room // 2, -1, -1), *range(room // 2 + 1, room + 1))
            forms = [[_cut_after(text, head, room) for text in group] for head in heads]
            most = max(forms, key=lambda form: len({*form} - alike.keys()))
            shortened.update(zip(group, most, strict=True))
    return shortened


def pad(text: str, width: int, *, right: bool = False) -> str:
    """Shorten or pad a cleaned text to exactly a width in cells, aligned left, or `right`."""
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
        # Without a base of its own a mark would change the character to its left on the screen.
        text = _DOTTED_CIRCLE + text
    characters: list[str] = []
    marks = 0
    for character in text:
        marks = 0 if _character_width(character) else marks + 1
        if marks <= _MAX_MARKS:
            characters.append(character)
        elif marks == _MAX_MARKS + 1:
            characters.append(_ELLIPSIS)
    return "".join(characters)


@lru_cache(maxsize=4096)
def _character_width(character: str) -> int:
    if unicodedata.category(character).startswith("M") or character in _JOINING:
        return 0
    if unicodedata.east_asian_width(character) in "WF" or character in _WIDE:
        return 2
    return 1


def _prefix_length(text: str, room: int) -> int:
    """Return the number of characters from the start that fit into `room` cells."""
    if text.isascii():
        return min(len(text), room)
    for position, character in enumerate(text):
        room -= _character_width(character)
        if room < 0:
            return position
    return len(text)


def _suffix_start(text: str, room: int) -> int:
    """Return the start of the longest end of a text that fits into `room` cells.

    The end begins at a base character, never at the mark of a base that is left out.
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
    """Break a text into lines of at most `width` cells, at blanks where possible.

    Returns at least one line. A character wider than the width gets a line of its own.
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
        # Measure no more than fits: a value may be as long as a page.
        while (cut := max(1, _prefix_length(word, width))) < len(word):
            parts.append(word[:cut])
            word = word[cut:]
        part = word
    return [*parts, part] if part or not parts else parts


def wrap_cut(text: str, width: int, most: int) -> list[str]:
    """Break a cleaned text into at most `most` lines; the last one is cut if the text is longer.

    Returns no line for an empty text, or if `most` is 0.
    """
    lines = wrap(text, width) if text and most > 0 else []
    if len(lines) > most:
        lines[most - 1 :] = [cut_words(" ".join(lines[most - 1 :]), width)]
    return lines


def counted(count: int, noun: str) -> str:
    """Return a number with its noun, as `2,052 specs`, `3 hashes` or `1 dependency`."""
    plural = f"{noun[:-1]}ies" if noun.endswith("cy") else f"{noun}{'e' * noun.endswith('sh')}s"
    return f"{count:,} {noun if count == 1 else plural}"


def cut_list(texts: Sequence[str], limit: int) -> list[str]:
    """Return the first `limit` texts, and the number of the rest: `a`, `b`, `3 more`."""
    more = len(texts) - len(texts[:limit])
    return [*texts[:limit], *([f"{more:,} more"] if more else [])]


def times(count: int) -> str:
    """Return the number of specs that a row stands for, as `×3`; empty for one."""
    return f"×{count:,}" if count > 1 else ""
