"""Find the deprecations and restrictions that recipes state for specs of a catalog."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from spackscope.model.core.errors import QueryError, Unanswerable
from spackscope.model.core.records import NO, UNKNOWN, YES, Deprecation, severity_rank
from spackscope.model.index.by_host import CodedLists
from spackscope.model.index.catalog import Catalog
from spackscope.model.query.ast import exact_query
from spackscope.model.query.parser import parse_spec
from spackscope.model.sources.recipes import Recipes


class DeprecatedSpecs(NamedTuple):
    """A deprecation of a package, and the ids of the records that it is about."""

    package: str
    deprecation: Deprecation
    ids: Sequence[int]


def find_deprecated(catalog: Catalog, recipes: Recipes) -> list[DeprecatedSpecs]:
    """Return the deprecations of records of a catalog, also of dependency-only ones.

    Externals do not count, as for Spack: they are not under its control. Labels that a patch of a
    record fixes are left out, and so are deprecations without any label left. Raises Cancelled.
    """
    nodes, found = catalog.column("node"), []
    for name in catalog.texts("package"):
        fixed = defaultdict[int, set[str]](set)
        for digest, labels in recipes.fixes.get(name, ()):
            for id_ in _matching(catalog, name, f"patches={digest}") or ():
                fixed[id_].update(labels)
        for each in recipes.deprecations.get(name, ()):
            by_labels = defaultdict[tuple[str, ...], list[int]](list)
            # A wrong spec, or one that the source cannot answer, deprecates nothing.
            for id_ in _matching(catalog, name, each.spec) or ():
                left = each.labels
                if id_ in fixed:
                    left = tuple(label for label in left if label not in fixed[id_])
                if (left or not each.labels) and not catalog.nodes[nodes[id_]].external:
                    by_labels[left].append(id_)
            for left, its in by_labels.items():
                found.append(DeprecatedSpecs(name, each._replace(labels=left), its))
    return found


def deprecated_codes(
    catalog: Catalog, recipes: Recipes, deprecated: Iterable[DeprecatedSpecs]
) -> CodedLists:
    """Return a code for each record by its id, and the column's value for each code.

    The value is `unknown` for packages whose recipe is missing or cannot be read.
    """
    values: dict[tuple[str, ...], int] = {(NO,): 0, (UNKNOWN,): 1}
    are_unknown = [not recipes.has_read(name) for name in catalog.texts("package")]
    codes = _codes_by_package(catalog, are_unknown)
    of_ids = defaultdict[int, list[Deprecation]](list)
    for each in deprecated:
        for id_ in each.ids:
            of_ids[id_].append(each.deprecation)
    for id_, its in of_ids.items():
        its.sort(key=lambda each: -severity_rank(each.severity))
        words = [(each.severity, each.reason, *each.labels) for each in its]
        value = (YES, *dict.fromkeys(word for part in words for word in part))
        codes[id_] = values.setdefault(value, len(values))
    return codes, list(values)


def _matching(catalog: Catalog, package: str, spec: str) -> Sequence[int] | None:
    """Return the records of a package that match a spec of its recipe; None if that is unknown.

    Raises Cancelled.
    """
    try:
        return catalog.match(exact_query("package", package).plus(parse_spec(spec))).ids()
    except (QueryError, Unanswerable):
        return None


def _codes_by_package(catalog: Catalog, of_packages: Sequence[int]) -> array[int]:
    """Return the code of its package for each record by its id."""
    codes = array("I")
    for package, size in zip(catalog.column("package"), catalog.group_sizes, strict=True):
        codes.extend([of_packages[package]] * size)
    return codes
