"""Build records, sources and problems from the rows of an index."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from operator import getitem, itemgetter
from typing import TYPE_CHECKING, Any

from spackscope.model.catalog.arrays import ColumnArrays
from spackscope.model.catalog.by_host import ByHost
from spackscope.model.catalog.dependency_graph import DependencyGraph
from spackscope.model.catalog.dictionaries import Dictionaries
from spackscope.model.catalog.view import RowRole
from spackscope.model.core.columns import STORED
from spackscope.model.core.frozen import Frozen, asdict, fields, replace
from spackscope.model.core.records import (
    Dependency,
    Problem,
    Provenance,
    SourceStatus,
    Spec,
    is_hash,
)
from spackscope.model.index.connection import Database
from spackscope.model.index.damage import checked_hash, natural, number, text

if TYPE_CHECKING:
    from spackscope.model.sources.document import DiscoveredSource

_WINDOW = 512
"""Records that are read at once."""

_SELECT = (
    f"SELECT spec.id, hash, size, look_alike.id, document, {', '.join(STORED)}"
    " FROM spec JOIN look_alike ON look_alike.id = look_alike WHERE spec.id IN"
)
_DOCUMENT = 4
"""The number of its column with the document."""

_FIELDS = (
    *("hash", "size", "origin", "source", "build_spec"),
    *(name for columns in STORED.values() for column in columns for name in column.restores),
)
"""The fields of `Spec` that `Records.rows` reads, in its order."""

_DEFAULTS = {field.name: field.default for field in fields(Spec) if field.name not in _FIELDS}
_in_order_of_spec = itemgetter(*map((*_FIELDS, *_DEFAULTS).index, Spec.__match_args__))

# What checks the columns of these records, in the order of their fields.
_SOURCE_STATUS = (text, text, text, natural, number, text, text, natural)


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
        database: Database,
        arrays: ColumnArrays,
        dictionaries: Dictionaries,
        dependencies: DependencyGraph,
        by_host: ByHost,
    ) -> None:
        self._database = database
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
        # The ids are numbers of this index, never text of a user.
        rows = self._database.execute(f"{_SELECT} ({','.join(map(str, ids))})").fetchall()
        documents = self._dictionaries.documents({row[_DOCUMENT] for row in rows})
        records: dict[int, tuple[int, Spec]] = {}
        for id_, hash_, size, look_alike, document, *codes in rows:
            values = (
                *(checked_hash(hash_), _checked_size(size), *documents[document]),
                self.build_specs.get(id_, ""),
                *chain.from_iterable(map(getitem, self._dictionaries.record_values, codes)),
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
        if not is_hash(hash_):
            return []
        rows = self._database.execute("SELECT id FROM spec WHERE hash = ? ORDER BY id", (hash_,))
        return self.rows([id_ for (id_,) in rows])

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
        rows = self._database.execute(
            "SELECT spec, path, installed_at, build_spec FROM provenance"
            f" WHERE spec IN ({','.join(map(str, ids))})"
        )
        places = {id_: (text(path), number(at), text(build)) for id_, path, at, build in rows}
        codes, nodes = self._arrays.column("node"), self._dictionaries.nodes
        return [Provenance(*nodes[codes[id_]], *places.get(id_, ("", None, ""))) for id_ in ids]

    @cached_property
    def build_specs(self) -> dict[int, str]:
        """The hashes that spliced specs were built as, by the ids of the records."""
        rows = self._database.execute(
            "SELECT spec, build_spec FROM provenance WHERE build_spec != ''"
        )
        return {id_: text(build_spec) for id_, build_spec in rows}

    @cached_property
    def _sources(self) -> list[SourceStatus]:
        """The status of each source as of when the index was written."""
        rows = self._database.execute(
            "SELECT name, kind, layout, specs, checked, remark, failure,"
            " (SELECT count(*) FROM problem WHERE problem.source = source.id)"
            " FROM source ORDER BY source.id"
        )
        return [SourceStatus(*_checked(_SOURCE_STATUS, row)) for row in rows]

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
        rows = self._database.execute("SELECT origin, place, reason FROM problem ORDER BY id")
        return [Problem(*map(text, row)) for row in rows]

    @cached_property
    def problem_sources(self) -> list[str]:
        """The names of the sources of `problems`, each empty if it is of none."""
        rows = self._database.execute(
            "SELECT coalesce(source.name, '') FROM problem"
            " LEFT JOIN source ON problem.source = source.id ORDER BY problem.id"
        )
        return [text(name) for (name,) in rows]

    @property
    def problem_count(self) -> int:
        """The number of problems."""
        return int(self._database.execute("SELECT count(*) FROM problem").fetchone()[0])


def _checked(checks: Sequence[Callable[[Any], Any]], row: Sequence[Any]) -> Iterator[Any]:
    return (check(value) for check, value in zip(checks, row, strict=True))


def _checked_size(value: object) -> float | None:
    size = number(value)
    return int(size) if size is not None and size == int(size) else size
