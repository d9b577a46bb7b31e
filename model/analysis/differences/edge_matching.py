"""Match the dependencies of two nodes by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from spackscope.model.analysis.graphs.graph import Graph
from spackscope.model.catalog.dependency_graph import Edge
from spackscope.model.core.frozen import replace
from spackscope.model.core.records import is_run


class EdgeKey(NamedTuple):
    """The key by which an edge is matched: mostly the name alone.

    Several edges of a node to one name are told apart as link or run against build only, and
    then by their order.
    """

    name: str
    runs: bool = True
    number: int = 0


def match_edges(graph: Graph, *nodes: int) -> tuple[dict[EdgeKey, Edge], dict[EdgeKey, Edge]]:
    """Return the edges of two nodes by their keys: edges to be compared have the same key.

    A spliced spec lists no build dependencies, so that they are not compared with it.
    """
    is_spliced = any(map(graph.build_spec, nodes))
    a, b = (_run_edges(graph.edges(id_)) if is_spliced else graph.edges(id_) for id_ in nodes)
    names_a, names_b = ([graph.name(edge.child) for edge in edges] for edges in (a, b))
    repeated = _repeated(names_a) | _repeated(names_b)
    return _by_key(names_a, a, repeated), _by_key(names_b, b, repeated)


def common_edges(graph: Graph, a: int, b: int) -> Iterator[tuple[EdgeKey, Edge, Edge]]:
    """Yield the edges that two nodes have to dependencies of one name."""
    edges_a, edges_b = match_edges(graph, a, b)
    return ((key, edge, edges_b[key]) for key, edge in edges_a.items() if key in edges_b)


def _run_edges(edges: Sequence[Edge]) -> list[Edge]:
    """Return the link and run edges, with these deptypes alone."""
    runs = (edge for edge in edges if is_run(edge.deptypes))
    return [
        replace(edge, deptypes=tuple(d for d in edge.deptypes if is_run([d]))) for edge in runs
    ]


def _repeated(names: Sequence[str]) -> set[str]:
    if len(set(names)) == len(names):
        return set()
    return {name for name, count in Counter(names).items() if count > 1}


def _by_key(
    names: Sequence[str], edges: Sequence[Edge], repeated: set[str]
) -> dict[EdgeKey, Edge]:
    by_key: dict[EdgeKey, Edge] = {}
    counts: Counter[tuple[str, bool]] = Counter()
    for name, edge in zip(names, edges, strict=True):
        key = EdgeKey(name)
        if name in repeated:
            runs = is_run(edge.deptypes)
            key = EdgeKey(name, runs, counts[name, runs])
            counts[name, runs] += 1
        by_key[key] = edge
    return by_key
