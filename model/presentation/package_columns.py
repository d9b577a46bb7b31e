"""The columns of the overview of packages, as many as fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from spackscope.model.core.text import cell_width, clean, shorten

if TYPE_CHECKING:
    from spackscope.model.analysis.host import Host
    from spackscope.model.analysis.package_summary import PackageSummary

MIN_WIDTH = 38
"""Cells of a row from which on there is more than a name and a count."""

_MARK = _GAP = 2
_MIN_NAME, _MAX_NAME = 14, 32
_MIN_TARGETS = 12
_NOT_TOLD = "-"


def runs_head(machine: Host) -> str:
    """Return the head of the column that counts what runs on a host."""
    return "runs here" if machine.is_this_machine else f"runs on {clean(machine.target) or 'it'}"


class OverviewColumn(NamedTuple):
    """A column: what it shows, its head and its width. Numbers are aligned right."""

    name: str
    head: str
    width: int

    @property
    def is_number(self) -> bool:
        """Whether its cells are numbers."""
        return self.name in ("builds", "kinds", "runs")


class OverviewLayout(NamedTuple):
    """The cells of the names, and the columns beside them."""

    name_width: int
    columns: Sequence[OverviewColumn]


def overview_layout(width: int, longest_name: int, runs_head: str) -> OverviewLayout:
    """Return the columns of rows of some width; `runs_head` says where the builds run."""
    wanted = [
        OverviewColumn("builds", "builds", 6),
        OverviewColumn("runs", runs_head, cell_width(runs_head)),
        OverviewColumn("newest", "newest", 10),
        OverviewColumn("kinds", "kinds", 5),
        OverviewColumn("targets", "targets", _MIN_TARGETS),
    ]
    room = width - _MARK - 1 - _MIN_NAME
    chosen: dict[str, OverviewColumn] = {}
    for column in wanted:
        if _GAP + column.width <= room:
            chosen[column.name] = column
            room -= _GAP + column.width
    more = max(0, min(longest_name, _MAX_NAME) - _MIN_NAME)
    if "targets" not in chosen:
        more = room
    name_width = _MIN_NAME + min(more, room)
    room -= name_width - _MIN_NAME
    order = ("newest", "builds", "kinds", "targets", "runs")
    columns = [chosen[name] for name in order if name in chosen]
    return OverviewLayout(
        name_width,
        [c._replace(width=c.width + room) if c.name == "targets" else c for c in columns],
    )


def overview_cell(column: OverviewColumn, builds: int, summary: PackageSummary | None) -> str:
    """Return the cell of a package, blank until it is known."""
    if column.name == "builds":
        return f"{builds:,}"
    if summary is None:
        return ""
    if column.name == "newest":
        return shorten(clean(summary.newest), column.width) or _NOT_TOLD
    if column.name == "targets":
        return _targets_cell(summary.targets, column.width)
    number = summary.kinds if column.name == "kinds" else summary.running
    if number is None:
        return _NOT_TOLD if summary.is_whole else ""
    return f"{number:,}"


def _targets_cell(targets: Sequence[str], width: int) -> str:
    """Return as many targets as fit whole, and how many more there are."""
    texts = [clean(target) for target in targets]
    for count in range(len(texts), 0, -1):
        more = f" +{len(texts) - count}" if count < len(texts) else ""
        text = " ".join(texts[:count]) + more
        if cell_width(text) <= width:
            return text
    return shorten(texts[0], width) if texts else _NOT_TOLD
