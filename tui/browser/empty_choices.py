"""Offer choices where there are no rows: each is a line to choose, and names its key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spackscope.tui.browser.state import Summary
from spackscope.tui.keymap import first_key, shown
from spackscope.tui.widgets.table_rows import KeyChoice

if TYPE_CHECKING:
    from spackscope.model.index.listing import Listing

_LABELS = {
    "reload": "reload the sources",
    "open": "open another source",
    "sources": "list the sources",
    "dependency-only": "show dependency-only specs",
    "clear": "remove all filters",
    "undo": "go back",
    "quit": "quit",
}


def _choice(name: str, count: int | None = None) -> KeyChoice:
    return KeyChoice(_LABELS[name], first_key(name), shown(name), count)


def without_catalog() -> list[KeyChoice]:
    """Return the choices if no source can be read, or loading was stopped."""
    return [_choice("reload"), _choice("open"), _choice("quit")]


def without_rows(summary: Summary, listing: Listing) -> list[KeyChoice]:
    """Return the choices if no spec and no relaxation matches, or there are no specs."""
    if summary.total and listing.view.query:
        return [_choice("clear", summary.total), _choice("undo")]
    sources = _choice("sources", len(summary.chips))
    return [_choice("reload"), sources, _choice("dependency-only"), _choice("quit")]
