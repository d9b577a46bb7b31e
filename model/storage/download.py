"""Download files, or reuse the cached copies that are still current."""

from __future__ import annotations

import codecs
import hashlib
import os
import time
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import BinaryIO

from spackscope.model.core.errors import Cancelled, SourceError, Unreadable, WrongContent
from spackscope.model.core.files import MAX_FILE_SIZE, read_file
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.tasks import OnProgress, ShouldStop, never, no_progress
from spackscope.model.storage.base import Check, FetchedFile, Storage, check_digest
from spackscope.model.storage.download_cache import (
    CachedFile,
    DownloadCache,
    FileVersion,
    open_temporary_cache,
)
from spackscope.model.storage.http_client import Client
from spackscope.model.storage.urls import shown_top

_REPORT_SECONDS = 0.05
_HEAD_SIZE = 64


class RemoteFile(Frozen):
    """A file to download: `key` identifies it in the cache, `origin` names it to the user.

    The rest is as in `Storage.fetch`.
    """

    key: str
    origin: str
    sha256: str = ""
    immutable: bool = False
    max_size: int = MAX_FILE_SIZE
    check: Check | None = None

    def why_unreadable(self, path: str) -> str:
        """Return why a copy is not to be kept; "" if it can be read. Raises OSError."""
        try:
            if self.check is not None:
                self.check(read_file(path, self.max_size))
        except Unreadable as error:
            return str(error)
        return ""


@dataclass(repr=False)
class Download:
    """One download of a file, with the cached copy to compare, and the target of its bytes.

    Each method raises SourceError where there are more bytes than the file may have.
    """

    file: RemoteFile
    cached: CachedFile | None
    _target: BinaryIO
    _on_progress: OnProgress
    _should_stop: ShouldStop
    _digest: hashlib._Hash = field(default_factory=hashlib.sha256)
    _reported: float = 0.0
    size: int = 0

    def restart(self) -> None:
        """Discard what was written."""
        self._target.seek(0)
        self._target.truncate()
        self._digest = hashlib.sha256()
        self.size = 0

    def announce(self, size: int | None) -> None:
        """Check the size that the server announces."""
        limit = self.file.max_size
        if size is not None and size > limit:
            allowed = f"{limit:,} are allowed"
            raise SourceError(f"{self.file.origin} is too large: {size:,} bytes, and {allowed}")

    def write(self, chunk: bytes) -> None:
        """Append bytes."""
        self.size += len(chunk)
        self._check(self.size)
        self._digest.update(chunk)
        self._target.write(chunk)

    def report(self, received: int, total: int | None) -> None:
        """Report progress in bytes on the wire; raises Cancelled.

        Compressed bytes count as well, since many may unpack to few.
        """
        self._check(received)
        if self._should_stop():
            raise Cancelled
        now = time.monotonic()
        if now - self._reported >= _REPORT_SECONDS or received == total:
            self._reported = now
            origin = self.file.origin
            self._on_progress(f"bytes of {origin.rpartition('/')[2] or origin}", received, total)

    def _check(self, size: int) -> None:
        limit = self.file.max_size
        if size > limit:
            raise SourceError(f"{self.file.origin} is larger than the {limit:,} bytes allowed")

    def check_content(self) -> str:
        """Return the sha256 of what was written. Raises WrongContent for a web page too."""
        self._target.seek(0)
        head = self._target.read(_HEAD_SIZE)
        self._target.seek(0, os.SEEK_END)
        origin = self.file.origin
        if head.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"<"):
            # No file of Spack's begins so.
            message = f"{origin} cannot be read: the server returned a web page"
            raise WrongContent(message, may_serve_stale=True)
        if self.file.sha256:
            check_digest(self.sha256, self.file.sha256, origin)
        return self.sha256

    @property
    def sha256(self) -> str:
        """The hexadecimal digest of what was written."""
        return self._digest.hexdigest()


Request = Callable[[Download], FileVersion | None]
"""Requests a file from a server once, unless the cached copy is current: that is None.

Raises SourceErrors and Cancelled.
"""


@dataclass(repr=False)
class Downloader:
    """Downloads into a cache, for all storages of one session.

    With `asks_anew` a server is not asked whether a copy is current, but for the file.
    """

    cache: DownloadCache
    client: Client
    on_progress: OnProgress = no_progress
    should_stop: ShouldStop = never
    asks_anew: bool = False

    def fetch(self, file: RemoteFile, request: Request) -> FetchedFile:
        """Download a file, or reuse the cached copy if it is still current.

        A copy with the expected sha256 is current whatever the server says. Where the server
        fails, a stale copy serves even if its sha256 is another one, with a remark that says why;
        but not where the file no longer exists or does not match its checksum.

        Raises SourceErrors and Cancelled.
        """
        try:
            return self._fetch(self.cache, file, request)
        except OSError as error:
            why = f"cannot be written to the cache: {error.strerror}"
            failure = SourceError(f"{file.origin} {why}")
        if (stale := self.cache.find(file.key)) is not None:
            return _serve_stale(stale, file, failure)
        try:
            # The disk of the cache may be full, and another one not.
            return self._fetch(open_temporary_cache(), file, request)
        except OSError:
            raise failure from None

    def _fetch(self, cache: DownloadCache, file: RemoteFile, request: Request) -> FetchedFile:
        cached = usable = cache.find(file.key)
        if cached is not None and file.sha256:
            if cached.sha256 == file.sha256.lower():
                return FetchedFile(cached.path, file.origin, time.time())
            usable = None
        if self.asks_anew:
            usable = None
        if usable is not None and file.immutable:
            return FetchedFile(usable.path, file.origin, usable.checked)
        try:
            current = self._download(cache, file, cached, usable, request)
        except SourceError as error:
            if cached is None or not error.may_serve_stale:
                raise
            return _serve_stale(cached, file, error)
        return FetchedFile(current.path, file.origin, current.checked)

    def _download(
        self,
        cache: DownloadCache,
        file: RemoteFile,
        cached: CachedFile | None,
        usable: CachedFile | None,
        request: Request,
    ) -> CachedFile:
        with cache.open_new(file.key) as target:
            download = Download(file, usable, target, self.on_progress, self.should_stop)

            def request_once() -> FileVersion | None:
                download.restart()
                return request(download)

            version = self.client.retry(request_once, has_cached=usable is not None)
            if version is None:
                if usable is None:
                    raise SourceError(
                        f"{file.origin} cannot be read: the server says that it has not changed"
                    )
                return cache.confirm(usable)
            sha256 = download.check_content()
            if not file.sha256 and (why := file.why_unreadable(target.name)):
                if file.immutable or (cached and not file.why_unreadable(cached.path)):
                    message = f"{file.origin} cannot be read: {why}"
                    raise WrongContent(message, may_serve_stale=True)
                # Without the version of the whole file, a server is asked for all of it again.
                version = FileVersion()
            return cache.store(file.key, target, url=file.origin, version=version, sha256=sha256)


class RemoteStorage(Storage):
    """Storage whose files are downloaded, each by one request."""

    def __init__(self, url: str, downloader: Downloader) -> None:
        self.origin = shown_top(url)
        self.downloader = downloader

    @abstractmethod
    def _cache_key(self, name: str) -> str:
        """Return what identifies a file in the cache."""

    @abstractmethod
    def _request(self, name: str, download: Download) -> FileVersion | None:
        """Request a file once, as a `Request` does."""

    def fetch(
        self,
        name: str,
        sha256: str = "",
        immutable: bool = False,
        max_size: int = MAX_FILE_SIZE,
        check: Check | None = None,
    ) -> FetchedFile:
        """Return the cached copy of a file once it is current; "" is the URL itself."""
        origin = f"{self.origin}/{name}" if name else self.origin
        file = RemoteFile(self._cache_key(name), origin, sha256, immutable, max_size, check)
        return self.downloader.fetch(file, partial(self._request, name))

    def is_cached(self, name: str) -> bool:
        """Check whether there is a cached copy of a file."""
        return self.downloader.cache.find(self._cache_key(name)) is not None


def _serve_stale(cached: CachedFile, file: RemoteFile, failure: SourceError) -> FetchedFile:
    return FetchedFile(cached.path, file.origin, cached.checked, str(failure))
