"""Specs side by side: read in a worker thread, shown while they are compared."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from spackscope.model.analysis.dag import Walker, dag_of, spec_at
from spackscope.model.core.columns import SHORT_HASH
from spackscope.model.core.tasks import ShouldStop
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.rows import Row
from spackscope.tui.browser.copy import copy_text
from spackscope.tui.browser.navigation import Navigation
from spackscope.tui.browser.state import Host, Task
from spackscope.tui.keymap import shown

# What only the dialog needs is imported when that is first opened.
if TYPE_CHECKING:
    from spackscope.model.index.listing import Listing
    from spackscope.model.report.comparison import ComparedTable
    from spackscope.tui.dialogs.compare import CompareScreen, Destination

_TOO_FEW = "Only one of the marked specs is in the index"

ReadIds = Callable[[Catalog, "Listing | None"], Sequence[int]]


def nothing_to_compare() -> str:
    """Return what to do before specs can be compared."""
    mark, compare = shown("specs-mark"), shown("compare")
    return f"Mark two rows ({mark}), or go to a row with look-alikes, then press {compare}."


class SideBySide:
    """Open a comparison, fill it, and go where the user chooses to."""

    def __init__(self, host: Host, navigation: Navigation) -> None:
        self._host, self._navigation = host, navigation
        self._catalog: Catalog | None = None
        self._known: dict[Hashable, ComparedTable] = {}

    def compare(self) -> None:
        """Compare the marked rows, or the look-alikes of the row under the cursor."""
        state, selected = self._host.state, self._host.state.selected
        catalog, marks = state.catalog, state.marks
        if catalog is None or selected is None:
            self._host.say(nothing_to_compare())
            return
        others = [mark for mark in marks if mark != selected.spec.hash]
        hash_ = selected.spec.hash
        if len(marks) >= 2:
            self._open_comparison(partial(_ids_of, marks), hash_)
        elif others and selected.count == 1:
            self._open_comparison(partial(_ids_of, (*others, hash_)), hash_)
        elif beside := self._beside():
            self._open_comparison(partial(_ids_of, (hash_, beside)), hash_)
        elif len(_look_alikes(catalog, state.listing, selected)) < 2:
            self._host.say(nothing_to_compare())
        else:
            self._open_comparison(_reading_look_alikes(hash_), hash_)

    def _beside(self) -> str:
        """Return the hash that the row of a sheet is compared with, if it names one."""
        opened, item = self._host.state.sheet, self._host.where.item
        if opened is None or opened.sheet is None or item is None:
            return ""
        return opened.sheet.beside(item)

    def _open_comparison(self, read_ids: ReadIds, selected: str) -> None:
        from spackscope.tui.dialogs.compare import CompareScreen

        def copy(hash_: str) -> None:
            copy_text(self._host, hash_, f"{hash_[:SHORT_HASH]}…", screen.say)

        def fill(by_kind: bool) -> None:
            self._fill_comparison(screen, read_ids, screen.column_hash or selected, by_kind)

        def go(destination: Destination | None) -> None:
            catalog = self._host.state.catalog
            if destination is not None and catalog is not None:
                # Another catalog may have come meanwhile, in which the spec has another id.
                reading = partial(_find, catalog, destination)
                self._host.run(reading, self._navigation.jump, group="path")

        screen = CompareScreen(copy, fill)
        self._host.open(
            screen,
            go,
            ask=lambda: fill(screen.is_grouped),
            group="compare",
        )

    def _fill_comparison(
        self, screen: CompareScreen, read_ids: ReadIds, selected: str, by_kind: bool
    ) -> None:
        """Read a table, or take one that was read before; it replaces another one as a whole."""
        from spackscope.model.report.comparison import read_comparison

        catalog, listing = self._host.state.catalog, self._host.state.listing
        is_first = screen.table is None
        if catalog is None:
            return
        if catalog is not self._catalog:
            self._catalog, self._known = catalog, {}
        known = self._known

        def job(task: Task) -> tuple[Hashable, ComparedTable, int | None] | None:
            ids = tuple(read_ids(catalog, listing))
            graph = dag_of(catalog)
            if len(set(map(graph.identity, ids))) < 2:
                return None
            cursor_on = graph.find([selected]).get(selected)

            def show(part: ComparedTable) -> None:
                if is_first:
                    task.report(lambda: screen.show_table(part, cursor_on))

            table = known.get((ids, by_kind)) or read_comparison(
                graph, ids, by_kind=by_kind, should_stop=task, show=show
            )
            return (ids, by_kind), table, cursor_on

        def done(read: tuple[Hashable, ComparedTable, int | None] | None) -> None:
            if read is None:
                screen.show_failure(_TOO_FEW)
                return
            key, known[key], cursor_on = read
            screen.show_table(known[key], cursor_on)

        self._host.run(job, done, group="compare")


def _ids_of(
    hashes: Sequence[str], catalog: Catalog, _listing: Listing | None = None
) -> Sequence[int]:
    return [row.id for hash_ in hashes for row in catalog.by_hash(hash_)]


def _look_alikes(catalog: Catalog, listing: Listing | None, row: Row) -> Sequence[int]:
    """Return the look-alikes that are shown, or if it is one only, all in the index."""
    ids = listing.look_alike_ids(row.look_alike) if listing is not None else ()
    return ids if len(ids) > 1 else range(*catalog.span(row.look_alike))


def _reading_look_alikes(hash_: str) -> ReadIds:
    """Return a function that reads the look-alikes of a spec in a catalog.

    Those that a newer catalog tells apart stay among them.
    """
    hashes = [hash_]

    def read(catalog: Catalog, listing: Listing | None) -> Sequence[int]:
        known = _ids_of(hashes, catalog)
        alike = _look_alikes(catalog, listing, catalog.rows(known[:1])[0]) if known else ()
        ids = list(dict.fromkeys([*alike, *known]))
        hashes[:] = dict.fromkeys(row.spec.hash for row in catalog.rows(ids))
        return ids

    return read


def _find(catalog: Catalog, destination: Destination, _should_stop: ShouldStop) -> int | None:
    """Find what a row is about below a spec, where the path to it may be another one."""
    graph, path = dag_of(catalog), destination.path
    start = graph.find([destination.hash]).get(destination.hash)
    if start is None or not path:
        return start
    if (id_ := spec_at(graph, start, path)) is not None:
        return id_
    below = Walker(graph).walk([start], run_only=False).nodes
    return min(below.get(path[-1], ()), default=None)
