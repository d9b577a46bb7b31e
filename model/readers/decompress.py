"""Unpack documents that are compressed with gzip or zstd, as Spack's mirrors keep some of them."""

from __future__ import annotations

import importlib
import io
import zlib
from typing import Any

from spackscope.model.core.bounded_files import MAX_FILE_SIZE, MAX_GZIP_MEMBERS, max_unpacked_size

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_ZSTD_MODULES = ("compression.zstd", "backports.zstd", "zstandard")
# Deflate unpacks a byte to 1,032 at most, so no piece is larger than 17 MB.
_PIECE = 2**14
_ZSTD_PIECE = 2**20
_TRAILER = 8
_INCOMPLETE = "it cannot be unpacked completely"


def is_compressed(data: bytes) -> bool:
    """Recognise gzip and zstd by the bytes that they begin with (RFC 1952 and RFC 8878)."""
    return data.startswith((_GZIP, _ZSTD))


def decompress(data: bytes, max_size: int = MAX_FILE_SIZE) -> tuple[bytes, str]:
    """Unpack a document; return what could be unpacked, and why that is not all.

    Nothing is returned of what unpacks to more than `max_size` bytes, nor of what unpacks to so
    many times its size that it must have been made to do harm.
    """
    max_size = min(max_size, max_unpacked_size(len(data)))
    if data.startswith(_GZIP):
        return _unpack_gzip(data, max_size)
    for name in _ZSTD_MODULES:
        try:
            zstd = importlib.import_module(name)
        # A user's own module of that name may raise anything.
        except (Exception, SystemExit):
            continue
        return _unpack_zstd(zstd, data, max_size)
    reason = "it is compressed with zstd, for which Python before 3.14 needs the package zstandard"
    return b"", reason


def _unpack_gzip(data: bytes, max_size: int) -> tuple[bytes, str]:
    """Unpack all members, of which gzip allows several in a row."""
    out = io.BytesIO()
    at = members = 0
    trailer = len(data) - _TRAILER
    while data.startswith(_GZIP, at):
        members += 1
        if members > MAX_GZIP_MEMBERS:
            reason = f"it has more than {MAX_GZIP_MEMBERS:,} parts; the others are ignored"
            return out.getvalue(), reason
        member = zlib.decompressobj(wbits=31)
        while not member.eof:
            # The checksum comes alone, so that a wrong one loses nothing before it.
            piece = data[at : min(at + _PIECE, trailer if at < trailer else len(data))]
            if not piece:
                return out.getvalue(), f"{_INCOMPLETE}: File is cut off"
            try:
                out.write(member.decompress(piece))
            except zlib.error as error:
                return out.getvalue(), f"{_INCOMPLETE}: {error}"
            if out.tell() > max_size:
                return b"", _too_large(max_size, len(data))
            at += len(piece) - len(member.unused_data)
    if data[at:].strip(b"\0"):
        return out.getvalue(), "Data after the end of the compressed document was ignored"
    return out.getvalue(), ""


def _unpack_zstd(zstd: Any, data: bytes, max_size: int) -> tuple[bytes, str]:
    if hasattr(zstd, "ZstdFile"):
        stream = zstd.ZstdFile(io.BytesIO(data))
    else:
        unpacker = zstd.ZstdDecompressor()
        stream = unpacker.stream_reader(io.BytesIO(data), read_across_frames=True)
    out = io.BytesIO()
    try:
        while piece := stream.read(_ZSTD_PIECE):
            out.write(piece)
            if out.tell() > max_size:
                return b"", _too_large(max_size, len(data))
    except (EOFError, OSError, MemoryError, zstd.ZstdError) as error:
        return out.getvalue(), f"{_INCOMPLETE}: {error}"
    return out.getvalue(), ""


def _too_large(max_size: int, packed: int) -> str:
    is_bomb = max_size == max_unpacked_size(packed)
    ratio = f", though its size is only {packed:,}" if is_bomb else ""
    return f"it unpacks to more than {max_size:,} bytes{ratio}"
