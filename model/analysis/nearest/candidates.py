"""Group the candidates of a search for the nearest spec, and list their differing attributes.

What counts of a spec is what a user chooses of it: version, variants, flags, patches, compiler,
platform, os and target.
"""

from __future__ import annotations

from collections.abc import Iterable

from spackscope.model.analysis.differences.own_differences import (
    LISTED_BY_PAGES,
    Difference,
    Value,
    attribute_values,
)
from spackscope.model.analysis.graphs.graph import Attributes, Graph
from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.core.records import LANGUAGES, compiler_name

_NOT_CHOSEN = frozenset(
    (
        *("package", "namespace", "package_hash", "spec_format", "compiler"),
        *("external", "external_module", "external_extra"),
    )
)
_LANGUAGES = frozenset(LANGUAGES)


def chosen_values(attributes: Attributes) -> dict[str, Value]:
    """Return the attributes that a user chooses, but the compiler."""
    values = attribute_values(attributes)
    return {name: value for name, value in values.items() if name not in _NOT_CHOSEN}


class LookAlikes(Frozen):
    """Specs that look alike but for their compilers: the ids, and their attributes by name.

    They are of one specfile format, and their sources list dependencies or do not.
    """

    attributes: frozenset[tuple[str, Value]]
    spec_format: int
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


def look_alikes_of(graph: Graph, id_: int) -> LookAlikes:
    """Return what specs that look like one have in common, without their ids."""
    attributes = graph.attributes(id_)
    values = {
        (name, tuple(sorted(value)) if isinstance(value, tuple) and ":" in name else value)
        for name, value in chosen_values(attributes).items()
    }
    lists = graph.lists_dependencies(id_)
    return LookAlikes(frozenset(values), attributes.spec_format, lists)


class Candidates(Frozen):
    """All candidates of a search in groups, and their number."""

    groups: tuple[LookAlikes, ...]
    total: int


def group_candidates(graph: Graph, ids: Iterable[int]) -> Candidates:
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


def compilers_of(graph: Graph, id_: int) -> tuple[str, ...]:
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
    stated = graph.attributes(id_).compiler
    name, _, version = stated.partition("/")[0].partition("@")
    return (f"{compiler_name(name)}@{version.removeprefix('=')}",) if stated else ()


def _compiler(graph: Graph, id_: int) -> str:
    name = graph.name(id_)
    return f"{name}@{graph.attributes(id_).version}" if graph.is_described(id_) else name
