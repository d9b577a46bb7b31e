"""Check whether the content of each record of a document gives the hash that it has."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from spackscope.model.core.errors import Unreadable
from spackscope.model.core.records import Problem, Records, is_hash
from spackscope.model.readers import lockfile, spack_database, spec_file
from spackscope.model.readers.detect import read_document
from spackscope.model.readers.json import AS_SPACK, MAX_PROBLEMS, KeepRecord, parse, storable
from spackscope.model.readers.node_hash import content_hash
from spackscope.model.readers.nodes import NOT_KNOWN
from spackscope.model.readers.pages import is_page
from spackscope.model.readers.spack_find import is_find_output
from spackscope.model.readers.spec_node import name_and_fields, node_hash
from spackscope.model.readers.unpack import decode, unwrap

PAGE = "pages do not contain what Spack hashes"
OLD = "Spack before 0.18 hashed another text"
CONVERTED = "a newer Spack converted them from an older format"
UNKNOWN = "the format of the document is not known"

EXTERNAL = "external, whose prefix or modules may have been rewritten"
CHANGED = "changed after Spack hashed it"

OnCount = Callable[[int], None]

_COUNT_INTERVAL = 256
_CURRENT, _LAST_OF_0_17 = 5, 2
"""Specfile formats."""

_ORIGINAL = "original_specfile_version"


class WrongHash(NamedTuple):
    """A record whose content gives another hash; `content_hash` is empty if it gives none."""

    package: str
    version: str
    hash: str
    content_hash: str
    reason: str


@dataclass
class StoredHashes:
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


def check_hashes(data: bytes, *, origin: str, on_count: OnCount = lambda _: None) -> StoredHashes:
    """Check the hashes of all records of a document of any known format.

    `on_count` is called with the number of records now and then; it may raise to stop.

        check_hashes(path.read_bytes(), origin="index.json").wrong
    """
    content, reasons = unwrap(data)
    if is_page(content):
        return _unchecked(data, origin, PAGE)
    if spec_file.is_yaml_spec_file(content):
        return _unchecked(data, origin, OLD)
    nodes = _Nodes(on_count)
    try:
        text = decode(content)
        del data, content
        document, remarks = parse(text, nodes.start_installs, AS_SPACK)
        del text
    except Unreadable as error:
        return StoredHashes(problems=[*reasons, str(error)], is_known=False)
    format_, checks = _checks(document, nodes, origin)
    if checks is None:
        return StoredHashes(problems=[*reasons, *remarks, NOT_KNOWN], is_known=False)
    hashes = _stored_hashes(checks, format_, [*reasons, *remarks])
    hashes.cached = nodes.cached
    return hashes


def _unchecked(data: bytes, origin: str, reason: str) -> StoredHashes:
    """Return the hashes of a document that does not contain what Spack hashed."""
    hashes: set[str] = set()
    for item in read_document(data, origin=origin):
        if isinstance(item, Records):
            hashes.update(item.hashes)
    return StoredHashes(unchecked={reason: hashes} if hashes else {})


class _Check(NamedTuple):
    """What is known of a record; of one that is whole nothing more."""

    is_whole: bool
    name: str = ""
    version: str = ""
    content_hash: str = ""
    is_external: bool = False
    has_recipe: bool = True
    original_format: int | None = None


_WHOLE = _Check(True)
_Checks = Mapping[str, _Check | None]


class _Nodes:
    """Checks node after node; what is not a node gives None."""

    def __init__(self, on_count: OnCount) -> None:
        self._on_count = on_count
        self._count = 0
        self.cached: dict[str, str] = {}

    def start_installs(self) -> KeepRecord:
        """Return what checks a record of a database while it is parsed."""
        self.cached = {}
        return self._check_record

    def _check_record(self, hash_: str, record: Any) -> _Check | None:
        if not isinstance(record, dict):
            return None
        node = record.get("spec")
        if record.get("in_buildcache") is True and is_hash(hash_):
            name, fields = name_and_fields(node)
            self.cached[hash_] = storable(f"{name}@{fields.get('version', '')}" if fields else "")
        return self.check(hash_, node)

    def check_all(self, nodes: Iterable[tuple[object, object]]) -> _Checks:
        """Check nodes with the hashes that they have; of equal hashes the first counts."""
        checks: dict[str, _Check | None] = {}
        for hash_, node in nodes:
            if is_hash(hash_) and hash_ not in checks:
                checks[hash_] = self.check(hash_, node)
        return checks

    def check(self, hash_: str, node: object) -> _Check | None:
        """Check one node."""
        self._count += 1
        if self._count % _COUNT_INTERVAL == 0:
            self._on_count(self._count)
        name, fields = name_and_fields(node)
        if fields is None or not is_hash(hash_):
            return None
        digest = content_hash(fields, hash_)
        if digest == hash_:
            return _WHOLE
        annotations = fields.get("annotations")
        stated = annotations.get(_ORIGINAL) if isinstance(annotations, dict) else None
        return _Check(
            False,
            storable(str(name)),
            storable(str(fields.get("version", ""))),
            digest,
            bool(fields.get("external")),
            "package_hash" in fields,
            stated if type(stated) is int else None,
        )


def _checks(document: Any, nodes: _Nodes, origin: str) -> tuple[int | None, _Checks | None]:
    """Return the specfile format of a parsed document and the checks of its records, if any."""
    if isinstance(document, dict) and isinstance(document.get("database"), dict):
        contents = document["database"]
        installs = contents.get("installs")
        format_ = spack_database.FORMATS.get(_version(contents, "version"))
        return format_, installs if isinstance(installs, dict) else None
    if lockfile.is_lockfile(document):
        return _lock_checks(document, nodes, origin)
    if spec_file.is_spec_file(document):
        return _file_checks(document["spec"], nodes)
    if is_find_output(document):
        return _CURRENT, nodes.check_all((node_hash(node), node) for node in document)
    return None, None


def _file_checks(
    spec: dict[str, Any] | list[Any], nodes: _Nodes
) -> tuple[int | None, _Checks | None]:
    listed, version = spec, "1"
    if isinstance(spec, dict):
        listed, version = spec["nodes"], _version(spec.get("_meta"), "version")
    format_ = int(version) if version in ("1", *spec_file.FORMATS) else None
    if not isinstance(listed, list):
        return format_, None
    return format_, nodes.check_all((node_hash(node), node) for node in listed)


def _lock_checks(
    document: dict[str, Any], nodes: _Nodes, origin: str
) -> tuple[int | None, _Checks]:
    version = _version(document.get("_meta"), "lockfile-version")
    before_0_18 = _LAST_OF_0_17 if version in lockfile.BEFORE_0_18 else None
    listed = (
        (lockfile.hash_of(key, node, version), node)
        for environment in lockfile.locked_environments(document, origin)
        if not isinstance(environment, Problem)
        for key, node in environment.concrete_specs.items()
    )
    return lockfile.FORMATS.get(version, before_0_18), nodes.check_all(listed)


def _version(meta: object, key: str) -> str:
    """Return the version that a document states, which is a string or a number."""
    return str(meta.get(key)) if isinstance(meta, dict) else ""


def _stored_hashes(checks: _Checks, format_: int | None, problems: list[str]) -> StoredHashes:
    """Sort the hashes by what the check of each record has found."""
    hashes = StoredHashes(problems=problems)
    for hash_, check in checks.items():
        if check is None:
            continue
        if check.is_whole:
            hashes.whole.add(hash_)
        elif reason := _reason_unchecked(check, format_):
            hashes.unchecked.setdefault(reason, set()).add(hash_)
        else:
            hashes.wrong_count += 1
            if len(hashes.wrong) < MAX_PROBLEMS:
                reason = EXTERNAL if check.is_external else CHANGED
                wrong = WrongHash(check.name, check.version, hash_, check.content_hash, reason)
                hashes.wrong.append(wrong)
    return hashes


def _reason_unchecked(check: _Check, format_: int | None) -> str:
    """Return why another hash does not mean that a record is wrong, or an empty string."""
    if (format_ is not None and format_ <= _LAST_OF_0_17) or not check.has_recipe:
        return OLD
    if format_ is None or (check.original_format or 0) > _CURRENT:
        return UNKNOWN
    return CONVERTED if (check.original_format or format_) < format_ else ""
