"""Merge the records that are kept of an old index with those that were read.

Both are in display order, and so is the new index: it is a sequence of pieces, each of which is
adjacent in the old index, or among the records that were read, too. What a column of the new
index has is joined from slices.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from spackscope.model.index.schema import CODES

_ORDER = ("unlisted", *CODES[:-1])
"""The columns of a look-alike by which ids are given, the most important first."""


class Piece(NamedTuple):
    """Look-alikes start:stop, with the specs first:last, of the old index or of what was read.

    In the new index their ids begin with `look_alike` and `spec`.
    """

    is_kept: bool
    start: int
    stop: int
    first: int
    last: int
    look_alike: int
    spec: int


class Part(NamedTuple):
    """Look-alikes in display order: their codes by column, and the first spec of each.

    `first` also has the number of all specs.
    """

    columns: Mapping[str, array[int]]
    first: array[int]


class Pieces(list[Piece]):
    """All pieces of a new index in its order."""

    def __init__(self, kept: Part, mask: bytes, ids: Sequence[int], staged: Part) -> None:
        """Merge the kept look-alikes, those whose `ids` are 1 in the `mask`, with all staged."""
        super().__init__()
        self._look_alike = self.spec_count = 0
        columns = [kept.columns[name] for name in _ORDER]

        def codes(look_alike: int) -> tuple[int, ...]:
            return tuple(column[look_alike] for column in columns)

        done = run = number = 0
        for number, key in enumerate(zip(*(staged.columns[name] for name in _ORDER), strict=True)):
            place = bisect_left(ids, key, done, key=codes)
            if place > done:
                self._add(False, staged.first, run, number)
                self._add_kept(kept.first, mask, ids[done:place])
                done, run = place, number
        self._add(False, staged.first, run, len(staged.first) - 1)
        self._add_kept(kept.first, mask, ids[done:])

    def _add_kept(self, first: array[int], mask: bytes, ids: Sequence[int]) -> None:
        """Add kept look-alikes, in as many pieces as they have gaps."""
        done = 0
        while done < len(ids):
            start = ids[done]
            end = mask.find(0, start)
            stop = min(len(mask) if end < 0 else end, start + len(ids) - done)
            self._add(True, first, start, stop)
            done += stop - start

    def _add(self, is_kept: bool, first: array[int], start: int, stop: int) -> None:
        if start < stop:
            specs = first[start], first[stop]
            self.append(Piece(is_kept, start, stop, *specs, self._look_alike, self.spec_count))
            self._look_alike += stop - start
            self.spec_count += specs[1] - specs[0]

    @property
    def staged(self) -> list[Piece]:
        """The pieces that were read."""
        return [piece for piece in self if not piece.is_kept]

    @property
    def kept(self) -> list[Piece]:
        """The pieces of the old index."""
        return [piece for piece in self if piece.is_kept]

    def staged_specs(self, records: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Yield the ids of the specs that were read, each with its record."""
        for piece in self.staged:
            yield from enumerate(records[piece.first : piece.last], piece.spec)

    def look_alikes(self, kept: array[int], staged: array[int]) -> array[int]:
        """Join a column with an item for each look-alike."""
        joined = array("I")
        for piece in self:
            joined += (kept if piece.is_kept else staged)[piece.start : piece.stop]
        return joined

    def specs(self, kept: array[int], staged: array[int]) -> array[int]:
        """Join a column with an item for each spec."""
        joined = array("I")
        for piece in self:
            joined += (kept if piece.is_kept else staged)[piece.first : piece.last]
        return joined

    def edges(
        self,
        kept_first: array[int],
        kept: array[int],
        staged_first: array[int],
        staged: array[int],
    ) -> array[int]:
        """Join a column with an item for each edge; spec i owns those from first[i] on."""
        joined = array("I")
        for piece in self:
            first, items = (kept_first, kept) if piece.is_kept else (staged_first, staged)
            if items:
                joined += items[first[piece.first] : first[piece.last]]
        return joined
