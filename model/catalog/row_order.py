"""Order look-alikes: as they are likely wanted, or by a column."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import groupby, pairwise
from operator import sub
from typing import Any, cast

from spackscope.model.catalog.arrays import ColumnArrays, Span, sorted_by
from spackscope.model.catalog.by_host import ByHost
from spackscope.model.catalog.dictionaries import Dictionaries
from spackscope.model.core.columns import BY_NAME
from spackscope.model.core.errors import IndexDamaged
from spackscope.model.core.progress import never
from spackscope.model.core.variants import split_variant, variant_key

USED_BY = "used by"
"""The column of how many specs depend on those of a row, which no record states."""

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
