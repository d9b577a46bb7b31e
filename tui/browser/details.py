"""The detail of the selected spec: its lines, its tree, and what its mirrors answer."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING

from spackscope.model.analysis.session_fit import host_of
from spackscope.model.core.frozen import replace
from spackscope.model.core.records import Spec
from spackscope.model.core.tasks import ShouldStop
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.rows import Row
from spackscope.tui.browser.mirror_answers import MirrorAnswers
from spackscope.tui.browser.state import Details, Host, Results, Where
from spackscope.tui.keymap import key_names, shown

if TYPE_CHECKING:
    from spackscope.model.index.tree import Section, Tree
    from spackscope.model.report.detail import DetailLine, Members
    from spackscope.model.sources.session import Session
    from spackscope.tui.browser.relations import Relations

_PACE = 0.15
"""Seconds between the starts of two readings: a held key passes many rows."""
_REST = 0.4
"""Seconds before all specs are checked against the host."""


class DetailsController:
    """Read what the detail pane shows."""

    def __init__(
        self, host: Host, sources: Sequence[str], session: Session, mirrors: MirrorAnswers
    ) -> None:
        self._host, self._mirrors = host, mirrors
        self._sources, self._session = sources, session
        self._unfolded: frozenset[Section] = frozenset()
        self._run_only = self._shows_tree = False
        self._shown: tuple[object, ...] = ()
        self._connecting: Catalog | None = None
        self._reading_at = 0.0

    @cached_property
    def _relations(self) -> Relations:
        """How specs relate to others: needed once the first one is shown."""
        from spackscope.tui.browser.relations import Relations

        return Relations(self._host, self._session, self._sources)

    def forget(self) -> None:
        """Forget the rows of a catalog that was replaced, and what mirrors answered."""
        self._mirrors.forget()
        self._clear()

    def look_again(self) -> None:
        """Ask mirrors anew about the selected spec."""
        self._mirrors.forget()
        if (details := self._host.state.details) is not None:
            self.show(details.row)

    def _clear(self) -> None:
        """Show no spec."""
        self._shown = ()
        self._mirrors.cancel()
        self._host.cancel("detail", "relations", "unfold")
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
            lambda _: catalog.edges.prepare(),
            lambda _: self._connected(catalog),
            group="edges",
        )

    def _connected(self, catalog: Catalog) -> None:
        self._host.change(connected=catalog)
        if (details := self._host.state.details) is not None:
            self.show(details.row)

    def show(
        self,
        row: Row | None,
        tree: Tree | None = None,
        at: tuple[int, int] | None = None,
        *,
        shows_tree: bool | None = None,
    ) -> None:
        """Select the spec of a row; the lines of the last one stay until its own are read.

        `shows_tree` shows the tree in place of the lines, or again the lines.
        """
        state = self._host.state
        if row is None or state.results is None:
            self._clear()
            return
        if tree is not None:
            self._store_options(tree)
        old = state.details
        is_same = old is not None and old.row.id == row.id and _stands_for_same(old.row, row)
        if tree is None and is_same and old is not None:
            # What was unfolded stays so while a filter is typed.
            tree = old.tree
        if shows_tree is not None:
            self._shows_tree = shows_tree
        results, connected = state.results, state.connected is state.catalog
        key = self._key(results, row, connected)
        if key == self._shown and is_same and at is None and old is not None:
            self._host.change(details=replace(old, row=row, at=None, shows_tree=self._shows_tree))
            return
        self._shown = key
        before = old or Details(row)
        self._host.change(details=replace(before, row=row, at=None, is_pending=True))
        self._mirrors.cancel()
        self._host.cancel("relations")
        new = Details(row, (), tree, at=at, shows_tree=self._shows_tree)
        reading = partial(self._read, results, new, connected)
        self._host.run(
            reading, lambda read: self._take(*read), group="detail", delay=self._delay()
        )

    def _delay(self) -> float:
        """Return after how many seconds to read: at once, unless that was done just now."""
        now = time.monotonic()
        if self._reading_at <= now:
            self._reading_at = max(now, self._reading_at + _PACE)
        return self._reading_at - now

    def _store_options(self, tree: Tree) -> None:
        """Remember how a tree is shown, for the trees of other specs."""
        self._unfolded, self._run_only = tree.unfolded_sections, tree.run_only

    def _key(self, results: Results, row: Row, connected: bool) -> tuple[object, ...]:
        """Return all that the lines depend on: the same spec is not spelled twice."""
        listing = results.listing
        alike = listing.count_look_alikes(row.look_alike)
        shown = listing.shown if alike > 1 else 0
        varying = tuple(self._varying(results, row).items())
        answer = self._mirrors.of(row.spec)
        kind = row.count, row.role
        return results.catalog, row.id, kind, alike, shown, varying, answer, connected

    def _varying(self, results: Results, row: Row) -> Mapping[str, int]:
        """Return the variants that vary within the package of a row."""
        span = results.catalog.package_span(row.spec.package)
        return results.listing.values.varying_variants_of(*span)

    def _read(
        self, results: Results, details: Details, connected: bool, _should_stop: ShouldStop
    ) -> tuple[Details, bool]:
        """Read lines and tree, and whether mirrors are to be asked for more."""
        # Imported here, after the first rows are shown.
        from spackscope.model.index.tree import read_tree
        from spackscope.tui.browser.read_relations import read_members

        catalog, listing, row = results.catalog, results.listing, details.row
        members = read_members(catalog, listing, row, is_connected=connected)
        lines = self._lines(results, row, members, connected)
        tree = details.tree
        if tree is None and connected:
            tree = read_tree(
                catalog, row.id, self._unfolded, members=members.ids, run_only=self._run_only
            )
        asks = not members.is_group and self._mirrors.is_to_ask(row.spec, catalog)
        return replace(details, lines=lines, tree=tree, members=members), asks

    def _lines(
        self, results: Results, row: Row, members: Members, connected: bool
    ) -> Sequence[DetailLine]:
        from spackscope.model.report.detail import detail, group_detail, with_count

        catalog, listing, varying = results.catalog, results.listing, self._varying(results, row)
        spec = catalog.with_compilers(row) if connected else row.spec
        # Whether it runs here is among the relations, which are read for any spec.
        spec = replace(spec, fit=None)
        if members.is_group:
            return group_detail(spec, members, varying=varying, key=shown("specs-open"))
        answer = self._mirrors.of(row.spec)
        if spec.size is None and answer is not None:
            spec = replace(spec, size=answer.size)
        lines = detail(
            spec,
            varying=varying,
            alike=listing.count_look_alikes(row.look_alike),
            shown=listing.shown,
            provenance=catalog.provenance(row.id),
        )
        if answer is not None:
            lines += answer.lines
        return with_count(lines, members)

    def _take(self, details: Details, asks: bool) -> None:
        self._relate(details)
        spec, catalog = details.row.spec, self._host.state.catalog
        if asks and catalog is not None:
            self._mirrors.ask(spec, catalog, self._show_again)

    def relate(self) -> None:
        """Show how the selected spec relates to others, after the marks changed."""
        details = self._host.state.details
        if details is not None and not details.is_pending:
            self._relate(replace(details, at=None))

    def _relate(self, details: Details) -> None:
        """Show details with what is known of the relations to other specs, and read the rest."""
        related = self._relations.known(details)
        self._host.change(
            details=replace(details, relations=related.lines, differing=related.differing)
        )
        self._relations.request(details)

    def _show_again(self, spec: Spec) -> None:
        """Show what mirrors have answered, if their spec is still selected."""
        details = self._host.state.details
        if details is not None and details.row.spec == spec:
            self.show(details.row)

    def take_tree(self, tree: Tree | None) -> None:
        """Store the tree as the user unfolded it."""
        details = self._host.state.details
        if tree is not None and details is not None and not details.is_pending:
            self._store_options(tree)
            self._host.change(details=replace(details, tree=tree, at=None))

    def show_tree(self, *, shown: bool) -> None:
        """Show the tree in place of the lines, or again the lines."""
        details = self._host.state.details
        self._shows_tree = shown
        if details is not None and details.shows_tree != shown:
            self._host.change(details=replace(details, shows_tree=shown, at=None))

    def missing_tree(self) -> str:
        """Explain why there are no dependencies to go to."""
        if self._host.state.details is None:
            return "no spec is selected"
        return "This source lists no dependencies"

    def is_late(self, where: Where, key: str) -> bool:
        """Check whether a key would meet lines or a tree that are still to be read."""
        if where.pane != "detail" and key not in key_names("tree", "users", "why"):
            return False
        return self._host.is_running("edges", "detail", "unfold")


def _stands_for_same(a: Row, b: Row) -> bool:
    return (a.count, a.role) == (b.count, b.role)
