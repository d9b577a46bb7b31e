"""The codes of all look-alikes in memory, an array for each dictionary."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import lru_cache

from spackscope.model.catalog.id_ranges import IdRanges
from spackscope.model.core.errors import IndexDamaged
from spackscope.model.index.codec import is_ascending, unpack_codes
from spackscope.model.index.connection import Database
from spackscope.model.index.schema import CODES


class ColumnArrays:
    """The arrays of codes; each is read when it is first needed.

    SQLite would return the codes row by row, which takes longer than all else that is done with
    them. Raises IndexDamaged if the index has no such array.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self.column = lru_cache(None)(self._column)

    def _column(self, name: str) -> array[int]:
        rows = self._database.execute("SELECT data FROM codes WHERE name = ?", (name,))
        row = rows.fetchone()
        if row is None:
            raise IndexDamaged(f"the codes of {name} are damaged")
        codes = unpack_codes(row[0])
        if name == "first":
            ((specs,),) = self._database.execute("SELECT coalesce(max(id) + 1, 0) FROM spec")
            is_valid = codes and not codes[0] and codes[-1] == specs
            if not is_valid or not is_ascending(codes, strictly=True):
                raise IndexDamaged("the numbers of specs are damaged")
        elif name in CODES and len(codes) != len(self.first) - 1:
            raise IndexDamaged(f"the codes of {name} are damaged")
        return codes

    @property
    def first(self) -> array[int]:
        """The first spec of each look-alike, and after them the number of specs."""
        return self.column("first")

    def look_alike(self, spec: int) -> int:
        """Return the look-alike that a spec belongs to."""
        return bisect_right(self.first, spec) - 1

    def specs(self, look_alike: int) -> tuple[int, int]:
        """Return the first spec of a look-alike, and the one after its last."""
        return self.first[look_alike], self.first[look_alike + 1]

    def spans(self, specs: IdRanges) -> Iterator[tuple[int, int]]:
        """Yield the look-alikes of specs as ranges: the first one, and the one after the last.

        If ranges of specs share a look-alike, so do their ranges of look-alikes.
        """
        for start, stop in specs.pairs():
            yield self.look_alike(start), self.look_alike(stop - 1) + 1

    def distinct(self, storage: str, spans: Iterable[tuple[int, int]]) -> set[int]:
        """Return the codes of a dictionary in ranges of look-alikes."""
        codes = self.column(storage)
        return set().union(*(codes[start:stop] for start, stop in spans))
