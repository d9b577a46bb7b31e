"""Find the spec nearest to another one: a look-alike, or a build in a cache."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from spackscope.model.analysis.compare import MAX_PAIRS, Difference, Pairs
from spackscope.model.analysis.dag import PROVIDED, Attributes, AttributeValue, Dag, is_always_told
from spackscope.model.analysis.kinds import run_kinds
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.tasks import check_cancelled

MAX_STEPS = 5_000_000
"""Pairs of nodes with their dependencies that one search visits to count causes."""

MAX_COMPARED = 1_000_000
"""Groups of candidates that one search compares in full."""

_MAX_LATER = 50
"""Groups that are compared with each spec after MAX_COMPARED."""

_MAX_LOOK_ALIKES = 100
"""The most look-alikes among which the nearest is searched for."""

_COMPILER = "compiler"
_NOT_CHOSEN = frozenset(
    (
        *("package", "namespace", "package_hash", "spec_format", _COMPILER),
        *("external", "external_module", "external_extra", PROVIDED),
    )
)


def chosen_values(attributes: Attributes) -> dict[str, AttributeValue]:
    """Return the attributes that a user chooses, but the compiler."""
    return {name: value for name, value in attributes.items() if name not in _NOT_CHOSEN}


class CandidateGroup(NamedTuple):
    """Specs with equal attributes, whose sources list dependencies or do not.

    `chosen` has the attributes that a user chooses but the compiler, with variants in any order.
    """

    chosen: frozenset[tuple[str, AttributeValue]]
    spec_format: AttributeValue
    lists_dependencies: bool
    ids: list[int]

    def differing(self, other: CandidateGroup) -> set[str]:
        """Return the names of the differing attributes that both sources list."""
        names = {name for name, _ in self.chosen ^ other.chosen}
        if self.lists_dependencies and other.lists_dependencies:
            return names
        return set(filter(is_always_told, names))


def _group(graph: Dag, id_: int) -> CandidateGroup:
    """Return the group that a spec is of, without its ids."""
    attributes = graph.attributes(id_)
    chosen = (
        (name, tuple(sorted(value)) if isinstance(value, tuple) and ":" in name else value)
        for name, value in chosen_values(attributes).items()
    )
    lists = graph.lists_dependencies(id_)
    return CandidateGroup(frozenset(chosen), attributes.get("spec_format"), lists, [])


def group_candidates(graph: Dag, ids: Iterable[int]) -> Sequence[CandidateGroup]:
    """Return candidates in groups, each spec once."""
    groups: dict[tuple[int, bool], CandidateGroup] = {}
    for id_ in filter(graph.is_described, dict.fromkeys(map(graph.identity, ids))):
        key = graph.configuration(id_), graph.lists_dependencies(id_)
        if key not in groups:
            groups[key] = _group(graph, id_)
        groups[key].ids.append(id_)
    return list(groups.values())


class NearCandidate(Frozen):
    """A candidate with its own differing attributes, and the number of all causes.

    `causes` is None if causes cannot be counted: the two specs have different specfile formats, a
    source does not list the dependencies of one, or the search has taken MAX_STEPS.
    """

    id: int
    differences: tuple[Difference, ...]
    causes: int | None = None


class Nearest(Frozen):
    """The nearest candidate, if any, and how many are `tied` in the number of attributes.

    `total` is the number of all candidates.
    """

    best: NearCandidate | None = None
    tied: int = 0
    total: int = 0


class NearestSearch:
    """Searches for the nearest candidate of each of several specs."""

    def __init__(self, graph: Dag) -> None:
        self.pairs = Pairs(graph)
        self._compared = 0

    @property
    def is_exhausted(self) -> bool:
        """Whether the search has visited so many pairs that it counts no more causes.

        It does not compare all candidates then, either.
        """
        return self.pairs.steps > MAX_STEPS or self._compared > MAX_COMPARED

    def nearest(self, id_: int, candidates: Iterable[int]) -> Nearest:
        """Return the candidate nearest to a spec; the spec itself is not a candidate.

        The nearest candidate has the fewest differing attributes of its own: version, each
        variant, each flag, patches, compiler, platform, os, target. Of several such candidates it
        has the fewest causes below, and then the first hash. Raises Cancelled.
        """
        graph = self.pairs.dag
        own = graph.identity(id_)
        others = group_candidates(graph, (c for c in candidates if graph.identity(c) != own))
        return self.find(id_, others)

    def find(self, id_: int, candidates: Sequence[CandidateGroup]) -> Nearest:
        """Return the nearest of candidates in groups: see `nearest`."""
        graph, count_all = self.pairs.dag, sum(len(group.ids) for group in candidates)
        if not graph.is_described(id_):
            return Nearest(total=count_all)
        spec = _group(graph, id_)
        self._compared += len(candidates)
        groups = candidates[: _MAX_LATER if self.is_exhausted else None]
        counted = [(len(spec.differing(group)), group) for group in groups]
        tied: list[tuple[int, CandidateGroup]] = []
        fewest = 0
        for count, group in sorted(counted, key=lambda item: item[0]):
            # A group with more differences than another has in all is not the nearest. The
            # compiler is compared last, as it is searched for among the dependencies.
            if tied and count > fewest:
                break
            for candidate in group.ids:
                total = count + self._differs_in_compiler(id_, candidate, spec, group)
                if not tied or total < fewest:
                    fewest, tied = total, []
                if total == fewest:
                    tied.append((candidate, group))
        best: tuple[int, CandidateGroup] | None = None
        fewest_causes: int | None = None
        by_hash = zip(graph.hashes(candidate for candidate, _ in tied), tied, strict=True)
        for _, (candidate, group) in sorted(by_hash, key=lambda item: item[0]):
            check_cancelled()
            are_known = spec.lists_dependencies and group.lists_dependencies
            if self.is_exhausted or not are_known or spec.spec_format != group.spec_format:
                best = best or (candidate, group)
                continue
            # Of equal candidates the one with the first hash is better.
            most = MAX_PAIRS if fewest_causes is None else fewest_causes - 1
            if (causes := self.pairs.count_causes(id_, candidate, most)) is not None:
                best, fewest_causes = (candidate, group), causes
        if best is None:
            return Nearest(None, len(tied), count_all)
        differences = self._differences(id_, best[0], spec, best[1])
        return Nearest(NearCandidate(best[0], differences, fewest_causes), len(tied), count_all)

    def _differences(
        self, id_: int, candidate: int, spec: CandidateGroup, group: CandidateGroup
    ) -> tuple[Difference, ...]:
        a, b = dict(spec.chosen), dict(group.chosen)
        differences = [
            Difference(name, a.get(name), b.get(name)) for name in spec.differing(group)
        ]
        if self._differs_in_compiler(id_, candidate, spec, group):
            own, other = (", ".join(self.pairs.compilers(each)) for each in (id_, candidate))
            differences.append(Difference(_COMPILER, own or None, other or None))
        return tuple(sorted(differences, key=lambda difference: difference.attribute))

    def _differs_in_compiler(
        self, id_: int, candidate: int, spec: CandidateGroup, group: CandidateGroup
    ) -> bool:
        own, other = self.pairs.compilers(id_), self.pairs.compilers(candidate)
        if not all("@" in compiler for compiler in own + other):
            # One version is unknown, so it may be equal to the other.
            own, other = (tuple(c.partition("@")[0] for c in names) for names in (own, other))
        if spec.lists_dependencies and group.lists_dependencies:
            return own != other
        # A page names one compiler of several.
        return own != other and set(own).isdisjoint(other)


def nearest_look_alike(search: NearestSearch, id_: int) -> int | None:
    """Return the nearest look-alike: the most used one of another run-time kind, if there is any.

    Raises Cancelled.
    """
    graph = search.pairs.dag
    own, span = graph.identity(id_), graph.catalog.span(graph.catalog.look_alike(id_))
    ids = list(dict.fromkeys(map(graph.identity, range(*span)[:_MAX_LOOK_ALIKES])))
    kinds = run_kinds(graph, ids)
    others = [kind.ids[0] for kind in kinds if own not in kind.ids]
    best = search.nearest(id_, others or ids).best
    return best.id if best is not None else None
