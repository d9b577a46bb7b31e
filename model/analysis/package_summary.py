"""Summarise the matches of a query by package: the newest version, and how many run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from spackscope.model.core.columns import FIELDS
from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.core.tasks import check_cancelled
from spackscope.model.index.by_host import RANKS_OF_FITS
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.matches import Matches
from spackscope.model.index.rows import PackageCount
from spackscope.model.query.ast import Query


class PackageSummary(Frozen):
    """The matches of a query in a package.

    `running` is the number of builds that run on the host. It is None where it is unknown, and
    until the summary `is_whole`.
    """

    newest: str
    running: int | None = None
    is_whole: bool = False


Summaries = dict[int, PackageSummary]
"""Summaries by the ids of the packages."""


def package_summaries(
    catalog: Catalog, query: Query, packages: Iterable[PackageCount]
) -> Iterator[Summaries]:
    """Yield all summaries with the fast values, and then each summary again with all values.

    The query must not name a package. Raises Cancelled and Unanswerable.
    """
    matches = catalog.match(query)
    versions = catalog.texts("version")
    summaries: Summaries = {}
    unknown: dict[int, Matches] = {}
    for package in packages:
        # Without looking at each spec.
        ids = unknown[package.id] = matches.within(*package.span)
        codes = set(ids.codes(catalog.column("version")))
        newest = max(map(versions.__getitem__, codes), key=FIELDS["version"].sort_key, default="")
        summaries[package.id] = PackageSummary(newest)
    yield summaries
    for id_, ids in unknown.items():
        check_cancelled()
        running = None
        if catalog.by_host.has_host:
            ranks = catalog.by_host.answers.ranks
            here, unknown_here = (
                sum(ranks.count(RANKS_OF_FITS[fits], *span) for span in ids.spans())
                for fits in (True, None)
            )
            # Where no build is known to run, the number is unknown.
            running = here if here or not unknown_here else None
        yield {id_: replace(summaries[id_], running=running, is_whole=True)}
