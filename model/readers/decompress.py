"""Unpack documents that are compressed with gzip or zstd, as Spack's mirrors keep some of them."""

from __future__ import annotations

import importlib
import io
import zlib
from typing import Any

from spackscope.model.core.bounded_files import (
    MAX_FILE_SIZE,
    MAX_GZIP_MEMBERS,
    max_unpacked_size,
)

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_ZSTD_MODULES = ("compression.zstd", "backports.zstd", "zstandard")
# Deflate unpacks a byte to 1,032 at most, so no piece is larger than 17 MB.
_PIECE = 2**14
_ZSTD_PIECE = 2**20


def is_packed(data: bytes) -> bool:
    """Tell gzip and zstd by the bytes that they begin with (RFC 1952 and RFC 8878)."""
    return data.startswith((_GZIP, _ZSTD))


def unpacked(data: bytes, largest: int = MAX_FILE_SIZE) -> tuple[bytes, str]:
    """Unpack a document; where that fails, give what came before, and the reason.

    Of what unpacks to more than `largest` bytes nothing is kept, nor of what unpacks to so many
    times its size that it must have been made to do harm.
    """
    largest = min(largest, max_unpacked_size(len(data)))
    if data.startswith(_GZIP):
        return _unpack_gzip(data, largest)
    for name in _ZSTD_MODULES:
        try:
            zstd = importlib.import_module(name)
        # A user's own module of that name may raise anything.
        except (Exception, SystemExit):
            continue
        return _unpack_zstd(zstd, data, largest)
    reason = "it is compressed with zstd, for which Python before 3.14 needs the package zstandard"
    return b"", reason


def _unpack_gzip(data: bytes, largest: int) -> tuple[bytes, str]:
    """Unpack all members, which gzip allows to stand one behind the other."""
    out = io.BytesIO()
    at = members = 0
    while data.startswith(_GZIP, at):
        members += 1
        if members > MAX_GZIP_MEMBERS:
            reason = f"it has more than {MAX_GZIP_MEMBERS:,} parts; those before are unpacked"
            return out.getvalue(), reason
        member = zlib.decompressobj(wbits=31)
        while not member.eof:
            piece = data[at : at + _PIECE]
            if not piece:
                return out.getvalue(), "it cannot be unpacked to its end: it is cut short"
            before = member.copy()
            try:
                out.write(member.decompress(piece))
            except zlib.error as error:
                out.write(_as_far_as_it_goes(before, piece))
                return out.getvalue(), f"it cannot be unpacked to its end: {error}"
            if out.tell() > largest:
                return b"", _too_large(largest, len(data))
            at += len(piece) - len(member.unused_data)
    if data[at:].strip(b"\0"):
        return out.getvalue(), "more follows behind its end, which is not unpacked"
    return out.getvalue(), ""


def _as_far_as_it_goes(member: Any, piece: bytes) -> bytes:
    """Unpack a broken piece byte by byte, since all at once gives nothing of it."""
    parts: list[bytes] = []
    try:
        for at in range(len(piece)):
            parts.append(member.decompress(piece[at : at + 1]))
    except zlib.error:
        pass
    return b"".join(parts)


def _unpack_zstd(zstd: Any, data: bytes, largest: int) -> tuple[bytes, str]:
    if hasattr(zstd, "ZstdFile"):
        stream = zstd.ZstdFile(io.BytesIO(data))
    else:
        unpacker = zstd.ZstdDecompressor()
        stream = unpacker.stream_reader(io.BytesIO(data), read_across_frames=True)
    out = io.BytesIO()
    try:
        while piece := stream.read(_ZSTD_PIECE):
            out.write(piece)
            if out.tell() > largest:
                return b"", _too_large(largest, len(data))
    except (EOFError, OSError, MemoryError, zstd.ZstdError) as error:
        return out.getvalue(), f"it cannot be unpacked to its end: {error}"
    return out.getvalue(), ""


def _too_large(largest: int, packed: int) -> str:
    is_bomb = largest == max_unpacked_size(packed)
    than = f", and has {packed:,} itself" if is_bomb else ""
    return f"it unpacks to more than {largest:,} bytes{than}"
