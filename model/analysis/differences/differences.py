"""Find what makes two specs different: the nodes whose own configurations differ."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import NamedTuple

from spackscope.model.analysis.differences.node_pairs import (
    PairWalk,
    differing_children,
    walk_pairs,
)
from spackscope.model.analysis.differences.own_differences import (
    Difference,
    Value,
    own_differences,
)
from spackscope.model.analysis.graphs.graph import Graph
from spackscope.model.core.errors import Cancelled
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.tasks import ShouldStop, never

__all__ = ["Cause", "Comparison", "Difference", "Value", "compare"]

COMPILERS_OF_RUNTIMES = {
    "gcc-runtime": "gcc",
    "intel-oneapi-runtime": "intel-oneapi-compilers",
}


_MAX_KEPT = 2**16
"""Pairs of nodes that are kept to be read once."""


class Cause(Frozen):
    """Two nodes whose own configurations differ, at the same place below two specs.

    `path` has the names from the specs, which are not in it, down to these nodes; `a` and `b` are
    their ids. It `runs` if either is linked or run, rather than used for building only. The
    `deepest` causes have no other cause below them. `above` counts the differing pairs that reach
    this one, itself included. It `follows` a compiler below it if it is the compiler's runtime,
    and `compiles` if it is a compiler of something that is linked or run. `run_path` is a path
    over what is linked or run only; it may be longer than `path`.
    """

    package: str
    path: tuple[str, ...]
    a: int
    b: int
    run: bool
    deepest: bool
    above: int
    differences: tuple[Difference, ...]
    follows: str = ""
    compiles: bool = False
    run_path: tuple[str, ...] = ()


class Replaced(NamedTuple):
    """A dependency in place of another one of its name in a spliced spec, by their hashes."""

    package: str
    a: str
    b: str


class Comparison(Frozen):
    """How two specs differ, and the causes with the first one for people first.

    `pairs` counts the pairs of nodes with different hashes, 0 if the specs have the same hash.
    `unexplained` names packages whose hashes differ, though no document says why. Unless
    `lists_dependencies`, a source of the specs does not, and there may be more causes.
    `is_cut` if there are more pairs than are compared. `replaced` is what two specs of one build
    have in place of one another, if one is spliced or both are.
    """

    causes: tuple[Cause, ...] = ()
    pairs: int = 0
    unexplained: tuple[str, ...] = ()
    lists_dependencies: bool = True
    is_cut: bool = False
    replaced: tuple[Replaced, ...] = ()


def compare(graph: Graph, a: int, b: int, *, should_stop: ShouldStop = never) -> Comparison:
    """Compare two specs with all below them.

    Causes are in this order: the differences of the specs themselves; what is linked or run
    before what is used for building only; what most depends on; the nearest; by name. Raises
    IndexDamaged and Cancelled.

        first = compare(spec_graph(catalog), a, b).causes[0]
        first.path  # ('mpich', 'libxml2', 'libiconv')
    """
    return Comparer(graph).compare(a, b, should_stop=should_stop)


class Comparer:
    """Compares many specs of a graph, reading each pair of nodes below them once."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._own_differences = lru_cache(_MAX_KEPT)(partial(own_differences, graph))
        self._children = lru_cache(_MAX_KEPT)(partial(differing_children, graph))
        self.steps = 0
        """Pairs of nodes that all comparisons have walked, and the dependencies of these."""

    def compare(self, a: int, b: int, *, should_stop: ShouldStop = never) -> Comparison:
        """Compare two specs: see the function of this name."""
        graph = self._graph
        listed = graph.lists_dependencies(a) and graph.lists_dependencies(b)
        if graph.identity(a) == graph.identity(b):
            return Comparison(lists_dependencies=listed)
        walk = walk_pairs(graph, a, b, self._children, should_stop=should_stop)
        self.steps += len(walk.pairs) + sum(map(len, walk.children))
        differences: dict[int, tuple[Difference, ...]] = {}
        unexplained: dict[str, None] = {}
        for number, pair in enumerate(walk.pairs):
            if should_stop():
                raise Cancelled
            is_described = all(map(graph.is_described, pair))
            if is_described and (of_pair := self._own_differences(*pair)):
                differences[number] = of_pair
            elif not walk.children[number] and not _are_one_build(graph, *pair):
                unexplained[graph.name(pair.a)] = None
        causes = sorted(_causes(graph, walk, differences), key=_rank)
        return Comparison(
            tuple(causes),
            len(walk.pairs),
            tuple(unexplained),
            listed,
            is_cut=walk.is_cut,
            replaced=_replaced(graph, walk) if any(map(graph.build_spec, (a, b))) else (),
        )


def _causes(
    graph: Graph, walk: PairWalk, differences: dict[int, tuple[Difference, ...]]
) -> list[Cause]:
    have_below = walk.have_below([number in differences for number in range(len(walk.pairs))])
    causes = []
    for number, of_pair in differences.items():
        name = graph.name(walk.pairs[number].a)
        compiler = COMPILERS_OF_RUNTIMES.get(name)
        below = {child.name for child in walk.children[number]}
        causes.append(
            Cause(
                name,
                walk.path(number),
                *walk.pairs[number],
                number in walk.run_parents,
                not have_below[number],
                walk.above[number],
                of_pair,
                compiler if compiler in below else "",
                number in walk.compiling,
                walk.run_path(number),
            )
        )
    return causes


def _are_one_build(graph: Graph, a: int, b: int) -> bool:
    """Check whether specs with different hashes were built as one, and then spliced."""
    built_as = graph.build_spec(a), graph.build_spec(b)
    if not any(built_as):
        return False
    first, second = (x or y for x, y in zip(built_as, graph.hashes((a, b)), strict=True))
    return first == second


def _replaced(graph: Graph, walk: PairWalk) -> tuple[Replaced, ...]:
    """Return the nearest pairs of nodes that are not of one build, below specs that are."""
    replaced, below_one_build = [], {0}
    for number in walk.top_down:
        if number not in below_one_build:
            continue
        pair = walk.pairs[number]
        if _are_one_build(graph, *pair):
            below_one_build.update(child.number for child in walk.children[number])
        elif number:
            replaced.append(Replaced(graph.name(pair.a), *graph.hashes(pair)))
    return tuple(sorted(replaced))


def _rank(cause: Cause) -> tuple[bool, bool, int, int, str]:
    return bool(cause.path), not cause.run, -cause.above, len(cause.path), cause.package
