"""The detail of the selected spec: its lines, its tree, and the size that its mirror knows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from spackscope.model.analysis.fit.session_fit import host_of
from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.dependency_tree import Section, Tree, read_tree
from spackscope.model.catalog.rows import Row
from spackscope.model.core.progress import ShouldStop
from spackscope.model.core.records import Spec
from spackscope.model.presentation.detail import detail
from spackscope.model.sources.archive_size import archive_size, size_source
from spackscope.model.sources.session import Session
from spackscope.tui.browser.relations import Relations
from spackscope.tui.browser.state import Details, Host, Results, Where

_REST = 0.4
"""Seconds that the cursor rests on a row before the size is requested from its mirror."""


class DetailsController:
    """Read what the detail pane shows."""

    def __init__(self, host: Host, sources: Sequence[str], session: Session) -> None:
        self._host = host
        self._sources, self._session = sources, session
        self._sizes: dict[str, float | None] = {}
        self._unfolded: frozenset[Section] = frozenset()
        self._shown: tuple[object, ...] = ()
        self._connecting: Catalog | None = None
        self._relations = Relations(host, session)

    def forget(self) -> None:
        """Forget the rows of a catalog that was replaced."""
        self._shown = ()
        self._host.cancel("detail", "size", "relations", "unfold")
        self._host.change(details=None)

    def connect(self) -> None:
        """Read the edges of a catalog once its rows are on the screen: trees need them."""
        catalog = self._host.state.catalog
        if catalog is None or catalog is self._connecting:
            return
        self._connecting = catalog
        self._host.run(
            lambda _: host_of(self._session),
            lambda machine: self._host.change(machine=machine),
            group="host",
        )
        self._host.run(
            lambda task: catalog.by_host.check_all(task), lambda _: None, group="fit", delay=_REST
        )
        self._host.run(
            lambda _: catalog.dependencies.prepare(),
            lambda _: self._connected(catalog),
            group="edges",
        )

    def _connected(self, catalog: Catalog) -> None:
        self._host.change(connected=catalog)
        if (details := self._host.state.details) is not None:
            self.show(details.row)

    def show(
        self, row: Row | None, tree: Tree | None = None, at: tuple[int, int] | None = None
    ) -> None:
        """Select the spec of a row; the lines of the last one stay until its own are read."""
        state = self._host.state
        if row is None or state.results is None:
            self.forget()
            return
        if tree is not None:
            self._unfolded = tree.unfolded_sections
        old = state.details
        is_same = old is not None and old.row.id == row.id
        if tree is None and is_same and old is not None:
            # What was unfolded stays so while a filter is typed.
            tree = old.tree
        results, connected = state.results, state.connected is state.catalog
        key = self._key(results, row, connected)
        if key == self._shown and is_same and at is None and old is not None:
            self._host.change(details=replace(old, row=row, at=None))
            return
        self._shown = key
        before = old or Details(row)
        self._host.change(details=replace(before, row=row, at=None, is_pending=True))
        self._host.cancel("size", "relations")
        reading = partial(self._read, results, Details(row, (), tree, at=at), connected)
        self._host.run(reading, lambda read: self._take(*read), group="detail")

    def _key(self, results: Results, row: Row, connected: bool) -> tuple[object, ...]:
        """Return all that the lines depend on: the same spec is not spelled twice."""
        listing = results.listing
        alike = listing.count_look_alikes(row.look_alike)
        shown = listing.shown if alike > 1 else 0
        varying = tuple(listing.varying_variants.items())
        size = self._sizes.get(row.spec.hash)
        return results.catalog, row.id, alike, shown, varying, size, connected

    def _read(
        self, results: Results, details: Details, connected: bool, _should_stop: ShouldStop
    ) -> tuple[Details, bool]:
        """Read lines and tree, and whether to request the size from the mirror."""
        catalog, listing, row = results.catalog, results.listing, details.row
        spec = catalog.with_compilers(row) if connected else row.spec
        # Whether it runs here is among the relations, which are read for any spec.
        spec = replace(spec, fit=None)
        if spec.size is None and spec.hash in self._sizes:
            spec = replace(spec, size=self._sizes[spec.hash])
        lines = detail(
            spec,
            varying=listing.varying_variants,
            alike=listing.count_look_alikes(row.look_alike),
            shown=listing.shown,
            provenance=catalog.provenance(row.id),
        )
        tree = details.tree
        if tree is None and connected:
            tree = read_tree(catalog, row.id, self._unfolded)
        asks = row.spec.hash not in self._sizes and size_source(row.spec, catalog.sources)
        return replace(details, lines=lines, tree=tree), bool(asks)

    def _take(self, details: Details, asks: bool) -> None:
        self._relate(details)
        spec, catalog = details.row.spec, self._host.state.catalog
        if asks and catalog is not None:
            reading = partial(self._read_size, catalog, spec)
            take = partial(self._take_size, spec.hash)
            self._host.run(reading, take, group="size", delay=_REST)

    def relate(self) -> None:
        """Show how the selected spec relates to others, after the marks changed."""
        details = self._host.state.details
        if details is not None and not details.is_pending:
            self._relate(replace(details, at=None))

    def _relate(self, details: Details) -> None:
        """Show details with what is known of the relations to other specs, and read the rest."""
        row = details.row
        self._host.change(details=replace(details, relations=self._relations.known(row)))
        self._relations.request(row)

    def _read_size(self, catalog: Catalog, spec: Spec, should_stop: ShouldStop) -> float | None:
        session = replace(self._session, should_stop=should_stop)
        return archive_size(spec, catalog.sources, session, self._sources)

    def _take_size(self, hash_: str, size: float | None) -> None:
        self._sizes[hash_] = size
        details = self._host.state.details
        if size is not None and details is not None and details.row.spec.hash == hash_:
            self.show(details.row)

    def take_tree(self, tree: Tree | None) -> None:
        """Store the tree as the user unfolded it."""
        details = self._host.state.details
        if tree is not None and details is not None and not details.is_pending:
            self._unfolded = tree.unfolded_sections
            self._host.change(details=replace(details, tree=tree, at=None))

    def missing_tree(self) -> str:
        """Explain why there are no dependencies to go to."""
        if self._host.state.details is None:
            return "no spec is selected"
        return "This source lists no dependencies"

    def is_late(self, where: Where, key: str) -> bool:
        """Check whether a key would meet lines or a tree that are still to be read."""
        if where.pane != "detail" and key not in ("t", "w"):
            return False
        return self._host.is_running("edges", "detail", "unfold")
