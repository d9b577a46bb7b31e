"""Find the ids of the records that match a query."""

from __future__ import annotations

from itertools import pairwise

from spackscope.model.catalog.column_arrays import ColumnArrays
from spackscope.model.catalog.dictionaries import Dictionaries
from spackscope.model.catalog.id_ranges import IdRanges
from spackscope.model.catalog.sql_filter import (
    FALSE,
    TRUE,
    Clause,
    condition,
    hash_between,
    hash_ranges,
)
from spackscope.model.index.connection import Database
from spackscope.model.query.ast import Query

_RANGES_AT_ONCE = 200
"""IdRanges in one statement; SQLite takes expressions a thousand deep."""


def matching(
    query: Query, database: Database, dictionaries: Dictionaries, columns: ColumnArrays
) -> IdRanges:
    """Match look-alikes first, as if no hash began as asked, and then the specs whose hash does.

    So a bare word, which may be the beginning of a hash, costs no look at every spec. Raises
    Unanswerable.
    """
    ranges = hash_ranges(query, dictionaries)
    made = condition(query, dictionaries, hashes=False)
    specs = _matching(made, database, columns)
    if not ranges:
        return specs
    whole = condition(query, dictionaries)
    flags: dict[int, bool] = {}
    for at in range(0, len(ranges), _RANGES_AT_ONCE):
        some = ranges[at : at + _RANGES_AT_ONCE]
        begins = " OR ".join(hash_between(*bounds) for bounds in some)
        flags.update(
            database.execute(
                f"SELECT spec.id, {whole.sql} FROM spec"
                f" JOIN look_alike ON look_alike.id = look_alike WHERE {begins}",
                whole.parameters,
            )
        )
    return specs.changed((id_, bool(belongs)) for id_, belongs in sorted(flags.items()))


def _matching(made: Clause, database: Database, columns: ColumnArrays) -> IdRanges:
    first = columns.first
    if made == FALSE:
        return IdRanges()
    if made == TRUE:
        return IdRanges([(0, first[-1])])
    if made.on_specs:
        found = database.execute(
            f"SELECT spec.id FROM {tables(made)} WHERE {made.sql} ORDER BY spec.id",
            made.parameters,
        )
        return IdRanges.of(id_ for (id_,) in found)
    found = database.execute(
        f"SELECT id FROM look_alike WHERE {made.sql} ORDER BY id", made.parameters
    )
    ids = [id_ for (id_,) in found]
    breaks = [at for at, (one, two) in enumerate(pairwise(ids), 1) if two - one > 1]
    bounds = zip([0, *breaks], [*breaks, len(ids)], strict=True)
    return IdRanges((first[ids[at]], first[ids[behind - 1] + 1]) for at, behind in bounds if ids)


def tables(made: Clause) -> str:
    """Name the tables that a condition looks at, joined in the order that is quickest."""
    if not made.on_specs:
        return "look_alike"
    # CROSS JOIN keeps the order of the tables, which the planner cannot know to choose.
    if made.by_hash:
        return "spec CROSS JOIN look_alike ON look_alike.id = spec.look_alike"
    return "look_alike CROSS JOIN spec ON spec.id BETWEEN first AND first + n - 1"
