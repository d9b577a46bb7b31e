"""Find what the sources of a catalog offer: what is cached or installed, and where."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import cached_property
from typing import NamedTuple

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.core.records import is_hash
from spackscope.model.index.damage import class_reading_index, natural
from spackscope.model.query.ast import Query

_WINDOW = 512
_LOCK = ".lock"
"""How the names of lock files end."""


def environments(catalog: Catalog) -> list[str]:
    """Return the names of the sources that are environments: what they list is not there."""
    return [
        source.name
        for source in catalog.sources
        if source.kind == "environment" or (source.kind == "file" and source.name.endswith(_LOCK))
    ]


class Location(NamedTuple):
    """The sources that list a spec, and whether a build cache or an install tree has it."""

    sources: tuple[str, ...] = ()
    is_cached: bool = False
    is_installed: bool = False

    @property
    def is_available(self) -> bool:
        """Whether it need not be built."""
        return self.is_cached or self.is_installed


NOWHERE = Location()


@class_reading_index
class Availability:
    """What the sources of a catalog offer, `besides` some of them that do not count.

    Environments offer nothing, and an index does not offer what it only records as a dependency.
    """

    def __init__(self, catalog: Catalog, besides: Collection[str] = ()) -> None:
        self._catalog = catalog
        self._besides = frozenset((*besides, *environments(catalog)))

    @cached_property
    def _locations(self) -> list[Location]:
        """The location that each code of the dictionary `presence` stands for."""
        states = self._catalog.dictionaries.values("state")
        sources = self._catalog.dictionaries.values("source")
        return [
            self._location(*entry)  # type: ignore[arg-type]
            for entry in zip(states, sources, strict=True)
        ]

    def _location(self, states: tuple[str, ...], sources: tuple[str, ...]) -> Location:
        counted = tuple(source for source in sources if source not in self._besides)
        return Location(counted, "cached" in states, "installed" in states) if counted else NOWHERE

    def locations(self, hashes: Iterable[str]) -> dict[str, Location]:
        """Return where some hashes are, of those that a source lists."""
        locations: dict[str, Location] = {}
        codes = self._catalog.column_arrays.column("presence")
        wanted = [hash_ for hash_ in dict.fromkeys(hashes) if is_hash(hash_)]
        for start in range(0, len(wanted), _WINDOW):
            # Checked hashes are no text that could end the statement.
            among = "','".join(wanted[start : start + _WINDOW])
            for hash_, look_alike in self._catalog.database.execute(
                f"SELECT hash, look_alike FROM spec WHERE hash IN ('{among}') ORDER BY id"
            ):
                location = self._locations[codes[natural(look_alike, len(codes) - 1)]]
                if location.sources:
                    locations[hash_] = _joined(locations.get(hash_, NOWHERE), location)
        return locations

    def candidates(self, package: str) -> list[int]:
        """Return the ids of all specs of a package that are cached or installed, not external."""
        selected = self._catalog.selected_package(Query().with_package(package))
        if selected is None:
            return []
        arrays, nodes = self._catalog.column_arrays, self._catalog.dictionaries.nodes
        codes, node_codes = arrays.column("presence"), arrays.column("node")
        start, stop = selected.span
        first, last = arrays.look_alike(start), arrays.look_alike(stop - 1)
        return [
            id_
            for look_alike in range(first, last + 1)
            if self._locations[codes[look_alike]].is_available
            for id_ in range(*arrays.specs(look_alike))
            if start <= id_ < stop and not nodes[node_codes[id_]].external
        ]


def _joined(location: Location, other: Location) -> Location:
    if location.is_available != other.is_available:
        return location if location.is_available else other
    return Location(
        tuple(dict.fromkeys((*location.sources, *other.sources))),
        location.is_cached or other.is_cached,
        location.is_installed or other.is_installed,
    )
