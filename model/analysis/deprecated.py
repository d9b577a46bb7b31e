"""Find the specs of a catalog that the recipes of the user's Spack deprecate."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from spackscope.model.core.deprecation import Deprecation, severity_rank
from spackscope.model.core.errors import Cancelled, QueryError, Unanswerable
from spackscope.model.core.records import NO, UNKNOWN, YES
from spackscope.model.core.tasks import ShouldStop, never
from spackscope.model.index.by_host import CodedLists
from spackscope.model.index.catalog import Catalog
from spackscope.model.query.ast import Term, exact_query
from spackscope.model.query.parser import parse_spec
from spackscope.model.sources.recipes import Recipes


class DeprecatedSpecs(NamedTuple):
    """A deprecation of a package, and the ids of the records that it is about."""

    package: str
    deprecation: Deprecation
    ids: Sequence[int]


def find_deprecated(
    catalog: Catalog, recipes: Recipes, should_stop: ShouldStop = never
) -> list[DeprecatedSpecs]:
    """Return the deprecations that some records of a catalog fulfil, dependency-only ones too.

    Externals do not count, as for Spack: they are not under its control. Raises Cancelled.
    """
    names, versions = catalog.texts("package"), catalog.texts("version")
    codes = zip(catalog.column("package"), catalog.column("version"), strict=True)
    nodes, found = catalog.column("node"), []
    by_package = defaultdict[str, dict[str, list[int]]](dict)
    for look_alike, (package, version) in enumerate(codes):
        if names[package] in recipes.deprecations:
            ids = range(*catalog.span(look_alike))
            own = [id_ for id_ in ids if not catalog.nodes[nodes[id_]].external]
            by_package[names[package]].setdefault(versions[version], []).extend(own)
    for name, of_versions in by_package.items():
        if should_stop():
            raise Cancelled
        for each in recipes.deprecations[name]:
            if ids_of_spec := _matching(catalog, name, each.spec, of_versions):
                found.append(DeprecatedSpecs(name, each, ids_of_spec))
    return found


def _matching(
    catalog: Catalog, package: str, spec: str, of_versions: Mapping[str, Sequence[int]]
) -> list[int]:
    """Return which records of a package match a spec, of its records by their versions.

    None where it is no spec, or the source does not tell: what is not known is not deprecated.
    """
    with suppress(QueryError, Unanswerable):
        query = exact_query("package", package).plus(parse_spec(spec))
        terms = [c for c in query.conditions if isinstance(c, Term) and c.column == "version"]
        fits = [term.matcher("version") for term in terms]
        ids = [
            id_
            for version, its in of_versions.items()
            if all(fit(version) for fit in fits)
            for id_ in its
        ]
        # The package itself is one more condition.
        is_plain = len(list(query.conditions)) == len(terms) + 1
        return ids if is_plain else list({*ids}.intersection(catalog.match(query).ids()))
    return []


def deprecated_values(
    catalog: Catalog, recipes: Recipes, should_stop: ShouldStop = never
) -> CodedLists:
    """Return a code for each record by its id, and the values of its column that codes mean.

    They are unknown of packages whose recipe is not there, or cannot be read. Raises Cancelled.
    """
    values: dict[tuple[str, ...], int] = {(NO,): 0, (UNKNOWN,): 1}
    are_known = [
        name in recipes.packages and name not in recipes.unread
        for name in catalog.texts("package")
    ]
    codes = array("I")
    for package, size in zip(catalog.column("package"), catalog.group_sizes, strict=True):
        codes.extend([0 if are_known[package] else 1] * size)
    of_ids = defaultdict[int, list[Deprecation]](list)
    for each in find_deprecated(catalog, recipes, should_stop):
        for id_ in each.ids:
            of_ids[id_].append(each.deprecation)
    for id_, its in of_ids.items():
        its.sort(key=lambda each: -severity_rank(each.severity))
        words = [(each.severity, each.reason, *each.labels) for each in its]
        value = (YES, *dict.fromkeys(word for part in words for word in part))
        codes[id_] = values.setdefault(value, len(values))
    return codes, list(values)
