"""A view: its query and its order; the rows in this order, and a summary of their values."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from enum import IntEnum
from functools import cached_property, lru_cache, partial
from itertools import chain, compress, groupby, islice, pairwise
from typing import Any, cast

from spackscope.model.core.columns import (
    BY_NAME,
    COLUMNS,
    FIELDS,
    STORED,
    WITH_DICTIONARY,
    Column,
    Value,
)
from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.core.records import short_digests, split_variant, variant_key
from spackscope.model.core.text import cell_width
from spackscope.model.index.evaluate import Matches
from spackscope.model.index.index_file import mask_of, sorted_by
from spackscope.model.index.rows import IndexData
from spackscope.model.query.ast import Query

USED_BY = "used by"
"""The column with the number of dependents of a row, which no record states."""


class Sort(Frozen):
    """The column by which rows are ordered, and the direction."""

    column: str
    descending: bool = False


class View(Frozen):
    """The query and the settings that decide which rows are shown, and how.

    Rows that are not sorted by a column are in the order of ids: by name, version and all other
    columns. With `best_first` the newest version of each package comes first, and in a version
    specs that run on the host, if it is known, and then those with the most dependents.

    `opened` has the look-alikes that are shown row by row although the others are `folded`;
    `opened_kinds` has one spec of each of their kinds that is shown row by row.
    """

    query: Query = Query()
    sort: Sort | None = None
    best_first: bool = False
    folded: bool = False
    opened: frozenset[int] = frozenset()
    opened_kinds: frozenset[int] = frozenset()

    def closed(self) -> View:
        """Return the view with all groups closed."""
        return replace(self, opened=frozenset(), opened_kinds=frozenset())


Partition = Callable[[Sequence[int]], Sequence[Sequence[int]]]
"""Partitions look-alikes into run-time kinds, the best spec of each first; empty if unknown."""


class RowRole(IntEnum):
    """The role of a row: by default it stands for one spec, or for folded look-alikes."""

    SPEC = 0
    GROUP = 1
    """The head of opened look-alikes."""
    KIND = 2
    """The specs of one kind, folded if there are several."""
    OPEN_KIND = 3
    """The head of the specs of one kind."""
    MEMBER = 4
    """One spec of an opened group or kind."""


_SPLITTING = ("package", "version", "compiler", "target")
"""The columns that decide the values of other columns; see `followers`."""
_MOST_SPLIT = 2_000


def ordered_ids(data: IndexData, view: View, specs: Matches) -> Sequence[int]:
    """Return the ids of the rows of a view; for folded look-alikes the first shown spec.

    Rows are ordered look-alike by look-alike, except by a column in which look-alikes differ.
    """
    sort = view.sort
    column = BY_NAME.get(sort.column) if sort is not None else None
    if sort is not None and column is not None and not column.has_dictionary:
        if not view.folded:
            return _sorted_by_own(data, column, specs.ids(), descending=sort.descending)
        # Each row is at the place of the spec that it shows.
        rows = specs.ids_of(specs.numbers, folded=True)
        members = (specs.alike(data.look_alike(id_)) for id_ in rows)
        row_of = dict(zip(best_ids(data, view, members), rows, strict=True))
        best = _sorted_by_own(data, column, array("I", row_of), descending=sort.descending)
        return array("I", map(row_of.__getitem__, best))
    look_alikes: Iterable[int] = specs.numbers
    if view.best_first:
        # Each package has the same places in all orders.
        is_shown = bytes(specs.start) + specs.mask
        span = specs.start, len(is_shown)
        places = data.column("preferred")[slice(*span)]
        if data.by_host.has_host and _has_choice(data, specs):
            places = data.by_host.preferred(span, partial(_preferred_here, data, *span))
        look_alikes = compress(places, map(is_shown.__getitem__, places))
    elif sort is None and not view.folded:
        return specs.ids()
    if sort is not None:
        numbers = array("I", look_alikes)
        keys = _keys(data, sort.column, numbers)
        look_alikes = sorted_by(keys, numbers, descending=sort.descending)
    rows = specs.ids_of(look_alikes, folded=view.folded)
    if sort is not None and sort.column == USED_BY and not view.folded:
        return sorted_by(
            users_of(data, ((id_, id_ + 1) for id_ in rows)), rows, descending=sort.descending
        )
    return rows


def _sorted_by_own(
    data: IndexData, column: Column, ids: Sequence[int], *, descending: bool
) -> array[int]:
    """Return ids sorted by a column in which look-alikes differ."""
    if column.is_by_host:
        return data.by_host.ordered(column, ids, descending=descending)
    if column.name == "hash":
        is_row = mask_of(ids, data.first[-1])
        all_ids = data.hashes.ordered(descending=descending)
        return array("I", [id_ for id_ in all_ids if is_row[id_]])

    def size(id_: int) -> float:
        # A missing size comes first.
        known = data.sizes[id_]
        return known if known == known else -1

    return array("I", sorted(ids, key=size, reverse=descending))


def best_ids(data: IndexData, view: View, groups: Iterable[Sequence[int]]) -> list[int]:
    """Return the spec that one would take of each of some groups of look-alikes.

    It runs on the host, if the order of the view asks that; then it is used most, or else it has
    the first hash, which is that of the first id. All look-alikes are cached or none.
    """
    is_here = view.best_first and data.by_host.has_host

    @lru_cache(1)
    def ranks_and_edges() -> tuple[bytes, Sequence[int]]:
        # The host is looked at only where it decides, and both only for groups of several.
        ranks = data.by_host.answers.ranks if is_here else bytes(data.first[-1])
        return ranks, data.column("up_first")

    def order(id_: int) -> tuple[int, int, int]:
        ranks, first_edge = ranks_and_edges()
        return ranks[id_], first_edge[id_] - first_edge[id_ + 1], id_

    return [ids[0] if len(ids) == 1 else min(ids, key=order) for ids in groups]


def _has_choice(data: IndexData, specs: Matches) -> bool:
    """Check whether several look-alikes have one version; looking at the host takes long."""
    packages, versions = map(data.column, ("package", "version"))
    pairs = pairwise(specs.numbers)
    return any(packages[a] == packages[b] and versions[a] == versions[b] for a, b in pairs)


def _preferred_here(data: IndexData, start: int, end: int, ranks: bytes) -> array[int]:
    """Return listed look-alikes in the order `preferred`, but in a version those that run first.

    The look-alikes are those of whole packages, from number `start` to less than `end`. `ranks`
    has a byte for each spec; the spec of a look-alike that runs best decides.
    """
    specs = map(slice, data.first[start:end], data.first[start + 1 : end + 1])
    best = bytes(map(min, map(ranks.__getitem__, specs)))
    packages, codes = (data.column(name)[start:end] for name in ("package", "version"))
    listed = data.column("preferred")[start : min(end, data.look_alike(data.total))]
    # In this order the look-alikes of a version are adjacent.
    of_versions = groupby(listed, lambda number: (packages[number - start], codes[number - start]))
    ordered = (sorted(group, key=lambda number: best[number - start]) for _, group in of_versions)
    return array("I", chain.from_iterable(ordered))


def _keys(data: IndexData, column: str, look_alikes: Sequence[int]) -> Iterable[Any]:
    """Return the sort key of each look-alike, by a column with codes, or by a variant `+x`."""
    if column == USED_BY:
        return users_of(data, map(data.span, look_alikes))
    keys: Sequence[Any]
    if column[:1] == "+":
        storage, name = "variant_set", column[1:]
        sets = cast(Sequence[tuple[str, ...]], data.values("variants"))
        texts = (next((t for t in set_ if split_variant(t)[0] == name), "") for set_ in sets)
        # Sets without the variant come last.
        keys = [(not text, variant_key(text)) for text in texts]
    else:
        storage, keys = BY_NAME[column].storage, _ranks_of(data, BY_NAME[column])
    codes = data.column(storage)
    return (keys[codes[number]] for number in look_alikes)


def _ranks_of(data: IndexData, column: Column) -> Sequence[int]:
    """Return the rank of each code in the order of a column; equal values have one rank."""
    values = data.values(column.name)
    if STORED[column.storage] == (column,):
        return range(len(values))
    keys = list(map(column.sort_key, values))
    rank_of = {key: rank for rank, key in enumerate(sorted(set(keys)))}
    return [rank_of[key] for key in keys]


def users_of(data: IndexData, spans: Iterable[tuple[int, int]]) -> Iterator[int]:
    """Return the number of edges to the specs of each span."""
    first_edge = data.column("up_first")
    return (first_edge[end] - first_edge[start] for start, end in spans)


@lru_cache(8192)
def _variants_width(variants: tuple[str, ...]) -> int:
    return cell_width(" ".join(map(short_digests, variants)))


class ShownValues:
    """A summary of the values of a query's specs, in any order; parts are computed when needed.

    `named` are the host columns that the query names: the others are not summarised.
    """

    def __init__(
        self,
        data: IndexData,
        specs: Matches,
        named: Collection[str],
    ) -> None:
        self.specs, self.named = specs, named
        self._data, self._by_host = data, data.by_host
        self._of_package: dict[int, ShownValues] = {}

    def precompute(self) -> None:
        """Compute the summary now, in a worker thread; else it is computed when needed."""
        _ = (
            self.constants,
            self.widths,
            self.varying_columns,
            self.varying_variants,
            self.followers,
        )

    def all_values(self, column: str) -> Sequence[Value]:
        """Return the values that a column has in the whole index."""
        return self._data.values(column)

    @cached_property
    def _codes(self) -> dict[str, set[int]]:
        """The codes of the shown specs, for each dictionary of the table."""
        storages = {BY_NAME[name].storage for name in WITH_DICTIONARY}
        return {storage: set(self.specs.codes(self._data.column(storage))) for storage in storages}

    @cached_property
    def _host_values(self) -> dict[str, list[Value]]:
        """The shown values of the host columns that the query names."""
        named = (column.name for column in COLUMNS if column.name in self.named)
        return {name: list(self._by_host.counts(name, self.specs.ids())) for name in named}

    def shown_values(self, column: str) -> Iterator[Value]:
        """Return the shown values of a column; equal values may have several codes."""
        if column in self._host_values:
            return iter(self._host_values[column])
        values = self._data.values(column)
        return (values[code] for code in self._codes[BY_NAME[column].storage])

    @cached_property
    def constants(self) -> dict[str, Value]:
        """The columns with the same value in all rows, each with this value."""
        constants: dict[str, Value] = {}
        for name in (*WITH_DICTIONARY, *self._host_values):
            values = self.shown_values(name)
            first = next(values, None)
            if first is not None and all(value == first for value in values):
                constants[name] = first
        return constants

    @cached_property
    def varying_columns(self) -> frozenset[str]:
        """The columns with several values, and `hash` and `size` if any is known."""
        if not self.specs:
            return frozenset()
        known, sizes = {"hash"}, self._data.sizes
        # Pages may have no sizes at all.
        spans = self.specs.spans() if self._data.cached(_has_sizes) else ()
        if any(size == size for start, stop in spans for size in sizes[start:stop]):
            known.add("size")
        return frozenset((*WITH_DICTIONARY, *self._host_values)).difference(self.constants) | known

    @cached_property
    def widths(self) -> dict[str, int]:
        """The width in cells of the widest shown value of each column."""
        widths = {column.name: column.width for column in COLUMNS}
        for column in COLUMNS:
            cells: Iterable[int]
            if column.has_dictionary:
                all_widths = self._data.cached(_widths)[column.name]
                cells = map(all_widths.__getitem__, self._codes[column.storage])
            elif column.name in self._host_values:
                cells = (cell_width(column.cell(v)) for v in self._host_values[column.name])
            else:
                continue
            widths[column.name] = max(cells, default=0)
        return widths

    @cached_property
    def longest_variants(self) -> int:
        """The cells of the longest list of variants, as the detail shows them."""
        sets = cast(Sequence[tuple[str, ...]], self._data.values("variants"))
        return max((_variants_width(sets[code]) for code in self._codes["variant_set"]), default=0)

    @cached_property
    def variants(self) -> Mapping[str, Mapping[str, int]]:
        """Each variant of the rows with its texts, and the number of variant sets with each text.

        An empty text stands for the sets without the variant.
        """
        codes = self._codes["variant_set"]
        keys_of = self._data.cached(_variant_keys)
        counts = Counter(chain.from_iterable(map(keys_of, codes)))
        by_name: dict[str, dict[str, int]] = defaultdict(dict)
        for text, count in counts.items():
            by_name[split_variant(text)[0]][text] = count
        for texts in by_name.values():
            if missing := len(codes) - sum(texts.values()):
                texts[""] = missing
        return by_name

    @cached_property
    def varying_variants(self) -> dict[str, int]:
        """The rank of each variant whose values differ among the rows, or that some rows lack.

        The variant that splits the rows most evenly has rank 0; patches come last.
        """
        varying = sorted(
            (name == "patches", max(texts.values()), name)
            for name, texts in self.variants.items()
            if len(texts) > 1
        )
        return {name: rank for rank, (_, _, name) in enumerate(varying)}

    def of_package(self, look_alike: int) -> ShownValues:
        """Return the summary of the shown specs of a look-alike's package only.

        Among several packages nearly all variants vary, since some packages lack them.
        """
        code = self._data.column("package")[look_alike]
        if code not in self._of_package:
            first = self._data.column("package.first")[code]
            end = first + self._data.column("package.specs")[code]
            specs = self.specs.within(first, end)
            self._of_package[code] = ShownValues(self._data, specs, self.named)
        return self._of_package[code]

    def column_values(self, column: str, look_alikes: Iterable[int]) -> list[Value]:
        """Return the values of a column with a dictionary for some look-alikes."""
        values, codes = self._data.values(column), self._data.column(FIELDS[column].storage)
        return [values[codes[number]] for number in look_alikes]

    @cached_property
    def followers(self) -> frozenset[str]:
        """The columns whose values follow from package, version, compiler and target.

        The os is such a column if each compiler has only one os. Only the first rows are checked.
        """
        numbers = list(islice(self.specs.numbers, _MOST_SPLIT))
        known = [self.column_values(name, numbers) for name in _SPLITTING]
        parts, followers = set(zip(*known, strict=True)), []
        for name in WITH_DICTIONARY:
            if name not in (*_SPLITTING, "variants") and name in self.varying_columns:
                columns = [*known, self.column_values(name, numbers)]
                more = set(zip(*columns, strict=True))
                if len(more) == len(parts):
                    followers.append(name)
                else:
                    known, parts = columns, more
        return frozenset(followers)


def _variant_keys(data: IndexData) -> Callable[[int], tuple[str, ...]]:
    """Return a function that finds the keys of a set of variants by its code, once for each."""
    sets = cast(Sequence[tuple[str, ...]], data.values("variants"))

    @lru_cache(None)
    def keys_of(code: int) -> tuple[str, ...]:
        keys = tuple(dict.fromkeys(map(variant_key, sets[code])))
        # Most variants are their own keys: the index has this tuple already.
        return sets[code] if keys == sets[code] else keys

    return keys_of


def _has_sizes(data: IndexData) -> bool:
    return any(size == size for size in data.sizes)


def _widths(data: IndexData) -> dict[str, list[int]]:
    """Return the width in cells of each value of each column with a dictionary."""
    return {
        column.name: [cell_width(column.cell(value)) for value in data.values(column.name)]
        for column in COLUMNS
        if column.has_dictionary
    }
