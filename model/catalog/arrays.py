"""Ids as ranges, and masks of bytes."""

from __future__ import annotations

import re
import sys
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from itertools import accumulate, chain, compress
from operator import sub
from typing import Any, TypeVar, overload

_END = 1 << 63
"""A number above all ids."""


class IdRanges(Sequence[int]):
    """Immutable sequence of ids, stored as sorted disjoint ranges.

    Each range is given as its first id and the id after its last one, in ascending order; ranges
    that touch are joined.

        >>> list(IdRanges([(0, 2), (5, 7)]))
        [0, 1, 5, 6]
    """

    def __init__(
        self, ranges: Iterable[tuple[int, int]] = (), *, edges: Sequence[int] = ()
    ) -> None:
        """Build ranges; or those whose first ids and ends are all `edges`, by turns."""
        starts, stops = array("q", edges[::2]), array("q", edges[1::2])
        for start, stop in ranges:
            if stops and stops[-1] == start:
                stops[-1] = stop
            elif stop > start:
                starts.append(start)
                stops.append(stop)
        self._starts, self._stops = starts, stops
        # The number of ids before each range, and before the end.
        self._before: array[int] = array("q", accumulate(map(sub, stops, starts), initial=0))

    @classmethod
    def of(cls, ids: Iterable[int]) -> IdRanges:
        """Build the ranges of ascending ids."""
        return cls((id_, id_ + 1) for id_ in ids)

    def __len__(self) -> int:
        return self._before[-1]

    @property
    def nbytes(self) -> int:
        """The size of the ranges in bytes."""
        arrays = self._starts, self._stops, self._before
        return sum(each.itemsize * len(each) for each in arrays)

    def __iter__(self) -> Iterator[int]:
        return chain.from_iterable(map(range, self._starts, self._stops))

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Yield the ranges: the first id and the one after the last."""
        return zip(self._starts, self._stops, strict=True)

    @overload
    def __getitem__(self, index: int) -> int: ...

    @overload
    def __getitem__(self, index: slice) -> list[int]: ...

    def __getitem__(self, index: int | slice) -> int | list[int]:
        if isinstance(index, slice):
            return [self._at(position) for position in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        return self._at(index % len(self))

    def _at(self, position: int) -> int:
        number = bisect_right(self._before, position) - 1
        return self._starts[number] + position - self._before[number]

    def __contains__(self, id_: object) -> bool:
        return isinstance(id_, int) and self._position(id_) is not None

    def _position(self, id_: int) -> int | None:
        number = bisect_right(self._starts, id_) - 1
        if number < 0 or id_ >= self._stops[number]:
            return None
        return self._before[number] + id_ - self._starts[number]

    def index(self, id_: int, start: int = 0, stop: int | None = None) -> int:
        """Return the position of an id. Raises ValueError if it is not in the ranges."""
        position = self._position(id_)
        if position is None or not start <= position < (len(self) if stop is None else stop):
            raise ValueError(id_)
        return position

    def within(self, first: int, end: int) -> IdRanges:
        """Return the ids that are at least `first` and less than `end`."""
        if not self._starts or (first <= self._starts[0] and self._stops[-1] <= end):
            return self
        numbers = range(bisect_right(self._stops, first), bisect_left(self._starts, end))
        return IdRanges((max(self._starts[i], first), min(self._stops[i], end)) for i in numbers)

    def count(self, first: int, end: int | None = None) -> int:
        """Return the number of ids from `first` to less than `end`; by default of `first`."""
        end = first + 1 if end is None else end
        return self._count_below(end) - self._count_below(first)

    def _count_below(self, id_: int) -> int:
        number = bisect_right(self._starts, id_) - 1
        if number < 0:
            return 0
        return self._before[number] + min(id_, self._stops[number]) - self._starts[number]

    def changed(self, flags: Iterable[tuple[int, bool]]) -> IdRanges:
        """Return the ids with some added or removed, given ascending pairs (id, belongs)."""

        # Two bisections for each id would take twice as long.
        def pairs() -> Iterator[tuple[int, int]]:
            changes = iter(flags)
            id_, belongs = next(changes, (_END, False))
            for start, stop in self.pairs():
                while id_ < stop:
                    if id_ >= start:
                        yield start, id_
                        start = id_ + 1
                    if belongs:
                        yield id_, id_ + 1
                    id_, belongs = next(changes, (_END, False))
                yield start, stop
            yield from ((i, i + 1) for i, is_new in [(id_, belongs), *changes] if is_new)

        return IdRanges(pairs())


Span = tuple[int, int]
"""A range of ids: the first one, and the one after the last."""

_Key = TypeVar("_Key", bound=Hashable)

_MAX_PARTS = 32
"""Tables for 256 codes that are quicker than to look up each code."""

_RUN = re.compile(b"\x01+")


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
