"""Find the builds nearest to a query, with the conditions that each of them does not match."""

from __future__ import annotations

from collections.abc import Sequence

from spackscope.model.core.frozen import Frozen
from spackscope.model.core.tasks import ShouldStop, never
from spackscope.model.index.catalog import Catalog
from spackscope.model.query.ast import Group, Query, Term, format_group

_NAMING = ("package", "hash")
"""Columns whose conditions each candidate matches."""

_AVAILABLE = (Term("state", "cached"), Term("state", "installed"))


class Candidate(Frozen):
    """A cached or installed spec, and the conditions of a query that it does not match."""

    id: int
    unmet: tuple[str, ...] = ()


def names_specs(query: Query) -> bool:
    """Check whether a query names a package or a hash, so that it has candidates."""
    return all(any(group[0].column in _NAMING for group in groups) for groups in query.whole_specs)


def find_candidates(
    catalog: Catalog, query: Query, *, should_stop: ShouldStop = never
) -> Sequence[Candidate]:
    """Return the cached or installed builds of the packages or hashes that a query names.

    Those with the fewest unmet conditions come first, and of these the newest; there are none
    with the name of an unknown package. Raises Cancelled, and Unanswerable for conditions that
    the index cannot answer.

        find_candidates(catalog, parse("hdf5@1.14 +mpi"))[0].unmet  # ("+mpi",)
    """

    def ids(*groups: Group) -> set[int]:
        return {*catalog.match(Query(groups), should_stop=should_stop).ids()}

    nearest: dict[int, tuple[str, ...]] = {}
    if catalog.virtuals.unknown(query):
        return ()
    for groups in query.whole_specs:
        naming = [group for group in groups if all(c.column in _NAMING for c in group)]
        of_name = ids(*naming, _AVAILABLE)
        unmet = {id_: list[str]() for id_ in of_name}
        for group in groups:
            for id_ in of_name - ids(*naming, group):
                unmet[id_].append(format_group(group))
        for id_, texts in unmet.items():
            if id_ not in nearest or len(texts) < len(nearest[id_]):
                nearest[id_] = tuple(texts)
    # Ids are in the order of versions.
    ranked = sorted(nearest.items(), key=lambda item: (len(item[1]), -item[0]))
    return [Candidate(*each) for each in ranked]
