"""Summarise what a query matches of each package: newest version, kinds, targets, what runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from spackscope.model.analysis.dag import dag_of
from spackscope.model.analysis.kinds import kinds_of
from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.id_ranges import IdRanges
from spackscope.model.catalog.packages import PackageCount
from spackscope.model.core.bounded_cache import BoundedCache
from spackscope.model.core.columns import FIELDS
from spackscope.model.core.errors import Cancelled
from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.core.tasks import ShouldStop, never
from spackscope.model.index.columns import reads_index
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


@reads_index
def package_summaries(
    catalog: Catalog,
    query: Query,
    packages: Iterable[PackageCount],
    *,
    should_stop: ShouldStop = never,
) -> Iterator[Summaries]:
    """Yield the summaries of some packages: of all what is read at once, then what takes longer.

    The query must not name a package. Raises Cancelled, Unanswerable and IndexDamaged.
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
        summaries[id_] = replace(summaries[id_], running=_running(catalog, ids))
        yield {id_: summaries[id_]}
    # They take longest: what is below each spec is looked at once.
    for id_, ids in unknown.items():
        kinds = _kinds(catalog, ids, should_stop)
        whole = replace(summaries[id_], kinds=kinds, is_whole=True)
        yield {id_: cache.summaries.get((query, id_), partial(replace, whole))}


def _summary(catalog: Catalog, ids: IdRanges) -> PackageSummary:
    """Return the newest version and the targets, which are read without looking at each spec."""
    arrays, dictionaries = catalog.column_arrays, catalog.dictionaries
    spans = list(arrays.spans(ids))
    versions = dictionaries.texts("version")
    order = FIELDS["version"].sort_key
    codes = arrays.distinct("version", spans)
    newest = max((versions[code] for code in codes), key=order, default="")
    targets, counts = dictionaries.texts("target"), Counter[str]()
    for code, count in arrays.counts(FIELDS["target"].storage, ids).items():
        counts[targets[code]] += count
    ordered = sorted(counts, key=lambda target: (-counts[target], target))
    return PackageSummary(newest, tuple(target for target in ordered if target))


def _kinds(catalog: Catalog, ids: Sequence[int], should_stop: ShouldStop) -> int | None:
    """Return the number of run-time kinds of those whose source lists dependencies."""
    graph = catalog.cached(_Cache).graph
    listed = [id_ for id_ in ids if graph.lists_dependencies(id_)]
    if not listed:
        return None
    return len(set(kinds_of(graph).codes(listed, should_stop=should_stop)))


def _running(catalog: Catalog, ids: Iterable[int]) -> int | None:
    """Return how many run on the host; None without a host, or where none does for sure."""
    if not catalog.by_host.is_connected:
        return None
    answers = catalog.by_host.answers
    counts = Counter(answers.brief(id_).fits for id_ in ids)
    return counts[True] if counts[True] or not counts[None] else None
