"""Write the tables of an index in display order, once all records are staged."""

from __future__ import annotations

import json
import sqlite3
from array import array
from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from itertools import accumulate, chain, compress, repeat
from typing import Any

from spackscope.model.core.columns import STORED
from spackscope.model.core.records import HASH_LENGTH, NodeFacts
from spackscope.model.index.codec import translate, write_codes
from spackscope.model.index.connection import insert
from spackscope.model.index.deduplicate import Deduplicator
from spackscope.model.index.dictionaries import Dictionaries, Dictionary, Ranks
from spackscope.model.index.display_order import look_alike_order, record_order, used_look_alikes
from spackscope.model.index.edges import EdgeWriter, counts_of
from spackscope.model.index.kept import Kept
from spackscope.model.index.pieces import Part, Pieces
from spackscope.model.index.preferred_order import preferred_order
from spackscope.model.index.schema import CODES, INDEXES
from spackscope.model.index.staged import Staged, StagedDocument


class Finisher:
    """Writes what an `IndexWriter` has staged, and what is kept of an old index."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        sources: Sequence[str],
        documents: Mapping[int, StagedDocument],
        dictionaries: Dictionaries,
        staged: Staged,
        nodes: Dictionary,
        edges: EdgeWriter,
        kept: Kept,
        *,
        is_mixed: bool,
    ) -> None:
        self._connection = connection
        self._sources = sources
        self._documents = documents
        self._dictionaries = dictionaries
        self._staged = staged
        self._nodes = nodes
        self._edges = edges
        self._kept = kept
        self._is_mixed = is_mixed

    def finish(self, meta: Mapping[str, object]) -> None:
        """Merge repeated records, assign ids in display order, write all tables, and commit."""
        deduplicator = Deduplicator(
            self._connection, self._staged, self._documents, self._dictionaries
        )
        deduplicator.drop_repeated_pages()
        merged = deduplicator.merge() if self._is_mixed else {}
        used = used_look_alikes(self._staged)
        codes = {name: set(compress(self._staged.codes[name], used)) for name in STORED}
        ranks = self._dictionaries.write(
            self._connection, self._sources, codes, self._kept.entries()
        )
        staged, records = self._display_order(used, ranks)
        kept = self._kept.translated({name: rank.kept for name, rank in ranks.items()})
        pieces = Pieces(kept, self._kept.mask, self._kept.ids, staged)
        self._kept.copy(pieces)
        columns = self._write_look_alikes(pieces, kept, staged)
        self._write_specs(pieces, staged, records)
        self._connection.executescript(INDEXES)
        up_first, documents = self._edges.write(
            self._connection, records, merged, pieces, self._kept
        )
        columns["preferred"] = preferred_order(columns, up_first)
        write_codes(self._connection, columns)
        self._write_nodes(pieces, records)
        self._write_provenance(pieces, records)
        self._mark_merged(documents)
        self._count_specs()
        self._complete_sizes()
        self._connection.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
        self._connection.commit()

    def _display_order(self, used: bytes, ranks: Mapping[str, Ranks]) -> tuple[Part, array[int]]:
        """Return the staged look-alikes in display order, and the records of their specs."""
        staged_ranks: dict[str, Sequence[int]] = {
            "document": range(max(self._documents, default=-1) + 1),
            "unlisted": range(2),
            **{name: rank.staged for name, rank in ranks.items()},
        }
        order, places = look_alike_order(self._staged, used, staged_ranks)
        first, records = record_order(self._staged, places, len(order))
        columns = {}
        for name in CODES:
            codes = map(self._staged.codes[name].__getitem__, order)
            columns[name] = array("I", map(staged_ranks[name].__getitem__, codes))
        return Part(columns, first), records

    def _write_look_alikes(
        self, pieces: Pieces, kept: Part, staged: Part
    ) -> dict[str, array[int]]:
        """Write the look-alikes; return their columns, and with `first` their first specs."""
        columns = {
            name: pieces.look_alikes(kept.columns[name], staged.columns[name]) for name in CODES
        }
        counts = pieces.look_alikes(counts_of(kept.first), counts_of(staged.first))
        columns["first"] = array("I", accumulate(counts, initial=0))
        for piece in pieces.staged:
            ids = slice(piece.look_alike, piece.look_alike + piece.stop - piece.start)
            values = (column[ids] for column in columns.values())
            rows = zip(range(ids.start, ids.stop), *values, counts[ids], strict=True)
            insert(self._connection, "look_alike", rows)
        self._write_packages(columns)
        return columns

    def _write_packages(self, columns: Mapping[str, array[int]]) -> None:
        """Write the first spec of each package, and how many are listed."""
        packages, first = columns["package"], columns["first"]
        listed = bisect_left(columns["unlisted"], 1)
        rows, start = [], 0
        for package in range(max(packages, default=-1) + 1):
            stop = bisect_left(packages, package + 1, start, listed)
            count = first[stop] - first[start]
            rows.append((first[start] if count else 0, count, package))
            start = stop
        self._connection.executemany("UPDATE package SET first = ?, n = ? WHERE id = ?", rows)

    def _write_specs(self, pieces: Pieces, staged: Part, records: array[int]) -> None:
        # Slicing one text takes half the time of decoding each hash.
        hashes = self._staged.hashes.decode()
        for piece in pieces.staged:
            numbers = records[piece.first : piece.last]
            sizes = counts_of(staged.first[piece.start : piece.stop + 1])
            look_alikes = range(piece.look_alike, piece.look_alike + len(sizes))
            # The first id is 0, so that all rows are range(n).
            insert(
                self._connection,
                "spec",
                zip(
                    range(piece.spec, piece.spec + len(numbers)),
                    (hashes[n * HASH_LENGTH : (n + 1) * HASH_LENGTH] for n in numbers),
                    chain.from_iterable(map(repeat, look_alikes, sizes)),
                    # SQLite stores NaN as NULL.
                    map(self._staged.sizes.__getitem__, numbers),
                    strict=True,
                ),
            )

    def _count_specs(self) -> None:
        """Add up the specs of each source: the title shows them in the first frame."""
        counts = self._connection.execute(
            "SELECT sum(specs), source FROM document GROUP BY source"
        ).fetchall()
        self._connection.executemany("UPDATE source SET specs = ? WHERE id = ?", counts)

    def _complete_sizes(self) -> None:
        """Set the size of specs without one to that of the archive of their hash, if there is one.

        Their documents are read again next time: the size is not theirs.
        """
        archives = self._staged.archives
        if not archives:
            return
        self._connection.execute("CREATE TEMP TABLE archive (hash TEXT PRIMARY KEY, size)")
        self._connection.executemany("INSERT INTO temp.archive VALUES (?, ?)", archives.items())
        without = "size IS NULL AND spec.hash IN (SELECT hash FROM temp.archive)"
        self._connection.execute(
            "UPDATE document SET merged = 1 WHERE id IN (SELECT document FROM spec"
            f" JOIN look_alike ON look_alike.id = look_alike WHERE {without})"
        )
        self._connection.execute(
            "UPDATE spec SET size = (SELECT size FROM temp.archive"
            f" WHERE archive.hash = spec.hash) WHERE {without}"
        )

    def _mark_merged(self, merged: Collection[int]) -> None:
        """Write which documents are `merged`: some of their records are one with others'."""
        merged = {code for code, its in self._documents.items() if its.is_merged} | {*merged}
        self._connection.executemany(
            "UPDATE document SET merged = 1 WHERE id = ?", ((code,) for code in merged)
        )

    def _write_nodes(self, pieces: Pieces, records: array[int]) -> None:
        """Write what nodes state, and the code of each spec: 0 for what states nothing."""
        staged = array("I", map(self._staged.nodes.__getitem__, records))
        entries = list(self._nodes)
        staged_rows = {code: _node_row(entries[code]) for code in set(staged)}
        kept, kept_rows = self._kept.nodes(pieces)
        nothing = _node_row(NodeFacts())
        rows = {*staged_rows.values(), *kept_rows.values()} - {nothing}
        codes = {row: code for code, row in enumerate([nothing, *sorted(rows)])}
        column = pieces.specs(
            translate(kept, {code: codes[row] for code, row in kept_rows.items()}),
            translate(staged, {code: codes[row] for code, row in staged_rows.items()}),
        )
        write_codes(self._connection, {"node": column})
        self._connection.executemany(
            f"INSERT INTO node VALUES ({', '.join('?' * (len(NodeFacts._fields) + 1))})",
            ((code, *row) for row, code in codes.items()),
        )

    def _write_provenance(self, pieces: Pieces, records: array[int]) -> None:
        provenance = self._staged.provenance
        if provenance:
            self._connection.executemany(
                "INSERT INTO provenance VALUES (?, ?, ?, ?)",
                (
                    (spec, *provenance[number])
                    for spec, number in pieces.staged_specs(records)
                    if number in provenance
                ),
            )


def _node_row(node: NodeFacts) -> tuple[Any, ...]:
    """Return what a node states as the table stores it."""
    return tuple(json.dumps(value) if isinstance(value, tuple) else value for value in node)
