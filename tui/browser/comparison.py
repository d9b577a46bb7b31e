"""Compare the marked specs, or look-alikes, on a screen of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from spackscope.model.analysis.dag import Walker, dag_of, spec_at
from spackscope.model.core.columns import SHORT_HASH
from spackscope.model.core.tasks import ShouldStop
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.rows import Row
from spackscope.model.report.comparison import ComparedTable, read_comparison
from spackscope.tui.browser.copy import CopyController
from spackscope.tui.browser.navigation import Navigation
from spackscope.tui.browser.state import Host, Task
from spackscope.tui.dialogs.compare import CompareScreen, Destination
from spackscope.tui.keymap import shown

if TYPE_CHECKING:
    from spackscope.model.index.listing import Listing

_TOO_FEW = "Only one of the marked specs is in the index"
_MAX_TABLES = 16
"""Tables that are kept of a catalog, to be shown again at once."""

Key = tuple[tuple[int, ...], bool]
ReadIds = Callable[[Catalog, "Listing | None"], Sequence[int]]


def nothing_to_compare() -> str:
    """Return what to do before specs can be compared."""
    mark, compare = shown("specs-mark"), shown("compare")
    return f"Mark two rows ({mark}), or go to a row with look-alikes, then press {compare}."


class ComparisonController:
    """Open the screen, fill it as its parts are read, and do what it asks for."""

    def __init__(self, host: Host, navigation: Navigation, copying: CopyController) -> None:
        self._host, self._navigation, self._copying = host, navigation, copying
        self._tables: dict[Key, ComparedTable] = {}
        self._catalog: Catalog | None = None

    def open(self) -> None:
        """Compare the marked rows, or the look-alikes of the row under the cursor."""
        state, selected = self._host.state, self._host.state.selected
        catalog, marks = state.catalog, state.marks
        if catalog is None or selected is None:
            self._host.say(nothing_to_compare())
            return
        others = [mark for mark in marks if mark != selected.spec.hash]
        if len(marks) >= 2:
            hashes: Sequence[str] = marks
        elif others and selected.count == 1:
            hashes = (*others, selected.spec.hash)
        else:
            hashes = ()
        if not hashes and len(_look_alikes(catalog, state.listing, selected)) < 2:
            self._host.say(nothing_to_compare())
            return
        hash_ = selected.spec.hash
        self._show(partial(_ids_of, hashes) if hashes else _LookAlikes(hash_).ids, hash_)

    def compare(self, hashes: Sequence[str]) -> None:
        """Compare specs by their hashes."""
        self._show(partial(_ids_of, hashes))

    def _show(self, read_ids: ReadIds, selected: str = "") -> None:
        def copy(hash_: str) -> None:
            self._copying.copy_text(hash_, f"{hash_[:SHORT_HASH]}…", screen.say)

        def fill(by_kind: bool) -> None:
            self._fill(screen, read_ids, screen.column_hash or selected, by_kind)

        screen = CompareScreen(copy, fill)
        self._host.open(
            screen,
            self._leave,
            ask=lambda: fill(screen.report is None or screen.report.is_by_kind),
            group="compare",
        )

    def _fill(
        self, screen: CompareScreen, read_ids: ReadIds, selected: str, by_kind: bool
    ) -> None:
        """Read a table, or take one that was read before; it replaces another one as a whole."""
        catalog, listing = self._host.state.catalog, self._host.state.listing
        is_first = screen.report is None
        if catalog is None:
            return
        if catalog is not self._catalog:
            self._catalog, self._tables = catalog, {}

        def job(task: Task) -> tuple[Key, ComparedTable, int | None] | None:
            key = tuple(read_ids(catalog, listing)), by_kind
            graph = dag_of(catalog)
            if len(set(map(graph.identity, key[0]))) < 2:
                return None
            cursor_on = graph.find([selected]).get(selected)

            def show(part: ComparedTable) -> None:
                if is_first:
                    task.report(lambda: screen.show_table(part, cursor_on))

            table = self._tables.get(key) or read_comparison(
                graph, key[0], by_kind=by_kind, should_stop=task, show=show
            )
            return key, table, cursor_on

        def done(read: tuple[Key, ComparedTable, int | None] | None) -> None:
            if read is None:
                screen.show_failure(_TOO_FEW)
                return
            key, table, cursor_on = read
            self._tables[key] = table
            while len(self._tables) > _MAX_TABLES:
                del self._tables[next(iter(self._tables))]
            screen.show_table(table, cursor_on)

        self._host.run(job, done, group="compare")

    def _leave(self, destination: Destination | None) -> None:
        """Stop reading, and go to what the user chose."""
        self._host.cancel("compare")
        catalog = self._host.state.catalog
        if destination is None or catalog is None:
            return
        # Another catalog may have come in the meantime, in which the spec has another id.
        reading = partial(_find, catalog, destination)
        self._host.run(reading, self._navigation.jump, group="path")


class _LookAlikes:
    """The look-alikes of a spec; those that a newer catalog tells apart stay among them."""

    def __init__(self, hash_: str) -> None:
        self._hashes = [hash_]

    def ids(self, catalog: Catalog, listing: Listing | None) -> Sequence[int]:
        """Return their ids in a catalog."""
        known = _ids_of(self._hashes, catalog)
        alike = _look_alikes(catalog, listing, catalog.rows(known[:1])[0]) if known else ()
        ids = list(dict.fromkeys([*alike, *known]))
        self._hashes = list(dict.fromkeys(row.spec.hash for row in catalog.rows(ids)))
        return ids


def _ids_of(
    hashes: Sequence[str], catalog: Catalog, _listing: Listing | None = None
) -> Sequence[int]:
    return [row.id for hash_ in hashes for row in catalog.by_hash(hash_)]


def _look_alikes(catalog: Catalog, listing: Listing | None, row: Row) -> Sequence[int]:
    """Return the look-alikes that are shown, or if it is one only, all in the index."""
    shown = listing.look_alike_ids(row.look_alike) if listing is not None else ()
    return shown if len(shown) > 1 else range(*catalog.span(row.look_alike))


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
