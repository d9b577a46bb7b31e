"""Order look-alikes by what is likely wanted: the newest, what runs here, the most used."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from spackscope.model.catalog.arrays import ColumnArrays
from spackscope.model.catalog.by_host import ByHost
from spackscope.model.catalog.dictionaries import Dictionaries
from spackscope.model.core.columns import BY_NAME
from spackscope.model.core.errors import IndexDamaged
from spackscope.model.core.progress import never
from spackscope.model.index.codec import is_ascending

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

    @property
    def uses(self) -> Sequence[int]:
        """How many specs depend on the specs of each look-alike. Raises IndexDamaged."""
        first, ends = self._arrays.first, self._arrays.column("up_first")
        if len(ends) <= first[-1] or not is_ascending(ends):
            raise IndexDamaged("the edges are damaged")
        return [ends[stop] - ends[start] for start, stop in pairwise(first)]

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
