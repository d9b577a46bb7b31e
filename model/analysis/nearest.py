"""Find the spec nearest to another one: a look-alike, or a build in a cache."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
        self._compilers = lru_cache(None)(partial(compilers_of, graph))
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
        if not graph.is_described(id_):
            return Nearest(total=count_all)
        spec = _group(graph, id_)
        groups = candidates[: _MAX_LATER if self.is_exhausted else None]
        self._compared += len(groups)
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
        if not tied:
            return Nearest(total=count_all)
        compared = tied[: _MAX_LATER if self.is_exhausted else None]
        self._compared += len(compared)
        hashes = graph.hashes(candidate for candidate, _ in compared)

        def rank(place: int) -> tuple[bool, int, str]:
            check_cancelled()
            candidate, group = compared[place]
            if len(compared) == 1 or not spec.has_comparable(group):
                return True, 0, hashes[place]
            differing = self._configurations(id_) ^ self._configurations(candidate)
            return False, len(differing), hashes[place]

        best, group = compared[min(range(len(compared)), key=rank)]
        differences = self._differences(id_, best, spec, group)
        return Nearest(best, differences, spec.has_comparable(group), len(tied), count_all)

    def _differences(
        self, id_: int, candidate: int, spec: CandidateGroup, group: CandidateGroup
    ) -> tuple[Difference, ...]:
        """Return the attributes in which a candidate differs, by name."""
        graph, stated = self.graph, [dict(spec.chosen), dict(group.chosen)]
        values = {
            name: tuple(texts(each.get(name)) for each in stated) for name in spec.differing(group)
        }
        if self._differs_in_compiler(id_, candidate, spec, group):
            values[_COMPILER] = self._compilers(id_), self._compilers(candidate)
        package = graph.name(id_)
        rows = (Difference("own", package, *item) for item in sorted(values.items()))
        return tuple(row._replace(packages=(package,)) for row in rows)

    def _differs_in_compiler(
        self, id_: int, candidate: int, spec: CandidateGroup, group: CandidateGroup
    ) -> bool:
        own, other = self._compilers(id_), self._compilers(candidate)
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
    graph = search.graph
    own, span = graph.identity(id_), graph.catalog.span(graph.catalog.look_alike(id_))
    ids = list(dict.fromkeys(map(graph.identity, range(*span)[:_MAX_LOOK_ALIKES])))
    kinds = run_kinds(graph, ids)
    others = [kind.ids[0] for kind in kinds if own not in kind.ids]
    return search.nearest(id_, others or ids).id
