"""Downloaded files, kept in the user's cache directory from one run to the next."""

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
from spackscope.model.core.files import open_file, read_file
from spackscope.model.core.frozen import Frozen, asdict, fields, replace

UNUSED_DAYS = 30
MAX_SIZE = 20 << 30
"""Bytes of all cached files together; beyond, the least recently used ones are removed."""

_DAY = 86_400.0
_META = ".json"
_MAX_META_SIZE = 2**16


class FileVersion(Frozen):
    """What a server says of the version of a file.

    `stamp` is what identifies a version: an ETag, a generation, a digest.
    """

    stamp: str = ""
    last_modified: str = ""


class CachedFile(Frozen):
    """A cached file: where it is, where it comes from, and its version there.

    `url` is without secrets. `checked` is when the file was last known to be current, in seconds
    since 1970. Size is in bytes, mtime and ctime are in ns: where they have changed, the file has
    to be verified again.
    """

    path: str
    url: str
    stamp: str
    last_modified: str
    sha256: str
    size: int
    mtime_ns: int
    ctime_ns: int
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
            cached = _parse(path, json.loads(read_file(path + _META, _MAX_META_SIZE)))
            if cached is None:
                return None
            with open_file(path) as file:
                status = os.fstat(file.fileno())
                if status.st_size != cached.size:
                    return None
                times = (status.st_mtime_ns, status.st_ctime_ns)
                if times != (cached.mtime_ns, cached.ctime_ns):
                    if files.sha256_of(file) != cached.sha256:
                        return None
                    cached = replace(cached, mtime_ns=times[0], ctime_ns=times[1])
        except (OSError, ValueError, RecursionError):
            return None
        with contextlib.suppress(OSError):
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
        self, key: str, file: BinaryIO, *, url: str, version: FileVersion, sha256: str
    ) -> CachedFile:
        """Cache a file of `open_new`, unless the cached one is the same. Raises OSError."""
        cached = self.find(key)
        if cached is not None and cached.sha256 == sha256:
            return self.confirm(cached, version)
        path = self._path(key)
        file.flush()
        os.replace(file.name, path)
        # Of the file that was written: another process may have replaced the path since.
        status = os.fstat(file.fileno())
        stated = version.stamp, version.last_modified
        times = status.st_mtime_ns, status.st_ctime_ns
        cached = CachedFile(path, url, *stated, sha256, status.st_size, *times, time.time())
        self._write_meta(cached)
        return cached

    def confirm(self, cached: CachedFile, version: FileVersion | None = None) -> CachedFile:
        """Record that a cached file is current now, and return it with that."""
        stated = asdict(version) if version is not None else {}
        confirmed = replace(cached, **stated, checked=time.time())
        # It is current for this run even where that cannot be written.
        with contextlib.suppress(OSError):
            self._write_meta(confirmed)
        return confirmed

    def prune(self, *, max_size: int = MAX_SIZE) -> None:
        """Remove files that were not used for 30 days, and the oldest beyond a total of bytes.

        Files that were used today always stay.
        """
        total = 0
        for age, size, path in sorted(self._ages()):
            total += size
            if age > UNUSED_DAYS * _DAY or (total > max_size and age > _DAY):
                for obsolete in (path + _META, path):
                    with contextlib.suppress(OSError):
                        os.unlink(obsolete)

    def _ages(self) -> Iterator[tuple[float, int, str]]:
        """Yield the seconds since the last use, the size and the path of each file."""
        with contextlib.suppress(OSError), os.scandir(self.directory) as entries:
            now = files.file_system_time(self.directory)
            for entry in entries:
                if entry.name.endswith(_META) or files.is_temporary(entry.name):
                    continue
                with contextlib.suppress(OSError):
                    status = entry.stat(follow_symlinks=False)
                    used = status.st_mtime
                    with contextlib.suppress(FileNotFoundError):
                        used = os.stat(entry.path + _META).st_mtime
                    yield now - used, status.st_size, entry.path

    def _path(self, key: str) -> str:
        # The key may contain a token, which a digest does not reveal.
        digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
        return os.path.join(self.directory, digest[:40])

    def _write_meta(self, cached: CachedFile) -> None:
        meta = {name: value for name, value in asdict(cached).items() if name != "path"}
        files.write_atomically(cached.path + _META, json.dumps(meta).encode())


def open_download_cache(environ: Mapping[str, str]) -> DownloadCache:
    """Open the cache in the user's cache directory, else one that is removed at exit.

    Raises SourceError where not even a temporary directory can be written to.
    """
    if parent := files.xdg_dir(environ, "cache"):
        directory = os.path.join(parent, "copies")
        try:
            files.private_directory(parent)
            files.private_directory(directory)
            with tempfile.TemporaryFile(dir=directory):
                pass
        except OSError:
            pass
        else:
            _prune_at_exit(directory)
            return DownloadCache(directory)
    try:
        return open_temporary_cache()
    except OSError as error:
        raise SourceError(f"nothing can be downloaded: {reason(error)}") from None


def open_temporary_cache() -> DownloadCache:
    """Open the cache of this process, which is removed at exit. Raises OSError."""
    return DownloadCache(_temporary_directory(os.geteuid()))


@functools.cache
def _prune_at_exit(directory: str) -> None:
    # Not before, since by then it is known which of the old files were used after all.
    atexit.register(DownloadCache(directory).prune)


@functools.cache
def _temporary_directory(_user: int) -> str:
    directory = tempfile.mkdtemp(prefix="spackscope-copies-")
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    return directory


def _parse(path: str, meta: object) -> CachedFile | None:
    """Return the cached file that metadata describes, or None if it is not valid."""
    if not isinstance(meta, dict):
        return None
    types = {field.name: field.type for field in fields(CachedFile) if field.name != "path"}
    for name, kind in types.items():
        if not isinstance(meta.get(name), str if kind == "str" else (int, float)):
            return None
    return CachedFile(path, **{name: meta[name] for name in types})
