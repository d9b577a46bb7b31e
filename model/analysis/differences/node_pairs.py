"""Walk the dependencies of two specs at once, and pair the nodes to compare."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from spackscope.model.analysis.differences.edge_matching import common_edges
from spackscope.model.analysis.graphs.graph import Graph
from spackscope.model.analysis.graphs.post_order import post_order
from spackscope.model.core.errors import Cancelled
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.records import LANGUAGES, is_run
from spackscope.model.core.tasks import ShouldStop, never

MAX_PAIRS = 5_000
"""Pairs of one comparison; two real specs have some hundred."""

MAX_DEPTH = 250
"""Levels of dependencies that are compared; real specs have some thirty."""

MAX_LINKS = 200_000
"""Dependencies of all pairs of one comparison, which damaged documents may repeat at each."""

_LANGUAGES = frozenset(LANGUAGES)


class NodePair(NamedTuple):
    """The ids of two nodes with different hashes."""

    a: int
    b: int


class _Child(NamedTuple):
    name: str
    number: int
    runs: bool
    compiles: bool


class PairWalk(Frozen):
    """The pairs of nodes below two specs, the nearest first; the first is the two specs.

    Pairs are named by their numbers. `parents` has for each but the first the pair through which
    it was found, and `names` the name of the dependency that leads to it. `is_cut` if there are
    more than MAX_PAIRS, or more than MAX_DEPTH levels.
    """

    pairs: Sequence[NodePair]
    parents: Sequence[int]
    names: Sequence[str]
    children: Sequence[Sequence[_Child]]
    is_cut: bool = False

    def path(self, number: int) -> tuple[str, ...]:
        """Return the names on a shortest path from the specs down to a pair, its own last."""
        return self._path(number, self.parents)

    def run_path(self, number: int) -> tuple[str, ...]:
        """Return a shortest path over edges of type link or run; empty if there is none."""
        return self._path(number, self.run_parents) if number in self.run_parents else ()

    def _path(self, number: int, parents: Sequence[int] | Mapping[int, int]) -> tuple[str, ...]:
        path: list[str] = []
        while number:
            path.append(self.names[number])
            number = parents[number]
        return tuple(reversed(path))

    @cached_property
    def run_parents(self) -> Mapping[int, int]:
        """For the pairs that edges of type link or run lead to, and the first, the one above."""
        parents, queue = {0: 0}, deque([0])
        while queue:
            number = queue.popleft()
            for child in self.children[number]:
                if child.runs and child.number not in parents:
                    parents[child.number] = number
                    queue.append(child.number)
        return parents

    @cached_property
    def compiling(self) -> frozenset[int]:
        """The pairs that compile what is linked or run."""
        return frozenset(
            child.number
            for number in self.run_parents
            for child in self.children[number]
            if child.compiles
        )

    @cached_property
    def top_down(self) -> Sequence[int]:
        """The pairs in an order in which each comes before those below it.

        Damaged documents may have cycles, whose pairs are in any order.
        """
        bottom_up = post_order([0], lambda number: [c.number for c in self.children[number]])
        return [*bottom_up][::-1]

    @cached_property
    def above(self) -> Sequence[int]:
        """The number of pairs that reach each pair, itself included."""
        # The pairs above each, as the bits of a number: sets would take a hundred times the room.
        masks = [1 << number for number in range(len(self.pairs))]
        for number in self.top_down:
            for child in self.children[number]:
                masks[child.number] |= masks[number]
        return [mask.bit_count() for mask in masks]

    def have_below(self, marked: Sequence[bool]) -> Sequence[bool]:
        """Return for each pair whether one of the marked pairs is below it."""
        result = [False] * len(self.pairs)
        for number in reversed(self.top_down):
            result[number] = any(
                marked[child.number] or result[child.number] for child in self.children[number]
            )
        return result


def walk_pairs(
    graph: Graph,
    a: int,
    b: int,
    children_of: Callable[[int, int], Sequence[PairBelow]],
    *,
    should_stop: ShouldStop = never,
) -> PairWalk:
    """Pair the nodes below two specs with different hashes.

    Children are matched by name under matched parents, as `differing_children` does, and not
    entered where their hashes are equal. Raises Cancelled.
    """
    numbers = {NodePair(graph.identity(a), graph.identity(b)): 0}
    pairs, parents, names = [NodePair(a, b)], [0], [""]
    children: list[list[_Child]] = []
    queue = deque([(pairs[0], 1)])  # with the depth of what is below
    is_cut, links = False, 0
    while queue:
        if should_stop():
            raise Cancelled
        of_pair: list[_Child] = []
        pair, depth = queue.popleft()
        below = children_of(*pair) if links < MAX_LINKS else ()
        links += len(below)
        is_cut |= links >= MAX_LINKS
        for name, pair, runs, compiles in below:
            key = NodePair(graph.identity(pair.a), graph.identity(pair.b))
            if (number := numbers.get(key)) is None:
                if len(pairs) == MAX_PAIRS or depth > MAX_DEPTH:
                    is_cut = True
                    continue
                number = numbers[key] = len(pairs)
                pairs.append(pair)
                parents.append(len(children))
                names.append(name)
                queue.append((pair, depth + 1))
            of_pair.append(_Child(name, number, runs, compiles))
        children.append(of_pair)
    return PairWalk(pairs, parents, names, children, is_cut)


class PairBelow(NamedTuple):
    """The dependencies of two nodes on one name; they run, or compile, if either does."""

    name: str
    pair: NodePair
    runs: bool
    compiles: bool


def differing_children(graph: Graph, a: int, b: int) -> list[PairBelow]:
    """Return the dependencies of two nodes that differ, in pairs by name."""
    differing = []
    for key, edge, other in common_edges(graph, a, b):
        if graph.identity(edge.child) != graph.identity(other.child):
            runs = is_run(edge.deptypes) or is_run(other.deptypes)
            compiles = not _LANGUAGES.isdisjoint((*edge.virtuals, *other.virtuals))
            below = NodePair(edge.child, other.child)
            differing.append(PairBelow(key.name, below, runs, compiles))
    return sorted(differing)
