"""Read the specs of an environment into a graph, and order them for a build."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import cached_property, partial

from spackscope.model.analysis.environments.root_uses import ListedSpecs
from spackscope.model.analysis.graphs.graph import Graph
from spackscope.model.analysis.graphs.hash_graph import HashGraph
from spackscope.model.analysis.graphs.joined_graph import JoinedGraph
from spackscope.model.analysis.graphs.post_order import post_order
from spackscope.model.analysis.graphs.spec_graph import spec_graph
from spackscope.model.catalog.catalog import Catalog
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.records import is_run


class Environment(Frozen):
    """Specs in a graph by their identities, each once, of which some are `roots`.

    `described` has the id of a spec in the environment's own document. Of a spec that it does not
    describe, the identity is used, which another source describes.
    """

    graph: Graph
    specs: tuple[int, ...]
    roots: tuple[int, ...]
    described: dict[int, int]

    def node(self, spec: int) -> int:
        """Return the id by which the graph describes a spec best."""
        return self.described.get(spec, spec)

    def is_external(self, spec: int) -> bool:
        """Check whether Spack does not build a spec."""
        return bool(self.graph.attributes(self.node(spec)).external)

    def dependencies(self, spec: int, *, to_build: bool) -> list[int]:
        """Return what is linked or run by a spec, and with `to_build` what builds it, too."""
        return [
            self.graph.identity(edge.child)
            for edge in self.graph.edges(self.node(spec))
            if is_run(edge.deptypes) or (to_build and "build" in edge.deptypes)
        ]

    def reached(self, specs: Collection[int]) -> set[int]:
        """Return specs with all that they link or run."""
        return set(self._in_build_order(specs, to_build=False))

    @cached_property
    def all_in_build_order(self) -> tuple[int, ...]:
        """The specs with all that they depend on, dependencies before dependents."""
        return tuple(self._in_build_order((*self.roots, *self.specs), to_build=True))

    @cached_property
    def in_build_order(self) -> tuple[int, ...]:
        """The specs, dependencies before dependents."""
        specs = set(self.specs)
        return tuple(spec for spec in self.all_in_build_order if spec in specs)

    def _in_build_order(self, starts: Collection[int], *, to_build: bool) -> Iterator[int]:
        return post_order(starts, partial(self.dependencies, to_build=to_build))


def environment_of(catalog: Catalog, caches: Catalog) -> Environment:
    """Return the environment that a catalog has, joined with the specs of caches.

    Its roots are the explicit specs; without any, those that no other depends on.
    """
    own = spec_graph(catalog)
    graph = JoinedGraph(spec_graph(caches), own)
    ids = sorted(own.closure(range(own.count)))
    tops = [id_ for id_ in ids if not own.dependents(id_)]
    # In a damaged document each may depend on another one.
    roots = ListedSpecs(catalog).explicit or tops or ids
    described = {
        graph.identity(graph.second_id(id_)): graph.second_id(id_)
        for id_ in reversed(ids)
        if own.is_described(id_)
    }
    return _environment(graph, ids, roots, described)


def environment_of_hashes(hashes: Sequence[str], caches: Catalog) -> Environment:
    """Return the environment of some hashes, of which only the caches know more."""
    graph = JoinedGraph(spec_graph(caches), HashGraph(hashes))
    return _environment(graph, range(len(hashes)), range(len(hashes)), {})


def _environment(
    graph: JoinedGraph, ids: Sequence[int], roots: Sequence[int], described: dict[int, int]
) -> Environment:
    specs, root_specs = (
        tuple(dict.fromkeys(graph.identity(graph.second_id(id_)) for id_ in some))
        for some in (ids, roots)
    )
    return Environment(graph, specs, root_specs, described)
