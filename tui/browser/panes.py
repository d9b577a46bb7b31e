"""The widgets of the browser: show a state in them, move the focus, tell where the user is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from textual.app import ComposeResult
from textual.containers import Container, Horizontal, Vertical
from textual.errors import NoWidget
from textual.screen import Screen
from textual.timer import Timer
from textual.widget import Widget

from spackscope.model.assist.answers import is_unfinished
from spackscope.model.core.columns import SHORT_HASH
from spackscope.model.core.frozen import replace
from spackscope.model.core.text import cell_width, counted
from spackscope.model.index.rows import Row
from spackscope.model.index.view import RowRole
from spackscope.model.query.ast import Term
from spackscope.model.query.parser import ParsedInput
from spackscope.model.report import frame as titles
from spackscope.tui import keymap
from spackscope.tui.browser.empty_choices import without_rows
from spackscope.tui.browser.state import (
    NO_COMPLETIONS,
    QUERY,
    BrowserState,
    Draft,
    Facets,
    Summary,
    command_text,
)
from spackscope.tui.widgets.detail_pane import DetailPane
from spackscope.tui.widgets.facets import FacetPane
from spackscope.tui.widgets.frame import (
    DetailRule,
    Divider,
    MarksLine,
    StatusLine,
    TitleLine,
    Toast,
)
from spackscope.tui.widgets.package_list import PackageList
from spackscope.tui.widgets.query_line import CompletionPopup, FilterInput, QueryBar
from spackscope.tui.widgets.sheet_rows import OpenSheet
from spackscope.tui.widgets.spec_rows import SpecRows
from spackscope.tui.widgets.spec_table import KeyChoice, SpecTable
from spackscope.tui.widgets.table_head import QueryFilters
from spackscope.tui.widgets.table_rows import RowMarks

if TYPE_CHECKING:
    from spackscope.model.index.facets import FacetKey
    from spackscope.model.index.tree import TreeNode

_SIDE = ("packages", "values")
"""The panes of the side column, a drawer in narrow terminals."""
_ROUND = (QUERY, "packages", "specs", "detail")
"""What Tab goes through."""
_HINT_WIDTH = len("detail")
"""Cells of the words for Enter: the hints beside it stay where they are from row to row."""
_PATIENCE = 0.12
"""Seconds that a spec waits for its relations, to be shown with them at once."""


class Panes:
    """The widgets of a screen; `is_pick` if Enter on a row ends the program.

    Where the sources are the sample, the title names the key that opens others.
    """

    def __init__(
        self,
        screen: Screen[None],
        *,
        is_sample: bool = False,
        is_pick: bool = False,
    ) -> None:
        self._screen, self._is_pick, self.is_sample = screen, is_pick, is_sample
        self._state = BrowserState()
        # The query and the package of the spec whose values are shown.
        self._described = self._state.view.query, ""
        self._patience: Timer | None = None
        # Whether it is shown without its relations, which take long.
        self._has_shown = False
        self.popup = CompletionPopup(id="completion-popup")
        self.toast = Toast(id="toast")
        self.title = TitleLine(id="title", is_sample=is_sample)
        self.query_bar = QueryBar(id="query")
        self.names = PackageList(id="packages", classes="pane")
        self.facets = FacetPane(id="values", classes="pane")
        self.table = SpecTable(id="specs", classes="pane")
        self.detail = DetailPane(id="detail", classes="pane")
        self.marks = MarksLine(id="marks")
        self.status = StatusLine(id="status")
        lists = Vertical(self.names, self.facets, id="lists")
        self.side = Horizontal(lists, Divider(id="divider"), id="side", classes="step-packages")
        rule = DetailRule(id="detail-rule")
        self.work = Vertical(self.table, rule, self.detail, id="work", classes="step-specs")
        self.focus = PaneFocus(screen, self)
        self.overview_width: int | None = None
        """Cells that the side column needs at most while the packages have the focus."""
        # Whether completions that are known are still to be shown, after the next drawing.
        self._is_box_late = False

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
        yield Container(self.side, self.work, id="panes")
        yield self.marks
        yield self.status

    def input_named(self, name: str) -> FilterInput:
        """Return the query line, or the filter of a column."""
        if name == QUERY:
            return self.query_bar.input
        return next(i for i in self.table.query(FilterInput) if i.name == name)

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
        return self.table.rows.row

    @property
    def item(self) -> Any:
        """The row of the sheet under the cursor."""
        return self.table.rows.shown.item(self.table.rows.cursor)

    @property
    def sheet_cursor(self) -> int:
        """The number of that row."""
        return self.table.rows.position[0]

    @property
    def is_waiting(self) -> bool:
        """Whether that row is still to be read."""
        return self.table.rows.is_waiting

    @property
    def awaits(self) -> frozenset[str]:
        """What keys need that was read, and is still to be shown."""
        lines = (keymap.LINES, keymap.DETAIL) if self._patience is not None else ()
        return frozenset((*lines, *((keymap.COMPLETIONS,) if self._is_box_late else ())))

    @property
    def is_row_seen(self) -> bool:
        """Whether the row, or in the detail its own line, is on the screen."""
        in_detail = self.focus.pane == "detail"
        list_ = self.detail.shown_list if in_detail else self.table.shown_list
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
    def node(self) -> TreeNode | None:
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
        self.show_draft_soon()

    def show_state(self, old: BrowserState, new: BrowserState) -> None:
        """Show what differs between two states."""
        self._state = new
        if new.summary is not None and new.summary is not old.summary:
            self._show_summary(new.summary)
        if new.results is not None and new.results is not old.results:
            self._show_results(new)
        if new.facets is not None and new.facets is not old.facets:
            self._show_facets(old.facets, new.facets)
        if new.hidden_columns is not old.hidden_columns:
            self.table.hide_columns(new.hidden_columns)
        if new.machine is not None and new.machine != old.machine:
            self.title.show_machine(new.machine)
        if new.summary is not old.summary or new.machine != old.machine:
            self._show_overview(new)
        if new.marks != old.marks or new.marked != old.marked:
            self.table.show_marks(RowMarks(new.marks, new.marked))
            self._show_marks()
        elif new.marks and new.results is not old.results:
            self._show_marks()
        if new.results is not old.results:
            self.show_counts()
        if new.sheet is not old.sheet:
            self._show_sheet(old.sheet, new.sheet)
        if new.details is not old.details:
            self._show_details(new)
        is_empty = new.listing is not None and not new.listing
        if new.details is None and (is_empty or new.sheet is not None):
            self.detail.show_details((), None)
            self.detail.lines.show_texts(self.table.texts_for_detail)
        if new.draft is not old.draft:
            self._show_draft(old.draft, new.draft)
            self.show_counts()
            if new.draft is None:
                self.table.settle()
                self.show_query()
        if new.stale != old.stale:
            self._show_stale(new.stale)

    def _show_sheet(self, old: OpenSheet | None, new: OpenSheet | None) -> None:
        """Show a sheet in the place of the rows, or these again."""
        self.query_bar.show_sheet(command_text(new.command) if new is not None else "")
        if new is None:
            self.table.show_rows_again()
        else:
            is_first = old is None or old.sheet is None or not new.is_same(old)
            self.table.show_sheet(new, new.column if is_first else "")
        self.show_counts()
        self.show_position()
        self.show_hints()

    def _show_marks(self) -> None:
        """Name the marked specs; in the detail `y` copies the spec that is shown there."""
        state = self._state
        copies = self.focus.pane != "detail"
        self.marks.show(state.marks, state.marked, state.listing, copies=copies)
        self.toast.show_above(2 if state.marks else 1)
        self.show_hints()

    def _show_draft(self, old: Draft | None, draft: Draft | None) -> None:
        """Show another draft in its input, or none."""
        if old is not None and (draft is None or draft.input != old.input):
            self.input_named(old.input).is_wrong = False
        if draft is None:
            self._is_box_late = False
            self.popup.hide()
            return
        input_ = self.input_named(draft.input)
        input_.is_wrong = draft.is_wrong
        is_replaced = draft.replaces and input_.value == draft.replaces
        if is_replaced or (old is None and input_ is not self._screen.focused):
            input_.reflect(draft.parsed.text)
        self.show_draft_soon()

    def show_draft_soon(self) -> None:
        """Show the note and the completions of the draft once everything is in place."""
        draft = self._state.draft
        if draft is not None and draft.completions is not None:
            self._is_box_late = True
            self._screen.call_after_refresh(self._show_box)

    def _show_box(self) -> None:
        """Show the note and the completions of the draft in a box under its input."""
        self._is_box_late = False
        draft = self._state.draft
        if draft is None or not (input_ := self.input_named(draft.input)).has_focus:
            self.popup.hide()
            return
        # An error in a filter is said in the query line, so that nothing covers the rows.
        text, note = draft.parsed.text, draft.note if draft.input == QUERY else None
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

    def show_query(self, *, rewrite: bool = False) -> None:
        """Show the query in the line and the filters; `rewrite` also the one being typed in."""
        query, draft = self._state.view.query, self._state.draft
        typing = (
            None if rewrite else self.input_named(draft.input) if draft else self._screen.focused
        )
        self.query_bar.reflect(query, typing)
        self.table.reflect(QueryFilters(query), typing)
        self.title.show_active([term for group in query.of_column("source") for term in group])

    def show_instead_of_rows(self, text: str, choices: Sequence[KeyChoice] = ()) -> None:
        """Show a text while there are no rows, and what to do about it."""
        self.table.show_empty(text, choices)
        if choices:
            self.focus.go_to("specs")
        # Where one pane is shown at a time, that is the packages now.
        self.names.rows.show(0, empty=text if self._screen.has_class("-single") else "")

    def show_packages(self, summary: Summary) -> None:
        """Show all packages while the first rows are read."""
        self.names.show_packages(summary.catalog, summary.packages, None, self._state.view.query)
        self.show_position()

    def _show_summary(self, summary: Summary) -> None:
        self.query_bar.input.packages = summary.names
        self.title.show_catalog(summary.chips, summary.remark, summary.problems)

    def _show_overview(self, state: BrowserState) -> None:
        """Show the columns beside the packages, in a pane as wide as they need."""
        if state.summary is None:
            return
        runs = titles.RUNS_HERE if state.machine is None else titles.runs_head(state.machine)
        head = runs if state.summary.catalog.lists_dependencies else ""
        width = titles.overview_width(max(map(len, state.summary.names), default=0), head)
        self.names.show_overview(head, width)
        # The divider is beside it.
        self.overview_width = 1 + width
        self.focus.fit()

    def _show_results(self, state: BrowserState) -> None:
        results, summary = state.results, state.summary
        assert results is not None
        is_empty = summary is not None and not results.listing
        choices = without_rows(summary, results.listing) if summary and is_empty else ()
        self.names.show_packages(
            results.catalog, results.packages, results.selected, results.listing.view.query
        )
        if results.selected is not None and self.focus.pane != "packages":
            self.names.reveal(results.selected.name)
        rows = SpecRows(
            results.listing,
            results.windows,
            results.shared,
            empty=results.explanation,
            before=results.hidden,
        )
        offered, is_typing = results.relaxations or choices, state.draft is not None
        self.table.show_listing(rows, results.cursor, offered, is_typing=is_typing)
        if not results.catalog.total and self.focus.pane == "packages":
            self.focus.go_to("specs")
        self.facets.expect()
        # Columns may have moved.
        self.show_draft_soon()
        self.show_position()
        self.show_hints()

    def _show_facets(self, old: Facets | None, new: Facets) -> None:
        is_new = old is None or new.place is not old.place
        place = new.place if is_new else None
        self.facets.show_sections(
            new.sections, empty=new.note, place=place, is_last=not new.is_awaited
        )
        self.show_position()

    def show_counts(self) -> None:
        """Show how many specs are shown, and what all of them share."""
        results, summary = self._state.results, self._state.summary
        if results is None or summary is None:
            return
        if (opened := self._state.sheet) is not None:
            total = len(opened.sheet.rows) if opened.sheet is not None else 0
            of = f"{self.table.rows.position[1]:,} of " if opened.filters else ""
            self.query_bar.show_count([f"{of}{counted(total, 'row')}" if total else ""])
            return
        if self._state.stale:
            draft = self._state.draft
            is_filter = draft is not None and draft.input != QUERY
            note = draft.note if draft is not None and is_filter else None
            self.query_bar.show_count([self._state.stale], note.sentence if note else "")
            return
        selected = results.selected
        total = selected.total if selected is not None else summary.total
        package = selected.name if selected is not None else None
        packages = len([each for each in results.packages if each.shown])
        shown = results.listing.shown
        counts = titles.query_counts(shown, total, package, packages)
        so_far = " so far" * bool(summary.catalog.part)
        self.query_bar.show_count([f"{count}{so_far}" for count in counts])

    def _show_stale(self, stale: str) -> None:
        """Dim the rows while they belong to an older query."""
        for pane in (self.names, self.facets, self.table, self.detail):
            # A class of the pane would compute the styles of every filter and head in it too.
            pane.query("VirtualList, HeadLine").set_class(bool(stale), "-stale")
        self.show_counts()

    def _show_details(self, state: BrowserState) -> None:
        details = state.details
        # While another catalog is read the last lines stay.
        if details is None:
            self._end_patience()
        elif details.is_pending:
            self._end_patience()
            self._has_shown = False
            query, package = self._described
            is_other = package != details.row.spec.package
            self.detail.wait(is_other=is_other and query != state.view.query)
        elif details.is_relating and not (self._has_shown or details.shows_tree):
            # What is below the relations would move.
            if self._patience is None:
                self._patience = self._screen.set_timer(_PATIENCE, self._show_late)
        else:
            self._end_patience()
            row = details.row
            self._described = state.view.query, row.spec.package
            self.detail.show_details(
                [*details.lines, *details.relations],
                details.tree,
                key=(row.spec.hash, row.count, row.role),
                shows_tree=details.shows_tree,
                differing=details.differing,
                compared_with=next(iter(state.marks), "")[:SHORT_HASH],
                at=None if self._has_shown else details.at,
                beside="" if row.spec.in_cache else "not in the table",
            )
            self._has_shown = details.is_relating
            self.show_position()
            self.show_hints()

    def _show_late(self) -> None:
        """Show a spec whose relations take long without them."""
        details = self._state.details
        # A timer that was stopped may have sent its call before.
        if details is not None and self._patience is not None:
            shown = replace(details, is_relating=False)
            self._show_details(replace(self._state, details=shown))
            self._has_shown = True

    def _end_patience(self) -> None:
        if self._patience is not None:
            self._patience.stop()
            self._patience = None

    @property
    def key_panes(self) -> tuple[str, ...]:
        """The parts of the table of keys that work now, the focused pane first."""
        if self.focus.focused_input is not None:
            return (keymap.FILTERS,)
        pane = self.focus.pane
        if pane == keymap.SPECS and self.table.shown_list is not self.table.rows:
            return (keymap.RELAXATIONS, keymap.LISTS, keymap.ANYWHERE)
        if pane == keymap.DETAIL and self.detail.shows_tree:
            return (keymap.TREE, keymap.DETAIL, keymap.LISTS, keymap.ANYWHERE)
        if pane == keymap.SPECS and self._state.sheet is not None and self._state.sheet.switches:
            return (keymap.DIFF, pane, keymap.LISTS, keymap.ANYWHERE)
        return (pane, keymap.LISTS, keymap.ANYWHERE)

    def show_position(self) -> None:
        """Show the position in the list that has the focus; with the values of a spec its row."""
        if self.toast.display:
            # The cursor may be in its place now.
            self.toast.place()
        pane, rows = self.focus.pane, self.table.shown_list
        if pane == "values":
            rows = self.facets.rows
        elif pane == "packages":
            rows = self.names.rows
        elif pane == "detail" and self.detail.shows_tree:
            rows = self.detail.shown_list
        self.status.show_position(titles.position(*rows.position))

    def show_hints(self) -> None:
        """Show the keys of the input or the pane with the focus; without specs the ways out."""
        is_zoomed = self.focus.zoomed and not self.focus.focused_input
        shown = keymap.hints(*self.key_panes, words=dict(self._hint_words()))
        if self._state.summary is None and self.key_panes[0] == keymap.RELAXATIONS:
            shown = chain.from_iterable(map(keymap.hint, ("relaxations-choose", "quit", "help")))
        if self._state.sheet is not None:
            left_out = keymap.key_names("fold", "values", *self._keys_without_use())
            kept = [each for each in shown if each.key not in left_out]
            # On few cells there may be no room for more than the way back.
            first = 1 if self.item is not None else 0
            back = [each for each in kept[first:] if each.key in keymap.key_names("undo")]
            others = [each for each in kept[first:] if each not in back]
            shown = iter([*kept[:first], *back, *others])
        self.status.show_hints([*(keymap.hint("zoom", "unzoom") if is_zoomed else ()), *shown])

    def _keys_without_use(self) -> Iterator[str]:
        """Yield the names of keys that do nothing with the row of the sheet under the cursor."""
        opened, marks = self._state.sheet, len(self._state.marks)
        has_spec = self.is_waiting or self.row is not None
        if self.item is None:
            yield "specs-open"
        if not self.table.columns.columns.names:
            yield from ("export", "filter")
        if not has_spec:
            yield from ("specs-mark", "tree")
        if not (has_spec or marks):
            yield "copy"
        # In a comparison it goes back, unless there are others to compare.
        is_comparison = opened is not None and bool(opened.switches)
        if marks < 2 and (is_comparison or not has_spec):
            yield "diff"

    def _hint_words(self) -> Iterator[tuple[str, str]]:
        """Yield the names of keys whose hints read otherwise with the row under the cursor."""
        row, marks = self.row, len(self._state.marks)
        if (opened := self._state.sheet) is not None:
            yield "specs-open", opened.choose_hint
            yield "undo", "back"
            return
        if self._state.view.folded:
            yield "fold", "unfold"
        if self._is_pick and not (row is not None and row.has_look_alikes):
            any_of = f"pick any of {row.count:,}" if row and row.count > 1 else "pick"
            yield "specs-open", f"pick {marks:,} marked" if marks else any_of
        elif row is not None and row.count > 1:
            is_open = row.role in (RowRole.GROUP, RowRole.OPEN_KIND)
            yield "specs-open", ("close" if is_open else "open").ljust(_HINT_WIDTH)

    def open_help(self) -> None:
        """Show all keys, those that work now first."""
        # A dialog is imported when it is first opened.
        from spackscope.tui.dialogs.help import open_help

        open_help(self._screen.app, self.key_panes)


class PaneFocus:
    """Move the focus, and show the pane that gets it; others make room for it.

    The style sheet arranges the panes by classes: the column of the pane with the focus has
    `step-…` with its name, the screen `-zoomed` if it has the whole screen, and those for the
    size of the terminal.
    `zoomed` is the pane with the whole screen.
    """

    def __init__(self, screen: Screen[None], panes: Panes) -> None:
        self._screen, self._panes = screen, panes
        self._waiting: list[Callable[[], object]] = []
        self._shown = "packages"
        self.zoomed: str | None = None
        # Where the user came from to look at the side column.
        self._origin: str | None = None

    @property
    def is_moving(self) -> bool:
        """Whether the focus waits for a pane that is not on the screen yet."""
        return bool(self._waiting)

    @property
    def pane(self) -> str:
        """The name of the pane with the focus, or `query`."""
        if self._screen.focused is None:
            return "packages"
        around = [node.id for node in self._screen.focused.ancestors_with_self]
        return next((pane for pane in (*_ROUND, *_SIDE) if pane in around), QUERY)

    @property
    def focused_input(self) -> FilterInput | None:
        """The input with the focus."""
        focused = self._screen.focused
        return focused if isinstance(focused, FilterInput) else None

    def go_to(self, target: str) -> None:
        """Move the focus to a pane, or to the query line."""
        widgets: dict[str, Widget] = {
            "packages": self._panes.names.rows,
            "values": self._panes.facets.rows,
            "specs": self._panes.table.shown_list,
            "detail": self._panes.detail.shown_list,
            QUERY: self._panes.query_bar.input,
        }
        if target != QUERY:
            self.show(target)
        self._focus_soon(widgets[target].focus)

    def peek(self, target: str) -> None:
        """Go to a pane of the side column, to come back from it with `give_back`."""
        if (pane := self.pane) not in _SIDE:
            self._origin = "specs" if pane == QUERY else pane
        self.go_to(target)

    def give_back(self) -> bool:
        """End the zoom, or go back to where the user came from; return False if neither is."""
        if self.unzoom():
            return True
        origin = self._origin or ("specs" if self.pane == "values" else None)
        if self.pane in _SIDE and origin is not None:
            self.go_to(origin)
            return True
        return False

    def zoom(self, pane: str) -> None:
        """Show a pane on the whole screen, and focus it."""
        if not self._is_alone(pane):
            self.zoomed = pane
            self.show(pane)
            self._screen.add_class("-zoomed")
            self._panes.show_hints()
        if self.pane != pane:
            self.go_to(pane)

    def unzoom(self) -> bool:
        """Show all panes again; return whether one was zoomed."""
        was_zoomed, self.zoomed = self.zoomed is not None, None
        self._screen.remove_class("-zoomed")
        if was_zoomed:
            self._panes.show_hints()
        return was_zoomed

    def toggle_zoom(self) -> None:
        """Zoom the pane with the focus, or end the zoom."""
        if not self.unzoom():
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
            self._panes.names.filter.focus()
            return
        self._panes.table.open_filter()
        self.show("specs")
        self._focus_soon(self._panes.table.enter_filter)

    def go_to_tree_search(self) -> None:
        """Move the focus to the search for names in the tree."""
        self._focus_soon(self._panes.detail.show_search_input().focus)

    def go_on(self, step: int) -> None:
        """Move the focus to the next filter or pane, or with -1 to the one before.

        The filters come after the rows.
        """
        table = self._panes.table
        if table.next_filter(step):
            self._focus_soon(table.enter_filter)
            return
        has_filter = bool(table.columns.current)
        if self.pane == "specs" and step > 0 and self.focused_input is None and has_filter:
            self.go_to_filter()
            return
        if self.pane == "specs" and step < 0 and self.focused_input is not None:
            self.go_to("specs")
            return
        here = "packages" if self.pane == "values" else self.pane
        target = _ROUND[(_ROUND.index(here) + step) % len(_ROUND)]
        if target == QUERY:
            self._panes.query_bar.focus_input()
        else:
            self.go_to(target)

    def _focus_soon(self, focus: Callable[[], object]) -> None:
        """Move the focus once the pane is on the screen: a hidden one cannot have it."""
        self._waiting.append(focus)
        self.move_soon()

    def move_soon(self) -> None:
        """Move the focus to where it waits to go, if it does, after what is drawn next.

        To be called when a dialog closes, too: Textual forgets what the dialog had yet to call.
        """
        if self._waiting:
            self._screen.call_after_refresh(self._move)

    def _move(self) -> None:
        while self._waiting:
            self._waiting.pop(0)()

    def show(self, pane: str) -> None:
        """Show the pane that gets the focus; for the query line the rows, which follow it.

        Another pane than the zoomed one ends the zoom, and one of the work column the drawer.
        """
        shown = "specs" if pane == QUERY else pane
        if shown not in _SIDE:
            self._origin = None
        if self.zoomed not in (None, shown):
            self.unzoom()
        self._step_to(shown)

    def fit(self) -> None:
        """Show the pane with the focus after the terminal got another size."""
        self._step_to(self._shown)

    def _step_to(self, pane: str) -> None:
        """Set the class of the pane for the style sheet.

        Columns have classes only where these matter: the styles of all widgets in a column are
        computed again when its class changes.
        """
        self._shown = pane
        is_alone = self.zoomed is not None or self._is_alone(pane)
        is_side = pane in _SIDE
        # The table and the detail are on the screen together.
        in_work = (None if is_side else pane) if is_alone else "specs"
        for column, step in (
            (self._panes.side, pane if is_side else None),
            (self._panes.work, in_work),
        ):
            if step is None or not column.has_class(f"step-{step}"):
                others = [name for name in column.classes if name.startswith("step-")]
                column.remove_class(*others, update=step is None)
                if step is not None:
                    column.add_class(f"step-{step}")
        is_broad = not is_alone and self._screen.has_class("-broad")
        width = self._panes.overview_width if is_broad and pane == "packages" else None
        self._panes.side.styles.max_width = width

    def _is_alone(self, pane: str) -> bool:
        """Check whether a pane has the whole screen without a zoom."""
        names = self._screen.classes
        return "-single" in names or bool({"-flat", "-tiny"} & names and pane not in _SIDE)
