"""Write title lines: pure functions of what is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.source_names import source_term, unique_end
from spackscope.model.core.columns import BY_NAME, SHORT_HASH
from spackscope.model.core.records import Spec
from spackscope.model.core.text import clean, counted, shorten
from spackscope.model.query.ast import Term, exact_term, query_of
from spackscope.model.sources.source_name import STANDARD_INPUT

if TYPE_CHECKING:
    from spackscope.model.catalog.listing import Listing

_MAX_VALUE_WIDTH = 24


class SourceChip(NamedTuple):
    """A source in the title: its condition in a query, its name, and its number of specs.

    `is_cache` if some of its specs are cached: the others only list what is installed somewhere.
    `has_failed` if nothing of it could be read.
    """

    term: Term
    name: str
    specs: int
    is_cache: bool
    has_failed: bool


def source_chips(catalog: Catalog) -> tuple[SourceChip, ...]:
    """Return the sources of a catalog for the title. Raises IndexDamaged."""
    names = [source.name for source in catalog.sources]
    chips = []
    for source in catalog.sources:
        is_input = source.name == STANDARD_INPUT
        name = source.kind if is_input else unique_end(source.name, names).rstrip("/")
        term = source_term(source.name, names)
        cached = query_of(exact_term("source", source.name), exact_term("state", "cached"))
        is_cache = source.specs > 0 and catalog.count(cached) > 0
        chip = SourceChip(term, clean(name), source.specs, is_cache, bool(source.failure))
        chips.append(chip)
    return tuple(chips)


def tags_title(catalog: Catalog) -> str:
    """Return the tag of the records, or how many there are; empty if they have none."""
    tags = [clean(tag) for tag in catalog.dictionaries.texts("tag") if tag]
    return tags[0] if len(tags) == 1 else f"{len(tags):,} tags" if tags else ""


def query_counts(listing: Listing, total: int, package: str | None) -> tuple[str, ...]:
    """Return how many specs are shown, of how many, and in how many groups: longest form first.

    `total` are the specs of the package, or of all packages.
    """
    all_ = counted(total, "spec") if package is None else f"{total:,} {clean(package)}"
    shown = f"{listing.shown:,}"
    count = all_ if listing.shown == total else f"{shown} of {all_}"
    groups = listing.group_count
    if not groups:
        return count, shown
    long = f"{count} · {counted(groups, 'look-alike group')}"
    return long, f"{count} · {counted(groups, 'group')}", count, shown


def shared_texts(listing: Listing) -> list[tuple[str, str]]:
    """Return the values that all specs of a listing share, each after the name of its column.

    Only those that a title is to mention. Raises IndexDamaged.
    """
    texts = []
    for name, value in listing.values.constants.items():
        column = BY_NAME[name]
        values = () if column.is_by_host else set(listing.values.all_values(name))
        if column.in_title(values):
            text = shorten(column.cell(value), _MAX_VALUE_WIDTH)
            texts.append((name, column.title(value) if column.title is not None else text))
    return texts


def spec_title(spec: Spec) -> str:
    """Return the name, the version and the short hash of a spec."""
    version = f"@{spec.version}" if spec.version else ""
    return clean(f"{spec.package}{version} /{spec.hash[:SHORT_HASH]}")


def position(row: int, length: int) -> str:
    """Return the row of the cursor and the number of rows, as in `12/2,052`."""
    return f"{row + 1:,}/{length:,}" if length else ""
