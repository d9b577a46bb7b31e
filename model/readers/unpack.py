"""Unpack the bytes of a document, read and remove its signature, and decode its text.

Spack's mirrors keep some documents compressed with gzip or zstd, and some in clear-text OpenPGP
signatures. The packets of a signature are read, which RFC 9580 defines (and RFC 4880 before it).
The signature is not verified: it may name a key that did not make it.
"""

from __future__ import annotations

import base64
import binascii
import importlib
import io
import os
import re
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO

from spackscope.model.core.errors import Unreadable
from spackscope.model.core.file_access import MAX_FILE_SIZE, MAX_GZIP_MEMBERS, max_unpacked_size
from spackscope.model.core.frozen import Frozen

MAX_TEXT_SIZE = 2**28
"""The most bytes of a text that is not all ASCII; Python may need 4 bytes for each."""

GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_ZSTD_MODULES = ("compression.zstd", "backports.zstd", "zstandard")
_NO_ZSTD = "for which Python before 3.14 needs the package zstandard"
# Deflate unpacks a byte to 1,032 at most, so no piece is larger than 17 MB.
_PIECE = 2**14
_ZSTD_PIECE = 2**20
_TRAILER = 8
_INCOMPLETE = "it cannot be unpacked completely"

_ARMOUR = b"-----BEGIN PGP SIGNED MESSAGE-----"
_SIGNATURE = re.compile(rb"^-----BEGIN PGP SIGNATURE-----", re.MULTILINE)
_HEADERS = re.compile(rb"-+BEGIN PGP SIGNED MESSAGE-+[ \t]*\r?\n(?:[^\r\n]+\r?\n)*\r?\n?")
_MAX_HEADERS = 2**20
"""Bytes that are searched for headers; the regular expression takes memory for each line."""


def decompress(data: bytes) -> tuple[bytes, str]:
    """Unpack a compressed document; return the data, and the reason if some of it is missing.

    gzip and zstd are recognised by their first bytes (RFC 1952 and RFC 8878); any other document
    is returned unchanged. No data is returned for a document that unpacks to too many bytes, or to
    so many times its size that it must have been made to do harm.
    """
    if not data.startswith((GZIP, _ZSTD)):
        return data, ""
    max_size = min(MAX_FILE_SIZE, max_unpacked_size(len(data)))
    out, reason = io.BytesIO(), ""
    is_gzip = data.startswith(GZIP)
    pieces = gzip_pieces(io.BytesIO(data)) if is_gzip else _zstd_pieces(data)
    try:
        for piece in pieces:
            out.write(piece)
            if out.tell() > max_size:
                is_bomb = max_size == max_unpacked_size(len(data))
                ratio = f", though its size is only {len(data):,}" if is_bomb else ""
                return b"", f"it unpacks to more than {max_size:,} bytes{ratio}"
    except Unreadable as error:
        reason = str(error)
    unpacked = out.getvalue()
    return unpacked, reason if unpacked or reason else "it is empty when unpacked"


def gzip_pieces(file: BinaryIO, start: int = 0, size: int | None = None) -> Iterator[bytes]:
    """Unpack all members of a gzip file, or of so many bytes in a file, one after the other.

    A piece has at most 17 MB. Raises Unreadable, and the exceptions of reading the file.
    """
    end = file.seek(0, os.SEEK_END)
    end = end if size is None else min(end, start + size)
    at, members, trailer = start, 0, end - _TRAILER

    def read(size: int) -> bytes:
        file.seek(at)
        return file.read(min(size, end - at))

    while read(len(GZIP)) == GZIP:
        members += 1
        if members > MAX_GZIP_MEMBERS:
            raise Unreadable(
                f"it has more than {MAX_GZIP_MEMBERS:,} parts; the others are ignored"
            )
        member = zlib.decompressobj(wbits=31)
        while not member.eof:
            # The checksum comes alone, so that a wrong one loses nothing before it.
            piece = read(min(_PIECE, (trailer if at < trailer else end) - at))
            if not piece:
                raise Unreadable(f"{_INCOMPLETE}: file is cut off")
            try:
                yield member.decompress(piece)
            except zlib.error as error:
                raise Unreadable(f"{_INCOMPLETE}: {error}") from None
            at += len(piece) - len(member.unused_data)
    if not members:
        raise Unreadable("it is not compressed with gzip")
    # On tapes, zeros follow.
    while piece := read(_PIECE):
        if piece.strip(b"\0"):
            raise Unreadable("Data after the end of the compressed document was ignored")
        at += len(piece)


def _zstd_pieces(data: bytes) -> Iterator[bytes]:
    for name in _ZSTD_MODULES:
        try:
            zstd: Any = importlib.import_module(name)
            break
        # A user's own module of that name may raise anything.
        except (Exception, SystemExit):
            continue
    else:
        raise Unreadable(f"it is compressed with zstd, {_NO_ZSTD}")
    if hasattr(zstd, "ZstdFile"):
        stream = zstd.ZstdFile(io.BytesIO(data))
    else:
        stream = zstd.ZstdDecompressor().stream_reader(io.BytesIO(data), read_across_frames=True)
    try:
        yield from iter(lambda: stream.read(_ZSTD_PIECE), b"")
    except (EOFError, OSError, MemoryError, zstd.ZstdError) as error:
        raise Unreadable(f"{_INCOMPLETE}: {error}") from None


def is_signed(data: bytes) -> bool:
    """Check whether a document begins like one with a clear-text signature."""
    return data.startswith(_ARMOUR)


def remove_signature(data: bytes) -> tuple[bytes, str]:
    """Return a document without its clear-text signature, and the problems of the signature.

    The signature is not verified. The dashes that RFC 9580, section 7.2, puts before a line are
    removed, too. A document without a signature is returned unchanged.
    """
    if not is_signed(data):
        return data, ""
    opening = _HEADERS.match(data, 0, _MAX_HEADERS)
    start = opening.end() if opening else len(_ARMOUR)
    closing = _SIGNATURE.search(data, start)
    body = data[start : closing.start() if closing else len(data)]
    body = body.removeprefix(b"- ").replace(b"\n- ", b"\n")
    return body, "" if closing else "its signature is missing"


def unwrap(data: bytes) -> tuple[bytes, list[str]]:
    """Unpack a document and remove its signature; return the data and all problems."""
    data, incomplete = decompress(data)
    data, unsigned = remove_signature(data)
    return data, [reason for reason in (incomplete, unsigned) if reason]


def decode(data: bytes) -> str:
    """Decode a document: UTF-8, or UTF-16 if its byte order mark says so.

    Raises Unreadable naming the offset of the first invalid byte, or the limit that is exceeded.
    """
    if len(data) > MAX_TEXT_SIZE and not data.isascii():
        size = f"it has {len(data):,} bytes, not all of them ASCII"
        raise Unreadable(f"{size}; at most {MAX_TEXT_SIZE:,} are read then")
    encoding = "UTF-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "UTF-8"
    try:
        return data.decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise Unreadable(f"byte {error.start} is not {encoding} text") from None


# The packets of a signature


_MAX_PACKETS = 1_000
_MAX_ARMOUR = 2**16
"""The most bytes of the signature at the end of a document; real ones have some 500."""

_BLOCK = re.compile(
    rb"^-----BEGIN PGP SIGNATURE-----[ \t]*\r?\n"
    rb"(?:[^\r\n:]+: [^\r\n]*\r?\n)*[ \t]*\r?\n"
    rb"(?P<body>[A-Za-z0-9+/=\s]*)"
    rb"^-----END PGP SIGNATURE-----",
    re.MULTILINE,
)
_CHECKSUM = re.compile(rb"^=[A-Za-z0-9+/]{4}\s*\Z", re.MULTILINE)

_SIGNATURE_PACKET = 2
_CREATED, _ISSUER, _ISSUER_FINGERPRINT = 2, 16, 33
_FINGERPRINT_LENGTHS = {4: 20, 5: 32, 6: 32}


class Signature(Frozen):
    """The key and the time that a signature names; the signature is not verified.

    `fingerprint` belongs to the key or subkey that made it, in upper-case hexadecimal; `key_id` is
    its short form, 16 digits, and all that some signatures have. Each is empty if the signature
    does not name it. `created` is in seconds since 1970.
    """

    fingerprint: str = ""
    key_id: str = ""
    created: int | None = None


def read_signature(data: bytes) -> Signature | None:
    """Return the first clear-text signature of a document; None if it is not signed.

    Raises Unreadable for a signed document whose signature cannot be read.
    """
    if not is_signed(data):
        return None
    match = _BLOCK.search(data[-_MAX_ARMOUR:])
    if match is None:
        raise Unreadable("its signature is missing")
    try:
        # The checksum may be absent (RFC 9580, 6.1).
        block = base64.b64decode(_CHECKSUM.sub(b"", match["body"]))
    except binascii.Error as error:
        raise Unreadable(f"its OpenPGP armour cannot be read: {error}") from None
    for tag, body in _packets(block):
        if tag == _SIGNATURE_PACKET:
            return _signature(body)
    raise Unreadable("its signature cannot be read: it is empty")


def _packets(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the tags and contents of packets (RFC 9580, 4.2). Raises Unreadable."""
    at = 0
    for _ in range(_MAX_PACKETS):
        if at >= len(data):
            return
        head = data[at]
        if not head & 0x80:
            raise Unreadable(f"it is not OpenPGP: byte {at} begins no packet")
        if head & 0x40:
            tag, (length, size) = head & 0x3F, _length(data[at + 1 : at + 6], 224)
        else:
            tag, size = head >> 2 & 0xF, (1, 2, 4, 0)[head & 3]
            # A packet of unknown length reaches to the end.
            rest = len(data) - at - 1
            length = int.from_bytes(data[at + 1 : at + 1 + size], "big") if size else rest
        start, at = at + 1 + size, at + 1 + size + length
        if at > len(data):
            raise Unreadable("its OpenPGP packets are cut off")
        yield tag, data[start:at]


def _length(octets: bytes, above: int) -> tuple[int, int]:
    """Return a length, and the number of bytes of its form: two if the first is below `above`."""
    first = octets[0] if octets else 0
    if first < 192:
        return first, 1
    if first < above and len(octets) > 1:
        return (first - 192 << 8) + octets[1] + 192, 2
    if first == 255 and len(octets) > 4:
        return int.from_bytes(octets[1:5], "big"), 5
    raise Unreadable("the length of an OpenPGP packet cannot be read")


def _signature(body: bytes) -> Signature:
    """Read a signature packet (RFC 9580, 5.2); the first subpacket of each kind counts."""
    version = body[0] if body else 0
    if version not in _FINGERPRINT_LENGTHS:
        raise Unreadable(f"its signature has the unknown version {version}")
    size = 4 if version == 6 else 2
    values: dict[int, bytes] = {}
    at = 4
    for _ in ("hashed", "unhashed"):
        end = at + size + int.from_bytes(body[at : at + size], "big")
        at += size
        while at < end <= len(body):
            length, octets = _length(body[at : at + 5], 255)
            at += octets + length
            if not length or at > end:
                break
            values.setdefault(body[at - length] & 0x7F, body[at - length + 1 : at])
        if at != end:
            raise Unreadable("its signature is cut off")
    created, key_id = values.get(_CREATED, b""), values.get(_ISSUER, b"").hex().upper()
    # The first byte is the version of the key.
    issuer = values.get(_ISSUER_FINGERPRINT, b"")
    is_whole = len(issuer) > 1 and len(issuer) - 1 == _FINGERPRINT_LENGTHS.get(issuer[0])
    fingerprint = issuer[1:].hex().upper() if is_whole else ""
    seconds = int.from_bytes(created, "big") if len(created) == 4 else None
    # The key id is at one of the ends (RFC 9580, 5.5.4).
    ending = fingerprint[-16:] if len(fingerprint) == 40 else fingerprint[:16]
    return Signature(fingerprint, key_id or ending, seconds)
