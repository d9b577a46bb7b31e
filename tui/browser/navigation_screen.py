"""Go along dependencies from spec to spec, and back; and say why one needs another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from textual import on

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.dependency_graph import Edge
from spackscope.model.catalog.listing import View
from spackscope.model.catalog.rows import Row
from spackscope.model.query.ast import Query
from spackscope.model.sources.session import Session
from spackscope.tui.browser.details_screen import DetailingScreen
from spackscope.tui.browser.trail import Place, Trail
from spackscope.tui.dialogs.dependency_path import DependencyPathDialog, read_path
from spackscope.tui.widgets.detail_pane import DetailPane


class JumpingScreen(DetailingScreen):
    """Keep the trail of the specs that were jumped to."""

    def __init__(self, sources: Sequence[str], query: str, session: Session) -> None:
        super().__init__(sources, query, session)
        self._trail = Trail()
        self._arriving: Place | None = None

    def _forget_detail(self) -> None:
        # Ids are those of one catalog.
        self._trail.clear()
        self._arriving = None
        super()._forget_detail()

    def _rows_to_find(self) -> list[Row]:
        """Give the row that is to have the cursor."""
        row = self._detailed if self._specs.rows.is_waiting else self._specs.highlighted
        if self._arriving is not None:
            row = self._arriving.row
        return [row] if row is not None else []

    @on(DetailPane.SpecChosen)
    def _spec_chosen(self, event: DetailPane.SpecChosen) -> None:
        spec, catalog = event.node.spec, self._catalog
        if catalog is None or spec is None:
            return
        if spec.status == "absent":
            self._status.say("this spec is named as a dependency, but is not in this index")
        else:
            for row in self._fetch_of(catalog, [event.node.id]):
                self._jump(row)

    def _jump(self, row: Row) -> None:
        """Select a spec, whatever package and query are in the way."""
        catalog, here = self._catalog, self._here()
        if catalog is None or here is None:
            return
        if row.id == here.spec.id:
            self._status.say("this spec is the selected one")
            return
        self._trail.leave(here)
        self._status.hush()
        if row.spec.in_cache:
            self._arrive(Place(self._view_with(catalog, row), row, row))
        else:
            self._arrive(Place(here.view, here.row, row))
            self._status.say("a dependency only, so it has no row in the table; [ goes back")

    def _view_with(self, catalog: Catalog, row: Row) -> View:
        """Give the view that differs least from the present one and has the row."""
        view = self._view
        query = view.query
        package = catalog.selected_package(query)
        if package is not None:
            query = query.with_package(row.spec.package)
        if row.id not in catalog.match(query):
            query = Query().with_package(row.spec.package) if package is not None else Query()
            self._status.say(
                f"without the query, which does not match {row.spec.package}; [ goes back"
            )
        opened = view.opened
        if view.folded:
            # Folded it could stand behind a look-alike.
            opened = opened | {row.look_alike}
        return replace(view, query=query, opened=opened)

    def _here(self) -> Place | None:
        if self._detailed is None:
            return None
        detail = self._detail
        at = detail.cursor, detail.top
        return Place(
            self._view,
            self._specs.highlighted,
            self._detailed,
            at,
            detail.dependency_tree,
            self._pane,
        )

    def _arrive(self, place: Place) -> None:
        """Show a place; it is there once its rows are."""
        self._arriving = place
        row, listing = place.row, self._listing
        if place.pane != self._pane and place.pane != "query":
            self.action_focus_pane(place.pane)
        if self._catalog is not None:
            package = self._catalog.selected_package(place.view.query)
            if package is not None:
                self._names.reveal(package.name)
        if place.view != self._view or not self._is_shown or listing is None:
            self._set_view(place.view, rewrite=True)
            return
        number = listing.row_of(row.id, row.look_alike) if row is not None else None
        if number is not None and number != self._specs.rows.cursor:
            self._specs.rows.move_to(number)
        else:
            self._show_highlighted(self._specs.highlighted)

    def _show_highlighted(self, row: Row | None) -> None:
        place = self._arriving
        if place is None or not self._is_shown or row is None:
            super()._show_highlighted(row)
            return
        self._arriving = None
        if place.row is None or place.row.id != row.id:
            super()._show_highlighted(row)
            return
        if place.tree is not None:
            self._detail.set_class(bool(place.tree.unfolded_sections), "-unfolded")
            self._opened = place.tree.unfolded_sections
        self._show_detail(place.spec, place.tree, place.at)
        self._show_hints()

    def action_retrace(self, step: int) -> None:
        """Go back to the spec before the jump, or with a positive step forward again."""
        here = self._here()
        place = self._trail.go(here, step) if here is not None else None
        if place is None:
            way = "back" if step < 0 else "forward"
            self._status.say(f"there is no jump to go {way} to; ⏎ on a dependency makes one")
        else:
            self._status.hush()
            self._arrive(place)

    def hints(self, pane: str) -> Iterable[tuple[str, str]]:
        """Give the keys to be shown in a pane, with the way back first once there is one."""
        hints = list(super().hints(pane))
        return [("[", "back"), *hints] if pane == "detail" and self._trail.leads_back else hints

    # Why

    def action_why(self) -> None:
        """Show a shortest way to the dependency under the cursor, or between marked specs."""
        catalog, tree, line = self._catalog, self._detail.dependency_tree, self._detail.tree_row
        if catalog is None:
            return
        in_tree = self._pane == "detail" and tree is not None and line is not None
        if in_tree and tree is not None and line is not None and tree.lines[line].edge:
            self._show_way(catalog, catalog.dependencies.path(*tree.path_ends(line)) or [])
            return
        marked = [catalog.by_hash(hash_) for hash_ in self._marks]
        if len(marked) == 1 and self._detailed is not None:
            marked.append([self._detailed])
        if len(marked) != 2:
            self._status.say("w tells why on a dependency, or between a marked spec and this one")
            return
        for one in marked[0]:
            for other in marked[1]:
                known = catalog.dependencies
                way = known.path(one.id, other.id) or known.path(other.id, one.id)
                if way:
                    self._show_way(catalog, way)
                    return
        self._status.say("neither of the two depends on the other")

    def _show_way(self, catalog: Catalog, way: list[Edge]) -> None:
        if not way:
            self._status.say("this is the spec itself")
            return
        with self.mending(catalog):
            path = read_path(catalog, way)

            def go(id_: int | None) -> None:
                if id_ is not None and catalog.dependencies.absent(id_) is None:
                    for row in self._fetch_of(catalog, [id_]):
                        self._jump(row)

            self.app.push_screen(DependencyPathDialog(path), go)
