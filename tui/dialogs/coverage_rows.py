"""The rows of the coverage of an environment: reasons, then specs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from spackscope.model.core.text import cell_width, counted, pad
from spackscope.model.report.coverage import MISSING, PRESENT, WHY
from spackscope.model.report.report import Report, Row
from spackscope.tui.widgets.drawing import Piece
from spackscope.tui.widgets.virtual_list import VirtualList

_NOTHING = "nothing is missing"
_ROLE_FROM = 100
"""Cells of a list from which on it has a column for roles."""
_MAX_REASONS = 6
"""Reasons that are shown before the others are asked for."""
_MORE_REASONS = "more reasons"
_MAX_NAME = 36
"""Cells of the names of missing specs."""


class CoverageLine(NamedTuple):
    """A line of the list: of a spec, of the reason why some are missing, or a head."""

    text: str = ""
    is_head: bool = False
    fold: str = ""
    reason: str = ""
    spec: Row | None = None

    @property
    def key(self) -> str:
        """What the line is about, if it can be chosen."""
        if self.spec is not None:
            return self.spec.key
        return self.fold or self.reason


class CoverageRows(VirtualList):
    """The reasons why specs are missing, and below them the specs in build order."""

    def __init__(self) -> None:
        super().__init__()
        self._lines: Sequence[CoverageLine] = ()
        self._name_width = self._role_width = 0

    @property
    def line(self) -> CoverageLine | None:
        """The line under the cursor."""
        return self._lines[self.cursor] if self._lines else None

    def show_lines(self, lines: Sequence[CoverageLine]) -> None:
        """Show other lines; the cursor stays on its spec or reason if that is still there."""
        key = self.line.key if self.line is not None else ""
        keys = [line.key for line in lines]
        cursor = keys.index(key) if key and key in keys else _first(lines)
        self._lines = lines
        names = (cell_width(line.spec.texts[1]) for line in lines if line.spec is not None)
        self._name_width = min(_MAX_NAME, max(names, default=0))
        specs = (line.spec for line in lines if line.spec is not None and not line.spec.style)
        self._role_width = max((cell_width(spec.texts[2]) for spec in specs), default=0)
        self.show(len(lines), cursor)

    def pieces(self, row: int, width: int) -> list[Piece]:
        """Return the pieces of a line."""
        line = self._lines[row]
        mark: Piece = ("▸" if row == self.cursor else " ", "accent")
        if (spec := line.spec) is None:
            return [mark, (line.text, "strong" if line.is_head else "")]
        hash_, name, about = spec.texts
        name_style = "strong" if about and not spec.style else ""
        pieces: list[Piece] = [mark, (f" {hash_}  ", "hash")]
        pieces.append((pad(name, min(self._name_width, max(12, width // 3))), name_style))
        if spec.style:
            return [*pieces, (f"  {about}", spec.style)]
        if width >= _ROLE_FROM:
            # In narrower lists the role is in the line below them.
            pieces.append((f"  {pad(about, self._role_width)}", "strong"))
        return [*pieces, (f"  {spec.note}", "dim")]


def _first(lines: Sequence[CoverageLine]) -> int:
    """Return the number of the first spec, or else of the first line that can be chosen.

    The reasons above the specs are known later than they are: a cursor that begins on a spec
    begins there whether or not the reasons are there already.
    """
    numbers = [number for number, line in enumerate(lines) if line.key]
    return next((n for n in numbers if lines[n].spec is not None), next(iter(numbers), 0))


def coverage_lines(
    report: Report, missing: Sequence[Row], open_folds: Collection[str], only: str
) -> list[CoverageLine]:
    """Return the lines of a report.

    `missing` are the missing specs to show, those with the reason `only` if it is not empty.
    """
    lines = _reason_lines(report, _MORE_REASONS in open_folds, only)
    lines.append(CoverageLine(MISSING if report.rows(MISSING) else _NOTHING, is_head=True))
    lines += (CoverageLine(spec=spec) for spec in missing)
    is_open, present = PRESENT in open_folds, report.rows(PRESENT)
    head = f"{PRESENT} ({counted(len(present), 'spec')})  {'▾' if is_open else '▸'}"
    lines.append(CoverageLine(head, is_head=True, fold=PRESENT))
    if is_open:
        lines += (CoverageLine(spec=spec) for spec in present)
    return lines


def _reason_lines(report: Report, shows_all: bool, only: str) -> list[CoverageLine]:
    reasons = report.rows(WHY)
    lines = [CoverageLine(WHY, is_head=True)] if reasons else []
    more = len(reasons) - _MAX_REASONS
    is_cut = more > 1 and not shows_all
    for count, reason in (row.texts for row in reasons[: _MAX_REASONS if is_cut else None]):
        sign = "  ◂ only these" if reason == only else ""
        lines.append(CoverageLine(f"  {count}  {reason}{sign}", reason=reason))
    if more > 1:
        text = f"  {more:,} {_MORE_REASONS}  {'▸' if is_cut else '▾'}"
        lines.append(CoverageLine(text, fold=_MORE_REASONS))
    return lines
