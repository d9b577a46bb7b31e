"""Keep indexes in the cache directory: find, check, build and replace them.

One immutable file a choice of sources, opened without locks, so that network homes and many
readers do no harm; `index_file` describes its header and checksum. Where nothing can be written
the same index is built in memory.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
import sqlite3
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from urllib.parse import quote

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.core.errors import (
    IndexDamaged,
    SourceError,
)
from spackscope.model.core.files import tidy, xdg_dir
from spackscope.model.index.connection import connect
from spackscope.model.index.index_file import Verification, create, is_current
from spackscope.model.loader.build import build
from spackscope.model.loader.incremental import OldIndex
from spackscope.model.sources.discover import discover
from spackscope.model.sources.document import (
    DiscoveredSource,
    fingerprint,
)
from spackscope.model.sources.resolve import STANDARD_INPUT, source_key
from spackscope.model.sources.session import Session

SMALL = 1_000_000
"""Bytes of documents up to which reading them again is as quick as opening an index."""

REBUILT = "the index was damaged and has been rebuilt"
STILL_DAMAGED = "the index cannot be read, though it is new"

_memory_names = itertools.count()


def index_path(sources: Sequence[str], session: Session) -> Path | None:
    """Give the file that the index of these sources is kept in, or None without a home."""
    cache = xdg_dir(session.environ, "cache")
    if cache is None:
        return None
    # Records name their source as it was written, so that is part of it too.
    named = "\0".join([*sources, *(source_key(source, session) for source in sources)])
    if session.include_dependency_only:
        named += "\0--all"
    name = hashlib.sha256(named.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return Path(cache, f"{name}.sqlite")


def open_cached(sources: Sequence[str], session: Session) -> Catalog | None:
    """Open the index of these sources as it was left, unless it cannot be trusted.

    It may be older than the documents, and its checksum has not been verified: `load` does both.
    """
    with contextlib.suppress(IndexDamaged):
        return _opened(index_path(sources, session), sources)
    return None


def load(
    sources: Sequence[str],
    session: Session,
    *,
    rebuild: bool = False,
    was_damaged: bool = False,
    keep: bool = False,
    on_late: Callable[[Catalog], None] | None = None,
) -> Catalog:
    """Give the catalog of these sources as they are now, building its index where it is needed.

    A small index stays in memory unless it is to be kept. The checksum of a file is verified
    while the sources are discovered; a damaged one is built again, and so it is where the caller
    found that it `was_damaged`. `on_late` is given a catalog of those that have answered, where
    others take long. Raises SourceError where no source can be read, Cancelled, and IndexDamaged
    where a new index cannot be read.
    """
    path = index_path(sources, session)
    if path is not None:
        tidy(str(path.parent))
    kept = _Kept(None if rebuild or was_damaged else path, sources)

    def writing(
        discovered: Sequence[DiscoveredSource], old: OldIndex | None = None
    ) -> Callable[[sqlite3.Connection], None]:
        return partial(
            build,
            discovered,
            fingerprint=_fingerprint(discovered),
            everything=session.include_dependency_only,
            old=old,
            on_progress=session.on_progress,
            should_stop=session.should_stop,
        )

    def tell_late(discovered: list[DiscoveredSource]) -> None:
        if on_late is not None and not all(one.failure for one in discovered):
            with contextlib.suppress(SourceError, sqlite3.Error):
                on_late(_build_in_memory(writing(discovered), discovered))

    discovered = discover(sources, session, on_late=tell_late)
    cached = kept.verified()
    if cached is not None and cached.meta.get("fingerprint") == _fingerprint(discovered):
        cached.discovered = discovered
        return cached
    was_damaged = was_damaged or kept.was_damaged
    size = sum(document.size for one in discovered for document in one.documents)
    # What was damaged is replaced, lest it be found damaged again the next time.
    in_file = STANDARD_INPUT not in sources and (keep or was_damaged or size > SMALL)
    try:
        old = OldIndex(cached) if cached is not None else None
        catalog = _build(writing(discovered, old), path, discovered, in_file=in_file)
    except IndexDamaged:
        if cached is None:
            raise
        was_damaged = True
        catalog = _build(writing(discovered), path, discovered, in_file=True)
    catalog.was_damaged = was_damaged
    return catalog


class _Kept:
    """Hold the index file that there is, while its checksum is verified in a thread."""

    def __init__(self, path: Path | None, sources: Sequence[str]) -> None:
        self.was_damaged = False
        self._verification: Verification | None = None
        try:
            self._catalog = _opened(path, sources)
        except IndexDamaged:
            self._catalog, self.was_damaged = None, True
        if path is not None and self._catalog is not None:
            self._verification = Verification(path)

    def verified(self) -> Catalog | None:
        """Return the catalog, or None where there is none or it is damaged."""
        try:
            if self._verification is not None:
                self._verification.finish()
        except IndexDamaged:
            self._catalog, self.was_damaged = None, True
        return self._catalog


def _fingerprint(discovered: Sequence[DiscoveredSource]) -> str:
    """Condense what the sources are into a text that changes when any document does."""
    documents = [document for one in discovered for document in one.documents]
    said = [f"{one.source}\0{one.failure}\0{one.problems}" for one in discovered]
    text = "\n".join([fingerprint(documents), *said])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _build(
    write: Callable[[sqlite3.Connection], None],
    path: Path | None,
    discovered: Sequence[DiscoveredSource],
    *,
    in_file: bool,
) -> Catalog:
    """Build an index in its file, or in memory where that is not wanted or cannot be written."""

    def write_file(temporary: str) -> None:
        with contextlib.closing(connect(temporary)) as connection:
            write(connection)

    notice = ""
    if in_file and path is None:
        notice = "the index stays in memory: there is no home directory to keep it in"
    elif in_file and path is not None:
        try:
            create(path, write_file)
            return Catalog(_uri(path), discovered=discovered)
        except (OSError, sqlite3.Error) as error:
            notice = f"the index stays in memory: {path.parent} takes no file ({_reason(error)})"
    return _build_in_memory(write, discovered, notice)


def _build_in_memory(
    write: Callable[[sqlite3.Connection], None],
    discovered: Sequence[DiscoveredSource],
    notice: str = "",
) -> Catalog:
    uri = f"file:spackscope-{next(_memory_names)}?mode=memory&cache=shared"
    connection = connect(uri)
    # A full disk may be why nothing is kept: sorting must not need files either.
    connection.execute("PRAGMA temp_store=MEMORY")
    try:
        write(connection)
    except BaseException:
        connection.close()
        raise
    return Catalog(uri, notice=notice, keep=connection, discovered=discovered)


def _opened(path: Path | None, sources: Sequence[str]) -> Catalog | None:
    """Open the index of a path if there is one of ours. Raises IndexDamaged."""
    # What came on standard input the last time is of no use.
    if path is None or STANDARD_INPUT in sources or not is_current(path):
        return None
    return Catalog(_uri(path))


def _uri(path: Path) -> str:
    return f"file://{quote(os.fsencode(path))}?mode=ro&immutable=1"


def _reason(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error).lower()
