"""Copies of files from far away, kept in the user's cache directory from one start to the next."""

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
from dataclasses import asdict, dataclass, fields, replace
from typing import BinaryIO

from spackscope.model.core.bounded_files import open_file, read_file
from spackscope.model.core.errors import SourceError, reason
from spackscope.model.core.files import (
    is_temporary,
    make_directories,
    private_directory,
    sha256_of,
    temporary_file,
    write_atomically,
    xdg_dir,
)

UNUSED_DAYS = 30
LARGEST = 20 << 30
"""Bytes that all copies together may take; beyond, those not used for longest go first."""

_DAY = 86_400.0
_META = ".json"
_LARGEST_META = 2**16


@dataclass(frozen=True, slots=True)
class CachedFile:
    """Describe a copy: where it lies, what it is a copy of, and what its server said of it.

    `url` is shown without secrets. `checked` is when the copy was last known to be as the
    original, in seconds since 1970. `stamp` is whatever the server tells versions apart by:
    an ETag, a generation, a digest. Size is in bytes, mtime and ctime are in ns: a file of
    which they are not the same any more has to be held against its sha256 again.
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
    """Keep copies in a directory, each a file with a small JSON file beside it.

    Any number of processes may use one directory. A file whose content stays the same is not
    touched, and so keeps its mtime; whatever does not fit its description is no copy.
    """

    def __init__(self, directory: str) -> None:
        self.directory = directory

    def find(self, key: str) -> CachedFile | None:
        """Give the copy of what the key names, if there is a good one."""
        path = self._path(key)
        try:
            copy = _described(path, json.loads(read_file(path + _META, _LARGEST_META)))
            if copy is None:
                return None
            with open_file(path) as data:
                status = os.fstat(data.fileno())
                times = (status.st_mtime_ns, status.st_ctime_ns)
                if status.st_size != copy.size:
                    return None
                if times != (copy.mtime_ns, copy.ctime_ns):
                    if sha256_of(data) != copy.sha256:
                        return None
                    copy = replace(copy, mtime_ns=times[0], ctime_ns=times[1])
        except (OSError, ValueError, RecursionError):
            return None
        self._mark_used(path + _META)
        return copy

    @contextlib.contextmanager
    def beginning(self, key: str) -> Iterator[BinaryIO]:
        """Open a file for a new copy, which is removed afterwards unless it was kept.

        Raises OSError.
        """
        path = self._path(key)
        make_directories(self.directory)
        with temporary_file(self.directory, os.path.basename(path)) as file:
            yield file

    def keep(
        self, key: str, file: BinaryIO, *, url: str, stamp: str, last_modified: str, sha256: str
    ) -> CachedFile:
        """Make a file that was begun the copy of what the key names, and give the copy.

        Where the copy that is there has the same content, that one stays. Raises OSError.
        """
        there = self.find(key)
        if there is not None and there.sha256 == sha256:
            return self.confirm(there, stamp=stamp, last_modified=last_modified)
        path = self._path(key)
        file.flush()
        os.replace(file.name, path)
        # Of the file that was written, not of the path, which may be another process's by now.
        status = os.fstat(file.fileno())
        copy = CachedFile(
            path,
            url,
            stamp,
            last_modified,
            sha256,
            status.st_size,
            status.st_mtime_ns,
            status.st_ctime_ns,
            time.time(),
        )
        self._describe(copy)
        return copy

    def confirm(self, copy: CachedFile, *, stamp: str = "", last_modified: str = "") -> CachedFile:
        """Note that a copy is as the original right now, and give it as it is noted."""
        confirmed = replace(
            copy,
            stamp=stamp or copy.stamp,
            last_modified=last_modified or copy.last_modified,
            checked=time.time(),
        )
        # If that cannot be noted, it is still known now.
        with contextlib.suppress(OSError):
            self._describe(confirmed)
        return confirmed

    def sweep(self, *, now: float | None = None, max_size: int = LARGEST) -> None:
        """Remove what nothing used for 30 days, and the oldest copies beyond a total of bytes."""
        now = time.time() if now is None else now
        used: list[tuple[float, int, str]] = []
        with contextlib.suppress(OSError), os.scandir(self.directory) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    status = entry.stat(follow_symlinks=False)
                    age = now - status.st_mtime
                    if not entry.name.endswith(_META) and not is_temporary(entry.name):
                        with contextlib.suppress(FileNotFoundError):
                            age = now - os.stat(entry.path + _META).st_mtime
                        used.append((age, status.st_size, entry.path))
        total = 0
        for age, size, path in sorted(used):
            total += size
            if age > UNUSED_DAYS * _DAY or (total > max_size and age > _DAY):
                for old in (path + _META, path):
                    with contextlib.suppress(OSError):
                        os.unlink(old)

    def _path(self, key: str) -> str:
        # The key may hold a token, of which nothing can be told from a digest.
        return os.path.join(
            self.directory, hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:40]
        )

    def _describe(self, copy: CachedFile) -> None:
        described = {name: value for name, value in asdict(copy).items() if name != "path"}
        write_atomically(copy.path + _META, json.dumps(described).encode())

    def _mark_used(self, path: str) -> None:
        with contextlib.suppress(OSError):
            if time.time() - os.stat(path).st_mtime > _DAY:
                os.utime(path)


def open_download_cache(environ: Mapping[str, str]) -> DownloadCache:
    """Give the copies in the user's cache directory, else some that go when the program ends.

    Raises SourceError where not even a temporary directory can be written to.
    """
    cache = xdg_dir(environ, "XDG_CACHE_HOME", ".cache")
    if cache:
        directory = os.path.join(cache, "spackscope", "copies")
        try:
            private_directory(os.path.dirname(directory))
            private_directory(directory)
            with tempfile.TemporaryFile(dir=directory):
                pass
        except OSError:
            pass
        else:
            _sweep_at_end(directory)
            return DownloadCache(directory)
    try:
        return DownloadCache(_passing_directory(os.geteuid()))
    except OSError as error:
        raise SourceError(f"nothing can be copied to this machine: {reason(error)}") from None


def open_temporary_cache(copies: DownloadCache) -> DownloadCache | None:
    """Give copies that go when the program ends, for where these take none; else None."""
    try:
        passing = _passing_directory(os.geteuid())
    except OSError:
        return None
    return DownloadCache(passing) if passing != copies.directory else None


@functools.cache
def _sweep_at_end(directory: str) -> None:
    # At the end, since by then it is known which of the old ones were used after all.
    atexit.register(DownloadCache(directory).sweep)


@functools.cache
def _passing_directory(_user: int) -> str:
    directory = tempfile.mkdtemp(prefix="spackscope-copies-")
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    return directory


def _described(path: str, described: object) -> CachedFile | None:
    """Make a copy of its JSON description, unless that is no such description."""
    if not isinstance(described, dict):
        return None
    wanted = {field.name: field.type for field in fields(CachedFile) if field.name != "path"}
    for name, kind in wanted.items():
        value = described.get(name)
        good = isinstance(value, str) if kind == "str" else isinstance(value, (int, float))
        if not good:
            return None
    return CachedFile(path, **{name: described[name] for name in wanted})
