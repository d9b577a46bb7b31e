"""Lines of styled text, joined, cut and aligned."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from spackscope.model.core.text import cell_width, clean

_GAP = "  "
_MAX_PATH = 8
"""Names of a path: the middle of a longer one is left out."""

Style = Literal["", "bold", "dim", "differs", "link", "good", "virtual", "error", "bar"]
"""How a text looks: `dim` is a remark, or a value that most have, and `link` a hash."""


class Piece(NamedTuple):
    """A part of a line: clean text and its style."""

    text: str
    style: Style = ""


Line = tuple[Piece, ...]
CellText = str | Line


def styled(text: str, style: Style) -> Line:
    """Return a text in one style."""
    return (Piece(text, style),)


def path_text(path: Sequence[str]) -> str:
    """Return the clean names on a path from a spec to a dependency."""
    names = list(map(clean, path))
    if len(names) > _MAX_PATH:
        names[_MAX_PATH // 2 : -_MAX_PATH // 2] = ["…"]
    return " › ".join(names)


def text_of(cell: CellText) -> str:
    """Return the text of a cell or a line."""
    return cell if isinstance(cell, str) else "".join(piece.text for piece in cell)


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
            pieces.insert(0 if is_number else len(pieces), Piece(" " * (width - _width(cell))))
            line += [*([Piece(_GAP)] if line else []), *pieces]
        while line and not line[-1].text.strip():
            line.pop()
        yield tuple(line)


def _width(cell: CellText) -> int:
    return cell_width(text_of(cell))


def restyled(cell: CellText, text: str) -> Line:
    """Return the text that a cell was cut to in the styles of the cell."""
    if isinstance(cell, str):
        return (Piece(text),)
    pieces, at = list[Piece](), 0
    for piece in cell:
        if not text.startswith(piece.text, at):
            # What stands for the rest looks like what it begins with.
            return (*pieces, piece._replace(text=text[at:]))
        pieces.append(piece)
        at += len(piece.text)
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
            line, used = [Piece(" " * indent)], indent
        elif number:
            line.append(Piece(between))
            used += len(between)
        line += restyled(value, text_of(value))
        used += cells
    if line:
        yield tuple(line)
