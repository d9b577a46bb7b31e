"""Read which key signed a document, as its clear-text OpenPGP signature says.

Only the packets are read, as RFC 9580 defines them (and RFC 4880 before it). Nothing is verified:
a signature may name a key that did not make it.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator

from spackscope.model.core.errors import Unreadable
from spackscope.model.core.frozen import Frozen
from spackscope.model.readers.unpack import is_signed

_MAX_PACKETS = 1_000
_MAX_ARMOUR = 2**16
"""Bytes of the signature at the end of a document; one has half a thousand."""

_BLOCK = re.compile(
    rb"^-----BEGIN PGP SIGNATURE-----[ \t]*\r?\n"
    rb"(?:[^\r\n:]+: [^\r\n]*\r?\n)*[ \t]*\r?\n"
    rb"(?P<body>[A-Za-z0-9+/=\s]*)"
    rb"^-----END PGP SIGNATURE-----",
    re.MULTILINE,
)
_CHECKSUM = re.compile(rb"^=[A-Za-z0-9+/]{4}\s*\Z", re.MULTILINE)

_SIGNATURE = 2
_CREATED, _ISSUER, _ISSUER_FINGERPRINT = 2, 16, 33
_FINGERPRINT_LENGTHS = {4: 20, 5: 32, 6: 32}


class Signature(Frozen):
    """What a signature says of itself; it is not verified.

    `fingerprint` is that of the key that made it, in upper-case hexadecimal, which may be a
    subkey; `key_id` is the short form of it, 16 digits, and all that some signatures have. Each is
    empty if the signature does not name it. `created` is in seconds since 1970.
    """

    fingerprint: str = ""
    key_id: str = ""
    created: int | None = None


def read_signature(data: bytes) -> Signature | None:
    """Return what the clear-text signature of a document says; None if it is not signed.

    Of several signatures it is the first. Raises Unreadable if it is signed, but no signature
    can be read.
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
        if tag == _SIGNATURE:
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
            # A packet of unknown length has all that follows.
            rest = len(data) - at - 1
            length = int.from_bytes(data[at + 1 : at + 1 + size], "big") if size else rest
        start, at = at + 1 + size, at + 1 + size + length
        if at > len(data):
            raise Unreadable("its OpenPGP packets are cut off")
        yield tag, data[start:at]


def _length(octets: bytes, above: int) -> tuple[int, int]:
    """Return a length, and in how many bytes it is written: two, if it begins below `above`."""
    first = octets[0] if octets else 0
    if first < 192:
        return first, 1
    if first < above and len(octets) > 1:
        return (first - 192 << 8) + octets[1] + 192, 2
    if first == 255 and len(octets) > 4:
        return int.from_bytes(octets[1:5], "big"), 5
    raise Unreadable("the length of an OpenPGP packet cannot be read")


def _signature(body: bytes) -> Signature:
    """Read a signature packet (RFC 9580, 5.2): of its subpackets the first of each kind counts."""
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
    # It begins with the version of the key.
    issuer = values.get(_ISSUER_FINGERPRINT, b"")
    is_whole = len(issuer) > 1 and len(issuer) - 1 == _FINGERPRINT_LENGTHS.get(issuer[0])
    fingerprint = issuer[1:].hex().upper() if is_whole else ""
    seconds = int.from_bytes(created, "big") if len(created) == 4 else None
    # The key id is at one of the ends (RFC 9580, 5.5.4).
    ending = fingerprint[-16:] if len(fingerprint) == 40 else fingerprint[:16]
    return Signature(fingerprint, key_id or ending, seconds)
