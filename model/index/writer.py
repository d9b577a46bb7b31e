"""Write an index: collect records in any order, and write them in display order."""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from itertools import accumulate, repeat
from operator import attrgetter, getitem
from typing import Any

from spackscope.model.core.records import NodeFacts, Problem, Provenance, Spec
from spackscope.model.index.codec import pack_codes
from spackscope.model.index.deduplicate import Deduplicator, StagedDocument
from spackscope.model.index.dictionaries import Codes, Dictionaries, Dictionary
from spackscope.model.index.edges import EdgeWriter
from spackscope.model.index.schema import CODES, INDEXES, TABLES
from spackscope.model.readers.fields import storable
from spackscope.model.sources.document import DiscoveredSource, Document, fingerprint

_BATCH = 2048
_CHUNK = 256
"""Records of a document that get their codes at once: column by column takes half the time."""

_node = attrgetter(*NodeFacts._fields)
_provenance = attrgetter(*(f.name for f in fields(Provenance) if f.name not in NodeFacts._fields))


class IndexWriter:
    """Writes one index: add sources and their documents in any order, then `finish`.

    `include_dependency_only` lists dependency-only specs with all others. `count` is the number
    of records so far. All methods raise sqlite3.Error.
    """

    def __init__(
        self, connection: sqlite3.Connection, *, include_dependency_only: bool = False
    ) -> None:
        connection.executescript(
            "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;"
            + TABLES
            + "CREATE TEMP TABLE staged (look_alike INTEGER, hash TEXT, size REAL, node INTEGER);"
            "CREATE TEMP TABLE staged_provenance (nth INTEGER PRIMARY KEY, path TEXT,"
            " installed_at REAL, build_spec TEXT);"
            "CREATE TEMP TABLE archive (hash TEXT PRIMARY KEY, size REAL);"
        )
        self._connection = connection
        self._include_dependency_only = include_dependency_only
        self._sources = Dictionary()
        self._dictionaries = Dictionaries()
        self._look_alikes: dict[Codes, int] = {}
        self.count = 0
        self._edges = EdgeWriter()
        # What pages state of a node, which is nothing, has the code 0.
        self._nodes = Dictionary({NodeFacts(): 0})
        self._staged: list[tuple[int, str, float | None, int]] = []
        self._provenance: list[tuple[int, str, float | None, str]] = []
        self._documents: list[StagedDocument] = []

    def add_source(self, discovered: DiscoveredSource) -> None:
        """Add a source."""
        code = self._sources[discovered.source]
        self._connection.execute(
            "INSERT INTO source VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                code,
                storable(discovered.source),
                discovered.kind,
                discovered.layout,
                discovered.checked,
                storable(discovered.remark),
                storable(discovered.failure),
            ),
        )

    def add_document(
        self, document: Document, items: Iterable[Spec | Problem], *, is_page: bool = False
    ) -> bool:
        """Stage the records of a document, and add its problems.

        Returns whether its format is known: then it has records, or no problem either.
        """
        staged = StagedDocument(document, self._sources[document.source], is_page)
        code, before = len(self._documents), self.count
        has_problem = False
        specs: list[Spec] = []
        self._documents.append(staged)
        for item in items:
            if isinstance(item, Problem):
                has_problem = True
                self.add_problem(item, document.source, code)
            else:
                staged.specs += item.in_cache or self._include_dependency_only
                staged.lists_dependencies |= item.dependencies is not None
                specs.append(item)
                if len(specs) >= _CHUNK:
                    self._add_specs(specs, code, staged)
                    specs.clear()
        self._add_specs(specs, code, staged)
        return self.count > before or not has_problem

    def add_problem(
        self, problem: Problem, source: str | None = None, document: int | None = None
    ) -> None:
        """Add what could not be read, of a source and a document if it belongs to them."""
        self._connection.execute(
            "INSERT INTO problem (source, document, origin, place, reason) VALUES (?, ?, ?, ?, ?)",
            (
                self._sources[source] if source is not None else None,
                document,
                storable(problem.origin),
                problem.place,
                storable(problem.reason),
            ),
        )

    def add_failure(self, source: str, failure: str, *, is_reported: bool = False) -> None:
        """Add why nothing of a source can be read, also as a problem unless one reports it."""
        self._connection.execute(
            "UPDATE source SET failure = ? WHERE id = ?",
            (storable(failure), self._sources[source]),
        )
        if not is_reported:
            self.add_problem(Problem("", "", failure), source)

    def add_archive(self, hash_: str, size: float) -> None:
        """Add the size of an archive, for all records of its hash without one."""
        self._connection.execute("INSERT OR IGNORE INTO archive VALUES (?, ?)", (hash_, size))

    def _add_specs(self, specs: Sequence[Spec], document: int, staged: StagedDocument) -> None:
        source_document, sources = staged.document, (staged.source,)
        if source_document.cached:
            specs = [
                replace(spec, cached=True) if spec.in_cache and not spec.cached else spec
                for spec in specs
            ]
        stacks = (source_document.stack,) if source_document.stack else ()
        values: dict[str, Iterable[Any]] = {
            "stack_set": [spec.stacks or stacks for spec in specs],
            "tag": [spec.tag or source_document.tag for spec in specs],
            "presence": [(sources, spec.states) for spec in specs],
            "document": repeat(document),
            "unlisted": [not (spec.in_cache or self._include_dependency_only) for spec in specs],
        }
        for spec, codes in zip(specs, self._dictionaries.codes(specs, values), strict=True):
            if spec.dependencies is not None:
                self._edges.add(self.count, document, spec.hash, spec.dependencies)
            if any(provenance := _provenance(spec)):
                self._provenance.append((self.count, *provenance))
            self.count += 1
            look_alike = self._look_alikes.setdefault(codes, len(self._look_alikes))
            self._staged.append((look_alike, spec.hash, spec.size, self._nodes[_node(spec)]))
        if len(self._staged) >= _BATCH:
            self._flush()

    def _flush(self) -> None:
        self._connection.executemany("INSERT INTO staged VALUES (?, ?, ?, ?)", self._staged)
        self._staged.clear()
        self._connection.executemany(
            "INSERT INTO staged_provenance VALUES (?, ?, ?, ?)", self._provenance
        )
        self._provenance.clear()

    def finish(self, **meta: object) -> None:
        """Merge repeated records, assign ids in display order, write all tables, and commit."""
        self._flush()
        deduplicator = Deduplicator(
            self._connection, self._look_alikes, self._documents, self._dictionaries
        )
        deduplicator.drop_repeated_pages()
        merged = deduplicator.merge()
        self._write_documents()
        ranks = self._dictionaries.write(
            self._connection, list(self._sources), len(self._documents)
        )
        self._connection.execute(
            "UPDATE staged SET size = (SELECT size FROM archive WHERE archive.hash = staged.hash)"
            " WHERE size IS NULL AND hash IN (SELECT hash FROM archive)"
        )
        counts: dict[int, int] = dict(
            self._connection.execute(
                "SELECT look_alike, count(*) FROM staged GROUP BY look_alike"
            ).fetchall()
        )
        order = sorted(
            (
                (tuple(map(getitem, ranks, codes)), staged)
                for codes, staged in self._look_alikes.items()
                if staged in counts
            ),
            key=lambda item: (item[0][-1], item[0]),
        )
        self._write_look_alikes(order, counts)
        self._write_specs([staged for _, staged in order], merged)
        self._connection.executescript(INDEXES)
        self._connection.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
        self._connection.commit()

    def _write_documents(self) -> None:
        self._connection.executemany(
            "INSERT INTO document VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                (
                    code,
                    staged.source,
                    storable(staged.document.origin),
                    fingerprint([staged.document]),
                    staged.specs,
                    staged.lists_dependencies,
                    staged.is_page,
                    staged.is_merged,
                )
                for code, staged in enumerate(self._documents)
            ),
        )

    def _write_look_alikes(
        self, order: Sequence[tuple[tuple[int, ...], int]], counts: dict[int, int]
    ) -> None:
        columns = {
            name: array("I", [codes[number] for codes, _ in order])
            for number, name in enumerate(CODES)
        }
        numbers = [counts[staged] for _, staged in order]
        columns["first"] = array("I", accumulate(numbers, initial=0))
        self._connection.executemany(
            f"INSERT INTO look_alike VALUES ({', '.join('?' * (len(CODES) + 3))})",
            zip(range(len(order)), *columns.values(), numbers, strict=False),
        )
        self._connection.executemany(
            "INSERT INTO codes VALUES (?, ?)",
            [(name, pack_codes(column)) for name, column in columns.items()],
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

    def _write_specs(self, order: Sequence[int], merged: Mapping[int, int]) -> None:
        self._connection.execute("CREATE TEMP TABLE placed (look_alike INTEGER PRIMARY KEY, id)")
        self._connection.executemany(
            "INSERT INTO placed VALUES (?, ?)", ((staged, id_) for id_, staged in enumerate(order))
        )
        # The first id is 0, so that all rows are range(n).
        self._connection.execute(
            "CREATE TEMP TABLE numbered AS"
            " SELECT row_number() OVER (ORDER BY id, hash) - 1 AS spec, hash, id, size, node,"
            " staged.rowid - 1 AS nth FROM staged JOIN placed USING (look_alike)"
        )
        self._connection.execute("INSERT INTO spec SELECT spec, hash, id, size FROM numbered")
        self._edges.write(self._connection, merged)
        self._write_nodes()
        self._connection.execute(
            "INSERT INTO provenance SELECT spec, path, installed_at, build_spec"
            " FROM staged_provenance JOIN numbered USING (nth)"
        )
        self._connection.executescript(
            "DROP TABLE staged; DROP TABLE placed; DROP TABLE numbered;"
            "DROP TABLE staged_provenance; DROP TABLE archive;"
        )

    def _write_nodes(self) -> None:
        """Write what nodes state, and the code of each spec."""
        rows = self._connection.execute("SELECT node FROM numbered ORDER BY spec")
        codes = array("I", (code for (code,) in rows))
        self._connection.execute("INSERT INTO codes VALUES (?, ?)", ("node", pack_codes(codes)))
        self._connection.executemany(
            f"INSERT INTO node VALUES ({', '.join('?' * (len(NodeFacts._fields) + 1))})",
            (
                (code, *(json.dumps(v) if isinstance(v, tuple) else v for v in node))
                for node, code in self._nodes.items()
            ),
        )
