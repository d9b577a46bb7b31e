"""Read any document that spackscope knows, told by what stands in it and never by its name."""

from __future__ import annotations

from collections.abc import Iterator

from spackscope.model.core.bounded_files import MAX_FILE_SIZE
from spackscope.model.core.errors import (
    Unreadable,
)
from spackscope.model.core.records import Problem, Spec
from spackscope.model.readers.cache_pages import is_page, read_page
from spackscope.model.readers.decompress import is_packed, unpacked
from spackscope.model.readers.json import (
    decode,
)
from spackscope.model.readers.lockfile import is_lockfile, lockfile_records
from spackscope.model.readers.spack_database import (
    Watch,
    database_records,
    is_database,
    parse,
    unwatched,
)
from spackscope.model.readers.spack_find import find_json_records, is_find_json
from spackscope.model.readers.spec_file import (
    is_signed,
    is_specfile,
    is_yaml_specfile,
    read_specfile,
    specfile_records,
    unsigned,
)

_KNOWN = (
    "a page of cache.spack.io, a Spack database (index.json), a spack.lock, a spec file or what"
    " spack find --json prints"
)


def read_document(
    data: bytes, *, origin: str, largest: int = MAX_FILE_SIZE, watch: Watch = unwatched
) -> Iterator[Spec | Problem]:
    """Yield the records and problems of a document of any kind that is known.

    It may be compressed with gzip, or with zstd where Python has it, to no more than `largest`
    bytes, and be signed. Anything else is a Problem that says so. A database is read to its end
    before the first record comes; meanwhile `watch` is told how many have been read, and may
    raise to give up.
    """
    if is_packed(data):
        data, remark = unpacked(data, largest)
        if remark or not data:
            yield Problem(origin, "", remark or "nothing comes of unpacking it")
        if not data:
            return
    if is_page(data):
        page = read_page(data, origin=origin)
        del data
        yield from page
        return
    if is_signed(data):
        data, remark = unsigned(data)
        if remark:
            yield Problem(origin, "", remark)
    if is_yaml_specfile(data):
        yield from read_specfile(data, origin=origin)
        return
    start = data[:1000]
    try:
        text = decode(data)
        # A large document is not held in a second form while it is parsed into a third.
        del data
        document, remarks = parse(text, origin=origin, watch=watch)
    except Unreadable as error:
        yield Problem(origin, "", _none_of(start, str(error)))
        return
    del text
    yield from (Problem(origin, "", remark) for remark in remarks)
    for fits, records in (
        (is_database, database_records),
        (is_lockfile, lockfile_records),
        (is_specfile, specfile_records),
        (is_find_json, find_json_records),
    ):
        if fits(document):
            yield from records(document, origin=origin)
            return
    yield Problem(origin, "", f"it is none of {_KNOWN}")


def _none_of(start: bytes, reason: str) -> str:
    start = start.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if not start:
        return "it is empty"
    if start.startswith((b"<!doctype html", b"<html", b"<?xml")):
        reason = "it is a web page"
    return f"it is none of {_KNOWN}: {reason}"
