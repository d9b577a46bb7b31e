"""Read documents of spec nodes: databases, lock files, spec files and what `spack find` prints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from spackscope.model.core.errors import Unreadable
from spackscope.model.core.records import Problem, Records, Spec
from spackscope.model.core.tasks import OnCount
from spackscope.model.readers.json import Parsed, parse
from spackscope.model.readers.lockfile import is_lockfile, read_lockfile
from spackscope.model.readers.spack_database import Database, parse_json, read_database
from spackscope.model.readers.spack_find import is_find_output, read_find_output
from spackscope.model.readers.spec_file import is_spec_file, is_yaml_spec_file, read_spec_file
from spackscope.model.readers.unpack import decode
from spackscope.model.readers.yaml import load_yaml

NOT_KNOWN = (
    "it is not a page of cache.spack.io, a Spack database (index.json), a spack.lock, a spec file"
    " or the output of spack find --json"
)


_GROUP = 256
"""Records of nodes that are yielded at once, since each look-alike has its own node."""


def read_nodes(data: bytes, origin: str, on_count: OnCount | None) -> Iterator[Records | Problem]:
    """Yield the records of a document of spec nodes, which is JSON or YAML."""
    items = _read_nodes(data, origin, on_count)
    del data
    yield from _in_groups(items)


def _read_nodes(data: bytes, origin: str, on_count: OnCount | None) -> Iterator[Spec | Problem]:
    head = data[:1000]
    try:
        is_yaml = is_yaml_spec_file(data)
        text = decode(data)
        del data
        if is_yaml:
            document, remarks = Parsed(load_yaml(text.removeprefix("---"), aliases=False)[0])
        else:
            document, remarks = parse_json(text, origin=origin, on_count=on_count)
        del text
    except Unreadable as error:
        yield Problem(origin, "", _not_known(head, str(error)))
        return
    yield from (Problem(origin, "", remark) for remark in remarks)
    if isinstance(document, Database):
        yield from read_database(document, origin=origin)
    elif is_lockfile(document):
        yield from read_lockfile(document, origin=origin)
    elif is_spec_file(document):
        yield from read_spec_file(document, origin=origin)
    elif is_find_output(document):
        yield from read_find_output(document, origin=origin)
    else:
        yield Problem(origin, "", NOT_KNOWN)


def check_nodes(data: bytes) -> None:
    """Check that a document of spec nodes is whole. Raises Unreadable."""
    if is_yaml_spec_file(data):
        document, _ = load_yaml(decode(data).removeprefix("---"), aliases=False)
    else:
        document, _ = parse(decode(data), lambda: lambda hash_, record: None, whole=True)
    is_database = isinstance(document, dict) and "database" in document
    if not (
        is_database or is_lockfile(document) or is_spec_file(document) or is_find_output(document)
    ):
        raise Unreadable(NOT_KNOWN)


def _in_groups(items: Iterable[Spec | Problem]) -> Iterator[Records | Problem]:
    """Yield records in groups, between problems."""
    specs: list[Spec] = []
    for item in items:
        if isinstance(item, Spec):
            specs.append(item)
        if len(specs) == _GROUP or (specs and not isinstance(item, Spec)):
            yield _group(specs)
            specs = []
        if isinstance(item, Problem):
            yield item
    if specs:
        yield _group(specs)


def _group(specs: list[Spec]) -> Records:
    hashes, sizes = [spec.hash for spec in specs], [spec.size for spec in specs]
    return Records(specs, range(len(specs)), hashes, sizes)


def _not_known(head: bytes, reason: str) -> str:
    head = head.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if not head:
        return "it is empty"
    if head.startswith((b"<!doctype html", b"<html", b"<?xml")):
        reason = "it is a web page"
    return f"{NOT_KNOWN}: {reason}"
