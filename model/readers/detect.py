"""Read any document that spackscope knows, recognised by its content and never by its name."""

from __future__ import annotations

from collections.abc import Iterator

from spackscope.model.core.errors import Unreadable
from spackscope.model.core.files import MAX_FILE_SIZE
from spackscope.model.core.records import Problem, Records
from spackscope.model.core.tasks import OnCount
from spackscope.model.readers.pages import check_page, is_page, read_page
from spackscope.model.readers.unpack import unwrap


def read_document(
    data: bytes,
    *,
    origin: str,
    max_size: int = MAX_FILE_SIZE,
    on_count: OnCount | None = None,
) -> Iterator[Records | Problem]:
    """Yield the records of a document of any known format, and what is wrong with it.

    Arguments:
        data: The content. It may be signed, and compressed with gzip, or with zstd where Python
            has it.
        origin: What problems and records name as their document.
        max_size: Bytes that a compressed document may unpack to.
        on_count: Called with the number of records so far, and about how many there are, while a
            Spack database is read: before the first record is yielded. It may raise to stop.

    Raises nothing else: a document that cannot be read, or is of no known format, is a Problem.

    Example:
        >>> for item in read_document(path.read_bytes(), origin="index.json"):
        ...     print(item)
    """
    data, reasons = unwrap(data, max_size)
    yield from (Problem(origin, "", reason) for reason in reasons)
    if reasons and not data:
        return
    if is_page(data):
        items = read_page(data, origin=origin)
    else:
        # Most builds read pages only, and the other readers take long to import.
        from spackscope.model.readers.nodes import read_nodes

        items = read_nodes(data, origin, on_count)
    # Large bytes are not kept while their text is parsed.
    del data
    yield from items


def check_document(data: bytes) -> None:
    """Check that a document is of a known format and not cut off. Raises Unreadable.

    Single records may be wrong all the same.
    """
    data, reasons = unwrap(data)
    if reasons:
        raise Unreadable(reasons[0])
    if is_page(data):
        check_page(data)
        return
    from spackscope.model.readers.nodes import check_nodes

    check_nodes(data)
