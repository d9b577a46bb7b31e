"""Summarise what a query matches of each package: newest version, kinds, targets, what runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial

from spackscope.model.analysis.dag import dag_of
from spackscope.model.analysis.kinds import kinds_of
from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.matches import Matches
from spackscope.model.catalog.rows import PackageCount
from spackscope.model.core.bounded_cache import BoundedCache
from spackscope.model.core.columns import FIELDS
from spackscope.model.core.errors import Cancelled
from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.core.tasks import ShouldStop, never
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


class _Cache:
    """The whole summaries of a catalog, by query and package."""

    def __init__(self, catalog: Catalog) -> None:
        self.graph = dag_of(catalog)
        self.summaries: BoundedCache[tuple[Query, int], PackageSummary] = BoundedCache(
            lambda summary: _BYTES
        )


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
    cache, matches = catalog.cached(_Cache), catalog.match(query, should_stop=should_stop)
    specs = {package.id: matches.within(*package.span) for package in packages}
    known = {id_: cache.summaries.find((query, id_)) for id_ in specs}
    summaries = {id_: known[id_] or _summary(catalog, ids) for id_, ids in specs.items()}
    yield summaries
    unknown = {id_: ids for id_, ids in specs.items() if known[id_] is None}
    for id_, ids in unknown.items():
        if should_stop():
            raise Cancelled
        if catalog.by_host.is_connected:
            answers = catalog.by_host.answers
            fits = Counter(answers.brief(spec).fits for spec in ids)
            # Where none runs for sure, how many do is not known.
            running = fits[True] if fits[True] or not fits[None] else None
            summaries[id_] = replace(summaries[id_], running=running)
        yield {id_: summaries[id_]}
    # They take longest: what is below each spec is looked at once.
    for id_, ids in unknown.items():
        listed = list(filter(cache.graph.lists_dependencies, ids))
        codes = kinds_of(cache.graph).codes(listed, should_stop=should_stop) if listed else ()
        whole = replace(summaries[id_], kinds=len(set(codes)) or None, is_whole=True)
        yield {id_: cache.summaries.get((query, id_), partial(replace, whole))}


def _summary(catalog: Catalog, specs: Matches) -> PackageSummary:
    """Return the newest version and the targets, which are read without looking at each spec."""
    versions, targets = catalog.texts("version"), catalog.texts("target")
    codes = set(specs.codes(catalog.column("version")))
    order = FIELDS["version"].sort_key
    newest = max((versions[code] for code in codes), key=order, default="")
    counts = Counter[str]()
    for code, count in specs.counts(FIELDS["target"].storage).items():
        counts[targets[code]] += count
    ordered = sorted(counts, key=lambda target: (-counts[target], target))
    return PackageSummary(newest, tuple(filter(None, ordered)))
