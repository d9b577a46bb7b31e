"""Encode arrays of codes and edges as the index stores them."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Sequence
from itertools import accumulate, chain, islice, repeat
from operator import le, lt, sub


def packed(codes: array[int]) -> bytes:
    """Spell codes as the index holds them: four bytes each, the lowest first."""
    if sys.byteorder == "big":
        codes = array("I", codes)
        codes.byteswap()
    return codes.tobytes()


def upwards(
    first: Sequence[int], children: Sequence[int], kinds: Sequence[int], nodes: int
) -> tuple[array[int], array[int], array[int]]:
    """Sort edges by the node that they lead to, of which there are `nodes`.

    Of edges in the order of those that have them, `first` says where those of each begin. Give
    where the edges to each node begin, who has them, and their kinds.
    """
    sizes = map(sub, islice(first, 1, None), first)
    parents = chain.from_iterable(map(repeat, range(len(first) - 1), sizes))
    numbers = [0] * nodes
    for child in children:
        numbers[child] += 1
    places = list(accumulate(numbers, initial=0))
    begins = array("I", places)
    above, sorted_kinds = array("I", bytes(4 * len(children))), array("I", bytes(4 * len(kinds)))
    for parent, child, kind in zip(parents, children, kinds, strict=True):
        place = places[child]
        above[place], sorted_kinds[place] = parent, kind
        places[child] = place + 1
    return begins, above, sorted_kinds


def ascends(numbers: array[int], *, strictly: bool = False) -> bool:
    """Check whether each number is at least as large as the one before, or larger."""
    return all(map(lt if strictly else le, numbers, islice(numbers, 1, None)))
