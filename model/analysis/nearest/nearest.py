"""Find the specs nearest to one: the nearest look-alike, or what a cache has instead of it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache, partial
from typing import NamedTuple

from spackscope.model.analysis.differences.node_pairs import MAX_PAIRS
from spackscope.model.analysis.differences.own_differences import Difference
from spackscope.model.analysis.graphs.graph import Graph
from spackscope.model.analysis.nearest.candidates import (
    Candidates,
    LookAlikes,
    compilers_of,
    group_candidates,
    look_alikes_of,
)
from spackscope.model.analysis.nearest.cause_count import CauseCounter
from spackscope.model.core.errors import Cancelled
from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.core.tasks import ShouldStop, never

MAX_NEAREST = 3
"""Candidates that are returned by default."""

MAX_STEPS = 5_000_000
"""Pairs of nodes with their dependencies that one search visits to count causes."""

MAX_COMPARED = 1_000_000
"""Groups of candidates that one search compares in full."""

_MAX_LATER = 50
"""Groups that are compared with each spec after that."""

_COMPILER = "compiler"


class Candidate(Frozen):
    """A candidate: in which attributes it differs itself, and how many causes there are in all.

    `causes` is None if they cannot be counted: the two are of different specfile formats, or a
    source does not list the dependencies of one; and after MAX_STEPS.
    """

    id: int
    differences: tuple[Difference, ...]
    causes: int | None = None

    @property
    def attributes(self) -> tuple[str, ...]:
        """The names of the attributes that differ."""
        return tuple(difference.attribute for difference in self.differences)


class Nearest(Frozen):
    """The nearest candidates, best first, and how many are `tied` in the number of attributes.

    `total` is the number of all candidates.
    """

    candidates: tuple[Candidate, ...] = ()
    tied: int = 0
    total: int = 0


class _Tied(NamedTuple):
    """A candidate with the fewest differing attributes."""

    id: int
    group: LookAlikes
    causes: int | None = None


def nearest(
    graph: Graph,
    id_: int,
    candidates: Iterable[int],
    *,
    limit: int = MAX_NEAREST,
    should_stop: ShouldStop = never,
) -> Nearest:
    """Return the candidates nearest to a spec, which is not one of them.

    They are those with the fewest differing attributes of their own: version, each variant, each
    flag, patches, compiler, platform, os, target. Among these come first those with the fewest
    causes below, then those whose hash comes first. Raises Cancelled.
    """
    own = graph.identity(id_)
    others = group_candidates(graph, (c for c in candidates if graph.identity(c) != own))
    return NearestSearch(graph).find(id_, others, limit=limit, should_stop=should_stop)


class NearestSearch:
    """Searches for the nearest candidates of several specs."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._counter = CauseCounter(graph)
        self._compared = 0
        self._compilers = lru_cache(None)(partial(compilers_of, graph))

    @property
    def is_exhausted(self) -> bool:
        """Whether the search has visited so much that it counts no more causes.

        Nor does it compare all candidates then.
        """
        return self._counter.steps > MAX_STEPS or self._compared > MAX_COMPARED

    def find(
        self,
        id_: int,
        candidates: Candidates,
        *,
        limit: int = MAX_NEAREST,
        should_stop: ShouldStop = never,
    ) -> Nearest:
        """Return the candidates that come nearest to a spec: see `nearest`."""
        graph = self._graph
        if not graph.is_described(id_):
            return Nearest(total=candidates.total)
        spec = replace(look_alikes_of(graph, id_), ids=(id_,))
        tied = self._fewest_attributes(spec, candidates)
        by_hash = zip(graph.hashes(each.id for each in tied), tied, strict=True)
        ordered = (each for _, each in sorted(by_hash, key=lambda item: item[0]))
        best = self._fewest_causes(spec, ordered, limit, should_stop)
        nearest_first = (Candidate(b.id, self._differences(spec, b), b.causes) for b in best)
        return Nearest(tuple(nearest_first), len(tied), candidates.total)

    def _fewest_attributes(self, spec: LookAlikes, candidates: Candidates) -> list[_Tied]:
        """Return the candidates with the fewest differing attributes.

        The compiler is compared last, as it is searched for among the dependencies.
        """
        self._compared += len(candidates.groups)
        groups = candidates.groups[: _MAX_LATER if self.is_exhausted else None]
        counted = [(len(spec.differing(group)), group) for group in groups]
        by_count: dict[int, list[_Tied]] = {}
        for count, group in sorted(counted, key=lambda item: item[0]):
            # One with more differences than another has in all is not the nearest.
            if any(known < count for known in by_count):
                break
            for id_ in group.ids:
                differs = self._differs_in_compiler(spec, group, id_)
                by_count.setdefault(count + differs, []).append(_Tied(id_, group))
        return by_count[min(by_count)] if by_count else []

    def _fewest_causes(
        self, spec: LookAlikes, tied: Iterable[_Tied], limit: int, should_stop: ShouldStop
    ) -> list[_Tied]:
        """Return the candidates with the fewest causes below, then those without a count."""
        best: list[_Tied] = []
        uncounted: list[_Tied] = []
        for each in tied:
            if should_stop():
                raise Cancelled
            if self.is_exhausted or not spec.is_comparable(each.group):
                uncounted.append(each)
                continue
            most = _causes(best[-1]) if len(best) == limit else MAX_PAIRS
            causes = self._counter.count(spec.ids[0], each.id, most)
            if causes is not None:
                # Sorting keeps the order of hashes.
                best = sorted((*best, each._replace(causes=causes)), key=_causes)[:limit]
        return [*best, *uncounted][:limit]

    def _differences(self, spec: LookAlikes, tied: _Tied) -> tuple[Difference, ...]:
        differences = spec.differences(tied.group)
        if self._differs_in_compiler(spec, tied.group, tied.id):
            own, other = (", ".join(self._compilers(id_)) for id_ in (spec.ids[0], tied.id))
            differences.append(Difference(_COMPILER, own or None, other or None))
        return tuple(sorted(differences, key=lambda difference: difference.attribute))

    def _differs_in_compiler(self, spec: LookAlikes, group: LookAlikes, id_: int) -> bool:
        own, other = self._compilers(spec.ids[0]), self._compilers(id_)
        if not all("@" in compiler for compiler in own + other):
            # The version of one is not known, so it may be that of the other.
            own, other = (tuple(c.partition("@")[0] for c in names) for names in (own, other))
        if spec.lists_dependencies and group.lists_dependencies:
            return own != other
        # A page names one compiler of several.
        return own != other and set(own).isdisjoint(other)


def _causes(tied: _Tied) -> int:
    return tied.causes or 0
