"""Summarise what a query matches of each package: newest version, kinds, targets, what runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial

from spackscope.model.analysis.dag import dag_of
from spackscope.model.analysis.kinds import kinds_of
from spackscope.model.core.bounded_cache import BoundedCache
from spackscope.model.core.columns import FIELDS
from spackscope.model.core.errors import Cancelled
from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.core.tasks import ShouldStop, never
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.matches import Matches
from spackscope.model.index.rows import PackageCount
from spackscope.model.query.ast import Query

_BYTES = 300
"""Approximate bytes of a summary."""


class PackageSummary(Frozen):
    """What matches of a package.

    `targets` are the most frequent first. `kinds` is the number of run-time kinds, and `running`
    that of the builds that run on the host; they are None where that is not known, and until the
    summary `is_whole`.
    """

    newest: str
    targets: tuple[str, ...]
    kinds: int | None = None
    running: int | None = None
    is_whole: bool = False


Summaries = dict[int, PackageSummary]
"""Summaries by the ids of the packages."""


def _cache(catalog: Catalog) -> BoundedCache[tuple[Query, int], PackageSummary]:
    """Return the whole summaries of a catalog, by query and package."""
    return BoundedCache(lambda summary: _BYTES)


def package_summaries(
    catalog: Catalog,
    query: Query,
    packages: Iterable[PackageCount],
    *,
    should_stop: ShouldStop = never,
) -> Iterator[Summaries]:
    """Yield the summaries of some packages: of all what is read at once, then what takes longer.

    The query must not name a package. Raises Cancelled and Unanswerable.
    """
    cache, graph = catalog.cached(_cache), dag_of(catalog)
    matches = catalog.match(query, should_stop=should_stop)
    versions, targets = catalog.texts("version"), catalog.texts("target")
    summaries: Summaries = {}
    unknown: dict[int, Matches] = {}
    for package in packages:
        if known := cache.find((query, package.id)):
            summaries[package.id] = known
            continue
        # Without looking at each spec.
        ids = unknown[package.id] = matches.within(*package.span)
        codes = set(ids.codes(catalog.column("version")))
        newest = max(map(versions.__getitem__, codes), key=FIELDS["version"].sort_key, default="")
        counts = Counter[str]()
        for code, count in ids.counts(FIELDS["target"].storage).items():
            counts[targets[code]] += count
        ordered = sorted(counts, key=lambda target: (-counts[target], target))
        summaries[package.id] = PackageSummary(newest, tuple(filter(None, ordered)))
    yield summaries
    for id_, ids in unknown.items():
        if should_stop():
            raise Cancelled
        if catalog.by_host.is_connected:
            fits = Counter(catalog.by_host.answers.brief(spec).fits for spec in ids)
            # Where none runs for sure, how many do is not known.
            running = fits[True] if fits[True] or not fits[None] else None
            summaries[id_] = replace(summaries[id_], running=running)
        yield {id_: summaries[id_]}
    # They take longest: what is below each spec is looked at once.
    for id_, ids in unknown.items():
        listed = list(filter(graph.lists_dependencies, ids))
        kinds = kinds_of(graph).codes(listed, should_stop=should_stop) if listed else ()
        whole = replace(summaries[id_], kinds=len(set(kinds)) or None, is_whole=True)
        yield {id_: cache.get((query, id_), partial(replace, whole))}
