"""Order, fold and describe the rows that a view shows."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, groupby, repeat
from operator import itemgetter
from typing import cast

from spackscope.model.catalog.column_arrays import ColumnArrays
from spackscope.model.catalog.dictionaries import Dictionaries
from spackscope.model.catalog.id_ranges import IdRanges
from spackscope.model.core.column import Value
from spackscope.model.core.columns import BY_NAME, COLUMNS
from spackscope.model.core.variants import split_variant
from spackscope.model.index.damage import class_reading_index
from spackscope.model.index.schema import CODES
from spackscope.model.query.ast import Query


@dataclass(frozen=True, slots=True)
class Sort:
    """Say by which column rows are ordered, and which way."""

    column: str
    descending: bool = False


@dataclass(frozen=True, slots=True)
class View:
    """All that decides which rows are shown, and how.

    `opened` names the look-alikes that are shown row by row although the others are `folded`.
    """

    query: Query = Query()
    sort: Sort | None = None
    folded: bool = False
    opened: frozenset[int] = frozenset()


@class_reading_index
class Listing:
    """Hold the rows of a view as ids in their order, and what is to be said of all of them.

    `shown` counts specs, `counts` how many of them each row stands for; it is None where every
    row stands for one.
    """

    def __init__(
        self, view: View, specs: IdRanges, columns: ColumnArrays, dictionaries: Dictionaries
    ) -> None:
        self.view = view
        self.shown = len(specs)
        self._specs = specs
        self._columns = columns
        self._dictionaries = dictionaries
        self.ids: Sequence[int]
        self.counts: Sequence[int] | None
        self.ids, self.counts = self._rows()

    def __len__(self) -> int:
        return len(self.ids)

    def _rows(self) -> tuple[Sequence[int], Sequence[int] | None]:
        sort = self.view.sort
        by_spec = sort is not None and not BY_NAME[sort.column].has_dictionary
        if not self.view.folded and (sort is None or by_spec):
            ids: Sequence[int] = self._specs
            counts: Sequence[int] | None = None
        else:
            ids, counts = self._by_look_alike(sort if not by_spec else None)
        if sort is None or not by_spec:
            return ids, counts
        return self._by_spec(sort, ids, counts)

    def _by_spec(
        self, sort: Sort, ids: Sequence[int], counts: Sequence[int] | None
    ) -> tuple[Sequence[int], Sequence[int] | None]:
        """Order ascending ids and their counts by the hash or the size of each."""
        if not ids:
            return ids, counts
        first, last = ids[0], ids[-1]
        # A count for each id that is shown, 0 for the others: a dict would take ten times that.
        stands_for = array("q", bytes(8 * (last - first + 1)))
        for id_, count in zip(ids, counts or repeat(1, len(ids)), strict=True):
            stands_for[id_ - first] = count
        found = self._dictionaries.ordered(sort.column, first, last, descending=sort.descending)
        ordered = array("q", (id_ for id_ in found if stands_for[id_ - first]))
        if counts is None:
            return ordered, None
        return ordered, array("q", (stands_for[id_ - first] for id_ in ordered))

    def _by_look_alike(self, sort: Sort | None) -> tuple[Sequence[int], Sequence[int] | None]:
        """Order the specs by a value of their look-alikes, and fold them where that is wanted."""
        runs = list(self._runs())
        if sort is not None:
            ranks = self._dictionaries.ranks(BY_NAME[sort.column])
            codes = self._columns.column(BY_NAME[sort.column].storage)
            runs.sort(key=lambda run: ranks[codes[run[0]]], reverse=sort.descending)
        if not self.view.folded:
            return array("q", chain.from_iterable(map(self._expanded, runs))), None
        ids, counts = array("q"), array("q")
        for look_alike, alike in groupby(runs, itemgetter(0)):
            together = list(alike)
            if look_alike in self.view.opened:
                for run in together:
                    ids.extend(self._expanded(run))
                    counts.extend([1] * (run[2] - run[1]))
            else:
                ids.append(together[0][1])
                counts.append(sum(stop - start for _, start, stop in together))
        return ids, counts

    def _runs(self) -> Iterator[tuple[int, int, int]]:
        """Give the ranges of specs, cut where one look-alike ends and the next begins."""
        first = self._columns.first
        for start, stop in self._specs.pairs():
            look_alike = self._columns.look_alike(start)
            while start < stop:
                behind = min(stop, first[look_alike + 1])
                yield look_alike, start, behind
                start, look_alike = behind, look_alike + 1

    @staticmethod
    def _expanded(run: tuple[int, int, int]) -> range:
        return range(run[1], run[2])

    def all_values(self, column: str) -> Sequence[Value]:
        """Give the values that a column has in the whole index."""
        return self._dictionaries.values(column)

    def describe(self) -> None:
        """Work out now what is to be said of all rows, in the thread that has the time for it."""
        _ = self.constants, self.widths, self.varying_variants

    def alike(self, look_alike: int) -> int:
        """Count the specs shown of a look-alike."""
        return self._specs.count(*self._columns.specs(look_alike))

    @cached_property
    def _codes(self) -> dict[str, set[int]]:
        spans = list(self._columns.spans(self._specs))
        return {place: self._columns.distinct(place, spans) for place in CODES}

    @cached_property
    def constants(self) -> dict[str, Value]:
        """Give the columns whose shown values are all one, with that value."""
        constants: dict[str, Value] = {}
        for column in COLUMNS:
            if not column.has_dictionary:
                continue
            values = self._dictionaries.values(column.name)
            codes = self._codes[column.storage]
            first = next((values[code] for code in codes), None)
            if first is not None and all(values[code] == first for code in codes):
                constants[column.name] = first
        return constants

    @cached_property
    def widths(self) -> dict[str, int]:
        """Give the cells that the widest value shown of each column takes."""
        widths = {column.name: column.width for column in COLUMNS}
        for column in COLUMNS:
            if column.has_dictionary:
                cells = self._dictionaries.widths(column)
                shown = map(cells.__getitem__, self._codes[column.storage])
                widths[column.name] = max(shown, default=0)
        return widths

    @cached_property
    def varying_variants(self) -> dict[str, int]:
        """Give the names of variants whose values differ among the rows, with their rank.

        What splits the rows most evenly comes first. A variant that some rows lack varies.
        """
        sets = cast(Sequence[tuple[str, ...]], self._dictionaries.values("variants"))
        codes = self._codes["variant_set"]
        counts = Counter(chain.from_iterable(set(sets[code]) for code in codes))
        values: dict[str, list[int]] = defaultdict(list)
        for text, count in counts.items():
            values[split_variant(text)[0]].append(count)
        varying = [
            (max(counted), name) for name, counted in values.items() if max(counted) < len(codes)
        ]
        return {name: rank for rank, (_, name) in enumerate(sorted(varying))}

    def row_of(self, id_: int, look_alike: int) -> int | None:
        """Find the row that shows a spec, alone or folded with its look-alikes."""
        if id_ in (ids := self.ids):
            return ids.index(id_)
        if self.counts is None:
            return None
        shown = self._specs.within(*self._columns.specs(look_alike))
        return ids.index(shown[0]) if shown and shown[0] in ids else None
