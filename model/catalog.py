"""Read an index: packages and their counts, listings of rows, single specs, problems."""

from __future__ import annotations

import contextlib
import json
import re
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from spackscope.model.columns import BY_NAME, COLUMNS, Column, Value
from spackscope.model.conditions import TRUE, Clause, condition, hash_range
from spackscope.model.listing import RUN_CODES, Listing, Run, View
from spackscope.model.query import Query, Term
from spackscope.model.records import HASH_LENGTH, Cancelled, Problem, Spec, is_hash
from spackscope.model.sources import ShouldStop, never
from spackscope.model.versions import version_key

_DICTIONARIES = {
    "package": "_package_names",
    "version": "_versions",
    "variants": "_variant_sets",
    "stack": "_stack_sets",
    "tag": "tags",
}
_HASH_BEGINNING = re.compile(rf"[a-z2-7]{{0,{HASH_LENGTH}}}")
_RUN_CODES = ", ".join(f"look_alike.{place}" for place in RUN_CODES)


@dataclass(frozen=True, slots=True)
class PackageCount:
    """Hold a package with the number of its specs that match, and of all of them."""

    id: int
    name: str
    shown: int
    total: int


@dataclass(frozen=True, slots=True)
class Row:
    """Hold one row of a listing: a record, its ids, and how many look-alikes it stands for."""

    id: int
    look_alike: int
    spec: Spec
    count: int = 1


@dataclass(frozen=True, slots=True)
class Arch:
    """Hold what a dictionary entry of architectures says."""

    compiler: str
    os: str
    platform: str
    target: str


class _Connection(sqlite3.Connection):
    """Close itself when it is dropped, by whatever thread; Python 3.13 warns of one left open."""

    def __del__(self) -> None:
        with contextlib.suppress(sqlite3.Error):
            self.close()


def connect(uri: str) -> sqlite3.Connection:
    """Open a database that several threads may hold and any may drop."""
    return sqlite3.connect(uri, uri=True, check_same_thread=False, factory=_Connection)


class Catalog:
    """Answer questions from one index; safe to use from several threads.

    `meta` is what the index says of itself: schema, fingerprint, time of its making. `notice`
    says what the user should know of how the index came about, or is empty. Raises sqlite3.Error
    where the index cannot be opened.
    """

    def __init__(
        self, uri: str, *, notice: str = "", keep: sqlite3.Connection | None = None
    ) -> None:
        self._uri = uri
        # An index in memory lives as long as one connection to it, and so does the content of a
        # file that another process replaces.
        self._keep = keep or connect(uri)
        self._copying = threading.Lock()
        self._local = threading.local()
        self.meta = _meta(self._keep)
        self.notice = notice

    @property
    def _connection(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = self._connect()
        return connection

    def _connect(self) -> sqlite3.Connection:
        """Connect a thread: to the index, or to a copy where its file is another one by now."""
        with contextlib.suppress(sqlite3.Error):
            connection = connect(self._uri)
            connection.execute("PRAGMA query_only=1")
            connection.execute("PRAGMA read_uncommitted=1")
            if _meta(connection) == self.meta:
                return connection
        copy = connect(":memory:")
        with self._copying:
            self._keep.backup(copy)
        return copy

    def _execute(self, sql: str, parameters: Iterable[str | float] = ()) -> sqlite3.Cursor:
        return self._connection.execute(sql, tuple(parameters))

    @cached_property
    def total(self) -> int:
        """Count the records."""
        return int(self._execute("SELECT coalesce(sum(n), 0) FROM package").fetchone()[0])

    @cached_property
    def _packages(self) -> list[PackageCount]:
        rows = self._execute("SELECT id, name, n, n FROM package ORDER BY id")
        return [PackageCount(*row) for row in rows]

    @cached_property
    def _package_names(self) -> list[str]:
        names = [""] * (self._packages[-1].id + 1 if self._packages else 0)
        for package in self._packages:
            names[package.id] = package.name
        return names

    @cached_property
    def _arches(self) -> list[Arch]:
        rows = self._execute("SELECT compiler, os, platform, target FROM arch ORDER BY id")
        return [Arch(*row) for row in rows]

    @cached_property
    def _versions(self) -> list[str]:
        return [name for (name,) in self._execute("SELECT name FROM version ORDER BY id")]

    @cached_property
    def _variant_sets(self) -> list[tuple[str, ...]]:
        rows = self._execute("SELECT texts FROM variant_set ORDER BY id")
        return [tuple(json.loads(texts)) for (texts,) in rows]

    @cached_property
    def _stack_sets(self) -> list[tuple[str, ...]]:
        rows = self._execute("SELECT texts FROM stack_set ORDER BY id")
        return [tuple(json.loads(texts)) for (texts,) in rows]

    @cached_property
    def _documents(self) -> list[tuple[str, str]]:
        """Hold the origin and the source of each document."""
        return self._execute(
            "SELECT origin, name FROM document JOIN source ON source.id = source"
            " ORDER BY document.id"
        ).fetchall()

    @cached_property
    def sources(self) -> list[tuple[str, int]]:
        """Hold each source with the number of its records as read, in the order given."""
        return self._execute(
            "SELECT name, sum(specs) FROM source JOIN document ON source.id = source"
            " GROUP BY source.id ORDER BY source.id"
        ).fetchall()

    @cached_property
    def tags(self) -> list[str]:
        """Hold the tags in the order of their names."""
        return [name for (name,) in self._execute("SELECT name FROM tag ORDER BY id")]

    @cached_property
    def problems(self) -> list[Problem]:
        """Hold what could not be read, in the order of reading."""
        rows = self._execute("SELECT origin, place, reason FROM problem")
        return [Problem(*row) for row in rows]

    @cached_property
    def problem_count(self) -> int:
        """Count the problems."""
        return int(self._execute("SELECT count(*) FROM problem").fetchone()[0])

    def values(self, column: str) -> Sequence[Value]:
        """Give the values of a column, the index of each being the code of its place."""
        if column == "source":
            return [source for _, source in self._documents]
        values: Sequence[Value]
        if column in _DICTIONARIES:
            values = getattr(self, _DICTIONARIES[column])
        else:
            values = [getattr(arch, column) for arch in self._arches]
        return values

    def has_hash(self, prefix: str) -> bool:
        """Tell whether any hash begins so."""
        return bool(self.hashes(prefix, limit=1))

    def hashes(self, prefix: str, *, limit: int) -> list[str]:
        """Give the first hashes that begin so, in their order, each once."""
        if not _HASH_BEGINNING.fullmatch(prefix):
            return []
        rows = self._execute(
            "SELECT DISTINCT hash FROM spec WHERE hash BETWEEN ? AND ? ORDER BY hash LIMIT ?",
            (*hash_range(prefix), limit),
        )
        return [hash_ for (hash_,) in rows]

    def packages(self, query: Query, *, should_stop: ShouldStop = never) -> list[PackageCount]:
        """Give the packages with a match, in the order of their names."""
        made = condition(query, self)
        if made == TRUE:
            return self._packages
        count = "count(*)" if made.on_specs else "sum(n)"
        with self._stoppable(should_stop):
            counts = dict(
                self._execute(
                    f"SELECT package, {count} FROM {_tables(made)} WHERE {made.sql}"
                    " GROUP BY package",
                    made.parameters,
                )
            )
        return [
            PackageCount(package.id, package.name, counts[package.id], package.total)
            for package in self._packages
            if package.id in counts
        ]

    def listing(self, view: View, *, should_stop: ShouldStop = never) -> Listing:
        """Give the rows of a view.

        Raises Cancelled where `should_stop` says so.
        """
        made = condition(view.query, self)
        if view.package is not None:
            made &= Clause(f"look_alike.package = {view.package}")
        if made.on_specs:
            what = f"look_alike.id, spec.id, 1, {_RUN_CODES}"
            order = "spec.id"
        else:
            what = f"look_alike.id, look_alike.first, look_alike.n, {_RUN_CODES}"
            order = "look_alike.id"
        with self._stoppable(should_stop):
            runs: list[Run] = self._execute(
                f"SELECT {what} FROM {_tables(made)} WHERE {made.sql} ORDER BY {order}",
                made.parameters,
            ).fetchall()
            return Listing(view, runs, self)

    def columns(self, view: View) -> list[Column]:
        """Give the columns to show: the core, and those that say something or are asked for.

        Filters play no part, so that no column comes or goes while one is typed.
        """
        telling = self.telling(view.package)
        named = {term.column for term in view.query.terms}
        if view.package is not None:
            named.discard("package")
        return [c for c in COLUMNS if c.core or c.name in telling or c.name in named]

    def telling(self, package: int | None) -> frozenset[str]:
        """Name the columns that have more than one value within a package, or at all."""
        names = [column.name for column in COLUMNS if column.place != "spec"]
        if package is None:
            telling = {name for name in names if len(set(self.values(name))) > 1}
            within = "1"
        else:
            codes = self._execute(
                f"SELECT DISTINCT {_RUN_CODES} FROM look_alike WHERE package = ?", (package,)
            ).fetchall()
            telling = set()
            for name in names:
                values, at = self.values(name), RUN_CODES.index(BY_NAME[name].place)
                if len({values[row[at]] for row in codes}) > 1:
                    telling.add(name)
            (within,) = self._execute(
                "SELECT 'id BETWEEN ' || first || ' AND ' || (first + n - 1) FROM package"
                " WHERE id = ?",
                (package,),
            ).fetchone()
        sized = self._execute(
            f"SELECT 1 FROM spec WHERE size IS NOT NULL AND {within} LIMIT 1"
        ).fetchone()
        return frozenset(telling | {"hash"} | ({"size"} if sized else set()))

    def ranks(self, column: str) -> Sequence[int]:
        """Give the rank of each code in the order of a column's values."""
        values = self.values(column)
        if column not in ("compiler", "os", "platform", "target", "source"):
            return range(len(values))
        keys = [_order(column, value) for value in values]
        rank_of = {key: rank for rank, key in enumerate(sorted(set(keys)))}
        return [rank_of[key] for key in keys]

    def spec_keys(self, column: str, ids: Sequence[int]) -> dict[int, str | float]:
        """Give the hashes or the sizes of specs; a missing size comes before all others."""
        if not ids:
            return {}
        what = "hash" if column == "hash" else "coalesce(size, -1)"
        return dict(
            self._execute(
                f"SELECT id, {what} FROM spec WHERE id BETWEEN ? AND ?", (min(ids), max(ids))
            )
        )

    def rows(self, ids: Sequence[int], counts: Sequence[int] | None = None) -> list[Row]:
        """Give the rows with these ids, in the order of the ids."""
        # Ids are numbers of this index, never text of a user.
        found = {
            row[0]: row
            for row in self._execute(
                "SELECT spec.id, look_alike.id, hash, size, package, version, arch, variant_set,"
                " stack_set, tag, document FROM spec JOIN look_alike"
                f" ON look_alike.id = look_alike WHERE spec.id IN ({','.join(map(str, ids))})"
            )
        }
        how_many = counts if counts is not None else [1] * len(ids)
        return [self._row(found[id_], count) for id_, count in zip(ids, how_many, strict=True)]

    def _row(self, columns: tuple[Any, ...], count: int) -> Row:
        id_, look_alike, hash_, size, package, version, arch, *codes = columns
        variants, stacks, tag, document = codes
        its_arch = self._arches[arch]
        origin, source = self._documents[document]
        spec = Spec(
            package=self._package_names[package],
            hash=hash_,
            version=self._versions[version],
            compiler=its_arch.compiler,
            platform=its_arch.platform,
            os=its_arch.os,
            target=its_arch.target,
            variants=self._variant_sets[variants],
            stacks=self._stack_sets[stacks],
            size=_number(size),
            tag=self.tags[tag],
            origin=origin,
            source=source,
        )
        return Row(id_, look_alike, spec, count)

    def specs(self, listing: Listing) -> Iterator[Spec]:
        """Give the records of a listing in its order, a window at a time."""
        for start in range(0, len(listing.ids), 512):
            for row in self.rows(listing.ids[start : start + 512]):
                yield row.spec

    def by_hash(self, hash_: str) -> list[Row]:
        """Give every record with this whole hash."""
        if not is_hash(hash_):
            return []
        found = self._execute("SELECT id FROM spec WHERE hash = ? ORDER BY id", (hash_,))
        return self.rows([id_ for (id_,) in found])

    def count(self, query: Query) -> int:
        """Count the records that match."""
        return sum(package.shown for package in self.packages(query))

    def why_none(self, query: Query) -> str:
        """Say in one sentence which condition of a query without a match is to blame."""
        if not query:
            return "there is no spec at all"
        groups = query.groups()
        alone = len(groups) == 1
        left = [(0 if alone else self.count(query.without(*group)), group) for group in groups]
        ways = [f"{count:,} without {_spell(group)}" for count, group in left if count]
        if ways:
            verb = "is" if ways[0].startswith("1 ") else "are"
            return f"no spec matches; there {verb} {', '.join(ways)}"
        before: tuple[Term, ...] = ()
        for number, group in enumerate(groups):
            if not self.count(Query(group)):
                return f"no spec matches {_spell(group)}"
            if not self.count(Query(before + group)):
                pairs = (one for one in groups[:number] if not self.count(Query(one + group)))
                other = next(pairs, before)
                return f"no spec matches {_spell(group)} together with {_spell(other)}"
            before += group
        return "no spec matches"

    def _stoppable(self, should_stop: ShouldStop) -> _Stoppable:
        return _Stoppable(self._connection, should_stop)


class _Stoppable:
    """Let a statement be given up between two rows."""

    def __init__(self, connection: sqlite3.Connection, should_stop: ShouldStop) -> None:
        self._connection = connection
        self._should_stop = should_stop

    def __enter__(self) -> None:
        if self._should_stop():
            raise Cancelled
        if self._should_stop is not never:
            self._connection.set_progress_handler(lambda: int(self._should_stop()), 20_000)

    def __exit__(self, kind: type[BaseException] | None, error: object, _trace: object) -> None:
        self._connection.set_progress_handler(None, 0)
        if kind is sqlite3.OperationalError and self._should_stop():
            raise Cancelled


def _meta(connection: sqlite3.Connection) -> dict[str, object]:
    return dict(connection.execute("SELECT key, value FROM meta"))


def _tables(made: Clause) -> str:
    if not made.on_specs:
        return "look_alike"
    # CROSS JOIN keeps the order of the tables, which the planner cannot know to choose.
    if made.by_hash:
        return "spec CROSS JOIN look_alike ON look_alike.id = spec.look_alike"
    return "look_alike CROSS JOIN spec ON spec.id BETWEEN first AND first + n - 1"


def _order(column: str, value: Value) -> tuple[object, ...]:
    if column == "compiler" and isinstance(value, str):
        name, _, version = value.partition("@")
        return name, version_key(version), value
    return (value,)


def _number(size: float | None) -> float | None:
    return int(size) if size is not None and size.is_integer() else size


def _spell(group: Sequence[object]) -> str:
    return " | ".join(map(str, group))
