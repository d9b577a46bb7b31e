"""Offer choices where there are no rows: each is a line to choose, and the key that does it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spackscope.tui.browser.state import Summary
from spackscope.tui.keymap import KEYS
from spackscope.tui.widgets.relaxation_list import KeyChoice

if TYPE_CHECKING:
    from spackscope.model.catalog.listing import Listing

_LABELS = {
    "reload": "reload the sources",
    "show_sources": "list the sources",
    "show_problems": "list what could not be read",
    "everything": "show dependency-only specs",
    "clear_query": "remove all filters",
    "undo": "go back",
    "leave": "quit",
}


def _choice(action: str, count: int | None = None) -> KeyChoice:
    key = next(key for key in KEYS if key.action == action)
    return KeyChoice(_LABELS[action], key.keys.split(",")[0], key.shown.split(" ")[0], count)


def without_catalog(failed: int) -> list[KeyChoice]:
    """Return what can be done if some sources cannot be read, or loading was stopped."""
    sources = [_choice("show_sources", failed)] if failed else []
    return [_choice("reload"), *sources, _choice("leave")]


def without_rows(summary: Summary, listing: Listing) -> list[KeyChoice]:
    """Return what can be done if no spec matches and no other query does, or there are none."""
    if summary.total and listing.view.query:
        return [_choice("clear_query", summary.total), _choice("undo")]
    problems = [_choice("show_problems", summary.problems)] if summary.problems else []
    sources = _choice("show_sources", len(summary.chips))
    return [_choice("reload"), sources, *problems, _choice("everything"), _choice("leave")]
