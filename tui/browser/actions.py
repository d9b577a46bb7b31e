"""The keys of the browser that work in every pane: each action is one line of a controller."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.dependency_tree import Node
from spackscope.tui.browser.controllers import Controllers
from spackscope.tui.browser.panes import Panes
from spackscope.tui.browser.state import Host
from spackscope.tui.dialogs.text import TextDialog, help_dialog, problems_dialog, sources_dialog

Result = TypeVar("Result")


class Actions:
    """What the keys that work in every pane do: `keymap.KEYS` names these methods."""

    def __init__(self, host: Host, panes: Panes, controllers: Controllers) -> None:
        self._host, self._panes, self._controllers = host, panes, controllers

    def focus_pane(self, pane: str) -> None:
        """Go to a pane by its name."""
        self._panes.go_to(pane)

    def focus_query(self) -> None:
        """Go to the query line."""
        self._panes.query_bar.focus_input()

    def focus_filter(self) -> None:
        """Go to the filter of the package list, or of the current column."""
        self._panes.go_to_filter()

    def next_pane(self) -> None:
        """Go to the next filter or pane."""
        self._panes.go_on(1)

    def previous_pane(self) -> None:
        """Go to the filter or pane before."""
        self._panes.go_on(-1)

    def back(self) -> None:
        """Go one step back."""
        self._controllers.focus.back()

    def leave(self) -> None:
        """Quit with nothing chosen."""
        self._controllers.focus.leave()

    def sort(self) -> None:
        """Sort: ascending, descending, off."""
        self._controllers.search.sort(self._panes.table.next_sort())

    def fold(self) -> None:
        """Fold look-alikes, or unfold them."""
        self._controllers.search.fold()

    def drop_term(self) -> None:
        """Remove the last filter."""
        self._controllers.search.drop_last()

    def clear_query(self) -> None:
        """Remove all filters."""
        self._controllers.search.clear()

    def values(self) -> None:
        """Choose among the values of the column."""
        self._controllers.value_filter.open()

    def copy_hash(self) -> None:
        """Copy the whole hash."""
        self._controllers.selection.copy_hash()

    def copy_menu(self) -> None:
        """Choose the form to copy."""
        self._controllers.selection.open_menu()

    def dependencies(self) -> None:
        """Go to the dependencies; again: to the dependents."""
        panes, line = self._panes, self._panes.detail.current.line
        if panes.detail.dependency_tree is None:
            self._host.say(self._controllers.details.missing_tree())
            return
        is_there = isinstance(line, Node) and line.section == "dependencies"
        is_there &= panes.pane == "detail"
        panes.detail.go_to("dependents" if is_there else "dependencies")
        if panes.pane != "detail":
            panes.go_to("detail")

    def why(self) -> None:
        """Show the path to the dependency, or between marked specs."""
        self._controllers.navigation.explain()

    def retrace(self, step: int) -> None:
        """Go to the step before, or with 1 to the one after."""
        self._controllers.navigation.retrace(step)

    def reload(self) -> None:
        """Reload changed sources."""
        self._controllers.loading.load()

    def everything(self) -> None:
        """Show or hide dependency-only specs."""
        self._controllers.loading.toggle_everything()

    def show_sources(self) -> None:
        """List the sources."""
        self._open(lambda catalog: catalog.sources, lambda s: sources_dialog(s, time.time()))

    def show_problems(self) -> None:
        """List what could not be read."""
        self._open(lambda catalog: catalog.problems, problems_dialog)

    def show_help(self) -> None:
        """Show the keys."""
        self._host.open(help_dialog())

    def _open(
        self, read: Callable[[Catalog], Result], dialog: Callable[[Result], TextDialog]
    ) -> None:
        """Read something of the catalog in a worker thread, and show it."""
        host = self._host
        if (catalog := host.state.catalog) is not None:
            host.run(lambda _: read(catalog), lambda r: host.open(dialog(r)), group="menu")
