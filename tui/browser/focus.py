"""Step back through the panes, and let keys wait until their pane is ready."""

from __future__ import annotations

from spackscope.tui.browser import jobs
from spackscope.tui.browser.browser_host import BrowserHost
from spackscope.tui.browser.controllers import Controllers
from spackscope.tui.keymap import ALL_SOURCES, FILTERS, FOCUS, needs, shown


def back(controllers: Controllers) -> None:
    """Go one step back: stop loading, close a group, leave the pane; the query stays."""
    host, pane = controllers.host, controllers.host.where.pane
    if controllers.loading.is_loading:
        controllers.loading.stop()
        controllers.sheets.read_without_more()
    elif pane == "detail":
        host.focus("specs")
    elif pane == "specs":
        controllers.table.leave()
    elif controllers.is_pick:
        leave(controllers)
    else:
        host.say(f"Press {shown('quit')} to quit")


def leave(controllers: Controllers) -> None:
    """Quit with nothing chosen."""
    controllers.host.exit(None, 130 if controllers.is_pick else 0)


def awaited(host: BrowserHost, key: str, before: frozenset[str]) -> frozenset[str]:
    """Return the needs of a key that are still blocked; `before` are the needs it waited for.

    Letters in an input wait for nothing. A key that has begun to wait for all sources waits until
    the sources are loaded.
    """
    blocked = host.blocked
    if host.is_running(jobs.LOAD):
        blocked |= before & {ALL_SOURCES}
    if not blocked:
        return blocked
    where = host.where
    if where.input is not None:
        return blocked & needs(key, "", FILTERS) - {FOCUS}
    return blocked & needs(key, where.pane, *where.key_panes)
