"""Hold the codes of all look-alikes in memory, a column at a time."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import lru_cache

from spackscope.model.catalog.id_ranges import IdRanges
from spackscope.model.core.errors import (
    IndexDamaged,
)
from spackscope.model.index.codec import is_ascending, unpack_codes
from spackscope.model.index.connection import Database
from spackscope.model.index.schema import CODES


class ColumnArrays:
    """Give the columns of codes; each is read when it is first asked for.

    SQLite would hand them over row by row, which takes longer than all else that is done with
    them. Raises IndexDamaged where the index has no such column.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self.column = lru_cache(None)(self._column)

    def _column(self, place: str) -> array[int]:
        found = self._database.execute("SELECT data FROM codes WHERE name = ?", (place,))
        row = found.fetchone()
        if row is None:
            raise IndexDamaged(f"the codes of {place} are damaged")
        codes = unpack_codes(row[0])
        if place == "first":
            ((specs,),) = self._database.execute("SELECT coalesce(max(id) + 1, 0) FROM spec")
            if (
                not codes
                or codes[0]
                or codes[-1] != specs
                or not is_ascending(codes, strictly=True)
            ):
                raise IndexDamaged("the numbers of specs are damaged")
        elif place in CODES and len(codes) != len(self.first) - 1:
            raise IndexDamaged(f"the codes of {place} are damaged")
        return codes

    @property
    def first(self) -> array[int]:
        """Hold the first spec of each look-alike, and behind them the number of specs."""
        return self.column("first")

    def look_alike(self, spec: int) -> int:
        """Give the look-alike that a spec belongs to."""
        return bisect_right(self.first, spec) - 1

    def specs(self, look_alike: int) -> tuple[int, int]:
        """Give the first spec of a look-alike, and the one behind its last."""
        return self.first[look_alike], self.first[look_alike + 1]

    def spans(self, specs: IdRanges) -> Iterator[tuple[int, int]]:
        """Give the look-alikes of some specs as ranges: the first one, and that behind the last.

        Where ranges of specs share a look-alike, so do their spans.
        """
        for start, stop in specs.pairs():
            yield self.look_alike(start), self.look_alike(stop - 1) + 1

    def distinct(self, place: str, spans: Iterable[tuple[int, int]]) -> set[int]:
        """Give the codes that some spans of look-alikes have in a column."""
        codes = self.column(place)
        return set().union(*(codes[start:stop] for start, stop in spans))
