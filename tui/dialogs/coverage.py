"""Show what caches have of an environment: the reasons why specs are missing, then the specs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from spackscope.model.core.columns import shorten_path
from spackscope.model.core.suggestions import matching
from spackscope.model.core.text import clean, counted
from spackscope.model.report.coverage import (
    MISSING,
    MISSING_COLUMNS,
    PRESENT,
    PRESENT_COLUMNS,
    WHY,
)
from spackscope.model.report.report import Report, Row, Section, styled
from spackscope.tui.dialogs.report import ReportDialog
from spackscope.tui.keymap import COVERAGE, bindings, shown

_MAX_ENVIRONMENT = 30
"""Cells of the name of the environment."""

_NOTHING = "nothing is missing"
_MAX_REASONS = 6
"""Reasons that are shown before the others are asked for."""
_MORE_REASONS = "more reasons"


class CoverageScreen(ReportDialog[str]):
    """A screen that is filled while specs are compared, and returns the hash of a spec to go to.

    `copy` is called with hashes, and what they are in some words; `other` when the user asks for
    another environment, `compare` to compare two hashes, and `why` to ask why one is
    missing. The answers open above it.
    """

    PANE = COVERAGE
    BINDINGS = bindings(COVERAGE)
    noun = "spec"

    def __init__(
        self,
        copy: Callable[[Sequence[str], str], object],
        other: Callable[[], object],
        compare: Callable[[Sequence[str]], object],
        why: Callable[[str], object],
    ) -> None:
        super().__init__()
        self._copy, self._other, self._compare, self._why = copy, other, compare, why
        self._only = ""
        self._open_folds: set[str] = set()

    def show_environment(self, name: str) -> None:
        """Show that an environment is being read."""
        self.heading = shorten_path(clean(name), _MAX_ENVIRONMENT)
        self.report, self._only, self._failure, self._progress = None, "", "", ""
        self.refill()

    def show_coverage(self, report: Report, progress: str = "") -> None:
        """Show a report, and how far the search for the nearest has come."""
        if not progress and self._only not in [row.group for row in report.rows(WHY)]:
            self._only = ""
        self.show_report(report, progress=progress)

    def notes(self) -> Sequence[str]:
        """Return the notes on the coverage, and the progress."""
        notes = [row.texts[0] for row in self.report.rows("")] if self.report is not None else []
        return [*notes, *super().notes()]

    def sections(self) -> Sequence[Section]:
        """Return the reasons, what is missing, and what is present, if that is unfolded."""
        if self.report is None:
            return ()
        present = self.report.rows(PRESENT)
        is_open = PRESENT in self._open_folds
        head = f"{PRESENT} ({counted(len(present), 'spec')})  {'▾' if is_open else '▸'}"
        missing = self._missing
        return [
            *self._reasons(self.report.rows(WHY)),
            Section(
                (MISSING if self.report.rows(MISSING) else _NOTHING) + self._so_far,
                list(map(_missing_row, missing)),
                columns=MISSING_COLUMNS,
            ),
            Section("", [Row((styled(head, "bold"),), group=PRESENT)]),
            Section(
                "", list(map(_present_row, present if is_open else ())), columns=PRESENT_COLUMNS
            ),
        ]

    def _reasons(self, reasons: Sequence[Row]) -> list[Section]:
        more = len(reasons) - _MAX_REASONS
        is_cut = more > 1 and _MORE_REASONS not in self._open_folds
        rows = []
        for row in reasons[: _MAX_REASONS if is_cut else None]:
            count, reason = row.texts
            sign = "  ◂ only these" if row.group == self._only else ""
            rows.append(Row((f"  {count}  {reason}{sign}",), group=row.group))
        if more > 1:
            text = f"  {more:,} {_MORE_REASONS}  {'▸' if is_cut else '▾'}"
            rows.append(Row((text,), group=_MORE_REASONS))
        return [Section(WHY + self._so_far, rows)] if rows else []

    @property
    def _so_far(self) -> str:
        """What to add where sources that are still being read may say something else."""
        return ", so far" * self.is_loading

    def show_loading(self, is_loading: bool) -> None:
        """Show whether sources are still being read, in the headings too."""
        super().show_loading(is_loading)
        self.refill()

    @property
    def _missing(self) -> list[Row]:
        """What is missing for the chosen reason, or everything."""
        missing = self.report.rows(MISSING) if self.report is not None else ()
        return [row for row in missing if self._only in ("", row.group)]

    def reading(self) -> str:
        """Return the row under the cursor in full, as it may be cut in the list."""
        row = self.list.row
        if row is None or not (row.key or row.group):
            return ""
        if row.key:
            return "  ".join(filter(None, (*row.texts[:-1], row.key)))
        if row.group in (PRESENT, _MORE_REASONS):
            return ""
        does = "shows all again" if row.group == self._only else "shows only these"
        return f"{shown('coverage-choose')} {does}"

    def action_copy(self) -> None:
        """Copy the hashes of what is missing and shown."""
        rows = matching(self.search, map(_missing_row, self._missing), self.searched)
        if rows:
            reason = f", {self._only}" if self._only else ""
            self._copy([row.key for row in rows], f"{len(rows):,} missing{reason}")

    def action_other(self) -> None:
        """Show the next environment among the sources."""
        self._other()

    def action_compare(self) -> None:
        """Compare the missing spec under the cursor with the nearest."""
        row = self.list.row
        if row is not None and row.leads_to:
            self._compare((row.key, row.leads_to))
        else:
            self.say(
                f"Go to a missing spec with a nearest one, then press {shown('coverage-compare')}."
            )

    def action_why(self) -> None:
        """Ask why the missing spec under the cursor is not there, and what the nearest lacks."""
        if (row := self.list.row) is not None and row.key:
            self._why(row.key)

    def action_present(self) -> None:
        """Show or hide the specs that are cached or installed."""
        self._switch(PRESENT)

    def _switch(self, fold: str) -> None:
        self._open_folds ^= {fold}
        self.refill()

    def result(self, row: Row) -> str | None:
        """Return the nearest, or the spec itself; on a reason show only its specs."""
        if row.key:
            return row.leads_to or row.key
        if row.group in (PRESENT, _MORE_REASONS):
            self._switch(row.group)
        elif row.group:
            self._only = "" if row.group == self._only else row.group
            self.refill()
        return None


def _missing_row(row: Row) -> Row:
    """Return a missing spec with the reason before what may be cut: role and hash."""
    hash_, name, about = row.texts
    named = styled(name, "bold" if about else "")
    cells = named, row.note, styled(about, "bold"), styled(hash_, "link")
    return row._replace(cells=cells, note="")


def _present_row(row: Row) -> Row:
    hash_, name, where = row.texts
    return row._replace(cells=(name, styled(where, "good"), styled(hash_, "link")))
