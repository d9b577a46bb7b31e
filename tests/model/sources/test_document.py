"""A document has a fingerprint that changes with its file."""

from __future__ import annotations

import os
from pathlib import Path

from spackscope.model.core.errors import SourceError
from spackscope.model.core.tasks import ShouldStop, never
from spackscope.model.sources.discover import discover
from spackscope.model.sources.document import Document, fingerprint
from spackscope.model.sources.session import Session
from tests.builders import page, record, write_page


def scan(sources: list[str], *, should_stop: ShouldStop = never) -> list[Document]:
    """Return the documents of sources that can all be read."""
    discovered = discover(sources, Session({}, should_stop=should_stop))
    for result in discovered:
        if result.failure:
            raise SourceError(result.failure)
    return [document for result in discovered for document in result.documents]


def test_a_fingerprint_differs_after_every_change(tmp_path: Path) -> None:
    def now() -> str:
        return fingerprint(scan([str(tmp_path)]))

    path = write_page(tmp_path, [record(1)])
    seen = [now()]
    assert now() == seen[0]

    status = path.stat()
    path.write_bytes(page([record(2)]))
    assert path.stat().st_size == status.st_size
    seen.append(now())
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    seen.append(now())
    path.chmod(0o640)
    seen.append(now())
    added = write_page(tmp_path, [record(3)], title="bzip2")
    seen.append(now())
    added.rename(added.with_name("other.md"))
    seen.append(now())
    path.unlink()
    seen.append(now())

    assert len(set(seen)) == len(seen)
