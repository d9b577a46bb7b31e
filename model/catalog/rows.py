"""Build records, sources and problems from the rows of an index."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from spackscope.model.catalog.arrays import ColumnArrays
from spackscope.model.catalog.by_host import ByHost
from spackscope.model.catalog.dependency_graph import DependencyGraph
from spackscope.model.catalog.dictionaries import Dictionaries
from spackscope.model.catalog.view import RowRole
from spackscope.model.core.columns import STORED
from spackscope.model.core.frozen import Frozen, asdict, fields, replace
from spackscope.model.core.records import Dependency, Problem, Provenance, SourceStatus, Spec
from spackscope.model.index.columns import Columns, Rows

if TYPE_CHECKING:
    from spackscope.model.sources.document import DiscoveredSource

_WINDOW = 512
"""Records that are read at once."""

_FIELDS = (
    *("hash", "size", "origin", "source", "build_spec"),
    *(name for columns in STORED.values() for column in columns for name in column.restores),
)
"""The fields of `Spec` that `Records.rows` reads, in its order."""

_DEFAULTS = {field.name: field.default for field in fields(Spec) if field.name not in _FIELDS}
_in_order_of_spec = itemgetter(*map((*_FIELDS, *_DEFAULTS).index, Spec.__match_args__))


class Row(Frozen):
    """One row of a listing: a record, its ids, and how many look-alikes the row stands for.

    `role` is that of the row in an opened group.
    """

    id: int
    look_alike: int
    spec: Spec
    count: int = 1
    role: RowRole = RowRole.SPEC

    @property
    def has_look_alikes(self) -> bool:
        """Check whether it stands for look-alikes, which may not run the same."""
        return self.count > 1 and self.role in (RowRole.SPEC, RowRole.GROUP)


class Records:
    """The records of an index, by their ids and hashes, its sources and its problems."""

    def __init__(
        self,
        columns: Columns,
        arrays: ColumnArrays,
        dictionaries: Dictionaries,
        dependencies: DependencyGraph,
        by_host: ByHost,
    ) -> None:
        self._columns = columns
        self._arrays = arrays
        self._dictionaries = dictionaries
        self._dependencies = dependencies
        self._by_host = by_host

    def rows(
        self,
        ids: Sequence[int],
        counts: Sequence[int] | None = None,
        roles: Sequence[RowRole] | None = None,
    ) -> list[Row]:
        """Return the rows with these ids, in the order of the ids."""
        records = self._read(ids)
        counts = [1] * len(ids) if counts is None else counts
        roles = [RowRole.SPEC] * len(ids) if roles is None else roles
        rows = zip(ids, counts, roles, strict=True)
        return [Row(id_, *records[id_], count, role) for id_, count, role in rows]

    def _read(self, ids: Sequence[int]) -> dict[int, tuple[int, Spec]]:
        """Return the look-alike and the record of each id."""
        column, dictionaries = self._arrays.column, self._dictionaries
        unique = list(dict.fromkeys(ids))
        hashes, documents = dictionaries.hashes_of(unique), column("document")
        columns = list(zip(dictionaries.record_values, map(column, STORED), strict=True))
        records: dict[int, tuple[int, Spec]] = {}
        for id_, hash_ in zip(unique, hashes, strict=True):
            look_alike = self._arrays.look_alike(id_)
            values = (
                *(hash_, _size(dictionaries.sizes[id_])),
                *dictionaries.document(documents[look_alike]),
                self.build_specs.get(id_, ""),
                *chain.from_iterable(values[codes[look_alike]] for values, codes in columns),
                *_DEFAULTS.values(),
            )
            spec = Spec(*_in_order_of_spec(values))
            records[id_] = look_alike, self._by_host.filled(id_, spec)
        return records

    def specs(self, ids: Sequence[int]) -> Iterator[Spec]:
        """Yield the records with these ids in their order, reading a window at a time."""
        for start in range(0, len(ids), _WINDOW):
            window = ids[start : start + _WINDOW]
            records = self._read(window)
            yield from (records[id_][1] for id_ in window)

    def by_hash(self, hash_: str) -> list[Row]:
        """Return all records with a full hash."""
        return self.rows(sorted(self._dictionaries.ids_of_hash(hash_)))

    def with_compilers(self, row: Row) -> Spec:
        """Return the record of a row with its compilers."""
        return replace(row.spec, compilers=self._dependencies.compilers(row.id))

    def full(self, row: Row) -> Spec:
        """Return the record of a row with its provenance and its dependencies."""
        (provenance,) = self.provenances([row.id])
        spec = replace(row.spec, **asdict(provenance))
        if not self._dependencies.lists(row.id):
            return spec
        edges = self._dependencies.of(row.id)
        absent = {edge.child: self._dependencies.absent(edge.child) for edge in edges}
        rows = self.rows([id_ for id_, dependency in absent.items() if dependency is None])
        present = {row.id: Dependency(row.spec.hash, row.spec.package) for row in rows}
        dependencies = (
            replace(
                absent[edge.child] or present[edge.child],
                deptypes=edge.deptypes,
                virtuals=edge.virtuals,
            )
            for edge in edges
        )
        return replace(spec, dependencies=tuple(dependencies))

    def provenances(self, ids: Sequence[int]) -> list[Provenance]:
        """Return where records come from, in the order of their ids."""
        stated, codes = self._stated, self._arrays.column("node")
        rows, nodes = self._provenance, self._dictionaries.nodes
        places = [bisect_left(stated, id_) for id_ in ids]
        return [
            Provenance(
                *nodes[codes[id_]],
                *(rows[at] if at < len(stated) and stated[at] == id_ else ("", None, "")),
            )
            for id_, at in zip(ids, places, strict=True)
        ]

    @cached_property
    def _stated(self) -> Sequence[int]:
        """The specs of which more is known of where they come from, ascending."""
        return self._columns.ascending("provenance.spec")

    @cached_property
    def _provenance(self) -> Rows:
        return Rows(self._columns, "provenance", len(self._stated))

    @cached_property
    def build_specs(self) -> dict[int, str]:
        """The hashes that spliced specs were built as, by the ids of the records."""
        return dict(self._columns.json("build_specs"))

    @cached_property
    def _sources(self) -> list[SourceStatus]:
        """The status of each source as of when the index was written."""
        counts = Counter(source for source, *_ in self._problems)
        return [
            SourceStatus(*[*row, counts[code]])
            for code, row in enumerate(self._columns.json("sources"))
        ]

    def sources(self, discovered: Sequence[DiscoveredSource]) -> list[SourceStatus]:
        """Return the status of each source, with what was discovered about it since."""
        newest = {source.source: source for source in discovered}
        return [
            replace(source, checked=newest[source.name].checked, remark=newest[source.name].remark)
            if source.name in newest
            else source
            for source in self._sources
        ]

    @cached_property
    def problems(self) -> list[Problem]:
        """What could not be read, in the order of reading."""
        return [Problem(*texts) for _, _, *texts in self._problems]

    @cached_property
    def _problems(self) -> Sequence[Sequence[Any]]:
        problems: Sequence[Sequence[Any]] = self._columns.json("problems")
        return problems

    @cached_property
    def problem_sources(self) -> list[str]:
        """The names of the sources of `problems`, each empty if it is of none."""
        names = [source.name for source in self._sources]
        return ["" if source is None else names[source] for source, *_ in self._problems]

    @property
    def problem_count(self) -> int:
        """The number of problems."""
        return len(self._problems)


def _size(size: float) -> float | None:
    if size != size:
        return None
    return int(size) if size == int(size) else size
