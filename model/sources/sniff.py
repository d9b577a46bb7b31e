"""Tell by how a file begins whether Spack wrote it, where it lies among files of other kinds."""

from __future__ import annotations

import re
import zlib
from dataclasses import replace

from spackscope.model.core.bounded_files import read_head
from spackscope.model.sources.document import Document

_NAMED = (".json", ".lock", ".sig", ".yaml", ".gz", ".zst")
_BEGINS = re.compile(
    rb"""\s*\{\s*"(database|_meta|roots|concrete_specs|spec)"\s*:"""
    rb"""|(-----BEGIN\ PGP\ SIGNED\ MESSAGE-----)"""
    rb"""|(?:---[ \t]*\r?\n)?(?:spec|binary_cache_checksum|buildinfo):[ \t]*\r?\n""",
    re.VERBOSE,
)
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_HEAD = 512


def sniffed(document: Document) -> Document:
    """Ask for a document that was found in a directory, if it is a database, lock or spec file.

    Only files that are named like these are looked into. A spec file lies in a build cache.
    """
    if document.unreadable or not document.path.endswith(_NAMED):
        return document
    try:
        head = read_head(document.path, _HEAD)
        if head.startswith(_GZIP):
            head = zlib.decompressobj(wbits=31).decompress(head, _HEAD)
    except (OSError, zlib.error):
        return document
    if head.startswith(_ZSTD):
        return replace(document, kind="asked for")
    begins = _BEGINS.match(head)
    if begins is None:
        return document
    key = begins[1] or b"spec"
    return replace(document, kind="asked for", cached=key == b"spec")
