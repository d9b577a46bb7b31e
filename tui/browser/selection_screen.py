"""Mark rows, and copy what is marked or selected."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from textual import on

from spackscope.model.catalog.rows import Row
from spackscope.model.core.records import Spec
from spackscope.model.sources.session import Session
from spackscope.tui.browser.search_screen import AskingScreen
from spackscope.tui.copy_forms import (
    FORMS,
    CopyDone,
    Form,
    copy_text,
    spelled,
    summary,
)
from spackscope.tui.dialogs.copy import CopyDialog
from spackscope.tui.widgets.spec_table import SpecTable


class MarkingScreen(AskingScreen):
    """Hold the marks, and hand specs to the clipboard."""

    def __init__(self, sources: Sequence[str], query: str, session: Session) -> None:
        super().__init__(sources, query, session)
        self._marks: dict[str, None] = {}

    @abstractmethod
    def _show_counts(self) -> None:
        """Show how much is shown, and marked."""

    @property
    def _selected(self) -> Row | None:
        """The row of the spec that the detail shows."""
        return self._specs.highlighted

    @on(SpecTable.Marked)
    def _row_marked(self, event: SpecTable.Marked) -> None:
        hash_ = event.row.spec.hash
        if hash_ in self._marks:
            del self._marks[hash_]
        else:
            self._marks[hash_] = None
            if event.row.count > 1:
                self._status.say(f"marked the first of {event.row.count:,} look-alikes")
        self._marks_changed()

    @on(SpecTable.Unmarked)
    def _unmarked(self) -> None:
        self._marks.clear()
        self._marks_changed()

    def _marks_changed(self) -> None:
        self._specs.show_marks(self._marks)
        self._show_counts()

    def _to_copy(self, form: Form | None = None) -> list[Spec]:
        """Return the marked specs, or the selected one.

        A bare hash does not wait for the edges, which tell the compilers.
        """
        catalog, row = self._catalog, self._selected
        if catalog is None:
            return []
        rows = [row] if row is not None else []
        if self._marks:
            marked = [catalog.by_hash(hash_)[:1] for hash_ in self._marks]
            rows = [row for rows in marked for row in rows]
        if form is FORMS[0]:
            return [row.spec for row in rows]
        return [catalog.with_compilers(row) for row in rows]

    def action_copy_hash(self) -> None:
        """Copy the full hash."""
        self._copy(FORMS[0])

    def action_copy_menu(self) -> None:
        """Ask for the form to copy."""
        if specs := self._to_copy():
            self.app.push_screen(CopyDialog(specs), self._copy)
        else:
            self._status.say("there is no spec to copy", error=True)

    def _copy(self, form: Form | None) -> None:
        specs = self._to_copy(form)
        if form is None or not specs:
            if form is not None:
                self._status.say("there is no spec to copy", error=True)
            return
        text = spelled(form, specs)
        what = summary(form, specs, marked=bool(self._marks))
        row = self._selected
        if not self._marks and row is not None and row.count > 1:
            what += f" (the first of {row.count:,} look-alikes)"
        app, environ = self.app, self._session.environ

        def work() -> None:
            self.post_message(copy_text(text, what, environ, app))

        self.run_worker(work, group="copy", thread=True)

    @on(CopyDone)
    def _copied(self, event: CopyDone) -> None:
        self._remember()
        self._status.say(event.text, error=event.failed)
