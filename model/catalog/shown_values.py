"""Summarise the values of some specs: which all have in common, which vary, how wide they are."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import cast

from spackscope.model.catalog.arrays import ColumnArrays
from spackscope.model.catalog.by_host import ByHost
from spackscope.model.catalog.dictionaries import Dictionaries
from spackscope.model.catalog.id_ranges import IdRanges
from spackscope.model.core.column import Value
from spackscope.model.core.columns import BY_NAME, COLUMNS, FACETED
from spackscope.model.core.progress import never
from spackscope.model.core.text import cell_width
from spackscope.model.core.variants import split_variant, variant_key
from spackscope.model.index.damage import class_reading_index


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
