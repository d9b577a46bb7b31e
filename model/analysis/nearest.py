"""Find the specs nearest to one: the nearest look-alike, or what a cache has instead of it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache, partial
from typing import NamedTuple

from spackscope.model.analysis.compare import MAX_PAIRS, Difference, Pairs
from spackscope.model.analysis.dag import LISTED_BY_PAGES, Attributes, Dag, Value
from spackscope.model.core.errors import Cancelled
from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.core.records import LANGUAGES, compiler_name
from spackscope.model.core.tasks import ShouldStop, never

_NOT_CHOSEN = frozenset(
    (
        *("package", "namespace", "package_hash", "spec_format", "compiler"),
        *("external", "external_module", "external_extra"),
    )
)
_LANGUAGES = frozenset(LANGUAGES)


def chosen_values(attributes: Attributes) -> dict[str, Value]:
    """Return the attributes that a user chooses, but the compiler."""
    return {name: value for name, value in attributes.items() if name not in _NOT_CHOSEN}


class LookAlikes(Frozen):
    """Specs that look alike but for their compilers: the ids, and their attributes by name.

    They are of one specfile format, and their sources list dependencies or do not.
    """

    attributes: frozenset[tuple[str, Value]]
    spec_format: Value
    lists_dependencies: bool
    ids: tuple[int, ...] = ()

    def is_comparable(self, other: LookAlikes) -> bool:
        """Check whether the causes between these and other specs can be counted."""
        is_told = self.lists_dependencies and other.lists_dependencies
        return is_told and self.spec_format == other.spec_format

    def differing(self, other: LookAlikes) -> set[str]:
        """Return the names of the attributes that differ, without the compiler."""
        names = {name for name, _ in self.attributes ^ other.attributes}
        if self.lists_dependencies and other.lists_dependencies:
            return names
        return {name for name in names if name.startswith("variant:") or name in LISTED_BY_PAGES}

    def differences(self, other: LookAlikes) -> list[Difference]:
        """Return the attributes that differ with their values, without the compiler."""
        a, b = dict(self.attributes), dict(other.attributes)
        return [Difference(name, a.get(name), b.get(name)) for name in self.differing(other)]


def look_alikes_of(graph: Dag, id_: int) -> LookAlikes:
    """Return what specs that look like one have in common, without their ids."""
    attributes = graph.attributes(id_)
    values = {
        (name, tuple(sorted(value)) if isinstance(value, tuple) and ":" in name else value)
        for name, value in chosen_values(attributes).items()
    }
    lists = graph.lists_dependencies(id_)
    return LookAlikes(frozenset(values), attributes.get("spec_format"), lists)


class Candidates(Frozen):
    """All candidates of a search in groups, and their number."""

    groups: tuple[LookAlikes, ...]
    total: int


def group_candidates(graph: Dag, ids: Iterable[int]) -> Candidates:
    """Return candidates in groups, each spec once."""
    every = dict.fromkeys(map(graph.identity, ids))
    looks: dict[tuple[int, bool], LookAlikes] = {}
    groups: dict[LookAlikes, list[int]] = {}
    for id_ in filter(graph.is_described, every):
        key = graph.configuration(id_), graph.lists_dependencies(id_)
        if key not in looks:
            looks[key] = look_alikes_of(graph, id_)
        groups.setdefault(looks[key], []).append(id_)
    with_ids = (replace(look, ids=tuple(ids)) for look, ids in groups.items())
    return Candidates(tuple(with_ids), len(every))


def compilers_of(graph: Dag, id_: int) -> tuple[str, ...]:
    """Return the compilers of a spec as `name@version`, by the names since Spack 1.0.

    Before that the one compiler is an attribute; since then they are dependencies. For which
    language each is does not count here: a document before Spack 1.0 does not tell. Of a compiler
    that no document describes only the name is known.
    """
    children = {
        child for child, kind in graph.links(id_) if not _LANGUAGES.isdisjoint(kind.virtuals)
    }
    if children:
        return tuple(sorted({_compiler(graph, child) for child in children}))
    stated = str(graph.attributes(id_).get("compiler", ""))
    name, _, version = stated.partition("/")[0].partition("@")
    return (f"{compiler_name(name)}@{version.removeprefix('=')}",) if stated else ()


def _compiler(graph: Dag, id_: int) -> str:
    name = graph.name(id_)
    return f"{name}@{graph.version(id_)}" if graph.is_described(id_) else name


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
    graph: Dag,
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

    def __init__(self, graph: Dag) -> None:
        self._graph = graph
        self.pairs = Pairs(graph)
        self._compared = 0
        self._compilers = lru_cache(None)(partial(compilers_of, graph))

    @property
    def is_exhausted(self) -> bool:
        """Whether the search has visited so much that it counts no more causes.

        Nor does it compare all candidates then.
        """
        return self.pairs.steps > MAX_STEPS or self._compared > MAX_COMPARED

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
            causes = self.pairs.count_causes(spec.ids[0], each.id, most)
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
