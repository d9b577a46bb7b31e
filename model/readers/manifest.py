"""Read the manifests of a mirror of layout v3, which say which blobs hold an index or a spec.

They follow `BlobRecord` and `BuildcacheManifest` of lib/spack/spack/url_buildcache.py. A manifest
is signed in clear text, or plain.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from spackscope.model.core.errors import (
    Unreadable,
)
from spackscope.model.readers.json import (
    Number,
    decode,
    kind,
    load,
    storable,
)
from spackscope.model.readers.spec_file import is_signed, unsigned

DATABASE = "application/vnd.spack.db."
SPEC = "application/vnd.spack.spec."
ARCHIVE = "application/vnd.spack.install."

MAX_MANIFEST_SIZE = 2**20
"""Bytes of a manifest; a real one has half a thousand."""

_SHA256 = re.compile(r"[0-9a-fA-F]{64}")
_LENGTH = re.compile(r"[0-9]{1,18}")
_NAME = re.compile(r"(?:^|[/\\-])([a-z2-7]{32})\.spec\.manifest\.json$")


@dataclass(frozen=True, slots=True)
class Blob:
    """Hold one entry of a manifest: the sha256 of a file in lower case, and its size in bytes.

    `doubt` says what is wrong with the size, where it is None.
    """

    media_type: str
    checksum: str
    size: int | None = None
    compression: str = "none"
    doubt: str = ""

    @property
    def name(self) -> str:
        """Where the blob lies, from the top of its mirror."""
        return f"blobs/sha256/{self.checksum[:2]}/{self.checksum}"


@dataclass(frozen=True, slots=True)
class Manifest:
    """Hold the blobs of a manifest in its order, and what is wrong with the other entries."""

    blobs: tuple[Blob, ...]
    remarks: tuple[str, ...] = ()

    def blob(self, media_type: str) -> Blob:
        """Give the first blob whose media type begins so. Raises Unreadable without one."""
        for blob in self.blobs:
            if blob.media_type.startswith(media_type):
                return blob
        wanted = {DATABASE: "index", SPEC: "spec file", ARCHIVE: "archive"}[media_type]
        because = f": {self.remarks[0]}" if self.remarks else ""
        raise Unreadable(f"the manifest names no {wanted}{because}")


def read_manifest(data: bytes) -> Manifest:
    """Read a manifest, plain or signed; the signature is not verified. Raises Unreadable."""
    if len(data) > MAX_MANIFEST_SIZE:
        raise Unreadable(f"the manifest has more than {MAX_MANIFEST_SIZE:,} bytes")
    if is_signed(data):
        data, _ = unsigned(data)
    try:
        document, _ = load(decode(data))
    except Unreadable as error:
        raise Unreadable(f"the manifest cannot be read: {error}") from None
    entries = document.get("data") if isinstance(document, dict) else None
    if not isinstance(entries, list):
        raise Unreadable("it is no manifest of a mirror: it has no list of data")
    blobs: list[Blob] = []
    remarks: list[str] = []
    for entry in entries:
        try:
            blobs.append(_blob(entry))
        except Unreadable as error:
            remarks.append(str(error))
    return Manifest(tuple(blobs), tuple(remarks))


def archive_size(data: bytes, *, origin: str) -> tuple[str, int] | None:
    """Give the hash of the spec that a manifest is about, and the bytes of its archive.

    The hash stands in the name of the manifest only. None where either is not told. Raises
    Unreadable.
    """
    named = _NAME.search(origin)
    blob = read_manifest(data).blob(ARCHIVE)
    if blob.doubt:
        raise Unreadable(f"the size of the archive is not known: {blob.doubt}")
    return None if named is None or blob.size is None else (named[1], blob.size)


def _blob(entry: Any) -> Blob:
    if not isinstance(entry, dict):
        raise Unreadable(f"an entry is {kind(entry)}, and should be a mapping")
    media_type = entry.get("mediaType")
    if type(media_type) is not str or not media_type:
        raise Unreadable(f"a mediaType is {kind(media_type)}, and should be a text")
    algorithm = entry.get("checksumAlgorithm", "sha256")
    if algorithm != "sha256":
        shown = repr(algorithm)[:40] if type(algorithm) is str else kind(algorithm)
        raise Unreadable(storable(f"a checksumAlgorithm is {shown}, and should be sha256"))
    checksum = entry.get("checksum")
    if type(checksum) is not str or not _SHA256.fullmatch(checksum):
        shown = repr(checksum)[:40] if type(checksum) is str and checksum else kind(checksum)
        raise Unreadable(storable(f"a checksum is {shown}, and should be 64 hexadecimal digits"))
    length, size, doubt = entry.get("contentLength"), None, ""
    if type(length) is Number and _LENGTH.fullmatch(length):
        size = int(length)
    elif "contentLength" in entry:
        shown = length[:40] if type(length) is Number else kind(length)
        doubt = f"a contentLength is {shown}, and should be a number of bytes"
    compression = entry.get("compression")
    packed = storable(compression[:40]) if type(compression) is str else "none"
    return Blob(storable(media_type[:200]), checksum.lower(), size, packed, doubt)
