"""Walk what specs depend on, by package: for comparing closures name by name."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from spackscope.model.analysis.graphs.graph import Graph
from spackscope.model.catalog.edge_arrays import EdgeKind
from spackscope.model.core.frozen import Frozen, field
from spackscope.model.core.records import is_run


class Step(NamedTuple):
    """A dependency: its id, the first one with its hash, its package, the kind of the edge."""

    id: int
    identity: int
    name: str
    kind: EdgeKind


MAX_DEPTH = 250
"""Levels of dependencies that are walked; real specs have some thirty."""

MAX_SPECS = 10_000
"""Specs after which a walk follows no more dependencies; real ones have some thousand."""


class Walk(Frozen):
    """The closures of one or more specs.

    `nodes` has the specs of each package, by the first ids with their hashes; `steps` has the
    package and the dependency of each edge, and `parents` for each package those that depend on
    it. `came_from` has for each spec the one by which it is reached first. `unknown` are specs
    that do not list their dependencies, or whose dependencies are too many to walk.
    """

    roots: Sequence[int]
    nodes: dict[str, set[int]] = field(default_factory=dict)
    steps: list[tuple[str, Step]] = field(default_factory=list)
    parents: dict[str, dict[str, None]] = field(default_factory=dict)
    came_from: dict[int, int] = field(default_factory=dict)
    unknown: set[int] = field(default_factory=set)

    def path(self, graph: Graph, name: str) -> tuple[str, ...]:
        """Return the packages on a shortest path from below a root to a package."""
        wanted = self.nodes.get(name, set())
        id_ = next((id_ for id_ in self.came_from if id_ in wanted), -1)
        path: list[str] = []
        while id_ in self.came_from:
            path.append(graph.name(id_))
            id_ = self.came_from[id_]
        return tuple(reversed(path))


class Walker:
    """Walks the closures of specs; what several of them share is read once."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._steps: dict[int, list[Step]] = {}
        self._unknown: set[int] = set()

    def _steps_from(self, id_: int) -> list[Step]:
        if id_ not in self._steps:
            graph = self._graph
            self._steps[id_] = [
                Step(child, graph.identity(child), graph.name(child), kind)
                for child, kind in graph.links(id_)
            ]
            if not (graph.is_described(id_) and graph.lists_dependencies(id_)):
                self._unknown.add(id_)
        return self._steps[id_]

    def walk(self, ids: Iterable[int], *, run_only: bool) -> Walk:
        """Walk the closures of specs, nearest dependencies first; `run_only` the linked and run.

        Raises IndexDamaged.
        """
        graph, walk = self._graph, Walk(list(dict.fromkeys(ids)))
        queue = deque((id_, graph.identity(id_), graph.name(id_), 0) for id_ in walk.roots)
        seen = {identity for _, identity, _, _ in queue}
        while queue:
            id_, identity, name, depth = queue.popleft()
            walk.nodes.setdefault(name, set()).add(identity)
            steps = self._steps_from(id_)
            if steps and (depth == MAX_DEPTH or len(seen) > MAX_SPECS):
                walk.unknown.add(identity)
                continue
            for step in steps:
                if run_only and not is_run(step.kind.deptypes):
                    continue
                walk.steps.append((name, step))
                walk.parents.setdefault(step.name, {})[name] = None
                if step.identity not in seen:
                    seen.add(step.identity)
                    walk.came_from[step.identity] = identity
                    queue.append((*step[:3], depth + 1))
            if id_ in self._unknown:
                walk.unknown.add(identity)
        return walk


def spec_at(graph: Graph, start: int, path: Sequence[str]) -> int | None:
    """Return the spec at the end of a path of packages; None if there is none.

    Of two dependencies on one package the one that is linked or run is followed.
    """
    id_ = start
    for name in path:
        edges = [edge for edge in graph.edges(id_) if graph.name(edge.child) == name]
        if not edges:
            return None
        id_ = next((e.child for e in edges if is_run(e.deptypes)), edges[0].child)
    return id_
