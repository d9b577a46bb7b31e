"""Step back through the panes, and let keys wait for what they are meant for."""

from __future__ import annotations

from spackscope.tui.browser import input_assist
from spackscope.tui.browser.details import DetailsController
from spackscope.tui.browser.loading import Loading
from spackscope.tui.browser.row_groups import RowGroups
from spackscope.tui.browser.search import Search
from spackscope.tui.browser.state import Host

_UNDO_KEYS = ("backspace", "left_square_bracket", "right_square_bracket", "b")
_SPEC_KEYS = ("y", "Y", "A", "d", "t", "w", *_UNDO_KEYS)
"""Keys that work in any pane, on the spec that is selected by then."""
_ROW_KEYS = (*_SPEC_KEYS, "enter", "space", "V", "z", "escape")
_MARK_KEYS = ("y", "Y", "d", "enter")
"""Keys that act on the marks, which are found in the catalog first."""
_BLOCKING = ("jump", "path", "menu")
"""Jobs that move the focus or open a dialog when they are done."""
_MARKING = ("marking", "marks")
"""Jobs that read what is marked."""


class Focus:
    """Go back from pane to pane; `is_pick` if leaving the first one ends the program."""

    def __init__(
        self,
        host: Host,
        loading: Loading,
        search: Search,
        details: DetailsController,
        groups: RowGroups,
        *,
        is_pick: bool,
    ) -> None:
        self._host, self._loading, self._search, self._details = host, loading, search, details
        self._groups, self._is_pick = groups, is_pick

    def back(self) -> None:
        """Go one step back: stop loading, close a group, leave the pane, leave the package."""
        pane = self._host.where.pane
        if self._loading.is_loading:
            self._loading.stop()
        elif pane in ("detail", "facets"):
            self._host.focus("specs")
        elif pane == "specs":
            row = self._host.where.row
            if row is None or not self._groups.close(row):
                self._host.focus("packages")
        elif self._host.state.view.query.package_term is not None:
            self._search.select_package(None)
        elif self._is_pick:
            self._host.exit(None, 130)
        else:
            self._host.say("Press q to quit")

    def leave(self) -> None:
        """Quit with nothing chosen."""
        self._host.exit(None, 130 if self._is_pick else 0)

    def is_late(self, key: str) -> bool:
        """Check whether a key would meet an input, a pane or rows that are about to change.

        Only keys for rows wait for rows: packages are walked without waiting for their specs.
        """
        state, where, host = self._host.state, self._host.where, self._host
        if state.catalog is None:
            return False
        if where.input is not None:
            return self._is_typing_late(key)
        if host.is_running(*_BLOCKING) or (key in _MARK_KEYS and host.is_running(*_MARKING)):
            return True
        if where.pane == "facets" and (state.facets is None or state.facets.is_awaited):
            return host.is_running("facets")
        if not state.is_answered:
            return where.pane in ("specs", "detail") or key in _SPEC_KEYS
        if where.is_waiting and key in (_ROW_KEYS if where.pane == "specs" else _SPEC_KEYS):
            return True
        return self._details.is_late(where, key)

    def _is_typing_late(self, key: str) -> bool:
        draft = self._host.state.draft
        if key in input_assist.COMPLETION_KEYS:
            return draft is not None and draft.completions is None
        return key in ("up", "down") and self._host.is_running("history")
