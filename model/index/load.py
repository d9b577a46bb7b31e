"""Load sources into an up-to-date catalog; its index is kept in the cache directory.

Each choice of sources has one immutable file, which is opened without locks, so that network homes
and many readers do no harm; `index_file.py` describes it. If no file can be written, the index is
kept in memory.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from spackscope.model.core.errors import IndexDamaged, SourceError
from spackscope.model.core.file_access import remove_abandoned, sha256, xdg_path
from spackscope.model.core.frozen import replace
from spackscope.model.core.tasks import progress_to, run_cancellable
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.index_file import SUFFIX, Columns, open_index, write_index
from spackscope.model.sources.document import DiscoveredSource, Documents
from spackscope.model.sources.resolve import source_key

if TYPE_CHECKING:
    from spackscope.model.sources.session import Session

SMALL = 20_000
"""The bytes of documents up to which reading them is as quick as opening an index."""

_MISSED = 1_000_000
"""The bytes of documents above which a notice says that the index cannot be kept."""

_PART, _LONG = 1_500_000, 6_000_000
"""The bytes of documents that are shown first, if all have more than `_LONG`."""

_SILENT = 2.0
"""Seconds without progress after which the other sources are shown."""

STILL_LOADING = "Sources are still being read"
REBUILT = "the index was damaged and has been rebuilt"


def index_path(sources: Sequence[str], session: Session) -> str | None:
    """Return the path of the index file of some sources; None without a home directory."""
    # Records contain the name of their source as the user gave it.
    key = "\0".join([*sources, *(source_key(source, session) for source in sources)])
    if session.include_dependency_only:
        key += "\0--all"
    name = sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return xdg_path(session.environ, "cache", f"{name}{SUFFIX}")


def open_cached(sources: Sequence[str], session: Session) -> Catalog | None:
    """Open the index file of some sources without looking at the sources; None without a file.

    The index may be older than the documents, which only `load` looks at.
    """
    path = index_path(sources, session)
    # The content of an earlier pipe is of no use.
    if path is None or not session.piped.keys().isdisjoint(sources):
        return None
    with contextlib.suppress(IndexDamaged):
        columns = open_index(path)
        return None if columns is None else Catalog(columns)
    return None


def open_cached_part(sources: Sequence[str], session: Session) -> Catalog | None:
    """Open the index of one of several sources: the first one that has an index of its own."""
    parts = (open_cached([source], session) for source in sources if len(sources) > 1)
    part = next((part for part in parts if part is not None), None)
    if part is not None:
        part.part = STILL_LOADING
    return part


def load(
    sources: Sequence[str],
    session: Session,
    *,
    rebuild: bool = False,
    keep: bool = False,
    current: Catalog | None = None,
    on_late: Callable[[Catalog], object] | None = None,
) -> Catalog:
    """Return the catalog of these sources as they are now, and build its index if necessary.

        catalog = load(["public", "~/mirror"], Session(os.environ))

    With `rebuild` all documents are downloaded and read, even unchanged ones. With `keep` even a
    small index is kept in a file. `current` is an open catalog of the same sources: it is returned
    if they have not changed, or if none can be read, then with the failures. If some sources or
    their documents take long, `on_late` is called with a catalog of the other sources; if there is
    much to read, with a catalog of the documents that are read first.

    Raises SourceError if no source can be read, and Cancelled. A damaged index file is replaced,
    and `Catalog.was_damaged` is then true.
    """
    # The browser shows an index before it looks for the sources.
    from spackscope.model.sources.discover import discover

    session = replace(session, asks_anew=True) if rebuild else session
    path, is_kept = index_path(sources, session), session.piped.keys().isdisjoint(sources)
    if path is not None:
        remove_abandoned(os.path.dirname(path))

    def build(part: Sequence[DiscoveredSource], *more: Any) -> bytearray:
        """Build an index; while a document of one source does not come, show the others."""
        if on_late is None or len(part) < 2:
            return _build(part, session, *more)
        reading, since, silent = "", 0.0, set[str]()

        def on_progress(what: str, done: int, total: int | None) -> None:
            nonlocal reading, since
            reading, since = "" if done == total else what, time.monotonic()

        def look() -> None:
            if time.monotonic() - since > _SILENT and reading not in ("", *silent):
                silent.add(reading)
                show([_late(s) if reading == f"reading {s.source}" else s for s in part])

        with progress_to(on_progress):
            return run_cancellable(lambda: _build(part, session, *more), look)

    def show(part: Sequence[DiscoveredSource]) -> None:
        if on_late is not None and not all(source.failure for source in part):
            with contextlib.suppress(SourceError):
                catalog = _catalog(part, build(part))
                catalog.part = STILL_LOADING
                on_late(catalog)

    discovered = discover(sources, session, on_late=show if on_late is not None else None)
    size = sum(each.documents.size for each in discovered)
    fingerprint = _fingerprint(discovered, session)
    old, was_damaged = None, False
    if current is not None and not rebuild and current.meta["fingerprint"] == fingerprint:
        current.discovered = _without_documents(discovered)
        return current
    if is_kept and not rebuild and path is not None:
        try:
            old = open_index(path)
        except IndexDamaged:
            was_damaged = True
    if old is not None and (cached := Catalog(old)).meta["fingerprint"] == fingerprint:
        cached.discovered = _without_documents(discovered)
        return cached
    if old is None and on_late is not None and size > _LONG:
        show(_first_documents(discovered))
    try:
        data, why = build(discovered, fingerprint, old), ""
    except SourceError as error:
        if current is None:
            raise
        # The current records are still shown, with the failures.
        current.discovered = [
            replace(source, failure=source.failure or str(error))
            for source in _without_documents(discovered)
        ]
        return current
    # A damaged file is replaced, or it would be found damaged again.
    if is_kept and (keep or was_damaged or size > SMALL):
        try:
            why = "there is no home directory"
            if path is not None:
                write_index(path, data)
                why = ""
        except OSError as error:
            reason = str(error.strerror or error).lower()
            why = f"cannot write to {os.path.dirname(path or '')} ({reason})"
    is_missed = why and (keep or size > _MISSED)
    catalog = _catalog(
        discovered, data, f"the index is kept in memory: {why}" if is_missed else ""
    )
    catalog.was_damaged = was_damaged
    return catalog


def _build(
    discovered: Sequence[DiscoveredSource],
    session: Session,
    fingerprint: str = "",
    old: Columns | None = None,
) -> bytearray:
    # Most starts find an index that is current, and need no readers.
    from spackscope.model.index.build import build

    return build(discovered, session, fingerprint=fingerprint, old=old)


def _catalog(discovered: Sequence[DiscoveredSource], data: bytearray, notice: str = "") -> Catalog:
    return Catalog(Columns(data), notice=notice, discovered=_without_documents(discovered))


def _late(source: DiscoveredSource) -> DiscoveredSource:
    """Return a source without its late documents, and with a failure that says so."""
    why = f"the source {source.source} has not answered yet"
    return replace(source, documents=Documents(), problems=(), failure=why, is_late=True)


def _without_documents(discovered: Sequence[DiscoveredSource]) -> list[DiscoveredSource]:
    """Return sources without their documents, which may be a hundred thousand, for a catalog."""
    return [replace(source, documents=Documents()) for source in discovered]


def _fingerprint(discovered: Sequence[DiscoveredSource], session: Session) -> str:
    """Return a digest of all documents and problems, and of whether `--all` records are read."""
    text = "--all\n" * session.include_dependency_only + "".join(
        f"{each.documents.fingerprint}\0{each.source}\0{each.failure}\0{each.problems}\n"
        for each in discovered
    )
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _first_documents(discovered: Sequence[DiscoveredSource]) -> list[DiscoveredSource]:
    """Return the sources with as many first documents as are read in a moment."""
    room, part = _PART, []
    for source in discovered:
        documents = []
        for document in source.documents:
            if document.size <= room:
                documents.append(document)
                room -= document.size
        if documents or source.failure:
            part.append(replace(source, documents=Documents(documents), problems=()))
    return part
