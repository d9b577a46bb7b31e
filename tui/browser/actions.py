"""The actions of keys that involve several widgets; most call one method of a controller."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from spackscope.model.core.text import clean
from spackscope.model.query.parser import parse
from spackscope.model.report.table_columns import UNSORTED
from spackscope.tui.browser import jobs
from spackscope.tui.browser.hidden_columns import column_word
from spackscope.tui.browser.specs import why_no_spec
from spackscope.tui.browser.values import choose_value, count_values, open_values, summarize
from spackscope.tui.keymap import shown

if TYPE_CHECKING:
    from spackscope.model.index.tree import Tree, TreeNode, TreeSection
    from spackscope.tui.browser.screen import BrowserScreen

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


def select_package(screen: BrowserScreen, package: str | None) -> None:
    """Show the specs of the package that the cursor came to; None stands for all."""
    screen.controllers.search.select_package(package)


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
        used = parse(" | ".join(f"^/{hash_}" for hash_ in hashes)).with_package(package)
        screen.controllers.search.choose(used, f"Now {used} ({shown('undo')} goes back)")
        screen.host.focus("specs")

    ids = (tree.members or (tree.id,))[:_MAX_USED]
    screen.host.run(lambda _: hashes_of(ids), show, jobs.JUMP)


def choose(screen: BrowserScreen, row: Any) -> None:
    """Choose a row of the open table, and scroll to it."""
    screen.controllers.table.choose(row)
    screen.panes.table.rows.show_cursor()


def go_to_detail(screen: BrowserScreen) -> None:
    """Zoom the detail, or end its zoom; a sheet about no specs has none."""
    if screen.panes.focus.has_detail:
        screen.panes.focus.go_to_detail()
    else:
        screen.host.say(why_no_spec(screen.host.state, screen.host.where))


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
        screen.host.say(why_no_spec(screen.host.state, screen.host.where))


def hide_column(screen: BrowserScreen) -> None:
    """Hide the current column."""
    table = screen.panes.table
    if table.columns.is_in_head:
        screen.host.say("What is the same in all rows has no column")
    else:
        screen.controllers.table.hide(table.column)


def list_columns(screen: BrowserScreen) -> None:
    """List all columns; the one that is chosen becomes the current one, even if hidden."""
    # A dialog is imported when it is first opened.
    from spackscope.tui.dialogs.pick import Pick, PickDialog

    table = screen.panes.table

    def go_to(name: str | None) -> None:
        if name is None:
            return
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
    """Remove all filters, also the one on the names of the packages."""
    screen.panes.names.filter_by("")
    screen.controllers.search.clear()


ACTIONS: dict[str, Callable[..., object]] = {
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
    "stats": lambda self: self.controllers.sheets.stats(),
    "copy": lambda self: module("copy").copy_hash(self.controllers),
    "copy_as": lambda self: module("copy").open_menu(self.controllers),
    "export": lambda self: module("export").open_export(self.host, self.controllers.recall),
    "mark": mark,
    "mark_all": lambda self: self.controllers.specs.mark_all(),
    "unmark": lambda self: self.controllers.specs.clear(),
    "diff": lambda self: self.controllers.sheets.diff(),
    "cover": lambda self: self.controllers.sheets.cover(),
    "diff_sources": lambda self: self.controllers.sheets.diff_sources(),
    "why": lambda self: self.controllers.sheets.why(),
    "files": lambda self: self.controllers.sheets.files(),
    "files_download": lambda self: self.controllers.sheets.files(download=True),
    "duplicates": lambda self: self.controllers.sheets.ask_shown("duplicates"),
    "tree": lambda self: show_tree(self, "dependencies"),
    "users": lambda self: show_tree(self, "dependents"),
    "undo": undo,
    "redo": lambda self: self.controllers.navigation.retrace(1),
    "reload": lambda self: self.controllers.loading.reload(),
    "dependency_only": lambda self: self.controllers.loading.toggle_everything(),
    "open": lambda self, *lacking: module("open_source").open_source(self, *lacking),
    "sources": lambda self: self.controllers.sheets.sources(),
    "show_problems": lambda self: self.controllers.sheets.problems(),
    "search_tree": lambda self: self.panes.focus.go_to_tree_search(),
    # Requests of widgets, with values
    "close_tree": close_tree,
    "read_tree": read_tree,
    "take_tree": lambda self, tree: self.controllers.details.take_tree(tree),
    "jump": lambda self, id_: self.controllers.navigation.jump(id_),
    "jump_to": jump_to,
    "select_package": select_package,
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
    "choose_value": lambda self, *chosen: choose_value(self.controllers, *chosen),
    "leave_values": lambda self: self.panes.focus.give_back(),
}
"""The actions that the keys of `keymap.KEYS` and the message `Browse` name."""
