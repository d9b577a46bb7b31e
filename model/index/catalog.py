"""Read an index: packages, listings of rows, single records, sources, problems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from spackscope.model.core.columns import FIELDS, Value
from spackscope.model.core.frozen import replace
from spackscope.model.core.records import Dependency, Gap, Problem, SourceStatus, Spec
from spackscope.model.core.tasks import check_cancelled
from spackscope.model.index.edges import Edges
from spackscope.model.index.evaluate import Evaluation
from spackscope.model.index.index_file import Columns
from spackscope.model.index.listing import Listing, ShownValues
from spackscope.model.index.matches import Matches
from spackscope.model.index.rows import IndexData, PackageCount, Row
from spackscope.model.index.view import Partition, View
from spackscope.model.query.ast import Query

if TYPE_CHECKING:
    from spackscope.model.sources.document import DiscoveredSource


class Catalog(IndexData):
    """Answer questions from one index; safe to use from several threads.

    `notice` is a message on trouble with the index. `was_damaged` is true if the index was rebuilt
    because it was damaged. `part` says why it has only a part of the sources; it is empty for all.
    `discovered` is the last result of looking for the sources, without documents. `edges` has the
    dependencies, `virtuals` the providers of virtuals, and `by_host` the columns that depend on
    the host. `count_codes` counts matching records by their codes of a dictionary.

    Methods with a query raise Unanswerable if the index has too little to answer it, and
    Cancelled.

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
        self.was_damaged, self.part = False, ""
        self.discovered = discovered
        self.edges = Edges(self)
        self._evaluation = Evaluation(self, self.edges)
        self.virtuals = self._evaluation.virtuals
        self.count_codes = self._evaluation.count_codes
        self._last_shown: tuple[Query, ShownValues] | None = None

    @property
    def sources(self) -> list[SourceStatus]:
        """The status of each source, in the order given, updated by `discovered`."""
        newest = {source.source: source for source in self.discovered}
        return [
            replace(
                source,
                checked=newest[source.name].checked,
                remark=newest[source.name].remark,
                failure=source.failure or newest[source.name].failure,
            )
            if source.name in newest
            else source
            for source in self.indexed_sources
        ]

    @property
    def is_whole(self) -> bool:
        """Whether all sources and documents were read; some of their records may be problems."""
        is_read = not any(source.failure for source in self.sources)
        return is_read and not self.part and not any(p.is_unread for p in self.problems)

    def gaps(self, *, with_configuration: bool = True) -> list[Gap]:
        """Return the problems of the sources, and of the configuration of Spack."""
        failed = (
            Gap(Problem("", "", now.failure), now.name)
            for now, indexed in zip(self.sources, self.indexed_sources, strict=True)
            if now.failure != indexed.failure
        )
        of_configuration = self.by_host.find_gaps() if with_configuration else ()
        return [*failed, *self.indexed_gaps, *of_configuration]

    def has_mirror(self, spec: Spec) -> bool:
        """Check whether a mirror may have more on a record than its index."""
        return spec.in_cache and any(
            state.may_have_files(spec) for state in self.sources if state.name in spec.sources
        )

    def match(self, query: Query) -> Matches:
        """Return the matching records; the result is cached."""
        return self._evaluation.match(query)

    def count(self, query: Query) -> int:
        """Return the number of matching records."""
        return len(self.match(query))

    def counts(self, query: Query, column: str) -> Counter[Value]:
        """Count the matching records by their values of a column."""
        if FIELDS[column].is_by_host:
            return self.by_host.counts(column, self.match(query))
        values, by_value = self.values(column), Counter[Value]()
        for code, count in self.count_codes(query, FIELDS[column].storage).items():
            by_value[values[code]] += count
        return by_value

    def packages(self, query: Query) -> list[PackageCount]:
        """Return the packages with a matching record, in the order of their names."""
        specs = self.match(query)
        if len(specs) == self.total:
            return self.all_packages
        shown = specs.counts("package")
        return [p._replace(shown=shown[p.id]) for p in self.all_packages if p.id in shown]

    def listing(self, view: View, *, partition: Partition = lambda ids: ()) -> Listing:
        """Return the rows of a view; `partition` splits opened look-alikes into kinds."""
        specs = self.match(view.query)
        check_cancelled()
        # The next view mostly has the same query, and only another order.
        last = self._last_shown
        values = (
            ShownValues(self, specs, view.query.columns)
            if last is None or last[0] != view.query
            else last[1]
        )
        self._last_shown = view.query, values
        return Listing(self, view, values, partition)

    def listed(self, hash_: str) -> Row:
        """Return the first record of a hash whose document lists dependencies, else the first."""
        rows = self.by_hash(hash_)
        return next((row for row in rows if self.edges.lists(row.id)), rows[0])

    def with_compilers(self, row: Row) -> Spec:
        """Return the record of a row with its compilers, which its spec string needs."""
        return replace(row.spec, compilers=self.edges.compilers(row.id))

    def full_record(self, row: Row) -> Spec:
        """Return the record of a row with its provenance and its dependencies."""
        spec = self.with_provenance(row.id, row.spec)
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
