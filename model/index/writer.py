"""Gather records and write them in display order."""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any

from spackscope.model.code_columns import packed
from spackscope.model.index.edges import Edges
from spackscope.model.index.schema import CODES, INDEXES, TABLES
from spackscope.model.records import Problem, Spec
from spackscope.model.sources.documents import Document
from spackscope.model.versions import version_key

_Codes = tuple[int, ...]
_BATCH = 2048
_DOCUMENT = CODES.index("document")


class _Dictionary(dict[Any, int]):
    """Number values in the order in which they are first seen."""

    def __missing__(self, value: Any) -> int:
        code = self[value] = len(self)
        return code


class IndexWriter:
    """Write one index: add documents and records in any order, then finish."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        connection.executescript(
            "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;"
            + TABLES
            + "CREATE TEMP TABLE staged (look_alike INTEGER, hash TEXT, size REAL);"
        )
        self._connection = connection
        self._sources = _Dictionary()
        self._packages, self._versions, self._arches = _Dictionary(), _Dictionary(), _Dictionary()
        self._variants, self._stacks, self._tags = _Dictionary(), _Dictionary(), _Dictionary()
        self._extras = _Dictionary()
        self._look_alikes: dict[_Codes, int] = {}
        self._count = 0
        self._edges = Edges()
        self._staged: list[tuple[int, str, float | None]] = []
        self._document_sources: list[int] = []
        self._documents: list[tuple[int, int, str, int, int, int, int]] = []

    def add_document(self, document: Document, items: Iterator[Spec | Problem]) -> int:
        """Stage the records of one document, and write down its problems; count the records."""
        code, specs, listing, before = len(self._document_sources), 0, 0, self._count
        source = self._sources[document.source]
        self._document_sources.append(source)
        for item in items:
            if isinstance(item, Problem):
                self.add_problem(item)
            else:
                specs += item.in_cache
                listing |= item.dependencies is not None
                self._add_spec(item, code)
        origin = _storable(document.origin)
        size, mtime_ns = document.size, document.mtime_ns
        self._documents.append((code, source, origin, size, mtime_ns, specs, listing))
        return self._count - before

    def add_problem(self, problem: Problem) -> None:
        """Write down what could not be read."""
        self._connection.execute(
            "INSERT INTO problem (origin, place, reason) VALUES (?, ?, ?)",
            (_storable(problem.origin), problem.place, problem.reason),
        )

    def _add_spec(self, spec: Spec, document: int) -> None:
        codes = (
            self._packages[spec.package],
            self._versions[spec.version],
            self._arches[spec.compiler, spec.os, spec.platform, spec.target],
            self._variants[spec.variants],
            self._stacks[spec.stacks],
            self._tags[spec.tag],
            document,
            self._extras[spec.namespace, spec.flags],
            int(not spec.in_cache),
        )
        if spec.dependencies is not None:
            self._edges.add(self._count, document, spec)
        self._count += 1
        look_alike = self._look_alikes.setdefault(codes, len(self._look_alikes))
        self._staged.append((look_alike, spec.hash, spec.size))
        if len(self._staged) >= _BATCH:
            self._flush()

    def _flush(self) -> None:
        self._connection.executemany("INSERT INTO staged VALUES (?, ?, ?)", self._staged)
        self._staged.clear()
        self._connection.executemany(
            "INSERT INTO document VALUES (?, ?, ?, ?, ?, ?, ?)", self._documents
        )
        self._documents.clear()

    def finish(self, **meta: object) -> None:
        """Give the ids in display order, write every table, and commit."""
        self._flush()
        self._drop_repeated()
        ranks = self._write_dictionaries()
        counts: dict[int, int] = dict(
            self._connection.execute("SELECT look_alike, count(*) FROM staged GROUP BY look_alike")
        )
        order = sorted(
            (
                (tuple(rank[code] for rank, code in zip(ranks, codes, strict=True)), staged)
                for codes, staged in self._look_alikes.items()
                if staged in counts
            ),
            key=lambda item: (item[0][-1], item[0]),
        )
        self._write_look_alikes(order, counts)
        self._write_specs([staged for _, staged in order])
        self._edges.write(self._connection)
        self._connection.executescript(INDEXES)
        self._connection.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
        self._connection.commit()

    def _write_dictionaries(self) -> list[Sequence[int]]:
        """Write each dictionary in the order of its values; give the ranks of its codes."""
        self._connection.executemany(
            "INSERT INTO source VALUES (?, ?)",
            [(code, _storable(name)) for name, code in self._sources.items()],
        )
        return [
            self._write_dictionary("package (id, name)", self._packages, str, _one),
            self._write_dictionary("version", self._versions, _by_version, _one),
            self._write_dictionary("arch", self._arches, _by_arch, tuple),
            self._write_dictionary("variant_set", self._variants, _by_name, _json),
            self._write_dictionary("stack_set", self._stacks, tuple, _json),
            self._write_dictionary("tag", self._tags, str, _one),
            range(len(self._document_sources)),
            self._write_dictionary("extra", self._extras, tuple, _extra),
            range(2),
        ]

    def _write_dictionary(
        self,
        table: str,
        dictionary: _Dictionary,
        order: Callable[[Any], Any],
        columns: Callable[[Any], tuple[str, ...]],
    ) -> Sequence[int]:
        ranks = [0] * len(dictionary)
        rows = []
        for rank, value in enumerate(sorted(dictionary, key=order)):
            ranks[dictionary[value]] = rank
            rows.append((rank, *columns(value)))
        if rows:
            marks = ", ".join("?" * len(rows[0]))
            self._connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)
        return ranks

    def _write_look_alikes(
        self, order: Sequence[tuple[_Codes, int]], counts: dict[int, int]
    ) -> None:
        columns = {place: array("I") for place in CODES}
        firsts = array("I")

        def rows() -> Iterator[tuple[int, ...]]:
            first = 0
            for id_, (codes, staged) in enumerate(order):
                yield (id_, *codes, first, counts[staged])
                for column, code in zip(columns.values(), codes, strict=True):
                    column.append(code)
                firsts.append(first)
                first += counts[staged]
            firsts.append(first)

        self._connection.executemany(
            "INSERT INTO look_alike VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows()
        )
        self._connection.executemany(
            "INSERT INTO codes VALUES (?, ?)",
            [(place, packed(column)) for place, column in (*columns.items(), ("first", firsts))],
        )
        self._connection.execute(
            "UPDATE package SET (first, n) = (SELECT first, n FROM"
            " (SELECT package, min(first) AS first, sum(n) AS n FROM look_alike"
            " WHERE unlisted = 0 GROUP BY package) AS counted WHERE counted.package = package.id)"
        )
        self._connection.execute("UPDATE package SET first = 0, n = 0 WHERE n IS NULL")
        self._connection.execute(
            "DELETE FROM package WHERE id NOT IN (SELECT package FROM look_alike)"
        )

    def _write_specs(self, order: Sequence[int]) -> None:
        self._connection.execute("CREATE TEMP TABLE placed (look_alike INTEGER PRIMARY KEY, id)")
        self._connection.executemany(
            "INSERT INTO placed VALUES (?, ?)", ((staged, id_) for id_, staged in enumerate(order))
        )
        # The first id is 0, so that the rows of everything are range(n).
        self._connection.execute(
            "CREATE TEMP TABLE numbered AS"
            " SELECT row_number() OVER (ORDER BY id, hash) - 1 AS spec, hash, id, size,"
            " staged.rowid - 1 AS nth FROM staged JOIN placed USING (look_alike)"
        )
        self._connection.execute("INSERT INTO spec SELECT spec, hash, id, size FROM numbered")
        self._edges.number(self._connection)
        self._connection.executescript(
            "DROP TABLE staged; DROP TABLE placed; DROP TABLE numbered;"
        )

    def _drop_repeated(self) -> None:
        """Keep a record once that several pages of one source, tag and package repeat.

        A hash that they list with differing content stays in every form, and is a Problem.
        """
        pages: dict[tuple[int, int, int], dict[int, list[tuple[_Codes, int]]]]
        pages = defaultdict(lambda: defaultdict(list))
        for codes, staged in self._look_alikes.items():
            package, *_, tag, document, _, _ = codes
            place = self._document_sources[document], tag, package
            pages[place][document].append((codes, staged))
        crowded = [by_page for by_page in pages.values() if len(by_page) > 1]
        if not crowded:
            return
        contents = _Dictionary()
        self._connection.execute(
            "CREATE TEMP TABLE crowded"
            " (look_alike INTEGER PRIMARY KEY, place INTEGER, content INTEGER, document INTEGER)"
        )
        self._connection.executemany(
            "INSERT INTO crowded VALUES (?, ?, ?, ?)",
            (
                (
                    staged,
                    place,
                    contents[_content(codes)],
                    codes[_DOCUMENT],
                )
                for place, by_page in enumerate(crowded)
                for codes, staged in chain.from_iterable(by_page.values())
            ),
        )
        self._connection.executescript(
            """
            CREATE TEMP TABLE repeated AS SELECT id, origin FROM (
                SELECT staged.rowid AS id, document.origin, row_number() OVER (
                    PARTITION BY place, hash, content, staged.size ORDER BY staged.rowid) AS nth
                FROM staged JOIN crowded USING (look_alike)
                JOIN document ON document.id = crowded.document) WHERE nth > 1;
            DELETE FROM staged WHERE rowid IN (SELECT id FROM repeated);
            INSERT INTO problem (origin, place, reason)
                SELECT origin, '', count(*) || ' of its records stand alike in another page of'
                    || ' the same source, tag and package, and are shown once'
                FROM repeated GROUP BY origin;
            INSERT INTO problem (origin, place, reason)
                SELECT min(origin), '', 'hash ' || hash || ' stands with differing content in '
                    || count(DISTINCT document.id)
                    || ' pages of the same source, tag and package'
                FROM staged JOIN crowded USING (look_alike)
                JOIN document ON document.id = crowded.document
                GROUP BY crowded.place, hash HAVING count(DISTINCT document.id) > 1;
            DROP TABLE repeated;
            DROP TABLE crowded;
            """
        )


def _one(text: str) -> tuple[str]:
    return (text,)


def _json(texts: tuple[str, ...]) -> tuple[str]:
    return (json.dumps(texts),)


def _extra(extra: tuple[str, tuple[str, ...]]) -> tuple[str, str]:
    namespace, flags = extra
    return namespace, json.dumps(flags)


def _content(codes: _Codes) -> _Codes:
    """Give what a look-alike says, wherever it stands."""
    return codes[:_DOCUMENT] + codes[_DOCUMENT + 1 :]


def _by_version(version: str) -> tuple[Any, str]:
    return version_key(version), version


def _by_arch(arch: tuple[str, str, str, str]) -> tuple[Any, ...]:
    compiler, os, platform, target = arch
    name, _, version = compiler.partition("@")
    return name, version_key(version), platform, os, target, compiler


def _by_name(variants: tuple[str, ...]) -> tuple[Any, ...]:
    return tuple((text.lstrip("+~"), text) for text in variants)


def _storable(text: str) -> str:
    """Spell the undecodable bytes of a file name as question marks; SQLite takes UTF-8 only."""
    return text.encode("utf-8", "replace").decode()
