"""Look at sources, and list the documents in them."""

from __future__ import annotations

import time
from collections.abc import Sequence

from spackscope.model.progress import OnProgress, ShouldStop, never, no_progress
from spackscope.model.records import Cancelled
from spackscope.model.sources.documents import Document, SourceError
from spackscope.model.sources.files import files_of


def scan(
    sources: Sequence[str],
    *,
    on_progress: OnProgress = no_progress,
    should_stop: ShouldStop = never,
) -> list[Document]:
    """List the files of all sources with their fingerprints, in the order of their paths.

    Links are followed, a directory once. Raises SourceError where a source does not exist, is
    no file or directory or holds no file, Cancelled where `should_stop` says so.
    """
    documents: list[Document] = []
    last = time.monotonic()
    for source in sources:
        before = len(documents)
        for document in files_of(source):
            if len(documents) % 256 == 0:
                if should_stop():
                    raise Cancelled
                if time.monotonic() - last > 0.1:
                    on_progress("files found", len(documents), None)
                    last = time.monotonic()
            documents.append(document)
        if len(documents) == before:
            raise SourceError(f"the source {source} holds no file")
    return documents
