"""Read documents into an index."""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from collections.abc import Sequence

from spackscope.model.index.schema import SCHEMA_VERSION
from spackscope.model.index.writer import IndexWriter
from spackscope.model.progress import OnProgress, ShouldStop, never, no_progress
from spackscope.model.readers.documents import read_document
from spackscope.model.readers.pages import is_page, read_page
from spackscope.model.records import Cancelled, Problem
from spackscope.model.sources.documents import Document, SourceError, fingerprint

_HEAD = 16

PAGE_NAME = "specs.md"
"""What the site calls every page; a file of this name that is none is worth a word."""


def build(
    documents: Sequence[Document],
    connection: sqlite3.Connection,
    *,
    on_progress: OnProgress = no_progress,
    should_stop: ShouldStop = never,
) -> None:
    """Read all documents and write their records into an empty database.

    Raises SourceError where a source holds no page, Cancelled where `should_stop` says so, and
    sqlite3.Error where the database cannot be written.
    """
    writer = IndexWriter(connection)
    pages: dict[str, int] = {document.source: 0 for document in documents}
    failures: dict[str, str] = {}
    last = 0.0
    for done, document in enumerate(documents):
        if time.monotonic() - last > 0.1:
            if should_stop():
                raise Cancelled
            on_progress("files read", done, len(documents))
            last = time.monotonic()
        try:
            data = _read(document)
        except OSError as error:
            failures[document.source] = str(error.strerror or error)
            writer.add_problem(Problem(document.origin, "", failures[document.source]))
            continue
        if is_page(data):
            pages[document.source] += 1
            writer.add_document(document, read_page(data, origin=document.origin))
        elif document.kind == "asked for":
            items = read_document(data, origin=document.origin)
            pages[document.source] += writer.add_document(document, items)
        elif os.path.basename(document.path) == PAGE_NAME:
            writer.add_problem(Problem(document.origin, "", "it is no page of cache.spack.io"))
    for source, count in pages.items():
        if not count:
            reason = failures.get(source, "holds no page of cache.spack.io and no Spack index")
            raise SourceError(f"the source {source} {reason}")
    on_progress("files read", len(documents), len(documents))
    if should_stop():
        raise Cancelled
    writer.finish(schema=SCHEMA_VERSION, fingerprint=fingerprint(documents), built=time.time())


def _read(document: Document) -> bytes:
    """Read a document; of a file that cannot be a page its first bytes are enough."""
    if document.unreadable:
        raise OSError(document.unreadable)
    try:
        with open(document.path, "rb", buffering=0, opener=_open_without_waiting) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise OSError("it is no longer a file")
            head = file.read(_HEAD)
            is_found = document.kind == "found"
            if is_found and b"---" not in head.replace(b"\0", b""):
                return head
            return head + file.read()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise OSError(error.errno or 0, f"cannot be read: {reason}") from None


def _open_without_waiting(path: str, flags: int) -> int:
    # A file that became a FIFO since it was found would otherwise block for ever.
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
