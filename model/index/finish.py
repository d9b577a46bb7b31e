"""Write the tables of an index in display order, once all records are staged."""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import sub

from spackscope.model.core.records import NodeFacts
from spackscope.model.index.codec import write_codes
from spackscope.model.index.deduplicate import Deduplicator
from spackscope.model.index.dictionaries import Dictionaries, Dictionary
from spackscope.model.index.display_order import look_alike_order, record_order
from spackscope.model.index.edges import EdgeWriter
from spackscope.model.index.preferred_order import preferred_order
from spackscope.model.index.schema import CODES, INDEXES
from spackscope.model.index.staged import Staged, StagedDocument


@dataclass
class Finisher:
    """Writes what an `IndexWriter` has staged."""

    _connection: sqlite3.Connection
    _sources: Sequence[str]
    _documents: Mapping[int, StagedDocument]
    _dictionaries: Dictionaries
    _staged: Staged
    _nodes: Dictionary
    _edges: EdgeWriter

    def finish(self, meta: Mapping[str, object]) -> None:
        """Merge repeated records, assign ids in display order, write all tables, and commit."""
        deduplicator = Deduplicator(
            self._connection, self._staged, self._documents, self._dictionaries
        )
        deduplicator.drop_repeated_pages()
        documents = self._documents.values()
        sources = {document.source for document in documents}
        is_mixed = len(sources) > 1 or not all(document.is_page for document in documents)
        merged = deduplicator.merge() if is_mixed and len(documents) > 1 else {}
        self._staged.complete_sizes()
        self._write_documents()
        ranks = self._dictionaries.write(self._connection, self._sources, len(self._documents))
        order, places = look_alike_order(self._staged, ranks)
        first, records = record_order(self._staged, places, len(order))
        columns = self._write_look_alikes(order, ranks, first)
        self._write_specs(records, places)
        up_first = self._edges.write(self._connection, self._staged, records, merged)
        columns["preferred"] = preferred_order(columns, up_first)
        write_codes(self._connection, columns)
        self._write_nodes(records)
        self._write_provenance(records)
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
                    staged.origin,
                    staged.fingerprint,
                    staged.specs,
                    staged.lists_dependencies,
                    staged.is_page,
                    staged.is_merged,
                )
                for code, staged in self._documents.items()
            ),
        )

    def _write_look_alikes(
        self, order: Sequence[int], ranks: Mapping[str, Sequence[int]], first: array[int]
    ) -> dict[str, array[int]]:
        """Write the look-alikes; return their columns, and with `first` their first specs."""
        columns: dict[str, array[int]] = {}
        for name in CODES:
            codes = map(self._staged.codes[name].__getitem__, order)
            columns[name] = array("I", map(ranks[name].__getitem__, codes))
        columns["first"] = first
        numbers = map(sub, first[1:], first)
        self._connection.executemany(
            f"INSERT INTO look_alike VALUES ({', '.join('?' * (len(CODES) + 3))})",
            zip(range(len(order)), *columns.values(), numbers, strict=False),
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
        return columns

    def _write_specs(self, records: array[int], places: array[int]) -> None:
        staged = self._staged
        # The first id is 0, so that all rows are range(n).
        self._connection.executemany(
            "INSERT INTO spec VALUES (?, ?, ?, ?)",
            zip(
                range(len(records)),
                map(staged.hash_at, records),
                map(places.__getitem__, map(staged.look_alikes.__getitem__, records)),
                map(staged.size_at, records),
                strict=True,
            ),
        )

    def _write_nodes(self, records: array[int]) -> None:
        """Write what nodes state, and the code of each spec."""
        codes = array("I", map(self._staged.nodes.__getitem__, records))
        write_codes(self._connection, {"node": codes})
        self._connection.executemany(
            f"INSERT INTO node VALUES ({', '.join('?' * (len(NodeFacts._fields) + 1))})",
            (
                (code, *(json.dumps(v) if isinstance(v, tuple) else v for v in node))
                for node, code in self._nodes.items()
            ),
        )

    def _write_provenance(self, records: array[int]) -> None:
        provenance = self._staged.provenance
        if provenance:
            self._connection.executemany(
                "INSERT INTO provenance VALUES (?, ?, ?, ?)",
                (
                    (spec, *provenance[number])
                    for spec, number in enumerate(records)
                    if number in provenance
                ),
            )
