"""Join, cut and align lines of styled text, and mark matches in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

from spackscope.model.core.suggestions import letters_in
from spackscope.model.core.text import cell_width, clean, pad

UNBOUNDED = 1 << 16
"""The width, in cells, of a line without a bound."""
_GAP = "  "
_MAX_PATH = 8
"""Names of a path: the middle of a longer one is left out."""

Style = Literal[
    "", "title", "hash", "link", "virtual", "good", "error", "value", "differs", "same", "dim",
    "strong", "match", "mark", "bar", "rule", "key", "accent", "current", "cursor", "reversed",
]  # fmt: skip
"""The meaning of a text, for which a screen and a shell have a look.

A `link` leads to a spec. A `value` is one that few rows have. Rows have a variant in common if it
is the `same`, and not if it `differs`. The `current` column is marked in the row of the cursor.
"""

Piece = tuple[str, str]
"""Some clean text of a line, and the names of its styles.

Several names are separated by blanks, and each adds to the names before it: `dim current`.
"""

Line = tuple[Piece, ...]


def styled(text: str, style: Style = "") -> Line:
    """Return a text in one style."""
    return ((text, style),)


def path_text(path: Sequence[str]) -> str:
    """Return the clean names on a path from a spec to a dependency."""
    names = list(map(clean, path))
    if len(names) > _MAX_PATH:
        names[_MAX_PATH // 2 : -_MAX_PATH // 2] = ["…"]
    return " › ".join(names)


def text_of(line: Line) -> str:
    """Return the text of a line."""
    return "".join(text for text, _ in line)


def of_total(count: int, total: int) -> str:
    """Return a count of a total, as wide as any other count of it: ` 84 of 104`."""
    return f"{count:>{len(f'{total:,}')},} of {total:,}"


def aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield rows as lines, each column as wide as its widest cell, numbers to the right.

    Columns without text are left out.
    """
    widths = [max(map(cell_width, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (
            pad(cell, width, right=is_numeric(cell))
            for cell, width in zip(row, widths, strict=True)
            if width
        )
        yield _GAP.join(cells).rstrip()


def is_numeric(text: str) -> bool:
    """Check whether a cell is a number, with commas or without."""
    return text.replace(",", "").isdecimal()


def restyled(line: Line, text: str) -> Line:
    """Return `text`, to which a line was cut, in the styles of the line."""
    pieces, at = list[Piece](), 0
    for part, style in line:
        if not text.startswith(part, at):
            # The ellipsis has the style of the piece in which it is.
            return (*pieces, (text[at:], style))
        pieces.append((part, style))
        at += len(part)
    return tuple(pieces)


class LinePart(NamedTuple):
    """Some cells of a line, and the target of a click on them; "" for none."""

    pieces: Sequence[Piece]
    target: Any = ""

    @property
    def width(self) -> int:
        """The number of cells."""
        return sum([cell_width(text) for text, _ in self.pieces])


def part_at(parts: Iterable[LinePart], x: int) -> LinePart:
    """Return the part in a cell of a line; an empty one where there is none."""
    end = 0
    for part in parts:
        end += part.width
        if x < end:
            return part
    return LinePart(())


class Flow:
    """Lines that are filled with values one after the other, all but the first after a margin."""

    def __init__(self, width: int, margin: int = 0) -> None:
        self.lines: list[list[LinePart]] = [[]]
        self.room = self._width = width
        self._margin = margin

    @property
    def is_empty(self) -> bool:
        """Whether the line has no values yet."""
        return self.room >= self._width - self._margin

    def add(self, text: str, style: str = "", target: Any = "") -> None:
        """Add a part to the line, unless it has neither text nor target."""
        if text or target != "":
            self.lines[-1].append(LinePart(((text, style),), target))
            self.room -= cell_width(text)

    def end_line(self) -> None:
        """Begin another line below the values."""
        self.lines.append([])
        self.room = self._width
        self.add(" " * self._margin)

    def goes_on(self, cells: int) -> bool:
        """Check whether the line has values and room for some cells; if it has none, end it."""
        if self.is_empty:
            return False
        if self.room >= cells:
            return True
        self.end_line()
        return False


def flow(values: Iterable[Line], between: str, width: int | None, indent: int = 0) -> list[Line]:
    """Join values to lines that fit a width, the later ones after an `indent`.

    A value that does not fit has a line of its own. Without a width there is one line.
    """
    flow = Flow(UNBOUNDED) if width is None else Flow(width, indent)
    for value in values:
        if flow.goes_on(cell_width(between + text_of(value))):
            flow.add(between)
        for text, style in value:
            flow.add(text, style)
    return [tuple(piece for part in line for piece in part.pieces) for line in flow.lines if line]


def highlight(
    text: str, needles: Iterable[str], style: str = "", *, is_fuzzy: bool = False
) -> list[Piece]:
    """Return the pieces of a text, the first needle that occurs in it in the style of a match.

    Needles are in lower case; case is ignored in the text. If it is fuzzy, the letters of a needle
    may be apart, as in a name that `matching` finds.

    >>> highlight("py-build", ["build"])
    [('py-', ''), ('build', 'match'), ('', '')]
    """
    lower = text.lower()
    # Lowering can change the length ("İ"), and then offsets do not fit the text.
    for needle in needles if len(lower) == len(text) else ():
        if is_fuzzy or needle in lower:
            pieces, end = list[Piece](), 0
            for at in letters_in(lower, needle):
                if at > end or not pieces:
                    pieces += [(text[end:at], style), ("", "match")]
                pieces[-1] = (pieces[-1][0] + text[at], "match")
                end = at + 1
            if pieces:
                return [*pieces, (text[end:], style)]
    return [(text, style)]


def filter_needles(text: str) -> list[str]:
    """Return the text to mark in items that fit the filter of a list: its first included word."""
    return [word for word in text.lower().split() if not word.startswith("!")][:1]
