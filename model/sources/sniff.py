"""Recognize files that Spack wrote by how they begin."""

from __future__ import annotations

import re
import zlib
from dataclasses import replace

from spackscope.model.core.bounded_files import read_head
from spackscope.model.sources.document import Document

_ENDINGS = (".json", ".lock", ".sig", ".yaml", ".gz", ".zst")
_START = re.compile(
    rb"""\s*\{\s*"(database|_meta|roots|concrete_specs|spec)"\s*:"""
    rb"""|(-----BEGIN\ PGP\ SIGNED\ MESSAGE-----)"""
    rb"""|(?:---[ \t]*\r?\n)?(?:spec|binary_cache_checksum|buildinfo):[ \t]*\r?\n""",
    re.VERBOSE,
)
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_HEAD_SIZE = 512


def sniff(document: Document) -> Document:
    """Return a file of a directory as a known document, if it is a database, lock or spec file.

    Only files with an ending of these are opened. A spec file is in a build cache.
    """
    if document.unreadable or not document.path.endswith(_ENDINGS):
        return document
    try:
        head = read_head(document.path, _HEAD_SIZE)
        if head.startswith(_GZIP):
            head = zlib.decompressobj(wbits=31).decompress(head, _HEAD_SIZE)
    except (OSError, zlib.error):
        return document
    if head.startswith(_ZSTD):
        return replace(document, kind="known")
    start = _START.match(head)
    if start is None:
        return document
    return replace(document, kind="known", cached=(start[1] or b"spec") == b"spec")
