"""Find the specs with the same hash: tags and sources repeat hashes."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator


class SameHash:
    """The ids with the same hash, of which there may be hundreds of thousands.

    `first` has for each id the first one with its hash. `repeated` are pairs of such a first id
    and another one, those of a hash together and in their order.
    """

    def __init__(self, count: int, repeated: Iterable[tuple[int, int]]) -> None:
        self.first = array("I", range(count))
        # For each id the next one with its hash, or itself: a set for each hash would be ten times
        # larger.
        self._next = self.first[:]
        last = -1
        for first, id_ in repeated:
            if last < 0 or self.first[last] != first:
                last = first
            self._next[last], self.first[id_] = id_, first
            last = id_

    def ids(self, first: int) -> Iterator[int]:
        """Yield all ids with the hash of a first one."""
        yield first
        while (following := self._next[first]) != first:
            yield following
            first = following
