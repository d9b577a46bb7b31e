"""Replace the package that was chosen in the list by another one that is typed.

The name of a chosen package is at the beginning of the query line. A second name after it means
the other package: no spec has both names.
"""

from __future__ import annotations

from collections.abc import Collection

from spackscope.model.query.ast import Term
from spackscope.model.query.parser import ParsedInput, parse_input


def without_chosen(parsed: ParsedInput, chosen: Term | None) -> ParsedInput | None:
    """Return the text of the query line without the chosen package at its beginning.

    None if it is not there, or what follows is not a query.
    """
    prefix = f"{chosen} "
    if chosen is None or parsed.column or not parsed.text.startswith(prefix):
        return None
    cursor = max(0, parsed.cursor - len(prefix))
    text, packages = parsed.text[len(prefix) :], parsed.packages
    rest = parse_input(text, cursor, packages=packages, named=parsed.named)
    return rest if rest.query is not None else None


def typed_readings(
    parsed: ParsedInput, chosen: Term | None, packages: Collection[str]
) -> tuple[ParsedInput, ParsedInput | None]:
    """Return what a text means, and what it means instead if that has no matches.

    The chosen package is left out if the rest names another one; with a word that only begins the
    name of one, it is left out if nothing matches the whole text.
    """
    rest = without_chosen(parsed, chosen)
    if rest is not None and _names_package(rest, packages):
        return rest, None
    return parsed, rest if rest is not None and _begins_name(rest, packages) else None


def _names_package(parsed: ParsedInput, packages: Collection[str]) -> bool:
    """Check whether a text names a package."""
    return parsed.query is not None and parsed.query.package in packages


def _begins_name(parsed: ParsedInput, packages: Collection[str]) -> bool:
    """Check whether a word of a text begins the name of a package."""
    words = tuple(parsed.query.words) if parsed.query is not None else ()
    return bool(words) and any(name.startswith(words) for name in packages)
