"""Walk what specs depend on, by package: for comparing closures name by name."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from spackscope.model.analysis.graph import Graph, is_run
from spackscope.model.catalog.dependency_graph import Edge


class _Step(NamedTuple):
    """An edge, the first id with the hash of the dependency, and its package."""

    edge: Edge
    child: int
    name: str


@dataclass(frozen=True, slots=True)
class Walk:
    """The closures of one or more specs.

    `nodes` has the specs of each package, by the first ids with their hashes; `edges` leads to
    them, `parents` has for each package those that depend on it, and `first_edges` for each spec
    the edge by which it is reached first. `unknown` are specs that do not list their dependencies.
    """

    roots: Sequence[int]
    nodes: dict[str, set[int]] = field(default_factory=dict)
    edges: list[Edge] = field(default_factory=list)
    parents: dict[str, dict[str, None]] = field(default_factory=dict)
    first_edges: dict[int, Edge] = field(default_factory=dict)
    unknown: set[int] = field(default_factory=set)

    def path(self, graph: Graph, name: str) -> tuple[str, ...]:
        """Return the packages on a shortest path from below a root to a package."""
        below = (id_ for id_ in self.first_edges if id_ in self.nodes.get(name, ()))
        id_, path = next(below, self.roots[0]), list[str]()
        while (edge := self.first_edges.get(id_)) is not None:
            path.append(graph.name(id_))
            id_ = graph.identity(edge.parent)
        return tuple(reversed(path))


class Walker:
    """Walks the closures of specs; what several of them share is read once."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._steps: dict[int, list[_Step]] = {}

    def _steps_from(self, id_: int) -> list[_Step]:
        if id_ not in self._steps:
            graph = self._graph
            self._steps[id_] = [
                _Step(edge, graph.identity(edge.child), graph.name(edge.child))
                for edge in graph.edges(id_)
            ]
        return self._steps[id_]

    def walk(self, ids: Iterable[int], *, run_only: bool) -> Walk:
        """Walk the closures of specs, nearest dependencies first; `run_only` the linked and run.

        Raises IndexDamaged.
        """
        graph, walk = self._graph, Walk(list(dict.fromkeys(ids)))
        queue = deque((id_, graph.name(id_)) for id_ in walk.roots)
        seen = {graph.identity(id_) for id_ in walk.roots}
        while queue:
            id_, name = queue.popleft()
            walk.nodes.setdefault(name, set()).add(graph.identity(id_))
            if not (graph.is_described(id_) and graph.lists_dependencies(id_)):
                walk.unknown.add(id_)
            for edge, child, child_name in self._steps_from(id_):
                if run_only and not is_run(edge.deptypes):
                    continue
                walk.edges.append(edge)
                walk.parents.setdefault(child_name, {})[name] = None
                if child not in seen:
                    seen.add(child)
                    walk.first_edges[child] = edge
                    queue.append((edge.child, child_name))
        return walk
