"""Read documents into an index, and report how many of their bytes have been read."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Sequence

from spackscope.model.core.errors import Cancelled, SourceError, Unreadable, describe_unexpected
from spackscope.model.core.frozen import replace
from spackscope.model.core.records import Problem, Records
from spackscope.model.core.tasks import collector_paused
from spackscope.model.index.columns import Columns
from spackscope.model.index.write import IndexWriter, OldIndex
from spackscope.model.readers.formats import archive_size_in, read_document
from spackscope.model.readers.json import storable
from spackscope.model.readers.pages import is_page
from spackscope.model.sources.document import DiscoveredSource, Document, read_bytes
from spackscope.model.sources.session import Session

_INTERVAL = 0.1
_PARSING = 0.6
"""The part of the time of a document in which its records are parsed; then they are stored."""


class ReadProgress:
    """Counts documents by their bytes, and reports under the name of their source.

    Everything is reported at most ten times a second, and raises Cancelled.
    """

    def __init__(self, session: Session, discovered: Sequence[DiscoveredSource]) -> None:
        self._session = session
        self._total = sum(source.documents.size for source in discovered)
        self._name = discovered[0].source if discovered else ""
        self._before = self._size = self._records = 0
        self._last = 0.0

    def begin(self, document: Document, source: str) -> None:
        """Begin with another document of a source."""
        self._before += self._size
        self._size, self._records, self._name = document.size, 0, source
        self._report(self._before)

    def parse(self, count: int, total: int) -> None:
        """Report that some records of the document were parsed, of about a total."""
        self._records = max(count, total)
        self._within(_PARSING * count / self._records)

    def store(self, count: int) -> None:
        """Report that some records of the document were stored."""
        if self._records:
            self._within(_PARSING + (1 - _PARSING) * min(1, count / self._records))
        else:
            # How many there are is not known: the more, the nearer to the end.
            self._within(count / (count + 1000))

    def finish(self) -> None:
        """Report that all documents were read."""
        self._session.on_progress(f"reading {self._name}", self._total, self._total)
        if self._session.should_stop():
            raise Cancelled

    def _within(self, part: float) -> None:
        self._report(self._before + int(self._size * part))

    def _report(self, done: int) -> None:
        if time.monotonic() - self._last > _INTERVAL:
            if self._session.should_stop():
                raise Cancelled
            self._session.on_progress(f"reading {self._name}", done, self._total)
            self._last = time.monotonic()


PAGE_NAME = "specs.md"
"""The name of every page on the site; a file of this name that is not a page is a problem."""

_PROGRESS_SPECS = 256


def build(
    discovered: Sequence[DiscoveredSource],
    session: Session,
    *,
    fingerprint: str = "",
    old: Columns | None = None,
) -> bytes:
    """Read all documents, and return an index of their records.

    Arguments:
        discovered: The sources with their documents.
        session: Whether dependency-only specs are listed with all others, where progress is
            reported, and whether to stop.
        fingerprint: That of the sources, which the index keeps.
        old: An index whose records are reused for documents that did not change.

    Raises SourceError if no source holds a record, and Cancelled once the session says so.

    Example:
        >>> columns = Columns(build(discover(["index.json"], session), session))
    """
    with collector_paused():
        kept = OldIndex(old) if old is not None else None
        if kept is not None and kept.sources != [storable(each.source) for each in discovered]:
            kept = None
        only = session.include_dependency_only
        writer = IndexWriter(include_dependency_only=only, old=kept)
        progress = ReadProgress(session, discovered)
        builder = _Builder(writer, progress)
        failures = [builder.add_source(source) for source in discovered]
        if all(failures):
            raise SourceError("; ".join(failures))
        progress.finish()
        return writer.finish(fingerprint, session.should_stop)


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
        except (OSError, Cancelled):
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
    except Cancelled:
        raise
    except Exception as error:
        reason = f"cannot be read to its end: {describe_unexpected(error)}"
        yield Problem(document.origin, "", reason)
