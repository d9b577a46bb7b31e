"""Lay out the head line of the table: what all of its rows have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from spackscope.model.core.text import cell_width, cut_words
from spackscope.model.presentation.table_columns import HeadText

_SAME = "same in all: "
_BETWEEN = " · "
_MAX_TEXT = 28
"""Cells of one value: a list of patches would leave no room for others."""


class HeadPiece(NamedTuple):
    """A part of the line, and the column that it is the value of; empty for words between."""

    text: str
    column: str = ""


def head_line(
    head: Sequence[HeadText], width: int, *, current: str = "", before: str = ""
) -> list[HeadPiece]:
    """Return the parts of the line in some cells, cut between values.

    The value of the `current` column is in view; `before` precedes all of them.

    Example: `hdf5@1.14.6 · same in all: linux +shared ~java … 3 more`.
    """
    pieces = [HeadPiece(cut_words(before, max(0, width)) + _BETWEEN)] if before else []
    named = [text for text in head[:1] if text.column in ("package", "version")]
    rest = head[len(named) :]
    for text in named:
        pieces += [HeadPiece(cut_words(text.text, _MAX_TEXT), text.column)]
    if rest:
        pieces.append(HeadPiece((_BETWEEN if named else "") + _SAME))
    room = width - sum(cell_width(piece.text) for piece in pieces)
    first = _first(rest, room, current)
    if first:
        pieces.append(HeadPiece("… "))
        room -= 2
    shown = _fitting(rest[first:], room)
    for number, text in enumerate(shown):
        pieces.append(HeadPiece(" " if number else ""))
        pieces.append(HeadPiece(cut_words(text.text, _MAX_TEXT), text.column))
    left = len(rest) - first - len(shown)
    if left and shown:
        pieces.append(HeadPiece(_more(left)))
    elif left:
        between = _BETWEEN if named else ""
        pieces[-1 - bool(first) :] = [HeadPiece(f"{between}{len(rest)} same in all")]
    return [piece for piece in pieces if piece.text]


def _more(count: int) -> str:
    return f" … {count} more"


def _first(head: Sequence[HeadText], room: int, current: str) -> int:
    """Return the first value to show, so that the current one is in view."""
    number = next((n for n, text in enumerate(head) if text.column == current), 0)
    first = 0
    while first < number and len(_fitting(head[first:], room - 2)) <= number - first:
        first += 1
    return first


def _fitting(head: Sequence[HeadText], room: int) -> Sequence[HeadText]:
    """Return the values that fit, with the number of the others after them."""
    widths = [min(cell_width(text.text), _MAX_TEXT) + 1 for text in head]
    if sum(widths) - 1 <= room:
        return head
    count, room = 0, room - len(_more(len(head))) + 1
    while count < len(head) and widths[count] <= room:
        room -= widths[count]
        count += 1
    return head[:count]
