"""Say which condition of a query nothing can fulfil, and what was perhaps meant."""

from __future__ import annotations

from dataclasses import dataclass

from spackscope.model.catalog import Catalog
from spackscope.model.query.satisfies import Unanswerable
from spackscope.model.query.terms import Condition, Query
from spackscope.model.sources import ShouldStop, never

_NAMED = 3
"""Values that are named where nothing is close."""


@dataclass(frozen=True, slots=True)
class Advice:
    """Hold a sentence about a condition that nothing fulfils; `condition` says which one."""

    sentence: str
    condition: Condition


def advice(
    catalog: Catalog,
    query: Query,
    *,
    package: int | None = None,
    should_stop: ShouldStop = never,
) -> Advice | None:
    """Find the first condition that no record of the packages asked for fulfils.

    None where every condition can be fulfilled, if not together. Raises Cancelled.
    """
    try:
        catalog.tally(query, "package", should_stop=lambda: False)
    except Unanswerable as error:
        return Advice(str(error), error.condition)
    return None
