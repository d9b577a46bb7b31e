"""Keep indexes in the cache directory: find, check, build and replace them.

One immutable file a choice of sources, opened without locks, so that network homes and many
readers do no harm. Where nothing can be written the same index is built in memory.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
import sqlite3
import stat
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from urllib.parse import quote

from spackscope.model.base_directory import base_directory
from spackscope.model.catalog import Catalog
from spackscope.model.index.build import build
from spackscope.model.index.database import connect
from spackscope.model.index.reuse import OldIndex
from spackscope.model.index.schema import SCHEMA_VERSION
from spackscope.model.progress import OnProgress, ShouldStop, never, no_progress
from spackscope.model.sources.choice import STANDARD_INPUT, keys
from spackscope.model.sources.documents import EVERYTHING, SourceError, Surveyed, fingerprint
from spackscope.model.sources.survey import survey

SMALL = 1_000_000
"""Bytes of documents up to which reading them again is as quick as opening an index."""

_STALE_SECONDS = 24 * 3600
_memory_names = itertools.count()


def index_path(sources: Sequence[str], environ: Mapping[str, str]) -> Path | None:
    """Give the file that the index of these sources is kept in, or None without a home."""
    cache = base_directory(environ, "XDG_CACHE_HOME", ".cache")
    if cache is None:
        return None
    # Records name their source as it was written, so that is part of it too.
    named = "\0".join([*sources, *keys(sources, environ)])
    if environ.get(EVERYTHING):
        named += f"\0{EVERYTHING}"
    name = hashlib.sha256(named.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return Path(cache, "spackscope", f"{name}.sqlite")


def open_cached(sources: Sequence[str], environ: Mapping[str, str]) -> Catalog | None:
    """Open the index of these sources as it was left, unless it cannot be trusted.

    What it says may be older than the documents: `load` compares.
    """
    return _opened(index_path(sources, environ), sources)


def load(
    sources: Sequence[str],
    environ: Mapping[str, str],
    *,
    rebuild: bool = False,
    keep: bool = False,
    on_late: Callable[[Catalog], None] | None = None,
    on_progress: OnProgress = no_progress,
    should_stop: ShouldStop = never,
) -> Catalog:
    """Give the catalog of these sources as they are now, building its index where it is needed.

    A small index stays in memory unless it is to be kept. `on_late` is given a catalog of those
    that have answered, where others take long. Raises SourceError where no source can be read,
    Cancelled where `should_stop` says so.
    """

    def writing(
        surveyed: Sequence[Surveyed], old: OldIndex | None = None
    ) -> Callable[[sqlite3.Connection], None]:
        return partial(
            build,
            surveyed,
            fingerprint=_fingerprint(surveyed),
            everything=bool(environ.get(EVERYTHING)),
            old=old,
            on_progress=on_progress,
            should_stop=should_stop,
        )

    def tell_late(surveyed: list[Surveyed]) -> None:
        if on_late is not None and not all(one.failure for one in surveyed):
            with contextlib.suppress(SourceError, sqlite3.Error):
                on_late(_build_in_memory(writing(surveyed), surveyed))

    surveyed = survey(
        sources, environ, on_late=tell_late, on_progress=on_progress, should_stop=should_stop
    )
    now = _fingerprint(surveyed)
    path = index_path(sources, environ)
    cached = _opened(path, sources)
    if cached is not None and cached.meta.get("fingerprint") == now and not rebuild:
        cached.surveyed = surveyed
        return cached
    old = OldIndex(cached) if cached is not None and not rebuild else None
    write = writing(surveyed, old)
    size = sum(document.size for one in surveyed for document in one.documents)
    if STANDARD_INPUT in sources or (not keep and size <= SMALL):
        return _build_in_memory(write, surveyed)
    if path is None:
        notice = "the index stays in memory: there is no home directory to keep it in"
    else:
        try:
            _build_file(path, write)
            return Catalog(_uri(path), surveyed=surveyed)
        except (OSError, sqlite3.Error) as error:
            notice = f"the index stays in memory: {path.parent} takes no file ({_reason(error)})"
    return _build_in_memory(write, surveyed, notice)


def _fingerprint(surveyed: Sequence[Surveyed]) -> str:
    """Condense what the sources are into a text that changes when any document does."""
    documents = [document for one in surveyed for document in one.documents]
    said = [f"{one.source}\0{one.failure}\0{one.problems}" for one in surveyed]
    text = "\n".join([fingerprint(documents), *said])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _build_file(path: Path, write: Callable[[sqlite3.Connection], None]) -> None:
    """Build beside the old index and put the new one in its place when it is whole."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    _remove_abandoned(path.parent)
    temporary = path.with_name(f".{path.stem}.{os.getpid()}.{time.monotonic_ns()}.tmp")
    try:
        with contextlib.closing(sqlite3.connect(temporary)) as connection:
            write(connection)
        with open(temporary, "rb+") as file:
            os.fsync(file.fileno())
        if path.is_dir():
            path.rmdir()
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _build_in_memory(
    write: Callable[[sqlite3.Connection], None], surveyed: Sequence[Surveyed], notice: str = ""
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
    return Catalog(uri, notice=notice, keep=connection, surveyed=surveyed)


def _is_whole(path: Path) -> bool:
    """Check owner, kind and length, which the header of an SQLite file tells.

    The header is described at sqlite.org/fileformat.html: page size at 16, pages at 28.
    """
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid():
            return False
        with open(path, "rb") as file:
            header = file.read(100)
    except OSError:
        return False
    if len(header) < 100 or not header.startswith(b"SQLite format 3\0"):
        return False
    page = int.from_bytes(header[16:18], "big")
    page = 65536 if page == 1 else page
    return page * int.from_bytes(header[28:32], "big") == status.st_size


def _opened(path: Path | None, sources: Sequence[str]) -> Catalog | None:
    # What came on standard input the last time is of no use.
    if path is None or STANDARD_INPUT in sources or not _is_whole(path):
        return None
    try:
        catalog = Catalog(_uri(path))
    except sqlite3.Error:
        return None
    return catalog if catalog.meta.get("schema") == SCHEMA_VERSION else None


def _uri(path: Path) -> str:
    return f"file://{quote(os.fsencode(path))}?mode=ro&immutable=1"


def _remove_abandoned(directory: Path) -> None:
    """Remove what builds left behind that were killed; a running build is never a day old."""
    for path in directory.glob(".*.tmp"):
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > _STALE_SECONDS:
                path.unlink()


def _reason(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error).lower()
