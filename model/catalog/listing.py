"""List the rows of a view, and summarise them."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import NamedTuple, TypeVar, cast, overload

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
from spackscope.model.catalog.view import View
from spackscope.model.core.column import Value
from spackscope.model.core.columns import BY_NAME, COLUMNS, FACETED
from spackscope.model.core.progress import never
from spackscope.model.core.text import cell_width
from spackscope.model.core.variants import split_variant, variant_key
from spackscope.model.index.damage import class_reading_index

_Value = TypeVar("_Value")


class _OpenedGroup(NamedTuple):
    """The rows of an opened group, and the number of the first."""

    start: int
    rows: Sequence[OpenedRow]


@class_reading_index
class Listing:
    """The rows of a view as ids in their order, and a summary of all of them.

    `shown` is the number of specs. `counts` has for each row how many specs it stands for; it is
    None if every row stands for one. `roles` has the role of each row, and is None without opened
    groups. With a `partition` these have a head, and are shown kind by kind.
    """

    def __init__(
        self,
        view: View,
        specs: IdRanges,
        arrays: ColumnArrays,
        dictionaries: Dictionaries,
        by_host: ByHost,
        row_order: RowOrder,
        partition: Partition | None = None,
    ) -> None:
        self.view = view
        self.shown = len(specs)
        self._specs = specs
        self._arrays = arrays
        self._dictionaries = dictionaries
        self._by_host = by_host
        self._opened: dict[int, _OpenedGroup] = {}
        self._varying_of: dict[tuple[int, int], dict[str, int]] = {}
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

    def all_values(self, column: str) -> Sequence[Value]:
        """Return the values that a column has in the whole index."""
        return self._dictionaries.values(column)

    @property
    def lists_dependencies(self) -> bool:
        """Whether any document of the index lists dependencies."""
        return self._dictionaries.lists_dependencies

    def precompute(self) -> None:
        """Compute the summary now, in a worker thread; else it is computed when needed."""
        _ = self.constants, self.widths, self.varying_columns, self.varying_variants
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
        opened = map(self.look_alike_ids, sorted(self.view.opened))
        folded = self._specs.changed((id_, False) for ids in opened for id_ in ids)
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

    @cached_property
    def _codes(self) -> dict[str, set[int]]:
        """The codes of the specs shown, for each dictionary of the table."""
        spans = list(self._arrays.spans(self._specs))
        storages = {BY_NAME[name].storage for name in FACETED}
        return {storage: self._arrays.distinct(storage, spans) for storage in storages}

    @cached_property
    def _host_values(self) -> dict[str, list[Value]]:
        """The values shown of the columns by host that the query names."""
        named = (c.name for c in COLUMNS if c.is_by_host and c.name in self.view.query.columns)
        return {name: list(self._by_host.counts(name, self._specs, never)) for name in named}

    @cached_property
    def constants(self) -> dict[str, Value]:
        """The columns with the same value in all rows, and that value."""
        constants: dict[str, Value] = {}
        for name in FACETED:
            values, codes = self._dictionaries.values(name), self._codes[BY_NAME[name].storage]
            first = next((values[code] for code in codes), None)
            if first is not None and all(values[code] == first for code in codes):
                constants[name] = first
        single = (pair for pair in self._host_values.items() if len(pair[1]) == 1)
        return constants | {name: value for name, (value,) in single}

    @cached_property
    def varying_columns(self) -> frozenset[str]:
        """The columns with several values, and those of single records of which any is known."""
        if not self.shown:
            return frozenset()
        bounds = self._specs[0], self._specs[-1]
        others = (c for c in COLUMNS if not (c.has_dictionary or c.is_by_host))
        known = {c.name for c in others if self._dictionaries.is_known(c, *bounds)}
        return frozenset((*FACETED, *self._host_values)).difference(self.constants) | known

    @cached_property
    def widths(self) -> dict[str, int]:
        """The width in cells of the widest value shown of each column."""
        widths = {column.name: column.width for column in COLUMNS}
        for column in COLUMNS:
            if column.has_dictionary:
                all_widths = self._dictionaries.widths(column)
                shown = map(all_widths.__getitem__, self._codes[column.storage])
                widths[column.name] = max(shown, default=0)
            elif column.name in self._host_values:
                cells = (cell_width(column.cell(v)) for v in self._host_values[column.name])
                widths[column.name] = max(cells, default=0)
        return widths

    @cached_property
    def variants(self) -> Mapping[str, Mapping[str, int]]:
        """Each variant of the rows with its texts, and how many sets of variants have each text.

        An empty text stands for the sets without the variant.
        """
        return self._variants(self._codes["variant_set"])

    def _variants(self, codes: Collection[int]) -> dict[str, dict[str, int]]:
        sets = cast(Sequence[tuple[str, ...]], self._dictionaries.values("variants"))
        keys = (set(map(variant_key, sets[code])) for code in codes)
        counts = Counter(chain.from_iterable(keys))
        by_name: dict[str, dict[str, int]] = defaultdict(dict)
        for text, count in counts.items():
            by_name[split_variant(text)[0]][text] = count
        for texts in by_name.values():
            if missing := len(codes) - sum(texts.values()):
                texts[""] = missing
        return by_name

    @cached_property
    def varying_variants(self) -> dict[str, int]:
        """The variants whose values differ among the rows, or that some rows lack, and their rank.

        The variant that splits the rows most evenly has rank 0; patches come last.
        """
        return _ranks(self.variants)

    def varying_variants_of(self, first: int, end: int) -> dict[str, int]:
        """Return the variants that vary among the specs shown with some ids: those of a package.

        Other packages have other variants, which would make nearly all of them vary.
        """
        span = first, end
        if span not in self._varying_of:
            spans = self._arrays.spans(self._specs.within(*span))
            codes = self._arrays.distinct("variant_set", spans)
            self._varying_of[span] = _ranks(self._variants(codes))
        return self._varying_of[span]

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


def _ranks(variants: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    """Return the variants with several texts, by their rank."""
    varying = sorted(
        (name == "patches", max(texts.values()), name)
        for name, texts in variants.items()
        if len(texts) > 1
    )
    return {name: rank for rank, (_, _, name) in enumerate(varying)}
