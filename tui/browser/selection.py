"""Mark specs, and copy the marked ones or the selected one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.opened_rows import RowRole
from spackscope.model.catalog.rows import Row
from spackscope.model.core.records import Spec
from spackscope.model.presentation.row_notes import row_notes
from spackscope.tui.browser.query_history import QueryRecall
from spackscope.tui.browser.state import BrowserState, Host
from spackscope.tui.copy_forms import FORMS, CopyDone, CopyForm, spelled, summary
from spackscope.tui.dialogs.copy import CopyDialog

NOTHING = "there is no spec to copy"


class Selection:
    """Change the marks, and hand specs to the clipboard.

    `copy` copies a text and returns what to say of it, which names the text; it is called in a
    worker thread. `on_marked` is called when the marks have changed.
    """

    def __init__(
        self, host: Host, recall: QueryRecall, copy: Callable[[str, str], CopyDone]
    ) -> None:
        self._host, self._recall, self._copy = host, recall, copy
        self.on_marked: Callable[[], object] = lambda: None

    def mark(self, row: Row) -> None:
        """Mark a row, or remove its mark."""
        marks, hash_ = self._host.state.marks, row.spec.hash
        if hash_ in marks:
            self._change(tuple(mark for mark in marks if mark != hash_))
            return
        self._change((*marks, hash_))
        if row.count > 1:
            self._host.say(f"Marked {_one_of(row)}")

    def _change(self, marks: tuple[str, ...]) -> None:
        self._host.change(marks=marks)
        self.on_marked()

    def clear(self) -> None:
        """Remove all marks."""
        self._change(())

    def pick(self, row: Row) -> None:
        """End the program with the marked specs, or with one row."""
        hashes = [*self._host.state.marks] or [row.spec.hash]
        self._recall.remember(lambda: self._host.exit(hashes))

    def copy_hash(self) -> None:
        """Copy the whole hash."""
        self._copy_form(FORMS[0])

    def open_menu(self) -> None:
        """Choose the form to copy."""
        state = self._host.state
        if state.catalog is not None:
            reading = partial(_read_specs, state.catalog, state.marks, state.selected)
            self._host.run(lambda _: reading(), self._show_menu, group="menu")
        else:
            self._host.say(NOTHING, error=True)

    def copy_text(self, text: str, what: str, say: Callable[..., object]) -> None:
        """Copy a text; `say` shows what came of it, on the screen that asked for it."""
        self._host.run(
            lambda _: self._copy(text, what),
            lambda copied: say(copied.text, error=copied.failed),
            group="copy",
        )

    def _show_menu(self, specs: Sequence[Spec]) -> None:
        if specs:
            self._host.open(CopyDialog(specs), self._copy_form)
        else:
            self._host.say(NOTHING, error=True)

    def _copy_form(self, form: CopyForm | None) -> None:
        state = self._host.state
        if form is None:
            return
        if state.catalog is None or not (state.marks or state.selected):
            self._host.say(NOTHING, error=True)
            return
        ids = _folded_ids(state) if not state.marks else ()
        job = partial(self._copy_specs, state.catalog, state.marks, state.selected, ids, form)
        self._host.run(lambda _: job(), self._copied, group="copy")

    def _copy_specs(
        self,
        catalog: Catalog,
        marks: Sequence[str],
        selected: Row | None,
        folded_ids: Sequence[int],
        form: CopyForm,
    ) -> CopyDone:
        """Read specs and copy them, unless a folded row has several kinds: for a worker thread."""
        kinds = row_notes(catalog).partition(folded_ids) if folded_ids else ()
        if len(kinds) > 1:
            return CopyDone(
                f"{len(folded_ids):,} look the same, but are {len(kinds):,} kinds: ⏎ opens them, "
                "d compares them.",
                failed=True,
            )
        specs = _read_specs(catalog, marks, selected, bare=form is FORMS[0])
        if not specs:
            return CopyDone(NOTHING, failed=True)
        text, what = spelled(form, specs), summary(form, specs, marked=bool(marks))
        if not marks and selected is not None and selected.count > 1:
            what += f", {_one_of(selected, run_the_same=bool(kinds))}"
        return self._copy(text, what)

    def _copied(self, copied: CopyDone) -> None:
        if not copied.failed:
            self._recall.remember()
        self._host.say(copied.text, error=copied.failed)


def _folded_ids(state: BrowserState) -> Sequence[int]:
    """Return the look-alikes that the selected row stands for, if it stands for all of them."""
    row, listing = state.selected, state.listing
    if row is None or listing is None or not row.has_look_alikes:
        return ()
    return listing.look_alike_ids(row.look_alike)


def _one_of(row: Row, *, run_the_same: bool = False) -> str:
    """Return which of the specs that a row stands for is taken."""
    if row.role in (RowRole.KIND, RowRole.OPEN_KIND):
        return f"the most used of {row.count:,} that run the same"
    if run_the_same:
        return f"any of {row.count:,} that run the same"
    return f"the first of {row.count:,} look-alikes"


def _read_specs(
    catalog: Catalog, marks: Sequence[str], selected: Row | None, *, bare: bool = False
) -> Sequence[Spec]:
    """Read the marked specs, or the selected one.

    A `bare` hash does not wait for the edges, which name the compilers.
    """
    rows = [selected] if selected is not None else []
    if marks:
        rows = [row for hash_ in marks for row in catalog.by_hash(hash_)[:1]]
    return [row.spec if bare else catalog.with_compilers(row) for row in rows]
