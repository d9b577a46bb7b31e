"""Collect the records of an index in any order; `finish` writes them in display order."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from spackscope.model.core.errors import IndexDamaged
from spackscope.model.core.records import Problem, Records
from spackscope.model.index.connection import insert
from spackscope.model.index.dictionaries import Dictionaries, Dictionary
from spackscope.model.index.edges import EdgeWriter
from spackscope.model.index.finish import Finisher
from spackscope.model.index.kept import Kept
from spackscope.model.index.old_index import OldIndex
from spackscope.model.index.overlaps import Overlaps
from spackscope.model.index.staged import Staged, StagedDocument
from spackscope.model.index.staging import Staging, origin_of
from spackscope.model.readers.json import storable
from spackscope.model.sources.document import DiscoveredSource, Document, fingerprint

_BATCH = 512
"""Documents that are written at once."""


class IndexWriter:
    """Writes one index: add sources and their documents in any order, then `finish`.

    `include_dependency_only` lists dependency-only specs with all others. All methods raise
    sqlite3.Error.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        *,
        include_dependency_only: bool = False,
        old: OldIndex | None = None,
    ) -> None:
        self._connection = connection
        self._old = old
        self._sources = Dictionary()
        self._dictionaries = Dictionaries()
        self._staged = Staged()
        self._edges = EdgeWriter()
        self._staging = Staging(
            self._staged,
            self._dictionaries,
            self._edges,
            include_dependency_only=include_dependency_only,
        )
        self._documents: dict[int, StagedDocument] = {}
        self._next_document = 0
        self._rows: list[tuple[object, ...]] = []

    def add_source(self, discovered: DiscoveredSource) -> None:
        """Add a source."""
        code = self._sources[discovered.source]
        self._connection.execute(
            "INSERT INTO source VALUES (?, ?, ?, ?, ?, ?, ?, 0)",
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
        self, document: Document, items: Iterable[Records | Problem], *, is_page: bool = False
    ) -> bool:
        """Stage the records of a document, and add its problems.

        Returns whether its format is known: then it has records, or no problem either.
        """
        source, code = self._sources[document.source], self._next_document
        staged = StagedDocument(source, is_page)
        self._documents[code] = staged
        self._next_document += 1
        origin = origin_of(document, code, source)
        has_problem = has_records = False
        try:
            for item in items:
                if isinstance(item, Problem):
                    has_problem = True
                    self.add_problem(item, document.source, code)
                elif item.hashes:
                    has_records = True
                    self._staging.add(item, origin, staged)
        finally:
            self._add_row(document, code, staged)
        return has_records or not has_problem

    def _add_row(self, document: Document, code: int, staged: StagedDocument) -> None:
        """Add the row of a document, whose texts are not kept in memory."""
        origin, key = storable(document.origin), fingerprint([document])
        specs, lists_dependencies = staged.specs, staged.lists_dependencies
        self._rows.append(
            (code, staged.source, origin, key, specs, lists_dependencies, staged.is_page, 0)
        )
        if len(self._rows) >= _BATCH:
            self._write_documents()

    def _write_documents(self) -> None:
        insert(self._connection, "document", self._rows)
        self._rows.clear()

    def keep_document(self, document: Document) -> bool:
        """Keep the records and problems of a document that the old index has unchanged."""
        if self._old is None:
            return False
        key = fingerprint([document])
        if not self._old.keep(self._connection, key, self._next_document):
            return False
        self._next_document += 1
        return True

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
        self._staged.archives.setdefault(hash_, size)

    def drop_overlaps(self) -> bool:
        """Check whether a record of a kept document may have to be merged with staged ones.

        Then it cannot be kept: the old index knows such documents no longer.
        """
        if self._old is None:
            return False
        self._staging.flush()
        overlaps = Overlaps(self._staged, self._documents, self._dictionaries)
        is_overlapping = self._old.drop_pages_like(self._connection, overlaps.pages())
        if self._is_mixed:
            is_overlapping |= self._old.drop_records_like(self._connection, overlaps.records())
        return is_overlapping

    @property
    def _is_mixed(self) -> bool:
        """Whether there are several sources, or documents other than pages."""
        documents = self._documents.values()
        sources = {document.source if document.is_page else -1 for document in documents}
        if self._old is not None:
            sources |= self._old.page_sources
        return len(sources) > 1 or -1 in sources

    def finish(self, **meta: object) -> None:
        """Merge repeated records, assign ids in display order, write all tables, and commit."""
        self._staging.flush()
        self._write_documents()
        old, connection = self._old, self._connection
        finisher = Finisher(
            connection,
            list(self._sources),
            self._documents,
            self._dictionaries,
            self._staged,
            self._staging.nodes,
            self._edges,
            old.kept(connection) if old is not None else Kept(connection),
            is_mixed=self._is_mixed,
        )
        try:
            finisher.finish(meta)
        except (LookupError, ValueError) as error:
            if old is None:
                raise
            # What is kept does not fit together.
            raise IndexDamaged(str(error)) from error
        if old is not None:
            connection.execute("DETACH old")
