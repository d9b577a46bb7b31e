"""Show the detail of the selected spec, with the tree of its dependencies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from textual import on
from textual.content import Content

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.dependency_tree import Section, Tree, read_tree
from spackscope.model.catalog.rows import Row
from spackscope.model.core.records import Provenance, Spec
from spackscope.model.presentation import titles
from spackscope.model.presentation.detail import detail
from spackscope.model.sources.session import Session
from spackscope.tui import keymap
from spackscope.tui.browser.messages import Prepared, TreeUnfolded
from spackscope.tui.browser.size_screen import SizingScreen
from spackscope.tui.widgets.detail_pane import DetailPane
from spackscope.tui.widgets.spec_table import SpecTable


class DetailingScreen(SizingScreen):
    """Fill the detail pane; what the tree needs is read in a thread first."""

    def __init__(self, sources: Sequence[str], query: str, session: Session) -> None:
        super().__init__(sources, query, session)
        # The highlighted row, or a spec that has none.
        self._detailed: Row | None = None
        self._opened: frozenset[Section] = frozenset()
        self._preparing: Catalog | None = None
        self._prepared: Catalog | None = None

    @property
    def _selected(self) -> Row | None:
        return self._detailed

    def _prepare(self, catalog: Catalog) -> None:
        """Read the edges, once the rows are on their way to the screen."""
        if catalog is self._preparing:
            return
        self._preparing, self._prepared = catalog, None

        def work() -> None:
            with self.mending(catalog):
                catalog.dependencies.prepare()
                self.post_message(Prepared(catalog))

        self.run_worker(work, group="prepare", exclusive=True, thread=True)

    @on(Prepared)
    def _take_edges(self, event: Prepared) -> None:
        if event.catalog is self._catalog:
            self._prepared = event.catalog
            if self._detailed is not None and self._listing is not None:
                self._show_detail(self._detailed)
            self._show_hints()

    @property
    def _is_preparing(self) -> bool:
        return self._preparing is not self._prepared and self._preparing is not self._damaged

    @on(SpecTable.Highlighted)
    def _spec_highlighted(self, event: SpecTable.Highlighted) -> None:
        rows = self._specs.rows
        self._status.show_position(titles.position(rows.cursor, rows.length))
        self._show_highlighted(event.row)

    def _show_highlighted(self, row: Row | None) -> None:
        """Show the spec of a row that the cursor came to."""
        if row is None or self._listing is None:
            self._detailed = None
            self._detail.show_spec((), None)
        else:
            self._show_detail(row)

    def _show_detail(
        self, row: Row, tree: Tree | None = None, at: tuple[int, int] | None = None
    ) -> None:
        catalog, listing, shown = self._catalog, self._listing, self._detail.dependency_tree
        assert catalog is not None
        assert listing is not None
        if tree is None and shown is not None and self._detailed is not None:
            # What was unfolded stays so while a filter is typed.
            tree = shown if self._detailed.id == row.id else None
        self._detailed = row
        lines = detail(
            self._with_size(catalog, self._with_compilers(catalog, row)),
            varying=listing.varying_variants,
            alike=listing.count_look_alikes(row.look_alike),
            shown=listing.shown,
            provenance=self._tell(catalog, row.id),
        )
        self._detail.show_spec(lines, tree or self._tree_of(row), at)
        beside = "" if row.spec.in_cache else " · not in the table"
        self._detail.border_title = Content(f"detail{beside}")

    def _with_compilers(self, catalog: Catalog, row: Row) -> Spec:
        """Return the record of a row, with its compilers as soon as the edges have been read."""
        if catalog is not self._prepared:
            return row.spec
        with self.mending(catalog):
            return catalog.with_compilers(row)
        return row.spec

    def _size_came(self, hash_: str) -> None:
        if self._detailed is not None and self._detailed.spec.hash == hash_:
            self._show_detail(self._detailed)

    def _tree_of(self, row: Row) -> Tree | None:
        catalog = self._catalog
        if catalog is None or catalog is not self._prepared:
            return None
        with self.mending(catalog):
            return read_tree(catalog, row.id, self._opened)
        return None

    @on(DetailPane.UnfoldRequested)
    def _unfold(self, event: DetailPane.UnfoldRequested) -> None:
        catalog = self._catalog
        if catalog is None:
            return

        def work() -> None:
            unfolded = event.tree
            with self.mending(catalog):
                unfolded = event.read(catalog)
            self.post_message(TreeUnfolded(event.tree, unfolded))

        self.run_worker(work, group="tree", exclusive=True, thread=True)

    @on(TreeUnfolded)
    def _take_tree(self, event: TreeUnfolded) -> None:
        self._detail.take_tree(event.tree, event.unfolded)

    def _fetch_of(self, catalog: Catalog, ids: Sequence[int]) -> list[Row]:
        """Fetch rows; of a damaged index there are none until it is mended."""
        with self.mending(catalog):
            return catalog.rows(ids)
        return []

    def _tell(self, catalog: Catalog, id_: int) -> Provenance:
        with self.mending(catalog):
            return catalog.provenance(id_)
        return Provenance()

    def _forget_detail(self) -> None:
        """Keep nothing of a catalog that is there no more; what is shown stays for the moment."""
        self._detailed = None

    @on(DetailPane.Unfolded)
    def _unfolded(self, event: DetailPane.Unfolded) -> None:
        self._opened = event.sections
        # Trees are as wide as they are deep.
        self._detail.set_class(bool(event.sections), "-unfolded")

    @on(DetailPane.Left)
    def _detail_left(self) -> None:
        self.action_focus_pane("specs")

    # Keys and hints

    @on(DetailPane.HintsChanged)
    def _show_hints(self) -> None:
        """Show the keys of the line that the cursor is on."""
        pane = self._pane
        if pane in ("specs", "detail") and not self._status_is_taken:
            self._status.show_hints(self.hints(pane))

    @property
    def _status_is_taken(self) -> bool:
        return self._typed_in is not None and self._typed_in.has_focus

    def hints(self, pane: str) -> Iterable[tuple[str, str]]:
        """Give the keys to be shown in a pane; in the detail they go by the line."""
        if pane == "detail" and self._detail.node is not None:
            return [*keymap.hints(keymap.TREE), ("w", "why"), *keymap.hints(keymap.ANYWHERE)]
        return super().hints(pane)

    def action_dependencies(self) -> None:
        """Go to the dependencies of the spec; from there to the specs that use it, and back."""
        tree, node = self._detail.dependency_tree, self._detail.node
        if tree is None:
            said = "no spec is selected"
            if self._detailed is not None:
                said = "where this spec comes from, no dependencies are listed"
            self._status.say(said)
            return
        there = self._pane == "detail" and node is not None and node.section == "dependencies"
        self._detail.go_to("dependents" if there else "dependencies")
        if self._pane != "detail":
            self.action_focus_pane("detail")
