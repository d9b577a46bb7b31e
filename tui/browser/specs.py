"""The rows of the table: open and close groups, mark specs, and pick them.

Look-alikes are folded into one row. The row opens into kinds, and a kind into single specs.
Marks are kept by hash, and outlast queries and catalogs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from spackscope.model.core.columns import SHORT_HASH, spec_name
from spackscope.model.core.frozen import replace
from spackscope.model.core.text import counted
from spackscope.model.index.catalog import Catalog, Row
from spackscope.model.index.order import RowRole, Sort
from spackscope.model.report.row_notes import members_of
from spackscope.tui.browser import jobs
from spackscope.tui.browser.browser_host import BrowserHost
from spackscope.tui.browser.details import DetailsController
from spackscope.tui.browser.remembered import (
    QueryRecall,
    cannot_be_hidden,
    change_hidden,
    column_word,
)
from spackscope.tui.browser.search import Search
from spackscope.tui.browser.state import BrowserState
from spackscope.tui.keymap import shown
from spackscope.tui.settings.checks import KEPT
from spackscope.tui.widgets.table_rows import MarkedSpec

MAX_MARKS = 500
"""Most marked specs: more can be neither compared nor told apart."""
_MAX_READ = 2 * MAX_MARKS + 1
"""Specs that are read to be marked: a hash may be in several documents."""


class SpecsController:
    """Open and close groups of look-alikes, mark specs, and end the program with picked specs."""

    def __init__(
        self,
        host: BrowserHost,
        search: Search,
        recall: QueryRecall,
        details: DetailsController,
    ) -> None:
        self._host, self._search, self._recall, self._details = host, search, recall, details
        self._confirmed: Sequence[str] = ()

    # The arrangement of the specs

    def sort(self, sort: Sort | None) -> None:
        """Order the rows by a column, or with None in the preferred order."""
        self._search.show(replace(self._host.state.view, sort=sort))

    def hide(self, column: str) -> None:
        """Hide a column, unless it names the rows."""
        if column in KEPT:
            self._host.say(cannot_be_hidden(column))
            return
        change_hidden(self._host, self._host.state.hidden_columns | {column})
        self._host.say(f"Hid {column_word(column)} ({shown('specs-columns')} brings it back)")

    def bring_back(self, column: str) -> None:
        """Show a hidden column again."""
        change_hidden(self._host, self._host.state.hidden_columns - {column})

    def choose(self, row: Row) -> None:
        """Pick a row or the marked specs, open or close a row of several, or go to a detail."""
        if self._host.state.is_pick:
            self.pick(row)
        elif row.count > 1:
            self.toggle(row)
        else:
            self._host.focus("detail")

    def leave(self) -> None:
        """Close the group of the row under the cursor, or go to the packages."""
        row = self._host.where.row
        if row is None or not self.close(row):
            self._host.focus("packages")

    # Groups

    def toggle(self, row: Row) -> None:
        """Open the group or the kind of a row that stands for several specs, or close it."""
        if row.is_open:
            self.close(row)
        else:
            self._open(row)

    def fold(self) -> None:
        """Open the folded row under the cursor; elsewhere fold or unfold all look-alikes."""
        where = self._host.where
        row = where.row if where.pane == "specs" and self._host.state.view.folded else None
        if row is not None and row.is_closed:
            self._open(row)
        else:
            self._search.fold()

    def _open(self, row: Row) -> None:
        """Open a row, with the cursor on it."""
        view = self._host.state.view
        if row.role is RowRole.KIND:
            view = replace(view, opened_kinds=view.opened_kinds | {row.id})
            row = replace(row, role=RowRole.OPEN_KIND)
        else:
            view = replace(view, opened=view.opened | {row.look_alike})
            row = replace(row, role=RowRole.GROUP)
        self._search.show(view, cursor_on=row)

    def close(self, row: Row) -> bool:
        """Close the kind or the group that a row belongs to; return False if there is none.

        The cursor goes to the row of the closed kind or group.
        """
        view, ids = self._host.state.view, self._around(row)
        if not ids:
            return False
        opened_kinds = view.opened_kinds.difference(ids)
        if self._opened_kind(row):
            view = replace(view, opened_kinds=opened_kinds)
            row = replace(row, id=ids[0], role=RowRole.KIND)
        else:
            opened = view.opened - {row.look_alike}
            view = replace(view, opened=opened, opened_kinds=opened_kinds)
            row = replace(row, role=RowRole.SPEC)
        self._search.show(view, cursor_on=row)
        return True

    def _around(self, row: Row) -> Sequence[int]:
        """Return the specs of the opened kind or group that a row belongs to; empty for none."""
        listing, view = self._host.state.listing, self._host.state.view
        # Where no dependencies are listed, an opened group is single specs without a head.
        is_single = row.role is RowRole.SPEC and row.look_alike not in view.opened
        if is_single or listing is None:
            return ()
        return self._opened_kind(row) or listing.look_alike_ids(row.look_alike)

    def _opened_kind(self, row: Row) -> Sequence[int]:
        listing = self._host.state.listing
        if listing is None or row.role not in (RowRole.MEMBER, RowRole.OPEN_KIND):
            return ()
        return listing.opened_kind(row.id, row.look_alike)

    # Marks

    def mark(self, row: Row) -> None:
        """Mark the hash that a row shows, or remove its mark."""
        listing = self._host.state.listing
        if row.count == 1:
            state, item = self._host.state, self._host.where.item
            self._toggle_mark(row, state.table.of_several(item))
        elif listing is not None:
            ids = listing.ids_of(row)
            mark = partial(self._toggle_mark, row)
            within = f"; opened, {shown('mark-all')} marks all"
            # The cursor has left the row: no key opens it from there.
            about = partial(of_several, row, ids, "")
            self._host.run(lambda _: about() + within, mark, jobs.MARKING, of=row.catalog)

    def _toggle_mark(self, row: Row, about: str) -> None:
        marks, hash_ = self._host.state.marks, row.spec.hash
        # A row of a comparison is about the spec of the column, and does not show its mark.
        is_told = about or self._host.state.table.sheet.switches
        if hash_ in marks:
            self._change(mark for mark in marks if mark != hash_)
            if is_told:
                self._host.say(f"Unmarked {hash_[:SHORT_HASH]}…")
        elif self._add([hash_]) and is_told:
            self._host.say(f"Marked {hash_[:SHORT_HASH]}…{about}")

    def mark_all(self) -> None:
        """Mark all specs of the opened row that the cursor is in, or else of all rows.

        If all these specs are marked already, remove their marks.
        """
        row = self._host.where.row if self._host.where.pane == "specs" else None
        opened = self._around(row) if row is not None else ()
        is_within = len(opened) > 1

        def toggle(hashes: Sequence[str]) -> None:
            marks, those = self._host.state.marks, set(hashes)
            if not those:
                self._host.say("No row is about a spec of these sources")
                return
            within = f"{len(those):,} builds of the opened row"
            these = within if is_within else counted(len(those), "shown spec")
            if those <= set(marks):
                self._change(mark for mark in marks if mark not in those)
                self._host.say(f"Unmarked {these}")
            elif self._add(hashes):
                self._host.say(f"Marked {these}")

        state = self._host.state
        catalog, table, view = state.catalog, state.table, state.view
        if (reason := state.table.why_not_shown(state)) or catalog is None:
            self._host.say(reason, error=True)
            return

        def read(_: object) -> Sequence[str]:
            """Read the hashes, a few more than may be marked."""
            if is_within:
                return catalog.hashes.of(opened)
            return [*table.sheet_of(catalog, view).cut(_MAX_READ).hashes()]

        self._host.run(read, toggle, jobs.MARKING)

    def _add(self, hashes: Sequence[str]) -> bool:
        """Mark more specs; return False if there would be too many marks."""
        both = tuple(dict.fromkeys((*self._host.state.marks, *hashes)))
        if len(both) > MAX_MARKS:
            self._host.say(
                f"At most {MAX_MARKS} specs can be marked; "
                f"{shown('export')} and {shown('copy-as')} work on all rows without marks",
                error=True,
            )
            return False
        self._change(both)
        return True

    def clear(self) -> None:
        """Remove all marks."""
        self._change(())

    def _change(self, marks: Iterable[str]) -> None:
        self._host.change(marks=tuple(marks))
        self.find()
        self._details.show_again()

    def find(self) -> None:
        """Find the marked specs in the catalog that are not known yet."""
        state = self._host.state
        known = {spec.hash: spec for spec in state.marked}
        self._host.change(marked=tuple(known[mark] for mark in state.marks if mark in known))
        if (catalog := state.catalog) is None or known.keys() >= set(state.marks):
            self._host.cancel(jobs.MARKED)
            return
        self._host.run(
            lambda _: _read_marked(catalog, state.marks),
            lambda marked: self._host.change(marked=marked),
            jobs.MARKED,
            of=catalog,
        )

    def pick(self, row: Row) -> None:
        """End the program with the marked specs, or with one row.

        Marked specs out of sight are picked only after a message about them.
        """
        state = self._host.state
        marks, hidden = state.marks, hidden_marks(state)
        # A newer catalog may have asked for the same view again: the row is still what was seen.
        if state.listing is None or state.listing.view.query != state.view.query:
            self._host.say(state.table.why_not_shown(state), error=True)
        elif not marks and not self._host.where.is_row_seen:
            self._host.say(
                "The row under the cursor was out of sight: "
                f"press {shown('specs-open')} again to pick it"
            )
        elif hidden and self._confirmed != marks:
            self._confirmed = marks
            are = "is" if len(marks) == 1 else "are"
            self._host.say(
                f"{hidden:,} of {counted(len(marks), 'marked spec')} {are} out of sight: "
                f"{shown('specs-open')} again picks {'all' if len(marks) > 1 else 'it'}, "
                f"{shown('unmark')} clears the marks"
            )
        else:
            hashes = [*marks] or [row.spec.hash]
            # In a job of its own, which no step replaces.
            self._recall.remember(lambda: self._host.exit(hashes), jobs.REMEMBER_QUERY)


def of_several(row: Row, ids: Sequence[int], key: str) -> str:
    """Return why a row shows the hash that it shows, of several specs: a remark for a message.

    `key` opens the row, as it is shown; it is empty if none does where the user is.
    """
    members = members_of(row, ids)
    if members.run_differently:
        opens = f" ({key} shows them)" if key and row.role is RowRole.SPEC else ""
        return f" · {members.choice}, {members.kinds:,} ways to run{opens}"
    count = f"{len(ids):,}"
    if members.kinds:
        return f", any of {count} that run the same"
    return f", one of {count} that look the same (dependencies are not listed)"


def hidden_marks(state: BrowserState) -> int:
    """Return how many marked specs are not among the rows."""
    return len(state.marks) - len(state.marks_in_sight)


def _read_marked(catalog: Catalog, marks: Sequence[str]) -> tuple[MarkedSpec, ...]:
    marked = []
    for hash_ in marks:
        if rows := catalog.by_hash(hash_):
            spec = rows[0].spec
            title = spec_name(spec.package, spec.version)
            look_alikes = frozenset(row.look_alike for row in rows)
            marked.append(MarkedSpec(hash_, title, tuple(row.id for row in rows), look_alikes))
    return tuple(marked)
