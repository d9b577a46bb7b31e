"""Compute the union of bit masks over all that a spec depends on."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cached_property

from spackscope.model.catalog.edge_arrays import Adjacency
from spackscope.model.core.errors import Cancelled
from spackscope.model.core.tasks import ShouldStop, never

_CHECK_INTERVAL = 4096

Mask = int
"""A set: a bit for each of its elements."""


class ClosureMasks:
    """The union of the masks of each node and of all that it reaches; none is visited twice.

    `own` returns the mask of a node. There are `count` nodes, the last of which have no edges; and
    edges to `skipped` nodes are not followed. A node on a cycle, which no real index has, lacks
    what is reached through itself.
    """

    def __init__(
        self,
        edges: Adjacency,
        count: int,
        own: Callable[[int], Mask],
        skipped: Collection[int] = (),
    ) -> None:
        self._edges, self._own, self._count = edges, own, count
        self._skipped = frozenset(skipped)
        self._witnesses: dict[Mask, dict[int, int]] = {}

    @cached_property
    def _whole(self) -> list[Mask | None]:
        """The union for each node that it is known of."""
        whole: list[Mask | None] = [None] * self._count
        for node in self._skipped:
            # What reaches them gets nothing from them.
            whole[node] = 0
        return whole

    def _children(self, node: int) -> Sequence[int]:
        first = self._edges.first
        if node + 1 >= len(first):
            return ()
        return self._edges.nodes[first[node] : first[node + 1]]

    def whole(self, start: int, should_stop: ShouldStop = never) -> Mask:
        """Return the union for a node. Raises Cancelled."""
        if start in self._skipped:
            mask = self._own(start)
            for child in self._children(start):
                mask |= self.whole(child) if child not in self._skipped else 0
            return mask
        if not self._children(start):
            return self._own(start)
        known = self._whole
        stack, opened = [start], set[int]()
        while stack:
            node = stack[-1]
            if known[node] is not None:
                stack.pop()
            elif node in opened:
                mask = self._own(node)
                for child in self._children(node):
                    mask |= known[child] or 0
                known[stack.pop()] = mask
            else:
                opened.add(node)
                if len(opened) % _CHECK_INTERVAL == 0 and should_stop():
                    raise Cancelled
                children = self._children(node)
                stack += [c for c in children if known[c] is None and c not in opened]
        return known[start] or 0

    def witness(self, start: int, bits: Mask) -> int:
        """Return a node below another one whose own mask has some bits; the other if none has.

        It is kept for all nodes on the way, too.
        """
        if not self._children(start):
            return start
        self.whole(start)
        known, witnesses = self._whole, self._witnesses.setdefault(bits, {})
        node, path = start, {start}
        while node not in witnesses:
            children = [
                child
                for child in self._children(node)
                if (known[child] or 0) & bits and child not in path
            ]
            found = next((child for child in children if self._own(child) & bits), None)
            if found is not None or not children:
                witnesses[node] = node if found is None else found
            else:
                path.add(node := children[0])
        witnesses.update(dict.fromkeys(path, witnesses[node]))
        return witnesses[start]
