"""Compute notes on rows of look-alikes: how many specs use them, and how their kinds differ."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.listing import Listing
from spackscope.model.catalog.rows import Row
from spackscope.model.catalog.view import RowRole
from spackscope.model.core.bounded_cache import BoundedCache
from spackscope.model.core.errors import Cancelled
from spackscope.model.core.tasks import ShouldStop, never
from spackscope.model.presentation.kinds import (
    ALL_RUN_THE_SAME,
    BUILD_TOOLS_ONLY,
    UNLISTED,
    differing_lines,
    telling_packages,
)

# The analyses are imported in the thread that needs them, after the first rows are shown.
if TYPE_CHECKING:
    from spackscope.model.analysis.kinds.run_kinds import Kind

_BYTES_OF_AN_ID = 100

MAX_COMPARED = 500
"""Kinds of a group, or specs of a kind, that are compared: real ones are a hundred."""


class RowNote(NamedTuple):
    """The texts of a row that are not in its record.

    `users` is the number of specs that depend on it, None if no dependencies are listed; `kinds`
    stands in place of the hash of several kinds, and `differs` says what its specs differ in. A
    note that is not `is_whole` is to be read again with `whole`.
    """

    users: int | None = None
    kinds: str = ""
    differs: str = ""
    is_whole: bool = True


class _Compared(NamedTuple):
    """The packages that tell groups apart, and a line on each group."""

    packages: str
    lines: Sequence[str]


NoteKey = tuple[int, RowRole, int]
"""The id, the role and the count of a row: what its note belongs to."""


def note_key(row: Row) -> NoteKey:
    """Return the key under which the note of a row is kept."""
    return row.id, row.role, row.count


def row_notes(catalog: Catalog) -> RowNotes:
    """Return the notes on the rows of a catalog, which are computed once."""
    return catalog.cached(RowNotes)


class RowNotes:
    """Computes notes in worker threads, and keeps the kinds of some groups."""

    def __init__(self, catalog: Catalog) -> None:
        from spackscope.model.analysis.graphs.spec_graph import spec_graph

        self._graph = spec_graph(catalog)
        self._kinds: BoundedCache[tuple[int, ...], tuple[Kind, ...]] = BoundedCache(
            lambda kinds: _BYTES_OF_AN_ID * sum(len(kind.ids) for kind in kinds)
        )
        self._comparisons: BoundedCache[tuple[int, ...], _Compared] = BoundedCache(
            lambda compared: sum(map(len, compared.lines))
        )

    def kinds(self, ids: Sequence[int], *, should_stop: ShouldStop = never) -> tuple[Kind, ...]:
        """Return the run-time kinds of look-alikes. Raises Cancelled and IndexDamaged."""
        from spackscope.model.analysis.kinds.run_kinds import run_kinds

        return self._kinds.get(
            tuple(ids), lambda: run_kinds(self._graph, ids, should_stop=should_stop)
        )

    def partition(self, ids: Sequence[int]) -> Sequence[Sequence[int]]:
        """Return the specs of each kind; empty if their source lists no dependencies."""
        kinds = self.kinds(ids)
        return [kind.ids for kind in kinds] if all(kind.is_known for kind in kinds) else ()

    def of(
        self, listing: Listing, rows: Iterable[Row], *, should_stop: ShouldStop = never
    ) -> dict[NoteKey, RowNote]:
        """Return the notes on some rows of a listing, those of folded kinds not whole.

        Raises Cancelled and IndexDamaged.
        """
        notes = {}
        for row in rows:
            if should_stop():
                raise Cancelled
            notes[note_key(row)] = self._note(listing, row, should_stop)
        return notes

    def whole(
        self,
        listing: Listing,
        rows: Iterable[Row],
        notes: Mapping[NoteKey, RowNote],
        *,
        should_stop: ShouldStop = never,
    ) -> dict[NoteKey, RowNote]:
        """Complete the notes that were not whole with what the kinds differ in."""
        whole = {}
        for row in rows:
            note = notes[note_key(row)]
            if not note.is_whole:
                kinds = self.kinds(listing.look_alike_ids(row.look_alike))
                compared = self._compared([k.ids for k in kinds], should_stop, run_only=True)
                whole[note_key(row)] = note._replace(differs=compared.packages, is_whole=True)
        return whole

    def _note(self, listing: Listing, row: Row, should_stop: ShouldStop) -> RowNote:
        if not self._graph.lists_dependencies(row.id):
            return RowNote(None, "", UNLISTED if row.count > 1 else "")
        if row.role is RowRole.SPEC and row.count == 1:
            return RowNote(len(self._graph.dependents(row.id)))
        kinds = self.kinds(listing.look_alike_ids(row.look_alike), should_stop=should_stop)
        if row.role in (RowRole.SPEC, RowRole.GROUP):
            users = sum(kind.total_users for kind in kinds)
            if len(kinds) == 1:
                is_head = row.role is RowRole.GROUP
                return RowNote(users, "", ALL_RUN_THE_SAME if is_head else BUILD_TOOLS_ONLY)
            is_open = row.role is RowRole.GROUP
            return RowNote(users, f"{len(kinds):,} kinds", "", is_whole=is_open)
        number = next(number for number, kind in enumerate(kinds) if row.id in kind.ids)
        kind = kinds[number]
        if row.role is RowRole.MEMBER:
            at = kind.ids.index(row.id)
            builds = self._compared([(id_,) for id_ in kind.ids], should_stop, run_only=False)
            return RowNote(kind.users[at], "", builds.lines[at])
        compared = self._compared([kind.ids for kind in kinds], should_stop, run_only=True)
        return RowNote(kind.total_users, "", compared.lines[number])

    def _compared(
        self, groups: Sequence[tuple[int, ...]], should_stop: ShouldStop, *, run_only: bool
    ) -> _Compared:
        """Return the packages that differ between groups, and a line on each group."""
        from spackscope.model.analysis.kinds.varying import varying

        def compute() -> _Compared:
            if len(groups) > MAX_COMPARED:
                return _Compared(
                    "", [f"one of {len(groups):,}, too many to compare"] * len(groups)
                )
            rows = varying(self._graph, groups, run_only=run_only, should_stop=should_stop)
            return _Compared(telling_packages(rows), differing_lines(rows, list(map(len, groups))))

        key = (int(run_only), *(id_ for ids in groups for id_ in ids))
        return self._comparisons.get(key, compute)
