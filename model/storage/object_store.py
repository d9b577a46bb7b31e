"""Files in object stores, `s3://bucket/prefix` and `gs://bucket/prefix`, which can be listed."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from spackscope.model.core.errors import SourceError, SpackscopeError, Unreachable
from spackscope.model.core.tasks import ShouldStop, run_cancellable
from spackscope.model.storage.download import Download, Downloader, RemoteStorage
from spackscope.model.storage.download_cache import FileVersion
from spackscope.model.storage.timeouts import RateCheck, Timeouts
from spackscope.model.storage.urls import percent_decoded, split_url

_Result = TypeVar("_Result")


class Bucket(ABC):
    """The objects of a bucket by their keys, through a library for that store.

    The library connects with the first request. A store that could not be reached is not tried
    again.
    """

    identity = ""
    """What distinguishes this bucket from one of the same name elsewhere: its endpoint."""

    def __init__(self, name: str, should_stop: ShouldStop, timeouts: Timeouts) -> None:
        self.name, self.timeouts = name, timeouts
        self._should_stop = should_stop
        self._library_client: Any = None
        self._lock = threading.Lock()
        self._failure = ""

    @abstractmethod
    def download(self, key: str, download: Download) -> FileVersion | None:
        """Write an object, unless the cached copy is current: that is None.

        Raises NotFound, TemporaryFailure, other SourceErrors and Cancelled.
        """

    @abstractmethod
    def size_of(self, key: str, origin: str) -> int | None:
        """Return the size of an object. Raises NotFound, other SourceErrors and Cancelled."""

    @abstractmethod
    def keys(self, prefix: str, origin: str) -> Iterator[str]:
        """Yield all keys that begin with a prefix. Raises SourceError and Cancelled."""

    @abstractmethod
    def _connect(self) -> Any:
        """Return a client of the library, or raise one of its exceptions."""

    @abstractmethod
    def _translate(self, error: Exception, origin: str) -> SourceError | None:
        """Return the sentence for an exception of the library, or None if it is none."""

    def _client(self) -> Any:
        with self._lock:
            if self._library_client is None:
                self._library_client = self._connect()
            return self._library_client

    def _call(self, origin: str, function: Callable[[], _Result]) -> _Result:
        """Call what sends a request through the library. Raises SourceError and Cancelled."""
        if self._failure:
            raise Unreachable(self._failure, origin)
        try:
            return run_cancellable(function, self._should_stop)
        except SpackscopeError:
            raise
        except Exception as error:
            failure = self._translate(error, origin)
            if failure is None:
                raise
            if isinstance(failure, Unreachable):
                self._failure = str(failure)
            raise failure from None


class ObjectTarget:
    """The file that a library writes an object to; raises what `Download` and `RateCheck` do."""

    def __init__(self, download: Download, size: int | None, timeouts: Timeouts) -> None:
        download.announce(size)
        self._download, self._size = download, size
        self._rate = RateCheck(timeouts, download.file.origin)

    def write(self, chunk: bytes) -> int:
        """Append bytes."""
        self._download.write(chunk)
        self._download.report(self._download.size, self._size)
        self._rate.update(self._download.size, self._size)
        return len(chunk)

    def tell(self) -> int:
        """Return the number of bytes so far."""
        return self._download.size

    def flush(self) -> None:
        """Do nothing: the target is flushed when it is stored."""


class ObjectStorage(RemoteStorage):
    """Storage in a bucket, below the prefix that its URL names."""

    def __init__(self, url: str, bucket: Bucket, downloader: Downloader) -> None:
        super().__init__(url, downloader)
        self._prefix = percent_decoded(split_url(url).path).strip("/")
        self._bucket = bucket

    def _cache_key(self, name: str) -> str:
        return f"{self._bucket.identity} {self.origin}/{name}"

    def _request(self, name: str, download: Download) -> FileVersion | None:
        return self._bucket.download(self._key(name), download)

    def size_of(self, name: str) -> int | None:
        """Return the size of an object. Raises NotFound, other SourceErrors and Cancelled."""
        return self._bucket.size_of(self._key(name), f"{self.origin}/{name}")

    def _key(self, name: str) -> str:
        return "/".join(part for part in (self._prefix, name) if part)

    def names(self, under: str) -> Iterator[str]:
        """Yield the sorted names of all objects below a folder. Raises SourceError, Cancelled."""
        top = f"{self._prefix}/" if self._prefix else ""
        folder = f"{top}{under.strip('/')}/" if under.strip("/") else top
        for key in sorted(self._bucket.keys(folder, self.origin)):
            if not key.endswith("/"):
                yield key[len(top) :]
