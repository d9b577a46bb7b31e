"""Walk a graph from the bottom up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

_Node = TypeVar("_Node")


def post_order(
    starts: Iterable[_Node], children: Callable[[_Node], Iterable[_Node]]
) -> Iterator[_Node]:
    """Yield nodes and all below them, each once and after its children.

    `children` is called once for each node. Of a cycle, which only damaged documents have, one
    node comes before its children.
    """
    entered: set[_Node] = set()
    for start in starts:
        stack = [] if start in entered else [(start, iter(children(start)))]
        entered.add(start)
        while stack:
            node, rest = stack[-1]
            child = next((child for child in rest if child not in entered), None)
            if child is None:
                stack.pop()
                yield node
            else:
                entered.add(child)
                stack.append((child, iter(children(child))))
