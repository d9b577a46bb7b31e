"""Places in object stores, `s3://bucket/prefix` and `gs://bucket/prefix`, which can be listed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

from spackscope.model.core.bounded_files import MAX_FILE_SIZE
from spackscope.model.core.errors import SourceError
from spackscope.model.core.progress import OnProgress, ShouldStop, never, no_progress
from spackscope.model.storage.base import FetchedFile
from spackscope.model.storage.download import FileVersion, Writer, fetch_copy
from spackscope.model.storage.download_cache import CachedFile, DownloadCache, open_download_cache
from spackscope.model.storage.http_client import Client
from spackscope.model.storage.urls import shown_url, split_url, unquoted


class Bucket(Protocol):
    """Give the objects of a bucket by their keys, through a library for that store."""

    where: str
    """What tells this bucket from one of the same name elsewhere: its endpoint."""

    def ask(
        self, key: str, origin: str, copy: CachedFile | None, writer: Writer
    ) -> FileVersion | None:
        """Write an object, unless it is still as the copy; None tells that it is.

        Raises NotFound, TemporaryFailure, other SourceErrors and Cancelled.
        """

    def keys(self, prefix: str, origin: str) -> Iterator[str]:
        """Give all keys that begin with a prefix. Raises SourceError and Cancelled."""


class ObjectStorage:
    """Be a place in a bucket, below a prefix."""

    def __init__(
        self,
        url: str,
        bucket: Bucket,
        environ: Mapping[str, str],
        *,
        copies: DownloadCache | None = None,
        client: Client | None = None,
        on_progress: OnProgress = no_progress,
        should_stop: ShouldStop = never,
    ) -> None:
        self.origin = shown_url(url).removesuffix("?…").rstrip("/")
        self._prefix = unquoted(split_url(url).path).strip("/")
        self._bucket, self._copies = bucket, copies or open_download_cache(environ)
        self._client = client or Client(environ, should_stop=should_stop)
        self._on_progress, self._should_stop = on_progress, should_stop
        self._failure: SourceError | None = None

    def fetch(
        self,
        name: str,
        *,
        sha256: str = "",
        immutable: bool = False,
        max_size: int = MAX_FILE_SIZE,
    ) -> FetchedFile:
        """Give the copy of an object, after asking whether it is still right.

        Raises NotFound, WrongContent, other
        SourceErrors where there is no older copy either, and Cancelled.
        """
        key = "/".join(part for part in (self._prefix, name) if part)
        origin = f"{self.origin}/{name}" if name else self.origin

        def ask(copy: CachedFile | None, writer: Writer) -> FileVersion | None:
            def once() -> FileVersion | None:
                writer.begin_anew()
                return self._bucket.ask(key, origin, copy, writer)

            return self._client.retry(once)

        return fetch_copy(
            ask,
            self._copies,
            self._key(name),
            origin,
            sha256=sha256,
            immutable=immutable,
            max_size=max_size,
            on_progress=self._on_progress,
            should_stop=self._should_stop,
        )

    def is_cached(self, name: str) -> bool:
        """Tell whether there is a copy of an object."""
        return self._copies.find(self._key(name)) is not None

    def _key(self, name: str) -> str:
        return f"{self._bucket.where} {self.origin}/{name}"

    def names(self, under: str) -> Iterator[str]:
        """Give the names of all objects below a folder, sorted. Raises SourceError, Cancelled."""
        top = f"{self._prefix}/" if self._prefix else ""
        below = f"{top}{under.strip('/')}/" if under.strip("/") else top
        for key in sorted(self._bucket.keys(below, self.origin)):
            if not key.endswith("/"):
                yield key[len(top) :]


def bucket_of(
    url: str,
    environ: Mapping[str, str],
    options: Mapping[str, object] = {},
    should_stop: ShouldStop = never,
) -> Bucket:
    """Open the bucket that an address names. Raises SourceError where its library is missing."""
    split = split_url(url)
    scheme, name = split.scheme, split.place
    if not name:
        raise SourceError(f"{shown_url(url)} is not a valid URL: it names no bucket")
    library = {"s3": "boto3", "gs": "google-cloud-storage"}[scheme]
    try:
        if scheme == "s3":
            from spackscope.model.storage.s3 import S3Bucket

            return S3Bucket(name, environ, options, should_stop)
        from spackscope.model.storage.gcs import GoogleBucket

        return GoogleBucket(name, should_stop)
    except ImportError:
        needs = f"pip install 'spackscope[{scheme}]'"
        raise SourceError(f"{scheme}:// needs {library}: {needs}") from None
