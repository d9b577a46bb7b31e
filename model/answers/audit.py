"""Find deprecated versions in the closures of specs, their roots, and newer versions."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from spackscope.model.analysis.dag import ClosureMasks, dag_of, explicit_specs
from spackscope.model.analysis.deprecated import DeprecatedSpecs, find_deprecated
from spackscope.model.analysis.session_fit import GET_RECIPES
from spackscope.model.answers import Asked
from spackscope.model.core.columns import spec_name
from spackscope.model.core.errors import SourceError, Unreadable, WrongQuestion
from spackscope.model.core.frozen import replace
from spackscope.model.core.records import (
    LEGACY_LABEL,
    RECIPES,
    SEVERITIES,
    Deprecation,
    severity_rank,
)
from spackscope.model.core.suggestions import listed
from spackscope.model.core.text import clean, counted, cut_list
from spackscope.model.core.versions import version_key
from spackscope.model.index.catalog import Catalog
from spackscope.model.query.ast import exact_query, exact_term
from spackscope.model.report.sheet import Sheet, SheetColumn, hash_column, version_column
from spackscope.model.sources.recipes import Recipes
from spackscope.model.sources.resolve import find_environment, names_source

_MAX_NAMES = 6
"""Packages that a note names."""

_UNREAD = "the recipe cannot be read completely"


class DeprecatedVersion(NamedTuple):
    """A deprecated version: why, how many specs contain it, and the roots among these specs.

    `hash` is the hash of its build if it has only one. `newest` is the newest version in the
    caches that is not deprecated, or "".
    """

    package: str
    version: str
    why: Deprecation
    specs: int
    roots: tuple[str, ...]
    hash: str
    newest: str


def answer(asked: Asked) -> Sheet[DeprecatedVersion]:
    """Return the deprecated versions in the closures of specs, the most severe first.

    The sheet is not good if a version is as severe as `--fail-on` says; else an unreadable recipe
    ends it with an error. Raises SourceError without recipes.
    """
    words, session, remarks = asked.words, asked.session, list[str]()
    limit = asked.options.get("fail_on", "")
    # As `cover` has it.
    limit = SEVERITIES[1] if limit == "deprecated" else limit.removeprefix("deprecated=")
    if limit and severity_rank(limit) < 1:
        names = listed(SEVERITIES[1:], "or")
        raise WrongQuestion(f"--fail-on takes {names}, not {clean(limit)}")
    recipes = session.recipes
    if not recipes.packages:
        why = "; ".join(map(str, recipes.problems)) or "no recipes were found"
        way = asked.option("recipes")
        raise SourceError(
            f"it is unknown which versions are deprecated: {why}. {GET_RECIPES}: {way}"
        )
    asked.grounds.add(RECIPES)
    if len(words) == 1 and names_source(words[0]):
        (catalog,) = asked.load([find_environment(words[0], session)])
        cache, chosen = None, list(range(catalog.total))
        try:
            (cache,) = asked.load(asked.sources)
        except SourceError as error:
            remarks.append(f"The newest versions are unknown: {error}")
    else:
        query = asked.query(words)
        (catalog,) = asked.load(asked.sources)
        cache, chosen = catalog, list(catalog.match(query).ids())
        if not chosen:
            raise asked.no_match(catalog, query)
    sheet = audit(catalog, chosen, cache, recipes)
    ranks = (severity_rank(row.why.severity) for row in sheet.rows)
    is_good = not limit or max(ranks, default=0) < severity_rank(limit)
    ending = sheet.ending if limit and is_good else None
    remarks += sheet.remarks
    return replace(sheet, remarks=remarks, is_good=is_good, is_certain=True, ending=ending)


def audit(
    catalog: Catalog, chosen: Collection[int], cache: Catalog | None, recipes: Recipes
) -> Sheet[DeprecatedVersion]:
    """Return the deprecated versions in the link/run closures of chosen specs.

    Roots are the explicit ones among the chosen specs, or else the specs that no other chosen spec
    links or runs. Raises Cancelled.
    """
    graph, edges = dag_of(catalog), catalog.edges
    bits, own = dict[tuple[str, str, Deprecation], int](), defaultdict[int, int](int)
    deprecated = find_deprecated(catalog, recipes)
    hashes = defaultdict[int, set[str]](set)
    for each in deprecated:
        for id_, hash_ in zip(each.ids, catalog.hashes.of(each.ids), strict=True):
            why = each.deprecation._replace(spec="")
            key = each.package, catalog.text("version", id_), why
            bit = 1 << bits.setdefault(key, len(bits))
            own[id_] |= bit
            hashes[bit].add(hash_)
    down = edges.down.restricted(edges.are_run)
    masks = ClosureMasks(down.of, lambda id_: own.get(id_, 0))
    specs = dict.fromkeys(map(graph.identity, chosen))
    contained = {id_: masks.whole(id_) for id_ in specs}
    below = {graph.identity(child) for id_ in specs for child in down.of(id_)}
    explicit = specs.keys() & set(explicit_specs(catalog))
    roots = [id_ for id_ in specs if id_ in explicit or not (explicit or id_ in below)]
    names = {id_: spec_name(graph.name(id_), catalog.text("version", id_)) for id_ in roots}
    if cache is not None and cache is not catalog:
        deprecated = find_deprecated(cache, recipes)
    newest = _newest(cache, deprecated, {package for package, _, _ in bits})
    counts = Counter(contained.values())
    rows = []
    for (package, version, why), number in bits.items():
        bit = 1 << number
        count = sum(each for mask, each in counts.items() if mask & bit)
        of_roots = dict.fromkeys(names[id_] for id_ in roots if contained[id_] & bit)
        one = next(iter(hashes[bit])) if len(hashes[bit]) == 1 else ""
        if count:
            named = package, version, why, count, tuple(of_roots), one
            rows.append(DeprecatedVersion(*named, newest.get(package, "")))
    rows.sort(key=lambda row: (-severity_rank(row.why.severity), -row.specs, row[:2]))
    affected = sum(each for mask, each in counts.items() if mask)
    doubts = dict(_doubts(catalog, specs, recipes))
    found = f"{counted(len(rows), 'deprecated version')} in {affected:,} of"
    return Sheet(
        f"{found if rows else 'No known deprecated version in'} {counted(len(specs), 'spec')}",
        _COLUMNS,
        rows,
        hash=lambda row: row.hash,
        query=lambda row: exact_query("package", row.package).also(
            exact_term("version", row.version)
        ),
        remarks=list(doubts),
        ending=next((Unreadable(text) for text, is_unread in doubts.items() if is_unread), None),
    )


def _newest(
    cache: Catalog | None, deprecated: Sequence[DeprecatedSpecs], packages: Collection[str]
) -> dict[str, str]:
    """Return the newest version of each package in a cache that is not deprecated."""
    if cache is None:
        return {}
    refused = {id_ for each in deprecated for id_ in each.ids}
    newest = {}
    for package in packages:
        ids = cache.match(exact_query("package", package)).ids()
        versions = {cache.text("version", id_) for id_ in ids if id_ not in refused}
        newest[package] = max(versions, key=version_key, default="")
    return newest


def _doubts(
    catalog: Catalog, specs: Collection[int], recipes: Recipes
) -> Iterator[tuple[str, bool]]:
    """Yield sentences on unknown deprecations, and whether an unread recipe is the reason."""
    graph = dag_of(catalog)
    unlisted = sum(not graph.lists_dependencies(id_) for id_ in specs)
    if unlisted:
        yield f"No source lists the dependencies of {counted(unlisted, 'spec')}", False
    reached = graph.reached(specs, run_only=True)
    absent = {graph.name(id_) for id_ in reached if not graph.is_described(id_)}
    named = {graph.name(id_) for id_ in reached}
    for packages, why in (
        (absent & recipes.deprecations.keys(), "no document says which version"),
        (named - recipes.packages, "there is no recipe"),
        (named & recipes.unread, _UNREAD),
    ):
        if packages:
            which = listed(cut_list(sorted(packages), _MAX_NAMES), "and")
            yield clean(f"Unknown of {which}: {why}"), why is _UNREAD


_COLUMNS: list[SheetColumn[DeprecatedVersion]] = [
    SheetColumn("package", lambda row: row.package),
    version_column(lambda row: row.version),
    SheetColumn("severity", lambda row: row.why.severity, sort_key=severity_rank),
    SheetColumn("reason", lambda row: row.why.reason),
    SheetColumn(
        "labels",
        lambda row: [label for label in row.why.labels if label != LEGACY_LABEL],
        is_list=True,
    ),
    SheetColumn("specs", lambda row: row.specs),
    SheetColumn("newest", lambda row: row.newest or None, sort_key=version_key),
    SheetColumn("roots", lambda row: row.roots, is_list=True),
    SheetColumn("message", lambda row: row.why.message or None, wraps=True),
    hash_column(lambda row: row.hash or None),
]
