"""The screen of the browser: connect widgets and controllers, and route keys and messages.

Below it are the actions of keys that involve several widgets; most call a method of a controller.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from textual import events, on
from textual.app import ComposeResult
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Input

from spackscope.model.core.frozen import replace
from spackscope.model.core.text import clean
from spackscope.model.query.column_filter import parse_filter_input
from spackscope.model.query.parser import ParsedInput, parse
from spackscope.model.report.table_columns import UNSORTED
from spackscope.model.sources.session import Session
from spackscope.model.sources.source_name import PREFIX, SAMPLE
from spackscope.tui import keymap
from spackscope.tui.browser import jobs
from spackscope.tui.browser.browser_host import BrowserHost, Call
from spackscope.tui.browser.details import DetailsController
from spackscope.tui.browser.loading import Loading
from spackscope.tui.browser.navigation import Navigation
from spackscope.tui.browser.panes import Panes
from spackscope.tui.browser.remembered import QueryHistory, QueryRecall, column_word, load_hidden
from spackscope.tui.browser.search import Search
from spackscope.tui.browser.sheets import Sheets
from spackscope.tui.browser.specs import SpecsController
from spackscope.tui.browser.state import FIRST_VIEW, NO_ROWS, SPECS, BrowserState
from spackscope.tui.browser.values import choose_value, count_values, open_values, summarize
from spackscope.tui.dialogs.dialog import HEIGHTS, WIDTHS, Pick, PickDialog
from spackscope.tui.keymap import ALL_SOURCES, FILTERS, FOCUS, key_names, needs, shown
from spackscope.tui.settings import DEFAULTS, Settings
from spackscope.tui.settings.checks import first_sort
from spackscope.tui.widgets.query_line import FilterInput, QueryBar, QueryInput
from spackscope.tui.widgets.side_column import PackageList
from spackscope.tui.widgets.spec_table import SpecTable
from spackscope.tui.widgets.table_head import FilterBar
from spackscope.tui.widgets.table_rows import NotesNeeded, RowsNeeded
from spackscope.tui.widgets.virtual_list import Browse, VirtualList

if TYPE_CHECKING:
    from spackscope.model.index.tree import Tree, TreeNode, TreeSection


class Controllers:
    """The controllers of a browser, each made with the host and the controllers that it calls."""

    def __init__(self, host: BrowserHost, query: str) -> None:
        self.host = host
        self.recall = QueryRecall(host, QueryHistory(host.session.environ))
        self.search = Search(host)
        self.details = DetailsController(host)
        self.navigation = Navigation(host, self.search, self.details, self.recall)
        self.loading = Loading(host, self.search, self.navigation, self.details, query)
        self.search.on_shown = self._rows_shown
        self.specs = SpecsController(host, self.search, self.recall, self.details)
        self.sheets = Sheets(host, self.search, self.navigation)

    def _rows_shown(self) -> None:
        self.specs.find()
        self.navigation.record()
        self.sheets.read()

    def back(self) -> None:
        """Go one step back: stop loading, close a group, leave the pane; the query stays."""
        pane = self.host.where.pane
        if self.loading.is_loading:
            self.loading.stop()
            self.sheets.read_without_more()
        elif pane == "detail":
            self.host.focus("specs")
        elif pane == "specs":
            self.table.leave()
        elif self.host.state.is_pick:
            self.quit()
        else:
            self.host.say(f"Press {shown('quit')} to quit")

    def quit(self) -> None:
        """Quit with nothing chosen."""
        self.host.exit(None, 130 if self.host.state.is_pick else 0)

    def awaited(self, key: str, before: frozenset[str]) -> frozenset[str]:
        """Return the needs of a key that are still blocked.

        `before` are the needs that the key has waited for. Letters in an input wait for nothing. A
        key that has begun to wait for all sources waits until the sources are loaded.
        """
        blocked = self.host.blocked
        if self.host.is_running(jobs.LOAD):
            blocked |= before & {ALL_SOURCES}
        if not blocked:
            return blocked
        where = self.host.where
        if where.input is not None:
            return blocked & needs(key, "", FILTERS) - {FOCUS}
        return blocked & needs(key, where.pane, *where.key_panes)

    @property
    def table(self) -> SpecsController | Sheets:
        """The controller of the open table, which sorts, hides, chooses and leaves."""
        return self.specs if self.host.state.table is SPECS else self.sheets


class SourceChosen(Message):
    """Posted when other sources are to replace the shown sources, with a query.

    `note` is a message on the sources for the user, or empty, and `then` an action to run.
    """

    def __init__(
        self, sources: Sequence[str], query: str = "", note: str = "", then: str = ""
    ) -> None:
        super().__init__()
        self.sources, self.query, self.note, self.then = sources, query, note, then


class BrowserScreen(Screen[None]):
    """The one screen of the program."""

    BINDINGS = keymap.bindings(keymap.ANYWHERE)
    HORIZONTAL_BREAKPOINTS = WIDTHS
    VERTICAL_BREAKPOINTS = HEIGHTS
    # Else Textual puts the focus into the query line first, and takes it out again.
    AUTO_FOCUS = ""

    host: BrowserHost
    panes: Panes
    controllers: Controllers

    def __init__(
        self,
        sources: Sequence[str],
        query: str,
        session: Session,
        settings: Settings = DEFAULTS,
        *,
        pick: bool,
        purpose: str = "",
        before: Sequence[Sequence[str]] = (),
        note: str = "",
        then: str = "",
        marks: Sequence[str] = (),
    ) -> None:
        super().__init__()
        self.before = before
        """The sources that were open before, the latest first."""
        self._note, self._then = note, then
        self._was_shown = False
        self._awaited = frozenset[str]()
        first = replace(FIRST_VIEW, folded=settings.fold, sort=first_sort(settings))
        is_sample = SAMPLE in sources
        state = BrowserState(
            view=first, is_pick=pick, purpose=purpose, is_sample=is_sample, marks=tuple(marks)
        )
        self.panes = Panes(self, state)
        self.host = BrowserHost(self, self.panes, state, sources, session, settings)
        self.controllers = Controllers(self.host, query)

    def compose(self) -> ComposeResult:
        """Show the widgets, with the style classes for the size of the screen."""
        width, height = self.app.size
        widths = self.HORIZONTAL_BREAKPOINTS or ()
        fitting = [name for at_least, name in widths if at_least <= width][-1:]
        fitting += [name for at_least, name in HEIGHTS if at_least <= height][-1:]
        # Textual adds the classes after the mount, and computes the styles of all widgets again.
        self.add_class(*fitting, update=False)
        yield from self.panes.compose()

    async def on_mount(self) -> None:
        """Begin in the table, and load the sources: the first frame waits a moment."""
        self.panes.focus.go_to("specs")
        self.controllers.loading.load()
        load_hidden(self.host)
        self.call_after_refresh(self.controllers.recall.load)
        if self.host.state.is_sample and PREFIX in self.host.sources:
            self.host.say("Your Spack has no mirror: this is a sample")
        if self._note:
            self.host.say(self._note)
        await self.host.take_early(jobs.FIRST_FRAME, self.controllers.loading.has_ended)
        self.controllers.loading.show_waiting()
        if self._then:
            self.action_browse(self._then)

    def goes_back(self, event: events.Key | events.Paste) -> bool:
        """Check whether a key goes one step back from an input or a pane."""
        name = "back" if self.panes.focus.focused_input is None else "filters-back"
        return getattr(event, "key", "") in key_names(name)

    def must_wait(self, event: events.Key | events.Paste) -> bool:
        """Check whether the next key must wait, and keep for what."""
        if not self.is_mounted or not self.panes.is_ready or self.panes.focus.is_moving:
            return True
        self._awaited = self.controllers.awaited(getattr(event, "key", ""), self._awaited)
        return bool(self._awaited)

    def action_browse(self, name: str) -> None:
        """Run the action of a key, after scrolling to the cursor.

        `copy` runs before the scrolling: it copies only a row that the user has seen.
        """
        is_unread = self.host.state.catalog is None and not self.controllers.loading.is_loading
        if is_unread and name not in keymap.WITHOUT_SPECS:
            self.host.say("No source was read", error=True)
            return
        if name == "copy":
            ACTIONS[name](self)
        if isinstance(self.focused, VirtualList):
            self.focused.show_cursor()
        if name != "copy":
            ACTIONS[name](self)

    @on(Browse)
    def _browse(self, event: Browse) -> None:
        ACTIONS[event.action](self, *event.values)
        self.panes.follow_cursor()

    @on(Call)
    def _call(self, event: Call) -> None:
        event.call()

    @on(VirtualList.Highlighted)
    def _highlight(self, event: VirtualList.Highlighted) -> None:
        """Show the spec of the row that the cursor of the table came to, if there is one."""
        rows = self.panes.table.rows
        if event.rows is rows and not rows.is_waiting:
            self.controllers.navigation.highlight(rows.row)
            self.controllers.details.connect()
        self.panes.follow_cursor()

    @on(VirtualList.Scrolled)
    def _follow_cursor(self) -> None:
        self.panes.follow_cursor()

    @on(SpecTable.Resized)
    def _fit_split(self) -> None:
        self.panes.fit_split()
        self.panes.follow_cursor()

    def on_descendant_focus(self) -> None:
        """Show the keys of the pane that got the focus, and the box of its input."""
        if self.focused is None:
            # The widget was hidden after it got the focus.
            return
        show_focus(self)
        input_ = self.panes.focus.focused_input
        table = self.panes.table
        is_filter = input_ is not None and table.filters in input_.ancestors
        if is_filter and table.columns.filters.is_typed:
            return
        if input_ is not None:
            self.controllers.search.enter(input_.name or "", input_.value)
        elif self.panes.focus.pane != "packages":
            self.controllers.navigation.end_walk()

    def on_descendant_blur(self, event: events.DescendantBlur) -> None:
        """Show the view of a typed text, with or without rows, once its input is left."""
        draft, input_ = self.host.state.draft, event.widget
        if draft is None or not isinstance(input_, FilterInput) or input_.name != draft.input:
            return
        # Another window that comes to the front does not count.
        has_left = input_ is not self.focused and self.app.app_focus
        if has_left and not self.panes.focus.is_moving:
            self.controllers.search.leave()

    # The query line, the filters, and the box under them

    def _parse(self, input_: FilterInput) -> ParsedInput:
        if isinstance(input_, QueryInput):
            return input_.parsed
        query = self.host.state.view.query
        return parse_filter_input(input_.value, input_.cursor_position, input_.name or "", query)

    @on(Input.Changed)
    def _type(self, event: Input.Changed) -> None:
        """Search for the typed text, even if the input was left before it is handled."""
        if isinstance(event.input, QueryInput):
            self.controllers.recall.note_text(event.value)
        if isinstance(event.input, FilterInput):
            self.controllers.search.type(self._parse(event.input))
            if event.input is not self.focused:
                self.controllers.search.leave()

    @on(FilterInput.Pressed)
    def _press(self, event: FilterInput.Pressed) -> None:
        """Handle a key of the query line or a filter."""
        input_, key, search = event.input, event.key, self.controllers.search
        if key == "moved":
            search.completer.move_cursor(input_.name or "", input_.value, input_.cursor_position)
        elif key == "take":
            self.take_completion()
        elif key in ("next", "previous"):
            self._mark_completion(input_, 1 if key == "next" else -1)
        elif key in ("older", "newer"):
            self._recall(input_, 1 if key == "newer" else -1)
        elif key == "give_up":
            self._give_up(input_)
        elif key == "reject":
            search.reject()

    def take_completion(self) -> None:
        """Insert the marked completion into the input, or go on to the next pane."""
        if (input_ := self.panes.focus.focused_input) is None:
            return
        name, item, search = input_.name or "", self.panes.popup.marked, self.controllers.search
        replacement = search.completer.accept(item, name, input_.value)
        if replacement is not None:
            input_.replace(*replacement)
        elif item is None and search.may_leave(name):
            self.panes.focus.go_on(1)

    def _mark_completion(self, input_: FilterInput, step: int) -> None:
        """Mark another completion, or show completions if none are shown."""
        is_searched = isinstance(input_.parent, QueryBar | FilterBar) and not input_.restrict
        if not self.panes.popup.mark(step) and is_searched:
            self.controllers.search.completer.request(self._parse(input_))

    def _recall(self, input_: FilterInput, step: int) -> None:
        """Show an older or newer query; after the newest query go on to the rows."""
        search = self.controllers.search
        text = self.controllers.recall.go(step, input_.value, search.given_up)
        if text is not None:
            search.completer.chosen_text = text
            input_.recall(text)
        elif step > 0:
            input_.action_done()

    def _give_up(self, input_: FilterInput) -> None:
        """Leave an input with the text from when it got the focus."""
        text = self.controllers.search.give_up(input_.name or "")
        if text is not None and input_.name == PackageList.FILTER:
            self.panes.names.filter_by(text)
        elif text is not None:
            input_.reflect(text)
        input_.finish(given_up=True)

    @on(FilterInput.Done)
    def _finish(self, event: FilterInput.Done) -> None:
        """Go from the query line to the specs, and remember the query."""
        if not event.given_up:
            self.controllers.recall.remember()
        self.controllers.recall.stop()
        self.panes.focus.go_to("specs")

    # Events of the screen

    @on(events.ScreenResume)
    def _resume(self, event: events.ScreenResume) -> None:
        """Make the moves of the focus that have waited since a dialog was opened.

        At the start the styles stay as they are: they were computed at the mount.
        """
        event.refresh_styles = self._was_shown
        self._was_shown = True
        self.panes.focus.move_soon()
        self.panes.announce(again=True)

    @on(events.Resize)
    @on(events.ScreenResume)
    def _place_popup(self) -> None:
        self.panes.focus.fit()
        self.panes.toast.place()
        self.panes.show_draft_soon()

    @on(events.ScreenSuspend)
    def _hide_what_floats(self) -> None:
        self.panes.popup.hide()
        self.panes.toast.hush()

    @on(RowsNeeded)
    def _read_rows(self, event: RowsNeeded) -> None:
        state, take = self.host.state, partial(self.panes.table.rows.take, event)
        catalog, listing = state.catalog, event.rows.listing
        if catalog is None or (listing is not None and listing is not state.listing):
            return
        job = jobs.ROWS if listing is not None else jobs.SHEET_ROW
        if isinstance(event, NotesNeeded):
            job = jobs.NOTES if state.connected is not None else jobs.NOTES_FIRST
        self.host.run(lambda _: event.read(catalog), take, job, of=catalog)


_MAX_USED = 20
"""Most builds of a folded row in a query for their users: a longer query is unreadable."""
_MIN_TREE_HEIGHT = 16
"""Lines of the detail below which a tree gets the whole screen."""


def back(screen: BrowserScreen) -> None:
    """Close the tree or the values, stop loading, end the zoom, or go one step back."""
    panes = screen.panes
    if panes.focus.pane == "values":
        panes.values.action_leave()
    elif panes.focus.pane == "detail" and panes.detail.shows_tree:
        panes.detail.tree_rows.action_close()
    elif screen.controllers.loading.is_loading or not panes.focus.give_back():
        screen.controllers.back()


def undo(screen: BrowserScreen) -> None:
    """Go one step back; leave a tree that was opened here, and undo nothing else."""
    panes, navigation = screen.panes, screen.controllers.navigation
    is_in_tree = panes.focus.pane == "detail" and panes.detail.shows_tree
    if is_in_tree and not navigation.came_along_tree:
        panes.detail.tree_rows.action_close()
    else:
        navigation.retrace(-1)


def show_tree(screen: BrowserScreen, section: TreeSection) -> None:
    """Show the tree in the detail, with the cursor on the head of a section."""
    panes, detail = screen.panes, screen.panes.detail
    if detail.dependency_tree is None:
        screen.host.say(screen.controllers.details.missing_tree())
        return
    if not detail.shows_tree:
        detail.opened_from = panes.focus.pane
        screen.controllers.details.show_tree(shown=True)
        detail.is_low = panes.focus.zoomed is None and detail.size.height < _MIN_TREE_HEIGHT
        if detail.is_low:
            panes.focus.zoom("detail")
    detail.tree_rows.go_to(section)
    panes.focus.go_to("detail")


def show_focus(screen: BrowserScreen) -> None:
    """Show the pane that got the focus, and close a low tree that lost it."""
    screen.panes.show_focus()
    detail = screen.panes.detail
    if detail.shows_tree and detail.is_low and screen.panes.focus.pane != "detail":
        screen.controllers.details.show_tree(shown=False)


def close_tree(screen: BrowserScreen) -> None:
    """Show the values in place of the tree, and go back to where it was opened."""
    screen.controllers.details.show_tree(shown=False)
    screen.panes.focus.give_back()
    screen.panes.focus.go_to("detail" if screen.panes.detail.opened_from == "detail" else "specs")


def read_tree(screen: BrowserScreen, tree: Tree, read: Callable[[], Tree]) -> None:
    """Read a tree to replace another; a tree of a replaced catalog stays as it is."""
    take = partial(screen.panes.detail.tree_rows.take_tree, tree)
    if tree.catalog is screen.host.state.catalog:
        screen.host.run(lambda _: read(), take, jobs.TREE, of=tree.catalog)


def jump_to(screen: BrowserScreen, node: TreeNode) -> None:
    """Go to the spec of a line of the tree, or list the users of one package."""
    state = screen.host.state
    tree = state.details.tree if state.details is not None else None
    if tree is None or node not in tree.lines:
        # The line is of a replaced catalog.
        return
    if not node.is_package or node.spec is None:
        screen.controllers.navigation.jump_to(node)
        return
    hashes_of, package = tree.catalog.hashes.of, node.spec.name

    def show(hashes: Sequence[str]) -> None:
        used = parse(" | ".join(f"%/{hash_}" for hash_ in hashes)).with_package(package)
        screen.controllers.search.choose(used, f"Now {used} ({shown('undo')} goes back)")
        screen.host.focus("specs")

    ids = (tree.members or (tree.id,))[:_MAX_USED]
    screen.host.run(lambda _: hashes_of(ids), show, jobs.JUMP)


def choose(screen: BrowserScreen, row: Any) -> None:
    """Choose a row of the open table, and scroll to it."""
    screen.controllers.table.choose(row)
    screen.panes.table.rows.show_cursor()


def go_to_detail(screen: BrowserScreen) -> None:
    """Zoom the detail, or end its zoom; without a spec there is none."""
    focus = screen.panes.focus
    if focus.pane == "detail":
        focus.toggle_zoom()
    elif not focus.has_detail or screen.host.state.details is None:
        screen.host.say(screen.host.state.why_no_spec(screen.host.where))
    else:
        focus.zoom("detail")


def focus_filter(screen: BrowserScreen, column: str = "") -> None:
    """Go to the filter of a column, by default the current one, or of the list."""
    if column:
        screen.panes.table.make_current(column)
    screen.panes.focus.go_to_filter()


def search(screen: BrowserScreen) -> None:
    """Go to the query line; in a sheet search its rows."""
    table = screen.host.state.table
    if table.name and screen.panes.focus.pane != "packages":
        if screen.panes.table.columns.columns.names:
            screen.panes.focus.go_to_sheet_search()
    else:
        screen.panes.query_bar.focus_input()


def sort_by(screen: BrowserScreen, column: str) -> None:
    """Make a column the current one, and order the rows by it."""
    screen.panes.table.make_current(column)
    screen.call_after_refresh(screen.action_browse, "sort")


def sort(screen: BrowserScreen) -> None:
    """Order the rows by the current column, if they differ in it."""
    table = screen.panes.table
    if table.column and table.columns.is_in_head:
        screen.host.say(f"All rows have the same {column_word(table.column)}")
    elif table.column in UNSORTED:
        screen.host.say(f"Rows cannot be sorted by {column_word(table.column)}")
    else:
        screen.controllers.table.sort(table.next_sort())


def mark(screen: BrowserScreen) -> None:
    """Mark the row under the cursor, and go on to the next."""
    table = screen.panes.table
    if (row := table.rows.row) is not None:
        screen.controllers.specs.mark(row)
        table.rows.action_move(1)
    else:
        screen.host.say(screen.host.state.why_no_spec(screen.host.where))


def hide_column(screen: BrowserScreen) -> None:
    """Hide the current column."""
    table = screen.panes.table
    if not table.columns.columns.names:
        screen.host.say(NO_ROWS)
    elif table.columns.is_in_head:
        screen.host.say("What is the same in all rows has no column")
    else:
        screen.controllers.table.hide(table.column)


def list_columns(screen: BrowserScreen) -> None:
    """List all columns; the one that is chosen becomes the current one, even if hidden."""
    table = screen.panes.table

    def go_to(name: str) -> None:
        screen.controllers.table.bring_back(name)
        table.go_to_column(name)

    columns, hidden = table.columns.columns, sorted(table.columns.hidden)
    labels = {column.name: clean(column.label) for column in screen.host.state.table.sheet.columns}

    def pick(name: str, *more: str) -> Pick:
        return Pick(name, labels.get(name) or column_word(name), *more)

    picks = [
        *(pick(name, "hidden", "differs") for name in hidden),
        *(pick(name) for name in columns.names),
        *(pick(name, f"same in all: {text}", "dim") for name, text in columns.head),
    ]
    screen.host.open(PickDialog("columns", "column", picks, choose="show it and go to it"), go_to)


def module(name: str) -> Any:
    """Import a module of this package when a key first needs it."""
    return import_module(f"spackscope.tui.browser.{name}")


def clear(screen: BrowserScreen) -> None:
    """Remove all filters, also the one on the names of the packages; in an answer, its own."""
    table, names = screen.host.state.table, screen.panes.names
    if table.name:
        screen.controllers.sheets.arrange(filters={})
        did = "Removed the filters of the answer" if table.filters else "There are none to remove"
        screen.host.say(did)
        return
    had_names = bool(names.filter.value)
    names.filter_by("")
    if had_names and not screen.host.state.view.query:
        screen.host.say("Removed the filter of the packages")
    else:
        screen.controllers.search.clear()


def ask(key: keymap.Key, screen: BrowserScreen) -> None:
    """Ask the answer of a key, if it does not say what, about the specs that are shown."""
    sheets = screen.controllers.sheets
    asking = module("answers").ASK.get(key.action)
    if asking is not None:
        asking(sheets)
    else:
        sheets.ask_shown(key.name)


ACTIONS: dict[str, Callable[..., object]] = {
    **{key.action: partial(ask, key) for key in keymap.KEYS if key.is_answer},
    "packages": lambda self: self.panes.focus.peek("packages"),
    "specs": lambda self: self.panes.focus.go_to("specs"),
    "detail": go_to_detail,
    "zoom": lambda self: self.panes.focus.toggle_zoom(),
    "query": search,
    "filter": focus_filter,
    "next_pane": lambda self: self.panes.focus.go_on(1),
    "previous_pane": lambda self: self.panes.focus.go_on(-1),
    "back": back,
    "quit": lambda self: self.controllers.quit(),
    "sort": sort,
    "hide_column": hide_column,
    "list_columns": list_columns,
    "fold": lambda self: self.controllers.table.fold(),
    "recent_queries": lambda self: self.controllers.recall.open(self.controllers.search.take_text),
    "clear": clear,
    "values": lambda self: open_values(self.host),
    "copy": lambda self: module("copy").copy_hash(self.controllers),
    "copy_as": lambda self: module("copy").open_menu(self.controllers),
    "export": lambda self: module("export").open_export(self.host, self.controllers.recall),
    "mark": mark,
    "mark_all": lambda self: self.controllers.specs.mark_all(),
    "unmark": lambda self: self.controllers.specs.clear(),
    "tree": lambda self: show_tree(self, "dependencies"),
    "users": lambda self: show_tree(self, "dependents"),
    "undo": undo,
    "redo": lambda self: self.controllers.navigation.retrace(1),
    "reload": lambda self: self.controllers.loading.reload(),
    "dependency_only": lambda self: self.controllers.loading.toggle_dependency_only(),
    "open": lambda self, action="": self.host.open(
        module("open_source").SourceDialog(self, action)
    ),
    "show_problems": lambda self: module("answers").problems(self.controllers.sheets),
    "search_tree": lambda self: self.panes.focus.go_to_tree_search(),
    # Requests of widgets, with values
    "close_tree": close_tree,
    "read_tree": read_tree,
    "take_tree": lambda self, tree: self.controllers.details.take_tree(tree),
    "jump": lambda self, id_: self.controllers.navigation.jump(id_),
    "jump_to": jump_to,
    "select_package": lambda self, package: self.controllers.search.select_package(package),
    "switch": lambda self, option: self.controllers.sheets.switch(option),
    "filter_sheet": lambda self, *typed: self.controllers.sheets.filter(*typed),
    "choose": choose,
    "sort_by": sort_by,
    "add_term": lambda self, term: self.controllers.search.add(term),
    "toggle_term": lambda self, term: self.controllers.search.toggle(term),
    "relax": lambda self, relaxation: self.controllers.search.relax(relaxation),
    "take_completion": lambda self: self.take_completion(),
    "open_group": lambda self, row: self.controllers.specs.toggle(row),
    "close_group": lambda self, row: self.controllers.specs.close(row),
    "summarize": lambda self, packages: summarize(
        self.host, packages, self.panes.names.rows.take_summaries
    ),
    "count_values": lambda self: count_values(self.host),
    "choose_value": lambda self, *chosen: choose_value(
        self.controllers.search, self.host.state.view.query, *chosen
    ),
    "leave_values": lambda self: self.panes.focus.give_back(),
}
"""The actions that the keys of `keymap.KEYS` and the message `Browse` name."""
