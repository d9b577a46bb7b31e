"""Read what a mirror has of one spec beside its index: its signature, its archive, its size."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Literal, NamedTuple

from spackscope.model.core.errors import (
    Cancelled,
    NotFound,
    SourceError,
    Unreadable,
    WrongContent,
    describe_unexpected,
)
from spackscope.model.core.files import read_file
from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.core.records import SourceStatus, Spec
from spackscope.model.core.redaction import shown_url
from spackscope.model.core.tasks import run_parallel
from spackscope.model.readers.json import parse
from spackscope.model.readers.manifest import ARCHIVE, Blob, read_manifest
from spackscope.model.readers.openpgp import (
    MAX_KEY_SIZE,
    PublicKey,
    Signature,
    read_keyring,
    read_public_keys,
    read_signature,
)
from spackscope.model.readers.unpack import decode
from spackscope.model.sources.mirror import MANIFEST, MAX_SPEC_FILE_SIZE, SPECS, Mirror, mirror_at
from spackscope.model.sources.session import Session
from spackscope.model.sources.source_name import (
    PREFIX,
    UrlTarget,
    absolute_path,
    parse_target,
    unique_names,
)
from spackscope.model.sources.spack_config import find_spack_root
from spackscope.model.storage.base import FetchedFile, LocalFolder, Storage, is_remote, scheme_of
from spackscope.model.storage.urls import local_path

REGISTRY = "OCI"
"""The layout of a registry, which has neither manifests nor signatures of Spack's."""

_V3 = re.compile(r"(?:(?P<top>.*)/)?(?:blobs/sha256|v3/manifests)/")
_V2 = re.compile(r"(?P<top>(?:.*/)?build_cache)/")


def mirror_of(
    spec: Spec, state: SourceStatus, session: Session, sources: Sequence[str] = ()
) -> Mirror | None:
    """Open the mirror from which a source lists a spec; None if that is no mirror of files.

    A source that is several mirrors, such as the public cache, has that of the document of the
    spec. `sources` are what the user gave, which may contain the password of the mirror. Raises
    SourceError.
    """
    if state.layout == REGISTRY:
        return None
    url, options, view = _given(state.name, session, sources)
    target = parse_target(url) if state.kind == "mirror" else None
    if state.name == spec.source and not (is_remote(url) and target is not None):
        # A directory may contain several mirrors. Only what the user gave has the password.
        target = _target_of(spec.origin) or target
    if target is None or target.name:
        return None
    storage = _open(target.top, session, options)
    return mirror_at(state.name, storage, replace(target, view=view or target.view), session)


def layouts_of(mirror: Mirror, state: SourceStatus) -> Sequence[str]:
    """Return the layouts in which a mirror may list specs, v3 first, as Spack looks for them."""
    if mirror.layout:
        return (mirror.layout,)
    layouts = ("v3", "v2")
    return [layout for layout in layouts if layout in state.layout] or layouts


def _given(
    name: str, session: Session, sources: Sequence[str]
) -> tuple[str, Mapping[str, object], str]:
    """Return the URL or path of a source, the options of its connection, and its view."""
    if name.startswith(PREFIX):
        from spackscope.model.sources.spack_config import find_mirror

        mirror, _ = find_mirror(name, session.spack)
        return mirror.url, mirror.options, mirror.view
    by_name = dict(zip(unique_names(map(shown_url, sources)), sources, strict=True))
    return by_name.get(name, name), {}, ""


def _target_of(origin: str) -> UrlTarget | None:
    """Return the mirror that a document is from, by the folders in its name."""
    if match := _V3.match(origin):
        return UrlTarget(match["top"] or "", layout="v3")
    if match := _V2.match(origin):
        return UrlTarget(match["top"], build_cache="", layout="v2")
    return None


def _open(top: str, session: Session, options: Mapping[str, object]) -> Storage:
    if is_remote(top):
        return session.open(top, options)
    path = local_path(top) if scheme_of(top) == "file" else top
    return LocalFolder(absolute_path(path or "."), path)


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


MAX_KEYS = 64
"""Keys of a mirror that are read; few have more than two."""

_KEYS_V3 = "v3/manifests/key"
_KEYS_V2 = "_pgp"
_MAX_KEYRING = 2**26
_FINGERPRINT = re.compile(r"[0-9A-Fa-f]{16,64}")
_KEYRINGS = ("pubring.kbx", "pubring.gpg")


class PublishedKey(Frozen):
    """A public key that a mirror publishes; `path` is its file, "" if not on this machine."""

    key: PublicKey
    path: str = ""


class PublishedKeys(Frozen):
    """The public keys that a mirror publishes, and why they cannot all be read."""

    keys: tuple[PublishedKey, ...] = ()
    problem: str = ""

    def of(self, signature: Signature) -> PublishedKey | None:
        """Return the key that a signature names, itself or by a subkey."""
        return next((each for each in self.keys if each.key.made(signature)), None)


def read_published_keys(mirror: Mirror, layouts: Iterable[str]) -> PublishedKeys:
    """Read the keys that a mirror publishes; none is no problem. Raises Cancelled."""
    keys: list[PublishedKey] = []
    problem = ""
    for layout in layouts:
        read = _read_keys_v3 if layout == "v3" else _read_keys_v2
        try:
            keys += read(mirror)
        except NotFound:
            continue
        except (SourceError, Unreadable) as error:
            problem = problem or str(error)
    return PublishedKeys(tuple(keys), problem)


def trusted_keys(environ: Mapping[str, str]) -> tuple[PublicKey, ...]:
    """Return the keys in the keyring of the user's Spack, without which Spack trusts none.

    It is in the directory of `GNUPGHOME` of lib/spack/spack/util/gpg.py. What cannot be read has
    no keys.
    """
    home = environ.get("SPACK_GNUPGHOME", "")
    if not home:
        root = find_spack_root(environ)
        if not root:
            return ()
        home = os.path.join(root, "opt", "spack", "gpg")
    keys: list[PublicKey] = []
    for name in _KEYRINGS:
        try:
            keys += read_keyring(read_file(os.path.join(home, name), _MAX_KEYRING))
        except (OSError, Unreadable):
            continue
    return tuple(keys)


def _read_keys_v3(mirror: Mirror) -> list[PublishedKey]:
    index = _fetch_blob(mirror, f"{_KEYS_V3}/keys.manifest.json")
    return _read_all(
        mirror,
        [
            partial(_fetch_blob, mirror, f"{_KEYS_V3}/{fingerprint}.key.manifest.json")
            for fingerprint in _fingerprints(mirror, index)
        ],
    )


def _read_keys_v2(mirror: Mirror) -> list[PublishedKey]:
    folder = f"{mirror.build_cache}{_KEYS_V2}"
    index = mirror.storage.fetch(f"{folder}/index.json", max_size=MAX_KEY_SIZE)
    return _read_all(
        mirror,
        [
            partial(mirror.storage.fetch, f"{folder}/{fingerprint}.pub", max_size=MAX_KEY_SIZE)
            for fingerprint in _fingerprints(mirror, index)
        ],
    )


def _fetch_blob(mirror: Mirror, name: str) -> FetchedFile:
    """Fetch the only blob of a manifest. Raises SourceError, Unreadable and Cancelled."""
    manifest = mirror.fetch_manifest(name)
    blobs: Sequence[Blob] = read_manifest(mirror.read(manifest)).blobs
    if not blobs:
        raise Unreadable(f"{manifest.origin} names no file")
    return mirror.storage.fetch(
        blobs[0].name, sha256=blobs[0].checksum, immutable=True, max_size=MAX_KEY_SIZE
    )


def _fingerprints(mirror: Mirror, index: FetchedFile) -> list[str]:
    """Return the fingerprints that an index of keys names."""
    try:
        document, _ = parse(decode(mirror.read(index, MAX_KEY_SIZE)))
    except Unreadable as error:
        raise Unreadable(f"{index.origin} cannot be read: {error}") from None
    keys = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(keys, dict):
        raise Unreadable(f"{index.origin} is not an index of keys")
    return [name for name in keys if _FINGERPRINT.fullmatch(name)][:MAX_KEYS]


def _read_all(mirror: Mirror, tasks: Sequence[partial[FetchedFile]]) -> list[PublishedKey]:
    """Fetch and read keys, several at once; one that is gone or cannot be read is left out.

    Raises other SourceErrors and Cancelled.
    """

    def read(fetch: partial[FetchedFile]) -> list[PublishedKey]:
        try:
            file = fetch()
            path = file.path if mirror.is_local else ""
            keys = read_public_keys(mirror.read(file, MAX_KEY_SIZE))
        except (NotFound, WrongContent, Unreadable):
            return []
        return [PublishedKey(key, path) for key in keys]

    should_stop = mirror.session.should_stop
    found = run_parallel([partial(read, task) for task in tasks], should_stop) if tasks else []
    return [key for keys in found for key in keys]


MAX_SIZES = 1000
"""Sizes that are fetched at once; a closure seldom has half as many specs."""

_PATH_PART = re.compile(r"[\w.+-]+")


def size_source(spec: Spec, states: Iterable[SourceStatus]) -> SourceStatus | None:
    """Return the remote source that may have the size of a spec's archive, or None."""
    if spec.size is not None or not spec.cached:
        return None
    for state in states:
        was_fetched = state.checked is not None and not state.failure
        has_manifests = "v3" in state.layout or state.kind == "public cache"
        if was_fetched and has_manifests and state.name in spec.sources:
            return state
    return None


def archive_sizes(
    specs: Iterable[Spec],
    states: Sequence[SourceStatus],
    session: Session,
    sources: Sequence[str] = (),
    *,
    is_offline: bool = False,
) -> dict[str, float]:
    """Return by hash the sizes that can be found out of the first MAX_SIZES specs without one.

    Several are fetched at once, as `archive_size` does, but none from a server that did not
    answer when its source was read. Raises Cancelled.
    """
    without_size = [
        (spec, source) for spec in specs if (source := size_source(spec, states)) is not None
    ][:MAX_SIZES]
    tasks = [
        partial(
            archive_size,
            spec,
            states,
            session,
            sources,
            is_offline=is_offline or bool(source.remark),
        )
        for spec, source in without_size
    ]
    if not tasks:
        return {}
    from spackscope.model.core.tasks import run_parallel

    sizes = run_parallel(tasks, session.should_stop)
    return {
        spec.hash: size
        for (spec, _), size in zip(without_size, sizes, strict=True)
        if size is not None
    }


def archive_size(
    spec: Spec,
    states: Iterable[SourceStatus],
    session: Session,
    sources: Sequence[str] = (),
    *,
    is_offline: bool = False,
) -> float | None:
    """Return the size of a spec's archive in bytes, or None where it cannot be found out.

    Where the spec has none, the manifest of the spec is fetched from its mirror of layout v3, and
    kept: it does not change. `states` are those of the catalog, `sources` what the user
    gave, which may contain the password of the mirror. If it `is_offline`, only manifests that
    were fetched before are read. Errors are not reported. Raises Cancelled.

        archive_size(spec, catalog.sources, session)
    """
    source = size_source(spec, states)
    if source is None:
        return spec.size
    if not (_PATH_PART.fullmatch(spec.package) and _PATH_PART.fullmatch(spec.version)):
        return None
    # Most specs have a size or no remote source, and need nothing that fetches.
    from spackscope.model.core.files import read_file
    from spackscope.model.readers.manifest import MAX_MANIFEST_SIZE, archive_size_in
    from spackscope.model.sources.mirror import MANIFEST, SPECS

    name = f"{SPECS}/{spec.package}/{spec.package}-{spec.version}-{spec.hash}{MANIFEST}"
    try:
        mirror = mirror_of(spec, source, session, sources)
        if mirror is None or (is_offline and not mirror.storage.is_cached(name)):
            return None
        path = mirror.fetch_manifest(name, immutable=True).path
        entry = archive_size_in(read_file(path, MAX_MANIFEST_SIZE), origin=name)
    except Cancelled:
        raise
    except Exception:
        return None
    return None if entry is None else float(entry[1])
