"""Order the specs of a view, and fold the look-alikes among them."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import chain, groupby, repeat
from operator import itemgetter
from typing import NamedTuple

from spackscope.model.catalog.arrays import ColumnArrays, Run
from spackscope.model.catalog.by_host import ByHost
from spackscope.model.catalog.dictionaries import Dictionaries
from spackscope.model.catalog.id_ranges import IdRanges
from spackscope.model.catalog.row_order import USED_BY, RowOrder
from spackscope.model.catalog.view import Order, Sort, View
from spackscope.model.core.columns import BY_NAME
from spackscope.model.index.damage import class_reading_index


class OrderedIds(NamedTuple):
    """The ids of rows, and how many specs each row stands for; None if each stands for one."""

    ids: Sequence[int]
    counts: Sequence[int] | None


@class_reading_index
class SpecOrder:
    """The order of the specs of a view.

    With `opens_flat` each spec of the look-alikes that the view has opened is a row of its own.
    """

    def __init__(
        self,
        view: View,
        specs: IdRanges,
        arrays: ColumnArrays,
        dictionaries: Dictionaries,
        by_host: ByHost,
        row_order: RowOrder,
        *,
        opens_flat: bool,
    ) -> None:
        self._view, self._specs, self._opens_flat = view, specs, opens_flat
        self._arrays, self._dictionaries = arrays, dictionaries
        self._by_host, self._row_order = by_host, row_order

    def ordered_ids(self) -> OrderedIds:
        """Return the ids of the rows."""
        sort = self._view.sort
        column = BY_NAME.get(sort.column) if sort is not None else None
        if sort is None or column is None or column.has_dictionary:
            return self._by_look_alikes(sort, self._view.order)
        return self._by_record(sort, self._by_look_alikes(None, Order.INDEX))

    def _by_record(self, sort: Sort, rows: OrderedIds) -> OrderedIds:
        """Order rows with ascending ids by what each has of its own, as its hash or size."""
        if not rows.ids:
            return rows
        first, last = rows.ids[0], rows.ids[-1]
        # A count for each id of the range, 0 if it is not shown: a dict would be ten times larger.
        counts = array("q", bytes(8 * (last - first + 1)))
        for id_, count in zip(rows.ids, rows.counts or repeat(1, len(rows.ids)), strict=True):
            counts[id_ - first] = count
        ids = self._ordered(sort, rows.ids, counts)
        if rows.counts is None:
            return OrderedIds(ids, None)
        return OrderedIds(ids, array("q", (counts[id_ - first] for id_ in ids)))

    def _ordered(self, sort: Sort, ids: Sequence[int], counts: Sequence[int]) -> array[int]:
        column = BY_NAME[sort.column]
        if column.is_by_host:
            return self._by_host.ordered(column, ids, descending=sort.descending)
        first, last = ids[0], ids[-1]
        all_ids = self._dictionaries.ordered(sort.column, first, last, descending=sort.descending)
        return array("q", (id_ for id_ in all_ids if counts[id_ - first]))

    def _by_look_alikes(self, sort: Sort | None, order: Order) -> OrderedIds:
        """Order specs by a value of their look-alikes, and fold them if the view says so."""
        if sort is None and order is Order.INDEX and not self._view.folded:
            return OrderedIds(self._specs, None)
        runs = list(self._arrays.runs(self._specs))
        if order is not Order.INDEX:
            self._put_preferred_first(runs, order)
        if sort is not None:
            key = self._row_order.sort_key(sort.column)
            runs.sort(key=lambda run: key(run.look_alike), reverse=sort.descending)
        if not self._view.folded:
            ids = array("q", chain.from_iterable(range(run.start, run.stop) for run in runs))
            return OrderedIds(self._by_users(sort, ids), None)
        ids, counts = array("q"), array("q")
        for look_alike, group in groupby(runs, lambda run: run.look_alike):
            adjacent = list(group)
            if self._opens_flat and look_alike in self._view.opened:
                for run in adjacent:
                    ids.extend(range(run.start, run.stop))
                    counts.extend([1] * (run.stop - run.start))
            else:
                ids.append(adjacent[0].start)
                counts.append(sum(run.stop - run.start for run in adjacent))
        return OrderedIds(ids, counts)

    def _put_preferred_first(self, runs: list[Run], order: Order) -> None:
        ranks = self._row_order.ranks(by_host=order is Order.PREFERRED_HERE)
        runs.sort(key=lambda run: ranks[run.look_alike])
        if words := self._view.query.words:
            names = self._dictionaries.texts("package")
            codes = self._arrays.column("package")
            runs.sort(key=lambda run: names[codes[run.look_alike]] not in words)

    def _by_users(self, sort: Sort | None, ids: array[int]) -> array[int]:
        """Order single specs by their own users, which differ among look-alikes."""
        if sort is None or sort.column != USED_BY:
            return ids
        pairs = zip(self._row_order.uses_of(ids), ids, strict=True)
        ordered = sorted(pairs, key=itemgetter(0), reverse=sort.descending)
        return array("q", (id_ for _, id_ in ordered))
