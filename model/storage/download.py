"""Download files into the cache of the user, or reuse their copies there from an earlier run.

A file is requested in a thread, which may wait in a library for as long as it likes: it is
abandoned when the user stops, or when a server takes too long.
"""

from __future__ import annotations

import atexit
import codecs
import contextlib
import functools
import hashlib
import io
import json
import os
import shutil
import tempfile
import time
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import BinaryIO, TypeVar

from spackscope.model.core import file_access
from spackscope.model.core.errors import (
    Cancelled,
    SourceError,
    TemporaryFailure,
    Unreachable,
    Unreadable,
    WrongContent,
    reason,
)
from spackscope.model.core.file_access import (
    MAX_EXPANSION,
    max_unpacked_size,
    read_file,
    read_head,
)
from spackscope.model.core.frozen import Frozen, asdict, replace
from spackscope.model.core.tasks import (
    OnProgress,
    cancelled_when,
    check_cancelled,
    no_progress,
    run_cancellable,
    sleep,
)
from spackscope.model.storage.base import FetchedFile, Storage, Wanted
from spackscope.model.storage.urls import shown_top

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
            meta = json.loads(file_access.read_file(path + _META, _MAX_META_SIZE))
            cached = CachedFile(path, **meta)
            with file_access.open_file(path) as file:
                if (status := _status_of(file)) != cached.status:
                    if file_access.sha256_of(file) != cached.sha256:
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
        file_access.make_directories(self.directory)
        with file_access.temporary_file(self.directory, os.path.basename(self._path(key))) as file:
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
            file_access.write_atomically(path + _META, json.dumps(meta).encode())
        return confirmed

    def prune(self, *, max_size: int = MAX_SIZE) -> None:
        """Remove files that were not used for 30 days, and the oldest beyond a total of bytes.

        Files that were used today always stay.
        """
        copies = []
        with contextlib.suppress(OSError), os.scandir(self.directory) as entries:
            now = time.time()
            for entry in entries:
                if not entry.name.endswith(_META) and not file_access.is_temporary(entry.name):
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
    if parent := file_access.xdg_dir(environ, "cache"):
        directory = os.path.join(parent, "copies")
        with contextlib.suppress(OSError):
            file_access.private_directory(parent)
            file_access.private_directory(directory)
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


_REPORT_SECONDS = 0.05
_HEAD_SIZE = 64


class Timeouts(Frozen):
    """Timeouts of a server in seconds, and how often a request is retried.

    `stalled` is the longest time without any byte, and `slow_for` that with fewer than `min_rate`
    bytes a second. Between two attempts the client waits `pause` seconds, three times as long
    before each further one, or as long as the server asks; it does not try again where that is
    more than `max_pause`.
    """

    connect: float = 10.0
    stalled: float = 20.0
    slow_for: float = 60.0
    min_rate: int = 1024
    attempts: int = 3
    pause: float = 0.5
    max_pause: float = 30.0


USUAL_TIMEOUTS = Timeouts()


class Download:
    """A file on its way, which is requested in a thread that can be abandoned.

    The thread says what it waits for, counts the bytes that come, and writes those of the file.
    `cached` is the copy to ask about, `validators` are to be set to those of the version that
    comes, `host` is where bytes are expected from, and `received` are those on the wire.
    """

    def __init__(
        self,
        wanted: Wanted,
        origin: str,
        on_progress: OnProgress = no_progress,
        cached: CachedFile | None = None,
        target: BinaryIO | None = None,
    ) -> None:
        self.wanted, self.origin, self.cached = wanted, origin, cached
        self.validators: dict[str, str] = {}
        self.is_abandoned = False
        self._on_progress = on_progress
        self._target = target or io.BytesIO()
        self._reported = 0.0
        self.restart()

    def restart(self) -> None:
        """Discard what was received and written."""
        self._target.seek(0)
        self._target.truncate()
        self._digest, self._size = hashlib.sha256(), 0
        self.received, self.host = 0, ""
        self._total: int | None = None

    @property
    def sha256(self) -> str:
        """The hexadecimal digest of what was written."""
        return self._digest.hexdigest()

    def expect(self, host: str, total: int | None = None) -> None:
        """Note that a host is to respond, or to send a body of `total` bytes.

        Raises SourceError for a body that is announced to be too large.
        """
        limit = self.wanted.max_size
        if total is not None and total > limit:
            allowed = f"{limit:,} are allowed"
            raise SourceError(f"{self.origin} is too large: {total:,} bytes, and {allowed}")
        self.host, self._total = host, total

    def check_abandoned(self) -> None:
        """Raise Cancelled where nobody waits for the thread any more."""
        if self.is_abandoned:
            raise Cancelled

    def receive(self, count: int) -> None:
        """Count and report bytes on the wire. Raises Cancelled as `check_abandoned` does."""
        self.check_abandoned()
        self.received += count
        now = time.monotonic()
        if now - self._reported >= _REPORT_SECONDS or self.received == self._total:
            self._reported = now
            name = self.origin.rpartition("/")[2] or self.origin
            self._on_progress(f"bytes of {name}", self.received, self._total)

    def write(self, chunk: bytes) -> None:
        """Append bytes of the file, which may be unpacked from those on the wire.

        Both are limited, since few may unpack to very many, and many to none. Raises SourceError.
        """
        self._size += len(chunk)
        if max(self._size, self.received) > self.wanted.max_size:
            limit = f"{self.wanted.max_size:,} bytes"
            raise SourceError(f"{self.origin} is larger than the {limit} allowed")
        if self._size > max_unpacked_size(self.received):
            raise SourceError(f"{self.origin} unpacks to more than {MAX_EXPANSION} times its size")
        self._digest.update(chunk)
        self._target.write(chunk)


Request = Callable[[Download], bool]
"""Requests a file from a server once. Returns whether it came; else the cached copy is current.

Raises SourceErrors and Cancelled.
"""

_Result = TypeVar("_Result")


class Downloader:
    """Downloads into a cache, for all storages of one session.

    With `asks_anew` a server is not asked whether a copy is current, but for the file. A host that
    could not be reached is not asked again. Raises SourceError where nothing can be written.
    """

    def __init__(
        self,
        environ: Mapping[str, str],
        *,
        timeouts: Timeouts = USUAL_TIMEOUTS,
        on_progress: OnProgress = no_progress,
        asks_anew: bool = False,
    ) -> None:
        self.environ, self.timeouts = environ, timeouts
        self.cache = open_download_cache(environ)
        self.on_progress, self._asks_anew = on_progress, asks_anew
        self._unreachable: dict[str, str] = {}

    def fetch(self, key: str, origin: str, wanted: Wanted, request: Request) -> FetchedFile:
        """Download a file, or reuse the cached copy of that key if it is still current.

        A copy with the expected sha256 is current whatever the server says. Where the server
        fails, a stale copy serves even if its sha256 is another one, with a remark that says why;
        but not where the file no longer exists or does not match its checksum.

        Raises SourceErrors and Cancelled.
        """
        try:
            return self._fetch(self.cache, key, origin, wanted, request)
        except OSError as error:
            why = f"cannot be written to the cache: {error.strerror}"
            failure = SourceError(f"{origin} {why}")
        if (stale := self.cache.find(key)) is not None:
            return FetchedFile(stale.path, origin, stale.checked, str(failure))
        try:
            # The disk of the cache may be full, and another one not.
            return self._fetch(temporary_cache(os.geteuid()), key, origin, wanted, request)
        except OSError:
            raise failure from None

    def _fetch(
        self, cache: DownloadCache, key: str, origin: str, wanted: Wanted, request: Request
    ) -> FetchedFile:
        cached = cache.find(key)
        if cached is not None and wanted.sha256 and cached.sha256 == wanted.sha256:
            return FetchedFile(cached.path, origin, time.time())
        usable = None if wanted.sha256 or self._asks_anew else cached
        if usable is not None and wanted.immutable:
            return FetchedFile(usable.path, origin, usable.checked)
        try:
            with cache.open_new(key) as target:
                download = Download(wanted, origin, self.on_progress, usable, target)
                if not self.retry(download, request, is_patient=usable is None):
                    assert usable is not None, "a server is asked only of a copy"
                    current = cache.confirm(usable)
                else:
                    target.flush()
                    head = read_head(target.name, _HEAD_SIZE).removeprefix(codecs.BOM_UTF8)
                    if head.lstrip().startswith(b"<"):
                        # No file of Spack's begins so.
                        message = f"{origin} cannot be read: the server returned a web page"
                        raise WrongContent(message, may_serve_stale=True)
                    wanted.check_digest(download.sha256, origin)
                    validators = download.validators
                    if why := _why_unreadable(target.name, wanted):
                        is_kept = cached is not None and not _why_unreadable(cached.path, wanted)
                        if is_kept or wanted.immutable:
                            message = f"{origin} cannot be read: {why}"
                            raise WrongContent(message, may_serve_stale=True)
                        # Without them, a server is asked for all of the file again.
                        validators = {}
                    current = cache.store(key, target, origin, download.sha256, validators)
        except SourceError as error:
            if cached is None or not error.may_serve_stale:
                raise
            return FetchedFile(cached.path, origin, cached.checked, str(error))
        return FetchedFile(current.path, origin, current.checked)

    def retry(
        self, download: Download, request: Callable[[Download], _Result], *, is_patient: bool
    ) -> _Result:
        """Send a request in a thread, up to `timeouts.attempts` times; return its result.

        The thread is abandoned if bytes come too slowly. A host that stays silent is asked a
        second time by a patient caller only. Raises what the request raises, Unreachable and
        Cancelled.
        """
        timeouts, since, received = self.timeouts, 0.0, 0

        def check_rate() -> bool:
            nonlocal since, received
            now = time.monotonic()
            if now - since >= timeouts.slow_for:
                host = download.host
                if host and download.received - received < timeouts.min_rate * (now - since):
                    rate = f"fewer than {timeouts.min_rate:,} bytes a second"
                    sent = f"has sent {rate} for {timeouts.slow_for:g} seconds"
                    raise Unreachable(f"{host} {sent}", host)
                since, received = now, download.received
            return False

        for number in range(timeouts.attempts):
            check_cancelled()
            download.restart()
            download.is_abandoned = False
            since, received = time.monotonic(), 0
            try:
                with cancelled_when(check_rate):
                    return run_cancellable(lambda: request(download))
            except Unreachable as failure:
                self._unreachable[failure.host] = str(failure)
                raise
            except TemporaryFailure as failure:
                wait = timeouts.pause * 3**number if failure.after is None else failure.after
                is_last = number + 1 == timeouts.attempts or (failure.silent and not is_patient)
                if is_last or wait > timeouts.max_pause:
                    if failure.silent:
                        self._unreachable[failure.silent] = str(failure)
                    raise
            finally:
                download.is_abandoned = True
            sleep(wait)
        raise AssertionError("no attempt is allowed")

    def check_reachable(self, host: str) -> None:
        """Raise Unreachable for a host that could not be reached before."""
        if host in self._unreachable:
            raise Unreachable(self._unreachable[host], host)


class RemoteStorage(Storage):
    """Storage whose files are downloaded, each by one request."""

    def __init__(self, url: str, downloader: Downloader) -> None:
        self.origin = shown_top(url)
        self.downloader = downloader

    @abstractmethod
    def _cache_key(self, name: str) -> str:
        """Return what identifies a file in the cache."""

    @abstractmethod
    def _request(self, download: Download) -> bool:
        """Request a file once, as a `Request` does."""

    def fetch(self, wanted: Wanted) -> FetchedFile:
        """Download a file, or reuse its cached copy. Raises SourceErrors and Cancelled."""
        key, origin = self._cache_key(wanted.name), self.origin_of(wanted.name)
        return self.downloader.fetch(key, origin, wanted, self._request)

    def is_cached(self, name: str) -> bool:
        """Check whether there is a cached copy of a file."""
        return self.downloader.cache.find(self._cache_key(name)) is not None


def _why_unreadable(path: str, wanted: Wanted) -> str:
    """Return why a copy is not to be kept; "" if it can be read. Raises OSError."""
    try:
        if wanted.check is not None and not wanted.sha256:
            wanted.check(read_file(path, wanted.max_size))
    except Unreadable as error:
        return str(error)
    return ""
