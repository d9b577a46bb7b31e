"""Show what caches have of an environment, over the whole screen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from textual import getters, on
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from spackscope.model.core.cells import SHORT_HASH, shorten_path
from spackscope.model.core.text import cell_width, clean, pad
from spackscope.model.presentation.coverage import (
    MISSING,
    PRESENT,
    WHY,
    CoverageReport,
    MissingLine,
    PresentLine,
)
from spackscope.model.presentation.titles import counted, position
from spackscope.tui.dialogs.full_screen import FullScreen
from spackscope.tui.keymap import COVERAGE, bindings
from spackscope.tui.widgets.drawing import Piece
from spackscope.tui.widgets.virtual_list import VirtualList

NOTHING = "nothing is missing"
_READING = "reading…\nesc stops it"
_ROLE_FROM = 100
"""Cells of a list from which on it has a column for roles."""
_MAX_REASONS = 6
"""Reasons that are shown before the others are asked for."""
_MORE_REASONS = "more reasons"
_MAX_NAME = 36
"""Cells of the names of missing specs."""
_MAX_ENVIRONMENT = 30
"""Cells of the name of the environment."""


class CoverageLine(NamedTuple):
    """A line of the list: of a spec, of the reason why some are missing, or a head."""

    text: str = ""
    is_head: bool = False
    fold: str = ""
    reason: str = ""
    spec: MissingLine | PresentLine | None = None

    @property
    def key(self) -> str:
        """What the line is about, if it can be chosen."""
        if self.spec is not None:
            return self.spec.hash
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
        names = (cell_width(line.spec.name) for line in lines if line.spec is not None)
        self._name_width = min(_MAX_NAME, max(names, default=0))
        specs = (line.spec for line in lines if isinstance(line.spec, MissingLine))
        self._role_width = max((cell_width(spec.role) for spec in specs), default=0)
        self.show(len(lines), cursor)

    def pieces(self, row: int, width: int) -> list[Piece]:
        """Return the pieces of a line."""
        line = self._lines[row]
        mark: Piece = ("▸" if row == self.cursor else " ", "accent")
        if (spec := line.spec) is None:
            return [mark, (line.text, "strong" if line.is_head else "")]
        name_style = "strong" if isinstance(spec, MissingLine) and spec.role else ""
        pieces: list[Piece] = [mark, (f" {spec.hash[:SHORT_HASH]}  ", "hash")]
        pieces.append((pad(spec.name, min(self._name_width, max(12, width // 3))), name_style))
        if isinstance(spec, PresentLine):
            return [*pieces, (f"  {spec.where}", "good")]
        if width >= _ROLE_FROM:
            # In narrower lists the role is in the line below them.
            pieces.append((f"  {pad(spec.role, self._role_width)}", "strong"))
        return [*pieces, (f"  {spec.differs}", "dim")]


def _first(lines: Sequence[CoverageLine]) -> int:
    """Return the number of the first spec, or else of the first line that can be chosen.

    The reasons above the specs are known later than they are: a cursor that begins on a spec
    begins there whether or not the reasons are there already.
    """
    numbers = [number for number, line in enumerate(lines) if line.key]
    return next((n for n in numbers if lines[n].spec is not None), next(iter(numbers), 0))


@dataclass(frozen=True, slots=True)
class Choice:
    """The hash of the spec to go to, or that of a missing spec to compare with the nearest."""

    hash: str
    nearest: str = ""


class CoverageScreen(FullScreen[Choice]):
    """A screen that is filled while specs are compared, and returns what was chosen.

    `copy` is called with hashes, and what they are in some words; `other` when the user asks for
    another environment.
    """

    PANE = COVERAGE
    BINDINGS = bindings(COVERAGE)
    AUTO_FOCUS = "CoverageRows"

    _rows = getters.query_one(CoverageRows)

    def __init__(
        self, copy: Callable[[Sequence[str], str], object], other: Callable[[], object]
    ) -> None:
        super().__init__()
        self._copy, self._other = copy, other
        self._environment = ""
        self._report: CoverageReport | None = None
        self._progress = _READING
        self._only = ""
        self._shows_present = self._shows_reasons = False

    def compose(self) -> ComposeResult:
        """Lay out the summary above the rows, the sentence on a row and the hints below them."""
        yield Static(id="coverage-head")
        yield CoverageRows()
        yield Static(id="coverage-line")

    @property
    def report(self) -> CoverageReport | None:
        """The report that is shown; None if there is none yet."""
        return self._report

    @property
    def is_filled(self) -> bool:
        """Whether the rows are there."""
        return self._report is not None

    def show_environment(self, name: str) -> None:
        """Show that an environment is being read."""
        self._environment = shorten_path(clean(name), _MAX_ENVIRONMENT)
        self._report, self._only, self._failure = None, "", ""
        self._progress = _READING
        self.refill()

    def show_report(self, report: CoverageReport, progress: str = "") -> None:
        """Show a report, and how far the search for the nearest has come."""
        self._report, self._progress = report, progress
        self.refill()

    def show_progress(self, progress: str) -> None:
        """Show how far the search for the nearest has come."""
        self._progress = progress
        if self._is_composed:
            self._show_head()

    def fill(self) -> None:
        """Show the report, or that it is being made."""
        self._show_head()
        if self._report is None:
            self._rows.show(0, empty=self._failure or self._progress)
        else:
            self._rows.show_lines(self._lines(self._report))
        self._show_line()

    def _show_head(self) -> None:
        report = self._report
        lines = [*report.notes, self._progress] if report is not None else []
        summary = f"  {report.summary}" if report is not None else ""
        notes = "".join(f"\n{line}" for line in lines if line)
        head = Content.assemble((self._environment, "bold"), summary, (notes, "dim"))
        self.query_one("#coverage-head", Static).update(head)

    def _lines(self, report: CoverageReport) -> list[CoverageLine]:
        lines: list[CoverageLine] = []
        if report.reasons:
            lines.append(CoverageLine(WHY, is_head=True))
            more = len(report.reasons) - _MAX_REASONS
            is_cut = more > 1 and not self._shows_reasons
            for count, reason in report.reasons[: _MAX_REASONS if is_cut else None]:
                sign = "  ◂ only these" if reason == self._only else ""
                lines.append(CoverageLine(f"  {count}  {reason}{sign}", reason=reason))
            if more > 1:
                text = f"  {more:,} {_MORE_REASONS}  {'▸' if is_cut else '▾'}"
                lines.append(CoverageLine(text, fold=_MORE_REASONS))
        lines.append(CoverageLine(MISSING if report.missing else NOTHING, is_head=True))
        lines += (CoverageLine(spec=spec) for spec in self._shown(report))
        sign = "▾" if self._shows_present else "▸"
        head = f"{PRESENT} ({counted(len(report.present), 'spec')})  {sign}"
        lines.append(CoverageLine(head, is_head=True, fold=PRESENT))
        if self._shows_present:
            lines += (CoverageLine(spec=spec) for spec in report.present)
        return lines

    def _shown(self, report: CoverageReport) -> list[MissingLine]:
        """Return what is missing for the chosen reason, or everything."""
        return [spec for spec in report.missing if self._only in ("", spec.reason)]

    @on(VirtualList.Highlighted)
    def _show_line(self) -> None:
        """Show the line under the cursor in full, as it may be cut in the list."""
        line, text = self._rows.line if self._report is not None else None, ""
        if line is not None and line.spec is not None:
            text = "  ".join(filter(None, (line.spec.hash, line.spec.name, *_about(line.spec))))
        elif line is not None and line.reason:
            text = "⏎ shows only these" if line.reason != self._only else "⏎ shows all again"
        self.query_one("#coverage-line", Static).update(Content(text))
        self.status.show_position(position(self._rows.cursor, self._rows.length))

    def action_copy(self) -> None:
        """Copy the hashes of what is missing and shown."""
        shown = self._shown(self._report) if self._report is not None else []
        if shown:
            reason = f", {self._only}" if self._only else ""
            self._copy([spec.hash for spec in shown], f"{len(shown):,} missing{reason}")

    def action_other(self) -> None:
        """Show the next environment among the sources."""
        self._other()

    def action_compare(self) -> None:
        """Compare the missing spec under the cursor with the nearest."""
        spec = self._rows.line.spec if self._report is not None and self._rows.line else None
        if isinstance(spec, MissingLine) and spec.nearest:
            self.dismiss(Choice(spec.hash, spec.nearest))
        else:
            self.say("Go to a missing spec with a nearest one, then press d.")

    def action_present(self) -> None:
        """Show or hide what is there."""
        self._shows_present = not self._shows_present
        self.fill()

    @on(VirtualList.Chosen)
    def action_take(self) -> None:
        """Go to the nearest candidate, or to the spec itself; on a reason show only its specs."""
        line = self._rows.line if self._report is not None else None
        if line is None or not line.key:
            return
        if line.spec is not None:
            nearest = line.spec.nearest if isinstance(line.spec, MissingLine) else ""
            self.dismiss(Choice(nearest or line.spec.hash))
        elif line.fold == PRESENT:
            self.action_present()
        elif line.fold:
            self._shows_reasons = not self._shows_reasons
            self.fill()
        else:
            self._only = "" if line.reason == self._only else line.reason
            self.fill()


def _about(spec: MissingLine | PresentLine) -> tuple[str, ...]:
    return (spec.where,) if isinstance(spec, PresentLine) else (spec.role, spec.differs)
