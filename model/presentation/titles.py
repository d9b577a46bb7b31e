"""Write title lines: pure functions of what is shown."""

from __future__ import annotations

from collections.abc import Sequence

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.listing import Listing
from spackscope.model.core.cells import shorten_path
from spackscope.model.core.columns import BY_NAME
from spackscope.model.core.text import clean, shorten
from spackscope.model.query.ast import Query
from spackscope.model.sources.resolve import STANDARD_INPUT

_SOURCES_WIDTH = 40
"""Cells for the names of all sources together."""

_MIN_SOURCE_WIDTH = 18
_MAX_VALUE_WIDTH = 24


def catalog_title(catalog: Catalog) -> tuple[str, str]:
    """Return where the records come from, and how many there are."""
    names = [
        source.kind if source.name == STANDARD_INPUT else clean(source.name)
        for source in catalog.sources
    ]
    room = (_SOURCES_WIDTH - 2 * len(names) + 2) // max(1, len(names))
    sources = [shorten_path(name, max(_MIN_SOURCE_WIDTH, room)) for name in names]
    tags = [clean(tag) for tag in catalog.dictionaries.texts("tag") if tag]
    title = ", ".join(sources[:3]) + (f" and {len(sources) - 3} more" if len(sources) > 3 else "")
    if tags:
        title += f" · {tags[0] if len(tags) == 1 else f'{len(tags):,} tags'}"
    # Packages with dependency-only specs alone are not in the list of packages.
    packages = len(catalog.packages(Query()))
    return title, f"{counted(catalog.total, 'spec')} · {counted(packages, 'package')}"


def counted(count: int, noun: str) -> str:
    """Return a number of things, as in `2,052 specs`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def specs_title(listing: Listing, total: int, shared: Sequence[str], marked: int) -> str:
    """Return how many specs of how many are shown, and the values that all of them share."""
    of_all = "" if listing.shown == total else f" of {total:,}"
    parts = [f"specs {listing.shown:,}{of_all}"]
    if listing.counts is not None:
        parts.append(counted(len(listing), "row"))
    parts += shared
    if marked:
        parts.append(f"{marked:,} marked")
    return " · ".join(part for part in parts if part)


def shared_texts(listing: Listing) -> list[tuple[str, str]]:
    """Return the values that all specs of a listing share, each after the name of its column.

    Only those that a title is to mention. Raises IndexDamaged.
    """
    texts = []
    for name, value in listing.constants.items():
        column = BY_NAME[name]
        if column.in_title(set(listing.all_values(name))):
            text = shorten(column.cell(value), _MAX_VALUE_WIDTH)
            texts.append((name, column.title(value) if column.title is not None else text))
    return texts


def position(row: int, length: int) -> str:
    """Return the row of the cursor and the number of rows, as in `12/2,052`."""
    return f"{row + 1:,}/{length:,}" if length else ""
