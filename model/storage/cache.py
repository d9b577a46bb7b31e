"""Keep downloaded files in the user's cache directory from one run to the next."""

from __future__ import annotations

import atexit
import contextlib
import functools
import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from typing import BinaryIO

from spackscope.model.core import files
from spackscope.model.core.errors import SourceError, reason
from spackscope.model.core.frozen import Frozen, asdict, replace

UNUSED_DAYS = 30
MAX_SIZE = 20 << 30
"""Bytes of all cached files together; beyond, the least recently used ones are removed."""

_DAY = 86_400.0
_META = ".json"
_MAX_META_SIZE = 2**16


class CachedFile(Frozen):
    """A cached file: where it is, where it comes from, and its version there.

    `url` is without secrets. `validators` are sent to the server to ask whether its version is
    another one. `status` is the file's size in bytes, its mtime and its ctime in ns: where they
    have changed, the file has to be verified again. `checked` is when the file was last known to
    be current, in seconds since 1970.
    """

    path: str
    url: str
    sha256: str
    validators: dict[str, str]
    status: list[int]
    checked: float


class DownloadCache:
    """Directory of cached files, each with a small JSON file of metadata beside it.

    Any number of processes may use one directory. A file whose content stays the same is not
    written again, and so keeps its mtime; one that does not match its metadata is ignored.
    """

    def __init__(self, directory: str) -> None:
        self.directory = directory

    def find(self, key: str) -> CachedFile | None:
        """Return the cached file of a key, or None if there is no intact one."""
        path = self._path(key)
        try:
            meta = json.loads(files.read_file(path + _META, _MAX_META_SIZE))
            cached = CachedFile(path, **meta)
            with files.open_file(path) as file:
                if (status := _status_of(file)) != cached.status:
                    if files.sha256_of(file) != cached.sha256:
                        return None
                    cached = replace(cached, status=status)
        except (OSError, ValueError, TypeError, RecursionError):
            return None
        with contextlib.suppress(OSError):
            # Its mtime is when the file was last used.
            if time.time() - os.stat(path + _META).st_mtime > _DAY:
                os.utime(path + _META)
        return cached

    @contextlib.contextmanager
    def open_new(self, key: str) -> Iterator[BinaryIO]:
        """Open a temporary file, removed afterwards unless it was stored. Raises OSError."""
        files.make_directories(self.directory)
        with files.temporary_file(self.directory, os.path.basename(self._path(key))) as file:
            yield file

    def store(
        self, key: str, file: BinaryIO, url: str, sha256: str, validators: dict[str, str]
    ) -> CachedFile:
        """Cache a file of `open_new`, unless the cached one is the same. Raises OSError."""
        cached = self.find(key)
        if cached is None or cached.sha256 != sha256:
            path = self._path(key)
            file.flush()
            os.replace(file.name, path)
            # Of the file that was written: another process may have replaced the path since.
            cached = CachedFile(path, url, sha256, validators, _status_of(file), 0.0)
        return self.confirm(replace(cached, validators=validators))

    def confirm(self, cached: CachedFile) -> CachedFile:
        """Record that a cached file is current now, and return it with that."""
        confirmed = replace(cached, checked=time.time())
        meta = asdict(confirmed)
        path = meta.pop("path")
        # It is current for this run even where that cannot be written.
        with contextlib.suppress(OSError):
            files.write_atomically(path + _META, json.dumps(meta).encode())
        return confirmed

    def prune(self, *, max_size: int = MAX_SIZE) -> None:
        """Remove files that were not used for 30 days, and the oldest beyond a total of bytes.

        Files that were used today always stay.
        """
        copies = []
        with contextlib.suppress(OSError), os.scandir(self.directory) as entries:
            now = time.time()
            for entry in entries:
                if not entry.name.endswith(_META) and not files.is_temporary(entry.name):
                    with contextlib.suppress(OSError):
                        status = entry.stat(follow_symlinks=False)
                        used = status.st_mtime
                        with contextlib.suppress(FileNotFoundError):
                            used = os.stat(entry.path + _META).st_mtime
                        copies.append((now - used, status.st_size, entry.path))
        total = 0
        for age, size, path in sorted(copies):
            total += size
            if age > UNUSED_DAYS * _DAY or (total > max_size and age > _DAY):
                for obsolete in (path + _META, path):
                    with contextlib.suppress(OSError):
                        os.unlink(obsolete)

    def _path(self, key: str) -> str:
        # The key may contain a token, which a digest does not reveal.
        digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
        return os.path.join(self.directory, digest[:40])


def _status_of(file: BinaryIO) -> list[int]:
    status = os.fstat(file.fileno())
    return [status.st_size, status.st_mtime_ns, status.st_ctime_ns]


def open_download_cache(environ: Mapping[str, str]) -> DownloadCache:
    """Open the cache in the user's cache directory, else one that is removed at exit.

    Raises SourceError where not even a temporary directory can be written to.
    """
    if parent := files.xdg_dir(environ, "cache"):
        directory = os.path.join(parent, "copies")
        with contextlib.suppress(OSError):
            files.private_directory(parent)
            files.private_directory(directory)
            with tempfile.TemporaryFile(dir=directory):
                pass
            _prune_at_exit(directory)
            return DownloadCache(directory)
    try:
        return temporary_cache(os.geteuid())
    except OSError as error:
        raise SourceError(f"nothing can be downloaded: {reason(error)}") from None


@functools.cache
def _prune_at_exit(directory: str) -> None:
    # Not before, since by then it is known which of the old files were used after all.
    atexit.register(DownloadCache(directory).prune)


@functools.cache
def temporary_cache(_user: int) -> DownloadCache:
    """Create the cache of this process, which is removed at exit. Raises OSError."""
    directory = tempfile.mkdtemp(prefix="spackscope-copies-")
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    return DownloadCache(directory)
