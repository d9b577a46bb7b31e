"""Read the manifests of a mirror of layout v3: they name the blobs of an index or a spec.

They follow `BlobRecord` and `BuildcacheManifest` of lib/spack/spack/url_buildcache.py. A manifest
is signed in clear text, or plain.
"""

from __future__ import annotations

import re
from typing import Any

from spackscope.model.core.errors import Unreadable
from spackscope.model.core.frozen import Frozen
from spackscope.model.readers.json import Number, mismatch, parse, storable, wrong_value
from spackscope.model.readers.unpack import decode, remove_signature

DATABASE = "application/vnd.spack.db."
SPEC = "application/vnd.spack.spec."
ARCHIVE = "application/vnd.spack.install."

MAX_MANIFEST_SIZE = 2**20
"""Bytes of a manifest; a real one has half a thousand."""

_SHA256 = re.compile(r"[0-9a-fA-F]{64}")
_LENGTH = re.compile(r"[0-9]{1,18}")
_NAME = re.compile(r"(?:^|[/\\-])([a-z2-7]{32})\.spec\.manifest\.json$")


class Blob(Frozen):
    """One entry of a manifest: the sha256 of a file in lower case, and its size in bytes.

    `size_problem` says what is wrong with the size if it is None.
    """

    media_type: str
    checksum: str
    size: int | None = None
    size_problem: str = ""

    @property
    def name(self) -> str:
        """The path of the blob in its mirror."""
        return f"blobs/sha256/{self.checksum[:2]}/{self.checksum}"


class Manifest(Frozen):
    """The blobs of a manifest in its order, and what is wrong with the other entries."""

    blobs: tuple[Blob, ...]
    remarks: tuple[str, ...] = ()

    def blob(self, media_type: str) -> Blob:
        """Return the first blob whose media type begins so. Raises Unreadable without one."""
        for blob in self.blobs:
            if blob.media_type.startswith(media_type):
                return blob
        name = {DATABASE: "index", SPEC: "spec file", ARCHIVE: "archive"}[media_type]
        reason = f": {self.remarks[0]}" if self.remarks else ""
        raise Unreadable(f"the manifest names no {name}{reason}")


def read_manifest(data: bytes) -> Manifest:
    """Read a manifest, plain or signed; the signature is not verified. Raises Unreadable."""
    if len(data) > MAX_MANIFEST_SIZE:
        raise Unreadable(f"the manifest has more than {MAX_MANIFEST_SIZE:,} bytes")
    try:
        document, _ = parse(decode(remove_signature(data)[0]))
    except Unreadable as error:
        raise Unreadable(f"the manifest cannot be read: {error}") from None
    entries = document.get("data") if isinstance(document, dict) else None
    if not isinstance(entries, list):
        raise Unreadable("it is not a manifest of a mirror: it has no list of data")
    blobs: list[Blob] = []
    remarks: list[str] = []
    for entry in entries:
        try:
            blobs.append(_blob(entry))
        except Unreadable as error:
            remarks.append(str(error))
    return Manifest(tuple(blobs), tuple(remarks))


def archive_size_in(data: bytes, *, origin: str) -> tuple[str, int] | None:
    """Return the hash of the spec that a manifest describes, and the bytes of its archive.

    The hash is only in the name of the manifest. Returns None if either is missing. Raises
    Unreadable.
    """
    match = _NAME.search(origin)
    blob = read_manifest(data).blob(ARCHIVE)
    if blob.size_problem:
        raise Unreadable(f"the size of the archive is unknown: {blob.size_problem}")
    return None if match is None or blob.size is None else (match[1], blob.size)


def _blob(entry: Any) -> Blob:
    if not isinstance(entry, dict):
        raise Unreadable(mismatch("entry", entry, "an object"))
    media_type = entry.get("mediaType")
    if type(media_type) is not str or not media_type:
        raise Unreadable(mismatch("mediaType", media_type, "a string"))
    algorithm = entry.get("checksumAlgorithm", "sha256")
    if algorithm != "sha256":
        raise Unreadable(storable(wrong_value("checksumAlgorithm", algorithm, "sha256")))
    checksum = entry.get("checksum")
    if type(checksum) is not str or not _SHA256.fullmatch(checksum):
        raise Unreadable(storable(wrong_value("checksum", checksum, "64 hexadecimal digits")))
    length, size, size_problem = entry.get("contentLength"), None, ""
    if type(length) is Number and _LENGTH.fullmatch(length):
        size = int(length)
    elif "contentLength" in entry:
        size_problem = storable(wrong_value("contentLength", length, "a number of bytes"))
    return Blob(storable(media_type[:200]), checksum.lower(), size, size_problem)
