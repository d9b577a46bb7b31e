"""Lines of styled text, joined, cut and aligned, and what was searched marked in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from spackscope.model.core.text import cell_width, clean

_GAP = "  "
_MAX_PATH = 8
"""Names of a path: the middle of a longer one is left out."""

Style = Literal[
    "", "title", "hash", "link", "virtual", "good", "error", "value", "differs", "same", "dim",
    "strong", "match", "bar", "rule", "key", "accent", "current", "cursor", "reversed",
]  # fmt: skip
"""What a text means. A screen and a shell have a look for each.

A `link` leads to a spec. Few have a `value`, and others than most, the `same` or what `differs`.
The `current` column is seen in the row of the cursor.
"""

Piece = tuple[str, str]
"""Some clean text of a line, and the names of its styles.

Of several names, separated by blanks, each adds to those before it: `dim current`.
"""

Line = tuple[Piece, ...]
CellText = str | Line


def styled(text: str, style: Style) -> Line:
    """Return a text in one style."""
    return ((text, style),)


def path_text(path: Sequence[str]) -> str:
    """Return the clean names on a path from a spec to a dependency."""
    names = list(map(clean, path))
    if len(names) > _MAX_PATH:
        names[_MAX_PATH // 2 : -_MAX_PATH // 2] = ["…"]
    return " › ".join(names)


def text_of(cell: CellText) -> str:
    """Return the text of a cell or a line."""
    return cell if isinstance(cell, str) else "".join(text for text, _ in cell)


def of_total(count: int, total: int) -> str:
    """Return a part of a number, as wide as for each other part: ` 84 of 104`."""
    return f"{count:>{len(f'{total:,}')},} of {total:,}"


def aligned(rows: Sequence[Sequence[CellText]]) -> Iterator[Line]:
    """Yield rows as lines, each column as wide as its widest cell, numbers to the right.

    Columns without text are left out.
    """
    widths = [max(map(_width, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        line: list[Piece] = []
        for cell, width in zip(row, widths, strict=True):
            if not width:
                continue
            pieces = [*restyled(cell, text_of(cell))]
            is_number = isinstance(cell, str) and cell.replace(",", "").isdecimal()
            pieces.insert(0 if is_number else len(pieces), (" " * (width - _width(cell)), ""))
            line += [*([(_GAP, "")] if line else []), *pieces]
        while line and not line[-1][0].strip():
            line.pop()
        yield tuple(line)


def _width(cell: CellText) -> int:
    return cell_width(text_of(cell))


def restyled(cell: CellText, text: str) -> Line:
    """Return the text that a cell was cut to in the styles of the cell."""
    if isinstance(cell, str):
        return ((text, ""),)
    pieces, at = list[Piece](), 0
    for part, style in cell:
        if not text.startswith(part, at):
            # What stands for the rest looks like what it begins with.
            return (*pieces, (text[at:], style))
        pieces.append((part, style))
        at += len(part)
    return tuple(pieces)


def flow(
    values: Iterable[CellText], between: str, width: int | None, indent: int = 0
) -> Iterator[Line]:
    """Join values to lines that fit a width, the later ones after an `indent`.

    A value that does not fit has a line of its own.
    """
    line, used = list[Piece](), 0
    for number, value in enumerate(values):
        cells = _width(value)
        if number and width is not None and used + len(between) + cells > width:
            yield tuple(line)
            line, used = [(" " * indent, "")], indent
        elif number:
            line.append((between, ""))
            used += len(between)
        line += restyled(value, text_of(value))
        used += cells
    if line:
        yield tuple(line)


def highlight(text: str, needles: Iterable[str], style: str = "") -> list[Piece]:
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
