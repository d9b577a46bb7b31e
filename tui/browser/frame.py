"""Which panes are on the screen: those that make room for the one with the focus."""

from __future__ import annotations

from textual.screen import Screen

from spackscope.tui.browser.state import QUERY

PANES = ("packages", "facets", "specs", "detail")
SIDE = ("packages", "facets")
"""The panes of the side column, a drawer in narrow terminals."""


class Frame:
    """The classes of the screen by which the style sheet arranges the panes.

    `zoomed` is the pane that has the whole screen. `origin` is where the user came from to look
    at the side column.
    """

    def __init__(self, screen: Screen[None]) -> None:
        self._screen = screen
        self.zoomed: str | None = None
        self.origin: str | None = None

    def show(self, pane: str) -> None:
        """Show the pane that gets the focus; for the query line the rows, which follow it.

        Another pane than the zoomed one ends the zoom, and one of the work column the drawer.
        """
        shown = "specs" if pane == QUERY else pane
        if shown not in SIDE:
            self.origin = None
        if self.zoomed not in (None, shown):
            self.unzoom()
        for name in PANES:
            self._screen.set_class(name == shown, f"step-{name}")

    def zoom(self, pane: str) -> None:
        """Give a pane the whole screen between query line and hints."""
        if pane != QUERY:
            self.show(pane)
            self.zoomed = pane
            self._screen.add_class("-zoomed")

    def unzoom(self) -> bool:
        """Show all panes again; return whether one was zoomed."""
        was_zoomed, self.zoomed = self.zoomed is not None, None
        self._screen.remove_class("-zoomed")
        return was_zoomed

    def is_alone(self, pane: str) -> bool:
        """Check whether a pane has the whole screen without a zoom."""
        names = self._screen.classes
        return "-single" in names or bool({"-flat", "-tiny"} & names and pane not in SIDE)
