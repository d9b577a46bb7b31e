"""Find the documents whose records can be taken over from an old index."""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Iterable, Iterator, Mapping
from itertools import compress

from spackscope.model.core.errors import IndexDamaged
from spackscope.model.index.codec import unpack_codes
from spackscope.model.index.connection import Database
from spackscope.model.index.damage import class_reading_index, natural
from spackscope.model.index.kept import NOT_KEPT, Kept

ANY = -1
"""Stands for a document whose records may be merged with those of any other."""

Records = Mapping[str, set[int]]
"""The hashes of records; for each the sources of the pages that list it, or `ANY`."""


@class_reading_index
class OldIndex:
    """An older index of the same sources. Raises IndexDamaged.

    A document is known by its key, unless it has no records, or these were merged with those of
    others. Documents have to be kept in the order in which they were read.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        row = database.execute("SELECT width, data FROM codes WHERE name = 'document'").fetchone()
        codes = unpack_codes(*(row or (0, b"")))
        rows = database.execute("SELECT id, fingerprint, source, page, merged FROM document")
        # There may be 100,000 documents, so nothing is done for each of them alone.
        columns = list(zip(*rows.fetchall(), strict=True)) or [()] * 5
        ids, keys, self._sources, self._pages, merged = columns
        if ids != tuple(range(len(ids))):
            raise IndexDamaged("the ids of documents are damaged")
        self._codes = dict(zip(keys, ids, strict=True))
        without_records = set(ids).difference(codes)
        self._drop(without_records.union(compress(ids, merged)))
        rows = database.execute("SELECT DISTINCT document FROM problem WHERE document NOTNULL")
        self._with_problems = {code for (code,) in rows}
        self.forget()

    @property
    def sources(self) -> list[str]:
        """The names of the sources in their order."""
        return [name for (name,) in self._database.execute("SELECT name FROM source ORDER BY id")]

    def attach(self, connection: sqlite3.Connection) -> bool:
        """Attach the file to a connection as `old`; return whether it is still this index."""
        connection.execute("ATTACH ? AS old", (self._database.uri,))
        return dict(connection.execute("SELECT key, value FROM old.meta")) == self._database.meta

    def forget(self) -> None:
        """Keep no document."""
        self._documents = array("I", [NOT_KEPT]) * len(self._sources)
        self._last = -1

    def keep(self, connection: sqlite3.Connection, key: str, code: int) -> bool:
        """Keep a document and its problems under a new code; return whether it is known."""
        old = self._codes.get(key, -1)
        if old <= self._last:
            return False
        self._last = old
        self._documents[old] = code
        if old in self._with_problems:
            connection.execute(
                "INSERT INTO problem (source, document, origin, place, reason)"
                " SELECT source, ?, origin, place, reason FROM old.problem WHERE document = ?"
                " ORDER BY id",
                (code, old),
            )
        return True

    @property
    def page_sources(self) -> set[int]:
        """The sources of the kept pages, and a negative number for other kept documents."""
        is_kept = map(NOT_KEPT.__ne__, self._documents)
        kinds = set(compress(zip(self._sources, self._pages, strict=True), is_kept))
        return {source if is_page else ANY for source, is_page in kinds}

    def _page_source(self, code: int) -> int:
        return natural(self._sources[code]) if self._pages[code] else ANY

    def kept(self, connection: sqlite3.Connection) -> Kept:
        """Return what is kept."""
        return Kept(connection, self._documents)

    def drop_pages_like(
        self, connection: sqlite3.Connection, pages: Iterable[tuple[int, str, str]]
    ) -> bool:
        """Drop kept pages that others may repeat, given by source, tag and package.

        Returns whether there are any.
        """
        packages, tags = (
            {
                value: code
                for code, value in connection.execute(f"SELECT id, {name} FROM old.{name}")
            }
            for name in ("package", "tag")
        )
        dropped: set[int] = set()
        for source, tag, package in pages:
            rows = connection.execute(
                "SELECT DISTINCT document FROM old.look_alike WHERE package = ? AND tag = ?",
                (packages.get(package, -1), tags.get(tag, -1)),
            )
            dropped.update(
                code
                for (code,) in rows
                if self._is_kept(code) and self._page_source(code) == source
            )
        self._drop(dropped)
        return bool(dropped)

    def drop_records_like(self, connection: sqlite3.Connection, records: Records) -> bool:
        """Drop kept documents whose records may be merged with others.

        Those whose records may be merged with theirs follow, and so on. Returns whether there
        are any.
        """
        dropped: set[int] = set()
        while records:
            new = {
                code
                for hash_, code, source in self._same_hashes(connection, records)
                if source == ANY or records[hash_] != {source}
            } - dropped
            dropped |= new
            records = self._records(connection, new)
        self._drop(dropped)
        return bool(dropped)

    def _drop(self, codes: set[int]) -> None:
        """Drop documents."""
        if codes:
            self._codes = {key: code for key, code in self._codes.items() if code not in codes}

    def _is_kept(self, code: int) -> bool:
        return self._documents[code] != NOT_KEPT

    def _same_hashes(
        self, connection: sqlite3.Connection, records: Records
    ) -> Iterator[tuple[str, int, int]]:
        """Yield hash, document and page source of the kept records with the same hashes."""
        connection.execute("CREATE TEMP TABLE listed (hash TEXT PRIMARY KEY)")
        connection.executemany(
            "INSERT INTO temp.listed VALUES (?)", ((hash_,) for hash_ in records)
        )
        rows = connection.execute(
            "SELECT spec.hash, document, tag.tag FROM temp.listed CROSS JOIN old.spec AS spec"
            " ON spec.hash = listed.hash JOIN old.look_alike AS t ON t.id = look_alike"
            " JOIN old.tag AS tag ON tag.id = t.tag"
        ).fetchall()
        connection.execute("DROP TABLE temp.listed")
        for hash_, code, tag in rows:
            if self._is_kept(code):
                yield hash_, code, self._page_source(code) if tag else ANY

    def _records(self, connection: sqlite3.Connection, codes: set[int]) -> Records:
        """Return the records of some documents."""
        records: dict[str, set[int]] = {}
        connection.execute("CREATE TEMP TABLE dropped (document INTEGER PRIMARY KEY)")
        connection.executemany("INSERT INTO temp.dropped VALUES (?)", ((code,) for code in codes))
        for hash_, code, tag in connection.execute(
            "SELECT hash, t.document, tag.tag FROM temp.dropped JOIN old.look_alike AS t"
            " USING (document) JOIN old.tag AS tag ON tag.id = t.tag JOIN old.spec AS spec"
            " ON spec.id >= t.first AND spec.id < t.first + t.n"
        ):
            records.setdefault(hash_, set()).add(self._page_source(code) if tag else ANY)
        connection.execute("DROP TABLE temp.dropped")
        return records
