"""Find what is below a spec by the names of packages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from spackscope.model.analysis.graph import Graph, is_run


class Below(NamedTuple):
    """A spec below another one, the packages on a shortest path to it, and whether it is run.

    `path` ends with the spec itself. It is run if edges of type link or run lead to it.
    """

    id: int
    path: tuple[str, ...]
    is_run: bool


def all_below(graph: Graph, start: int) -> dict[str, Below]:
    """Return by package what is below a spec: first what it links or runs, nearest first.

    Of several specs of one package it is the nearest one that is linked or run.
    """
    root = Below(start, (), is_run=True)
    below: dict[str, Below] = {}
    found, seen = [root], {start}
    for only_run in (True, False):
        # What is built with a spec may be needed by anything that is linked or run.
        frontier = [*found]
        while frontier:
            following = []
            for spec in frontier:
                for edge in graph.edges(spec.id):
                    if edge.child in seen or (only_run and not is_run(edge.deptypes)):
                        continue
                    seen.add(edge.child)
                    name = graph.name(edge.child)
                    child = Below(edge.child, (*spec.path, name), only_run)
                    below.setdefault(name, child)
                    following.append(child)
            found += following
            frontier = following
    return below


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
