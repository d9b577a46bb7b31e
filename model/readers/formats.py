"""Read any document that spackscope knows, recognised by its content and never by its name.

`pages` reads pages. All other records are nodes, which `nodes` reads: in Spack's databases, lock
files, spec files, and the output of `spack find --json`. Further formats are manifests, which name
the files of a mirror, and lists of hashes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from spackscope.model.core.errors import Unreadable
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.records import Problem, Records, is_hash
from spackscope.model.core.tasks import OnCount
from spackscope.model.readers.json import (
    MAX_RECORDS,
    FieldReader,
    Keep,
    Number,
    TooManyRecords,
    member,
    parse,
    shown_value,
    storable,
    wrong_value,
)
from spackscope.model.readers.pages import check_page, is_page, read_page
from spackscope.model.readers.unpack import decode, remove_signature, unwrap
from spackscope.model.readers.yaml import load_yaml

if TYPE_CHECKING:
    from spackscope.model.readers.nodes import NodeReader

_NOT_KNOWN = (
    "it is not a page of cache.spack.io, a Spack database (index.json), a spack.lock, a spec file"
    " or the output of spack find --json"
)
_AS_UNDERSTOOD = "the records are read as far as possible"
"""The end of a problem about a document of an unknown version."""


def read_document(
    data: bytes, *, origin: str, on_count: OnCount | None = None
) -> Iterator[Records | Problem]:
    """Yield the records of a document of any known format, and its problems.

    Arguments:
        data: The content. It may be signed, and compressed with gzip, or with zstd where Python
            has it.
        origin: The name of the document in problems and records.
        on_count: Called with the number of records so far, and about the total number, while
            nodes are read: before the first record is yielded. It may raise to stop.

    Raises only the exceptions of `on_count`: a document that cannot be read, or has an unknown
    format, is a Problem. A Problem without an origin is about all documents of a version, and is
    enough once for a source.

    Example:
        >>> for item in read_document(path.read_bytes(), origin="index.json"):
        ...     print(item)
    """
    data, reasons = unwrap(data)
    yield from (Problem(origin, "", reason, is_unread=True) for reason in reasons)
    if reasons and not data:
        return
    items: Iterator[Records | Problem]
    if is_page(data):
        items = read_page(data, origin=origin)
    else:
        items = _read_nodes(data, origin, on_count)
    # Large bytes are not kept while their text is parsed.
    del data
    yield from items


def check_document(data: bytes) -> None:
    """Check that a document has a known format and is not cut off. Raises Unreadable.

    Single records are not checked.
    """
    data, reasons = unwrap(data)
    if reasons:
        raise Unreadable(reasons[0])
    if is_page(data):
        check_page(data)
    else:
        _format_of(_parse(decode(data), lambda hash_, record: None, whole=True)[0])


# Documents of nodes.


def _read_nodes(data: bytes, origin: str, on_count: OnCount | None) -> Iterator[Records | Problem]:
    # Most builds read pages only, and the reader of nodes takes long to import.
    from spackscope.model.readers.nodes import NodeReader

    nodes = NodeReader(origin, on_count)
    try:
        text = decode(data)
        del data
        nodes.expected = text.count(_NODE)
        remarks = _add_nodes(text, nodes)
        del text
    except Unreadable as error:
        yield Problem(origin, "", str(error), is_unread=True)
        return
    yield from (Problem(origin, "", remark, is_unread=True) for remark in remarks)
    if nodes.source_remark:
        yield Problem("", "", nodes.source_remark)
    yield from nodes.finish()


def _add_nodes(text: str, nodes: NodeReader) -> list[str]:
    """Add the nodes of a document to a reader; return the problems of the document itself.

    Raises Unreadable for an unknown format, and the exceptions of `on_count`.
    """

    def add_install(hash_: str, record: Any) -> None:
        nodes.add(hash_, member(record, "spec"), record)

    document, remarks = _parse(text, add_install)
    try:
        _format_of(document)(document, nodes)
    except TooManyRecords as error:
        remarks.append(str(error))
    except Unreadable as error:
        raise Unreadable("; ".join((str(error), *remarks))) from None
    return remarks


def _parse(text: str, keep: Keep, *, whole: bool = False) -> tuple[Any, list[str]]:
    """Parse a document in JSON or YAML; the records of a database are passed to `keep`.

    Raises Unreadable, and the exceptions of `keep`.
    """
    if is_yaml_spec_file(text):
        return load_yaml(text.removeprefix("---")), []
    try:
        return parse(text, {"installs": keep}, whole=whole)
    except Unreadable as error:
        head = text[:1000].lstrip()[:1]
        if head in ("", "{", "["):
            raise
        reason = "it is a web page" if head == "<" else error
        raise Unreadable(f"{_NOT_KNOWN}: {reason}") from None


def _format_of(document: Any) -> Callable[[Any, NodeReader], None]:
    """Return the reader for a document of nodes. Raises Unreadable for another document.

    A reader sets the format of the nodes, and adds them. It raises Unreadable if the document has
    no nodes.
    """
    if isinstance(document, list):
        if any(isinstance(node, dict) and {"name", "hash"} <= node.keys() for node in document):
            return _read_find_output
    elif isinstance(document, dict):
        spec = document.get("spec")
        if "database" in document:
            return _read_database
        if "concrete_specs" in document:
            return _read_lock_file
        if isinstance(spec, list) or (isinstance(spec, dict) and "nodes" in spec):
            return _read_spec_file
    raise Unreadable(_NOT_KNOWN)


# Databases: the `index.json` of a build cache or of an install tree.

_MAX_DIGITS = 20
"""The number of digits of a version that are compared."""
_NODE = '"spec":'
"""The key of the node of a record, as Spack writes it."""
_DATABASE_FORMATS = {"5": 1, "6": 3, "7": 4, "8": 5, "9": 6}
"""The specfile format of the nodes, by the version of the database."""


def _read_database(document: dict[str, Any], nodes: NodeReader) -> None:
    """Read the version of a database, after its records. Format: lib/spack/spack/database.py."""
    contents = document["database"]
    if not isinstance(contents, dict):
        raise Unreadable(wrong_value("database", contents, "an object"))
    if not isinstance(installs := contents.get("installs"), dict):
        raise Unreadable(wrong_value("installs", installs, "an object"))
    version = contents.get("version")
    if (digits := str(version)[:_MAX_DIGITS]).isdecimal():
        nodes.database = int(digits)
    _set_format(nodes, "version", version, _DATABASE_FORMATS)


def _set_format(nodes: NodeReader, name: str, version: object, formats: Mapping[str, int]) -> None:
    """Set the format of nodes by the version of their document, or report an unknown version.

    Nodes of a newer version than the known ones are read by the rules of the newest known version.
    """
    nodes.format, (oldest, newest) = formats.get(str(version)), (min(formats), max(formats))
    digits = str(version)[:_MAX_DIGITS]
    if nodes.format is not None:
        return
    if digits.isdecimal() and int(digits) > int(newest):
        nodes.format = formats[newest]
        nodes.source_remark = (
            f"{name} is {shown_value(version)}, newer than {newest}, the newest known version;"
            f" the records are read as those of {newest}"
        )
    else:
        wrong = wrong_value(name, version, f"{oldest} to {newest}")
        nodes.fields.add_problem(f"{wrong}; {_AS_UNDERSTOOD}", "")


# Lock files: the specs that an environment was concretized to.

_LOCK_FORMATS = {"4": 3, "5": 4, "6": 5, "7": 5, "8": 6}
"""The specfile format of the nodes, by the version of the lock file."""

_LOCK_BEFORE_0_18 = ("1", "2", "3")


def _read_lock_file(document: dict[str, Any], nodes: NodeReader) -> None:
    """Read the specs of a lock file, then the specs of all environments that it includes.

    The roots are `explicit`. A spec of several environments is read once. Format:
    lib/spack/spack/environment/environment.py.
    """
    version = member(document.get("_meta"), "lockfile-version")
    is_old = str(version) in _LOCK_BEFORE_0_18
    if is_old:
        reason = f"lockfile-version {version} is from before Spack 0.18; {_AS_UNDERSTOOD}"
        nodes.fields.add_problem(reason, "")
    else:
        _set_format(nodes, "lockfile-version", version, _LOCK_FORMATS)
    waiting: list[tuple[str, Any]] = [("", document)]
    environments: list[tuple[str, dict[str, Any]]] = []
    explicit: dict[str, None] = {}
    for path, environment in waiting:
        nodes.fields.place = path
        if not isinstance(environment, dict):
            nodes.fields.add_wrong("environment", environment, "an object")
            continue
        included = environment.get("include_concrete", {})
        if isinstance(included, dict):
            waiting += included.items()
        else:
            nodes.fields.add_wrong("include_concrete", included, "an object")
        concrete, roots = environment.get("concrete_specs"), environment.get("roots")
        if not isinstance(concrete, dict):
            nodes.fields.add_wrong("concrete_specs", concrete, "an object")
            continue
        environments.append((path, concrete))
        if not isinstance(roots, list):
            nodes.fields.add_wrong("roots", roots, "a list")
            continue
        for root in roots:
            if type(hash_ := member(root, "hash")) is not str:
                nodes.fields.add_problem(f"roots contains {shown_value(root)} without a hash")
                continue
            explicit[hash_] = None
            if is_old and is_hash(stated := nodes.hash_of(concrete.get(hash_))):
                explicit[stated] = None
            if hash_ not in concrete:
                spec = root.get("spec")
                name = f"{spec[:80]} " if isinstance(spec, str) else ""
                reason = f"root {name}/{hash_[:7]} is not in concrete_specs"
                nodes.fields.add_problem(reason)
    for path, concrete in environments:
        nodes.prefix = f"{path}: " if path else ""
        # The keys of old files may be other hashes, several of them for one spec.
        keys = _reached_first(concrete, explicit, nodes) if is_old else concrete
        for key in keys:
            hash_ = nodes.hash_of(concrete[key]) if is_old else key
            if is_hash(hash_) and hash_ != key:
                nodes.aliases[key] = hash_
            stated = hash_ if is_hash(hash_) else key
            nodes.add(stated, concrete[key], {"explicit": stated in explicit or key in explicit})


def _reached_first(
    concrete: dict[str, Any], roots: Iterable[str], nodes: NodeReader
) -> dict[str, None]:
    """Return the keys of nodes in the order in which Spack reaches them from the roots.

    Nodes that no root needs come last. The order matters, as the first of several nodes with one
    hash counts. It follows `filter_specs` in lib/spack/spack/environment/environment.py.
    """
    reached: dict[str, None] = {}
    waiting = [*roots][::-1]
    while waiting:
        if (key := waiting.pop()) in concrete and key not in reached:
            reached[key] = None
            below = sorted(nodes.dependencies_of(concrete[key]), reverse=True)
            waiting += [hash_ for _, hash_ in below]
    return reached | dict.fromkeys(concrete)


# Spec files of a build cache: one spec with all its dependencies. The files are called
# `*.spec.json`, `*.spec.json.sig` if they are signed, and `spec.yaml` before Spack 0.17.

_SPEC_FORMATS = {"2": 2, "3": 3, "4": 4, "5": 5, "6": 6}
"""The specfile formats that a file may state; a file of format 1 is a list without a version."""

# The regular expression takes memory for each line.
_MAX_HEAD = 2**20
_YAML = re.compile(
    r"(?:---[ \t]*\r?\n)?"
    r"(?:(?:binary_cache_checksum|buildinfo|buildcache_layout_version|full_hash):[^\n]*\n"
    r"(?:[ \t][^\n]*\n)*)*"
    r"spec:[ \t]*\r?$",
    re.MULTILINE,
)


def is_yaml_spec_file(text: str) -> bool:
    """Check whether a text is a spec file in YAML: `spec:`, after keys that a build cache adds."""
    return _YAML.match(text, 0, _MAX_HEAD) is not None


def _read_spec_file(document: dict[str, Any], nodes: NodeReader) -> None:
    """Read a spec, then its dependencies, which are not `in_cache`.

    Format: `Spec.to_dict` of lib/spack/spack/spec.py.
    """
    spec = document["spec"]
    listed = spec if isinstance(spec, list) else spec["nodes"]
    if not isinstance(listed, list):
        raise Unreadable(wrong_value("nodes", listed, "a list"))
    if not listed:
        nodes.fields.add_problem("nodes is empty", "")
    nodes.format = 1
    if isinstance(spec, dict):
        version = member(spec.get("_meta"), "version")
        _set_format(nodes, "version of the spec file", version, _SPEC_FORMATS)
    for number, node in enumerate(listed):
        record = {} if number == 0 else {"in_buildcache": False}
        nodes.add(nodes.hash_of(node), node, record)


def _read_find_output(document: list[Any], nodes: NodeReader) -> None:
    """Read the output of `spack find --json`; dependencies need not be in the list.

    Format: `display_specs_as_json` of lib/spack/spack/cmd/__init__.py.
    """
    nodes.reports_absent = False
    for node in document:
        nodes.add(nodes.hash_of(node), node)


# Lists of hashes, one a line, as `find --hashes` and `spack find --format` print them.

_DOCUMENT = re.compile(rb"\s*(?:\{|---|\x1f\x8b|\x28\xb5\x2f\xfd)")
"""The beginning of a lock file, an index or a page, packed or not."""


def is_hash_list(data: bytes) -> bool:
    """Check whether some bytes may be a list of hashes rather than a document."""
    return _DOCUMENT.match(data) is None


def read_hash_list(data: bytes, *, origin: str) -> Iterator[str | Problem]:
    """Yield the hashes, each once, then a problem for each line without one.

    The hash is the first word of a line, or the end of this word after a `/`. Empty lines and
    lines that begin with `#` are skipped. Raises Unreadable if there are too many lines.

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
            fields.add_problem(f"{shown_value(words[0])} is not a full hash", f"line {number:,}")
        elif hash_ not in seen:
            seen.add(hash_)
            yield hash_
    yield from fields.problems()


# Manifests of a mirror of layout v3 name the blobs of an index or a spec, and may be signed in
# clear text: `BlobRecord` and `BuildcacheManifest` of lib/spack/spack/url_buildcache.py.

DATABASE = "application/vnd.spack.db."
SPEC = "application/vnd.spack.spec."
ARCHIVE = "application/vnd.spack.install."

MAX_MANIFEST_SIZE = 2**20
"""The most bytes of a manifest; real ones have some 500."""

_ENTRY = (
    ("mediaType", re.compile(r"(?s:.+)"), "a string"),
    ("checksumAlgorithm", re.compile(r"sha256"), "sha256"),
    ("checksum", re.compile(r"[0-9a-fA-F]{64}"), "64 hexadecimal digits"),
)
"""The keys that an entry must have, each with the form of its value, also in words."""
_LENGTH = re.compile(r"[0-9]{1,18}")


class Blob(Frozen):
    """One entry of a manifest: the sha256 of a file in lower case, and its size in bytes.

    `compression` is "" for none.
    """

    media_type: str
    checksum: str
    size: int | None = None
    compression: str = ""

    @property
    def name(self) -> str:
        """The path of the blob in its mirror."""
        return f"blobs/sha256/{self.checksum[:2]}/{self.checksum}"


class Manifest(Frozen):
    """The blobs of a manifest in its order, and its problems (`remarks`)."""

    blobs: tuple[Blob, ...]
    remarks: tuple[str, ...] = ()

    def blob(self, media_type: str) -> Blob:
        """Return the first blob of a media type, in any version. Raises Unreadable without one."""
        return self.blobs_of(media_type)[0]

    def blobs_of(self, media_type: str) -> list[Blob]:
        """Return all blobs of a media type, in any version. Raises Unreadable without one."""
        if blobs := [blob for blob in self.blobs if blob.media_type.startswith(media_type)]:
            return blobs
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
    if not isinstance(entries := member(document, "data"), list):
        raise Unreadable("it is not a manifest of a mirror: it has no list of data")
    blobs: list[Blob] = []
    remarks: list[str] = []
    for entry in entries:
        its = {"checksumAlgorithm": "sha256", **entry} if isinstance(entry, dict) else {}
        for key, pattern, expected in _ENTRY:
            if type(value := its.get(key)) is not str or not pattern.fullmatch(value):
                remarks.append(storable(wrong_value(key, value, expected)))
                break
        else:
            length, size = its.get("contentLength"), None
            if type(length) is Number and _LENGTH.fullmatch(length):
                size = int(length)
            elif "contentLength" in its:
                remarks.append(storable(wrong_value("contentLength", length, "a number of bytes")))
            media_type, checksum = storable(its["mediaType"][:200]), its["checksum"].lower()
            packed = str(its.get("compression", "none"))[:20]
            packed = "" if packed == "none" else re.sub(r"\W", "", packed)
            blobs.append(Blob(media_type, checksum, size, packed))
    return Manifest(tuple(blobs), tuple(remarks))
