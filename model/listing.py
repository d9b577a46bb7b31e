"""Order, fold and describe the rows that a view shows."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, groupby
from operator import itemgetter

from spackscope.model.columns import BY_NAME, COLUMNS, Value
from spackscope.model.dictionaries import Dictionaries
from spackscope.model.present import SHORT_HASH, WIDEST_SIZE, cell
from spackscope.model.query.match import split_variant
from spackscope.model.query.terms import Query
from spackscope.model.text import cell_width

Run = tuple[int, ...]
"""A look-alike's id, its first matching spec, how many specs follow on that, and its codes."""

RUN_CODES = ("version", "arch", "variant_set", "stack_set", "tag", "document", "package")
_AT = {place: position for position, place in enumerate(RUN_CODES, 3)}


@dataclass(frozen=True, slots=True)
class Sort:
    """Say by which column rows are ordered, and which way."""

    column: str
    descending: bool = False


@dataclass(frozen=True, slots=True)
class View:
    """Hold all that decides which rows are shown, and how.

    `package` is the id of one package, or None for all; `opened` names the look-alikes that are
    shown row by row although the others are `folded`.
    """

    query: Query = Query()
    package: int | None = None
    sort: Sort | None = None
    folded: bool = False
    opened: frozenset[int] = frozenset()


class Listing:
    """Hold the rows of a view as ids in their order, and what is to be said of all of them.

    `shown` counts specs, `counts` how many of them each row stands for; it is None where every
    row stands for one.
    """

    def __init__(self, view: View, runs: Sequence[Run], dictionaries: Dictionaries) -> None:
        self.view = view
        self.shown = sum(map(itemgetter(2), runs))
        self._runs = runs
        self._dictionaries = dictionaries
        self.ids: Sequence[int]
        self.counts: Sequence[int] | None
        self.ids, self.counts = self._rows()

    def __len__(self) -> int:
        return len(self.ids)

    def _rows(self) -> tuple[Sequence[int], Sequence[int] | None]:
        sort, runs = self.view.sort, self._runs
        by_spec = sort is not None and BY_NAME[sort.column].place == "spec"
        if sort is not None and not by_spec:
            ranks, at = self._dictionaries.ranks(sort.column), _AT[BY_NAME[sort.column].place]
            runs = sorted(runs, key=lambda run: ranks[run[at]], reverse=sort.descending)
        counts: Sequence[int] | None = None
        if self.view.folded:
            rows = list(self._folded(runs))
            ids = array("q", map(itemgetter(0), rows))
            counts = array("q", map(itemgetter(1), rows))
        else:
            ids = array("q", _expanded(runs))
        if sort is not None and by_spec:
            keys = self._dictionaries.spec_keys(sort.column, ids)
            order = sorted(
                range(len(ids)), key=lambda row: keys[ids[row]], reverse=sort.descending
            )
            ids = array("q", (ids[row] for row in order))
            counts = counts and array("q", (counts[row] for row in order))
        return ids, counts

    def _folded(self, runs: Sequence[Run]) -> Iterable[tuple[int, int]]:
        for look_alike, alike in groupby(runs, itemgetter(0)):
            together = list(alike)
            if look_alike in self.view.opened:
                yield from ((id_, 1) for id_ in _expanded(together))
            else:
                yield together[0][1], sum(map(itemgetter(2), together))

    def all_values(self, column: str) -> Sequence[Value]:
        """Give the values that a column has in the whole index."""
        return self._dictionaries.values(column)

    def describe(self) -> None:
        """Work out now what is to be said of all rows, in the thread that has the time for it."""
        _ = self.alike, self.constants, self.widths, self.varying_variants

    @cached_property
    def alike(self) -> Mapping[int, int]:
        """Count the specs shown of each look-alike."""
        counts: Counter[int] = Counter()
        for run in self._runs:
            counts[run[0]] += run[2]
        return counts

    @cached_property
    def _codes(self) -> dict[str, set[int]]:
        return {place: set(map(itemgetter(at), self._runs)) for place, at in _AT.items()}

    @cached_property
    def constants(self) -> dict[str, Value]:
        """Give the columns whose shown values are all one, with that value."""
        constants: dict[str, Value] = {}
        for column in COLUMNS:
            if column.place == "spec":
                continue
            values = self._dictionaries.values(column.name)
            there = {values[code] for code in self._codes[column.place]}
            if len(there) == 1:
                constants[column.name] = there.pop()
        return constants

    @cached_property
    def widths(self) -> dict[str, int]:
        """Give the cells that the widest value shown of each column takes."""
        widths = {"hash": SHORT_HASH, "size": WIDEST_SIZE}
        for column in COLUMNS:
            if column.place != "spec":
                values = self._dictionaries.values(column.name)
                texts = {cell(column, values[code]) for code in self._codes[column.place]}
                widths[column.name] = max(map(cell_width, texts), default=0)
        return widths

    @cached_property
    def varying_variants(self) -> dict[str, int]:
        """Give the names of variants whose values differ among the rows, with their rank.

        What splits the rows most evenly comes first. A variant that some rows lack varies.
        """
        sets = self._dictionaries.values("variants")
        values: dict[str, Counter[str]] = defaultdict(Counter)
        codes = self._codes["variant_set"]
        for code in codes:
            texts = sets[code]
            assert isinstance(texts, tuple)
            for text in set(texts):
                values[split_variant(text)[0]][text] += 1
        varying = [
            (max(texts.values()), name)
            for name, texts in values.items()
            if max(texts.values()) < len(codes)
        ]
        return {name: rank for rank, (_, name) in enumerate(sorted(varying))}

    def row_of(self, id_: int, look_alike: int) -> int | None:
        """Find the row that shows a spec, alone or folded with its look-alikes."""
        if id_ in (ids := self.ids):
            return ids.index(id_)
        if self.counts is None:
            return None
        first = next((run[1] for run in self._runs if run[0] == look_alike), None)
        return ids.index(first) if first is not None and first in ids else None


def _expanded(runs: Iterable[Run]) -> Iterable[int]:
    return chain.from_iterable(range(run[1], run[1] + run[2]) for run in runs)
