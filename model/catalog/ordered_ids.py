"""Order the specs of a view, and fold the look-alikes among them."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain

from spackscope.model.catalog.arrays import ColumnArrays
from spackscope.model.catalog.by_host import ByHost
from spackscope.model.catalog.dictionaries import Dictionaries
from spackscope.model.catalog.id_ranges import IdRanges
from spackscope.model.catalog.row_order import USED_BY, RowOrder
from spackscope.model.catalog.view import Order, Sort, View
from spackscope.model.core.columns import BY_NAME
from spackscope.model.index.damage import class_reading_index


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
        self._view, self._specs, self._arrays = view, specs, arrays
        self._flat = view.opened if opens_flat and view.folded else frozenset()
        self._dictionaries = dictionaries
        self._by_host, self._row_order = by_host, row_order

    def ordered_ids(self) -> Sequence[int]:
        """Return the ids of the rows; of folded look-alikes the first that is shown."""
        sort, order = self._view.sort, self._view.order
        column = BY_NAME.get(sort.column) if sort is not None else None
        if sort is not None and column is not None and not column.has_dictionary:
            return self._by_record(sort)
        if sort is None and order is Order.INDEX and not self._view.folded:
            return self._specs
        look_alikes = self._look_alikes(order)
        if sort is None:
            return self._ids(look_alikes)
        descending = sort.descending
        look_alikes = self._row_order.sorted_by(sort.column, look_alikes, descending=descending)
        ids = self._ids(look_alikes)
        if sort.column != USED_BY or self._view.folded:
            return ids
        # Users differ among look-alikes.
        return self._row_order.sorted_by_users(ids, descending=descending)

    def _by_record(self, sort: Sort) -> Sequence[int]:
        """Order rows by what each has of its own, as its hash or size."""
        column, descending = BY_NAME[sort.column], sort.descending
        ids = self._ids(self._look_alikes(Order.INDEX)) if self._view.folded else self._specs
        if not ids:
            return ids
        if column.is_by_host:
            return self._by_host.ordered(column, ids, descending=descending)
        is_row = bytearray(self._arrays.first[-1])
        for id_ in ids:
            is_row[id_] = 1
        ordered = (
            self._dictionaries.by_hash if column.name == "hash" else self._dictionaries.by_size
        )
        all_ids = ordered(ids[0], ids[-1], descending=descending)
        return array("I", filter(is_row.__getitem__, all_ids))

    def _look_alikes(self, order: Order) -> Sequence[int]:
        """Return the look-alikes of the specs in an order that no column decides."""
        spans = list(self._arrays.spans(self._specs))
        if order is Order.INDEX:
            return array("I", chain.from_iterable(range(*span) for span in spans))
        return self._row_order.preferred(spans, by_host=order is Order.PREFERRED_HERE)

    def _ids(self, look_alikes: Sequence[int]) -> array[int]:
        """Return the ids of the rows of look-alikes."""
        if self._view.folded and not self._flat:
            return array("I", map(self._first_shown.__getitem__, look_alikes))
        return array("I", chain.from_iterable(self._rows(look_alikes)))

    def _rows(self, look_alikes: Sequence[int]) -> Iterator[Sequence[int]]:
        """Yield the ids of the rows of each look-alike."""
        first, partial = self._arrays.first, self._partial
        for number in look_alikes:
            if self._view.folded and number not in self._flat:
                yield (self._first_shown[number],)
            elif number in partial:
                yield partial[number]
            else:
                yield range(first[number], first[number + 1])

    @cached_property
    def _partial(self) -> Mapping[int, IdRanges]:
        """The specs shown of look-alikes of which not all are."""
        return self._arrays.partial(self._specs)

    @cached_property
    def _first_shown(self) -> array[int]:
        """The first spec shown of each look-alike."""
        first = self._arrays.first
        if any(specs[0] != first[number] for number, specs in self._partial.items()):
            first = first[:]
            for number, specs in self._partial.items():
                first[number] = specs[0]
        return first
