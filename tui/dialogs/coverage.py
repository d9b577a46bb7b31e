"""Show what caches have of an environment, over the whole screen."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual import getters, on
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from spackscope.model.core.columns import shorten_path
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.text import clean
from spackscope.model.report.coverage import MISSING, PRESENT, WHY
from spackscope.model.report.frame import position
from spackscope.model.report.report import Report, Row
from spackscope.tui.dialogs.coverage_rows import CoverageRows, coverage_lines
from spackscope.tui.dialogs.full_screen import FullScreen
from spackscope.tui.keymap import COVERAGE, bindings, shown
from spackscope.tui.widgets.virtual_list import VirtualList

_MAX_ENVIRONMENT = 30
"""Cells of the name of the environment."""


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
