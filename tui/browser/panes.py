"""The widgets of the browser: show a state in them, and tell where the user is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from itertools import chain, starmap

from textual.app import ComposeResult
from textual.containers import Container, Horizontal, Vertical
from textual.errors import NoWidget
from textual.screen import Screen
from textual.widget import Widget

from spackscope.model.assist.offers import is_unfinished
from spackscope.model.core.columns import SHORT_HASH
from spackscope.model.core.frozen import replace
from spackscope.model.core.text import cell_width, clean
from spackscope.model.index.order import RowRole
from spackscope.model.report import titles
from spackscope.tui import keymap
from spackscope.tui.browser import jobs
from spackscope.tui.browser.state import NO_COMPLETIONS, QUERY, BrowserState, Where, without_rows
from spackscope.tui.process.stdio import is_plain
from spackscope.tui.widgets.detail_layout import least_rows
from spackscope.tui.widgets.detail_pane import DetailPane
from spackscope.tui.widgets.frame import (
    Divider,
    Marks,
    MarksLine,
    StatusLine,
    Title,
    TitleLine,
    Toast,
)
from spackscope.tui.widgets.query_line import CompletionPopup, Count, FilterInput, QueryBar
from spackscope.tui.widgets.side_column import PackageList, ValuesPane
from spackscope.tui.widgets.spec_table import HEADS, LOW, SpecTable
from spackscope.tui.widgets.table_head import QueryFilters
from spackscope.tui.widgets.table_rows import RowMarks, ShownRows, SpecRows
from spackscope.tui.widgets.virtual_list import VirtualList

_SIDE = ("packages", "values")
"""The panes of the side column, a drawer in narrow terminals."""
_MIN_BESIDE = 72
"""Columns from which on the packages are beside the table while none is chosen."""
_ROUND = (QUERY, "packages", "specs", "detail")
"""The panes that Tab goes through."""


class PaneFocus:
    """Move the focus, and show the pane that gets it; others make room for it.

    The style sheet arranges the panes by classes: the column of the pane with the focus has
    `step-…` with the name of the pane, and the screen `-zoomed` if a pane has the whole screen,
    besides the classes for the size of the terminal.
    `zoomed` is the pane with the whole screen.
    """

    def __init__(self, screen: Screen[None], panes: Panes) -> None:
        self._screen, self._panes = screen, panes
        self._waiting: list[Callable[[], object]] = []
        self._shown = "specs"
        self.zoomed: str | None = None
        # The pane that the user left to look at the side column.
        self._origin: str | None = None

    @property
    def is_moving(self) -> bool:
        """Whether the focus waits for a pane that is not on the screen yet."""
        return bool(self._waiting)

    @property
    def pane(self) -> str:
        """The name of the pane with the focus, or `query`."""
        if self._screen.focused is None:
            return "specs"
        around = [node.id for node in self._screen.focused.ancestors_with_self]
        return next((pane for pane in (*_ROUND, *_SIDE) if pane in around), QUERY)

    @property
    def has_detail(self) -> bool:
        """Whether rows of the table may have a detail."""
        return not self._panes.work.has_class("-no-detail")

    @property
    def focused_input(self) -> FilterInput | None:
        """The input with the focus."""
        focused = self._screen.focused
        return focused if isinstance(focused, FilterInput) else None

    def go_to(self, target: str) -> None:
        """Move the focus to a pane, or to the query line; without a detail to the rows."""
        if target == "detail" and not self.has_detail:
            target = "specs"

        def focus() -> None:
            panes = self._panes
            widgets: dict[str, Widget] = {
                "packages": panes.names.rows,
                "values": panes.values.rows,
                "specs": panes.table.rows,
                # It may show its tree since then.
                "detail": panes.detail.shown_list,
                QUERY: panes.query_bar.input,
            }
            # The rows of an answer may have come since then, with no detail.
            if target == "detail" and not self.has_detail:
                self.go_to("specs")
            else:
                widgets[target].focus()

        self._leave(target)
        if target != QUERY:
            self.show(target)
        self._focus_soon(focus)

    def _leave(self, target: str) -> None:
        """Scroll the detail or the values back to the top when the focus leaves them."""
        panes = self._panes
        if self.pane == "detail" != target and not panes.detail.shows_tree:
            panes.detail.lines.go_to(0, 0)
        elif self.pane == "values" != target:
            panes.values.rows.move_to(0)

    def peek(self, target: str) -> None:
        """Go to a pane of the side column, to come back from it with `give_back`."""
        if (pane := self.pane) not in _SIDE:
            self._origin = "specs" if pane == QUERY else pane
        self.go_to(target)

    @property
    def leads_back(self) -> bool:
        """Whether `give_back` would do something in the list of packages."""
        return self.zoomed is not None or self._origin is not None

    def give_back(self) -> bool:
        """End the zoom, or go back to the last pane; return False if there is neither."""
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
            self._panes.follow_cursor()
        if self.pane != pane:
            self.go_to(pane)

    def unzoom(self) -> bool:
        """Show all panes again; return whether one was zoomed."""
        was_zoomed, self.zoomed = self.zoomed is not None, None
        self._screen.remove_class("-zoomed")
        if was_zoomed:
            self._panes.follow_cursor()
        return was_zoomed

    def toggle_zoom(self) -> None:
        """Zoom the pane with the focus, or end the zoom."""
        if not self.unzoom():
            self.zoom("specs" if self.pane == QUERY else self.pane)

    def go_to_filter(self) -> None:
        """Move the focus to the filter of the package list, or of the current column."""
        if self.pane == "packages":
            self._focus_soon(self._panes.names.open_filter().focus)
            return
        self._panes.table.open_filter()
        self._enter_filter()

    def go_to_sheet_search(self) -> None:
        """Move the focus to the filter of all columns of a sheet."""
        self._panes.table.open_search()
        self._enter_filter()

    def _enter_filter(self) -> None:
        self.show("specs")
        self._focus_soon(self._panes.table.filters.enter_open)

    def go_to_tree_search(self) -> None:
        """Move the focus to the search for names in the tree."""
        self._focus_soon(self._panes.detail.show_search_input().focus)

    def go_on(self, step: int) -> None:
        """Move the focus to the next filter or pane, or with -1 to the previous filter or pane.

        The filters come after the rows.
        """
        table = self._panes.table
        if table.next_filter(step):
            self._focus_soon(table.filters.enter_open)
            return
        has_filter = bool(table.columns.current)
        if self.pane == "specs" and step > 0 and self.focused_input is None and has_filter:
            self.go_to_filter()
            return
        if self.pane == "specs" and step < 0 and self.focused_input is not None:
            self.go_to("specs")
            return
        here = "packages" if self.pane == "values" else self.pane
        panes = [pane for pane in _ROUND if pane != "detail" or self.has_detail]
        target = panes[(panes.index(here) + step) % len(panes)]
        if target == QUERY:
            self._panes.query_bar.focus_input()
        else:
            self.go_to(target)

    def _focus_soon(self, focus: Callable[[], object]) -> None:
        """Move the focus once the pane is on the screen: a hidden one cannot have it."""
        self._waiting.append(focus)
        self.move_soon()

    def move_soon(self) -> None:
        """Make the waiting moves of the focus after the next drawing.

        Called when a dialog closes, too: Textual drops the pending calls of a dialog.
        """
        if self._waiting:
            self._screen.call_after_refresh(self._move)

    def _move(self) -> None:
        while self._waiting:
            self._waiting.pop(0)()

    def show(self, pane: str) -> None:
        """Show the pane that gets the focus; for the query line show the rows.

        A pane other than the zoomed pane ends the zoom; the table and the detail close the drawer.
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
        is_whole = self._panes.names.selected is None and bool(self._panes.names.packages)
        has_room = self._screen.app.size.width >= _MIN_BESIDE
        self._panes.side.set_class(is_whole and has_room, "-all")
        is_broad = not is_alone and self._screen.has_class("-broad")
        width = self._panes.overview_width if is_broad and pane == "packages" else None
        self._panes.side.styles.max_width = width

    def _is_alone(self, pane: str) -> bool:
        """Check whether a pane has the whole screen without a zoom."""
        names = self._screen.classes
        return "-single" in names or bool({"-flat", "-tiny"} & names and pane not in _SIDE)


_LINES_AROUND, _LOW_HEADS = 4, 2
"""Lines above and below the panes, and above the rows of the table on a low screen."""
_LEAST_ROWS, _LEAST_DETAIL = 8, 4
"""Rows that the table keeps, and lines that the detail has at the least."""


class Panes:
    """The widgets of a screen, which begin with a state."""

    def __init__(self, screen: Screen[None], state: BrowserState) -> None:
        self._screen, self._state = screen, state
        self.popup = CompletionPopup(id="completion-popup")
        self.toast = Toast(id="toast")
        self.title = TitleLine(self._title, id="title")
        self.query_bar = QueryBar(self._count, id="query")
        self.names = PackageList(id="packages", classes="pane")
        self.values = ValuesPane(id="values", classes="pane")
        self.table = SpecTable(id="specs", classes="pane")
        self.table.is_pick = state.is_pick
        self.detail = DetailPane(id="detail", classes="pane")
        self.marks = MarksLine(self._marks, id="marks")
        self.marks.display = False
        self.status = StatusLine(lambda: (self._hints(), self._position()), id="status")
        lists = Vertical(self.names, self.values, id="lists")
        divider = Divider(self._rules, id="divider")
        self.values.on_heads = divider.follow
        self.side = Horizontal(lists, divider, id="side")
        self.work = Vertical(self.table, self.detail, id="work", classes="step-specs")
        self.focus = PaneFocus(screen, self)
        self.overview_width: int | None = None
        """Cells that the side column needs at most while the packages have the focus."""
        self.specs = self.table.rows.shown
        """The rows of the specs, shown or not."""
        # What a screen reader was told last, and the message with it.
        self._announced = "", ""
        # The texts that the detail shows of a row without a spec; None if it shows a spec.
        self._texts: Sequence[str] | None = []
        self.awaited = frozenset[str]()
        """The needs of keys that were read, and are still to be shown after the next drawing."""

    def compose(self) -> ComposeResult:
        """Lay out title and query above the panes, marks and status below.

        The side column is packages and values, beside the table above the detail.
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

    def where(self) -> Where:
        """Return where the user is."""
        in_detail, rows = self.focus.pane == "detail", self.table.rows
        list_ = self.detail.shown_list if in_detail else rows
        input_ = self.focus.focused_input
        return Where(
            pane=self.focus.pane,
            input=input_.name if input_ is not None else None,
            key_panes=self.key_panes,
            row=rows.row,
            is_waiting=rows.is_waiting,
            is_row_seen=self._is_seen(list_, list_.cursor - list_.top),
            are_marks_seen=self._is_seen(self.marks, 0),
            item=rows.item,
            sheet_cursor=rows.position[0],
            column=self.table.column,
            position=self.detail.position,
            term=self.detail.term,
            node=self.detail.node,
            line=self.query_bar.input.parsed,
            value=self.values.place,
        )

    def _is_seen(self, widget: Widget, line: int) -> bool:
        """Check whether a line of a widget is on the screen, and nothing over it."""
        if not widget.is_on_screen or not 0 <= line < widget.size.height:
            return False
        try:
            at = widget.region.offset
            return self._screen.get_widget_at(at.x, at.y + line)[0] is widget
        except NoWidget:
            return False

    def _rules(self) -> tuple[Set[int], Set[int]]:
        """Return the lines of the screen with rules left and right of the divider."""
        sides = ((self.names, self.values), (self.table, self.detail))
        left, right = ({pane.region.y for pane in side if pane.size} for side in sides)
        rows = self.values.rows
        return left | {rows.region.y + line for line in rows.heads_in_view}, right

    def show_focus(self) -> None:
        """Show the input or pane that got the focus, with its marks, hints and completions."""
        self.focus.show(self.focus.pane)
        self.marks.refresh()
        self.follow_cursor()
        self.show_draft_soon()
        self.announce(again=True)

    def show_state(self, old: BrowserState, new: BrowserState, changed: Set[str]) -> None:
        """Show changed fields in the panes; the title, marks and status lines read the state."""
        self._state = new
        for fields, show in self._WATCHED:
            if not changed.isdisjoint(fields):
                show(self, old, new)
        self.title.refresh()
        self.marks.refresh()
        self.follow_cursor()
        self.announce()

    def announce(self, *, again: bool = False) -> None:
        """Announce the content of the pane with the focus to a screen reader, after a message."""
        if not is_plain():
            return
        pane, lines = self.focus.pane, self.detail.lines.all
        what = self._state.table.title or str(self._state.view.query)
        shown = [what, *self._count().forms[:1]]
        if pane == "detail" and lines:
            shown = [lines[0].text]
        text = clean(f"{pane}: {', '.join(filter(None, shown))}")
        if again or text != self._announced[0]:
            message = self.toast.message
            is_old = message in ("", self._announced[1])
            self.toast.say(text if is_old else f"{message}. {text}")
            self._announced = text, self.toast.message

    def _show_marks(self, _: BrowserState, new: BrowserState) -> None:
        self.table.show_marks(RowMarks(new.marks, new.marked))
        self.marks.display = bool(new.marks)
        self.fit_split()
        self.toast.lines_below = 2 if new.marks else 1

    def _hide_columns(self, _: BrowserState, new: BrowserState) -> None:
        self.specs.columns.hidden = new.hidden_columns
        self.table.settle()

    def _show_table(self, _: BrowserState, new: BrowserState) -> None:
        """Show the open table; an answer has the room of the values of the specs."""
        table = new.table
        self.query_bar.show_sheet(clean(table.title))
        self.side.set_class(bool(table.name), "-behind")
        self.table.show(table.rows(self.table.rows.shown, self.specs))
        self.fit_split()

    def _show_draft(self, before: BrowserState, new: BrowserState) -> None:
        """Show another draft in its input; None hides the completions."""
        old, draft = before.draft, new.draft
        if old is not None and (draft is None or draft.input != old.input):
            self.input_named(old.input).is_wrong = False
        if draft is None:
            self.awaited = frozenset()
            self.popup.hide()
            self.table.settle()
            self.show_query()
            return
        input_ = self.input_named(draft.input)
        input_.is_wrong = draft.is_wrong
        is_replaced = draft.replaces and input_.value == draft.replaces
        if is_replaced or (old is None and input_ is not self._screen.focused):
            input_.reflect(draft.parsed.text)
        self.show_draft_soon()

    def show_draft_soon(self) -> None:
        """Show the note and the completions of the draft after the next drawing."""
        draft = self._state.draft
        if draft is not None and draft.completions is not None:
            self.awaited = frozenset((keymap.COMPLETIONS,))
            self._screen.call_after_refresh(self._show_box)

    def _show_box(self) -> None:
        """Show the note and the completions of the draft in a box under its input."""
        self.awaited = frozenset()
        draft = self._state.draft
        if draft is None or not (input_ := self.input_named(draft.input)).has_focus:
            self.popup.hide()
            return
        # The query line shows the error of a filter, so that nothing covers the rows.
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

        # The head of the table says to which query older rows belong.
        self.popup.show(
            inside.y + bool(self._state.stale),
            column(completions.start),
            completions.items,
            note.sentence if note else "",
            column(note.offset) if note and note.offset is not None else None,
        )

    def show_query(self, *, rewrite: bool = False) -> None:
        """Show the query in its line and the filters; only `rewrite` changes the input in use."""
        query, draft = self._state.view.query, self._state.draft
        typing = (
            None if rewrite else self.input_named(draft.input) if draft else self._screen.focused
        )
        self.query_bar.reflect(query, typing)
        self.specs.columns.filters = QueryFilters(query)
        self.table.reflect(typing)

    def _show_specs(self, specs: ShownRows, *, keeps_columns: bool = False) -> None:
        """Show newer rows of the specs, unless a sheet is in their place."""
        specs.columns, specs.top = self.specs.columns, self.specs.top
        self.specs = specs
        self.table.show(self.table.rows.shown.succeeded_by(specs), keeps_columns=keeps_columns)
        self.fit_split()

    def fit_split(self) -> None:
        """Set the height of the detail: room for the longest build, and what no row needs.

        The table keeps a few rows. A step of the cursor never moves the rule between the two.
        """
        listing, width = self.table.rows.shown.listing, self.table.size.width
        if listing is None:
            self.detail.styles.height = None
            return
        if not listing:
            # The ways out in place of the rows have the room: no build is shown.
            self.detail.styles.height = _LEAST_DETAIL
            return
        if width < 4:
            return
        height = self._screen.app.size.height
        around = _LINES_AROUND + bool(self._state.marks)
        room = height - around - (HEADS if height >= LOW else _LOW_HEADS)
        variants = listing.values.longest_variants
        needed = 1 + least_rows(variants, width - 2, are_several=listing.max_count > 1)
        most = room - min(_LEAST_ROWS, len(listing))
        lines = max(_LEAST_DETAIL, min(needed, most), room - len(listing))
        self.detail.styles.height = lines

    def _show_missing(self, _: BrowserState, new: BrowserState) -> None:
        """Show a text and choices while there are no rows."""
        missing = new.missing
        self._show_specs(ShownRows(*missing))
        if missing.choices:
            self.focus.go_to("specs")
        # Where one pane is shown at a time, that is the packages now.
        self.names.rows.show(0, empty=missing.text * self._screen.has_class("-single"))

    def _show_overview(self, _: BrowserState, state: BrowserState) -> None:
        """Show the columns beside the packages, in a pane as wide as they need."""
        if state.summary is None:
            return
        self.query_bar.input.packages = state.summary.names
        runs = titles.RUNS_HERE if state.machine is None else titles.runs_head(state.machine)
        head = runs if state.summary.catalog.lists_dependencies else ""
        width = titles.overview_width(max(map(len, state.summary.names), default=0), head)
        self.names.show_overview(head, width)
        # The divider is beside it.
        self.overview_width = 1 + width
        self.focus.fit()

    def _show_results(self, old: BrowserState, state: BrowserState) -> None:
        """Show other rows, and their packages: all packages while the first rows are read."""
        results, summary, query = state.results, state.summary, state.view.query
        if results is None:
            if summary is not None and not query:
                self.names.show_packages(summary.catalog, summary.packages, None, query)
                self.focus.fit()
            return
        if results is old.results:
            return
        is_empty = summary is not None and not results.listing
        choices = without_rows(state, summary, results.listing) if summary and is_empty else ()
        self.names.show_packages(
            results.catalog, results.packages, results.selected, results.listing.view.query
        )
        if results.selected is not None and self.focus.pane != "packages":
            self.names.reveal(results.selected.name)
        self.focus.fit()
        rows = SpecRows(
            results.listing,
            results.windows,
            results.shared,
            empty=results.explanation,
            choices=results.relaxations or choices,
            before=results.hidden,
        )
        rows.cursor = results.cursor
        before = self.specs.listing
        # Columns are chosen with the rows of a package, never by a letter.
        is_same = before is not None and (
            before.view.query.package_term == results.listing.view.query.package_term
        )
        self._show_specs(rows, keeps_columns=is_same and state.draft is not None)
        if not results.catalog.total and self.focus.pane == "packages":
            self.focus.go_to("specs")
        self.values.expect()
        # Columns may have moved.
        self.show_draft_soon()

    def _show_values(self, old: BrowserState, state: BrowserState) -> None:
        new = state.values
        place = new.place if new.place is not old.values.place else None
        self.values.show_sections(
            new.sections, empty=new.note, place=place, is_last=not new.is_awaited
        )

    # Contents of the title, marks and status lines, read when they are drawn

    def _title(self) -> Title:
        """Return the sources, the machine, and the number of problems."""
        state, summary = self._state, self._state.summary
        active = [term for group in state.view.query.of_column("source") for term in group]
        purpose = f"choose for: {state.purpose}" if state.purpose else "choose"
        purpose = purpose if state.is_pick else ""
        title = Title((), "", 0, state.machine, active, state.is_sample, clean(purpose))
        if summary is None:
            return title
        remark, problems = clean(summary.remark), summary.problems
        return replace(title, chips=summary.chips, notes=remark, problems=problems)

    def _marks(self) -> Marks:
        """Return the marked specs, and the keys that act on something else than these."""
        state, in_sight = self._state, self._state.marks_in_sight
        unused = ["copy"] if self.focus.pane == "detail" or not in_sight else []
        compared = state.to_compare(self.table.rows.item)
        if compared is None or not compared.are_marked:
            unused.append("diff")
        if self.focus.focused_input is not None:
            # The keys are letters that are typed.
            unused = [*keymap.DEFAULT]
        return Marks(len(state.marks), state.marked, in_sight, unused)

    def _count(self) -> Count:
        """Return the number of shown rows, and of all."""
        return self._state.table.count(self._state)

    def _show_stale(self, _: BrowserState, new: BrowserState) -> None:
        """Dim the rows while they belong to an older query."""
        stale = new.stale
        for pane in (self.names, self.values, self.table, self.detail):
            # A class of the pane would compute the styles of every filter and head in it too.
            pane.query("VirtualList").set_class(bool(stale), "-stale")
        self.table.line.is_stale = bool(stale)
        self.show_draft_soon()

    def _show_count(self, _: BrowserState, new: BrowserState) -> None:
        if new.results is not None:
            self.query_bar.fit()

    def _show_details(self, _: BrowserState, state: BrowserState) -> None:
        details = state.details
        # The last lines stay while another catalog is read: else the lines below would move.
        if details is None:
            return
        row = details.row
        if details.is_pending:
            self.detail.wait(jobs.DIM)
            return
        self.detail.show_details(
            [*details.lines, *details.related.lines],
            details.tree,
            key=(row.spec.hash, row.count, row.role),
            shows_tree=details.shows_tree,
            differing=details.related.differing,
            compared_with=next(iter(state.marks), "")[:SHORT_HASH],
            at=details.at,
            beside="" if row.is_listed else "not in the table",
        )

    _WATCHED = (
        (("missing",), _show_missing),
        (("results", "view"), _show_results),
        (("values",), _show_values),
        (("hidden_columns",), _hide_columns),
        (("summary", "machine"), _show_overview),
        (("marks", "marked"), _show_marks),
        (("table",), _show_table),
        (("details",), _show_details),
        (("draft",), _show_draft),
        (("stale",), _show_stale),
        (("results", "summary", "table", "stale", "draft"), _show_count),
    )
    """The fields of the state, and what shows them, in this order."""

    @property
    def key_panes(self) -> tuple[str, ...]:
        """The parts of the table of keys that work now, the focused pane first."""
        if self.focus.focused_input is not None:
            return (keymap.FILTERS,)
        pane = self.focus.pane
        if pane == keymap.DETAIL and self.detail.shows_tree:
            return (keymap.TREE, keymap.DETAIL, keymap.LISTS, keymap.ANYWHERE)
        if pane == keymap.SPECS and self._state.table.sheet.switches:
            return (keymap.DIFF, pane, keymap.LISTS, keymap.ANYWHERE)
        return (pane, keymap.LISTS, keymap.ANYWHERE)

    def follow_cursor(self) -> None:
        """Update the status line and the detail of rows without a spec, and place the message."""
        # The last lines stay until the spec of the row is read.
        has_lines = self._state.details is not None or self.table.rows.has_spec
        texts = None if has_lines else self.table.texts_for_detail
        if texts != self._texts:
            self._texts = texts
            if texts is not None:
                self.detail.show_details((), None)
                self.detail.lines.show_texts(texts)
        self._give_room()
        self.status.refresh()
        if self.toast.display:
            self.toast.place()

    def _give_room(self) -> None:
        """Give the room of the detail to an answer whose row has none."""
        table = self._state.table
        has_detail = not table.name or table.sheet.is_prose or self.table.rows.has_spec
        if not table.is_reading and has_detail is not self.focus.has_detail:
            self.work.set_class(not has_detail, "-no-detail")
            if self.focus.pane == "detail":
                self.focus.go_to("detail")

    def _position(self) -> str:
        """Return the position in the focused list; for the lines of a spec, in the table."""
        rows: dict[str, VirtualList] = {"values": self.values.rows, "packages": self.names.rows}
        if self.detail.shows_tree:
            rows["detail"] = self.detail.shown_list
        return titles.position(*rows.get(self.focus.pane, self.table.rows).position)

    def _hints(self) -> Iterable[keymap.Hint]:
        """Return the hints for the focused input or pane; without a catalog, the ways out."""
        words = dict(self._hint_words())
        left_out = {*self._keys_without_use()}
        shown = keymap.hints(*self.key_panes, words=words, left_out=left_out)
        if self._state.summary is None and self.table.rows.shown.choices:
            keys = ("specs-open", words["specs-open"]), ("quit",), ("help",)
            shown = chain.from_iterable(starmap(keymap.hint, keys))
        return shown

    def _hint_words(self) -> Iterator[tuple[str, str]]:
        """Yield keys by name, and the words of their hints."""
        if self.focus.zoomed and self.key_panes[0] not in (keymap.TREE, keymap.VALUES):
            yield "back", "unzoom"
        state, row = self._state, self.table.rows.row
        if row is not None and not (self.detail.shows_tree or state.marks_in_sight):
            yield "copy", f"copy {clean(row.spec.hash[:SHORT_HASH])}"
        yield from state.table.hint_words(state, self.table.rows)

    def _keys_without_use(self) -> Iterator[str]:
        """Yield the names of keys that do nothing in this row, with these marks."""
        state, row = self._state, self.table.rows.row
        if self.focus.pane == "packages" and not self.focus.leads_back:
            yield "back"
        line = self.values.line
        if line is None or not any(each.mark is not None for each in line.section.values):
            yield "values-clear"
        if line is None:
            yield from ("values-include", "values-exclude", "values-only")
        # From there it only leads to the packages, as their own key does.
        is_first = self.focus.pane == "specs" and not (state.table.name or self.focus.zoomed)
        if is_first and (row is None or row.role is RowRole.SPEC):
            yield "back"
        if not (state.can_undo or self.detail.shows_tree):
            yield "undo"
        tree = self.detail.dependency_tree
        if tree is not None and tree.search:
            yield "tree-fold-all"
        if state.to_compare(self.table.rows.item) is None:
            yield "diff"
        if state.catalog is not None and not state.catalog.lists_dependencies:
            yield from ("tree", "users")
        yield from state.table.useless_keys(self.table.rows, len(state.marks))
