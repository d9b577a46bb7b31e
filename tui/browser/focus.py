"""Step back through the panes, and let keys wait for what they are meant for."""

from __future__ import annotations

from spackscope.tui.browser.details import DetailsController
from spackscope.tui.browser.loading import Loading
from spackscope.tui.browser.rows import RowsController
from spackscope.tui.browser.state import Host
from spackscope.tui.keymap import key_names, shown

_ON_SPEC = (
    "copy",
    "copy-as",
    "address",
    "export",
    "mark-all",
    "compare",
    "tree",
    "why",
    "undo",
    "redo",
)
"""The names of keys that work in any pane, on the spec that is selected by then."""
_ON_ROW = (*_ON_SPEC, "specs-open", "specs-mark", "fold", "back")
_ON_MARKS = ("copy", "copy-as", "address", "export", "compare", "specs-open")
"""Those that act on the marks, which are found in the catalog first."""
_COMPLETING = ("filters-complete", "filters-next", "filters-previous")
"""Those that wait for the completions of what was typed before them."""
_WITHOUT_SOURCES = ("help", "commands", "open", "back", "redraw", "suspend", "quit")
"""Those that work before any source is read."""
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
        details: DetailsController,
        rows: RowsController,
        *,
        is_pick: bool,
    ) -> None:
        self._host, self._loading, self._details = host, loading, details
        self._rows, self._is_pick = rows, is_pick

    def back(self) -> None:
        """Go one step back: stop loading, close a group, leave the pane; the query stays."""
        pane = self._host.where.pane
        if self._loading.is_loading:
            self._loading.stop()
        elif pane in ("detail", "facets"):
            self._host.focus("specs")
        elif pane == "specs":
            row = self._host.where.row
            if row is None or not self._rows.close(row):
                self._host.focus("packages")
        elif self._is_pick:
            self._host.exit(None, 130)
        else:
            self._host.say(f"Press {shown('quit')} to quit")

    def leave(self) -> None:
        """Quit with nothing chosen."""
        self._host.exit(None, 130 if self._is_pick else 0)

    def needs_sources(self, key: str, *, has_waited: bool = False) -> bool:
        """Check whether a key has to wait for sources that are being read.

        In the panes keys wait for the first catalog. A text is completed and finished by all
        sources, unless the user saw what there is of them while others do not answer.
        """
        summary, is_loading = self._host.state.summary, self._loading.is_loading
        if self._host.where.input is not None:
            is_part = summary is None or summary.is_part or has_waited
            return is_loading and is_part and key in key_names("filters-done", *_COMPLETING)
        is_unread = is_loading and summary is None
        is_query = key in key_names("query") and not self._loading.has_start_query
        return is_unread and not is_query and key not in key_names(*_WITHOUT_SOURCES)

    def is_late(self, key: str) -> bool:
        """Check whether a key would meet an input, a pane or rows that are about to change.

        Only keys for rows wait for rows: packages are walked without waiting for their specs.
        """
        state, where, host = self._host.state, self._host.where, self._host
        if state.catalog is None:
            return False
        if where.input is not None:
            return self._is_typing_late(key)
        if host.is_running(*_BLOCKING) or (
            key in key_names(*_ON_MARKS) and host.is_running(*_MARKING)
        ):
            return True
        if where.pane == "facets" and (state.facets is None or state.facets.is_awaited):
            return host.is_running("facets")
        if not state.is_answered and host.is_running("view", "load"):
            return where.pane in ("specs", "detail") or key in key_names(*_ON_SPEC)
        on_row = _ON_ROW if where.pane == "specs" else _ON_SPEC
        if where.is_waiting and key in key_names(*on_row):
            return True
        return self._details.is_late(where, key)

    def _is_typing_late(self, key: str) -> bool:
        draft = self._host.state.draft
        if key in key_names(*_COMPLETING):
            is_awaited = draft is not None and draft.completions is None
            is_running = self._host.is_running("view", "completions")
            return (is_awaited and is_running) or self._host.where.is_box_late
        return key in key_names("filters-older", "filters-newer") and self._host.is_running(
            "history"
        )
