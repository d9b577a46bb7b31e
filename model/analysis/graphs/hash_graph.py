"""A graph of bare hashes, such as those on standard input."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from spackscope.model.analysis.graphs.graph import Attributes
from spackscope.model.catalog.dependency_graph import Edge
from spackscope.model.catalog.edge_arrays import EdgeKind


class HashGraph:
    """Hashes that no document describes, by their place in the list: see `Graph`.

    Joined with another graph they are what that describes.
    """

    count = 0

    def __init__(self, hashes: Sequence[str]) -> None:
        self._hashes = hashes
        self._ids = {hash_: id_ for id_, hash_ in reversed([*enumerate(hashes)])}

    def is_described(self, _: int) -> bool:
        """Return False."""
        return False

    def lists_dependencies(self, _: int) -> bool:
        """Return False."""
        return False

    def name(self, _: int) -> str:
        """Return an empty text: the package is unknown."""
        return ""

    def identity(self, id_: int) -> int:
        """Return the first id with the same hash."""
        return self._ids[self._hashes[id_]]

    def hashes(self, ids: Iterable[int]) -> list[str]:
        """Return the hash of each id, in their order."""
        return [self._hashes[id_] for id_ in ids]

    def find(self, hashes: Iterable[str]) -> dict[str, int]:
        """Return the first id of each of some hashes, of those that are there."""
        return {hash_: self._ids[hash_] for hash_ in hashes if hash_ in self._ids}

    def build_spec(self, _: int) -> str:
        """Return an empty text: it is unknown."""
        return ""

    def edges(self, _: int) -> Sequence[Edge]:
        """Return no edges."""
        return ()

    def links(self, _: int) -> Iterable[tuple[int, EdgeKind]]:
        """Return no links."""
        return ()

    def configuration(self, id_: int) -> int:
        """Return a number that no other hash has."""
        return -1 - self.identity(id_)

    def attributes(self, _: int) -> Attributes:
        """Return no attributes."""
        return Attributes("")
