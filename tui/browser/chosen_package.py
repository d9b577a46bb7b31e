"""Let another package that is typed take the place of the one that was chosen before.

A package that is chosen in the list stands at the beginning of the query line. Who then types
another name there means that one, and not what both have in common, which is nothing.
"""

from __future__ import annotations

from collections.abc import Collection

from spackscope.model.query.conditions import Term
from spackscope.model.query.parsed_input import ParsedInput, parse_input


def without_chosen(parsed: ParsedInput, chosen: Term | None) -> ParsedInput | None:
    """Return the text of the query line without the chosen package at its beginning.

    None if it does not stand there, or what follows is not a query.
    """
    prefix = f"{chosen} "
    if chosen is None or parsed.column or not parsed.text.startswith(prefix):
        return None
    rest = parse_input(parsed.text[len(prefix) :], max(0, parsed.cursor - len(prefix)))
    return rest if rest.query is not None else None


def names_package(parsed: ParsedInput, packages: Collection[str]) -> bool:
    """Check whether a text names a package as a package, as in `zlib@1.3`."""
    return parsed.query is not None and parsed.query.package in packages


def begins_name(parsed: ParsedInput, packages: Collection[str]) -> bool:
    """Check whether a word of a text begins the name of a package."""
    words = tuple(parsed.query.words) if parsed.query is not None else ()
    return bool(words) and any(name.startswith(words) for name in packages)
