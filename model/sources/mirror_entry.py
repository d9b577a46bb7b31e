"""Read what a mirror has of one spec beside its index: who signed it, and whether it is there.

Names of files as in `URLBuildcacheEntry` and `URLBuildcacheEntryV2` of
lib/spack/spack/url_buildcache.py.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal, NamedTuple

from spackscope.model.core.errors import (
    Cancelled,
    NotFound,
    SourceError,
    Unreadable,
    describe_unexpected,
)
from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.core.records import SourceStatus, Spec
from spackscope.model.core.tasks import run_parallel
from spackscope.model.readers.manifest import ARCHIVE, read_manifest
from spackscope.model.readers.openpgp import Signature, read_signature
from spackscope.model.sources.mirror import Mirror
from spackscope.model.sources.mirror_of import REGISTRY, layouts_of, mirror_of
from spackscope.model.sources.mirror_spec_files import MANIFEST, MAX_SPEC_FILE_SIZE, SPECS
from spackscope.model.sources.session import Session
from spackscope.model.storage.base import FetchedFile

Archive = Literal["present", "missing", "forbidden", "wrong size", "unknown"]

MAX_MIRRORS = 8
"""Mirrors that are asked for one spec."""

_IMPOLITE = re.compile(r"[^A-Za-z0-9_+.-]")
"""What Spack replaces in names of files (`polite_filename` of its util/filesystem.py)."""

_V2_ENDINGS = (".spec.json.sig", ".spec.json", ".spec.yaml")


class MirrorEntry(Frozen):
    """What a mirror has of a spec.

    `document` is the spec manifest (layout v3) or the spec file (v2) as the user is shown it, and
    `signature` that of it: None if it is not signed. `problem` says why the document, and so the
    signature, is unknown. `archive_file` is where the archive is to be, and `archive_problem` why
    it is not in the state `present`.
    """

    source: str
    layout: str
    document: str = ""
    signature: Signature | None = None
    problem: str = ""
    archive: Archive = "unknown"
    archive_file: str = ""
    archive_problem: str = ""

    @property
    def is_signed(self) -> bool | None:
        """Whether the document has a signature; None if that is unknown."""
        return None if self.problem else self.signature is not None


OnRead = Callable[[Mirror, SourceStatus, MirrorEntry], object]
"""Called with an open mirror, its source, and what it has of a spec."""


def read_entries(
    spec: Spec,
    states: Sequence[SourceStatus],
    session: Session,
    sources: Sequence[str] = (),
    *,
    checks_archive: bool = True,
    on_read: OnRead = lambda mirror, state, entry: None,
) -> list[MirrorEntry]:
    """Ask the mirrors that list a spec, several at once; one entry for each.

    `states` are those of the catalog, and `sources` what the user gave, which may contain
    passwords. A mirror that did not answer when it was read is not asked again, and whether an
    archive is there is not asked unless `checks_archive`. `on_read` is called before that, from
    several threads. Raises Cancelled.

        for entry in read_entries(spec, catalog.sources, session):
            print(entry.is_signed, entry.archive)
    """
    if not spec.cached:
        return []

    def read(state: SourceStatus) -> MirrorEntry | None:
        mirror = mirror_of(spec, state, session, sources)
        if mirror is None:
            return None
        entry, archive = _read_entry(mirror, layouts_of(mirror, state), spec)
        on_read(mirror, state, entry)
        return _with_archive(mirror, entry, archive) if checks_archive else entry

    listing = [state for state in states if state.name in spec.sources and not state.failure]
    tasks = [partial(_read_unless_known, state, read) for state in listing[:MAX_MIRRORS]]
    entries = run_parallel(tasks, session.should_stop) if tasks else []
    return [entry for entry in entries if entry is not None]


def _read_unless_known(
    state: SourceStatus, read: Callable[[SourceStatus], MirrorEntry | None]
) -> MirrorEntry | None:
    """Return what is read of a source, or why nothing can be. Raises Cancelled."""
    if state.layout == REGISTRY:
        return MirrorEntry(state.name, REGISTRY)
    unknown = MirrorEntry(state.name, state.layout)
    if state.remark:
        return replace(unknown, problem=state.remark)
    try:
        return read(state)
    except SourceError as error:
        return replace(unknown, problem=str(error))
    except Cancelled:
        raise
    except Exception as error:
        return replace(unknown, problem=describe_unexpected(error))


class _ArchiveName(NamedTuple):
    """The name of an archive in its mirror, "" if unknown, and its size if that is recorded."""

    name: str = ""
    size: int | None = None


_Read = tuple[MirrorEntry, _ArchiveName]


def _read_entry(mirror: Mirror, layouts: Sequence[str], spec: Spec) -> _Read:
    """Read what a mirror has of a spec in the first of some layouts that has it.

    Raises SourceError and Cancelled.
    """
    missing: NotFound | None = None
    for layout in layouts:
        try:
            return _read_v3(mirror, spec) if layout == "v3" else _read_v2(mirror, spec)
        except NotFound as error:
            missing = missing or error
    if missing is not None and missing.is_forbidden:
        raise missing
    what = "spec manifest" if "v3" in layouts else "spec file"
    problem = f"listed, but the mirror has no {what} of it"
    entry = MirrorEntry(
        mirror.source, "", problem=problem, archive="missing", archive_problem=problem
    )
    return entry, _ArchiveName()


def _read_v3(mirror: Mirror, spec: Spec) -> _Read:
    package, version = map(_polite, (spec.package, spec.version))
    name = f"{SPECS}/{package}/{package}-{version}-{spec.hash}{MANIFEST}"
    # A manifest may be signed again with another key, so a cached copy may be stale.
    file = mirror.fetch_manifest(name)
    data = mirror.read(file)
    entry = MirrorEntry(mirror.source, "v3", file.origin)
    try:
        entry = replace(entry, signature=read_signature(data))
    except Unreadable as error:
        entry = replace(entry, problem=str(error))
    archive: Archive = "unknown"
    try:
        manifest = read_manifest(data)
        # An entry that cannot be read may be that of the archive.
        archive = "unknown" if manifest.remarks else "missing"
        blob = manifest.blob(ARCHIVE)
    except Unreadable as error:
        if entry.signature is None:
            # What stands there may be no manifest, and is not an unsigned one then.
            entry = replace(entry, problem=entry.problem or str(error))
        return replace(entry, archive=archive, archive_problem=str(error)), _ArchiveName()
    return entry, _ArchiveName(blob.name, blob.size)


def _read_v2(mirror: Mirror, spec: Spec) -> _Read:
    compiler, _, compiler_version = spec.compiler.partition("/")[0].partition("@")
    compiler_version = compiler_version.removeprefix("=")
    if not compiler_version:
        raise SourceError("its name in the mirror is unknown: it depends on the compiler")
    names = (spec.platform, spec.os, spec.target, compiler, compiler_version)
    platform, os, target, compiler, compiler_version = map(_polite, names)
    package = f"{_polite(spec.package)}-{_polite(spec.version)}"
    architecture = f"{platform}-{os}-{target}"
    name = f"{architecture}-{compiler}-{compiler_version}-{package}-{spec.hash}"
    folder = f"{mirror.build_cache}{architecture}/{compiler}-{compiler_version}/{package}"
    file = _fetch_first(mirror, [f"{mirror.build_cache}{name}{end}" for end in _V2_ENDINGS])
    entry = MirrorEntry(mirror.source, "v2", file.origin)
    try:
        if file.origin.endswith(".yaml"):
            raise Unreadable("before Spack 0.18 the signature is inside the archive")
        entry = replace(entry, signature=read_signature(mirror.read(file, MAX_SPEC_FILE_SIZE)))
        if entry.signature is None and file.origin.endswith(".sig"):
            raise Unreadable("its signature is missing")
    except Unreadable as error:
        entry = replace(entry, problem=str(error))
    return entry, _ArchiveName(f"{folder}/{name}.spack")


def _fetch_first(mirror: Mirror, names: Sequence[str]) -> FetchedFile:
    """Fetch the first of some files that there is. Raises NotFound, SourceError and Cancelled."""
    for name in names[:-1]:
        with contextlib.suppress(NotFound):
            return mirror.fetch_document(name, MAX_SPEC_FILE_SIZE)
    return mirror.fetch_document(names[-1], MAX_SPEC_FILE_SIZE)


def _with_archive(mirror: Mirror, entry: MirrorEntry, archive: _ArchiveName) -> MirrorEntry:
    """Return an entry with the answer to whether its archive is there. Raises Cancelled."""
    name, size = archive
    if not name:
        return entry
    entry = replace(entry, archive_file=mirror.origin_of(name))
    try:
        there = mirror.storage.size_of(name)
    except NotFound as error:
        state: Archive = "forbidden" if error.is_forbidden else "missing"
        return replace(entry, archive=state, archive_problem=str(error))
    except SourceError as error:
        return replace(entry, archive_problem=str(error))
    if size is not None and there is not None and size != there:
        problem = f"it has {there:,} bytes, and the mirror records {size:,}"
        return replace(entry, archive="wrong size", archive_problem=problem)
    return replace(entry, archive="present")


def _polite(name: str) -> str:
    """Return a part of the name of a file as Spack writes it. Raises SourceError for `..`."""
    polite = _IMPOLITE.sub("_", name)
    if not polite.strip("."):
        raise SourceError("its name in the mirror is unknown: a part of it is empty")
    return polite
