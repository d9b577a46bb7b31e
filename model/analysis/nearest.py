"""Find the specs nearest to one: the nearest look-alike, or what a cache has instead of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from spackscope.model.analysis.cause_count import CauseCounter
from spackscope.model.analysis.graph import Attributes, Graph
from spackscope.model.analysis.node_pairs import MAX_PAIRS
from spackscope.model.core.compilers import LANGUAGES, compiler_name
from spackscope.model.core.errors import Cancelled
from spackscope.model.core.progress import ShouldStop, never

MAX_NEAREST = 3
"""Candidates that are returned by default."""

Values = tuple[str, ...]


class AttributeDifference(NamedTuple):
    """An attribute of two specs, with the values of the first and of the second."""

    attribute: str
    a: Values
    b: Values


@dataclass(frozen=True, slots=True)
class Candidate:
    """A candidate: in which attributes it differs itself, and how many causes there are in all.

    `causes` is None if they cannot be counted: the two are of different specfile formats, or a
    source does not list the dependencies of one.
    """

    id: int
    differences: tuple[AttributeDifference, ...]
    causes: int | None = None

    @property
    def attributes(self) -> tuple[str, ...]:
        """The names of the attributes that differ."""
        return tuple(difference.attribute for difference in self.differences)


@dataclass(frozen=True, slots=True)
class Nearest:
    """The nearest candidates, best first, and how many are `tied` in the number of attributes.

    `total` is the number of all candidates.
    """

    candidates: tuple[Candidate, ...] = ()
    tied: int = 0
    total: int = 0


def nearest(
    graph: Graph,
    id_: int,
    candidates: Iterable[int],
    *,
    limit: int = MAX_NEAREST,
    should_stop: ShouldStop = never,
) -> Nearest:
    """Return the candidates that come nearest to a spec.

    They are those with the fewest differing attributes of their own: version, each variant, each
    flag, patches, compiler, platform, os, target. Among these come first those with the fewest
    causes below, then those whose hash comes first. Raises Cancelled.
    """
    return NearestSearch(graph).find(id_, candidates, limit=limit, should_stop=should_stop)


class NearestSearch:
    """Searches for the nearest candidates of several specs, reading each candidate once."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._counter = CauseCounter(graph)
        self._attributes: dict[int, dict[str, Values]] = {}
        self._compilers: dict[int, Values] = {}

    def find(
        self,
        id_: int,
        candidates: Iterable[int],
        *,
        limit: int = MAX_NEAREST,
        should_stop: ShouldStop = never,
    ) -> Nearest:
        """Return the candidates that come nearest to a spec: see `nearest`."""
        own = self._graph.identity(id_)
        others = dict.fromkeys(map(self._graph.identity, candidates))
        others.pop(own, None)
        if not self._graph.is_described(id_):
            return Nearest(total=len(others))
        tied = self._least_differences(id_, list(others), should_stop)
        hashes = self._graph.hashes(candidate.id for candidate in tied)
        by_hash = dict(sorted(zip(hashes, tied, strict=True)))
        best = self._fewest_causes(id_, by_hash, limit, should_stop)
        return Nearest(best, len(tied), len(others))

    def _fewest_causes(
        self, id_: int, by_hash: Mapping[str, Candidate], limit: int, should_stop: ShouldStop
    ) -> tuple[Candidate, ...]:
        """Return the candidates with the fewest causes below, then the others, by their hashes."""
        best: list[Candidate] = []
        uncounted: list[Candidate] = []
        for candidate in by_hash.values():
            if should_stop():
                raise Cancelled
            if not self._is_comparable(id_, candidate.id):
                uncounted.append(candidate)
                continue
            most = _causes(best[-1]) if len(best) == limit else MAX_PAIRS
            causes = self._counter.count(id_, candidate.id, most)
            if causes is not None:
                # Sorting keeps the order of hashes.
                best = sorted((*best, replace(candidate, causes=causes)), key=_causes)[:limit]
        return (*best, *uncounted)[:limit]

    def _least_differences(
        self, id_: int, others: list[int], should_stop: ShouldStop
    ) -> list[Candidate]:
        """Return the candidates with the fewest differing attributes.

        The compiler is compared last, as it is searched for among the dependencies.
        """
        without: list[tuple[int, int, tuple[AttributeDifference, ...]]] = []
        for other in others:
            if should_stop():
                raise Cancelled
            differences = self._without_compiler(id_, other)
            without.append((len(differences), other, differences))
        least: int | None = None
        tied: list[Candidate] = []
        for count, other, differences in sorted(without, key=lambda item: item[0]):
            if least is not None and count > least:
                break
            all_differences = tuple(sorted((*differences, *self._compiler(id_, other))))
            if least is None or len(all_differences) < least:
                least, tied = len(all_differences), []
            if len(all_differences) == least:
                tied.append(Candidate(other, all_differences))
        return tied

    def _without_compiler(self, a: int, b: int) -> tuple[AttributeDifference, ...]:
        values_a, values_b = self._values(a), self._values(b)
        tells = self._graph.lists_dependencies(a) and self._graph.lists_dependencies(b)
        return tuple(
            AttributeDifference(name, values_a.get(name, ()), values_b.get(name, ()))
            for name in values_a.keys() | values_b.keys()
            if values_a.get(name) != values_b.get(name) and (tells or _is_told(name))
        )

    def _values(self, id_: int) -> dict[str, Values]:
        configuration = self._graph.configuration(id_)
        if (values := self._attributes.get(configuration)) is None:
            values = _attribute_values(self._graph.attributes(id_))
            self._attributes[configuration] = values
        return values

    def _compiler(self, a: int, b: int) -> tuple[AttributeDifference, ...]:
        compilers_a, compilers_b = self._compilers_of(a), self._compilers_of(b)
        if compilers_a == compilers_b:
            return ()
        lists = self._graph.lists_dependencies
        # A page names one compiler of several.
        if not (lists(a) and lists(b)) and not set(compilers_a).isdisjoint(compilers_b):
            return ()
        return (AttributeDifference("compiler", compilers_a, compilers_b),)

    def _compilers_of(self, id_: int) -> Values:
        if (compilers := self._compilers.get(id_)) is None:
            compilers = self._compilers[id_] = compilers_of(self._graph, id_)
        return compilers

    def _is_comparable(self, a: int, b: int) -> bool:
        graph = self._graph
        formats = {graph.attributes(id_).spec_format for id_ in (a, b)}
        return len(formats) == 1 and graph.lists_dependencies(a) and graph.lists_dependencies(b)


def _causes(candidate: Candidate) -> int:
    return candidate.causes or 0


def compilers_of(graph: Graph, id_: int) -> Values:
    """Return the compilers of a spec as `name@version`, by the names since Spack 1.0.

    Before that the one compiler is an attribute; since then they are dependencies.
    """
    if stated := graph.attributes(id_).compiler:
        name, _, version = stated.partition("/")[0].partition("@")
        return (f"{compiler_name(name)}@{version.removeprefix('=')}",)
    compilers = {
        f"{graph.name(edge.child)}@{graph.attributes(edge.child).version}"
        for edge in graph.edges(id_)
        if not set(LANGUAGES).isdisjoint(edge.virtuals)
    }
    return tuple(sorted(compilers))


def _attribute_values(attributes: Attributes) -> dict[str, Values]:
    """Return the attributes of a spec that count, but for its compiler."""
    values: Mapping[str, Values] = {
        "version": (attributes.version,),
        "platform": (attributes.platform,),
        "os": (attributes.os,),
        "target": (attributes.target,),
        "patches": attributes.patches,
        **attributes.flags,
        **{f"variant:{name}": tuple(sorted(v)) for name, v in attributes.variants.items()},
    }
    return {name: value for name, value in values.items() if value not in ((), ("",))}


def _is_told(attribute: str) -> bool:
    """Check whether pages tell an attribute, too."""
    return attribute.startswith("variant:") or attribute in ("version", "platform", "os", "target")
