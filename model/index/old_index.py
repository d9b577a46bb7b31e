"""Find the documents whose records can be taken over from an old index."""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Iterable, Iterator, Mapping

from spackscope.model.index.codec import unpack_codes
from spackscope.model.index.connection import Database
from spackscope.model.index.damage import class_reading_index, natural
from spackscope.model.index.kept import NOT_KEPT, Kept

_MAX_DOCUMENTS = 10_000_000

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
        with_records = set(unpack_codes(*(row or (0, b""))))
        rows = database.execute("SELECT id, source, page, merged, fingerprint FROM document")
        self._codes: dict[str, int] = {}
        self._page_sources: dict[int, int] = {}
        self._count = 0
        for code, source, is_page, is_merged, key in rows:
            self._count = max(self._count, natural(code, _MAX_DOCUMENTS) + 1)
            if not is_merged and code in with_records:
                self._codes[key] = code
                self._page_sources[code] = natural(source) if is_page else ANY
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
        self._documents = array("I", [NOT_KEPT]) * self._count
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
        return {self._page_sources[code] for code in self._kept_codes()}

    def _kept_codes(self) -> Iterator[int]:
        return (code for code, new in enumerate(self._documents) if new != NOT_KEPT)

    def kept(self, connection: sqlite3.Connection) -> Kept:
        """Return what is kept."""
        return Kept(connection, self._documents)

    def drop_pages_like(
        self, connection: sqlite3.Connection, pages: Iterable[tuple[int, str, str]]
    ) -> bool:
        """Know no longer pages that repeat others, given by source, tag and package.

        Returns whether a kept one is among them.
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
            dropped.update(code for (code,) in rows if self._page_sources.get(code) == source)
        return self._drop(dropped)

    def drop_records_like(self, connection: sqlite3.Connection, records: Records) -> bool:
        """Know no longer documents with records that may be merged with others.

        Those that may be merged with the records of these documents follow, and so on. Returns
        whether a kept document is among them.
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
        return self._drop(dropped)

    def _drop(self, codes: set[int]) -> bool:
        is_kept = any(self._documents[code] != NOT_KEPT for code in codes)
        self._codes = {key: code for key, code in self._codes.items() if code not in codes}
        return is_kept

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
            if code < len(self._documents) and self._documents[code] != NOT_KEPT:
                yield hash_, code, self._page_sources[code] if tag else ANY

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
            records.setdefault(hash_, set()).add(self._page_sources[code] if tag else ANY)
        connection.execute("DROP TABLE temp.dropped")
        return records
