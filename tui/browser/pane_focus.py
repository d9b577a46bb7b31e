"""The focus of the browser: move it from pane to pane, and make room for the focused pane."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.screen import Screen
from textual.widget import Widget

from spackscope.tui.browser.state import QUERY
from spackscope.tui.widgets.query_line import FilterInput

if TYPE_CHECKING:
    from spackscope.tui.browser.panes import Panes

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
        widgets: dict[str, Widget] = {
            "packages": self._panes.names.rows,
            "values": self._panes.values.rows,
            "specs": self._panes.table.rows,
            "detail": self._panes.detail.shown_list,
            QUERY: self._panes.query_bar.input,
        }

        def focus() -> None:
            # The rows of an answer may have come since then, with no detail.
            if target == "detail" and not self.has_detail:
                self.go_to("specs")
            else:
                widgets[target].focus()

        if target != QUERY:
            self.show(target)
        self._focus_soon(focus)

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

    def go_to_detail(self) -> None:
        """Give the detail the whole screen; in the detail begin or end its zoom."""
        if self.pane == "detail":
            self.toggle_zoom()
        else:
            self.zoom("detail")

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
        self._focus_soon(self._panes.table.enter_filter)

    def go_to_tree_search(self) -> None:
        """Move the focus to the search for names in the tree."""
        self._focus_soon(self._panes.detail.show_search_input().focus)

    def go_on(self, step: int) -> None:
        """Move the focus to the next filter or pane, or with -1 to the previous filter or pane.

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
