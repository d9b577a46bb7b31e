"""Count the records of a query by one or two axes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, product, repeat

from spackscope.model.analysis.axes import Axis
from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.facets import Facet
from spackscope.model.catalog.id_ranges import IdRanges
from spackscope.model.core.errors import Cancelled
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.tasks import ShouldStop, never
from spackscope.model.index.damage import reads_index
from spackscope.model.query.ast import Query

_STEP = 4096
"""Look-alikes after which a count looks whether it is to stop."""

Values = tuple[tuple[str, ...], ...]
"""The values of a record: of each axis all that it has there."""


class Frequency(Frozen):
    """How many records have which values of some axes.

    `groups` are the records with the same values of all axes, with their number. A record counts
    at each value of a list, so that counts may add up to more than `total`, never a total.
    """

    axes: tuple[Axis, ...]
    total: int
    groups: tuple[tuple[Values, int], ...]

    @cached_property
    def facets(self) -> tuple[tuple[Facet, ...], ...]:
        """The values of each axis, the most frequent first, then in their order."""
        return tuple(self._facets(number, axis) for number, axis in enumerate(self.axes))

    def _facets(self, number: int, axis: Axis) -> tuple[Facet, ...]:
        counts: Counter[str] = Counter()
        for values, count in self.groups:
            for value in values[number]:
                counts[value] += count
        ordered = sorted(counts, key=lambda value: (-counts[value], axis.sort_key(value)))
        return tuple(Facet(value, counts[value]) for value in ordered)

    @cached_property
    def cells(self) -> dict[tuple[str, ...], int]:
        """The number of records with one value of each axis, where there are any."""
        cells: Counter[tuple[str, ...]] = Counter()
        for values, count in self.groups:
            for cell in product(*values):
                cells[cell] += count
        return dict(cells)

    def ordered_cells(self) -> Iterator[tuple[tuple[str, ...], int]]:
        """Yield the cells, the most frequent first, then in the order of the values."""
        keys = [axis.sort_key for axis in self.axes]

        def order(cell: tuple[str, ...]) -> tuple[object, ...]:
            values = (key(value) for key, value in zip(keys, cell, strict=True))
            return -self.cells[cell], *values

        return ((cell, self.cells[cell]) for cell in sorted(self.cells, key=order))

    def rest(self, columns: Collection[str]) -> dict[str, int]:
        """Return for each value of the first axis how many have a second one not in `columns`.

        A record that has several of them counts once.
        """
        rest: Counter[str] = Counter()
        for (first, second), count in self.groups:
            if not set(second).issubset(columns):
                rest.update(dict.fromkeys(first, count))
        return dict(rest)


@reads_index
def frequency(
    catalog: Catalog, query: Query, axes: Sequence[Axis], *, should_stop: ShouldStop = never
) -> Frequency:
    """Count the matching records by some axes; records are not read.

    Raises Cancelled and Unanswerable.

    Example: `frequency(catalog, parse("hdf5"), [find_axis(catalog, "mpi")]).facets[0]` has the
    facets of `+mpi` and `~mpi`.
    """
    specs = catalog.match(query, should_stop=should_stop)
    groups: Counter[Values] = Counter()
    for codes, count in _count_codes(catalog, specs, axes, should_stop).items():
        groups[tuple(axis.values[code] for axis, code in zip(axes, codes, strict=True))] += count
    return Frequency(tuple(axes), len(specs), tuple(groups.items()))


def _count_codes(
    catalog: Catalog, specs: IdRanges, axes: Sequence[Axis], should_stop: ShouldStop
) -> Mapping[tuple[int, ...], int]:
    arrays, counts = catalog.column_arrays, defaultdict[tuple[int, ...], int](int)
    sizes = arrays.sizes(specs)
    has_records = any(axis.by_record for axis in axes)

    def codes_of(axis: Axis) -> Iterable[int]:
        """Return the codes of all records, or without `has_records` of their look-alikes."""
        if axis.by_record:
            spans = specs.pairs()
            return chain.from_iterable(axis.codes[start:stop] for start, stop in spans)
        codes = arrays.codes_of(axis.codes, specs)
        return chain.from_iterable(map(repeat, codes, sizes)) if has_records else codes

    all_codes = zip(*map(codes_of, axes), strict=True)
    # Without strict, since `repeat` never ends.
    counted = zip(all_codes, repeat(1) if has_records else sizes, strict=False)
    for number, (codes, count) in enumerate(counted):
        if number % _STEP == 0 and should_stop():
            raise Cancelled
        counts[codes] += count
    return counts
