"""Hold ascending ids as ranges: what matches a filter is mostly a few long runs."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import overload


class IdRanges(Sequence[int]):
    """Be the sequence of all ids of some ranges, which are given ascending and apart.

    Each range is its first id and the id behind its last one; touching ranges are joined.
    """

    def __init__(self, ranges: Iterable[tuple[int, int]] = ()) -> None:
        starts, stops = array("q"), array("q")
        for start, stop in ranges:
            if stops and stops[-1] == start:
                stops[-1] = stop
            elif stop > start:
                starts.append(start)
                stops.append(stop)
        self._starts, self._stops = starts, stops
        lengths = (stop - start for start, stop in zip(starts, stops, strict=True))
        self._before = array("q", accumulate(lengths, initial=0))

    @classmethod
    def of(cls, ids: Iterable[int]) -> IdRanges:
        """Make the ranges of ascending ids."""
        return cls((id_, id_ + 1) for id_ in ids)

    def __len__(self) -> int:
        return self._before[-1]

    @property
    def nbytes(self) -> int:
        """Count the bytes of the ranges."""
        arrays = self._starts, self._stops, self._before
        return sum(one.itemsize * len(one) for one in arrays)

    def __iter__(self) -> Iterator[int]:
        for start, stop in self.pairs():
            yield from range(start, stop)

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Give the ranges: the first id and the one behind the last."""
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
        """Give the position of an id. Raises ValueError where it is not among them."""
        position = self._position(id_)
        if position is None or not start <= position < (len(self) if stop is None else stop):
            raise ValueError(id_)
        return position

    def within(self, first: int, behind: int) -> IdRanges:
        """Give those ids that are at least `first` and below `behind`."""
        number = bisect_right(self._stops, first)
        last = bisect_left(self._starts, behind)
        return IdRanges(
            (max(self._starts[i], first), min(self._stops[i], behind)) for i in range(number, last)
        )

    def count(self, first: int, behind: int | None = None) -> int:
        """Count the ids from `first` to below `behind`, or how often one id is there."""
        behind = first + 1 if behind is None else behind
        return self._below(behind) - self._below(first)

    def _below(self, id_: int) -> int:
        number = bisect_right(self._starts, id_) - 1
        if number < 0:
            return 0
        return self._before[number] + min(id_, self._stops[number]) - self._starts[number]

    def changed(self, flags: Iterable[tuple[int, bool]]) -> IdRanges:
        """Take some ids in or out, which are given ascending with whether they belong here."""

        def pairs() -> Iterator[tuple[int, int]]:
            rest = iter(flags)
            change = next(rest, None)
            for start, stop in self.pairs():
                while change is not None and change[0] < stop:
                    id_, belongs = change
                    if id_ >= start:
                        yield start, id_
                        start = id_ + 1
                    if belongs:
                        yield id_, id_ + 1
                    change = next(rest, None)
                yield start, stop
            while change is not None:
                if change[1]:
                    yield change[0], change[0] + 1
                change = next(rest, None)

        return IdRanges(pair for pair in pairs() if pair[0] < pair[1])
