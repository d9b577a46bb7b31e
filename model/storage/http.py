"""Files on web servers, which are requested only where the cached copies may be stale."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping

from spackscope.model.core.errors import SourceError, TemporaryFailure
from spackscope.model.core.files import MAX_EXPANSION, MAX_GZIP_MEMBERS, max_unpacked_size
from spackscope.model.storage.download import Download, Downloader, RemoteStorage
from spackscope.model.storage.download_cache import FileVersion
from spackscope.model.storage.http_client import Client, Response
from spackscope.model.storage.urls import Url, web_url

_GZIP = 31
_PIECE_SIZE = 1 << 20


class HttpStorage(RemoteStorage):
    """Storage below an http or https URL; 403, 404 and 410 mean that a file is not found."""

    def __init__(self, url: str, downloader: Downloader) -> None:
        super().__init__(url, downloader)
        self._url = web_url(url)

    def _cache_key(self, name: str) -> str:
        return self._url.below(name).key

    def _request(self, name: str, download: Download) -> FileVersion | None:
        return request_file(self.downloader.client, self._url.below(name), download)

    def size_of(self, name: str) -> int | None:
        """Return the size that a server announces. Raises SourceErrors and Cancelled."""
        client, url = self.downloader.client, self._url.below(name)

        def ask() -> int | None:
            with client.request("HEAD", url, {"Accept-Encoding": "identity"}) as response:
                response.check_status(f"{self.origin}/{name}")
                is_compressed = response.headers.get("content-encoding", "identity") != "identity"
                return None if is_compressed else response.length

        # A server that is silent is not worth a second wait for an answer of this kind.
        return client.retry(ask, has_cached=True)


def request_file(
    client: Client, url: Url, download: Download, headers: Mapping[str, str] = {}
) -> FileVersion | None:
    """Request a file once, unless the cached copy is current: that is None.

    Raises NotFound, Unauthorized, TemporaryFailure, other SourceErrors and Cancelled.
    """
    file, cached = download.file, download.cached
    # A checksum is that of the file on the server, which may itself be compressed.
    headers = {**headers, "Accept-Encoding": "identity" if file.sha256 else "gzip"}
    if cached is not None and cached.stamp:
        headers["If-None-Match"] = cached.stamp
    if cached is not None and cached.last_modified:
        headers["If-Modified-Since"] = cached.last_modified
    for unpack in (False, True) if file.sha256 else (True,):
        with client.get(url, headers) as response:
            if response.status == 304 and cached is not None:
                return None
            response.check_status(file.origin)
            is_compressed = _receive(response, download, unpack=unpack)
            if unpack or not is_compressed or download.sha256 == file.sha256.lower():
                break
    return _version(response)


def _version(response: Response) -> FileVersion:
    """Return what a response says of the version of a file, so far as it can be sent back."""
    stamp, modified = (
        value if value.isascii() and value.isprintable() else ""
        for value in (response.headers.get(name, "") for name in ("etag", "last-modified"))
    )
    return FileVersion(stamp, modified)


def _receive(response: Response, download: Download, *, unpack: bool) -> bool:
    """Write the body of a response, and return whether it was compressed for the transfer.

    Raises TemporaryFailure, other SourceErrors and Cancelled.
    """
    encoding = response.headers.get("content-encoding", "").strip().lower() or "identity"
    if encoding not in ("identity", "gzip", "x-gzip"):
        encoded = f"is encoded as {encoding[:20]}, which was not requested"
        raise SourceError(f"{download.file.origin} {encoded}")
    download.restart()
    download.announce(response.length)
    is_compressed = encoding != "identity"
    chunks = _reported(response, download)
    if is_compressed and unpack:
        chunks = _unpacked(chunks, download.file.origin)
    for chunk in chunks:
        download.write(chunk)
    return is_compressed


def _reported(response: Response, download: Download) -> Iterator[bytes]:
    size = 0
    for chunk in response.chunks():
        size += len(chunk)
        download.report(size, response.length)
        yield chunk


def _unpacked(chunks: Iterator[bytes], origin: str) -> Iterator[bytes]:
    """Unpack gzip piece by piece, since a few bytes may unpack to very many."""
    member = zlib.decompressobj(_GZIP)
    packed_size = unpacked_size = 0
    members = 1
    for chunk in chunks:
        packed_size += len(chunk)
        rest = chunk
        while rest:
            if member.eof:
                members += 1
                if members > MAX_GZIP_MEMBERS:
                    parts = f"{MAX_GZIP_MEMBERS:,} parts"
                    raise SourceError(f"{origin} is packed in more than {parts}")
                member = zlib.decompressobj(_GZIP)
            try:
                piece = member.decompress(rest, _PIECE_SIZE)
            except zlib.error as error:
                raise TemporaryFailure(f"{origin} cannot be unpacked: {error}") from None
            unpacked_size += len(piece)
            if unpacked_size > max_unpacked_size(packed_size):
                raise SourceError(f"{origin} unpacks to more than {MAX_EXPANSION} times its size")
            yield piece
            rest = member.unused_data if member.eof else member.unconsumed_tail
    if not member.eof:
        raise TemporaryFailure(f"{origin} cannot be unpacked: it is cut off")
