"""Find the specs in a catalog that the user has marked by their hashes."""

from __future__ import annotations

from collections.abc import Iterable

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.listing import Listing
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.text import clean


class MarkedSpec(Frozen):
    """A marked spec: it has several ids if several documents have a record of it."""

    hash: str
    title: str
    ids: tuple[int, ...]
    look_alikes: frozenset[int]

    def is_in(self, listing: Listing | None) -> bool:
        """Check whether it is among the rows, or in a folded one."""
        return listing is not None and any(map(listing.shows, self.ids))


def read_marked(catalog: Catalog, hashes: Iterable[str]) -> tuple[MarkedSpec, ...]:
    """Read the marked specs that a catalog has. Raises IndexDamaged."""
    marked = []
    for hash_ in hashes:
        if rows := catalog.by_hash(hash_):
            spec = rows[0].spec
            title = clean(f"{spec.package}@{spec.version}" if spec.version else spec.package)
            look_alikes = frozenset(row.look_alike for row in rows)
            marked.append(MarkedSpec(hash_, title, tuple(row.id for row in rows), look_alikes))
    return tuple(marked)
