"""Read the bytes of a document."""

from __future__ import annotations

from spackscope.model.core.bounded_files import MAX_FILE_SIZE, open_file, read_open
from spackscope.model.readers.manifest import MAX_MANIFEST_SIZE
from spackscope.model.sources.document import Document

_HEAD = 16


def read_bytes(document: Document) -> bytes:
    """Return the content of a document, or the head of a file that cannot be a page.

    Raises OSError.
    """
    if document.unreadable:
        raise OSError(document.unreadable)
    max_size = MAX_MANIFEST_SIZE if document.kind == "sizes" else MAX_FILE_SIZE
    try:
        with open_file(document.path) as file:
            if document.kind == "candidate":
                head = file.read(_HEAD)
                if b"---" not in head.replace(b"\0", b""):
                    return head
                file.seek(0)
            return read_open(file, max_size)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise OSError(error.errno or 0, f"cannot be read: {reason}") from None
