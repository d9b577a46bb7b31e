"""Hand what is typed and pressed in the query line and the filters to the controllers."""

from __future__ import annotations

from textual import events
from textual.widgets import Input

from spackscope.model.query.column_filter import parse_filter_input
from spackscope.model.query.parser import ParsedInput
from spackscope.tui.browser.controllers import Controllers
from spackscope.tui.browser.panes import Panes
from spackscope.tui.browser.state import Host
from spackscope.tui.widgets.filter_bar import FilterBar
from spackscope.tui.widgets.filter_input import FilterInput
from spackscope.tui.widgets.package_list import PackageList
from spackscope.tui.widgets.query_bar import QueryBar, QueryInput


class Inputs:
    """Handle the messages of the query line, the filters and the box under them."""

    def __init__(self, host: Host, panes: Panes, controllers: Controllers) -> None:
        self._host, self._panes = host, panes
        self._search, self._recall = controllers.search, controllers.recall

    def _parse(self, input_: FilterInput) -> ParsedInput:
        if isinstance(input_, QueryInput):
            return input_.parsed
        query = self._host.state.view.query
        return parse_filter_input(input_.value, input_.cursor_position, input_.name or "", query)

    def type(self, event: Input.Changed) -> None:
        """Search for what was typed."""
        if isinstance(event.input, QueryInput):
            self._recall.note_text(event.value)
        if isinstance(event.input, FilterInput):
            self._search.type(self._parse(event.input))

    def type_again(self) -> None:
        """Search again for the text being typed, in another catalog."""
        input_ = self._panes.focus.focused_input
        if input_ is not None and isinstance(input_.parent, QueryBar | FilterBar):
            self._search.type(self._parse(input_))

    def move_cursor(self, input_: FilterInput) -> None:
        """Complete the word that the cursor came to."""
        self._search.move_cursor(input_.name or "", input_.value, input_.cursor_position)

    def accept(self, input_: FilterInput | None) -> None:
        """Insert the marked completion into the input, or go on to the next pane."""
        if input_ is None:
            return
        name, item = input_.name or "", self._panes.popup.marked
        replacement = self._search.accept(item, name, input_.value)
        if replacement is not None:
            input_.replace(*replacement)
        elif item is None and self._search.may_leave(name):
            self._panes.focus.go_on(1)

    def move_completion(self, event: FilterInput.CompletionMoved) -> None:
        """Mark another completion, or show some where none are shown."""
        is_query_or_filter = isinstance(event.input.parent, QueryBar | FilterBar)
        if not self._panes.popup.mark(event.step) and is_query_or_filter:
            self._search.request_completions(self._parse(event.input))

    def recall(self, event: QueryInput.Recalled) -> None:
        """Show the query before or after the one shown; after the last go on to the rows."""
        text = self._recall.go(event.step, event.input.value, self._search.given_up)
        if text is not None:
            self._search.keep_as_it_is(text)
            event.input.recall(text)
        elif event.step > 0:
            event.input.action_done()

    def enter(self, input_: FilterInput) -> None:
        """Remember what an input shows when it gets the focus."""
        self._search.enter(input_.name or "", input_.value)

    def give_up(self, input_: FilterInput) -> None:
        """Leave an input with what it showed when it got the focus."""
        text = self._search.give_up(input_.name or "")
        if text is not None and input_.name == PackageList.FILTER:
            self._panes.names.filter_by(text)
        elif text is not None:
            input_.reflect(text)
        input_.finish(given_up=True)

    def finish(self, event: FilterInput.Done) -> None:
        """Go from the query line to the specs, and remember the query."""
        if not event.given_up:
            self._recall.remember()
        self._recall.stop()
        self._panes.focus.go_to("specs")

    def blur(self, event: events.DescendantBlur) -> None:
        """Show what was typed, with or without rows, once its input is left."""
        draft, input_ = self._host.state.draft, event.widget
        if draft is None or not isinstance(input_, FilterInput) or input_.name != draft.input:
            return
        # Another window that comes to the front does not count.
        has_left = input_ is not input_.screen.focused and input_.app.app_focus
        if has_left and not self._panes.focus.is_moving:
            self._search.leave()
