"""Read the bytes of a document."""

from __future__ import annotations

from spackscope.model.core.files import MAX_FILE_SIZE, read_file
from spackscope.model.readers.manifest import MAX_MANIFEST_SIZE
from spackscope.model.sources.document import Document


def read_bytes(document: Document) -> bytes:
    """Return the content of a document, or the head of a file that cannot be a page.

    Raises OSError.
    """
    if document.unreadable:
        raise OSError(document.unreadable)
    max_size = MAX_MANIFEST_SIZE if document.kind == "sizes" else MAX_FILE_SIZE
    try:
        return read_file(
            document.path, max_size, _may_be_page if document.kind == "candidate" else None
        )
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise OSError(error.errno or 0, f"cannot be read: {reason}") from None


def _may_be_page(head: bytes) -> bool:
    """Check the first bytes of a file, which may be in UTF-16."""
    return b"---" in head.replace(b"\0", b"")
