"""Order look-alikes by what is likely wanted: the newest, what runs here, the most used."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, cast

from spackscope.model.catalog.arrays import ColumnArrays
from spackscope.model.catalog.by_host import ByHost
from spackscope.model.catalog.dictionaries import Dictionaries
from spackscope.model.core.columns import BY_NAME
from spackscope.model.core.errors import IndexDamaged
from spackscope.model.core.progress import never
from spackscope.model.core.variants import split_variant, variant_key
from spackscope.model.index.codec import is_ascending

USED_BY = "used by"
"""The column of how many specs depend on those of a row, which no record states."""

_RANKS_OF_FITS = {True: 0, None: 1, False: 2}


class RowOrder:
    """The order of all look-alikes of an index, computed once and kept.

    Packages are in the order of their names. Among the specs of one the newest version comes
    first; then, with `by_host`, what runs on the host; then what most specs depend on.
    """

    def __init__(self, arrays: ColumnArrays, dictionaries: Dictionaries, by_host: ByHost) -> None:
        self._arrays, self._dictionaries, self._by_host = arrays, dictionaries, by_host
        self.ranks = lru_cache(2)(self._ranks)

    def _ranks(self, *, by_host: bool) -> Sequence[int]:
        """Return the rank of each look-alike, by its number. Raises IndexDamaged."""
        version_ranks = self._dictionaries.ranks(BY_NAME["version"])
        packages, versions = self._arrays.column("package"), self._arrays.column("version")
        fits = self._fits() if by_host else bytes(len(packages))
        uses = self.uses

        def key(number: int) -> tuple[int, ...]:
            version = version_ranks[versions[number]]
            return packages[number], -version, fits[number], -uses[number], number

        ranks = array("I", bytes(4 * len(packages)))
        for rank, number in enumerate(sorted(range(len(packages)), key=key)):
            ranks[number] = rank
        return ranks

    def sort_key(self, column: str) -> Callable[[int], Any]:
        """Return the key by which look-alikes are sorted, of their numbers. Raises IndexDamaged.

        `column` has a dictionary, is a variant as `+x`, or USED_BY.
        """
        if column == USED_BY:
            return self.uses.__getitem__
        if column[:1] == "+":
            return self._by_code("variant_set", self._variant_keys(column[1:]))
        return self._by_code(BY_NAME[column].storage, self._dictionaries.ranks(BY_NAME[column]))

    def _by_code(self, storage: str, keys: Sequence[Any]) -> Callable[[int], Any]:
        codes = self._arrays.column(storage)
        return lambda number: keys[codes[number]]

    def _variant_keys(self, name: str) -> Sequence[tuple[bool, str]]:
        """Return for each set of variants the key of one of them; sets without it come last."""
        sets = cast(Sequence[tuple[str, ...]], self._dictionaries.values("variants"))
        texts = (next((t for t in set_ if split_variant(t)[0] == name), "") for set_ in sets)
        return [(not text, variant_key(text)) for text in texts]

    def uses_of(self, ids: Sequence[int]) -> Sequence[int]:
        """Return how many specs depend on each of some specs. Raises IndexDamaged."""
        ends = self._ends
        return [ends[id_ + 1] - ends[id_] for id_ in ids]

    @property
    def uses(self) -> Sequence[int]:
        """How many specs depend on the specs of each look-alike. Raises IndexDamaged."""
        ends = self._ends
        return [ends[stop] - ends[start] for start, stop in pairwise(self._arrays.first)]

    @property
    def _ends(self) -> Sequence[int]:
        """The number of the first edge to each spec."""
        ends = self._arrays.column("up_first")
        if len(ends) <= self._arrays.first[-1] or not is_ascending(ends):
            raise IndexDamaged("the edges are damaged")
        return ends

    def _fits(self) -> Sequence[int]:
        """Return for each look-alike whether one of its specs runs on the host, the best first."""
        if not self._by_host.is_connected:
            return bytes(len(self._arrays.first) - 1)
        codes = self._by_host.answers.codes(never)
        ranks = [_RANKS_OF_FITS[fit.fits] for fit in self._by_host.answers.fits()]
        return [
            min(ranks[code] for code in codes[start:stop])
            for start, stop in pairwise(self._arrays.first)
        ]
