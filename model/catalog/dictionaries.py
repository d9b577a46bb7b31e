"""The values of an index: what its codes mean, which match a term, hashes, sizes, packages."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, lru_cache, partial, reduce
from itertools import chain, islice
from operator import not_
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

from spackscope.model.catalog.arrays import ColumnArrays, IdRanges, gathered, grouped_by
from spackscope.model.core.bounded_cache import BoundedCache
from spackscope.model.core.columns import COLUMNS, FIELDS, STORED, Column, Value
from spackscope.model.core.records import HASH_LENGTH, NodeFacts, is_hash
from spackscope.model.core.text import cell_width
from spackscope.model.index.columns import (
    HASH_BYTES,
    Columns,
    Rows,
    pack_hashes,
    read_dictionary,
    union,
    unpack_hashes,
    with_tuples,
)
from spackscope.model.query.ast import Query, Term, exact_term
from spackscope.model.query.matchers import ANY

_HASH_PREFIX = re.compile(rf"[a-z2-7]{{0,{HASH_LENGTH}}}")
_SPARSE = 64
"""Times as many hashes as are needed that are read in one go rather than one by one."""


class _Entries(dict[int, tuple[Any, ...]]):
    """What codes mean, computed when it is first needed."""

    def __init__(self, compute: Callable[[int], tuple[Any, ...]]) -> None:
        self._compute = compute

    def __missing__(self, code: int) -> tuple[Any, ...]:
        entry = self[code] = self._compute(code)
        return entry


class Nodes(Sequence[NodeFacts]):
    """What nodes state beside the columns, by the codes of specs; few of many are read at once."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns

    @cached_property
    def _rows(self) -> Rows:
        return Rows(self._columns, "nodes", self._columns.json("meta")["nodes"])

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, code: Any) -> Any:
        return NodeFacts(*with_tuples(self._rows[code]))


class Dictionaries:
    """The values that codes mean; each dictionary is read when it is first needed.

    `record_values` has for each dictionary in `STORED` the values of the fields of `Spec` that a
    code means, and `widths` returns the cells that each value of a column takes. `nodes` has what
    nodes state beside the columns, by the codes of specs.
    """

    def __init__(self, columns: Columns, arrays: ColumnArrays) -> None:
        self._columns, self._arrays = columns, arrays
        self._values: dict[str, Sequence[Value]] = {}
        self.nodes: Sequence[NodeFacts] = Nodes(columns)
        self.record_values = [
            _Entries(partial(self._record_values, columns)) for columns in STORED.values()
        ]
        self.widths = lru_cache(None)(self._widths)
        self._texts_of_lists = lru_cache(None)(self._find_texts)
        self._masks: BoundedCache[tuple[str, str, str], bytes] = BoundedCache(len)

    def values(self, column: str) -> Sequence[Value]:
        """Return the values of a column, each at the index of its code."""
        if column not in self._values:
            stored = read_dictionary(self._columns, FIELDS[column].storage)
            self._values.update(stored)
            if column not in stored:
                names = [FIELDS[name].attribute for name in stored]
                entries = zip(*stored.values(), strict=True)
                self._values[column] = [
                    FIELDS[column].value(SimpleNamespace(**dict(zip(names, entry, strict=True))))
                    for entry in entries
                ]
        return self._values[column]

    def texts(self, column: str) -> Sequence[str]:
        """Return the values of a column whose values are single texts, as `values` does."""
        return cast(Sequence[str], self.values(column))

    def _record_values(self, columns: Sequence[Column], code: int) -> tuple[Any, ...]:
        values = [column.restore(self.values(column.name)[code]) for column in columns]
        return tuple(chain.from_iterable(values))

    @cached_property
    def _document_sources(self) -> Sequence[int]:
        return self._columns.numbers("documents.source")

    @cached_property
    def _origins(self) -> Rows:
        return Rows(self._columns, "documents", len(self._document_sources))

    @cached_property
    def _all_sources(self) -> Sequence[str]:
        return [row[0] for row in self._columns.json("sources")]

    def document(self, code: int) -> tuple[str, str]:
        """Return the origin and the source of a document, of which an index may have many."""
        return self._origins[code], self._all_sources[self._document_sources[code]]

    @cached_property
    def source_names(self) -> frozenset[str]:
        """The names of the sources that have records."""
        return frozenset(chain.from_iterable(cast(Sequence[Sequence[str]], self.values("source"))))

    @cached_property
    def lists_dependencies(self) -> bool:
        """Whether any document lists dependencies, and flags with them."""
        return bool(self._columns.json("meta")["lists_dependencies"])

    def mask(self, column: str, term: Term) -> bytes:
        """Return a byte for each look-alike: 1 if its value of a column matches a term.

        Negation is not looked at. Each *distinct* value is compared once. Masks are cached, since
        the next letter of a query hardly changes its other terms.
        """

        def match() -> bytes:
            flags, codes = self._fitting(column, term), self._arrays.column(FIELDS[column].storage)
            return gathered(flags, codes)

        return self._masks.get((column, term.column, term.pattern), match)

    def mask_of_any(self, term: Term) -> bytes:
        """Return the mask of the look-alikes that show a bare word in any column."""

        def match() -> bytes:
            # Columns that share a dictionary share the codes of look-alikes.
            flags: dict[str, bytes] = {}
            for column in COLUMNS:
                if column.has_dictionary:
                    fitting, storage = self._fitting(column.name, term), column.storage
                    flags[storage] = union(fitting, flags.get(storage, bytes(len(fitting))))
            masks = (
                gathered(fitting, self._arrays.column(storage))
                for storage, fitting in flags.items()
                if any(fitting)
            )
            return reduce(union, masks, bytes(self._arrays.count))

        return self._masks.get((ANY, ANY, term.pattern), match)

    def _fitting(self, column: str, term: Term) -> bytes:
        """Return a byte for each value of a column: 1 if it matches a term."""
        fits, values = term.matcher(column), self.values(column)
        if not FIELDS[column].is_list:
            return bytes(map(fits, values))
        lists = cast(Sequence[tuple[str, ...]], values)
        fitting = set(filter(fits, self._texts_of_lists(column)))
        return bytes(map(not_, map(fitting.isdisjoint, lists))) if fitting else bytes(len(lists))

    def _find_texts(self, column: str) -> frozenset[str]:
        """Return the distinct texts in the lists of a column, of which there are few."""
        return frozenset(chain.from_iterable(cast(Sequence[tuple[str, ...]], self.values(column))))

    def _widths(self, column: Column) -> Sequence[int]:
        return [cell_width(column.cell(value)) for value in self.values(column.name)]

    def ranks(self, column: Column) -> Sequence[int]:
        """Return the rank of each code in the order of a column's values."""
        values = self.values(column.name)
        if STORED[column.storage] == (column,):
            return range(len(values))
        keys = list(map(column.sort_key, values))
        rank_of = {key: rank for rank, key in enumerate(sorted(set(keys)))}
        return [rank_of[key] for key in keys]

    # Of each spec

    @property
    def spec_count(self) -> int:
        """The number of specs."""
        return self._columns.size("hash") // HASH_BYTES

    def hashes_of(self, ids: Sequence[int]) -> list[str]:
        """Return the hashes of specs."""
        if not ids:
            return []
        first, last = min(ids), max(ids)
        if last - first < _SPARSE * len(ids):
            data = self._hash_bytes(first, last + 1)
            offsets = [(id_ - first) * HASH_BYTES for id_ in ids]
            return unpack_hashes(b"".join([data[at : at + HASH_BYTES] for at in offsets]))
        return unpack_hashes(b"".join([self._hash_bytes(id_, id_ + 1) for id_ in ids]))

    def _hash_bytes(self, first: int, end: int) -> bytes:
        return self._columns.part("hash", first * HASH_BYTES, end * HASH_BYTES)

    @cached_property
    def _hash_order(self) -> array[int]:
        """The ids in the order of their hashes."""
        return self._columns.numbers("hash_order")

    def _place(self, hash_: bytes, start: int = 0) -> int:
        """Return the place in the order of the first hash that is not smaller."""
        order, stop = self._hash_order, len(self._hash_order)
        while start < stop:
            middle = (start + stop) // 2
            if self._hash_bytes(order[middle], order[middle] + 1) < hash_:
                start = middle + 1
            else:
                stop = middle
        return start

    def with_prefix(self, prefix: str) -> array[int]:
        """Return the ids of the specs whose hash has a prefix, in the order of their hashes."""
        if not _HASH_PREFIX.fullmatch(prefix):
            return array("I")
        if not prefix:
            return self._hash_order
        first = self._place(pack_hashes(prefix.ljust(HASH_LENGTH, "2")))
        last = pack_hashes(prefix.ljust(HASH_LENGTH, "z"))
        stop = self._place(last, first)
        while (
            stop < len(self._hash_order)
            and self._hash_bytes(self._hash_order[stop], self._hash_order[stop] + 1) == last
        ):
            stop += 1
        return self._hash_order[first:stop]

    def ids_of_hash(self, hash_: str) -> array[int]:
        """Return the ids of the specs with a full hash, ascending."""
        return self.with_prefix(hash_) if is_hash(hash_) else array("I")

    def has_hash(self, prefix: str) -> bool:
        """Check whether any hash has a prefix."""
        return bool(self.with_prefix(prefix))

    def hashes(self, prefix: str, *, limit: int) -> list[str]:
        """Return the first hashes with a prefix, in their order, each once."""
        hashes: dict[str, None] = {}
        ids = self.with_prefix(prefix)
        for start in range(0, len(ids), limit):
            hashes.update(dict.fromkeys(self.hashes_of(ids[start : start + limit])))
            if len(hashes) >= limit:
                break
        return list(islice(hashes, limit))

    @cached_property
    def _repeats(self) -> array[int]:
        """The places in the order of hashes whose hash is that of the place before."""
        return self._columns.ascending("hash_repeats")

    def repeated_hashes(self) -> Iterator[tuple[int, int]]:
        """Yield the ids with the hash of a smaller one: the first id with it, and each other.

        Those of a hash come together, and in their order.
        """
        order, first, before = self._hash_order, 0, -2
        for place in self._repeats:
            if place != before + 1:
                first = order[place - 1]
            before = place
            yield first, order[place]

    def by_hash(self, *, descending: bool) -> array[int]:
        """Return all ids by hash; equal ones by id."""
        if not descending:
            return self._hash_order
        order, count = self._hash_order[::-1], self.spec_count
        # Equal ones are now in the order from the last.
        runs: list[list[int]] = []
        for place in self._repeats:
            if runs and runs[-1][1] == place - 1:
                runs[-1][1] = place
            else:
                runs.append([place - 1, place])
        for start, end in runs:
            equal = slice(count - 1 - end, count - start)
            order[equal] = order[equal][::-1]
        return order

    @cached_property
    def sizes(self) -> array[float]:
        """The size of each spec in bytes, NaN if it is unknown."""
        return self._columns.numbers("size")

    def by_size(self, first: int, last: int, *, descending: bool) -> Iterator[int]:
        """Yield the ids from `first` to `last` by size, a missing one first; equal ones by id."""
        sizes = array("d", [s if s == s else -1 for s in self.sizes[first : last + 1]])
        # Sizes of one magnitude at a time: sorting all at once would stop all other threads.
        magnitudes = (int(size + 1).bit_length() for size in sizes)
        groups = grouped_by(magnitudes, range(len(sizes)))
        for magnitude in sorted(groups, reverse=descending):
            group: Sequence[int] = groups[magnitude]
            if magnitude:
                group = sorted(group, key=sizes.__getitem__, reverse=descending)
            yield from map(first.__add__, group)

    @cached_property
    def _has_sizes(self) -> bool:
        """Whether any size is known: pages may have none at all."""
        return any(size == size for size in self.sizes)

    def is_known(self, column: Column, first: int, last: int) -> bool:
        """Check whether any of the records from `first` to `last` has a value of its own."""
        if column.name != "size":
            return True
        return self._has_sizes and any(s == s for s in self.sizes[first : last + 1])


class PackageCount(NamedTuple):
    """A package with the number of its specs that match, and of all of them.

    `first` is the id of its first spec; the ids of the others follow.
    """

    id: int
    name: str
    shown: int
    total: int
    first: int

    @property
    def span(self) -> tuple[int, int]:
        """The id of its first spec, and the id after its last."""
        return self.first, self.first + self.total


class Packages:
    """The packages with a spec that is listed, in the order of their names."""

    def __init__(self, columns: Columns, dictionaries: Dictionaries) -> None:
        self._columns, self._dictionaries = columns, dictionaries

    @cached_property
    def all(self) -> list[PackageCount]:
        """The packages, each with the number of all its specs."""
        names = self._dictionaries.texts("package")
        firsts = self._columns.numbers("package.first")
        packages = zip(range(len(names)), names, self._counts, self._counts, firsts, strict=True)
        return [PackageCount(*package) for package in packages if package[3]]

    @cached_property
    def _counts(self) -> Sequence[int]:
        """The number of specs of each package, 0 for one that is not listed."""
        return self._columns.numbers("package.specs")

    @cached_property
    def total(self) -> int:
        """The number of all specs that are listed."""
        return sum(self._counts)

    @cached_property
    def _by_name(self) -> dict[str, PackageCount]:
        return {package.name: package for package in self.all}

    def selected(self, query: Query) -> PackageCount | None:
        """Return the package that a query names, with all its specs; None if it names none."""
        if (term := query.package_term) is None:
            return None
        if query.package is not None:
            return self._by_name.get(query.package)
        return next((p for p in self.all if exact_term("package", p.name) == term), None)

    def span_of(self, name: str) -> tuple[int, int]:
        """Return the ids of the specs of a package; none for one that is not listed."""
        package = self._by_name.get(name)
        return (0, 0) if package is None else package.span

    def counts(self, specs: IdRanges) -> list[PackageCount]:
        """Return the packages with some of the specs."""
        counts = ((package, specs.count(*package.span)) for package in self.all)
        return [package._replace(shown=shown) for package, shown in counts if shown]
