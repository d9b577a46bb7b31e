"""Decode the bytes of a document."""

from __future__ import annotations

from spackscope.model.core.errors import Unreadable
from spackscope.model.readers.limits import MAX_TEXT_SIZE


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
