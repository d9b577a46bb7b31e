"""Read any document that spackscope knows, recognised by its content and never by its name.

Pages are read by `pages`. All other records are nodes, which `nodes` reads, in Spack's databases,
lock files, spec files, and what `spack find --json` prints. Beside these there are manifests,
which name the files of a mirror, and lists of hashes.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any

from spackscope.model.core.errors import Unreadable
from spackscope.model.core.files import MAX_FILE_SIZE
from spackscope.model.core.frozen import Frozen, field
from spackscope.model.core.records import Problem, Records, Spec, is_hash
from spackscope.model.core.tasks import OnCount
from spackscope.model.readers.json import (
    AS_SPACK,
    AS_SPELLED,
    AS_UNDERSTOOD,
    MAX_PROBLEMS,
    MAX_RECORDS,
    TOO_MANY_RECORDS,
    FieldReader,
    KeepRecord,
    Number,
    Parsed,
    is_number,
    kind,
    mismatch,
    parse,
    shown_value,
    storable,
    unknown_version,
    wrong_value,
)
from spackscope.model.readers.pages import check_page, is_page, read_page
from spackscope.model.readers.unpack import decode, remove_signature, unwrap
from spackscope.model.readers.yaml import load_yaml

if TYPE_CHECKING:
    from spackscope.model.readers.nodes import NodeReader, WrongHash

PAGE = "pages do not contain what Spack hashes"
"""Why the hashes of a page cannot be checked."""

_NOT_KNOWN = (
    "it is not a page of cache.spack.io, a Spack database (index.json), a spack.lock, a spec file"
    " or the output of spack find --json"
)
_GROUP = 256
"""Records of nodes that are yielded at once, since each look-alike has its own node."""


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
        on_count: Called with the number of records so far, and about how many there are, while
            nodes are read: before the first record is yielded. It may raise to stop.

    Raises nothing else: a document that cannot be read, or is of no known format, is a Problem.

    Example:
        >>> for item in read_document(path.read_bytes(), origin="index.json"):
        ...     print(item)
    """
    data, reasons = unwrap(data, max_size)
    yield from (Problem(origin, "", reason) for reason in reasons)
    if reasons and not data:
        return
    items: Iterator[Records | Problem]
    if is_page(data):
        items = read_page(data, origin=origin)
    else:
        items = _in_groups(_read_nodes(data, origin, on_count))
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
    elif is_yaml_spec_file(data):
        _reader_of(_load_yaml(decode(data)))
    else:
        _reader_of(parse(decode(data), lambda: lambda hash_, record: None, whole=True).value)


class StoredHashes(Frozen):
    """The hashes of a document: `whole` ones, which are those of the content, and others.

    `wrong` lists at most MAX_PROBLEMS of `wrong_count` records, `unchecked` has the hashes of
    those that cannot be checked by the reason, `problems` what of the document cannot be read.
    `cached` names the specs that an index lists as in its mirror, by hash. A document that
    `is_known` is of a known format.
    """

    whole: set[str] = field(default_factory=set)
    wrong: list[WrongHash] = field(default_factory=list)
    wrong_count: int = 0
    unchecked: dict[str, set[str]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    cached: dict[str, str] = field(default_factory=dict)
    is_known: bool = True


def check_hashes(
    data: bytes, *, origin: str, on_count: Callable[[int], None] = lambda _: None
) -> StoredHashes:
    """Check the hashes of all records of a document of any known format.

    `on_count` is called with the number of records now and then; it may raise to stop.

        check_hashes(path.read_bytes(), origin="index.json").wrong
    """
    from spackscope.model.readers.nodes import OLD, NodeReader

    content, problems = unwrap(data)
    if is_page(content) or is_yaml_spec_file(content):
        groups = [item for item in read_document(data, origin=origin) if isinstance(item, Records)]
        hashes = {hash_ for group in groups for hash_ in group.hashes}
        reason = PAGE if is_page(content) else OLD
        return StoredHashes(unchecked={reason: hashes} if hashes else {})
    nodes = NodeReader(origin, on_count=lambda count, _: on_count(count), check=True)
    try:
        text = decode(content)
        del data, content
        document, remarks = _parse(text, nodes)
        del text
    except Unreadable as error:
        return StoredHashes(problems=[*problems, str(error)], is_known=False)
    problems += remarks
    try:
        # What the document states wrongly does not matter here.
        deque(_reader_of(document)(document, nodes), maxlen=0)
    except Unreadable:
        return StoredHashes(problems=[*problems, _NOT_KNOWN], is_known=False)
    whole = {hash_ for hash_, result in nodes.checks.items() if result == ""}
    unchecked: dict[str, set[str]] = {}
    wrong: list[WrongHash] = []
    for hash_, result in nodes.checks.items():
        if not isinstance(result, str):
            wrong.append(result)
        elif result:
            unchecked.setdefault(result, set()).add(hash_)
    return StoredHashes(whole, wrong[:MAX_PROBLEMS], len(wrong), unchecked, problems, nodes.cached)


# Documents of nodes.


def _read_nodes(data: bytes, origin: str, on_count: OnCount | None) -> Iterator[Spec | Problem]:
    # Most builds read pages only, and the reader of nodes takes long to import.
    from spackscope.model.readers.nodes import NodeReader

    head = data[:1000]
    try:
        is_yaml = is_yaml_spec_file(data)
        text = decode(data)
        del data
        nodes = NodeReader(origin, on_count=on_count, expected=text.count(_NODE))
        document, remarks = Parsed(_load_yaml(text)) if is_yaml else _parse(text, nodes)
        del text
    except Unreadable as error:
        yield Problem(origin, "", _not_known(head, str(error)))
        return
    yield from (Problem(origin, "", remark) for remark in remarks)
    try:
        read = _reader_of(document)
        yield from read(document, nodes)
    except Unreadable as error:
        yield Problem(origin, "", str(error))
        return
    yield from nodes.finish(report_absent=read is not _read_find_output)


def _reader_of(document: Any) -> Callable[[Any, NodeReader], Iterator[Problem]]:
    """Return the reader of a document of nodes. Raises Unreadable if it is none.

    A reader adds the nodes of a document, which it empties on the way to save memory. It yields
    the problems of the document, and raises Unreadable where there are no nodes.
    """
    if isinstance(document, list):
        if any(isinstance(node, dict) and {"name", "hash"} <= node.keys() for node in document):
            return _read_find_output
    elif isinstance(document, dict):
        spec = document.get("spec")
        if "database" in document:
            return _read_database
        if "concrete_specs" in document:
            return _read_lockfile
        if isinstance(spec, list) or (isinstance(spec, dict) and "nodes" in spec):
            return _read_spec_file
    raise Unreadable(_NOT_KNOWN)


def _in_groups(items: Iterable[Spec | Problem]) -> Iterator[Records | Problem]:
    """Yield records in groups, between problems."""
    for _, alike in groupby(items, type):
        # Its items are either all specs or all problems.
        while group := list(islice(alike, _GROUP)):
            if specs := [item for item in group if isinstance(item, Spec)]:
                hashes, sizes = [spec.hash for spec in specs], [spec.size for spec in specs]
                yield Records(specs, range(len(specs)), hashes, sizes)
            yield from (item for item in group if isinstance(item, Problem))


def _not_known(head: bytes, reason: str) -> str:
    head = head.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if not head:
        return "it is empty"
    if head.startswith((b"<!doctype html", b"<html", b"<?xml")):
        reason = "it is a web page"
    return f"{_NOT_KNOWN}: {reason}"


# Databases: the `index.json` of a build cache or of an install tree.

_DATABASE_FORMATS = {"5": 1, "6": 3, "7": 4, "8": 5}
"""The specfile format of the nodes, by the version of the database."""

_NODE = '"spec":'
"""The key of the node of a record, as Spack writes it."""
_CACHED = {"cached": True}
_YEAR_10000 = 253_402_300_800
_VERSION_FIRST = re.compile(r'\s*\{\s*"database"\s*:\s*\{\s*"version"\s*:\s*"([^"\\]*)"')
_VERSION_LAST = re.compile(r'"version"\s*:\s*"([^"\\]*)"\s*\}\s*\}\s*$')


def _parse(text: str, nodes: NodeReader) -> Parsed:
    """Parse JSON; the records of a database become specs of `nodes` on the way.

    Raises Unreadable, and what `on_count` raises.
    """

    def start_installs() -> KeepRecord:
        nodes.start()
        return lambda hash_, record: _read_record(hash_, record, nodes)

    # The version of old databases is after the records.
    stated = _VERSION_FIRST.match(text) or _VERSION_LAST.search(text, max(0, len(text) - 200))
    version: object = stated[1] if stated else None
    decoder = AS_SPACK if nodes.is_checking else AS_SPELLED
    while True:
        nodes.format = _database_format(version)
        parsed = parse(text, start_installs, decoder)
        if not isinstance(parsed.value, dict) or "database" not in parsed.value:
            return parsed
        contents = parsed.value["database"]
        version = contents.get("version") if isinstance(contents, dict) else None
        if nodes.format == _database_format(version):
            return parsed


def _database_format(version: object) -> int | None:
    return _DATABASE_FORMATS.get(version) if type(version) is str else None


def _read_record(hash_: str, record: Any, nodes: NodeReader) -> Spec | None:
    if nodes.is_full:
        raise Unreadable(TOO_MANY_RECORDS)
    if not isinstance(record, dict):
        nodes.fields.add_problem_at(f"spec/{hash_[:7]}", mismatch("record", record, "an object"))
        return None
    node = record.get("spec")
    if nodes.is_checking:
        if record.get("in_buildcache") is True and is_hash(hash_):
            nodes.add_cached(hash_, node)
        return nodes.read(hash_, node)
    problems: list[str] = []
    spec = nodes.read(hash_, node, **_state(record, problems.append))
    for reason in problems if spec is not None else ():
        nodes.fields.add_problem(reason)
    return spec


def _state(record: dict[str, Any], add_problem: Callable[[str], None]) -> Mapping[str, Any]:
    """Return the fields of a spec that are outside its node; most records of a cache have few.

    As `InstallRecord.to_dict` of lib/spack/spack/database.py writes them.
    """
    if record.get("in_buildcache") is True and "path" not in record:
        return _CACHED
    flags = {"in_buildcache": True, "installed": False, "explicit": False}
    for key in flags.keys() & record.keys():
        if isinstance(record[key], bool):
            flags[key] = record[key]
        else:
            add_problem(f"{key} is {kind(record[key])}, expected true or false")
    path, time = record.get("path"), record.get("installation_time")
    if path is not None and type(path) is not str:
        add_problem(mismatch("path", path, "a string"))
    seconds = float(time) if is_number(time) else -1.0
    has_time = 0 <= seconds < _YEAR_10000
    if not has_time and time is not None:
        add_problem(wrong_value("installation_time", time, "seconds since 1970"))
    in_cache = flags["in_buildcache"]
    if "in_buildcache" not in record and "installed" in record:
        in_cache = flags["installed"]
    return {
        "in_cache": in_cache,
        "cached": record.get("in_buildcache") is True,
        "installed": flags["installed"],
        "explicit": flags["explicit"],
        "path": storable(path) if isinstance(path, str) and path != "None" else "",
        "installed_at": seconds if has_time else None,
    }


def _read_database(document: dict[str, Any], nodes: NodeReader) -> Iterator[Problem]:
    """Read a database, whose records are specs already. Format: lib/spack/spack/database.py."""
    contents = document["database"]
    if not isinstance(contents, dict):
        raise Unreadable(mismatch("database", contents, "an object"))
    version, installs = contents.get("version"), contents.get("installs")
    if nodes.format is None:
        expected = f"a string from {min(_DATABASE_FORMATS)} to {max(_DATABASE_FORMATS)}"
        yield Problem(nodes.origin, "", unknown_version("version", version, expected))
    if not isinstance(installs, dict):
        raise Unreadable(mismatch("installs", installs, "an object"))
    nodes.specs = installs


# Lock files: the specs that an environment was concretized to.

_LOCK_FORMATS = {"4": 3, "5": 4, "6": 5}
"""The specfile format of the nodes, by the version of the lock file."""

_LOCK_BEFORE_0_18 = ("1", "2", "3")


def _read_lockfile(document: dict[str, Any], nodes: NodeReader) -> Iterator[Problem]:
    """Read the specs of a lock file, then those of environments that it includes, however deep.

    The roots are `explicit`. A spec of several environments comes once. Format:
    lib/spack/spack/environment/environment.py.
    """
    meta = document.get("_meta")
    stated = meta.get("lockfile-version") if isinstance(meta, dict) else None
    version = str(stated) if is_number(stated) else ""
    nodes.format = _LOCK_FORMATS.get(version)
    is_old = version in _LOCK_BEFORE_0_18
    if is_old:
        nodes.hash_format = 1
        reason = f"lockfile-version {version} is from before Spack 0.18; {AS_UNDERSTOOD}"
        yield Problem(nodes.origin, "", reason)
    elif nodes.format is None:
        expected = f"a number from {min(_LOCK_FORMATS)} to {max(_LOCK_FORMATS)}"
        yield Problem(nodes.origin, "", unknown_version("lockfile-version", stated, expected))
    waiting: list[tuple[str, Any]] = [("", document)]
    environments: list[tuple[str, dict[str, Any]]] = []
    explicit: set[str] = set()
    wrong_roots: list[tuple[str, str]] = []
    for path, environment in waiting:
        if not isinstance(environment, dict):
            reason = mismatch("environment", environment, "an object")
            yield Problem(nodes.origin, path, reason)
            continue
        concrete = environment.get("concrete_specs")
        included = environment.get("include_concrete", {})
        for key, value in (("concrete_specs", concrete), ("include_concrete", included)):
            if not isinstance(value, dict):
                yield Problem(nodes.origin, path, mismatch(key, value, "an object"))
        if isinstance(included, dict):
            waiting += [(storable(name), inner) for name, inner in included.items()]
        if not isinstance(concrete, dict):
            continue
        environments.append((path, concrete))
        roots = environment.get("roots")
        if not isinstance(roots, list):
            wrong_roots.append((path, mismatch("roots", roots, "a list")))
            continue
        for root in roots:
            hash_ = root.get("hash") if isinstance(root, dict) else None
            if type(hash_) is not str:
                wrong_roots.append((path, f"roots contains {kind(root)} without a hash"))
                continue
            explicit.add(hash_)
            if hash_ not in concrete:
                spec = root.get("spec")
                name = f"{spec[:80]} " if isinstance(spec, str) else ""
                reason = f"root {name}/{hash_[:7]} is not in concrete_specs"
                wrong_roots.append((path, storable(reason)))
    yield from (Problem(nodes.origin, path, reason) for path, reason in wrong_roots)
    for path, concrete in environments:
        nodes.prefix = f"{path}: " if path else ""
        for key in list(concrete):
            node = concrete.pop(key)
            # The keys of old files may be other hashes.
            hash_ = nodes.hash_of(node) if is_old else key
            spec = nodes.add(hash_ if is_hash(hash_) else key, node, explicit=key in explicit)
            if spec is not None and spec.hash != key:
                nodes.aliases[key] = spec.hash


# Spec files: one spec with all its dependencies, as every build cache has them. They are called
# `*.spec.json`, `*.spec.json.sig` if they are signed, and `spec.yaml` before Spack 0.17.

_SPEC_FORMATS = ("2", "3", "4", "5")
"""The specfile formats that a file may state; format 1 is a list and states none."""

# The expression takes memory for each line.
_MAX_HEAD = 2**20
_YAML = re.compile(
    rb"(?:---[ \t]*\r?\n)?"
    rb"(?:(?:binary_cache_checksum|buildinfo|buildcache_layout_version|full_hash):[^\n]*\n"
    rb"(?:[ \t][^\n]*\n)*)*"
    rb"spec:[ \t]*\r?$",
    re.MULTILINE,
)


def is_yaml_spec_file(data: bytes) -> bool:
    """Recognise a spec file in YAML: it begins with `spec:` or what a build cache adds to it."""
    return _YAML.match(data, 0, _MAX_HEAD) is not None


def _load_yaml(text: str) -> Any:
    return load_yaml(text.removeprefix("---"), aliases=False)[0]


def _read_spec_file(document: dict[str, Any], nodes: NodeReader) -> Iterator[Problem]:
    """Read a spec, then its dependencies, which are not `in_cache`.

    Format: `Spec.to_dict` of lib/spack/spack/spec.py.
    """
    spec = document["spec"]
    listed = spec if isinstance(spec, list) else spec["nodes"]
    if not isinstance(listed, list):
        raise Unreadable(mismatch("nodes", listed, "a list"))
    if not listed:
        yield Problem(nodes.origin, "", "nodes is empty")
    nodes.format = 1
    if isinstance(spec, dict):
        meta = spec.get("_meta")
        version = meta.get("version") if isinstance(meta, dict) else None
        is_known = str(version) in _SPEC_FORMATS
        nodes.format = int(str(version)) if is_known else None
        if nodes.format is None:
            reason = unknown_version("version of the spec file", version, "2 to 5")
            yield Problem(nodes.origin, "", reason)
    for number, node in enumerate(listed):
        nodes.add(nodes.hash_of(node), node, in_cache=number == 0)


def _read_find_output(document: list[Any], nodes: NodeReader) -> Iterator[Problem]:
    """Read what `spack find --json` prints, where the dependencies need not be in the list.

    Format: `display_specs_as_json` of lib/spack/spack/cmd/__init__.py.
    """
    from spackscope.model.readers.nodes import CURRENT_FORMAT

    nodes.format, nodes.hash_format = None, CURRENT_FORMAT
    for node in document:
        nodes.add(nodes.hash_of(node), node)
    yield from ()


# Lists of hashes, one a line, as `find --hashes` and `spack find --format` print them.

_DOCUMENT = re.compile(rb"\s*(?:\{|---|\x1f\x8b|\x28\xb5\x2f\xfd)")
"""How a lock file, an index, or a page begins, packed or not."""


def is_hash_list(data: bytes) -> bool:
    """Check whether some bytes may be a list of hashes rather than a document."""
    return _DOCUMENT.match(data) is None


def read_hash_list(data: bytes, *, origin: str) -> Iterator[str | Problem]:
    """Yield the hashes, each once, then a problem for each line without one.

    The hash is the first word of a line or the end of it, after a `/`. Empty lines and those
    that begin with `#` are skipped. Raises Unreadable where there are too many lines.

    >>> list(read_hash_list(b"zlib@1.3/2345672345672345672345672345672a", origin="-"))
    ['2345672345672345672345672345672a']
    """
    fields = FieldReader(origin)
    seen: set[str] = set()
    for number, line in enumerate(data.splitlines(), 1):
        if number > MAX_RECORDS:
            raise Unreadable(f"it has more than {MAX_RECORDS:,} lines")
        words = storable(line.decode("utf-8", "replace")).split()
        if not words or words[0].startswith("#"):
            continue
        hash_ = words[0].rpartition("/")[2]
        if not is_hash(hash_):
            fields.place = f"line {number:,}"
            fields.add_problem(f"{shown_value(words[0])} is not a full hash")
        elif hash_ not in seen:
            seen.add(hash_)
            yield hash_
    yield from fields.problems()


# Manifests of a mirror of layout v3: they name the blobs of an index or a spec, as `BlobRecord`
# and `BuildcacheManifest` of lib/spack/spack/url_buildcache.py, and may be signed in clear text.

DATABASE = "application/vnd.spack.db."
SPEC = "application/vnd.spack.spec."
ARCHIVE = "application/vnd.spack.install."

MAX_MANIFEST_SIZE = 2**20
"""Bytes of a manifest; a real one has half a thousand."""

_SHA256 = re.compile(r"[0-9a-fA-F]{64}")
_LENGTH = re.compile(r"[0-9]{1,18}")
_NAME = re.compile(r"(?:^|[/\\-])([a-z2-7]{32})\.spec\.manifest\.json$")


class Blob(Frozen):
    """One entry of a manifest: the sha256 of a file in lower case, and its size in bytes.

    `size_problem` says what is wrong with the size if it is None.
    """

    media_type: str
    checksum: str
    size: int | None = None
    size_problem: str = ""

    @property
    def name(self) -> str:
        """The path of the blob in its mirror."""
        return f"blobs/sha256/{self.checksum[:2]}/{self.checksum}"


class Manifest(Frozen):
    """The blobs of a manifest in its order, and what is wrong with the other entries."""

    blobs: tuple[Blob, ...]
    remarks: tuple[str, ...] = ()

    def blob(self, media_type: str) -> Blob:
        """Return the first blob whose media type begins so. Raises Unreadable without one."""
        for blob in self.blobs:
            if blob.media_type.startswith(media_type):
                return blob
        name = {DATABASE: "index", SPEC: "spec file", ARCHIVE: "archive"}[media_type]
        reason = f": {self.remarks[0]}" if self.remarks else ""
        raise Unreadable(f"the manifest names no {name}{reason}")


def read_manifest(data: bytes) -> Manifest:
    """Read a manifest, plain or signed; the signature is not verified. Raises Unreadable."""
    if len(data) > MAX_MANIFEST_SIZE:
        raise Unreadable(f"the manifest has more than {MAX_MANIFEST_SIZE:,} bytes")
    try:
        document, _ = parse(decode(remove_signature(data)[0]))
    except Unreadable as error:
        raise Unreadable(f"the manifest cannot be read: {error}") from None
    entries = document.get("data") if isinstance(document, dict) else None
    if not isinstance(entries, list):
        raise Unreadable("it is not a manifest of a mirror: it has no list of data")
    blobs: list[Blob] = []
    remarks: list[str] = []
    for entry in entries:
        try:
            blobs.append(_blob(entry))
        except Unreadable as error:
            remarks.append(str(error))
    return Manifest(tuple(blobs), tuple(remarks))


def archive_size_in(data: bytes, *, origin: str) -> tuple[str, int] | None:
    """Return the hash of the spec that a manifest describes, and the bytes of its archive.

    The hash is only in the name of the manifest. Returns None if either is missing. Raises
    Unreadable.
    """
    match = _NAME.search(origin)
    blob = read_manifest(data).blob(ARCHIVE)
    if blob.size_problem:
        raise Unreadable(f"the size of the archive is unknown: {blob.size_problem}")
    return None if match is None or blob.size is None else (match[1], blob.size)


def _blob(entry: Any) -> Blob:
    if not isinstance(entry, dict):
        raise Unreadable(mismatch("entry", entry, "an object"))
    media_type = entry.get("mediaType")
    if type(media_type) is not str or not media_type:
        raise Unreadable(mismatch("mediaType", media_type, "a string"))
    algorithm = entry.get("checksumAlgorithm", "sha256")
    if algorithm != "sha256":
        raise Unreadable(storable(wrong_value("checksumAlgorithm", algorithm, "sha256")))
    checksum = entry.get("checksum")
    if type(checksum) is not str or not _SHA256.fullmatch(checksum):
        raise Unreadable(storable(wrong_value("checksum", checksum, "64 hexadecimal digits")))
    length, size, size_problem = entry.get("contentLength"), None, ""
    if type(length) is Number and _LENGTH.fullmatch(length):
        size = int(length)
    elif "contentLength" in entry:
        size_problem = storable(wrong_value("contentLength", length, "a number of bytes"))
    return Blob(storable(media_type[:200]), checksum.lower(), size, size_problem)
