"""Download files into the cache of the user, or reuse their copies there from an earlier run.

A file is requested in a thread, in which a library may wait without a limit. The thread is
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
    NotFound,
    SourceError,
    TemporaryFailure,
    Unreachable,
    Unreadable,
    WrongContent,
    reason,
)
from spackscope.model.core.file_access import read_file, read_head
from spackscope.model.core.frozen import Frozen, asdict, replace
from spackscope.model.core.tasks import (
    cancelled_when,
    check_cancelled,
    report_progress,
    run_cancellable,
    sleep,
)
from spackscope.model.storage.base import FetchedFile, Storage, Wanted
from spackscope.model.storage.urls import shown_top

UNUSED_DAYS = 30
MAX_SIZE = 20 << 30
"""The most bytes of all cached files together; the least recently used ones are removed."""

_DAY = 86_400.0
_META = ".json"
_MAX_META_SIZE = 2**16


class CachedFile(Frozen):
    """A cached file at `path`, with the URL it comes from and its version on the server.

    `url` is without secrets. `validators` are sent to the server to ask whether it has another
    version. `status` is the file's size in bytes, its mtime and its ctime in ns: if they have
    changed, it is not the file that was cached. `checked` is the time in seconds since 1970 at
    which the file was last known to be current.
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
    written again, and so keeps its mtime; a file that does not match its metadata is ignored.
    """

    def __init__(self, directory: str) -> None:
        self.directory = directory

    def find(self, key: str) -> CachedFile | None:
        """Return the cached file of a key; None if there is none, or if it is damaged."""
        path = self._path(key)
        try:
            meta = json.loads(file_access.read_file(path + _META, _MAX_META_SIZE))
            cached = CachedFile(path, **meta)
            with file_access.open_file(path) as file:
                if _status_of(file) != cached.status:
                    return None
        except (OSError, ValueError, TypeError, RecursionError):
            return None
        with contextlib.suppress(OSError):
            # The mtime of the metadata is the time at which the file was last used.
            if time.time() - os.stat(path + _META).st_mtime > _DAY:
                os.utime(path + _META)
        return cached

    @contextlib.contextmanager
    def open_new(self, key: str) -> Iterator[BinaryIO]:
        """Open a temporary file; it is removed afterwards unless it was stored. Raises OSError."""
        file_access.make_directories(self.directory)
        with file_access.temporary_file(self.directory, os.path.basename(self._path(key))) as file:
            yield file

    def store(
        self, key: str, file: BinaryIO, url: str, sha256: str, validators: dict[str, str]
    ) -> CachedFile:
        """Cache a file of `open_new`, unless the cached file is the same. Raises OSError."""
        cached = self.find(key)
        if cached is None or cached.sha256 != sha256:
            path = self._path(key)
            file.flush()
            os.replace(file.name, path)
            # The status of this file: another process may have replaced the path by now.
            cached = CachedFile(path, url, sha256, validators, _status_of(file), 0.0)
        return self.confirm(replace(cached, validators=validators))

    def confirm(self, cached: CachedFile) -> CachedFile:
        """Record that a cached file is current now, and return it with the new time."""
        confirmed = replace(cached, checked=time.time())
        meta = asdict(confirmed)
        path = meta.pop("path")
        # If the metadata cannot be written, it is current for this run.
        with contextlib.suppress(OSError):
            file_access.write_atomically(path + _META, json.dumps(meta).encode())
        return confirmed

    def prune(self, *, max_size: int = MAX_SIZE) -> None:
        """Remove files that were not used for 30 days, and the oldest beyond `max_size` bytes.

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
    """Open the cache in the user's cache directory, else a temporary one, removed at exit.

    Raises SourceError if not even a temporary directory can be created.
    """
    if parent := file_access.xdg_path(environ, "cache"):
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
    # At exit, since only then it is known which old files were used.
    atexit.register(DownloadCache(directory).prune)


@functools.cache
def temporary_cache(_user: int) -> DownloadCache:
    """Create the temporary cache of this process, removed at exit. Raises OSError."""
    directory = tempfile.mkdtemp(prefix="spackscope-copies-")
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    return DownloadCache(directory)


_HEAD_SIZE = 64


class Timeouts(Frozen):
    """Timeouts of a server in seconds, and the number of attempts of a request.

    `stalled` is the longest time without any byte, and `slow_for` the longest time with fewer than
    `min_rate` bytes a second. Before the second attempt the client waits `pause` seconds, and
    before each further attempt three times as long, or as long as the server asks. It gives up
    if a wait would be longer than `max_pause`.
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
    """The download of one file, in a thread that can be abandoned.

    The thread calls `expect` and `receive`. `cached` is the copy that the server is asked about.
    The thread sets `validators` to the validators of the new version. `host` is the host that has
    to send next, and `received` the number of bytes that have arrived.
    """

    def __init__(
        self,
        wanted: Wanted,
        origin: str,
        cached: CachedFile | None = None,
        target: BinaryIO | None = None,
    ) -> None:
        self.wanted, self.origin, self.cached = wanted, origin, cached
        self.validators: dict[str, str] = {}
        self.is_abandoned = False
        self._target = target or io.BytesIO()
        self.restart()

    def restart(self) -> None:
        """Discard all bytes that were received."""
        self._target.seek(0)
        self._target.truncate()
        self._digest = hashlib.sha256()
        self.received, self.host = 0, ""
        self._total: int | None = None

    @property
    def sha256(self) -> str:
        """The hexadecimal digest of the received bytes."""
        return self._digest.hexdigest()

    @property
    def has_enough(self) -> bool:
        """Whether no further byte has to be read."""
        return self.wanted.only_start and self.received >= self.wanted.max_size

    def expect(self, host: str, total: int | None = None) -> None:
        """Note the host that has to respond, or to send a body of `total` bytes.

        Raises SourceError if `total` is too large.
        """
        limit = self.wanted.max_size
        if total is not None and total > limit and not self.wanted.only_start:
            allowed = f"{limit:,} are allowed"
            raise SourceError(f"{self.origin} is too large: {total:,} bytes, and {allowed}")
        self.host, self._total = host, total

    def check_abandoned(self) -> None:
        """Raise Cancelled if nobody waits for the thread any more."""
        if self.is_abandoned:
            raise Cancelled

    def receive(self, chunk: bytes) -> None:
        """Append received bytes, and report the progress.

        Raises SourceError if there are too many, and Cancelled if nobody waits for them.
        """
        self.check_abandoned()
        wanted = self.wanted
        if wanted.only_start:
            chunk = chunk[: wanted.max_size - self.received]
        self.received += len(chunk)
        if self.received > wanted.max_size:
            limit = f"{wanted.max_size:,} bytes"
            raise SourceError(f"{self.origin} is larger than the {limit} allowed")
        self._digest.update(chunk)
        self._target.write(chunk)
        name = self.origin.rpartition("/")[2] or self.origin
        report_progress(f"bytes of {name}", self.received, self._total)


Request = Callable[[Download], bool]
"""Requests a file from a server once. Returns True if it came, False if the copy is current.

Raises SourceErrors and Cancelled.
"""

_Result = TypeVar("_Result")


class Downloader:
    """Downloads into a cache, for all storages of one session.

    With `asks_anew` files are downloaded even if a cached copy may be current. A host that could
    not be reached is not asked again. Raises SourceError if no cache directory can be written to.
    """

    def __init__(
        self,
        environ: Mapping[str, str],
        *,
        timeouts: Timeouts = USUAL_TIMEOUTS,
        asks_anew: bool = False,
    ) -> None:
        self.environ, self.timeouts = environ, timeouts
        self.cache = open_download_cache(environ)
        self._asks_anew = asks_anew
        self._unreachable: dict[str, str] = {}

    def fetch(self, key: str, origin: str, wanted: Wanted, request: Request) -> FetchedFile:
        """Download a file, or reuse the cached copy of the key if it is still current.

        A copy with the expected sha256 is current, and the server is not asked. If the server
        fails, a stale copy is used, even with another sha256, with a remark that says why; but not
        if the file no longer exists or does not match its checksum.

        Raises SourceErrors and Cancelled.
        """
        if wanted.only_start:
            key = f"{key} {wanted.sha256} {wanted.max_size}"
            wanted = replace(wanted, sha256="", immutable=True)
        try:
            return self._fetch(self.cache, key, origin, wanted, request)
        except OSError as error:
            why = f"cannot be written to the cache: {error.strerror}"
            failure = SourceError(f"{origin} {why}")
        if (stale := self.cache.find(key)) is not None:
            return FetchedFile(stale.path, origin, stale.checked, str(failure))
        try:
            # The disk of the cache may be full, and the disk of temporary files not.
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
        if not wanted.may_download:
            raise NotFound(f"{origin} was not downloaded yet")
        try:
            with cache.open_new(key) as target:
                download = Download(wanted, origin, usable, target)
                if not self.retry(download, request, is_patient=usable is None):
                    assert usable is not None, "a server is asked only of a copy"
                    current = cache.confirm(usable)
                else:
                    target.flush()
                    head = read_head(target.name, _HEAD_SIZE).removeprefix(codecs.BOM_UTF8)
                    if head.lstrip().startswith(b"<"):
                        # No file of Spack begins with `<`.
                        message = f"{origin} cannot be read: the server returned a web page"
                        raise WrongContent(message, may_serve_stale=True)
                    wanted.check_digest(download.sha256, origin)
                    validators = download.validators
                    if why := _why_unreadable(target.name, wanted):
                        is_kept = cached is not None and not _why_unreadable(cached.path, wanted)
                        if is_kept or wanted.immutable:
                            message = f"{origin} cannot be read: {why}"
                            raise WrongContent(message, may_serve_stale=True)
                        # Without validators, the next run requests the whole file again.
                        validators = {}
                    current = cache.store(key, target, origin, download.sha256, validators)
        except SourceError as error:
            if cached is None or not (error.may_serve_stale or wanted.copy):
                raise
            return FetchedFile(cached.path, origin, cached.checked, str(error))
        return FetchedFile(current.path, origin, current.checked)

    def retry(
        self, download: Download, request: Callable[[Download], _Result], *, is_patient: bool
    ) -> _Result:
        """Send a request in a thread, as often as `timeouts` allow; return its result.

        The thread is abandoned if bytes come too slowly. A silent host is asked again only if
        `is_patient`. Raises the exceptions of the request, Unreachable and Cancelled.
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
        """Return the key of a file in the cache."""

    @abstractmethod
    def _request(self, download: Download) -> bool:
        """Request a file once; see `Request`."""

    def fetch(self, wanted: Wanted) -> FetchedFile:
        """Download a file, or reuse its cached copy. Raises SourceErrors and Cancelled."""
        key, origin = self._cache_key(wanted.copy or wanted.name), self.origin_of(wanted.name)
        return self.downloader.fetch(key, origin, wanted, self._request)


def _why_unreadable(path: str, wanted: Wanted) -> str:
    """Return the reason why a copy should not be kept; "" to keep it. Raises OSError."""
    try:
        if wanted.check is not None and not wanted.sha256:
            wanted.check(read_file(path, wanted.max_size))
    except Unreadable as error:
        return str(error)
    return ""
