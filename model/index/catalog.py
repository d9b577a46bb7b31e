"""Read an index: packages, listings of rows, single records, sources, problems."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, cast

from spackscope.model.core.columns import FIELDS, HOST_COLUMNS, Value
from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.core.records import Gap, Problem, SourceStatus, Spec
from spackscope.model.core.tasks import check_cancelled
from spackscope.model.index.edges import Edges
from spackscope.model.index.evaluate import Evaluation
from spackscope.model.index.index_file import Columns
from spackscope.model.index.order import (
    Partition,
    RowRole,
    ShownValues,
    View,
    best_ids,
    ordered_ids,
    users_of,
)
from spackscope.model.index.rows import IndexData, PackageCount
from spackscope.model.query.ast import Query

if TYPE_CHECKING:
    from spackscope.model.sources.document import DiscoveredSource


class Row(Frozen):
    """One row of a listing: a record with its ids; `count` is the number of specs it stands for.

    The ids belong to the `catalog`. `role` is the role of the row in an opened group.
    """

    catalog: Catalog
    id: int
    look_alike: int
    spec: Spec
    count: int = 1
    role: RowRole = RowRole.SPEC

    @property
    def has_look_alikes(self) -> bool:
        """Whether the row stands for look-alikes, which may run differently."""
        return self.count > 1 and self.role in (RowRole.SPEC, RowRole.GROUP)

    @property
    def is_open(self) -> bool:
        """Whether the row is opened, and its specs follow."""
        return self.role in (RowRole.GROUP, RowRole.OPEN_KIND)

    @property
    def is_closed(self) -> bool:
        """Whether the row can be opened."""
        return self.count > 1 and not self.is_open

    @property
    def is_listed(self) -> bool:
        """Whether a listing can have the row: not for dependency-only specs, unless asked for."""
        return self.id < self.catalog.total


class Catalog(IndexData):
    """Answer questions from one index; safe to use from several threads.

    `notice` is a message on trouble with the index. `was_damaged` is true if the index was rebuilt
    because it was damaged. `part` says why it has only a part of the sources; it is empty for all.
    `discovered` is the last result of looking for the sources, without documents. `edges` has the
    dependencies, `virtuals` the providers of virtuals, and `by_host` the columns that depend on
    the host. `match` returns the ids of the matching listed specs, and `count_codes` counts them
    by their codes of a dictionary; both are cached.

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
        self.match = self._evaluation.match
        self.match_nodes = self._evaluation.match_nodes
        self.count_codes = self._evaluation.count_codes
        self._last_shown: ShownValues | None = None

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

    def count(self, query: Query) -> int:
        """Return the number of matching records."""
        return len(self.match(query))

    def counts(self, query: Query, column: str, *, of_nodes: bool = False) -> Counter[Value]:
        """Count the matching records by their values of a column.

        With `of_nodes` dependency-only records count, too.
        """
        if FIELDS[column].is_by_host:
            return self.by_host.counts(column, self.match(query))
        values, by_value, storage = self.values(column), Counter[Value](), FIELDS[column].storage
        nodes = self.match_nodes(query).counts(storage) if of_nodes else None
        codes = self.count_codes(query, storage) if nodes is None else nodes
        for code, count in codes.items():
            by_value[values[code]] += count
        return by_value

    def packages(self, query: Query) -> list[PackageCount]:
        """Return the packages with a matching record, in the order of their names."""
        specs = self.match(query)
        if len(specs) == self.total:
            return self.all_packages
        shown = specs.by_package
        return [p._replace(shown=shown[p.id]) for p in self.all_packages if p.id in shown]

    def listing(self, view: View, *, partition: Partition = lambda ids: ()) -> Listing:
        """Return the rows of a view; `partition` splits opened look-alikes into kinds."""
        specs = self.match(view.query)
        check_cancelled()
        # The next view mostly has the same specs, and only another order or other words for them.
        values, named = self._last_shown, view.query.columns & HOST_COLUMNS
        if values is None or values.specs is not specs or values.named != named:
            values = self._last_shown = ShownValues(self, specs, named)
        return Listing(self, view, values, partition)

    def rows(
        self,
        ids: Sequence[int],
        counts: Sequence[int] | None = None,
        roles: Sequence[RowRole] | None = None,
    ) -> list[Row]:
        """Return the rows of some ids, in the order of the ids."""
        records = self.read(ids)
        counts = [1] * len(ids) if counts is None else counts
        roles = [RowRole.SPEC] * len(ids) if roles is None else roles
        rows = zip(ids, counts, roles, strict=True)
        return [Row(self, id_, *records[id_], count, role) for id_, count, role in rows]

    def by_hash(self, hash_: str) -> list[Row]:
        """Return a row for each record with a full hash."""
        return self.rows(self.hashes.ids_of(hash_))

    def is_only_in(self, tag: str, hash_: str) -> bool:
        """Check whether several tags were read, and only this tag has a hash."""
        has_several = len({*self.texts("tag"), ""}) > 2
        return has_several and {row.spec.tag for row in self.by_hash(hash_)} == {tag}

    def with_dependencies(self, hash_: str) -> Row:
        """Return the first record of a hash whose document lists dependencies, else the first."""
        rows = self.by_hash(hash_)
        return next((row for row in rows if self.edges.lists(row.id)), rows[0])

    def with_compilers(self, row: Row) -> Spec:
        """Return the record of a row with its compilers, which its spec string needs."""
        return replace(row.spec, compilers=self.edges.compilers(row.id))


class _OpenedRow(Frozen):
    """A row of an opened group: its number in the listing, its role, and the ids of its specs."""

    number: int
    role: RowRole
    members: Sequence[int]


class Listing:
    """The rows of a view: `ids` in their order; `values` is a summary of all their specs.

    The id of a row is its first spec; `part` has the spec that the row shows. `shown` is the
    number of specs. Below the head of an opened group are its kinds. If no kinds are known, the
    group is shown as single specs; a single kind has no row besides the head.
    """

    def __init__(
        self,
        catalog: Catalog,
        view: View,
        values: ShownValues,
        partition: Partition,
    ) -> None:
        self.catalog, self.view, self.values = catalog, view, values
        self._partition = partition
        self.ids = ordered_ids(catalog, view, values.specs)
        self.shown = len(values.specs)
        self._opened: dict[int, list[_OpenedRow]] = {}
        if view.folded and view.opened:
            self._open_groups()
        self._opened_at = {row.number: row for rows in self._opened.values() for row in rows}

    def __len__(self) -> int:
        return len(self.ids)

    def _open_groups(self) -> None:
        """Replace the folded rows of opened groups by their opened rows."""
        groups: list[tuple[int, int, list[int]]] = []
        for look_alike in self.view.opened:
            members = list(self.look_alike_ids(look_alike))
            if len(members) > 1:
                groups.append((self.ids.index(members[0]), look_alike, members))
        # Only the ids of single specs may be a range.
        ids, more = cast("array[int]", self.ids), 0
        for at, look_alike, members in sorted(groups):
            rows = self._rows_of_group(members, self._partition(members))
            self._opened[look_alike] = [
                _OpenedRow(number, *row) for number, row in enumerate(rows, at + more)
            ]
            ids[at + more : at + more + 1] = array("I", [members[0] for _, members in rows])
            more += len(rows) - 1

    def _rows_of_group(
        self, members: Sequence[int], kinds: Sequence[Sequence[int]]
    ) -> list[tuple[RowRole, Sequence[int]]]:
        """Return the rows of an opened group, each with its role and the ids of its specs."""
        if not kinds:
            return [(RowRole.SPEC, (id_,)) for id_ in members]
        rows = [(RowRole.GROUP, members)]
        for kind in kinds:
            is_open = len(kind) > 1 and not self.view.opened_kinds.isdisjoint(kind)
            if len(kinds) > 1:
                rows.append((RowRole.OPEN_KIND if is_open else RowRole.KIND, kind))
            if is_open or len(kinds) == 1:
                rows += ((RowRole.MEMBER, (id_,)) for id_ in kind)
        return rows

    def part(self, rows: slice = slice(None)) -> tuple[Sequence[int], list[int], list[RowRole]]:
        """Return the ids, the counts and the roles of some rows: the arguments of `Catalog.rows`.

        The id of a row is that of the best spec of all that it stands for, whose number is its
        count.
        """
        ids = self.ids[rows]
        if not self.view.folded:
            return ids, [1] * len(ids), [RowRole.SPEC] * len(ids)
        opened = [self._opened_at.get(number) for number in range(len(self))[rows]]
        members = [
            row.members if row is not None else self.look_alike_ids(self.catalog.look_alike(id_))
            for row, id_ in zip(opened, ids, strict=True)
        ]
        roles = [row.role if row is not None else RowRole.SPEC for row in opened]
        best = best_ids(self.catalog, self.view, members)
        return best, list(map(len, members)), roles

    def unfolded_ids(self) -> Sequence[int]:
        """Return the ids of all shown specs, row by row: first the spec that the row shows."""
        best, counts, _ = self.part()
        ids = array("I")
        for id_, count in zip(best, counts, strict=True):
            ids.append(id_)
            if count > 1:
                members = self.look_alike_ids(self.catalog.look_alike(id_))
                ids.extend(each for each in members if each != id_)
        return ids

    def precompute(self) -> None:
        """Compute the summary now, in a worker thread; else it is computed when needed."""
        self.values.precompute()
        _ = self.max_count, self.has_users, self.values.longest_variants

    @cached_property
    def max_count(self) -> int:
        """The most specs that a row stands for."""
        opened = (len(row.members) for row in self._opened_at.values())
        return max(chain(self._sizes, opened), default=1)

    @cached_property
    def has_users(self) -> bool:
        """Whether any spec depends on a spec that is shown."""
        return any(users_of(self.catalog, self.values.specs.spans()))

    @property
    def group_count(self) -> int:
        """The number of look-alikes with several specs, opened or not; 0 if none are folded."""
        return len(self._sizes) - self._sizes.count(1) + len(self._opened)

    @cached_property
    def _sizes(self) -> array[int]:
        """The number of specs of each folded row, without the rows of opened groups."""
        if not self.view.folded:
            return array("I")
        sizes = self.values.specs.sizes[:]
        for look_alike in self._opened:
            sizes.remove(len(self.look_alike_ids(look_alike)))
        return sizes

    def look_alike_ids(self, look_alike: int) -> Sequence[int]:
        """Return the ids of the shown specs of a look-alike."""
        return self.values.specs.alike(look_alike)

    def shows(self, id_: int) -> bool:
        """Check whether a spec is shown, in a row of its own or in a folded one."""
        return id_ in self.values.specs

    def ids_of(self, row: Row) -> Sequence[int]:
        """Return the ids of all specs of a row; nothing for a row of another catalog."""
        if row.catalog is not self.catalog:
            return ()
        if row.has_look_alikes:
            return self.look_alike_ids(row.look_alike)
        kinds = (RowRole.KIND, RowRole.OPEN_KIND)
        return (row.role in kinds and self._kind(row.id, row.look_alike, *kinds)) or (row.id,)

    def opened_kind(self, id_: int, look_alike: int) -> Sequence[int]:
        """Return the ids of the opened kind that a spec belongs to; empty if it is not opened."""
        return self._kind(id_, look_alike, RowRole.OPEN_KIND)

    def _kind(self, id_: int, look_alike: int, *roles: RowRole) -> Sequence[int]:
        rows = (row for row in self._opened.get(look_alike, ()) if row.role in roles)
        return next((row.members for row in rows if id_ in row.members), ())

    def row_of(self, row: Row) -> int | None:
        """Return the number of the row in this listing that shows the spec of another row.

        In an opened group, it is the row with the same role, or else the row with the fewest
        specs. None if the spec is not shown, or belongs to another catalog.
        """
        if row.catalog is not self.catalog:
            return None
        ids, id_, look_alike, role = self.ids, row.id, row.look_alike, row.role
        if rows := self._opened.get(look_alike):
            best = min(
                (each for each in rows if id_ in each.members),
                key=lambda each: (
                    (each.members[0], each.role) != (id_, role),
                    each.role != role,
                    -each.role,
                ),
                default=rows[0],
            )
            return best.number
        if self.view.folded and id_ not in ids and (shown := self.look_alike_ids(look_alike)):
            id_ = shown[0]
        return ids.index(id_) if id_ in ids else None
