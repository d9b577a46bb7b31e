"""Show what caches have of an environment, over the whole screen: reasons, then specs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from textual import getters, on
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from spackscope.model.core.columns import shorten_path
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.text import cell_width, clean, counted, pad
from spackscope.model.report.coverage import MISSING, PRESENT, WHY
from spackscope.model.report.frame import position
from spackscope.model.report.report import Report, Row
from spackscope.tui.dialogs.full_screen import FullScreen
from spackscope.tui.keymap import COVERAGE, bindings, shown
from spackscope.tui.widgets.drawing import Piece
from spackscope.tui.widgets.virtual_list import VirtualList

_MAX_ENVIRONMENT = 30
"""Cells of the name of the environment."""


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


class Choice(Frozen):
    """The hash of the spec to go to, or that of a missing spec to compare with the nearest."""

    hash: str
    nearest: str = ""


class CoverageScreen(FullScreen[Choice, Report]):
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
        self._progress = f"reading…\n{shown('coverage-close')} stops it"
        self._only = ""
        self._open_folds: set[str] = set()

    def compose(self) -> ComposeResult:
        """Lay out the summary above the rows, the sentence on a row and the hints below them."""
        yield Static(id="coverage-head")
        yield CoverageRows()
        yield Static(id="coverage-line")

    def show_environment(self, name: str) -> None:
        """Show that an environment is being read."""
        self._environment = shorten_path(clean(name), _MAX_ENVIRONMENT)
        self.report, self._only, self._failure = None, "", ""
        self._progress = f"reading…\n{shown('coverage-close')} stops it"
        self.refill()

    def show_report(self, report: Report, progress: str = "") -> None:
        """Show a report, and how far the search for the nearest has come."""
        self.report, self._progress, self._failure = report, progress, ""
        if not progress and self._only not in [row.group for row in report.rows(WHY)]:
            self._only = ""
        self.refill()

    def show_progress(self, progress: str) -> None:
        """Show how far the search for the nearest has come."""
        self._progress = progress
        if self._is_composed:
            self._show_head()

    def fill(self) -> None:
        """Show the report, or that it is being made."""
        self._show_head()
        if self.report is None:
            self._rows.show(0, empty=self._failure or self._progress)
        else:
            missing = self._shown(self.report)
            lines = coverage_lines(self.report, missing, self._open_folds, self._only)
            self._rows.show_lines(lines)
        self._show_line()

    def _show_head(self) -> None:
        report = self.report
        lines = [row.texts[0] for row in report.rows("")] if report is not None else []
        lines += [self._progress] if report is not None else []
        summary = f"  {report.title}" if report is not None else ""
        notes = "".join(f"\n{line}" for line in lines if line)
        head = Content.assemble((self._environment, "bold"), summary, (notes, "dim"))
        self.query_one("#coverage-head", Static).update(head)

    def _shown(self, report: Report) -> list[Row]:
        """Return what is missing for the chosen reason, or everything."""
        return [row for row in report.rows(MISSING) if self._only in ("", row.group)]

    @on(VirtualList.Highlighted)
    def _show_line(self) -> None:
        """Show the line under the cursor in full, as it may be cut in the list."""
        line, text = self._rows.line if self.report is not None else None, ""
        if line is not None and line.spec is not None:
            _, *cells = line.spec.texts
            text = "  ".join(filter(None, (line.spec.key, *cells, line.spec.note)))
        elif line is not None and line.reason:
            text = shown("coverage-choose")
            text += " shows only these" if line.reason != self._only else " shows all again"
        self.query_one("#coverage-line", Static).update(Content(text))
        self.status.show_position(position(self._rows.cursor, self._rows.length))

    def action_copy(self) -> None:
        """Copy the hashes of what is missing and shown."""
        shown = self._shown(self.report) if self.report is not None else []
        if shown:
            reason = f", {self._only}" if self._only else ""
            self._copy([row.key for row in shown], f"{len(shown):,} missing{reason}")

    def action_other(self) -> None:
        """Show the next environment among the sources."""
        self._other()

    def action_compare(self) -> None:
        """Compare the missing spec under the cursor with the nearest."""
        spec = self._rows.line.spec if self.report is not None and self._rows.line else None
        if spec is not None and spec.leads_to:
            self.dismiss(Choice(spec.key, spec.leads_to))
        else:
            self.say(
                f"Go to a missing spec with a nearest one, then press {shown('coverage-compare')}."
            )

    def action_present(self) -> None:
        """Show or hide the specs that are cached or installed."""
        self._switch(PRESENT)

    def _switch(self, fold: str) -> None:
        self._open_folds ^= {fold}
        self.fill()

    @on(VirtualList.Chosen)
    def action_take(self) -> None:
        """Go to the nearest candidate, or to the spec itself; on a reason show only its specs."""
        line = self._rows.line if self.report is not None else None
        if line is None or not line.key:
            return
        if line.spec is not None:
            self.dismiss(Choice(line.spec.leads_to or line.spec.key))
        elif line.fold:
            self._switch(line.fold)
        else:
            self._only = "" if line.reason == self._only else line.reason
            self.fill()
