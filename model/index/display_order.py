"""Find the order in which staged records are shown."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from itertools import accumulate, compress

from spackscope.model.core.records import HASH_LENGTH
from spackscope.model.index.schema import CODES
from spackscope.model.index.staged import GONE, Staged


def used_look_alikes(staged: Staged) -> bytes:
    """Return a mask of the staged look-alikes, with a byte for each: 1 if it has records."""
    used = bytearray(len(staged.codes["document"]))
    for look_alike in staged.look_alikes:
        if look_alike != GONE:
            used[look_alike] = 1
    return bytes(used)


def look_alike_order(
    staged: Staged, used: bytes, ranks: Mapping[str, Sequence[int]]
) -> tuple[list[int], array[int]]:
    """Return the used look-alikes in display order, and the place of each staged one in it.

    Of equal ones one is in the order; those that are not used have the place GONE. `ranks` are
    those of the codes by the names of their columns.
    """
    # One number for all ranks: comparing tuples would take several times as long.
    keys = [0] * len(used)
    for name in ("unlisted", *CODES[:-1]):
        rank = ranks[name]
        if (size := max(rank, default=0) + 1) > 1:
            column = staged.codes[name]
            keys = [key * size + rank[code] for key, code in zip(keys, column, strict=True)]
    order: list[int] = []
    places = array("I", [GONE]) * len(used)
    before = -1
    for look_alike in sorted(compress(range(len(used)), used), key=keys.__getitem__):
        if keys[look_alike] != before:
            before = keys[look_alike]
            order.append(look_alike)
        places[look_alike] = len(order) - 1
    return order, places


def record_order(staged: Staged, places: array[int], count: int) -> tuple[array[int], array[int]]:
    """Return where the records of each of `count` look-alikes begin, and the records in order.

    `places` has the place of each staged look-alike. The records of one are ordered by hash.
    """
    counts = [0] * count
    for look_alike in staged.look_alikes:
        if look_alike != GONE:
            counts[places[look_alike]] += 1
    first = array("I", accumulate(counts, initial=0))
    ends = first[:]
    order = array("I", bytes(4 * first[-1]))
    for number, look_alike in enumerate(staged.look_alikes):
        if look_alike != GONE:
            place = places[look_alike]
            order[ends[place]] = number
            ends[place] += 1
    # Slicing one text takes half the time of decoding each hash.
    hashes = staged.hashes.decode()
    for start, length in zip(first, counts, strict=False):
        if length > 1:
            numbers = list(order[start : start + length])
            numbers.sort(key=lambda n: hashes[n * HASH_LENGTH : (n + 1) * HASH_LENGTH])
            order[start : start + length] = array("I", numbers)
    return first, order
