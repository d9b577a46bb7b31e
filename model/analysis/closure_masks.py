"""Unite sets, kept as bits, over all that specs depend on."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from spackscope.model.catalog.arrays import Adjacency
from spackscope.model.core.errors import Cancelled
from spackscope.model.core.progress import ShouldStop, never

_CHECK_INTERVAL = 4096

Mask = int
"""A set: a bit for each of its elements."""


class ClosureMasks:
    """The union of masks over all that each node reaches; no node is visited twice.

    `own` returns the mask of a node, `count` is the number of nodes with edges, and edges to
    `skipped` nodes are not followed. A node on a cycle, which no real index has, lacks what is
    reached through itself.
    """

    def __init__(
        self,
        edges: Adjacency,
        count: int,
        own: Callable[[int], Mask],
        skipped: Collection[int] = (),
    ) -> None:
        self._edges, self._own, self._skipped = edges, own, skipped
        self._below: list[Mask | None] = [None] * count

    def children(self, node: int) -> Iterator[int]:
        """Yield the nodes that a node has edges to."""
        if node < len(self._below):
            first = self._edges.first
            for child in self._edges.nodes[first[node] : first[node + 1]]:
                if child not in self._skipped:
                    yield child

    def below(self, start: int, should_stop: ShouldStop = never) -> Mask:
        """Return the union of the masks of all that a node reaches. Raises Cancelled."""
        known = self._below
        if start >= len(known):
            return 0
        if (mask := known[start]) is not None:
            return mask
        stack, opened = [start], set[int]()
        while stack:
            node = stack[-1]
            if node in opened or known[node] is not None:
                stack.pop()
                if known[node] is None:
                    known[node] = self._union(node)
                continue
            opened.add(node)
            if len(opened) % _CHECK_INTERVAL == 0 and should_stop():
                raise Cancelled
            stack += (
                child
                for child in self.children(node)
                if child < len(known) and known[child] is None and child not in opened
            )
        return known[start] or 0

    def _union(self, node: int) -> Mask:
        mask = 0
        for child in self.children(node):
            mask |= self._own(child)
            if child < len(self._below):
                mask |= self._below[child] or 0
        return mask

    def witness(self, start: int, bits: Mask) -> int:
        """Return a node below another one whose own mask has some bits; the other if none has."""
        node, seen = start, {start}
        while True:
            children = [child for child in self.children(node) if child not in seen]
            for child in children:
                if self._own(child) & bits:
                    return child
            deeper = (child for child in children if self.below(child) & bits)
            if (found := next(deeper, None)) is None:
                return start
            seen.add(node := found)
