"""Find the spec nearest to another one: a look-alike, or a build in a cache."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from functools import lru_cache, partial
from typing import NamedTuple

from spackscope.model.analysis.dag import (
    PROVIDED,
    Attributes,
    AttributeValue,
    Dag,
    compiled_languages,
    is_always_told,
    texts,
)
from spackscope.model.analysis.differences import Difference
from spackscope.model.analysis.kinds import run_kinds
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.records import compiler_name
from spackscope.model.core.tasks import check_cancelled

MAX_COMPARED = 1_000_000
"""Candidates that one search compares with specs."""

_MAX_LATER = 50
"""Candidates that are compared with each spec after MAX_COMPARED."""

_MAX_LOOK_ALIKES = 100
"""The most look-alikes among which the nearest is searched for."""

_MAX_KEPT = 1024
"""Specs whose closures are kept for the next comparison."""

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


def compilers_of(graph: Dag, id_: int) -> tuple[str, ...]:
    """Return the compilers of a spec as `name@version`, by the names since Spack 1.0.

    Before Spack 1.0 the one compiler is an attribute; since then compilers are dependencies. The
    languages do not count here: older documents do not have them. Only the name is known of a
    compiler that no document describes.
    """
    children = {
        c: graph.name(c) for c, kind in graph.links(id_) if compiled_languages(kind.virtuals)
    }
    if children:
        names = (
            f"{name}@{graph.version(child)}" if graph.is_described(child) else name
            for child, name in children.items()
        )
        return tuple(sorted({*names}))
    stated = str(graph.attributes(id_).get(_COMPILER, ""))
    name, _, version = stated.partition("/")[0].partition("@")
    return (f"{compiler_name(name)}@{version.removeprefix('=')}",) if stated else ()


class CandidateGroup(NamedTuple):
    """Specs with equal attributes and compilers, whose sources list dependencies or do not.

    `chosen` has the attributes that a user chooses but the compiler, with variants in any order.
    """

    chosen: frozenset[tuple[str, AttributeValue]]
    compilers: tuple[str, ...]
    spec_format: AttributeValue
    lists_dependencies: bool
    ids: list[int]

    def differing(self, other: CandidateGroup) -> set[str]:
        """Return the names of the differing attributes that both sources list."""
        names = {name for name, _ in self.chosen ^ other.chosen}
        are_listed = self.lists_dependencies and other.lists_dependencies
        if not are_listed:
            names = set(filter(is_always_told, names))
        own, others = self.compilers, other.compilers
        if not all("@" in compiler for compiler in own + others):
            # One version is unknown, so it may be equal to the other.
            own, others = (tuple(c.partition("@")[0] for c in its) for its in (own, others))
        # A page names one compiler of several.
        if own != others and (are_listed or set(own).isdisjoint(others)):
            names.add(_COMPILER)
        return names

    def differences(self, package: str, other: CandidateGroup) -> tuple[Difference, ...]:
        """Return the differing attributes of a package with their values, by name."""
        a, b = ({**dict(each.chosen), _COMPILER: each.compilers} for each in (self, other))
        return tuple(
            Difference("own", package, name, (texts(a.get(name)), texts(b.get(name))))
            for name in sorted(self.differing(other))
        )

    def has_comparable(self, other: CandidateGroup) -> bool:
        """Check whether the dependencies of both are known, and in the same specfile format."""
        are_known = self.lists_dependencies and other.lists_dependencies
        return are_known and self.spec_format == other.spec_format


def _group(graph: Dag, id_: int) -> CandidateGroup:
    """Return the group that a spec is of, without its ids."""
    attributes = graph.attributes(id_)
    chosen = (
        (name, tuple(sorted(value)) if isinstance(value, tuple) and ":" in name else value)
        for name, value in chosen_values(attributes).items()
    )
    stated, lists = attributes.get("spec_format"), graph.lists_dependencies(id_)
    return CandidateGroup(frozenset(chosen), compilers_of(graph, id_), stated, lists, [])


def group_candidates(graph: Dag, ids: Iterable[int]) -> Sequence[CandidateGroup]:
    """Return candidates in groups, each spec once."""
    groups: dict[Hashable, CandidateGroup] = {}
    for id_ in filter(graph.is_described, dict.fromkeys(map(graph.identity, ids))):
        lists, compilers = graph.lists_dependencies(id_), compilers_of(graph, id_)
        key = graph.configuration(id_), lists, compilers
        if key not in groups:
            groups[key] = _group(graph, id_)
        groups[key].ids.append(id_)
    return list(groups.values())


def _configurations_of(graph: Dag, id_: int) -> frozenset[int]:
    """Return the configurations of a spec and of all specs below it."""
    return frozenset(map(graph.configuration, graph.reached([id_])))


class Nearest(Frozen):
    """The nearest of `total` candidates, of which some are `tied` in the number of attributes.

    `id` is None if there is none. `differences` are in its own attributes. It `has_comparable`
    dependencies if its source lists them in the same specfile format.
    """

    id: int | None = None
    differences: tuple[Difference, ...] = ()
    has_comparable: bool = False
    tied: int = 0
    total: int = 0


class NearestSearch:
    """Searches for the nearest candidate of each of several specs."""

    def __init__(self, graph: Dag) -> None:
        self.graph = graph
        self._configurations = lru_cache(_MAX_KEPT)(partial(_configurations_of, graph))
        self._compared = 0

    @property
    def is_exhausted(self) -> bool:
        """Whether so many candidates were compared that only the first ones are from now on."""
        return self._compared > MAX_COMPARED

    def nearest(self, id_: int, candidates: Iterable[int]) -> Nearest:
        """Return the candidate nearest to a spec; the spec itself is not a candidate.

        The nearest candidate has the fewest differing attributes of its own: version, each
        variant, each flag, patches, compiler, platform, os, target. Of several such candidates it
        has the fewest other specs below, whatever their hashes, and then the first hash. Raises
        Cancelled.
        """
        graph = self.graph
        own = graph.identity(id_)
        others = group_candidates(graph, (c for c in candidates if graph.identity(c) != own))
        return self.find(id_, others)

    def find(self, id_: int, candidates: Sequence[CandidateGroup]) -> Nearest:
        """Return the nearest of candidates in groups: see `nearest`."""
        graph, count_all = self.graph, sum(len(group.ids) for group in candidates)
        if not (graph.is_described(id_) and candidates):
            return Nearest(total=count_all)
        spec = _group(graph, id_)
        counted = defaultdict[int, list[CandidateGroup]](list)
        for group in candidates[: _MAX_LATER if self.is_exhausted else None]:
            counted[len(spec.differing(group))].append(group)
            self._compared += 1
        every = [(each, group) for group in counted[min(counted)] for each in group.ids]
        tied = every[: _MAX_LATER if self.is_exhausted else None]
        self._compared += len(tied)
        hashes = graph.hashes(candidate for candidate, _ in tied)

        def rank(place: int) -> tuple[bool, int, str]:
            check_cancelled()
            candidate, group = tied[place]
            if len(tied) == 1 or not spec.has_comparable(group):
                return True, 0, hashes[place]
            differing = self._configurations(id_) ^ self._configurations(candidate)
            return False, len(differing), hashes[place]

        best, group = tied[min(range(len(tied)), key=rank)]
        differences = spec.differences(graph.name(id_), group)
        return Nearest(best, differences, spec.has_comparable(group), len(every), count_all)


def nearest_look_alike(search: NearestSearch, id_: int) -> int | None:
    """Return the nearest look-alike: the most used one of another run-time kind, if there is any.

    Raises Cancelled.
    """
    graph = search.graph
    own, span = graph.identity(id_), graph.catalog.span(graph.catalog.look_alike(id_))
    ids = list(dict.fromkeys(map(graph.identity, range(*span)[:_MAX_LOOK_ALIKES])))
    kinds = run_kinds(graph, ids)
    others = [kind.ids[0] for kind in kinds if own not in kind.ids]
    return search.nearest(id_, others or ids).id
