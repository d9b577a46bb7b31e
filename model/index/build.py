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
from spackscope.model.index.staged import Staged
from spackscope.model.index.write import write
from spackscope.model.readers.formats import archive_size_in, read_document
from spackscope.model.readers.pages import is_page
from spackscope.model.sources.document import DiscoveredSource, Document, read_bytes
from spackscope.model.sources.session import Session

PAGE_NAME = "specs.md"
"""The name of every page on the site; a file of this name that is not a page is a problem."""

_INTERVAL = 0.1
_PARSING = 0.6
"""The part of the time of a document in which its records are parsed; then they are stored."""

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
        reading = _Reading(discovered, session, old)
        failures = [reading.read_source(source) for source in discovered]
        if all(failures):
            raise SourceError("; ".join(failures))
        reading.report(1, is_last=True)
        return write(
            reading.staged,
            discovered,
            failures,
            fingerprint=fingerprint,
            should_stop=session.should_stop,
        )


class _Reading:
    """Stages the records of source after source.

    Progress counts documents by their bytes, and is reported under the name of their source, at
    most ten times a second.
    """

    def __init__(
        self, discovered: Sequence[DiscoveredSource], session: Session, old: Columns | None
    ) -> None:
        only = session.include_dependency_only
        self.staged = Staged(discovered, old, include_dependency_only=only)
        self._session = session
        self._total = sum(source.documents.size for source in discovered)
        self._first_problems: dict[str, Problem] = {}
        self._source, self._before, self._size = "", 0, 0
        self._reported = 0.0

    def read_source(self, discovered: DiscoveredSource) -> str:
        """Stage the documents of a source; return why nothing of it can be read, if so."""
        self._source = discovered.source
        for problem in discovered.problems:
            self.staged.add_problem(discovered.source, problem)
        is_known, reason = False, "contains no page of cache.spack.io and no Spack index"
        for document in discovered.documents:
            self._before += self._size
            self._size = document.size
            self.report(0)
            if self.staged.keep(document):
                is_known = True
                continue
            try:
                is_known |= self._read(document)
            except Cancelled:
                raise
            except Exception as error:
                reason = f"cannot be read: {describe_unexpected(error)}"
                if isinstance(error, OSError):
                    reason = str(error.strerror or error)
                self._add_problem(document, reason)
        failure, first = discovered.failure, self._first_problems.get(discovered.source)
        if not is_known and not failure:
            failure = f"the source {discovered.source} {reason}"
            if first is not None:
                if first.origin == discovered.source:
                    first = replace(first, origin="")
                failure = f"the source {discovered.source} cannot be read: {first}"
        if failure and first is None:
            self.staged.add_problem(discovered.source, Problem("", "", failure))
        return failure

    def _read(self, document: Document) -> bool:
        """Stage one document; return whether it is of a known format. Raises any error."""
        data = read_bytes(document)
        if document.kind == "sizes":
            try:
                if (size := archive_size_in(data, origin=document.origin)) is not None:
                    self.staged.add_archive(*size)
            except Unreadable as error:
                self._add_problem(document, str(error))
            return False
        page = is_page(data)
        if document.kind == "candidate" and not page:
            if os.path.basename(document.path) == PAGE_NAME:
                self._add_problem(document, "it is not a page of cache.spack.io")
            return False
        total = 0

        def on_count(done: int, of: int) -> None:
            nonlocal total
            total = max(done, of)
            self.report(_PARSING * done / total)

        def watched() -> Iterator[Records | Problem]:
            """Yield what the reader yields; an error in it becomes a problem of its document."""
            stored = 0
            for item in _guarded(items, document):
                if isinstance(item, Problem):
                    self._first_problems.setdefault(document.source, item)
                else:
                    stored += len(item.hashes)
                if stored >= _PROGRESS_SPECS:
                    # How many there are may not be known: the more, the nearer to the end.
                    part = stored / (stored + 1000)
                    if total:
                        part = _PARSING + (1 - _PARSING) * min(1, stored / total)
                    self.report(part)
                yield item

        items = read_document(data, origin=document.origin, on_count=on_count)
        # The reader drops the bytes as soon as it has their text.
        del data
        return self.staged.add(document, watched(), is_page=page) or page

    def _add_problem(self, document: Document, reason: str) -> None:
        self.staged.add_problem(document.source, Problem(document.origin, "", reason))

    def report(self, part: float, *, is_last: bool = False) -> None:
        """Report that a part of the current document has been read. Raises Cancelled."""
        if is_last or time.monotonic() - self._reported > _INTERVAL:
            if self._session.should_stop():
                raise Cancelled
            done = self._total if is_last else self._before + int(self._size * part)
            self._session.on_progress(f"reading {self._source}", done, self._total)
            self._reported = time.monotonic()


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
