"""Fill the rows of the detail with values, one after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from spackscope.model.core.text import cell_width, wrap
from spackscope.tui.widgets.drawing import Piece

if TYPE_CHECKING:
    from spackscope.model.report.detail import DetailLine

GAP = "  "
"""Between two values."""
STYLES = {
    "title": "strong",
    "hash": "hash",
    "link": "hash",
    "virtual": "virtual",
    "differs": "differs",
    "same": "dim",
    "good": "good",
    "error": "error",
    "dim": "dim",
}
"""The styles of values by their kinds."""
_PLAIN_SUFFIX = ("title", "link")


class Stop(NamedTuple):
    """A value that the cursor can be on: the number of its piece in the row."""

    piece: int
    line: DetailLine


class LayoutRow(NamedTuple):
    """One row of the pane: its pieces, the values among them, and the keys at its end."""

    pieces: Sequence[Piece] = ()
    stops: Sequence[Stop] = ()
    keys: Mapping[int, str] = MappingProxyType({})
    """The keys of hints by the numbers of their pieces."""

    def start_of(self, stop: int) -> int:
        """Return the column at which a value begins; the last one if there are fewer."""
        if not self.stops:
            return 0
        piece = self.stops[min(stop, len(self.stops) - 1)].piece
        return sum(cell_width(text) for text, _ in self.pieces[:piece])

    def piece_at(self, x: int) -> int:
        """Return the number of the piece in a column of the row; -1 if there is none."""
        end = 0
        for number, (text, _) in enumerate(self.pieces):
            end += cell_width(text)
            if x < end:
                return number
        return -1


class Flow:
    """Rows that are filled with values one after the other."""

    def __init__(self, width: int, margin: int) -> None:
        self.width, self.margin = width, margin
        self.rows: list[LayoutRow] = []
        self.pieces: list[Piece] = []
        self.stops: list[Stop] = []
        self.used = 0

    def begin(self, label: str) -> None:
        """Begin with the label."""
        self.add(label + " " * (self.margin - cell_width(label)), "dim")

    def add(self, text: str, style: str, line: DetailLine | None = None) -> None:
        """Add a piece, which is a value if it has a line."""
        if line is not None:
            self.stops.append(Stop(len(self.pieces), line))
        if text or line is not None:
            self.pieces.append((text, style))
            self.used += cell_width(text)

    def end_row(self) -> None:
        """End the row, and begin another one below the values."""
        self.rows.append(LayoutRow(tuple(self.pieces), tuple(self.stops)))
        self.pieces, self.stops, self.used = [], [], 0
        self.add(" " * self.margin, "")

    @property
    def room(self) -> int:
        """The cells that are left in the row."""
        return self.width - self.used

    @property
    def is_empty(self) -> bool:
        """Whether the row has no values yet."""
        return self.used <= self.margin

    def put(self, line: DetailLine, *, suffixes: bool) -> None:
        """Add a value where it fits, in the next row if it does not, or on several rows."""
        text = line.text + (line.suffix if suffixes else "")
        lead = line.lead if line.lead or self.is_empty else GAP
        if line.lead.strip() and not self.is_empty and not line.lead.startswith(" "):
            lead = GAP + line.lead
        if self.room < cell_width(lead + text) and not self.is_empty:
            self.end_row()
            lead = line.lead.lstrip()
        self.add(lead, "dim" if lead.strip() else "")
        style = STYLES.get(line.kind, "")
        if cell_width(text) <= self.room:
            suffix_style = style if line.kind not in _PLAIN_SUFFIX else ""
            self.add(line.text, style, line)
            if suffixes:
                self.add(line.suffix, suffix_style)
            return
        for number, part in enumerate(wrap(text, max(1, self.room))):
            if number:
                self.end_row()
            self.add(part, style, line)
