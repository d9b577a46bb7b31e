"""Whether the rows on the screen are those of the query: nothing is done with others."""

from __future__ import annotations

from collections.abc import Sequence

from spackscope.model.core.frozen import replace
from spackscope.model.core.tasks import ShouldStop, never
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.view import View
from spackscope.tui.browser.state import BrowserState

NO_ROWS = "No rows are shown"
LOADING = "Still loading: press the key again in a moment"
STALE = "These rows are not those of the query: correct it first"


def why_not_shown(state: BrowserState) -> str:
    """Return why nothing can be done with the rows, or an empty text if it can."""
    if state.catalog is None or state.results is None:
        return LOADING
    if state.draft is not None and state.draft.is_wrong:
        return STALE
    if not state.is_shown:
        return STALE if state.is_refused else LOADING
    return "" if state.listing else NO_ROWS


def shown_ids(catalog: Catalog, view: View, *, should_stop: ShouldStop = never) -> Sequence[int]:
    """Return the ids of all records that the rows of a view stand for, in its order.

    Raises Cancelled.
    """
    single = replace(view.closed(), folded=False)
    return catalog.listing(single, should_stop=should_stop).ids
