"""The widgets of the browser: show a state in them, move the focus, return where the user is."""

from __future__ import annotations

from collections.abc import Callable

from textual.app import ComposeResult
from textual.containers import Container, Horizontal, Vertical
from textual.content import Content
from textual.errors import NoWidget
from textual.screen import Screen
from textual.widget import Widget

from spackscope.model.assist.diagnostics import is_unfinished
from spackscope.model.catalog.dependency_tree import Node
from spackscope.model.core.text import cell_width
from spackscope.model.presentation import titles
from spackscope.model.presentation.detail import with_relations
from spackscope.tui import keymap
from spackscope.tui.browser.frame import PANES, SIDE, Frame
from spackscope.tui.browser.hint_words import changed_hints
from spackscope.tui.browser.state import NO_COMPLETIONS, QUERY, BrowserState, Summary, Where
from spackscope.tui.dialogs.help import open_help
from spackscope.tui.widgets.completion_popup import CompletionPopup
from spackscope.tui.widgets.detail_pane import DetailPane
from spackscope.tui.widgets.facets import FacetPane
from spackscope.tui.widgets.filter_input import FilterInput
from spackscope.tui.widgets.marks_line import MarksLine
from spackscope.tui.widgets.package_list import PackageList, PackageRows
from spackscope.tui.widgets.query_bar import QueryBar
from spackscope.tui.widgets.row_marks import RowMarks
from spackscope.tui.widgets.rules import DetailRule, Divider
from spackscope.tui.widgets.spec_table import SpecTable
from spackscope.tui.widgets.status_line import StatusLine
from spackscope.tui.widgets.title_line import TitleLine
from spackscope.tui.widgets.toast import Toast

_ROUND = ("packages", "specs", "detail")
"""The panes that Tab goes through."""


class Panes:
    """The widgets of a screen; `is_pick` if Enter on a row ends the program."""

    def __init__(self, screen: Screen[None], *, is_pick: bool = False) -> None:
        self._screen, self._is_pick = screen, is_pick
        self._frame = Frame(screen)
        self._moves = 0
        self._state = BrowserState()
        self.popup = CompletionPopup(id="completion-popup")
        self.title = TitleLine(id="title")
        self.query_bar = QueryBar(id="query")
        self.names = PackageList(id="packages", classes="pane")
        self.facets = FacetPane(id="facets", classes="pane")
        self.table = SpecTable(id="specs", classes="pane")
        self.detail = DetailPane(id="detail", classes="pane")
        self.marks = MarksLine(id="marks")
        self.status = StatusLine(id="status")
        self.toast = Toast(id="toast")

    def compose(self) -> ComposeResult:
        """Lay out title and query above the panes, marks and status below.

        The side column is packages and facets, beside the table above the detail.
        """
        # Last in the order of widgets the popup would move all others in it whenever it comes or
        # goes, and Textual draws again what has moved.
        yield self.popup
        yield self.toast
        yield self.title
        yield self.query_bar
        lists = Vertical(self.names, self.facets, id="lists")
        side = Horizontal(lists, Divider(id="divider"), id="side")
        work = Vertical(self.table, DetailRule(id="detail-rule"), self.detail, id="work")
        yield Container(side, work, id="panes")
        yield self.marks
        yield self.status

    @property
    def is_moving(self) -> bool:
        """Whether the focus is on its way to a pane that is not on the screen yet."""
        return self._moves > 0

    @property
    def pane(self) -> str:
        """The name of the pane with the focus, or `query`."""
        if self._screen.focused is None:
            return "packages"
        around = [node.id for node in self._screen.focused.ancestors_with_self]
        return next((pane for pane in PANES if pane in around), "query")

    @property
    def focused_input(self) -> FilterInput | None:
        """The input with the focus."""
        focused = self._screen.focused
        return focused if isinstance(focused, FilterInput) else None

    @property
    def where(self) -> Where:
        """Where the user is."""
        input_, detail, rows = self.focused_input, self.detail, self.table.rows
        line = detail.current.line
        return Where(
            self.pane,
            input_.name if input_ is not None else None,
            self.table.highlighted,
            rows.is_waiting,
            self._is_row_seen,
            self.table.column,
            (detail.cursor, detail.top),
            detail.current.term,
            detail.current.tree_row,
            line if isinstance(line, Node) else None,
            self.query_bar.input.value,
        )

    @property
    def _is_row_seen(self) -> bool:
        """Whether the row under the cursor of the table is on the screen, and nothing over it."""
        rows = self.table.rows
        line = rows.cursor - rows.top
        if not rows.is_on_screen or not 0 <= line < rows.size.height:
            return False
        try:
            at = rows.region.offset
            widget, _ = self._screen.get_widget_at(at.x, at.y + line)
        except NoWidget:
            return False
        return widget is rows

    def go_to(self, target: str) -> None:
        """Move the focus to a pane, or to the query line."""
        widgets: dict[str, Widget] = {
            "packages": self._screen.query_one(PackageRows),
            "facets": self.facets,
            "specs": self.table.shown_list,
            "detail": self.detail,
            QUERY: self.query_bar.input,
        }
        if target != QUERY:
            self._frame.show(target)
        self._focus_soon(widgets[target].focus)

    def peek(self, target: str) -> None:
        """Go to a pane of the side column, to come back from it with `give_back`."""
        if (pane := self.pane) not in SIDE:
            self._frame.origin = "specs" if pane == QUERY else pane
        self.go_to(target)

    def give_back(self) -> bool:
        """End the zoom, or go back to where the user came from; return False if neither is."""
        if self._frame.unzoom():
            return True
        origin = self._frame.origin or ("specs" if self.pane == "facets" else None)
        if self.pane in SIDE and origin is not None:
            self.go_to(origin)
            return True
        return False

    @property
    def zoomed(self) -> str | None:
        """The pane that has the whole screen."""
        return self._frame.zoomed

    def zoom(self, pane: str) -> None:
        """Give a pane the whole screen, and the focus."""
        if not self._frame.is_alone(pane):
            self._frame.zoom(pane)
        if self.pane != pane:
            self.go_to(pane)

    def toggle_zoom(self) -> None:
        """Give the pane with the focus the whole screen, or end that."""
        if not self._frame.unzoom():
            self.zoom("specs" if self.pane == QUERY else self.pane)

    def go_to_detail(self) -> None:
        """Go to the detail; from there give it the whole screen, or end that."""
        if self.pane == "detail":
            self.toggle_zoom()
        else:
            self.go_to("detail")

    def go_to_filter(self) -> None:
        """Move the focus to the filter of the package list, or of the current column."""
        if self.pane == "packages":
            self.names.focus_filter()
        else:
            self._frame.show("specs")
            self._focus_soon(self.table.focus_filter)

    def go_on(self, step: int) -> None:
        """Move the focus to the next filter or pane, or with -1 to the one before."""
        if self.table.next_filter(step):
            return
        order = (QUERY, *_ROUND)
        here = "packages" if self.pane == "facets" else self.pane
        target = order[(order.index(here) + step) % len(order)]
        if target == QUERY:
            self.query_bar.focus_input()
        else:
            self.go_to(target)

    def show_focus(self) -> None:
        """Show what belongs to the input or pane that got the focus."""
        self._frame.show(self.pane)
        self._show_marks()
        self.show_hints()
        self.show_popup_soon()

    def _focus_soon(self, focus: Callable[[], object]) -> None:
        """Move the focus once the pane is on the screen: a hidden one cannot have it."""

        def move() -> None:
            focus()
            self._moves -= 1

        self._moves += 1
        self._screen.call_after_refresh(move)

    def show_state(self, old: BrowserState, new: BrowserState) -> None:
        """Show what differs between two states."""
        self._state = new
        if new.summary is not None and new.summary is not old.summary:
            self._show_summary(new.summary)
        if new.results is not None and new.results is not old.results:
            self._show_results(new)
        if new.machine is not None and new.machine != old.machine:
            self.title.show_machine(new.machine)
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
            self.detail.show_spec((), None)
        if new.draft is not old.draft:
            self._show_draft(old, new)
        if new.can_go_back != old.can_go_back or new.connected is not old.connected:
            self.show_hints()

    def _show_marks(self) -> None:
        """Name the marked specs; in the detail `y` copies the spec that is shown there."""
        state = self._state
        copies = self.pane != "detail"
        self.marks.show(state.marks, state.marked, state.listing, copies=copies)

    def show_query(self, *, rewrite: bool) -> None:
        """Show the query in the line and the filters; `rewrite` also the one being typed in."""
        query, draft = self._state.view.query, self._state.draft
        typing = None if rewrite else self._input(draft.input) if draft else self._screen.focused
        self.query_bar.reflect(query, typing)
        self.table.reflect(query, typing)
        self.title.show_active([term for group in query.of_column("source") for term in group])

    def show_instead_of_rows(self, text: str) -> None:
        """Show a text while there are no rows."""
        self.table.rows.show(0, empty=text)
        # Where one pane is shown at a time, that is the packages now.
        self.names.say_instead_of_rows(text if self._screen.has_class("-single") else "")

    def _show_summary(self, summary: Summary) -> None:
        self.title.show_catalog(summary.chips, summary.remark, summary.problems)

    def _show_results(self, state: BrowserState) -> None:
        results = state.results
        assert results is not None
        self.names.show_packages(results.packages, results.selected, state.view.query)
        if results.selected is not None and self.pane != "packages":
            self.names.reveal(results.selected.name)
        self.table.show_listing(
            results.listing,
            results.columns,
            results.varying,
            results.windows,
            results.cursor,
            results.explanation,
            results.relaxations,
        )
        # Columns may have moved.
        self.show_popup_soon()
        self.show_hints()

    def show_counts(self) -> None:
        """Show how many specs are shown, and what all of them share."""
        results, summary = self._state.results, self._state.summary
        if results is None or summary is None:
            return
        selected = results.selected
        total = selected.total if selected is not None else summary.total
        package = selected.name if selected is not None else None
        self.query_bar.show_count(titles.query_counts(results.listing, total, package))
        placed = self.table.placed_names
        shared = [text for column, text in results.shared if column not in placed]
        self.table.show_shared(" · ".join(filter(None, (results.hidden, *shared))))

    def _show_details(self, state: BrowserState) -> None:
        details = state.details
        # While another catalog is read the last lines stay.
        if details is not None and not details.is_pending:
            lines = with_relations(details.lines, details.relations)
            self.detail.show_spec(lines, details.tree, details.at)
            beside = "" if details.row.spec.in_cache else " · not in the table"
            self.detail.border_title = Content(f"detail{beside}")
            self.show_hints()

    def _input(self, name: str) -> FilterInput:
        if name == QUERY:
            return self.query_bar.input
        return next(i for i in self.table.query(FilterInput) if i.name == name)

    def _show_draft(self, old: BrowserState, new: BrowserState) -> None:
        if old.draft is not None and (new.draft is None or new.draft.input != old.draft.input):
            self._input(old.draft.input).is_wrong = False
        if new.draft is None:
            self.popup.hide()
            return
        input_ = self._input(new.draft.input)
        input_.is_wrong = new.draft.is_wrong
        if old.draft is None and input_ is not self._screen.focused:
            input_.reflect(new.draft.parsed.text)
        self.show_popup_soon()

    def show_popup_soon(self) -> None:
        """Show the note and the completions of the draft once everything is in place."""
        draft = self._state.draft
        if draft is not None and draft.completions is not None:
            self._screen.call_after_refresh(self._show_popup)

    def _show_popup(self) -> None:
        draft = self._state.draft
        if draft is None or not (input_ := self._input(draft.input)).has_focus:
            self.popup.hide()
            return
        text, note = draft.parsed.text, draft.note
        if input_.value != text:
            return
        completions = draft.completions or NO_COMPLETIONS
        if not draft.insists and is_unfinished(note, completions):
            note = None
        inside = input_.content_region
        begin = inside.x - input_.scroll_offset.x

        def column(offset: int) -> int:
            at = begin + cell_width(text[:offset])
            return max(inside.x, min(at, inside.right - 1))

        self.popup.show(
            inside.y,
            column(completions.start),
            completions.items,
            note.sentence if note else "",
            column(note.offset) if note and note.offset is not None else None,
        )

    @property
    def key_panes(self) -> tuple[str, ...]:
        """The parts of the table of keys that work now, that of what has the focus first."""
        if self.focused_input is not None:
            return (keymap.FILTERS,)
        pane = self.pane
        if pane == keymap.SPECS and self.table.shown_list is not self.table.rows:
            return (keymap.RELAXATIONS, keymap.LISTS, keymap.ANYWHERE)
        if pane == keymap.DETAIL and self.detail.current.tree_row is not None:
            return (keymap.TREE, keymap.DETAIL, keymap.LISTS, keymap.ANYWHERE)
        return (pane, keymap.LISTS, keymap.ANYWHERE)

    def show_hints(self) -> None:
        """Show the keys of the input or the pane with the focus."""
        changed = dict(changed_hints(self.table.highlighted, is_pick=self._is_pick))
        panes = self.key_panes
        self.status.show_hints(
            (key, changed.get((panes[0], key), word)) for key, word in keymap.hints(*panes)
        )

    def open_help(self) -> None:
        """Show all keys, those that work now first."""
        open_help(self._screen.app, self.key_panes)
