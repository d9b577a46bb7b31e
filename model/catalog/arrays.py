"""The codes of an index in memory, as arrays that are read when they are first needed."""

from __future__ import annotations

import re
import sys
from array import array
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, compress
from operator import sub
from typing import Any, TypeVar

from spackscope.model.catalog.id_ranges import IdRanges
from spackscope.model.index.columns import Columns, narrowed

Span = tuple[int, int]
"""A range of ids: the first one, and the one after the last."""

_Key = TypeVar("_Key", bound=Hashable)

_MAX_PARTS = 32
"""Tables for 256 codes that are quicker than to look up each code."""

_RUN = re.compile(b"\x01+")


class ColumnArrays:
    """The codes of look-alikes, an array for each dictionary, and other columns of numbers."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self.column = lru_cache(None)(self._column)
        self._last_sizes: tuple[IdRanges, array[int]] = IdRanges(), array("I")

    def _column(self, name: str) -> array[int]:
        is_ascending = name in ("first", "edge_first", "up_first")
        return self._columns.ascending(name) if is_ascending else self._columns.numbers(name)

    @property
    def first(self) -> array[int]:
        """The first spec of each look-alike, and after them the number of specs."""
        return self.column("first")

    @property
    def count(self) -> int:
        """The number of look-alikes."""
        return len(self.first) - 1

    @property
    def listed(self) -> int:
        """The number of look-alikes that are listed; they come before the others."""
        return bisect_left(self.column("unlisted"), 1)

    def look_alike(self, spec: int) -> int:
        """Return the look-alike that a spec belongs to."""
        return bisect_right(self.first, spec) - 1

    def specs(self, look_alike: int) -> Span:
        """Return the first spec of a look-alike, and the one after its last."""
        return self.first[look_alike], self.first[look_alike + 1]

    def spans(self, specs: IdRanges) -> Iterator[Span]:
        """Yield the look-alikes of specs as ranges: the first one, and the one after the last.

        Ranges of specs that share a look-alike are one range of look-alikes.
        """
        first, stop = self.first, 0
        last: Span | None = None
        for start, end in specs.pairs():
            look_alike = bisect_right(first, start, stop) - 1
            stop = bisect_left(first, end, look_alike + 1)
            if last is not None and look_alike < last[1]:
                last = last[0], stop
                continue
            if last is not None:
                yield last
            last = look_alike, stop
        if last is not None:
            yield last

    def sizes(self, specs: IdRanges) -> array[int]:
        """Return how many of some specs each of their look-alikes has."""
        # Most questions about a view are about the same specs.
        last, sizes = self._last_sizes
        if specs is not last:
            sizes = narrowed(self._sizes(specs))
            self._last_sizes = specs, sizes
        return sizes

    def _sizes(self, specs: IdRanges) -> array[int]:
        first, sizes, stop = self.first, array("I"), 0
        for start, end in specs.pairs():
            look_alike = bisect_right(first, start, stop) - 1
            # Of the look-alike that ranges share there is one number.
            shared = sizes.pop() if look_alike < stop else 0
            stop = bisect_left(first, end, look_alike + 1)
            at = len(sizes)
            sizes.extend(map(sub, first[look_alike + 1 : stop + 1], first[look_alike:stop]))
            sizes[at] += shared - (start - first[look_alike])
            sizes[-1] -= first[stop] - end
        return sizes

    def partial(self, specs: IdRanges) -> dict[int, IdRanges]:
        """Return the look-alikes of which only some specs are given, each with these."""
        first, partial = self.first, set[int]()
        for start, stop in specs.pairs():
            look_alike, last = self.look_alike(start), self.look_alike(stop - 1)
            if start != first[look_alike]:
                partial.add(look_alike)
            if stop != first[last + 1]:
                partial.add(last)
        return {number: specs.within(*self.specs(number)) for number in partial}

    def codes_of(self, codes: Sequence[int], specs: IdRanges) -> Iterator[int]:
        """Yield the codes of the look-alikes of some specs, in the order of `sizes`."""
        return chain.from_iterable(codes[start:stop] for start, stop in self.spans(specs))

    def counts(self, storage: str, specs: IdRanges) -> dict[int, int]:
        """Count specs by their codes of a dictionary."""
        counts: dict[int, int] = defaultdict(int)
        column = self.column(storage)
        if specs and not any(column):
            return {0: len(specs)}
        codes = self.codes_of(column, specs)
        for code, size in zip(codes, self.sizes(specs), strict=True):
            counts[code] += size
        return counts

    def distinct(self, storage: str, spans: Iterable[Span]) -> set[int]:
        """Return the codes of a dictionary in ranges of look-alikes."""
        codes = self.column(storage)
        return set().union(*(codes[start:stop] for start, stop in spans))


def gathered(flags: bytes, codes: array[int]) -> bytes:
    """Return the flags of codes, bytes 0 and 1."""
    data, size = codes.tobytes(), codes.itemsize
    if size == 1:
        return data.translate(flags.ljust(256, b"\0"))
    parts = [part for part in range(0, len(flags), 256) if 1 in flags[part : part + 256]]
    if size > 2 or len(parts) > _MAX_PARTS:
        return bytes(map(flags.__getitem__, codes))
    # Tables for 256 codes at a time take a fifth of the time of looking up each code.
    low, high = (data[::2], data[1::2]) if sys.byteorder == "little" else (data[1::2], data[::2])
    gathered = 0
    for part in parts:
        is_in_part = bytearray(256)
        is_in_part[part // 256] = 1
        fits = low.translate(flags[part : part + 256].ljust(256, b"\0"))
        gathered |= int.from_bytes(fits, "little") & int.from_bytes(
            high.translate(is_in_part), "little"
        )
    return gathered.to_bytes(len(codes), "little")


def grouped_by(keys: Iterable[_Key], numbers: Iterable[int]) -> dict[_Key, array[int]]:
    """Return numbers by their keys, of which there are few, each group in the given order.

    Unlike `sorted` it lets other threads run meanwhile, and makes no object for each number.
    """
    of_key: dict[_Key, array[int]] = {}
    for key, number in zip(keys, numbers, strict=True):
        if (group := of_key.get(key)) is None:
            group = of_key[key] = array("I")
        group.append(number)
    return of_key


def sorted_by(
    keys: Iterable[Any], numbers: Iterable[int], *, descending: bool = False
) -> array[int]:
    """Return numbers sorted by keys, of which there are few; equal ones as they are given."""
    groups, ordered = grouped_by(keys, numbers), array("I")
    for key in sorted(groups, reverse=descending):
        ordered.extend(groups[key])
    return ordered


def spans_of(mask: bytes | bytearray) -> Iterator[Span]:
    """Return the spans of ids that are 1 in a mask of bytes 0 and 1."""
    return (run.span() for run in _RUN.finditer(mask))


def edges_of(mask: bytes | bytearray) -> list[int]:
    """Return where the spans of ids that are 1 in a mask begin and end, by turns."""
    number = int.from_bytes(mask, "little")
    changes = (number ^ number << 8).to_bytes(len(mask) + 1, "little")
    return list(compress(range(len(changes)), changes))


def mask_of(ids: Collection[int], count: int) -> bytearray:
    """Return a mask of `count` bytes in which some ids are 1."""
    mask = bytearray(count)
    for id_ in ids:
        mask[id_] = 1
    return mask
