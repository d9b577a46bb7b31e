"""Step back through the panes, and let keys wait until their pane is ready."""

from __future__ import annotations

from spackscope.tui.browser.controllers import Controllers
from spackscope.tui.browser.state import BrowserHost
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
_ON_LINES = ("tree", "users", "why")
"""Those that need the lines and the tree of the selected spec."""
_ON_MARKS = ("copy", "copy-as", "address", "export", "compare", "specs-open", "specs-mark")
"""Those that act on the marks, which are found in the catalog first."""
_COMPLETING = ("filters-complete", "filters-next", "filters-previous")
"""Those that wait for the completions of what was typed before them."""
_WITHOUT_SOURCES = ("help", "commands", "open", "back", "redraw", "suspend", "quit")
"""Those that work before any source is read."""
_BLOCKING = ("jump", "path", "menu")
"""Jobs that move the focus or open a dialog when they are done."""
_MARKING = ("marking", "marks")
"""Jobs that read what is marked."""


def back(controllers: Controllers) -> None:
    """Go one step back: stop loading, close a group, leave the pane; the query stays."""
    host, pane = controllers.host, controllers.host.where.pane
    if controllers.loading.is_loading:
        controllers.loading.stop()
        controllers.sheets.read_without_more()
    elif pane in ("detail", "facets"):
        host.focus("specs")
    elif pane == "specs" and host.state.sheet is not None:
        controllers.sheets.leave()
    elif pane == "specs":
        row = host.where.row
        if row is None or not controllers.rows.close(row):
            host.focus("packages")
    elif controllers.is_pick:
        leave(controllers)
    else:
        host.say(f"Press {shown('quit')} to quit")


def leave(controllers: Controllers) -> None:
    """Quit with nothing chosen."""
    controllers.host.exit(None, 130 if controllers.is_pick else 0)


def needs_sources(controllers: Controllers, key: str, *, has_waited: bool = False) -> bool:
    """Check whether a key has to wait for sources that are being read.

    In the panes keys wait for the first catalog. Completing and finishing a text waits for all
    sources, unless the user saw the rows of some while others do not answer.
    """
    host, loading = controllers.host, controllers.loading
    summary, is_loading = host.state.summary, loading.is_loading
    if host.where.input is not None:
        is_part = summary is None or summary.is_part or has_waited
        return is_loading and is_part and key in key_names("filters-done", *_COMPLETING)
    is_unread = is_loading and summary is None
    is_query = key in key_names("query") and not loading.start_query
    return is_unread and not is_query and key not in key_names(*_WITHOUT_SOURCES)


def is_late(host: BrowserHost, key: str) -> bool:
    """Check whether a key would meet an input, a pane or rows that are about to change.

    Only keys for rows wait for rows: packages are walked without waiting for their specs.
    """
    state, where = host.state, host.where
    if state.catalog is None:
        return False
    if where.input is not None:
        return _is_typing_late(host, key)
    is_marking = key in key_names(*_ON_MARKS) and host.is_running(*_MARKING)
    if is_marking or host.is_running(*_BLOCKING):
        return True
    if state.sheet is not None and host.is_running("sheet"):
        # Rows that are there already can be walked.
        waits = key in key_names(*_ON_ROW) if state.sheet.sheet is not None else True
        return waits and key not in key_names(*_WITHOUT_SOURCES, "undo", "query", "packages")
    if where.pane == "facets" and (state.facets is None or state.facets.is_awaited):
        return host.is_running("facets")
    if not (state.is_shown or state.is_refused) and host.is_running("view", "load"):
        return where.pane in ("specs", "detail") or key in key_names(*_ON_SPEC)
    on_row = _ON_ROW if where.pane == "specs" else _ON_SPEC
    if where.is_waiting and key in key_names(*on_row):
        return True
    if where.pane != "detail" and key not in key_names(*_ON_LINES):
        return False
    is_unconnected = where.row is not None and state.connected is not state.catalog
    return is_unconnected or where.is_detail_late or host.is_running("edges", "detail", "unfold")


def _is_typing_late(host: BrowserHost, key: str) -> bool:
    draft = host.state.draft
    if key in key_names(*_COMPLETING):
        is_awaited = draft is not None and draft.completions is None
        is_running = host.is_running("view", "completions")
        return (is_awaited and is_running) or host.where.is_box_late
    return key in key_names("filters-older", "filters-newer") and host.is_running("history")
