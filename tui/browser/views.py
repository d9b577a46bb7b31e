"""Compare views, choose the order of their rows, and keep one to return to."""

from __future__ import annotations

from typing import NamedTuple

from spackscope.model.core.frozen import replace
from spackscope.model.index.rows import Row
from spackscope.model.index.view import Order, View
from spackscope.tui.browser.state import FIRST_VIEW, Summary
from spackscope.tui.settings.column_settings import first_sort
from spackscope.tui.settings.settings import Settings

LARGE = 20_000
"""Records from which on a letter waits a moment for the next one before it is answered.

Up to so many are checked against the host before they are shown first.
"""


class Entry(NamedTuple):
    """What an input and the rows showed when the input was entered."""

    input: str
    text: str
    view: View
    row: Row | None


def first_view(settings: Settings) -> View:
    """Return the view that the browser begins with."""
    return replace(FIRST_VIEW, folded=settings.fold, sort=first_sort(settings))


def preferred_order(summary: Summary) -> Order:
    """Return the order of rows by all that is known of a catalog, or can be known at once."""
    is_known = summary.catalog.by_host.is_ready or summary.total <= LARGE
    return Order.PREFERRED_HERE if is_known else Order.PREFERRED


def selects_otherwise(view: View, other: View) -> bool:
    """Check whether two views differ in their rows or the order of these, not only in groups."""
    return (view.query, view.sort) != (other.query, other.sort)
