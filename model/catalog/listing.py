"""List the rows of a view."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import NamedTuple, TypeVar, overload

from spackscope.model.catalog.arrays import ColumnArrays
from spackscope.model.catalog.by_host import ByHost
from spackscope.model.catalog.dictionaries import Dictionaries
from spackscope.model.catalog.id_ranges import IdRanges
from spackscope.model.catalog.opened_rows import (
    OpenedRow,
    Partition,
    RowRole,
    find_row,
    opened_rows,
)
from spackscope.model.catalog.ordered_ids import SpecOrder
from spackscope.model.catalog.row_order import RowOrder
from spackscope.model.catalog.rows import Row
from spackscope.model.catalog.shown_values import ShownValues
from spackscope.model.catalog.view import View
from spackscope.model.index.damage import class_reading_index

_Value = TypeVar("_Value")


class _OpenedGroup(NamedTuple):
    """The rows of an opened group, and the number of the first."""

    start: int
    rows: Sequence[OpenedRow]


@class_reading_index
class Listing:
    """The rows of a view as ids in their order; `values` is a summary of all of them.

    `shown` is the number of specs. `counts` has for each row how many specs it stands for; it is
    None if every row stands for one. `roles` has the role of each row, and is None without opened
    groups. With a `partition` these have a head, and are shown kind by kind.
    """

    def __init__(
        self,
        view: View,
        values: ShownValues,
        arrays: ColumnArrays,
        dictionaries: Dictionaries,
        by_host: ByHost,
        row_order: RowOrder,
        partition: Partition | None = None,
    ) -> None:
        self.view = view
        self.values = values
        self._specs = specs = values.specs
        self.shown = len(specs)
        self._arrays = arrays
        self._dictionaries = dictionaries
        self._opened: dict[int, _OpenedGroup] = {}
        order = SpecOrder(
            view, specs, arrays, dictionaries, by_host, row_order, opens_flat=partition is None
        )
        self.ids = order.ordered_ids()
        self.counts: Sequence[int] | None = None
        self.roles: Sequence[RowRole] | None = None
        if view.folded:
            if partition is not None:
                self._open_groups(partition)
            self.counts = ComputedRows(len(self.ids), self._count)

    def __len__(self) -> int:
        return len(self.ids)

    def _open_groups(self, partition: Partition) -> None:
        """Put the rows of opened groups in place of the folded ones."""
        groups: list[tuple[int, int, list[OpenedRow]]] = []
        for look_alike in self.view.opened:
            members = list(self.look_alike_ids(look_alike))
            if len(members) > 1:
                rows = opened_rows(members, partition(members), self.view.opened_kinds)
                groups.append((self.ids.index(members[0]), look_alike, rows))
        if not groups:
            return
        new_ids, end = array("I"), 0
        for at, look_alike, rows in sorted(groups):
            new_ids.extend(self.ids[end:at])
            self._opened[look_alike] = _OpenedGroup(len(new_ids), rows)
            new_ids.extend(row.id for row in rows)
            end = at + 1
        new_ids.extend(self.ids[end:])
        self.ids, self.roles = new_ids, ComputedRows(len(new_ids), self._role)

    def _opened_row(self, number: int) -> OpenedRow | None:
        """Return a row of an opened group by its number in the listing."""
        for start, rows in self._opened.values():
            if start <= number < start + len(rows):
                return rows[number - start]
        return None

    def _role(self, number: int) -> RowRole:
        row = self._opened_row(number)
        return row.role if row is not None else RowRole.SPEC

    def _count(self, number: int) -> int:
        if (row := self._opened_row(number)) is not None:
            return row.count
        look_alike = self._arrays.look_alike(self.ids[number])
        # Without a group its specs are rows of their own.
        return 1 if look_alike in self.view.opened else self.count_look_alikes(look_alike)

    @property
    def lists_dependencies(self) -> bool:
        """Whether any document of the index lists dependencies."""
        return self._dictionaries.lists_dependencies

    def precompute(self) -> None:
        """Compute the summary now, in a worker thread; else it is computed when needed."""
        self.values.precompute()
        _ = self.lists_dependencies, self.max_count, self.group_count

    @cached_property
    def max_count(self) -> int:
        """The most specs that a row stands for."""
        opened = (row.count for group in self._opened.values() for row in group.rows)
        return max(self._most_and_groups[0], *opened, 1)

    @property
    def group_count(self) -> int:
        """The number of look-alikes with several specs, opened or not; 0 if none are folded."""
        return self._most_and_groups[1] + len(self._opened)

    @cached_property
    def _most_and_groups(self) -> tuple[int, int]:
        """The most specs that a row stands for, and the number with several, but for opened."""
        if self.counts is None:
            return 1, 0
        folded = self._specs
        if self.view.opened:
            opened = map(self.look_alike_ids, sorted(self.view.opened))
            folded = folded.changed((id_, False) for ids in opened for id_ in ids)
        sizes = self._arrays.sizes(folded)
        return max(sizes, default=1), len(sizes) - sizes.count(1)

    def count_look_alikes(self, look_alike: int) -> int:
        """Return the number of specs shown of a look-alike."""
        return self._specs.count(*self._arrays.specs(look_alike))

    def look_alike_ids(self, look_alike: int) -> IdRanges:
        """Return the ids of the specs shown of a look-alike."""
        return self._specs.within(*self._arrays.specs(look_alike))

    def shows(self, id_: int) -> bool:
        """Check whether a spec is shown, in a row of its own or in a folded one."""
        return id_ in self._specs

    def ids_of(self, row: Row) -> Sequence[int]:
        """Return the ids of all specs that a row stands for."""
        if row.has_look_alikes:
            return self.look_alike_ids(row.look_alike)
        group = self._opened.get(row.look_alike)
        kinds = (RowRole.KIND, RowRole.OPEN_KIND)
        if group is None or row.role not in kinds:
            return (row.id,)
        members = (each.members for each in group.rows if each.role in kinds)
        return next((ids for ids in members if row.id in ids), (row.id,))

    def opened_kind(self, id_: int, look_alike: int) -> Sequence[int]:
        """Return the specs of the opened kind with a spec; empty if its kind is not opened."""
        group = self._opened.get(look_alike)
        kinds = (row for row in group.rows if row.role is RowRole.OPEN_KIND) if group else ()
        return next((kind.members for kind in kinds if id_ in kind.members), ())

    def row_of(self, id_: int, look_alike: int, role: RowRole = RowRole.SPEC) -> int | None:
        """Return the number of the row that shows a spec, alone or folded with its look-alikes.

        In an opened group it is the row with the role, if there is one.
        """
        if (group := self._opened.get(look_alike)) is not None:
            number = find_row(group.rows, id_, role)
            return group.start if number is None else group.start + number
        if id_ in (ids := self.ids):
            return ids.index(id_)
        if self.counts is None:
            return None
        shown = self.look_alike_ids(look_alike)
        return ids.index(shown[0]) if shown and shown[0] in ids else None


class ComputedRows(Sequence[_Value]):
    """What is computed of a row by its number when it is asked for: hardly any rows are seen."""

    def __init__(self, length: int, compute: Callable[[int], _Value]) -> None:
        self._numbers, self._compute = range(length), compute

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, index: int) -> _Value: ...

    @overload
    def __getitem__(self, index: slice) -> list[_Value]: ...

    def __getitem__(self, index: int | slice) -> _Value | list[_Value]:
        numbers = self._numbers[index]
        return (
            self._compute(numbers) if isinstance(numbers, int) else [*map(self._compute, numbers)]
        )
