"""Show a state of the browser in its widgets, and return where the user is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.errors import NoWidget
from textual.screen import Screen
from textual.widget import Widget

from spackscope.model.core.columns import SHORT_HASH
from spackscope.model.index.rows import Row
from spackscope.model.query.ast import Term
from spackscope.model.query.parser import ParsedInput
from spackscope.model.report import frame as titles
from spackscope.model.report.frame import runs_head
from spackscope.tui import keymap
from spackscope.tui.browser.draft_box import DraftBox
from spackscope.tui.browser.empty_choices import without_rows
from spackscope.tui.browser.frame import Frame
from spackscope.tui.browser.hint_words import changed_hints
from spackscope.tui.browser.pane_focus import PaneFocus
from spackscope.tui.browser.state import BrowserState, Facets, Summary
from spackscope.tui.keymap import in_use
from spackscope.tui.widgets.relaxation_list import KeyChoice
from spackscope.tui.widgets.row_marks import RowMarks

if TYPE_CHECKING:
    from spackscope.model.index.facets import FacetKey
    from spackscope.model.index.tree import Node


class Panes:
    """The widgets of a screen; `is_pick` if Enter on a row ends the program.

    `note` is a text below the packages.
    """

    def __init__(self, screen: Screen[None], *, note: str = "", is_pick: bool = False) -> None:
        self._screen, self._is_pick = screen, is_pick
        self._state = BrowserState()
        self.frame = frame = Frame(note)
        self.focus = PaneFocus(screen, frame)
        self.focus.on_zoom = self.show_hints
        self.draft_box = DraftBox(screen, frame)
        self.title, self.query_bar, self.names = frame.title, frame.query_bar, frame.names
        self.table, self.detail = frame.table, frame.detail
        self.facets = frame.facets
        self.marks, self.status, self.toast = frame.marks, frame.status, frame.toast

    @property
    def is_ready(self) -> bool:
        """Whether the panes have their widgets: keys may come before, or at the end."""
        panes = self.query_bar, self.names, self.table, self.detail
        return all(pane.is_mounted and pane.children for pane in panes)

    # Where the user is

    @property
    def pane(self) -> str:
        """The name of the pane with the focus, or `query`."""
        return self.focus.pane

    @property
    def input(self) -> str | None:
        """The name of the input with the focus."""
        input_ = self.focus.focused_input
        return input_.name if input_ is not None else None

    @property
    def row(self) -> Row | None:
        """The row of the table under the cursor."""
        return self.table.highlighted

    @property
    def is_waiting(self) -> bool:
        """Whether that row is still to be read."""
        return self.table.rows.is_waiting

    @property
    def is_row_seen(self) -> bool:
        """Whether the row, or in the detail its own line, is on the screen."""
        list_ = self.detail.shown_list if self.focus.pane == "detail" else self.table.rows
        return self._is_seen(list_, list_.cursor - list_.top)

    @property
    def column(self) -> str:
        """The column of the table under the cursor."""
        return self.table.column

    @property
    def position(self) -> tuple[int, int]:
        """The line of the detail with the cursor, and the one at its top."""
        return self.detail.position

    @property
    def term(self) -> Term | None:
        """The filter of the line of the detail under the cursor."""
        return self.detail.term

    @property
    def tree_row(self) -> int | None:
        """The line of the tree under the cursor."""
        return self.detail.tree_row

    @property
    def node(self) -> Node | None:
        """What that line of the tree is about."""
        return self.detail.node

    @property
    def line(self) -> ParsedInput:
        """What the query line shows."""
        return self.query_bar.input.parsed

    @property
    def facet(self) -> tuple[FacetKey, str | None] | None:
        """The section and the value under the cursor of the facets."""
        return self.facets.place

    @property
    def is_box_late(self) -> bool:
        """Whether the box under the input does not show the completions of the draft yet."""
        return self.draft_box.is_late

    @property
    def are_marks_seen(self) -> bool:
        """Whether the line that names the marked specs is on the screen."""
        return self._is_seen(self.marks, 0)

    def _is_seen(self, widget: Widget, line: int) -> bool:
        """Check whether a line of a widget is on the screen, and nothing over it."""
        if not widget.is_on_screen or not 0 <= line < widget.size.height:
            return False
        try:
            at = widget.region.offset
            return self._screen.get_widget_at(at.x, at.y + line)[0] is widget
        except NoWidget:
            return False

    def show_focus(self) -> None:
        """Show what belongs to the input or pane that got the focus."""
        self.focus.show(self.focus.pane)
        self._show_marks()
        self.show_position()
        self.draft_box.show_soon()

    def show_state(self, old: BrowserState, new: BrowserState) -> None:
        """Show what differs between two states."""
        self._state = new
        if new.summary is not None and new.summary is not old.summary:
            self._show_summary(new.summary)
        if new.results is not None and new.results is not old.results:
            self._show_results(new)
        if new.facets is not None and new.facets is not old.facets:
            self._show_facets(old.facets, new.facets)
        if new.column_choices is not old.column_choices:
            self.table.show_choices(new.column_choices)
        if new.machine is not None and new.machine != old.machine:
            self.title.show_machine(new.machine)
            self.names.show_machine(runs_head(new.machine))
        if new.marks != old.marks or new.marked != old.marked:
            self.table.show_marks(RowMarks(new.marks, new.marked))
            self._show_marks()
        elif new.marks and new.results is not old.results:
            self._show_marks()
        if new.results is not old.results:
            self.show_counts()
        if new.details is not old.details:
            self._show_details(new)
        if new.details is None and new.listing is not None and not new.listing:
            self.detail.show_details((), None)
        if new.draft is not old.draft:
            self.draft_box.show(new.draft)
            if new.draft is None:
                self.table.settle()
                self.show_query()
        if new.stale != old.stale:
            self._show_stale(new.stale)
        if new.can_go_back != old.can_go_back or new.connected is not old.connected:
            self.show_hints()

    def _show_marks(self) -> None:
        """Name the marked specs; in the detail `y` copies the spec that is shown there."""
        state = self._state
        copies = self.focus.pane != "detail"
        self.marks.show(state.marks, state.marked, state.listing, copies=copies)
        self.toast.show_above(2 if state.marks else 1)
        self.show_hints()

    def show_query(self, *, rewrite: bool = False) -> None:
        """Show the query in the line and the filters; `rewrite` also the one being typed in."""
        query, draft = self._state.view.query, self._state.draft
        typing = (
            None if rewrite else self.frame.input(draft.input) if draft else self._screen.focused
        )
        self.query_bar.reflect(query, typing)
        self.table.reflect(query, typing)
        self.title.show_active([term for group in query.of_column("source") for term in group])

    def show_instead_of_rows(self, text: str, choices: Sequence[KeyChoice] = ()) -> None:
        """Show a text while there are no rows, and what to do about it."""
        self.table.show_empty(text, choices)
        if choices:
            self.focus.go_to("specs")
        # Where one pane is shown at a time, that is the packages now.
        self.names.say_instead_of_rows(text if self._screen.has_class("-single") else "")

    def show_packages(self, summary: Summary) -> None:
        """Show all packages while the first rows are read."""
        self.names.show_packages(summary.catalog, summary.packages, None, self._state.view.query)
        self.show_position()

    def _show_summary(self, summary: Summary) -> None:
        self.query_bar.input.packages = summary.names
        self.title.show_catalog(summary.chips, summary.remark, summary.problems)

    def _show_results(self, state: BrowserState) -> None:
        results = state.results
        assert results is not None
        self.names.show_packages(
            results.catalog, results.packages, results.selected, results.listing.view.query
        )
        if results.selected is not None and self.focus.pane != "packages":
            self.names.reveal(results.selected.name)
        self.table.show_listing(
            results.listing,
            results.shared,
            results.windows,
            results.cursor,
            results.explanation,
            results.relaxations or self._empty_choices(state),
            before=results.hidden,
            is_typing=state.draft is not None,
        )
        if not results.catalog.total and self.focus.pane == "packages":
            self.focus.go_to("specs")
        self.facets.expect()
        # Columns may have moved.
        self.draft_box.show_soon()
        self.show_position()
        self.show_hints()

    def _show_facets(self, old: Facets | None, new: Facets) -> None:
        is_new = old is None or new.place is not old.place
        place = new.place if is_new else None
        self.facets.show_sections(
            new.sections, empty=new.note, place=place, is_last=not new.is_awaited
        )
        self.show_position()

    def _empty_choices(self, state: BrowserState) -> Sequence[KeyChoice]:
        summary, listing = state.summary, state.listing
        if summary is None or listing is None or listing:
            return ()
        return without_rows(summary, listing)

    def show_counts(self) -> None:
        """Show how many specs are shown, and what all of them share."""
        results, summary = self._state.results, self._state.summary
        if results is None or summary is None:
            return
        if self._state.stale:
            self.query_bar.show_count([self._state.stale])
            return
        selected = results.selected
        total = selected.total if selected is not None else summary.total
        package = selected.name if selected is not None else None
        self.query_bar.show_count(titles.query_counts(results.listing, total, package))

    def _show_stale(self, stale: str) -> None:
        """Dim the rows while they are those of an older query."""
        for pane in (self.names, self.facets, self.table, self.detail):
            # A class of the pane would compute the styles of every filter and head in it too.
            pane.query("VirtualList, HeadLine").set_class(bool(stale), "-stale")
        self.show_counts()

    def _show_details(self, state: BrowserState) -> None:
        details = state.details
        # While another catalog is read the last lines stay.
        if details is not None and details.is_pending:
            self.detail.wait()
        elif details is not None:
            row = details.row
            self.detail.show_details(
                [*details.lines, *details.relations],
                details.tree,
                key=(row.spec.hash, row.count, row.role),
                shows_tree=details.shows_tree,
                differing=details.differing,
                compared_with=next(iter(state.marks), "")[:SHORT_HASH],
                at=details.at,
                beside="" if row.spec.in_cache else "not in the table",
            )
            self.show_position()
            self.show_hints()

    @property
    def key_panes(self) -> tuple[str, ...]:
        """The parts of the table of keys that work now, that of what has the focus first."""
        if self.focus.focused_input is not None:
            return (keymap.FILTERS,)
        pane = self.focus.pane
        if pane == keymap.SPECS and self.table.shown_list is not self.table.rows:
            return (keymap.RELAXATIONS, keymap.LISTS, keymap.ANYWHERE)
        if pane == keymap.DETAIL and self.detail.shows_tree:
            return (keymap.TREE, keymap.DETAIL, keymap.LISTS, keymap.ANYWHERE)
        return (pane, keymap.LISTS, keymap.ANYWHERE)

    def show_position(self) -> None:
        """Show the position in the list that has the focus; with the values of a spec its row."""
        pane, rows = self.focus.pane, self.table.shown_list
        if pane == "facets":
            self.status.show_position(titles.position(*self.facets.rows.position))
            return
        if pane == "packages":
            rows = self.names.rows
        elif pane == "detail" and self.detail.shows_tree:
            rows = self.detail.shown_list
        self.status.show_position(titles.position(rows.cursor, rows.length))

    def show_hints(self) -> None:
        """Show the keys of the input or the pane with the focus."""
        row, marks = self.table.highlighted, len(self._state.marks)
        changed = dict(
            changed_hints(
                row, is_pick=self._is_pick, is_folded=self._state.view.folded, marks=marks
            )
        )
        panes = self.key_panes
        is_zoomed = self.focus.zoomed and not self.focus.focused_input
        self.status.show_hints(
            [
                *(in_use.hint("zoom", "unzoom") if is_zoomed else ()),
                *in_use.hints(*panes, words=changed),
            ]
        )

    def open_help(self) -> None:
        """Show all keys, those that work now first."""
        # A dialog is imported when it is first opened.
        from spackscope.tui.dialogs.help import open_help

        open_help(self._screen.app, self.key_panes)
