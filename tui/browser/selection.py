"""Mark specs, one by one, all or a range, and end the program with those that are picked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from spackscope.model.core.columns import SHORT_HASH
from spackscope.model.core.text import clean, counted
from spackscope.model.index.rows import Row
from spackscope.tui.browser.query_history import QueryRecall
from spackscope.tui.browser.row_groups import RowGroups, why_several
from spackscope.tui.browser.state import BrowserState, Host
from spackscope.tui.keymap import shown

MAX_MARKS = 500
"""Marks at most: more can be neither compared nor told apart."""

_MAX_READ = 2 * MAX_MARKS + 1
"""Specs that are read to be marked: a hash may be in several documents."""

if TYPE_CHECKING:
    from spackscope.model.index.catalog import Catalog
    from spackscope.model.index.listing import Listing, MarkedSpec


class Selection:
    """Change the marks, which go by the hash and outlast queries.

    `on_marked` is called when the marks have changed.
    """

    def __init__(self, host: Host, recall: QueryRecall, groups: RowGroups) -> None:
        self._host, self._recall, self._groups = host, recall, groups
        self._confirmed: Sequence[str] = ()
        self._last: Row | None = None
        self.on_marked: Callable[[], object] = lambda: None

    def mark(self, row: Row) -> None:
        """Mark the hash that a row shows, or remove its mark.

        A folded row of several kinds shows none, and is opened.
        """
        state = self._host.state
        self._last = row
        if row.count == 1:
            self._toggle(row)
        elif state.catalog is not None and state.listing is not None:
            catalog, ids = state.catalog, state.listing.ids_of(row)

            def mark(why: str) -> None:
                if why:
                    self._groups.open_to_choose(row, f"{why} to mark")
                else:
                    self._toggle(row)

            self._host.run(lambda _: why_several(catalog, row, ids), mark, group="marking")

    def _toggle(self, row: Row) -> None:
        marks, hash_ = self._host.state.marks, row.spec.hash
        if hash_ in marks:
            self._change(mark for mark in marks if mark != hash_)
        elif self._add([hash_]) and row.count > 1:
            within = f"{shown('mark-all')} within it marks all"
            self._host.say(f"Marked {hash_[:SHORT_HASH]}…{any_of(row.count)}: {within}")

    def mark_all(self) -> None:
        """Mark all specs of the opened row that the cursor is in, or else of all rows.

        Where all of them are marked, remove their marks.
        """
        row = self._host.where.row if self._host.where.pane == "specs" else None
        opened = self._groups.around(row) if row is not None else ()
        is_within = len(opened) > 1

        def toggle(hashes: Sequence[str]) -> None:
            marks, those = self._host.state.marks, set(hashes)
            self._last = None
            within = f"{len(those):,} builds of the opened row"
            these = within if is_within else counted(len(those), "shown spec")
            if those <= set(marks):
                self._change(mark for mark in marks if mark not in those)
                self._host.say(f"Unmarked {these}")
            elif self._add(hashes):
                self._host.say(f"Marked {these}")

        self._read_hashes(
            lambda catalog, listing: opened if is_within else listing.values.specs, toggle
        )

    def mark_range(self) -> None:
        """Mark the rows from the one marked last to the one under the cursor; else begin here."""
        last, row = self._last, self._host.where.row
        rows: list[Row] = []

        def read(catalog: Catalog, listing: Listing) -> Sequence[int]:
            if row is not None:
                rows.extend(_range(last or row, row, catalog, listing))
            return [
                each.id
                for each in rows
                if each.count == 1 or not why_several(catalog, each, listing.ids_of(each))
            ]

        def add(hashes: Sequence[str]) -> None:
            if not rows and last is not None:
                # Its row is not shown any more.
                self._last = None
                self.mark_range()
            elif rows and self._add(hashes):
                self._last = row
                left_out = len(rows) - len(hashes)
                after = f", {left_out:,} without a hash left out" if left_out else ""
                marked = f"Marked a range of {counted(len(hashes), 'spec')}{after}"
                self._host.say(range_begins() if last is None else marked)

        self._read_hashes(read, add)

    def _read_hashes(
        self,
        read: Callable[[Catalog, Listing], Sequence[int]],
        done: Callable[[Sequence[str]], object],
    ) -> None:
        """Read the hashes of some of the specs that are shown, a few more than may be marked."""
        # Imported here, when rows are first marked together.
        from spackscope.tui.browser.shown_rows import why_not_shown

        state = self._host.state
        catalog, listing = state.catalog, state.listing
        if (reason := why_not_shown(state)) or catalog is None or listing is None:
            self._host.say(reason, error=True)
            return

        def job(_: object) -> Sequence[str]:
            ids = read(catalog, listing)[:_MAX_READ]
            return [*dict.fromkeys(row.spec.hash for row in catalog.rows(ids))]

        self._host.run(job, done, group="marking")

    def _add(self, hashes: Sequence[str]) -> bool:
        """Mark specs besides those that are marked; return False if these are too many."""
        both = tuple(dict.fromkeys((*self._host.state.marks, *hashes)))
        if len(both) > MAX_MARKS:
            self._host.say(
                f"At most {MAX_MARKS} specs can be marked; "
                f"{shown('export')} and {shown('copy-as')} take all rows without marks",
                error=True,
            )
            return False
        self._change(both)
        return True

    def _change(self, marks: Iterable[str]) -> None:
        self._host.change(marks=tuple(marks))
        self.find()
        self.on_marked()

    def clear(self) -> None:
        """Remove all marks."""
        self._last = None
        self._change(())

    def find(self) -> None:
        """Find the marked specs in a new catalog, where they have other ids."""
        state = self._host.state
        known = {spec.hash: spec for spec in state.marked}
        self._host.change(marked=tuple(known[mark] for mark in state.marks if mark in known))
        if (catalog := state.catalog) is None or known.keys() >= set(state.marks):
            self._host.cancel("marks")
            return
        self._host.run(
            lambda _: _read_marked(catalog, state.marks),
            lambda marked: self._host.change(marked=marked),
            group="marks",
        )

    def forget(self) -> None:
        """Find the marked specs again: another catalog has come."""
        self._host.change(marked=())
        self.find()

    def pick(self, row: Row) -> None:
        """End the program with the marked specs, or with one row.

        Marks out of sight are taken only if that was said before.
        """
        state = self._host.state
        if not state.is_shown:
            return
        if not state.marks and not self._host.where.is_row_seen:
            self._host.say(
                f"The row under the cursor was out of sight: {shown('specs-open')} picks it now"
            )
            return
        marks, hidden = state.marks, hidden_marks(state)
        if hidden and self._confirmed != marks:
            self._confirmed = marks
            are = "is" if len(marks) == 1 else "are"
            self._host.say(
                f"{hidden:,} of {counted(len(marks), 'marked spec')} {are} out of sight: "
                f"{shown('specs-open')} again picks {'all' if len(marks) > 1 else 'it'}, "
                f"{shown('unmark')} clears the marks"
            )
            return
        hashes = [*marks] or [row.spec.hash]
        self._recall.remember(lambda: self._host.exit(hashes))


def any_of(count: int) -> str:
    """Return which specs the hash of a folded row stands for."""
    return f", any of {count:,} that run the same"


def range_begins() -> str:
    """Return what to do next to mark a range."""
    return f"The range begins here: press {shown('specs-mark-range')} on its last row"


def hidden_marks(state: BrowserState) -> int:
    """Return how many marked specs are not among the rows."""
    return len(state.marks) - sum(spec.is_in(state.listing) for spec in state.marked)


def _range(last: Row, row: Row, catalog: Catalog, listing: Listing) -> Sequence[Row]:
    """Return the rows from one to another.

    Empty if one of the two is not in the listing any more.
    """
    numbers = [listing.row_of(each.id, each.look_alike, each.role) for each in (last, row)]
    found = [number for number in numbers if number is not None]
    if len(found) < len(numbers):
        return ()
    rows = slice(min(found), min(max(found) + 1, min(found) + _MAX_READ))
    return catalog.rows(*listing.part(rows))


def _read_marked(catalog: Catalog, marks: Sequence[str]) -> tuple[MarkedSpec, ...]:
    # Imported here, when the first spec is marked.
    from spackscope.model.index.listing import MarkedSpec

    marked = []
    for hash_ in marks:
        if rows := catalog.by_hash(hash_):
            spec = rows[0].spec
            title = clean(f"{spec.package}@{spec.version}" if spec.version else spec.package)
            look_alikes = frozenset(row.look_alike for row in rows)
            marked.append(MarkedSpec(hash_, title, tuple(row.id for row in rows), look_alikes))
    return tuple(marked)
