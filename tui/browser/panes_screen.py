"""The panes of the browser: where they stand, and how the focus goes from one to the next."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from textual import events, getters, on
from textual.app import ComposeResult
from textual.containers import Container, Horizontal
from textual.content import Content
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from spackscope.tui import keymap
from spackscope.tui.widgets.detail_pane import DetailPane
from spackscope.tui.widgets.filter_input import FilterInput
from spackscope.tui.widgets.package_list import PackageList, PackageRows
from spackscope.tui.widgets.query_bar import QueryBar
from spackscope.tui.widgets.spec_rows import SpecRows
from spackscope.tui.widgets.spec_table import SpecTable
from spackscope.tui.widgets.status_line import StatusLine

_PANES = ("packages", "specs", "detail")


class PanesScreen(Screen[None]):
    """Lay out the panes by the width of the terminal, and move the focus among them."""

    HORIZONTAL_BREAKPOINTS = [(0, "-single"), (60, "-narrow"), (104, "-wide"), (140, "-broad")]

    _names = getters.query_one(PackageList)
    _specs = getters.query_one(SpecTable)
    _detail = getters.query_one(DetailPane)
    _query_bar = getters.query_one(QueryBar)
    _status = getters.query_one(StatusLine)

    def __init__(self) -> None:
        super().__init__(classes="step-packages")
        self.is_moving = False

    def compose(self) -> ComposeResult:
        """Put title and query above the panes, and the status below."""
        yield Horizontal(Static(id="where"), Static(id="counts"), id="title")
        yield QueryBar(id="query")
        with Horizontal(id="panes"):
            yield PackageList(id="packages", classes="pane")
            with Container(id="work"):
                yield SpecTable(id="specs", classes="pane")
                yield DetailPane(id="detail", classes="pane")
        yield StatusLine(id="status")

    def on_mount(self) -> None:
        """Begin in the first pane."""
        self._names.border_title = Content("packages")
        self._specs.border_title = Content("specs")
        self.query_one(PackageRows).focus()

    @property
    def _pane(self) -> str:
        """Name the pane that has the focus."""
        focused = self.focused
        if focused is None:
            return "packages"
        around = [node.id for node in focused.ancestors_with_self]
        return next((pane for pane in _PANES if pane in around), "query")

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Show the keys of the pane that got the focus."""
        pane = self._pane
        if pane != "query":
            self._step_to(pane)
        if isinstance(self.focused, FilterInput):
            self._status.show_hints(keymap.hints(keymap.FILTERS))
        else:
            self._status.show_hints(self.hints(pane))

    def hints(self, pane: str) -> Iterable[tuple[str, str]]:
        """Give the keys to be shown in a pane, with the words for what they do."""
        return keymap.hints(pane, keymap.ANYWHERE)

    def _step_to(self, pane: str) -> None:
        for name in _PANES:
            self.set_class(name == pane, f"step-{name}")

    def action_focus_pane(self, pane: str) -> None:
        """Go to a pane by its name."""
        self._step_to(pane)
        places: dict[str, Widget] = {
            "packages": self.query_one(PackageRows),
            "specs": self.query_one(SpecRows),
            "detail": self._detail,
        }
        self._focus_soon(places[pane].focus)

    def action_focus_query(self) -> None:
        """Go to the query line."""
        self._query_bar.focus_input()

    def action_focus_filter(self) -> None:
        """Go to the filter of the package list, or of the current column."""
        if self._pane == "packages":
            self._names.focus_filter()
        else:
            self._step_to("specs")
            self._focus_soon(self._specs.focus_filter)

    def _focus_soon(self, focus: Callable[[], object]) -> None:
        """Move the focus once the pane is on the screen: what is hidden takes none."""

        def move() -> None:
            focus()
            self.is_moving = False

        self.is_moving = True
        self.call_after_refresh(move)

    def action_next_pane(self) -> None:
        """Go to the next filter or pane."""
        self._go(1)

    def action_previous_pane(self) -> None:
        """Go to the filter or pane before."""
        self._go(-1)

    def _go(self, step: int) -> None:
        if self._specs.next_filter(step):
            return
        order = ("query", *_PANES)
        pane = order[(order.index(self._pane) + step) % len(order)]
        if pane == "query":
            self.action_focus_query()
        else:
            self.action_focus_pane(pane)

    @on(FilterInput.Done)
    def _query_done(self) -> None:
        self.action_focus_pane("specs")

    @on(PackageList.Opened)
    def _package_opened(self) -> None:
        self.action_focus_pane("specs")
