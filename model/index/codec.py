"""Encode arrays of codes and edges as the index stores them."""

from __future__ import annotations

import sqlite3
import sys
from array import array
from collections.abc import Mapping, Sequence
from itertools import accumulate, chain, islice, repeat
from operator import le, lt, sub

from spackscope.model.core.errors import IndexDamaged

_TYPES = {1: "B", 2: "H", 4: "I"}
"""Types of arrays by the bytes of an item."""


def narrowed(codes: array[int]) -> array[int]:
    """Return a copy of 32-bit codes with as few bytes for each as fit all."""
    return unpack_codes(*pack_codes(codes))


def pack_codes(codes: array[int]) -> tuple[int, bytes]:
    """Encode 32-bit codes as the index stores them: as few bytes as fit all, little-endian.

    Returns the number of bytes of each code too.
    """
    if sys.byteorder == "big":
        codes = codes[:]
        codes.byteswap()
    # Slices of bytes take a fifth of the time of converting number after number.
    data = codes.tobytes()
    if data[2::4].strip(b"\0") or data[3::4].strip(b"\0"):
        return 4, data
    if not data[1::4].strip(b"\0"):
        return 1, data[::4]
    packed = bytearray(len(data) // 2)
    packed[::2], packed[1::2] = data[::4], data[1::4]
    return 2, bytes(packed)


def unpack_codes(width: object, data: object) -> array[int]:
    """Decode what `pack_codes` encoded, into as few bytes. Raises IndexDamaged."""
    if not isinstance(width, int) or width not in _TYPES:
        raise IndexDamaged("the width of codes is damaged")
    if not isinstance(data, bytes) or len(data) % width:
        raise IndexDamaged("codes are damaged")
    codes = array(_TYPES[width], data)
    if sys.byteorder == "big":
        codes.byteswap()
    return codes


def widened(codes: array[int]) -> array[int]:
    """Return narrow codes as 32-bit ones."""
    step = 4 // codes.itemsize
    if step == 1:
        return codes
    wide = array("I", bytes(4 * len(codes)))
    # The lowest byte is the last one on some processors.
    start = step - 1 if sys.byteorder == "big" else 0
    narrow = memoryview(wide).cast("B").cast("B" if step == 4 else "H")
    narrow[start::step] = memoryview(codes)
    return wide


def write_codes(connection: sqlite3.Connection, columns: Mapping[str, array[int]]) -> None:
    """Write columns of codes into an index."""
    connection.executemany(
        "INSERT INTO codes VALUES (?, ?, ?)",
        ((name, *pack_codes(codes)) for name, codes in columns.items()),
    )


def translate(codes: array[int], new: Mapping[int, int]) -> array[int]:
    """Return codes with their new ones; those that have none become 0."""
    if all(code == new_code for code, new_code in new.items()):
        return codes
    table = array("I", bytes(4 * (max(codes, default=-1) + 1)))
    for code, new_code in new.items():
        table[code] = new_code
    return array("I", map(table.__getitem__, codes))


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
