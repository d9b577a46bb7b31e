"""Places on the web, whose files are asked for only where the copies of before may be old."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping

from spackscope.model.core.bounded_files import (
    MAX_EXPANSION,
    MAX_FILE_SIZE,
    MAX_GZIP_MEMBERS,
    max_unpacked_size,
)
from spackscope.model.core.errors import ListingUnsupported, SourceError, TemporaryFailure
from spackscope.model.core.progress import OnProgress, ShouldStop, never, no_progress
from spackscope.model.storage.base import FetchedFile
from spackscope.model.storage.download import FileVersion, Writer, fetch_copy
from spackscope.model.storage.download_cache import CachedFile, DownloadCache, open_download_cache
from spackscope.model.storage.http_client import Client, Response
from spackscope.model.storage.urls import Url, shown_url, web_url

_GZIP = 31
_PIECE = 1 << 20


class HttpStorage:
    """Be a place on the web, by an address that begins with http or https.

    A server may answer 403 for what is not there. Where a server
    fails otherwise, an older copy serves.
    """

    def __init__(
        self,
        url: str,
        environ: Mapping[str, str],
        *,
        client: Client | None = None,
        copies: DownloadCache | None = None,
        on_progress: OnProgress = no_progress,
        should_stop: ShouldStop = never,
    ) -> None:
        self._url = web_url(url)
        self._origin = shown_url(url).removesuffix("?…").rstrip("/")
        self._client = client or Client(environ, should_stop=should_stop)
        self._copies = copies or open_download_cache(environ)
        self._on_progress, self._should_stop = on_progress, should_stop

    @property
    def origin(self) -> str:
        """The address, without user, password and query."""
        return self._origin

    def fetch(
        self,
        name: str,
        *,
        sha256: str = "",
        immutable: bool = False,
        max_size: int = MAX_FILE_SIZE,
    ) -> FetchedFile:
        """Give the copy of a file, after asking whether it is still right; "" is the place itself.

        Raises NotFound for 404, 410 and 403, WrongContent, other SourceErrors where
        there is no older copy either, and Cancelled.
        """
        url = self._url.below(name)
        origin = f"{self._origin}/{name}" if name else self._origin

        def ask(copy: CachedFile | None, writer: Writer) -> FileVersion | None:
            return self._client.retry(
                lambda: ask_web(self._client, url, origin, copy, writer, sha256=sha256),
                has_cached=copy is not None,
            )

        return fetch_copy(
            ask,
            self._copies,
            url.key,
            origin,
            sha256=sha256,
            immutable=immutable,
            max_size=max_size,
            on_progress=self._on_progress,
            should_stop=self._should_stop,
        )

    def is_cached(self, name: str) -> bool:
        """Tell whether there is a copy of a file."""
        return self._copies.find(self._url.below(name).key) is not None

    def names(self, under: str) -> Iterator[str]:
        """Raise ListingUnsupported."""
        raise ListingUnsupported(
            f"{self._origin} cannot be listed: web servers do not tell their files"
        )


def ask_web(
    client: Client,
    url: Url,
    origin: str,
    copy: CachedFile | None,
    writer: Writer,
    *,
    sha256: str = "",
    headers: Mapping[str, str] = {},
) -> FileVersion | None:
    """Ask once for a file, unless it is still as the copy; None tells that it is.

    Raises NotFound, Unauthorized, TemporaryFailure, other SourceErrors and Cancelled.
    """
    # A checksum is that of the file as it lies on the server, which may be a packed one.
    send = {**headers, "Accept-Encoding": "identity" if sha256 else "gzip"}
    if copy is not None and copy.stamp:
        send["If-None-Match"] = copy.stamp
    if copy is not None and copy.last_modified:
        send["If-Modified-Since"] = copy.last_modified
    for unpack in (False, True) if sha256 else (True,):
        with client.get(url, send) as response:
            if response.status == 304 and copy is not None:
                return None
            response.check_status(origin)
            packed = receive(response, writer, origin, unpack=unpack)
            if unpack or not packed or writer.sha256 == sha256.lower():
                break
    return version_of(response)


def version_of(response: Response) -> FileVersion:
    """Give what an response tells of the version of a file, so far as it can be sent back."""
    stamp, modified = (
        value if value.isascii() and value.isprintable() else ""
        for value in (response.headers.get(name, "") for name in ("etag", "last-modified"))
    )
    return FileVersion(stamp, modified)


def receive(response: Response, writer: Writer, origin: str, *, unpack: bool = True) -> bool:
    """Write the body of an response, and tell whether it was packed for the way.

    Raises TemporaryFailure, other SourceErrors and Cancelled.
    """
    encoding = response.headers.get("content-encoding", "").strip().lower() or "identity"
    if encoding not in ("identity", "gzip", "x-gzip"):
        raise SourceError(f"{origin} is encoded as {encoding[:20]}, which was not asked for")
    writer.begin_anew()
    writer.expect(response.length)
    packed = encoding != "identity"
    parts = _counted(response, writer)
    for part in _unpacked(parts, origin) if packed and unpack else parts:
        writer.write(part)
    return packed


def _counted(response: Response, writer: Writer) -> Iterator[bytes]:
    done = 0
    for part in response.chunks():
        done += len(part)
        writer.report(done, response.length)
        yield part


def _unpacked(parts: Iterator[bytes], origin: str) -> Iterator[bytes]:
    """Unpack gzip a piece at a time, since a few bytes can stand for very many."""
    member = zlib.decompressobj(_GZIP)
    packed = unpacked = 0
    members = 1
    for part in parts:
        packed += len(part)
        rest = part
        while rest:
            if member.eof:
                members += 1
                if members > MAX_GZIP_MEMBERS:
                    raise SourceError(
                        f"{origin} is packed in more than {MAX_GZIP_MEMBERS:,} parts"
                    )
                member = zlib.decompressobj(_GZIP)
            try:
                piece = member.decompress(rest, _PIECE)
            except zlib.error as error:
                raise TemporaryFailure(f"{origin} cannot be unpacked: {error}") from None
            unpacked += len(piece)
            if unpacked > max_unpacked_size(packed):
                raise SourceError(f"{origin} unpacks to more than {MAX_EXPANSION} times its size")
            yield piece
            rest = member.unused_data if member.eof else member.unconsumed_tail
    if not member.eof:
        raise TemporaryFailure(f"{origin} cannot be unpacked: it is cut short")
