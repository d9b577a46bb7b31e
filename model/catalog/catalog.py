"""The index, read: packages, listings of rows, single records, sources, problems."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from spackscope.model.catalog.arrays import ColumnArrays, IdRanges
from spackscope.model.catalog.by_host import ByHost
from spackscope.model.catalog.dependency_graph import DependencyGraph, EdgeArrays
from spackscope.model.catalog.dictionaries import Dictionaries, PackageCount, Packages
from spackscope.model.catalog.evaluate import Evaluation
from spackscope.model.catalog.rows import Records, Row
from spackscope.model.catalog.view import Partition, RowRole, View
from spackscope.model.core.errors import Cancelled
from spackscope.model.core.records import Problem, Provenance, SourceStatus, Spec
from spackscope.model.core.tasks import ShouldStop, never
from spackscope.model.index.columns import Columns
from spackscope.model.query.ast import Query

if TYPE_CHECKING:
    from spackscope.model.catalog.listing import Listing, Listings
    from spackscope.model.sources.document import DiscoveredSource

_Answer = TypeVar("_Answer")


class Catalog:
    """Answer questions from one index; safe to use from several threads.

    `notice` is a message on trouble with the index, `was_damaged` that it was rebuilt because it
    was damaged. `discovered` is what was last discovered about the sources. `dictionaries` has
    the values of the columns, `dependencies` the edges, `virtuals` the providers of virtuals,
    and `by_host` what depends on the host.

    Methods with a query raise Unanswerable if the index has too little to answer it, and Cancelled
    if `should_stop` returns True.

        catalog = load(["https://binaries.spack.io/develop"], Session(os.environ))
        listing = catalog.listing(View(parse("hdf5@1.14: +mpi")))
        hashes = [spec.hash for spec in catalog.specs(listing)]
    """

    def __init__(
        self,
        columns: Columns,
        *,
        notice: str = "",
        discovered: Sequence[DiscoveredSource] = (),
    ) -> None:
        self.columns = columns
        self.meta: Mapping[str, object] = columns.json("meta")
        self.notice = notice
        self.was_damaged = False
        self.discovered = discovered
        self.column_arrays = arrays = ColumnArrays(columns)
        self.dictionaries = Dictionaries(columns, arrays)
        self.edge_arrays = edges = EdgeArrays(columns, arrays)
        self.dependencies = DependencyGraph(arrays, edges, self.dictionaries)
        self._packages = Packages(columns, self.dictionaries)
        self.by_host = by_host = ByHost()
        self._records = Records(columns, arrays, self.dictionaries, self.dependencies, by_host)
        self._listings: Listings | None = None
        self.execution = Evaluation(arrays, edges, self.dictionaries, self._packages, by_host)
        self.virtuals = self.execution.virtuals
        self._cache: dict[Callable[[Catalog], Any], Any] = {}
        self._cache_lock = threading.RLock()

    @property
    def total(self) -> int:
        """The number of records."""
        return self._packages.total

    @property
    def sources(self) -> list[SourceStatus]:
        """What is known of each source, in the order given."""
        return self._records.sources(self.discovered)

    @property
    def problems(self) -> list[Problem]:
        """What could not be read, in the order of reading."""
        return self._records.problems

    @property
    def problem_sources(self) -> list[str]:
        """The names of the sources of `problems`, each empty if it is of none."""
        return self._records.problem_sources

    @property
    def problem_count(self) -> int:
        """The number of problems."""
        return self._records.problem_count

    def cached(self, compute: Callable[[Catalog], _Answer]) -> _Answer:
        """Return what a function computes from this catalog; it is called once."""
        with self._cache_lock:
            if compute not in self._cache:
                self._cache[compute] = compute(self)
            answer: _Answer = self._cache[compute]
            return answer

    def match(self, query: Query, *, should_stop: ShouldStop = never) -> IdRanges:
        """Return the ids of the records that match; they are cached."""
        return self.execution.match(query, should_stop)

    def count(self, query: Query, *, should_stop: ShouldStop = never) -> int:
        """Return the number of records that match."""
        return len(self.match(query, should_stop=should_stop))

    def packages(self, query: Query, *, should_stop: ShouldStop = never) -> list[PackageCount]:
        """Return the packages with a match, in the order of their names."""
        specs = self.match(query, should_stop=should_stop)
        return self._packages.all if len(specs) == self.total else self._packages.counts(specs)

    def selected_package(self, query: Query) -> PackageCount | None:
        """Return the package that a query names, with all its specs; None if it names none."""
        return self._packages.selected(query)

    def package_span(self, name: str) -> tuple[int, int]:
        """Return the id of the first spec of a package that is listed, and that after its last."""
        return self._packages.span_of(name)

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
            self._listings = Listings(self.column_arrays, self.dictionaries, self.by_host)
        if should_stop():
            raise Cancelled
        return self._listings.listing(view, specs, partition)

    def rows(
        self,
        ids: Sequence[int],
        counts: Sequence[int] | None = None,
        roles: Sequence[RowRole] | None = None,
    ) -> list[Row]:
        """Return the rows with these ids, in the order of the ids."""
        return self._records.rows(ids, counts, roles)

    def specs(self, listing: Listing) -> Iterator[Spec]:
        """Yield the records of a listing in its order."""
        yield from self._records.specs(listing.ids)

    def records(self, ids: Sequence[int]) -> Iterator[Spec]:
        """Yield the records with some ids in their order."""
        yield from self._records.specs(ids)

    def by_hash(self, hash_: str) -> list[Row]:
        """Return all records with a full hash."""
        return self._records.by_hash(hash_)

    def with_compilers(self, row: Row) -> Spec:
        """Return the record of a row with its compilers, as its spec string needs them."""
        return self._records.with_compilers(row)

    def full_record(self, row: Row) -> Spec:
        """Return the record of a row with all that any document says of it."""
        return self._records.full(row)

    @property
    def build_specs(self) -> Mapping[int, str]:
        """The hashes that spliced specs were built as, by the ids of the records."""
        return self._records.build_specs

    def provenance(self, id_: int) -> Provenance:
        """Return where the record with this id comes from."""
        (provenance,) = self._records.provenances([id_])
        return provenance

    def provenances(self, ids: Sequence[int]) -> list[Provenance]:
        """Return where the records with these ids come from, at most some hundred."""
        return self._records.provenances(ids)
