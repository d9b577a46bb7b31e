"""What stands in title lines: pure functions of what is shown."""

from __future__ import annotations

from collections.abc import Collection

from spackscope.model.catalog import Catalog
from spackscope.model.columns import BY_NAME, COLUMNS
from spackscope.model.listing import Listing
from spackscope.model.present import cell
from spackscope.model.text import clean, shorten


def catalog_title(catalog: Catalog) -> tuple[str, str]:
    """Say where the records come from, and how many there are."""
    sources = [shorten(clean(source.name), 40) for source in catalog.sources]
    tags = [clean(tag) for tag in catalog.dictionaries.tags if tag]
    where = ", ".join(sources[:3]) + (f" and {len(sources) - 3} more" if len(sources) > 3 else "")
    if tags:
        where += f" · {tags[0] if len(tags) == 1 else f'{len(tags):,} tags'}"
    packages = len(catalog.dictionaries.values("package"))
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
        # that all are in a cache is what everybody expects.
        if name not in ("tag", "source", "state") or len(set(listing.all_values(name))) > 1:
            parts.append(cell_of(name, listing))
    if marked:
        parts.append(f"{marked:,} marked")
    return " · ".join(part for part in parts if part)


def cell_of(name: str, listing: Listing) -> str:
    """Spell the one value that a column has in all rows."""
    return shorten(cell(BY_NAME[name], listing.constants[name]), 24)


def position(row: int, length: int) -> str:
    """Say which row of how many the cursor is on."""
    return f"{row + 1:,}/{length:,}" if length else ""
