"""Compare the own configuration of two nodes, attribute by attribute, dependencies by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import islice
from typing import NamedTuple

from spackscope.model.analysis.differences.edge_matching import EdgeKey, match_edges
from spackscope.model.analysis.graphs.graph import Attributes, Graph
from spackscope.model.catalog.dependency_graph import Edge
from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.core.records import LANGUAGES

Value = str | bool | tuple[str, ...] | None
"""The value of an attribute; None if the node has none."""

_LANGUAGES = frozenset(LANGUAGES)
_MAX_PROVIDERS = 1000
"""Providers of two nodes; real ones have a few."""
_RUNTIMES = frozenset(("gcc-runtime", "intel-oneapi-runtime", "compiler-wrapper"))
_LIBCS = frozenset(("glibc", "musl"))
_COME_WITH_VERSION = frozenset(
    ("package_hash", "patches", "external", "external_module", "external_extra")
)
LISTED_BY_PAGES = frozenset(("package", "version", "platform", "os", "target"))
"""Attributes that a source without dependencies lists, besides the variants."""


class Difference(Frozen):
    """An attribute whose values differ between two nodes, `a` and `b`.

    `attribute` is the name of a field, such as `version` or `package_hash`, `variant:NAME`, or
    the name of compiler flags. `dependency` is a dependency of one node only, `provider` two
    that provide the same `virtuals`, one for each node; `deptypes` and `virtuals` are those of
    the edge to a `dependency` of both. `deptypes` of a dependency or a provider are its own.

    `follows` is the attribute of the same node that this difference normally comes with, or "".
    """

    attribute: str
    a: Value
    b: Value
    follows: str = ""
    dependency: str = ""
    virtuals: tuple[str, ...] = ()
    deptypes: tuple[str, ...] = ()


def own_differences(graph: Graph, a: int, b: int) -> tuple[Difference, ...]:
    """Return the differences between the own configurations of two described nodes.

    First those of attributes by name, then of dependencies that both have, of providers, and of
    dependencies that only `a` or only `b` has. What a source does not list is not a difference.
    """
    listed = graph.lists_dependencies(a), graph.lists_dependencies(b)
    differences = []
    if graph.configuration(a) != graph.configuration(b):
        own = graph.attributes(a), graph.attributes(b)
        values_a, values_b = map(attribute_values, own)
        lists_a, lists_b = ({f"variant:{name}" for name in each.lists} for each in own)
        differences = [
            Difference(name, _stored(name, values_a, lists_a), _stored(name, values_b, lists_b))
            for name in sorted(values_a.keys() | values_b.keys())
            if values_a.get(name) != values_b.get(name)
            and (all(listed) or _is_listed(name, values_a, values_b, listed))
        ]
    if all(listed):
        differences += _edge_differences(graph, a, b)
    if len(differences) < 2:
        return tuple(differences)
    names = _Names.of(differences)
    return tuple(replace(item, follows=names.followed_by(item)) for item in differences)


def attribute_values(attributes: Attributes) -> dict[str, Value]:
    """Return the attributes of a node that have a value, by the names that differences use."""
    modules = ", ".join(attributes.external_modules)
    values: dict[str, Value] = {
        "package": attributes.package,
        "version": attributes.version,
        "namespace": attributes.namespace,
        "package_hash": attributes.package_hash,
        "patches": attributes.patches,
        "platform": attributes.platform,
        "os": attributes.os,
        "target": attributes.target,
        # Without a prefix it is the modules.
        "external": "" if attributes.external == modules else attributes.external,
        "external_module": attributes.external_modules,
        "external_extra": attributes.external_attributes,
        "compiler": attributes.compiler,
        "spec_format": str(attributes.spec_format or ""),
    }
    values |= attributes.flags
    values |= {f"variant:{name}": variant_value(its) for name, its in attributes.variants.items()}
    return {name: value for name, value in values.items() if value not in ("", ())}


def variant_value(values: tuple[str, ...]) -> Value:
    """Return the value of a variant: True or False, one text, or several in their order."""
    if len(values) != 1:
        return values
    return values[0] == "+" if values[0] in ("+", "~") else values[0]


def _stored(name: str, values: Mapping[str, Value], lists: Set[str]) -> Value:
    """Return a value as the document has it: of a list with one text a tuple."""
    value = values.get(name)
    return (value,) if name in lists and isinstance(value, str) else value


def _is_listed(
    name: str,
    a: Mapping[str, Value],
    b: Mapping[str, Value],
    listed: tuple[bool, bool],
) -> bool:
    """Check whether two sources both list an attribute, where one lists no dependencies."""
    if name in LISTED_BY_PAGES or name.startswith("variant:"):
        return True
    if name == "compiler":
        # Pages list the compiler of a Spack 1.0 spec; other sources list a dependency instead.
        return name in a and name in b
    return all(is_whole or name in values for values, is_whole in zip((a, b), listed, strict=True))


def _edge_differences(graph: Graph, a: int, b: int) -> Iterator[Difference]:
    edges_a, edges_b = match_edges(graph, a, b)
    for key, edge in edges_a.items():
        if key in edges_b:
            yield from _differences_of_edge(key.name, edge, edges_b[key])
    only_a = {key: edges_a[key] for key in sorted(edges_a.keys() - edges_b.keys())}
    only_b = {key: edges_b[key] for key in sorted(edges_b.keys() - edges_a.keys())}
    provided: set[EdgeKey] = set()
    for key_a, key_b, virtuals in islice(_providers(only_a, only_b), _MAX_PROVIDERS):
        provided |= {key_a, key_b}
        yield Difference(
            "provider",
            _label(graph, only_a[key_a].child),
            _label(graph, only_b[key_b].child),
            virtuals=virtuals,
            deptypes=only_a[key_a].deptypes,
        )
    for edges, is_a in ((only_a, True), (only_b, False)):
        for key, edge in edges.items():
            if key not in provided:
                label = _label(graph, edge.child)
                yield Difference(
                    "dependency",
                    label if is_a else None,
                    None if is_a else label,
                    dependency=key.name,
                    virtuals=edge.virtuals,
                    deptypes=edge.deptypes,
                )


def _providers(
    a: Mapping[EdgeKey, Edge], b: Mapping[EdgeKey, Edge]
) -> Iterator[tuple[EdgeKey, EdgeKey, tuple[str, ...]]]:
    """Yield pairs of edges, one of each node, that give the same virtuals."""
    providing = {key: edge for key, edge in b.items() if edge.virtuals}
    for key_a, edge_a in a.items():
        for key_b, edge_b in providing.items() if edge_a.virtuals else ():
            virtuals = tuple(item for item in edge_a.virtuals if item in edge_b.virtuals)
            if virtuals and key_a.name != key_b.name:
                yield key_a, key_b, virtuals


def _differences_of_edge(name: str, a: Edge, b: Edge) -> Iterator[Difference]:
    if a.deptypes != b.deptypes:
        yield Difference("deptypes", a.deptypes, b.deptypes, dependency=name)
    if a.virtuals != b.virtuals:
        yield Difference("virtuals", a.virtuals, b.virtuals, dependency=name)


def _label(graph: Graph, id_: int) -> str:
    version = graph.attributes(id_).version if graph.is_described(id_) else ""
    return f"{graph.name(id_)}@{version}" if version else graph.name(id_)


class _Names(NamedTuple):
    """The attributes in which two nodes differ, as far as others follow from them."""

    has_version: bool
    has_format: bool
    has_patches: bool
    has_recipe: bool
    toolchain: str
    variant: str

    @classmethod
    def of(cls, differences: Sequence[Difference]) -> _Names:
        """Return the names in the differences of a node, which are in the order of their names."""
        names = [item.attribute for item in differences]
        toolchain = next((name for name in ("platform", "compiler") if name in names), "")
        if not toolchain and any(
            item.attribute == "provider" and not _LANGUAGES.isdisjoint(item.virtuals)
            for item in differences
        ):
            toolchain = "provider"
        return cls(
            "version" in names,
            "spec_format" in names,
            "patches" in names,
            "package_hash" in names,
            toolchain,
            next((name for name in names if name.startswith("variant:")), ""),
        )

    def followed_by(self, difference: Difference) -> str:
        """Return the attribute that a difference normally comes with, or ""."""
        name = difference.attribute
        if difference.dependency:
            return self._followed_by_dependency(difference)
        is_conditional = name.startswith("variant:") and None in (difference.a, difference.b)
        if self.has_version and (name in _COME_WITH_VERSION or is_conditional):
            return "version"
        if self.has_format and name == "compiler":
            return "spec_format"
        return "patches" if name == "package_hash" and self.has_patches else ""

    def _followed_by_dependency(self, difference: Difference) -> str:
        name = difference.dependency
        is_runtime = name in _RUNTIMES or name in _LIBCS or "libc" in difference.virtuals
        if self.has_format and (is_runtime or not _LANGUAGES.isdisjoint(difference.virtuals)):
            return "spec_format"
        if is_runtime and self.toolchain:
            return self.toolchain
        if self.has_version:
            return "version"
        return self.variant or ("package_hash" if self.has_recipe else "")
