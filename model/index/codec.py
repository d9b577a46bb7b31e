"""Encode arrays of codes and edges as the index stores them."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Sequence
from itertools import accumulate, chain, islice, repeat
from operator import le, lt, sub

from spackscope.model.core.errors import IndexDamaged


def pack_codes(codes: array[int]) -> bytes:
    """Encode codes as the index stores them: four bytes each, little-endian."""
    if sys.byteorder == "big":
        codes = array("I", codes)
        codes.byteswap()
    return codes.tobytes()


def unpack_codes(data: object) -> array[int]:
    """Decode what `pack_codes` encoded. Raises IndexDamaged."""
    if not isinstance(data, bytes) or len(data) % 4:
        raise IndexDamaged("codes are damaged")
    codes = array("I", data)
    if sys.byteorder == "big":
        codes.byteswap()
    return codes


def reverse_edges(
    first: Sequence[int], children: Sequence[int], kinds: Sequence[int], nodes: int
) -> tuple[array[int], array[int], array[int]]:
    """Return edges in CSR form sorted by their child, of which there are `nodes`.

    Edges are given in CSR form by their parent: parent i owns edges first[i]:first[i + 1].
    Returns where the edges of each child begin, their parents, and their kinds.
    """
    sizes = map(sub, islice(first, 1, None), first)
    parents = chain.from_iterable(map(repeat, range(len(first) - 1), sizes))
    counts = [0] * nodes
    for child in children:
        counts[child] += 1
    ends = list(accumulate(counts, initial=0))
    up_first = array("I", ends)
    up_parents, up_kinds = array("I", bytes(4 * len(children))), array("I", bytes(4 * len(kinds)))
    for parent, child, kind in zip(parents, children, kinds, strict=True):
        edge = ends[child]
        up_parents[edge], up_kinds[edge] = parent, kind
        ends[child] = edge + 1
    return up_first, up_parents, up_kinds


def is_ascending(numbers: array[int], *, strictly: bool = False) -> bool:
    """Check whether each number is at least as large as the one before, or larger."""
    return all(map(lt if strictly else le, numbers, islice(numbers, 1, None)))
