"""The rows of packages: names and counts, or an overview where there is room for one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from textual.message import Message

from spackscope.model.core.text import cell_width, clean, pad, shorten
from spackscope.model.index.rows import PackageCount
from spackscope.model.report.frame import (
    MIN_WIDTH,
    OverviewColumn,
    OverviewLayout,
    overview_cell,
    overview_layout,
)
from spackscope.tui.keymap import PACKAGES, bindings
from spackscope.tui.widgets.drawing import Piece, highlight
from spackscope.tui.widgets.virtual_list import VirtualList

if TYPE_CHECKING:
    from spackscope.model.analysis.package_summary import PackageSummary

ALL = "all packages"
RUNS_HERE = "runs here"


class PackageRows(VirtualList):
    """A row for all packages, and one for each package.

    `summaries` are asked for as rows come to be seen; those of another query stay until they are
    replaced.
    """

    BINDINGS = bindings(PACKAGES)

    class SummariesNeeded(Message):
        """Posted when packages on the screen have no summary of this query, or none need one."""

        def __init__(self, packages: Sequence[PackageCount]) -> None:
            super().__init__()
            self.packages = packages

    class Resized(Message):
        """Posted when the rows have another width, and so other columns."""

    packages: Sequence[PackageCount] = ()
    shown = 0
    needles: Sequence[str] = ()
    runs_head = RUNS_HERE

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._summaries: dict[int, PackageSummary] = {}
        self._asked: set[int] = set()
        self._is_asking = False
        self._longest = 0

    @property
    def overview(self) -> OverviewLayout | None:
        """The columns of the overview, or None where there is only room for names."""
        width = self.size.width
        if width < MIN_WIDTH:
            return None
        return overview_layout(width, self._longest, self.runs_head)

    def set_packages(self, packages: Sequence[PackageCount], needles: Sequence[str]) -> None:
        """Set the packages of the rows, and what to mark in their names."""
        self.packages, self.needles = packages, needles
        self.shown = sum(package.shown for package in packages)
        self._longest = max((cell_width(clean(p.name)) for p in packages), default=0)

    def forget_summaries(self, *, is_other_catalog: bool) -> None:
        """Ask for all summaries again; those of another catalog are not shown any more."""
        self._asked.clear()
        if is_other_catalog:
            self._summaries.clear()
        self.refresh()

    def take_summaries(self, summaries: Mapping[int, PackageSummary]) -> None:
        """Show some summaries."""
        self._summaries.update(summaries)
        seen = enumerate(self.packages[max(0, self.top - 1) :][: self.size.height + 1])
        first = max(1, self.top)
        self.refresh_rows(*(first + n for n, package in seen if package.id in summaries))

    def on_resize(self) -> None:
        """Draw other columns; without an overview nothing more is needed for it."""
        super().on_resize()
        self.post_message(self.Resized())
        if self.overview is None and self._asked:
            self._asked.clear()
            self.post_message(self.SummariesNeeded(()))

    def _ask(self) -> None:
        """Ask for the summaries of what is on the screen."""
        self._is_asking = False
        first = max(0, self.top - 1)
        seen = self.packages[first : first + self.size.height + 1]
        if any(package.id not in self._asked for package in seen):
            self._asked = {package.id for package in seen}
            self.post_message(self.SummariesNeeded(seen))

    def pieces(self, row: int, width: int) -> list[Piece]:
        """Return the mark of the cursor, the name and the number of specs, or the overview."""
        package = self.packages[row - 1] if row else None
        if (layout := self.overview) is not None:
            return self._overview_pieces(layout, row, package)
        count = f"{package.shown if package else self.shown:,}"
        room = max(0, width - len(count) - 4)
        name = self._shown_name(package, room)
        blank = " " * (room - cell_width(name) + 1)
        pieces = [*self._name_pieces(row, package, name), (blank, "")]
        return [*pieces, (pad(count, len(count)), "dim"), (" ", "")]

    def _shown_name(self, package: PackageCount | None, width: int) -> str:
        name = (clean(package.name) or "(no name)") if package is not None else ALL
        return shorten(name, width)

    def _name_pieces(self, row: int, package: PackageCount | None, name: str) -> list[Piece]:
        mark = "▸ " if row == self.cursor else "  "
        return [
            (mark, "accent"),
            *(highlight(name, self.needles) if package is not None else [(name, "dim")]),
        ]

    def _overview_pieces(
        self, layout: OverviewLayout, row: int, package: PackageCount | None
    ) -> list[Piece]:
        name = self._shown_name(package, layout.name_width)
        pieces = self._name_pieces(row, package, name)
        pieces.append((" " * (layout.name_width - cell_width(name)), ""))
        summary = self._summaries.get(package.id) if package is not None else None
        if package is not None and package.id not in self._asked and not self._is_asking:
            self._is_asking = True
            self.call_later(self._ask)
        for column in layout.columns:
            builds = package.shown if package is not None else self.shown
            cell = overview_cell(column, builds, summary)
            text = pad(cell, column.width, right=column.is_number)
            pieces.append((f"  {text}", _style(column, cell, package is None)))
        return pieces


def _style(column: OverviewColumn, cell: str, is_all: bool) -> str:
    if column.name == "runs" and cell not in ("", "0", "-"):
        return "good"
    return "" if column.name in ("newest", "builds") and not is_all else "dim"
