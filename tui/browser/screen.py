"""The browser: put widgets and controllers together, and route what users do between them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from textual import events, on
from textual.widgets import Input

from spackscope.model.presentation import titles
from spackscope.model.query.parsed_input import ParsedInput, parse_filter_input
from spackscope.model.sources.session import Session
from spackscope.tui.browser.actions import ActionsScreen
from spackscope.tui.browser.controllers import Controllers
from spackscope.tui.browser.host import Call, ScreenHost
from spackscope.tui.browser.state import QUERY
from spackscope.tui.copy_forms import CopyDone, copy_text
from spackscope.tui.widgets.column_header import ColumnHeader
from spackscope.tui.widgets.completion_popup import CompletionPopup
from spackscope.tui.widgets.detail_pane import DetailPane
from spackscope.tui.widgets.filter_bar import FilterBar
from spackscope.tui.widgets.filter_input import FilterInput
from spackscope.tui.widgets.package_list import PackageList
from spackscope.tui.widgets.query_bar import QueryBar
from spackscope.tui.widgets.query_input import QueryInput
from spackscope.tui.widgets.spec_rows import SpecRows
from spackscope.tui.widgets.spec_table import SpecTable


class BrowserScreen(ActionsScreen):
    """The one screen of the program."""

    def __init__(
        self, sources: Sequence[str], query: str, session: Session, *, pick: bool
    ) -> None:
        super().__init__()

        def copy(text: str, what: str) -> CopyDone:
            return copy_text(text, what, session.environ, self.app)

        self.is_pick = pick
        self.host = ScreenHost(self)
        self.controllers = Controllers(self.host, sources, query, session, copy, is_pick=pick)
        self.controllers.loading.on_missing = self.show_instead_of_rows
        self.host.on_damaged = self.controllers.loading.mend

    def on_mount(self) -> None:
        """Begin in the first pane, and load the sources."""
        self.go_to("packages")
        self.controllers.recall.load()
        self.controllers.loading.load()

    @property
    def failure(self) -> str:
        """Why there is nothing to show, or an empty text."""
        return self.controllers.loading.failure

    def is_behind(self, event: events.Key | events.Paste) -> bool:
        """Check whether what is typed next would meet a pane or rows that are about to change."""
        return self.is_moving or self.controllers.focus.is_late(getattr(event, "key", ""))

    @on(Call)
    def _call(self, event: Call) -> None:
        self.host.take(event)

    # The screen

    def on_descendant_focus(self) -> None:
        """Show the keys of the pane that got the focus, and the box of its input."""
        if self.pane != QUERY:
            self.show_step(self.pane)
        self.show_hints()
        self.show_popup_soon()

    def on_descendant_blur(self, event: events.DescendantBlur) -> None:
        """Ask for what was typed once its input is left."""
        draft, input_ = self.host.state.draft, event.widget
        if draft is None or not isinstance(input_, FilterInput) or input_.name != draft.input:
            return
        # Another window that comes to the front does not count.
        if input_ is not self.focused and self.app.app_focus and not self.is_moving:
            self.controllers.search.leave()

    def on_resize(self) -> None:
        """Keep the box under its input."""
        self.show_popup_soon()

    def on_screen_resume(self) -> None:
        """Show the box again after a dialog."""
        self.show_popup_soon()

    def on_screen_suspend(self) -> None:
        """Show nothing over a dialog."""
        self.popup.hide()

    # Inputs

    def _parse(self, input_: FilterInput) -> ParsedInput:
        if isinstance(input_, QueryInput):
            return input_.parsed
        query = self.host.state.view.query
        return parse_filter_input(input_.value, input_.cursor_position, input_.name or "", query)

    @on(Input.Changed)
    def _type(self, event: Input.Changed) -> None:
        if isinstance(event.input, FilterInput):
            if event.input is self.query_bar.input:
                self.controllers.recall.note_text(event.value)
            self.controllers.search.type(self._parse(event.input))

    @on(FilterInput.CursorMoved)
    def _move_cursor(self, event: FilterInput.CursorMoved) -> None:
        input_ = event.input
        self.controllers.assist.move_cursor(
            input_.name or "", input_.value, input_.cursor_position
        )

    @on(FilterInput.CompletionAccepted)
    def _accept(self, event: FilterInput.CompletionAccepted) -> None:
        input_, item = event.input, self.popup.marked
        replacement = self.controllers.assist.accept(item, input_.name or "", input_.value)
        if replacement is not None:
            input_.replace(*replacement)
        elif item is None and self.controllers.search.may_leave(input_.name or ""):
            self.go_on(1)

    @on(CompletionPopup.Clicked)
    def _accept_clicked(self) -> None:
        if isinstance(self.focused, FilterInput):
            self._accept(FilterInput.CompletionAccepted(self.focused))

    @on(FilterInput.CompletionMoved)
    def _move_completion(self, event: FilterInput.CompletionMoved) -> None:
        is_query_or_filter = isinstance(event.input.parent, QueryBar | FilterBar)
        if not self.popup.mark(event.step) and is_query_or_filter:
            self.controllers.assist.request(self._parse(event.input))

    @on(QueryInput.Recalled)
    def _recall(self, event: QueryInput.Recalled) -> None:
        given_up = self.controllers.search.given_up
        text = self.controllers.recall.go(event.step, event.input.value, given_up)
        if text is not None:
            self.controllers.assist.choose(text)
            event.input.recall(text)
        elif event.step > 0:
            event.input.action_done()

    @on(FilterInput.Emptied)
    def _drop_last(self) -> None:
        self.controllers.search.drop_last()

    @on(FilterInput.Rejected)
    def _reject(self) -> None:
        self.controllers.search.reject()

    @on(FilterInput.GivenUp)
    def _give_up(self, event: FilterInput.GivenUp) -> None:
        self.controllers.search.give_up(event.input.name or "")
        event.input.finish(given_up=True)

    @on(FilterInput.Done)
    def _finish(self, event: FilterInput.Done) -> None:
        if not event.given_up:
            self.controllers.recall.remember()
        self.controllers.recall.stop()
        self.go_to("specs")

    # Packages, specs, detail

    @on(PackageList.Selected)
    def _select_package(self, event: PackageList.Selected) -> None:
        self.controllers.search.select_package(event.package)

    @on(PackageList.Opened)
    @on(DetailPane.Left)
    def _go_to_specs(self) -> None:
        self.go_to("specs")

    @on(SpecTable.Highlighted)
    def _highlight(self, event: SpecTable.Highlighted) -> None:
        rows = self.table.rows
        self.status.show_position(titles.position(rows.cursor, rows.length))
        self.controllers.navigation.highlight(event.row)
        self.controllers.details.connect()

    @on(SpecTable.Chosen)
    def _choose(self, event: SpecTable.Chosen) -> None:
        if self.is_pick:
            self.controllers.selection.pick(event.row)
        elif event.row.count > 1:
            self.controllers.search.open(event.row.look_alike)
        else:
            self.go_to("detail")

    @on(SpecTable.Marked)
    def _mark(self, event: SpecTable.Marked) -> None:
        self.controllers.selection.mark(event.row)

    @on(SpecTable.Unmarked)
    def _unmark(self) -> None:
        self.controllers.selection.clear()

    @on(SpecTable.Placed)
    def _count(self) -> None:
        self.show_counts()

    @on(ColumnHeader.Clicked)
    def _sort(self) -> None:
        self.call_after_refresh(self.action_sort)

    @on(SpecRows.RowsNeeded)
    def _read_rows(self, event: SpecRows.RowsNeeded) -> None:
        listing, catalog = event.listing, self.host.state.results
        take = partial(self.table.rows.take_rows, listing)
        if catalog is not None:
            unread = dict.fromkeys(event.starts, ())
            self.host.run(
                lambda _: event.read(catalog.catalog),
                take,
                group="rows",
                failed=lambda _: take(unread),
            )

    @on(DetailPane.TermChosen)
    def _add_term(self, event: DetailPane.TermChosen) -> None:
        self.controllers.search.add(event.term)

    @on(DetailPane.SpecChosen)
    def _jump(self, event: DetailPane.SpecChosen) -> None:
        self.controllers.navigation.jump_to(event.node)

    @on(DetailPane.UnfoldRequested)
    def _unfold(self, event: DetailPane.UnfoldRequested) -> None:
        if (catalog := self.host.state.catalog) is not None:
            self.host.run(
                lambda _: event.read(catalog),
                partial(self.detail.take_tree, event.tree),
                group="unfold",
                failed=lambda _: self.detail.take_tree(event.tree, event.tree),
            )

    @on(DetailPane.Unfolded)
    def _keep_tree(self) -> None:
        self.controllers.details.take_tree(self.detail.dependency_tree)

    @on(DetailPane.HintsChanged)
    def _show_keys(self) -> None:
        self.show_hints()
