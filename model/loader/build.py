"""Read documents into an index."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from spackscope.model.core.bounded_files import MAX_FILE_SIZE, open_file, read_open
from spackscope.model.core.errors import (
    Cancelled,
    SourceError,
    Unreadable,
    describe_unexpected,
)
from spackscope.model.core.progress import OnProgress, ShouldStop, never, no_progress
from spackscope.model.core.records import (
    Problem,
    Spec,
)
from spackscope.model.index.connection import Stoppable
from spackscope.model.index.schema import SCHEMA_VERSION
from spackscope.model.index.writer import IndexWriter
from spackscope.model.loader.incremental import OldIndex
from spackscope.model.readers.cache_pages import is_page, read_page
from spackscope.model.readers.detect import read_document
from spackscope.model.readers.manifest import MAX_MANIFEST_SIZE, archive_size
from spackscope.model.sources.document import (
    DiscoveredSource,
    Document,
)

_HEAD = 16

PAGE_NAME = "specs.md"
"""What the site calls every page; a file of this name that is none is worth a word."""


def build(
    discovered: Sequence[DiscoveredSource],
    connection: sqlite3.Connection,
    *,
    fingerprint: str = "",
    everything: bool = False,
    old: OldIndex | None = None,
    on_progress: OnProgress = no_progress,
    should_stop: ShouldStop = never,
) -> None:
    """Read all documents and write their records into an empty database.

    With `everything`, what is there only because others depend on it is listed too. What an
    `old` index has of documents that did not change is taken from there. Raises
    SourceError where no source holds a record, Cancelled where `should_stop` says so, and
    sqlite3.Error where the database cannot be written.
    """
    with Stoppable(connection, should_stop):
        writer = IndexWriter(connection, everything=everything)
        builder = _Builder(writer, old, on_progress, should_stop)
        builder.total = sum(len(one.documents) for one in discovered)
        known = [builder.read(one) for one in discovered]
        if all(one.failure for one in known):
            raise SourceError("; ".join(one.failure for one in known))
        on_progress("files read", builder.total, builder.total)
        if should_stop():
            raise Cancelled
        writer.finish(schema=SCHEMA_VERSION, fingerprint=fingerprint, built=time.time())


class _Builder:
    """Read source after source."""

    def __init__(
        self,
        writer: IndexWriter,
        old: OldIndex | None,
        on_progress: OnProgress,
        should_stop: ShouldStop,
    ) -> None:
        self.writer = writer
        self.total = 0
        self._old = old
        self._on_progress, self._should_stop = on_progress, should_stop
        self._done = 0
        self._last = 0.0
        self._refusals: list[Problem] = []

    def read(self, discovered: DiscoveredSource) -> DiscoveredSource:
        """Read all documents of a source; give it back with what is the matter with it."""
        self.writer.add_source(discovered)
        self._refusals.clear()
        for problem in discovered.problems:
            self.writer.add_problem(problem, discovered.source)
        understood, why = 0, "holds no page of cache.spack.io and no Spack index"
        for document in discovered.documents:
            self._tell("files read", self._done, self.total)
            self._done += 1
            if (reused := self._reuse(document)) is not None:
                understood += reused
                continue
            try:
                understood += self._read(document)
            except OSError as error:
                why = str(error.strerror or error)
                self.writer.add_problem(Problem(document.origin, "", why), discovered.source)
            except (Cancelled, sqlite3.Error):
                raise
            except Exception as error:
                why = f"cannot be read: {describe_unexpected(error)}"
                self.writer.add_problem(Problem(document.origin, "", why), discovered.source)
        if understood or discovered.failure:
            failure = discovered.failure
        elif self._refusals:
            first = self._refusals[0]
            told = replace(first, origin="") if first.origin == discovered.source else first
            failure = f"the source {discovered.source} cannot be read: {told}"
        else:
            failure = f"the source {discovered.source} {why}"
        if failure:
            self.writer.add_failure(discovered.source, failure, is_told=bool(self._refusals))
        return replace(discovered, failure=failure)

    def _reuse(self, document: Document) -> bool | None:
        """Take a document from the old index; None where it is not there as it is now.

        What is wrong with that index is raised: it is no problem of the document.
        """
        if self._old is None or (known := self._old.find(document)) is None:
            return None
        code, known_page = known
        items = self._watched(self._old.records(code))
        return self.writer.add_document(document, items, is_page=known_page)

    def _read(self, document: Document) -> bool:
        """Read one document, and tell whether it is one. Raises OSError."""
        data = _read(document)
        if document.kind == "sizes":
            try:
                if (found := archive_size(data, origin=document.origin)) is not None:
                    self.writer.add_archive(*found)
            except Unreadable as error:
                self.writer.add_problem(Problem(document.origin, "", str(error)), document.source)
            return False
        if is_page(data):
            items = _guarded(read_page(data, origin=document.origin), document)
            del data
            self.writer.add_document(document, self._watched(items), is_page=True)
            return True
        if document.kind != "candidate":
            before = self.writer.count
            items = read_document(
                data,
                origin=document.origin,
                on_count=lambda count: self._tell("specs read", before + count, None),
            )
            # The reader lets go of the bytes as soon as it has their text.
            del data
            items = _guarded(items, document)
            return self.writer.add_document(document, self._watched(items))
        if os.path.basename(document.path) == PAGE_NAME:
            reason = "it is no page of cache.spack.io"
            self.writer.add_problem(Problem(document.origin, "", reason), document.source)
        return False

    def _watched(self, items: Iterable[Spec | Problem]) -> Iterator[Spec | Problem]:
        for number, item in enumerate(items):
            if not self._refusals and isinstance(item, Problem):
                self._refusals.append(item)
            if number % 256 == 255:
                self._tell("specs read", self.writer.count, None)
            yield item

    def _tell(self, what: str, done: int, total: int | None) -> None:
        """Tell how far it is, ten times a second. Raises Cancelled."""
        if time.monotonic() - self._last > 0.1:
            if self._should_stop():
                raise Cancelled
            self._on_progress(what, done, total)
            self._last = time.monotonic()


def _guarded(items: Iterable[Spec | Problem], document: Document) -> Iterator[Spec | Problem]:
    """Pass on what a reader yields; an error in the reader is a problem of its document."""
    try:
        yield from items
    except (Cancelled, sqlite3.Error):
        raise
    except Exception as error:
        reason = f"cannot be read to its end: {describe_unexpected(error)}"
        yield Problem(document.origin, "", reason)


def _read(document: Document) -> bytes:
    """Read a document; of a file that cannot be a page its first bytes are enough."""
    if document.unreadable:
        raise OSError(document.unreadable)
    try:
        with open_file(document.path) as file:
            if document.kind == "candidate":
                head = file.read(_HEAD)
                if b"---" not in head.replace(b"\0", b""):
                    return head
                file.seek(0)
            return read_open(
                file, MAX_MANIFEST_SIZE if document.kind == "sizes" else MAX_FILE_SIZE
            )
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise OSError(error.errno or 0, f"cannot be read: {reason}") from None
