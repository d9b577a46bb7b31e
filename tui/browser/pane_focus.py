"""Which pane has the focus, and which are on the screen with it."""

from __future__ import annotations

from collections.abc import Callable

from textual.screen import Screen
from textual.widget import Widget

from spackscope.tui.browser.frame import Frame
from spackscope.tui.browser.state import QUERY
from spackscope.tui.widgets.filter_input import FilterInput
from spackscope.tui.widgets.package_rows import PackageRows

_PANES = ("packages", "facets", "specs", "detail")
_SIDE = ("packages", "facets")
"""The panes of the side column, a drawer in narrow terminals."""

_ROUND = ("packages", "specs", "detail")
"""The panes that Tab goes through."""


class PaneFocus:
    """Move the focus, and show the pane that gets it; others make room for it.

    The style sheet arranges the panes by classes: the column of the pane with the focus has
    `step-…` with its name, the screen `-zoomed` if it has the whole screen, and those for the
    size of the terminal.
    `zoomed` is the pane with the whole screen; `on_zoom` is called when that changes.
    """

    def __init__(self, screen: Screen[None], frame: Frame) -> None:
        self._screen, self._frame = screen, frame
        self._waiting: list[Callable[[], object]] = []
        self._shown = "packages"
        self.zoomed: str | None = None
        self.on_zoom: Callable[[], None] = lambda: None
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
        return next((pane for pane in _PANES if pane in around), "query")

    @property
    def focused_input(self) -> FilterInput | None:
        """The input with the focus."""
        focused = self._screen.focused
        return focused if isinstance(focused, FilterInput) else None

    def go_to(self, target: str) -> None:
        """Move the focus to a pane, or to the query line."""
        widgets: dict[str, Widget] = {
            "packages": self._screen.query_one(PackageRows),
            "facets": self._frame.facets.rows,
            "specs": self._frame.table.shown_list,
            "detail": self._frame.detail.shown_list,
            QUERY: self._frame.query_bar.input,
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
        origin = self._origin or ("specs" if self.pane == "facets" else None)
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
            self.on_zoom()
        if self.pane != pane:
            self.go_to(pane)

    def unzoom(self) -> bool:
        """Show all panes again; return whether one was zoomed."""
        was_zoomed, self.zoomed = self.zoomed is not None, None
        self._screen.remove_class("-zoomed")
        if was_zoomed:
            self.on_zoom()
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

    def go_to_filter(self) -> bool:
        """Move the focus to the filter of the package list, or of the current column.

        Returns False if the column has none.
        """
        if self.pane == "packages":
            self._frame.names.focus_filter()
            return True
        if not self._frame.table.head.open_filter():
            return False
        self.show("specs")
        self._focus_soon(self._frame.table.head.enter_filter)
        return True

    def go_on(self, step: int) -> None:
        """Move the focus to the next filter or pane, or with -1 to the one before."""
        if self._frame.table.head.next_filter(step):
            self._focus_soon(self._frame.table.head.enter_filter)
            return
        order = (QUERY, *_ROUND)
        here = "packages" if self.pane == "facets" else self.pane
        target = order[(order.index(here) + step) % len(order)]
        if target == QUERY:
            self._frame.query_bar.focus_input()
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
            (self._frame.side, pane if is_side else None),
            (self._frame.work, in_work),
        ):
            if step is None or not column.has_class(f"step-{step}"):
                others = [name for name in column.classes if name.startswith("step-")]
                column.remove_class(*others, update=step is None)
                if step is not None:
                    column.add_class(f"step-{step}")

    def _is_alone(self, pane: str) -> bool:
        """Check whether a pane has the whole screen without a zoom."""
        names = self._screen.classes
        return "-single" in names or bool({"-flat", "-tiny"} & names and pane not in _SIDE)
