"""What stands in title lines: pure functions of what is shown."""

from __future__ import annotations

from collections.abc import Collection

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.listing import Listing
from spackscope.model.core.cells import (
    brief_place,
    cell,
)
from spackscope.model.core.columns import BY_NAME, COLUMNS
from spackscope.model.core.text import clean, shorten
from spackscope.model.query.ast import Query
from spackscope.model.sources.resolve import STANDARD_INPUT

_WHERE = 40
"""Cells for the names of sources that stand in a line with other things."""

_LEAST_NAME = 18


def catalog_title(catalog: Catalog) -> tuple[str, str]:
    """Say where the records come from, and how many there are."""
    names = [
        source.kind if source.name == STANDARD_INPUT else clean(source.name)
        for source in catalog.sources
    ]
    room = max(_LEAST_NAME, (_WHERE - 2 * len(names) + 2) // max(1, len(names)))
    sources = [brief_place(name, room) for name in names]
    tags = [clean(tag) for tag in catalog.dictionaries.tags if tag]
    where = ", ".join(sources[:3]) + (f" and {len(sources) - 3} more" if len(sources) > 3 else "")
    if tags:
        where += f" · {tags[0] if len(tags) == 1 else f'{len(tags):,} tags'}"
    # Packages that are there for others only are not in the list of packages.
    packages = len(catalog.packages(Query()))
    return where, f"{counted(catalog.total, 'spec')} · {counted(packages, 'package')}"


def counted(count: int, thing: str) -> str:
    """Spell a number of things."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def specs_title(listing: Listing, placed: Collection[str], total: int, marked: int) -> str:
    """Say how many specs are shown of how many, and what is the same in all of them."""
    of_all = "" if listing.shown == total else f" of {total:,}"
    parts = [f"specs {listing.shown:,}{of_all}"]
    if listing.counts is not None:
        parts.append(counted(len(listing), "row"))
    for column in COLUMNS:
        name = column.name
        if name in placed or name not in listing.constants or name == "variants":
            continue
        # A tag or source that all records of the catalog share stands in the top line already, and
        # that all are in a cache is what everybody expects where nothing is installed.
        values = set(listing.all_values(name))
        if name == "state":
            values -= {(), ("explicit",), ("needed",)}
        if name not in ("tag", "source", "state") or len(values) > 1:
            parts.append(cell_of(name, listing))
    if marked:
        parts.append(f"{marked:,} marked")
    return " · ".join(part for part in parts if part)


def cell_of(name: str, listing: Listing) -> str:
    """Spell the one value that a column has in all rows."""
    value = listing.constants[name]
    if name == "source" and isinstance(value, tuple):
        places = [clean(place) for place in value]
        return brief_place(places[0], 24) if len(places) == 1 else f"in {len(places):,} sources"
    return shorten(cell(BY_NAME[name], value), 24)


def position(row: int, length: int) -> str:
    """Say which row of how many the cursor is on."""
    return f"{row + 1:,}/{length:,}" if length else ""
