"""Lay out the side column: the overview of packages, and the sections of facets."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from spackscope.model.core.frozen import Frozen
from spackscope.model.core.suggestions import matching
from spackscope.model.core.text import cell_width, clean, shorten

if TYPE_CHECKING:
    from spackscope.model.analysis.host import Host
    from spackscope.model.analysis.package_summary import PackageSummary
    from spackscope.model.catalog.facets import FacetKey, FacetSection, FacetValue


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


SHOWN = 5
"""Values of a section that are shown before it is opened, besides those with a mark."""


class FacetLine(Frozen):
    """A line: the head of a section, one of its values, or the switch for the others.

    `most` is the greatest count of the values, for their bars.
    """

    section: FacetSection
    text: str
    value: FacetValue | None = None
    most: int = 0
    is_switch: bool = False

    @property
    def is_head(self) -> bool:
        """Whether it is the head of its section."""
        return self.value is None and not self.is_switch


def facet_lines(
    sections: Sequence[FacetSection], typed: str = "", opened: Collection[FacetKey] = ()
) -> list[FacetLine]:
    """Return the lines of some sections; what is typed filters the values.

    The filter looks at the name of the section too, as in `target zen`.
    """
    lines: list[FacetLine] = []
    for section, values in _fitting(sections, typed):
        lines += _section_lines(section, values, is_open=section.key in opened)
    return lines


def _fitting(
    sections: Sequence[FacetSection], typed: str
) -> Iterator[tuple[FacetSection, Sequence[FacetValue]]]:
    """Yield the sections with a value that fits what is typed, each with these values."""
    if not typed.strip():
        yield from ((section, section.values) for section in sections)
        return
    items = [(section, value) for section in sections for value in section.values]
    texts = matching(typed, items, lambda item: f"{item[0].key.label} {item[1].text}")
    kept = {id(value) for _, value in texts}
    for section in sections:
        if values := [value for value in section.values if id(value) in kept]:
            yield section, values


def _section_lines(
    section: FacetSection, values: Sequence[FacetValue], *, is_open: bool
) -> Iterator[FacetLine]:
    most = max((v.count for v in values if v.condition is None), default=0)
    yield FacetLine(section, clean(section.key.label))
    shown = values if is_open else _first(values)
    for value in shown:
        yield FacetLine(section, value.text, value, most)
    if (more := len(values) - len(shown)) > 0:
        yield FacetLine(section, f"… {more:,} more", is_switch=True)
    elif is_open and len(_first(values)) < len(values):
        yield FacetLine(section, "… fewer", is_switch=True)


def _first(values: Sequence[FacetValue]) -> Sequence[FacetValue]:
    """Return the first values and those with a mark; all where a line would hide one alone."""
    shown = [v for n, v in enumerate(values) if n < SHOWN or v.mark is not None]
    return values if len(values) - len(shown) <= 1 else shown
