"""The keys of the browser that work in every pane: each action is one line of a controller."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.dependency_tree import Node
from spackscope.tui import keymap
from spackscope.tui.browser.controllers import Controllers
from spackscope.tui.browser.panes import PanesScreen
from spackscope.tui.dialogs.text import TextDialog, help_dialog, problems_dialog, sources_dialog

Result = TypeVar("Result")


class ActionsScreen(PanesScreen):
    """A screen whose actions are those of its controllers."""

    BINDINGS = keymap.bindings(keymap.ANYWHERE)

    controllers: Controllers

    def action_focus_pane(self, pane: str) -> None:
        """Go to a pane by its name."""
        self.go_to(pane)

    def action_focus_query(self) -> None:
        """Go to the query line."""
        self.query_bar.focus_input()

    def action_focus_filter(self) -> None:
        """Go to the filter of the package list, or of the current column."""
        self.go_to_filter()

    def action_next_pane(self) -> None:
        """Go to the next filter or pane."""
        self.go_on(1)

    def action_previous_pane(self) -> None:
        """Go to the filter or pane before."""
        self.go_on(-1)

    def action_back(self) -> None:
        """Go one step back."""
        self.controllers.focus.back()

    def action_leave(self) -> None:
        """Quit with nothing chosen."""
        self.controllers.focus.leave()

    def action_sort(self) -> None:
        """Sort: ascending, descending, off."""
        self.controllers.search.sort(self.table.next_sort())

    def action_fold(self) -> None:
        """Fold look-alikes, or unfold them."""
        self.controllers.search.fold()

    def action_drop_term(self) -> None:
        """Remove the last filter."""
        self.controllers.search.drop_last()

    def action_clear_query(self) -> None:
        """Remove all filters."""
        self.controllers.search.clear()

    def action_values(self) -> None:
        """Choose among the values of the column."""
        self.controllers.value_filter.open()

    def action_copy_hash(self) -> None:
        """Copy the whole hash."""
        self.controllers.selection.copy_hash()

    def action_copy_menu(self) -> None:
        """Choose the form to copy."""
        self.controllers.selection.open_menu()

    def action_dependencies(self) -> None:
        """Go to the dependencies; again: to the dependents."""
        line = self.detail.current.line
        if self.detail.dependency_tree is None:
            self.status.say(self.controllers.details.missing_tree())
            return
        is_there = isinstance(line, Node) and line.section == "dependencies"
        is_there &= self.pane == "detail"
        self.detail.go_to("dependents" if is_there else "dependencies")
        if self.pane != "detail":
            self.go_to("detail")

    def action_why(self) -> None:
        """Show the path to the dependency, or between marked specs."""
        self.controllers.navigation.explain()

    def action_retrace(self, step: int) -> None:
        """Go to the step before, or with 1 to the one after."""
        self.controllers.navigation.retrace(step)

    def action_reload(self) -> None:
        """Reload changed sources."""
        self.controllers.loading.load()

    def action_everything(self) -> None:
        """Show or hide dependency-only specs."""
        self.controllers.loading.toggle_everything()

    def action_show_sources(self) -> None:
        """List the sources."""
        self._open(lambda catalog: catalog.sources, lambda s: sources_dialog(s, time.time()))

    def action_show_problems(self) -> None:
        """List what could not be read."""
        self._open(lambda catalog: catalog.problems, problems_dialog)

    def action_show_help(self) -> None:
        """Show the keys."""
        self.app.push_screen(help_dialog())

    def _open(
        self, read: Callable[[Catalog], Result], dialog: Callable[[Result], TextDialog]
    ) -> None:
        """Read something of the catalog in a worker thread, and show it."""
        host = self.controllers.host
        if (catalog := host.state.catalog) is not None:
            host.run(lambda _: read(catalog), lambda r: host.open(dialog(r)), group="menu")
