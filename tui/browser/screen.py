"""The browser: packages, specs and detail, and the one view that decides what they show."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace

from textual import events, on
from textual.content import Content
from textual.widgets import Static

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.packages import PackageCount
from spackscope.model.loader.load import REBUILT
from spackscope.model.presentation import titles
from spackscope.model.presentation.sources import stale_copies
from spackscope.model.query.ast import Query
from spackscope.model.query.conditions import Term, exact_term
from spackscope.model.sources.session import Session
from spackscope.tui import keymap
from spackscope.tui.browser.messages import Answered
from spackscope.tui.browser.navigation_screen import JumpingScreen
from spackscope.tui.browser.value_filter_screen import ChoosingScreen
from spackscope.tui.dialogs.text import help_dialog, problems_dialog, sources_dialog
from spackscope.tui.widgets.column_header import ColumnHeader
from spackscope.tui.widgets.detail_pane import DetailPane
from spackscope.tui.widgets.filter_input import FilterInput
from spackscope.tui.widgets.package_list import PackageList, PackageRows
from spackscope.tui.widgets.spec_table import SpecTable

_OF_THE_TREE = ("t", "w")
_OF_A_SPEC = ("y", "Y", "left_square_bracket", "right_square_bracket", "b", *_OF_THE_TREE)
"""Keys that work anywhere, on the spec that is selected by then."""


class BrowserScreen(JumpingScreen, ChoosingScreen):
    """Hold the view, ask the catalog for what it shows, and hand the answer down."""

    BINDINGS = keymap.bindings(keymap.ANYWHERE)

    def __init__(
        self, sources: Sequence[str], query: str, session: Session, *, pick: bool
    ) -> None:
        super().__init__(sources, query, session)
        self._pick = pick
        self._hash_to_find = ""

    # The catalog

    def _take(self, catalog: Catalog) -> None:
        """Show another catalog, with the same view as far as it goes."""
        row, old = self._specs.highlighted, self._catalog
        self._hash_to_find = row.spec.hash if row else ""
        self._catalog = catalog
        self._forget_detail()
        where, counts = titles.catalog_title(catalog)
        if self._session.include_dependency_only:
            counts += " · with all that others need"
        self.query_one("#where", Static).update(
            Content.assemble(("spackscope", "bold"), "  ", where)
        )
        self.query_one("#counts", Static).update(Content(counts))
        count = catalog.problem_count
        self._status.show_problems(f"! {titles.counted(count, 'problem')}" if count else "")
        rebuilt = REBUILT if catalog.was_damaged else ""
        said = [rebuilt, catalog.notice, *stale_copies(catalog.sources, time.time())]
        if any(said):
            self._status.say("; ".join(filter(None, said)), error=True)
        query = self._view.query
        if old is not None and old.selected_package(query) and not catalog.selected_package(query):
            query = query.with_package(None)
        if self._start_query and not query:
            query = self._parsed_start() or Query()
        self._set_view(replace(self._view, query=query, opened=frozenset()))

    # The answer

    def _show_answer(self, event: Answered) -> None:
        catalog, listing = self._catalog, event.listing
        if catalog is None:
            return
        self._start()
        self._listing = listing
        selected = self._selected_package(catalog, event.packages)
        id_ = selected.id if selected is not None else None
        self._names.set_reactive(PackageList.selected, id_)
        self._names.packages = _with_selected(event.packages, selected)
        self._names.show_selected()
        hash_ = self._hash_to_find
        rows = catalog.by_hash(hash_) if hash_ else self._rows_to_find()
        found = [listing.row_of(row.id, row.look_alike) for row in rows]
        cursor = next((row for row in found if row is not None), 0)
        self._hash_to_find = ""
        why = event.why_none
        if why and self._view.query:
            leave = bool(event.packages) and selected is not None
            hint = "esc leaves the package" if leave else "⌫ takes the last condition off"
            why += f"\n{hint}"
        self._specs.show_listing(listing, event.columns, event.telling, {}, cursor, why)
        self._show_counts()
        if event.virtuals:
            self._status.say(event.virtuals)
        self._prepare(catalog)

    def _start(self) -> None:
        """Begin in the specs where a query was given at the start."""
        if self._start_query and isinstance(self.focused, PackageRows):
            self.action_focus_pane("specs")
        self._start_query = None

    def _selected_package(
        self, catalog: Catalog, packages: Sequence[PackageCount]
    ) -> PackageCount | None:
        """Return the package that the query names.

        Names that cannot be written in a query may be spelled alike in it: then the selected one
        stays.
        """
        selected, term = catalog.selected_package(self._view.query), self._view.query.package_term
        if self._view.query.package is None and term is not None:
            current = (p for p in packages if p.id == self._names.selected)
            alike = (p for p in current if exact_term("package", p.name) == term)
            return next(alike, selected)
        return selected

    @on(SpecTable.Placed)
    def _show_counts(self) -> None:
        catalog, listing = self._catalog, self._listing
        if catalog is None or listing is None:
            return
        self._query_bar.show_count(f"{listing.shown:,} of {catalog.total:,}")
        selected = catalog.selected_package(self._view.query)
        total = selected.total if selected is not None else catalog.total
        title = titles.specs_title(listing, self._specs.placed_names, total, len(self._marks))
        self._specs.border_title = Content(title)

    @on(PackageList.Selected)
    def _package_selected(self, event: PackageList.Selected) -> None:
        self._select(event.package)

    def _select(self, package: int | None) -> None:
        query = self._view.query
        if package is None:
            query = query.with_package(None)
        elif self._catalog is not None:
            query = query.with_package(self._catalog.dictionaries.texts("package")[package])
        if query != self._view.query:
            self._set_view(replace(self._view, query=query, opened=frozenset()))

    @on(ColumnHeader.Clicked)
    def _head_clicked(self) -> None:
        self.call_after_refresh(self.action_sort)

    def action_sort(self) -> None:
        """Sort by the current column, the next way."""
        self._set_view(replace(self._view, sort=self._specs.next_sort()))

    def action_fold(self) -> None:
        """Fold look-alikes, or unfold them."""
        folded = not self._view.folded
        self._set_view(replace(self._view, folded=folded, opened=frozenset()))

    def action_drop_term(self) -> None:
        """Take the last condition off the query."""
        self._status.hush()
        self._set_view(replace(self._view, query=self._view.query.without_last()))

    def action_clear_query(self) -> None:
        """Take all conditions off."""
        self._status.hush()
        self._set_view(replace(self._view, query=Query()), rewrite=True)

    @on(FilterInput.Emptied)
    def _emptied(self) -> None:
        self.action_drop_term()

    @on(DetailPane.TermChosen)
    def _term_chosen(self, event: DetailPane.TermChosen) -> None:
        if event.term is None:
            self._status.say("this line is no condition: choose a value")
        else:
            self._add_term(event.term)

    def _add_term(self, term: Term) -> None:
        query = self._view.query.also(term)
        said = "is a condition already" if query is self._view.query else "is a condition now"
        self._status.say(f"{term} {said}; ⌫ takes it off")
        self._set_view(replace(self._view, query=query))

    # Rows

    @on(SpecTable.Chosen)
    def _row_chosen(self, event: SpecTable.Chosen) -> None:
        if self._pick:
            self._remember()
            self.app.exit([*self._marks] or [event.row.spec.hash])
        elif event.row.count > 1:
            opened = self._view.opened | {event.row.look_alike}
            self._set_view(replace(self._view, opened=opened))
        else:
            self.action_focus_pane("detail")

    # Ways through

    def hints(self, pane: str) -> Iterable[tuple[str, str]]:
        """Give the keys to be shown in a pane; Enter picks where a pick is wanted."""
        hints = list(super().hints(pane))
        if self._pick and pane == "specs":
            hints[0] = ("⏎", "pick")
        return hints

    def is_behind(self, event: events.Key | events.Paste) -> bool:
        """Tell whether what is typed next would meet a pane or rows that are about to change.

        Only what goes to rows waits for rows: packages are walked without waiting for their specs.
        """
        if self.is_moving or self._catalog is None:
            return self.is_moving
        if isinstance(self.focused, FilterInput):
            return self._is_typing_behind(event)
        key = getattr(event, "key", "")
        if self._detail.is_waiting and self._pane == "detail":
            return True
        if self._specs.rows.is_waiting and (
            self._pane in ("specs", "detail") or key in _OF_A_SPEC
        ):
            return True
        if self._is_answered:
            return self._is_preparing and (self._pane == "detail" or key in _OF_THE_TREE)
        return self._pane in ("specs", "detail") or key in _OF_A_SPEC

    def action_back(self) -> None:
        """Go one step back: stop reading, leave the pane, leave the package."""
        pane = self._pane
        if self._loading:
            self._stop_loading()
        elif pane == "detail":
            self.action_focus_pane("specs")
        elif pane == "specs":
            self.action_focus_pane("packages")
        elif self._view.query.package_term is not None:
            self._names.selected = None
            # The list has no row for all packages where its filter fits none.
            self._select(None)
        elif self._pick:
            self.app.exit(None, return_code=130)
        else:
            self._status.say("this is the beginning; q quits")

    def action_leave(self) -> None:
        """Quit with nothing chosen."""
        self.app.exit(None, return_code=130 if self._pick else 0)

    def action_reload(self) -> None:
        """Read the sources again where they changed."""
        self._load(first=self._catalog is None)

    def action_everything(self) -> None:
        """List also what is there only because others depend on it, or leave it out again."""
        lists_all = not self._session.include_dependency_only
        self._session = replace(self._session, include_dependency_only=lists_all)
        self._load()

    def action_show_sources(self) -> None:
        """List the sources."""
        if self._catalog is not None:
            self.app.push_screen(sources_dialog(self._catalog.sources, time.time()))

    def action_show_help(self) -> None:
        """Show the keys."""
        self.app.push_screen(help_dialog())

    def action_show_problems(self) -> None:
        """List what could not be read."""
        if self._catalog is not None:
            self.app.push_screen(problems_dialog(self._catalog.problems))


def _with_selected(
    packages: list[PackageCount], selected: PackageCount | None
) -> list[PackageCount]:
    """Keep the selected package in the list even where nothing of it matches."""
    if selected is None or any(package.id == selected.id for package in packages):
        return packages
    return sorted([*packages, replace(selected, shown=0)], key=lambda package: package.id)
