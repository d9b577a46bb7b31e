"""Find the nearest candidate in caches for each missing spec of an environment."""

from __future__ import annotations

from spackscope.model.analysis.differences.differences import Comparer
from spackscope.model.analysis.environments.availability import Availability
from spackscope.model.analysis.environments.coverage import Coverage, Missing
from spackscope.model.analysis.nearest.candidates import Candidates, group_candidates
from spackscope.model.analysis.nearest.nearest import NearestSearch
from spackscope.model.core.errors import Cancelled
from spackscope.model.core.frozen import replace
from spackscope.model.core.tasks import OnProgress, ShouldStop, never, no_progress

MAX_STEPS = 2_000_000
"""Pairs of nodes with their dependencies that are compared for all that is missing."""


def find_nearest(
    coverage: Coverage,
    availability: Availability,
    *,
    on_progress: OnProgress = no_progress,
    should_stop: ShouldStop = never,
) -> Coverage:
    """Return a coverage with the nearest candidates of all that is missing.

    It `is_cut` if there is too much to compare. Raises Cancelled and IndexDamaged.
    """
    graph = coverage.environment.graph
    search, comparer = NearestSearch(graph), Comparer(graph)
    by_package: dict[str, Candidates] = {}

    def with_nearest(spec: Missing) -> Missing:
        if spec.package not in by_package:
            ids = availability.candidates(spec.package)
            by_package[spec.package] = group_candidates(graph, ids)
        nearest = search.find(spec.id, by_package[spec.package], should_stop=should_stop)
        comparison = None
        is_cut = comparer.steps > MAX_STEPS
        if nearest.candidates and nearest.candidates[0].causes is not None and not is_cut:
            other = nearest.candidates[0].id
            comparison = comparer.compare(spec.id, other, should_stop=should_stop)
        return replace(spec, nearest=nearest, comparison=comparison)

    missing = []
    for number, spec in enumerate(coverage.missing):
        if should_stop():
            raise Cancelled
        on_progress("missing specs compared", number, len(coverage.missing))
        missing.append(with_nearest(spec))
    is_cut = search.is_exhausted or comparer.steps > MAX_STEPS
    return replace(coverage, missing=tuple(missing), is_cut=is_cut)
