"""Mark specs, and end the program with those that are picked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from spackscope.model.catalog.rows import Row
from spackscope.tui.browser.query_history import QueryRecall
from spackscope.tui.browser.state import BrowserState, Host

MAX_MARKS = 500
"""Marks at most: more can be neither compared nor told apart."""

if TYPE_CHECKING:
    from spackscope.model.catalog.catalog import Catalog
    from spackscope.model.catalog.marked import MarkedSpec


class Selection:
    """Change the marks, which go by the hash and outlast queries.

    `on_marked` is called when the marks have changed.
    """

    def __init__(self, host: Host, recall: QueryRecall) -> None:
        self._host, self._recall = host, recall
        self._confirmed: Sequence[str] = ()
        self.on_marked: Callable[[], object] = lambda: None

    def mark(self, row: Row) -> None:
        """Mark all specs that a row stands for, or remove their marks if all are marked."""
        state = self._host.state
        if row.count == 1:
            self._toggle([row.spec.hash], row)
        elif state.catalog is not None and state.listing is not None:
            catalog, ids = state.catalog, state.listing.ids_of(row)[: MAX_MARKS + 1]
            self._host.run(
                lambda _: [each.spec.hash for each in catalog.rows(ids)],
                lambda hashes: self._toggle(hashes, row),
                group="marking",
            )

    def _toggle(self, hashes: Sequence[str], row: Row) -> None:
        marks = self._host.state.marks
        if set(hashes) <= set(marks):
            self._change(mark for mark in marks if mark not in set(hashes))
            return
        both = tuple(dict.fromkeys((*marks, *hashes)))
        if len(both) > MAX_MARKS:
            self._host.say(f"At most {MAX_MARKS} specs can be marked", error=True)
            return
        self._change(both)
        if row.count > 1:
            self._host.say(f"Marked {row.count:,} builds that look the same")

    def _change(self, marks: Iterable[str]) -> None:
        self._host.change(marks=tuple(marks))
        self.find()
        self.on_marked()

    def clear(self) -> None:
        """Remove all marks."""
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
            self._host.say("The row under the cursor was out of sight: ⏎ picks it now")
            return
        marks, hidden = state.marks, hidden_marks(state)
        if hidden and self._confirmed != marks:
            self._confirmed = marks
            self._host.say(
                f"{hidden:,} of {len(marks):,} marked specs are out of sight: "
                f"⏎ again picks {'all' if len(marks) > 1 else 'it'}, U clears the marks"
            )
            return
        hashes = [*marks] or [row.spec.hash]
        self._recall.remember(lambda: self._host.exit(hashes))


def hidden_marks(state: BrowserState) -> int:
    """Return how many marked specs are not among the rows."""
    return len(state.marks) - sum(spec.is_in(state.listing) for spec in state.marked)


def _read_marked(catalog: Catalog, marks: Sequence[str]) -> Sequence[MarkedSpec]:
    # Imported here, when the first spec is marked.
    from spackscope.model.catalog.marked import read_marked

    return read_marked(catalog, marks)
