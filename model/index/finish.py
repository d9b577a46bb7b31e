"""Write the tables of an index in display order, once all records are staged."""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import getitem

from spackscope.model.core.records import NodeFacts
from spackscope.model.index.codec import pack_codes
from spackscope.model.index.deduplicate import Deduplicator, StagedDocument
from spackscope.model.index.dictionaries import Codes, Dictionaries, Dictionary
from spackscope.model.index.edges import EdgeWriter
from spackscope.model.index.schema import CODES, INDEXES
from spackscope.model.readers.fields import storable
from spackscope.model.sources.document import fingerprint


@dataclass
class Finisher:
    """Writes what an `IndexWriter` has staged.

    The table `staged` has the look-alike, hash, size and node of each record in the order of
    reading, and `staged_provenance` and `archive` what the writer says of them.
    """

    _connection: sqlite3.Connection
    _sources: Sequence[str]
    _documents: Sequence[StagedDocument]
    _dictionaries: Dictionaries
    _look_alikes: dict[Codes, int]
    _nodes: Dictionary
    _edges: EdgeWriter

    def finish(self, meta: Mapping[str, object]) -> None:
        """Merge repeated records, assign ids in display order, write all tables, and commit."""
        deduplicator = Deduplicator(
            self._connection, self._look_alikes, self._documents, self._dictionaries
        )
        deduplicator.drop_repeated_pages()
        merged = deduplicator.merge()
        self._write_documents()
        ranks = self._dictionaries.write(self._connection, self._sources, len(self._documents))
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
