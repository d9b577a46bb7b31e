"""The index, read: packages, listings of rows, single records, sources, problems."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from spackscope.model.catalog.arrays import IdRanges
from spackscope.model.catalog.edges import Edges
from spackscope.model.catalog.evaluate import Evaluation
from spackscope.model.catalog.rows import IndexData, PackageCount, Row
from spackscope.model.catalog.view import Partition, View
from spackscope.model.core.columns import Value
from spackscope.model.core.errors import Cancelled
from spackscope.model.core.frozen import asdict, replace
from spackscope.model.core.records import Dependency, SourceStatus, Spec
from spackscope.model.core.tasks import ShouldStop, never
from spackscope.model.index.columns import Columns
from spackscope.model.query.ast import Query

if TYPE_CHECKING:
    from spackscope.model.catalog.listing import Listing, Listings
    from spackscope.model.sources.document import DiscoveredSource

_Answer = TypeVar("_Answer")


class Catalog(IndexData):
    """Answer questions from one index; safe to use from several threads.

    `notice` is a message on trouble with the index, `was_damaged` that it was rebuilt because it
    was damaged. `discovered` is what was last discovered about the sources. `edges` has the
    dependencies, `virtuals` the providers of virtuals, and `by_host` what depends on the host.

    Methods with a query raise Unanswerable if the index has too little to answer it, and Cancelled
    if `should_stop` returns True.

        catalog = load(["https://binaries.spack.io/develop"], Session(os.environ))
        listing = catalog.listing(View(parse("hdf5@1.14: +mpi")))
        hashes = [spec.hash for spec in catalog.records(listing.ids)]
    """

    def __init__(
        self,
        columns: Columns,
        *,
        notice: str = "",
        discovered: Sequence[DiscoveredSource] = (),
    ) -> None:
        super().__init__(columns)
        self.notice = notice
        self.was_damaged = False
        self.discovered = discovered
        self.edges = Edges(self)
        self._evaluation = Evaluation(self, self.edges)
        self.virtuals = self._evaluation.virtuals
        self._listings: Listings | None = None
        self._cache: dict[Callable[[Catalog], Any], Any] = {}
        self._cache_lock = threading.RLock()

    @property
    def sources(self) -> list[SourceStatus]:
        """What is known of each source, in the order given, with what was discovered since."""
        newest = {source.source: source for source in self.discovered}
        return [
            replace(source, checked=newest[source.name].checked, remark=newest[source.name].remark)
            if source.name in newest
            else source
            for source in self.indexed_sources
        ]

    def cached(self, compute: Callable[[Catalog], _Answer]) -> _Answer:
        """Return what a function computes from this catalog; it is called once."""
        with self._cache_lock:
            if compute not in self._cache:
                self._cache[compute] = compute(self)
            answer: _Answer = self._cache[compute]
            return answer

    def match(self, query: Query, *, should_stop: ShouldStop = never) -> IdRanges:
        """Return the ids of the records that match; they are cached."""
        return self._evaluation.match(query, should_stop)

    def count(self, query: Query, *, should_stop: ShouldStop = never) -> int:
        """Return the number of records that match."""
        return len(self.match(query, should_stop=should_stop))

    def count_codes(self, query: Query, storage: str, should_stop: ShouldStop) -> dict[int, int]:
        """Count the records that match by their codes of a dictionary."""
        return self._evaluation.count_codes(query, storage, should_stop)

    def count_by_host(self, query: Query, column: str, should_stop: ShouldStop) -> Counter[Value]:
        """Count the records that match by their values of a column by host."""
        return self.by_host.counts(column, self.match(query, should_stop=should_stop), should_stop)

    def packages(self, query: Query, *, should_stop: ShouldStop = never) -> list[PackageCount]:
        """Return the packages with a match, in the order of their names."""
        specs = self.match(query, should_stop=should_stop)
        if len(specs) == self.total:
            return self.all_packages
        counts = ((package, specs.count(*package.span)) for package in self.all_packages)
        return [package._replace(shown=shown) for package, shown in counts if shown]

    def listing(
        self,
        view: View,
        *,
        partition: Partition = lambda ids: (),
        should_stop: ShouldStop = never,
    ) -> Listing:
        """Return the rows of a view; a `partition` has opened groups shown kind by kind."""
        # Packages are shown before any listing.
        from spackscope.model.catalog.listing import Listings

        specs = self.match(view.query, should_stop=should_stop)
        if self._listings is None:
            self._listings = Listings(self)
        if should_stop():
            raise Cancelled
        return self._listings.listing(view, specs, partition)

    def specs(self, listing: Listing) -> Iterator[Spec]:
        """Yield the records of a listing in its order."""
        return self.records(listing.ids)

    def with_compilers(self, row: Row) -> Spec:
        """Return the record of a row with its compilers, as its spec string needs them."""
        return replace(row.spec, compilers=self.edges.compilers(row.id))

    def full_record(self, row: Row) -> Spec:
        """Return the record of a row with its provenance and its dependencies."""
        spec = replace(row.spec, **asdict(self.provenance(row.id)))
        if not self.edges.lists(row.id):
            return spec
        edges = self.edges.of(row.id)
        dependencies = {edge.child: self.edges.absent_at(edge.child) for edge in edges}
        for each in self.rows([id_ for id_, absent in dependencies.items() if absent is None]):
            dependencies[each.id] = Dependency(each.spec.hash, each.spec.package)
        return replace(
            spec,
            dependencies=tuple(
                replace(dependency, deptypes=edge.deptypes, virtuals=edge.virtuals)
                for edge in edges
                if (dependency := dependencies[edge.child]) is not None
            ),
        )
