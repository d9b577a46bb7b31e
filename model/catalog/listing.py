"""List the rows of a view."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, groupby, pairwise
from operator import sub
from typing import Any, NamedTuple, TypeVar, cast, overload

from spackscope.model.catalog.arrays import ColumnArrays, Span, sorted_by
from spackscope.model.catalog.by_host import ByHost
from spackscope.model.catalog.dictionaries import Dictionaries
from spackscope.model.catalog.id_ranges import IdRanges
from spackscope.model.catalog.rows import Row
from spackscope.model.catalog.view import (
    USED_BY,
    OpenedRow,
    Order,
    Partition,
    RowRole,
    Sort,
    View,
    find_row,
    opened_rows,
)
from spackscope.model.core.columns import BY_NAME, COLUMNS, FACETED, Value
from spackscope.model.core.errors import IndexDamaged
from spackscope.model.core.tasks import never
from spackscope.model.core.text import cell_width
from spackscope.model.core.variants import split_variant, variant_key
from spackscope.model.index.damage import class_reading_index

_RANKS_OF_FITS = {True: 0, None: 1, False: 2}


class RowOrder:
    """The order of the look-alikes of an index.

    Packages are in the order of their names. Among the specs of one the newest version comes
    first; then, with `by_host`, what runs on the host; then what most specs depend on.
    """

    def __init__(self, arrays: ColumnArrays, dictionaries: Dictionaries, by_host: ByHost) -> None:
        self._arrays, self._dictionaries, self._by_host = arrays, dictionaries, by_host

    def preferred(self, spans: Sequence[Span], *, by_host: bool) -> array[int]:
        """Return the listed look-alikes in some spans in their order. Raises IndexDamaged."""
        if not spans:
            return array("I")
        everything = self._here if by_host else self._arrays.column("preferred")
        is_shown = bytearray(self._arrays.count)
        for start, stop in spans:
            is_shown[start:stop] = b"\1" * (stop - start)
        # Only packages that overlap the spans.
        packages, (first, _), (_, end) = self._arrays.column("package"), spans[0], spans[-1]
        first = bisect_left(packages, packages[first], 0, first)
        end = bisect_right(packages, packages[end - 1], end, self._arrays.listed)
        return array("I", filter(is_shown.__getitem__, everything[first:end]))

    @cached_property
    def _here(self) -> array[int]:
        """All look-alikes in their order by host."""
        preferred, fits = self._arrays.column("preferred"), self._fits()
        if len(set(fits)) < 2:
            return preferred
        packages, versions = self._arrays.column("package"), self._arrays.column("version")
        order = array("I")
        for _, group in groupby(preferred, lambda number: (packages[number], versions[number])):
            order.extend(sorted(group, key=fits.__getitem__))
        return order

    def _fits(self) -> bytes:
        """Return for each look-alike whether one of its specs runs on the host, the best first."""
        if not self._by_host.is_connected:
            return bytes(self._arrays.count)
        codes = self._by_host.answers.codes(never)
        ranks = [_RANKS_OF_FITS[fit.fits] for fit in self._by_host.answers.fits()]
        of_specs = bytes(map(ranks.__getitem__, codes))
        return bytes(min(of_specs[start:stop]) for start, stop in pairwise(self._arrays.first))

    def sorted_by(
        self, column: str, look_alikes: Sequence[int], *, descending: bool
    ) -> array[int]:
        """Sort look-alikes by a column, equal ones as they are given. Raises IndexDamaged.

        `column` has a dictionary, is a variant as `+x`, or USED_BY.
        """
        return sorted_by(self._keys(column, look_alikes), look_alikes, descending=descending)

    def _keys(self, column: str, look_alikes: Sequence[int]) -> Iterable[Any]:
        if column == USED_BY:
            first, ends = self._arrays.first, self._ends
            return (ends[first[n + 1]] - ends[first[n]] for n in look_alikes)
        if column[:1] == "+":
            storage, keys = "variant_set", self._variant_keys(column[1:])
        else:
            storage = BY_NAME[column].storage
            keys = self._dictionaries.ranks(BY_NAME[column])
        codes = self._arrays.column(storage)
        return map(keys.__getitem__, map(codes.__getitem__, look_alikes))

    def _variant_keys(self, name: str) -> Sequence[Any]:
        """Return for each set of variants the key of one of them; sets without it come last."""
        sets = cast(Sequence[tuple[str, ...]], self._dictionaries.values("variants"))
        texts = (next((t for t in set_ if split_variant(t)[0] == name), "") for set_ in sets)
        return [(not text, variant_key(text)) for text in texts]

    def sorted_by_users(self, ids: Sequence[int], *, descending: bool) -> array[int]:
        """Sort specs by how many specs depend on each. Raises IndexDamaged."""
        ends = self._ends
        last = map(ends.__getitem__, map((1).__add__, ids))
        return sorted_by(map(sub, last, map(ends.__getitem__, ids)), ids, descending=descending)

    @property
    def _ends(self) -> array[int]:
        """The number of the first edge to each spec."""
        ends = self._arrays.column("up_first")
        if len(ends) <= self._arrays.first[-1]:
            raise IndexDamaged("the edges are damaged")
        return ends


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


@class_reading_index
class ShownValues:
    """The values of the specs of a query, whatever their order; each is computed when needed.

    `named` are the columns that the query names: of those by host only these are summarised.
    """

    def __init__(
        self,
        specs: IdRanges,
        named: Collection[str],
        arrays: ColumnArrays,
        dictionaries: Dictionaries,
        by_host: ByHost,
    ) -> None:
        self.specs, self._named = specs, named
        self._arrays, self._dictionaries, self._by_host = arrays, dictionaries, by_host
        self._varying_of: dict[tuple[int, int], dict[str, int]] = {}

    def precompute(self) -> None:
        """Compute the summary now, in a worker thread; else it is computed when needed."""
        _ = self.constants, self.widths, self.varying_columns, self.varying_variants

    def all_values(self, column: str) -> Sequence[Value]:
        """Return the values that a column has in the whole index."""
        return self._dictionaries.values(column)

    @cached_property
    def _codes(self) -> dict[str, set[int]]:
        """The codes of the specs shown, for each dictionary of the table."""
        spans = list(self._arrays.spans(self.specs))
        storages = {BY_NAME[name].storage for name in FACETED}
        return {storage: self._arrays.distinct(storage, spans) for storage in storages}

    @cached_property
    def _host_values(self) -> dict[str, list[Value]]:
        """The values shown of the columns by host that the query names."""
        named = (c.name for c in COLUMNS if c.is_by_host and c.name in self._named)
        return {name: list(self._by_host.counts(name, self.specs, never)) for name in named}

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
        if not self.specs:
            return frozenset()
        bounds = self.specs[0], self.specs[-1]
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
            spans = self._arrays.spans(self.specs.within(*span))
            codes = self._arrays.distinct("variant_set", spans)
            self._varying_of[span] = _ranks(self._variants(codes))
        return self._varying_of[span]


def _ranks(variants: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    """Return the variants with several texts, by their rank."""
    varying = sorted(
        (name == "patches", max(texts.values()), name)
        for name, texts in variants.items()
        if len(texts) > 1
    )
    return {name: rank for rank, (_, _, name) in enumerate(varying)}


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
