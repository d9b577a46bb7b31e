"""Read documents into an index."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence

from spackscope.model.core.errors import Cancelled, SourceError, Unreadable, describe_unexpected
from spackscope.model.core.frozen import replace
from spackscope.model.core.records import Problem, Records
from spackscope.model.core.tasks import collector_paused
from spackscope.model.index.connection import create_tables, stoppable
from spackscope.model.index.old_index import OldIndex
from spackscope.model.index.schema import SCHEMA_VERSION
from spackscope.model.index.writer import IndexWriter
from spackscope.model.loader.read_progress import ReadProgress
from spackscope.model.readers.formats import archive_size_in, read_document
from spackscope.model.readers.json import storable
from spackscope.model.readers.pages import is_page
from spackscope.model.sources.document import DiscoveredSource, Document, read_bytes
from spackscope.model.sources.session import Session

PAGE_NAME = "specs.md"
"""The name of every page on the site; a file of this name that is not a page is a problem."""

_PROGRESS_SPECS = 256


def build(
    discovered: Sequence[DiscoveredSource],
    connection: sqlite3.Connection,
    session: Session,
    *,
    fingerprint: str = "",
    old: OldIndex | None = None,
) -> None:
    """Read all documents and write their records into an empty database.

    Arguments:
        discovered: The sources with their documents.
        connection: An empty database, opened by `index.connection.connect`.
        session: Whether dependency-only specs are listed with all others, where progress is
            reported, and whether to stop.
        fingerprint: That of the sources, which the index keeps.
        old: An index whose records are reused for documents that did not change.

    Raises SourceError if no source holds a record, Cancelled once the session says so,
    IndexDamaged if the old index cannot be read, and sqlite3.Error if the database cannot be
    written.

    Example:
        >>> build(discover(["index.json"], session), connect("new.sqlite"), session)
    """
    if old is not None and old.sources != [storable(source.source) for source in discovered]:
        old = None
    with stoppable(connection, session.should_stop), collector_paused():
        create_tables(connection)
        if old is not None and not old.attach(connection):
            old = None
        writer = _stage(discovered, connection, session, old)
        if writer.drop_overlaps():
            # Few documents overlap that did not before, so this is seldom.
            connection.executescript(
                "DELETE FROM source; DELETE FROM problem; DELETE FROM document;"
            )
            writer = _stage(discovered, connection, session, old)
        writer.finish(schema=SCHEMA_VERSION, fingerprint=fingerprint, built=time.time())


def _stage(
    discovered: Sequence[DiscoveredSource],
    connection: sqlite3.Connection,
    session: Session,
    old: OldIndex | None,
) -> IndexWriter:
    """Read all documents that are not kept of the old index. Raises SourceError."""
    if old is not None:
        old.forget()
    only = session.include_dependency_only
    writer = IndexWriter(connection, include_dependency_only=only, old=old)
    progress = ReadProgress(session, discovered)
    builder = _Builder(writer, progress)
    failures = [builder.add_source(source) for source in discovered]
    if all(failures):
        raise SourceError("; ".join(failures))
    progress.finish()
    return writer


class _Builder:
    """Adds source after source to an index."""

    def __init__(self, writer: IndexWriter, progress: ReadProgress) -> None:
        self._writer = writer
        self._progress = progress
        self._first_problem: Problem | None = None

    def add_source(self, discovered: DiscoveredSource) -> str:
        """Index the documents of a source; return why nothing of it can be read, if so."""
        self._writer.add_source(discovered)
        self._first_problem = None
        for problem in discovered.problems:
            self._writer.add_problem(problem, discovered.source)
        is_known, reason = False, "contains no page of cache.spack.io and no Spack index"
        for document in discovered.documents:
            self._progress.begin(document, discovered.source)
            try:
                is_known |= self._add_document(document)
            except OSError as error:
                reason = str(error.strerror or error)
                self._add_problem(document, reason)
        failure = discovered.failure
        if not is_known and not failure:
            failure = self._failure(discovered.source, reason)
        if failure:
            is_reported = self._first_problem is not None
            self._writer.add_failure(discovered.source, failure, is_reported=is_reported)
        return failure

    def _failure(self, source: str, reason: str) -> str:
        """Return why nothing of a source can be read: its first problem, or a reason."""
        problem = self._first_problem
        if problem is None:
            return f"the source {source} {reason}"
        if problem.origin == source:
            problem = replace(problem, origin="")
        return f"the source {source} cannot be read: {problem}"

    def _add_document(self, document: Document) -> bool:
        """Index a document, or keep what the old index has of it if it did not change.

        Returns whether it is of a known format. Raises OSError.
        """
        if self._writer.keep_document(document):
            return True
        try:
            return self._read(document)
        except (OSError, Cancelled, sqlite3.Error):
            raise
        except Exception as error:
            raise OSError(f"cannot be read: {describe_unexpected(error)}") from error

    def _read(self, document: Document) -> bool:
        """Read one document into the index; return whether it is of a known format."""
        data = read_bytes(document)
        if document.kind == "sizes":
            try:
                if (size := archive_size_in(data, origin=document.origin)) is not None:
                    self._writer.add_archive(*size)
            except Unreadable as error:
                self._add_problem(document, str(error))
            return False
        page = is_page(data)
        if document.kind == "candidate" and not page:
            if os.path.basename(document.path) == PAGE_NAME:
                self._add_problem(document, "it is not a page of cache.spack.io")
            return False
        items = read_document(
            data,
            origin=document.origin,
            on_count=self._progress.parse,
        )
        # The reader drops the bytes as soon as it has their text.
        del data
        items = self._watched(_guarded(items, document))
        return self._writer.add_document(document, items, is_page=page) or page

    def _add_problem(self, document: Document, reason: str) -> None:
        self._writer.add_problem(Problem(document.origin, "", reason), document.source)

    def _watched(self, items: Iterable[Records | Problem]) -> Iterator[Records | Problem]:
        """Yield items, reporting progress and noting the first problem of the source."""
        count = 0
        for item in items:
            if isinstance(item, Records):
                count += len(item.hashes)
                if count >= _PROGRESS_SPECS:
                    self._progress.store(count)
            elif self._first_problem is None:
                self._first_problem = item
            yield item


def _guarded(
    items: Iterable[Records | Problem], document: Document
) -> Iterator[Records | Problem]:
    """Yield what a reader yields; an error in the reader becomes a problem of its document."""
    try:
        yield from items
    except (Cancelled, sqlite3.Error):
        raise
    except Exception as error:
        reason = f"cannot be read to its end: {describe_unexpected(error)}"
        yield Problem(document.origin, "", reason)
