"""Read what a mirror has of one spec beside its index: who signed it, its archive and its size.

Names of files as in `URLBuildcacheEntry` and `URLBuildcacheEntryV2` of
lib/spack/spack/url_buildcache.py. Only what a signature says of itself is read; `gpg` verifies it
when Spack installs.
"""

from __future__ import annotations

import os
import re
import shlex
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from typing import Literal

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
from spackscope.model.readers.formats import ARCHIVE, read_manifest
from spackscope.model.readers.json import parse
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
from spackscope.model.sources.spack_config import ConfiguredMirror, find_mirror, find_spack_root
from spackscope.model.storage.base import FetchedFile, LocalFolder, Wanted, is_remote, scheme_of
from spackscope.model.storage.urls import local_path

REGISTRY = "OCI"
"""The layout of a registry, which has neither manifests nor signatures of Spack's."""

MAX_MIRRORS = 8
"""Mirrors that are asked for one spec."""

MAX_SIZES = 1000
"""Sizes that are fetched at once; a closure seldom has half as many specs."""

MAX_KEYS = 64
"""Keys of a mirror that are read; few have more than two."""

KEYS_COMMAND = "spack buildcache keys --install --trust"
"""The command that trusts the keys of all mirrors of a Spack, in all of 0.22 to 1.2."""

Archive = Literal["present", "missing", "forbidden", "wrong size", "unknown"]

_IMPOLITE = re.compile(r"[^A-Za-z0-9_+.-]")
"""What Spack replaces in names of files (`polite_filename` of its util/filesystem.py)."""

_V2_ENDINGS = (".spec.json.sig", ".spec.json", ".spec.yaml")
_IN_V3 = re.compile(r"(?:(?P<top>.*)/)?(?:blobs/sha256|v3/manifests)/")
_IN_V2 = re.compile(r"(?P<top>(?:.*/)?build_cache)/")
_MAX_KEYRING = 2**26
_FINGERPRINT = re.compile(r"[0-9A-Fa-f]{16,64}")
_KEYRINGS = ("pubring.kbx", "pubring.gpg")


class Signer(Frozen):
    """Who signed something: what the signature says, and the key if the mirror publishes it.

    `is_trusted` if the key is in the keyring of the user's Spack. `trust` is the line to type to
    trust it, or "" if that is done or needs a file that the mirror does not publish. `problem` is
    why that is unknown.
    """

    signature: Signature
    key: PublicKey | None = None
    is_trusted: bool = False
    trust: str = ""
    problem: str = ""


class MirrorEntry(Frozen):
    """What a mirror has of a spec.

    `document` is the spec manifest (layout v3) or the spec file (v2) as the user is shown it, and
    `signature` that of it: None if it is not signed. `problem` says why the document, and so the
    signature, is unknown. `archive_file` is where the archive is to be, and `archive_problem` why
    it is not in the state `present`. `signer` is None if nobody signed it or that is unknown.
    `is_checked` is False if the user's Spack installs from this mirror without a signature.
    """

    source: str
    layout: str
    document: str = ""
    signature: Signature | None = None
    problem: str = ""
    archive: Archive = "unknown"
    archive_file: str = ""
    archive_problem: str = ""
    signer: Signer | None = None
    is_checked: bool = True

    @property
    def is_signed(self) -> bool | None:
        """Whether the document has a signature; None if that is unknown."""
        return None if self.problem else self.signature is not None


def read_entries(
    spec: Spec,
    states: Sequence[SourceStatus],
    session: Session,
    sources: Sequence[str],
    known: KnownKeys,
    *,
    checks_archive: bool = True,
) -> list[MirrorEntry]:
    """Ask the mirrors that list a spec, several at once; one entry for each.

    `states` are those of the catalog, and `sources` what the user gave, which may contain
    passwords. A mirror that did not answer when it was read is not asked again, and whether an
    archive is there is not asked unless `checks_archive`. Raises Cancelled.

        for entry in read_entries(spec, catalog.sources, session, sources, KnownKeys(environ)):
            print(entry.is_signed, entry.archive)
    """

    def read(state: SourceStatus) -> MirrorEntry | None:
        unknown = MirrorEntry(state.name, state.layout)
        if state.layout == REGISTRY:
            return unknown
        if state.remark:
            return replace(unknown, problem=state.remark)
        try:
            mirror = mirror_of(spec, state, session, sources)
            if mirror is None:
                return None
            return _read_entry(mirror, layouts_of(mirror, state), spec, known, checks_archive)
        except SourceError as error:
            return replace(unknown, problem=str(error))
        except Cancelled:
            raise
        except Exception as error:
            return replace(unknown, problem=describe_unexpected(error))

    listing = [state for state in states if state.name in spec.sources and not state.failure]
    tasks = [partial(read, state) for state in listing[:MAX_MIRRORS] if spec.cached]
    entries = run_parallel(tasks, session.should_stop) if tasks else []
    return [entry for entry in entries if entry is not None]


def _read_entry(
    mirror: Mirror, layouts: Sequence[str], spec: Spec, known: KnownKeys, checks_archive: bool
) -> MirrorEntry:
    """Read what a mirror has of a spec in the first of some layouts that has it.

    Raises SourceError and Cancelled.
    """
    missing: NotFound | None = None
    for layout in layouts:
        try:
            read = _read_v3 if layout == "v3" else _read_v2
            entry, archive, size = read(mirror, spec)
        except NotFound as error:
            missing = missing or error
            continue
        if entry.signature is not None:
            entry = replace(entry, signer=known.signer(entry.signature, mirror, layouts))
        elif not entry.problem:
            configured = _configured(mirror)
            entry = replace(entry, is_checked=configured is None or configured.signed)
        return _with_archive(mirror, entry, archive, size) if checks_archive else entry
    if missing is not None and missing.is_forbidden:
        raise missing
    what = "spec manifest" if "v3" in layouts else "spec file"
    problem = f"listed, but the mirror has no {what} of it"
    return MirrorEntry(
        mirror.source, "", problem=problem, archive="missing", archive_problem=problem
    )


_Read = tuple[MirrorEntry, str, int | None]
"""An entry, the name of the archive, "" if unknown, and its size if that is recorded."""


def _read_v3(mirror: Mirror, spec: Spec) -> _Read:
    # A manifest may be signed again with another key, so a cached copy may be stale.
    file = mirror.fetch_manifest(_manifest_name(spec))
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
        return replace(entry, archive=archive, archive_problem=str(error)), "", None
    return entry, blob.name, blob.size


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
    return entry, f"{folder}/{name}.spack", None


def _fetch_first(mirror: Mirror, names: Sequence[str]) -> FetchedFile:
    """Fetch the first of some files that there is. Raises NotFound, SourceError and Cancelled."""
    *others, last = names
    for name in others:
        try:
            return mirror.fetch_document(name, MAX_SPEC_FILE_SIZE)
        except NotFound:
            continue
    return mirror.fetch_document(last, MAX_SPEC_FILE_SIZE)


def _with_archive(mirror: Mirror, entry: MirrorEntry, name: str, size: int | None) -> MirrorEntry:
    """Return an entry with the answer to whether its archive is there. Raises Cancelled."""
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


def _manifest_name(spec: Spec) -> str:
    """Return the name of the manifest of a spec. Raises SourceError for `..`."""
    package = _polite(spec.package)
    return f"{SPECS}/{package}/{package}-{_polite(spec.version)}-{spec.hash}{MANIFEST}"


def _polite(name: str) -> str:
    """Return a part of the name of a file as Spack writes it. Raises SourceError for `..`."""
    polite = _IMPOLITE.sub("_", name)
    if not polite.strip("."):
        raise SourceError("its name in the mirror is unknown: a part of it is empty")
    return polite


def mirror_of(
    spec: Spec, state: SourceStatus, session: Session, sources: Sequence[str]
) -> Mirror | None:
    """Open the mirror from which a source lists a spec; None if that is no mirror of files.

    A source that is several mirrors, such as the public cache, has that of the document of the
    spec. `sources` are what the user gave, which may contain the password of the mirror. Raises
    SourceError.
    """
    if state.layout == REGISTRY:
        return None
    options: Mapping[str, object] = {}
    view = ""
    if state.name.startswith(PREFIX):
        configured, _ = find_mirror(state.name, session.spack)
        url, options, view = configured.url, configured.options, configured.view
    else:
        by_name = dict(zip(unique_names(map(shown_url, sources)), sources, strict=True))
        url = by_name.get(state.name, state.name)
    target = parse_target(url) if state.kind == "mirror" else None
    if state.name == spec.source and not (is_remote(url) and target is not None):
        # A directory may contain several mirrors. Only what the user gave has the password.
        if match := _IN_V3.match(spec.origin):
            target = UrlTarget(match["top"] or "", layout="v3")
        elif match := _IN_V2.match(spec.origin):
            target = UrlTarget(match["top"], build_cache="", layout="v2")
    if target is None or target.name:
        return None
    target = replace(target, view=view or target.view)
    if is_remote(target.top):
        return mirror_at(state.name, session.open(target.top, options), target, session)
    path = local_path(target.top) if scheme_of(target.top) == "file" else target.top
    return mirror_at(state.name, LocalFolder(absolute_path(path or "."), path), target, session)


def layouts_of(mirror: Mirror, state: SourceStatus) -> Sequence[str]:
    """Return the layouts in which a mirror may list specs, v3 first, as Spack looks for them."""
    if mirror.layout:
        return (mirror.layout,)
    layouts = ("v3", "v2")
    return [layout for layout in layouts if layout in state.layout] or layouts


def archive_size(
    spec: Spec, states: Sequence[SourceStatus], session: Session, sources: Sequence[str] = ()
) -> float | None:
    """Return the size of a spec's archive in bytes, or None where it cannot be found out.

    Arguments as of `archive_sizes`. Raises Cancelled.

        archive_size(spec, catalog.sources, session)
    """
    return archive_sizes([spec], states, session, sources).get(spec.hash, spec.size)


def archive_sizes(
    specs: Iterable[Spec],
    states: Sequence[SourceStatus],
    session: Session,
    sources: Sequence[str] = (),
    *,
    is_offline: bool = False,
) -> dict[str, float]:
    """Return by hash the sizes that can be found out of the first MAX_SIZES specs without one.

    The manifest of a spec is fetched from its mirror of layout v3, several at once, and kept: it
    does not change. `states` are those of the catalog, `sources` what the user gave, which may
    contain the password of the mirror. If it `is_offline`, or the server of a source did not
    answer when it was read, only manifests that were fetched before are read. Errors are not
    reported. Raises Cancelled.
    """

    def read(spec: Spec, state: SourceStatus) -> int | None:
        try:
            name = _manifest_name(spec)
            mirror = mirror_of(spec, state, session, sources)
            may_ask = not (is_offline or state.remark)
            if mirror is None or not (may_ask or mirror.storage.is_cached(name)):
                return None
            file = mirror.fetch_manifest(name, immutable=True)
            return read_manifest(mirror.read(file)).blob(ARCHIVE).size
        except Cancelled:
            raise
        except Exception:
            return None

    tasks: dict[str, Callable[[], int | None]] = {}
    for spec in specs:
        # A remote source that was read, and has manifests.
        remote = (
            state
            for state in states
            if state.checked is not None and not state.failure and state.name in spec.sources
            if "v3" in state.layout or state.kind == "public cache"
        )
        state = next(remote, None)
        if state is not None and spec.size is None and spec.cached and len(tasks) < MAX_SIZES:
            tasks[spec.hash] = partial(read, spec, state)
    sizes = run_parallel([*tasks.values()], session.should_stop) if tasks else []
    found = zip(tasks, sizes, strict=True)
    return {hash_: float(size) for hash_, size in found if size is not None}


class KnownKeys:
    """The keys that mirrors publish, each asked once, and those that Spack trusts; thread-safe."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._published: dict[str, PublishedKeys] = {}
        self._lock = threading.Lock()

    @cached_property
    def trusted(self) -> Sequence[PublicKey]:
        """The keys in the keyring of the user's Spack, without which Spack trusts none.

        It is in the directory of `GNUPGHOME` of lib/spack/spack/util/gpg.py. What cannot be read
        has no keys.
        """
        home = self._environ.get("SPACK_GNUPGHOME", "")
        if not home and (root := find_spack_root(self._environ)):
            home = os.path.join(root, "opt", "spack", "gpg")
        keys: list[PublicKey] = []
        for name in _KEYRINGS if home else ():
            try:
                keys += read_keyring(read_file(os.path.join(home, name), _MAX_KEYRING))
            except (OSError, Unreadable):
                continue
        return keys

    def signer(self, signature: Signature, mirror: Mirror, layouts: Sequence[str]) -> Signer:
        """Return who made a signature of a mirror. Raises Cancelled."""
        for key in self.trusted:
            if key.made(signature):
                return Signer(signature, key, is_trusted=True)
        with self._lock:
            name = mirror.storage.origin
            if name not in self._published:
                self._published[name] = read_published_keys(mirror, layouts)
        keys, problem = self._published[name]
        for key, path in keys:
            if key.made(signature):
                return Signer(signature, key, trust=_trust(path, mirror))
        return Signer(signature, problem=problem)


PublishedKeys = tuple[list[tuple[PublicKey, str]], str]
"""Keys of a mirror, each with its file or "" if it is not on this machine, and what went wrong."""


def read_published_keys(mirror: Mirror, layouts: Iterable[str]) -> PublishedKeys:
    """Read the keys that a mirror publishes; none is no problem. Raises Cancelled.

    As `get_keys` of lib/spack/spack/binary_distribution.py: an index names the fingerprints, and
    each key is a file. `spack gpg publish` writes them.
    """
    keys: list[tuple[PublicKey, str]] = []
    problem = ""
    for layout in layouts:
        try:
            keys += _read_keys(mirror, layout)
        except NotFound:
            continue
        except (SourceError, Unreadable) as error:
            problem = problem or str(error)
    return keys, problem


def _read_keys(mirror: Mirror, layout: str) -> list[tuple[PublicKey, str]]:
    """Read the keys of a layout, several at once; one that cannot be read is left out.

    Raises NotFound without an index, other SourceErrors, Unreadable and Cancelled.
    """
    folder, index_name, ending = "v3/manifests/key", "keys.manifest.json", ".key.manifest.json"
    if layout != "v3":
        folder, index_name, ending = f"{mirror.build_cache}_pgp", "index.json", ".pub"

    def fetch(name: str) -> FetchedFile:
        if layout != "v3":
            return mirror.storage.fetch(Wanted(f"{folder}/{name}", max_size=MAX_KEY_SIZE))
        manifest = mirror.fetch_manifest(f"{folder}/{name}")
        blobs = read_manifest(mirror.read(manifest)).blobs
        if not blobs:
            raise Unreadable(f"{manifest.origin} names no file")
        return mirror.fetch_blob(blobs[0], MAX_KEY_SIZE)

    def read(fingerprint: str) -> list[tuple[PublicKey, str]]:
        try:
            file = fetch(f"{fingerprint}{ending}")
            keys = read_public_keys(mirror.read(file, MAX_KEY_SIZE))
        except (NotFound, WrongContent, Unreadable):
            return []
        return [(key, file.path if mirror.is_local else "") for key in keys]

    index = fetch(index_name)
    try:
        document, _ = parse(decode(mirror.read(index, MAX_KEY_SIZE)))
    except Unreadable as error:
        raise Unreadable(f"{index.origin} cannot be read: {error}") from None
    names = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(names, dict):
        raise Unreadable(f"{index.origin} is not an index of keys")
    fingerprints = [name for name in names if _FINGERPRINT.fullmatch(name)][:MAX_KEYS]
    tasks = [partial(read, fingerprint) for fingerprint in fingerprints]
    found = run_parallel(tasks, mirror.session.should_stop) if tasks else []
    return [key for keys in found for key in keys]


def _trust(key_file: str, mirror: Mirror) -> str:
    """Return the line to type to trust a key that a mirror publishes."""
    if key_file:
        return shlex.join(["spack", "gpg", "trust", key_file])
    if _configured(mirror) is not None:
        return KEYS_COMMAND
    # As a name for the mirror, the last part of its URL that has letters.
    url = _url_of(mirror)
    parts = [part for part in shown_url(url).partition("://")[2].split("/") if part.strip(".")]
    last = parts[-1] if parts else ""
    letters = "".join(c if c.isalnum() or c in "-_." else "-" for c in last if c.isascii())
    name = letters.strip("-.") or "mirror"
    return f"{shlex.join(['spack', 'mirror', 'add', name, url])} && {KEYS_COMMAND}"


def _configured(mirror: Mirror) -> ConfiguredMirror | None:
    """Return a mirror as the user's Spack is configured to use it; None if it is not."""
    spack = mirror.session.spack
    mirrors = spack.mirrors if spack is not None else {}
    if mirror.source.startswith(PREFIX):
        return mirrors.get(mirror.source.removeprefix(PREFIX))
    url = _url_of(mirror)
    return next((m for m in mirrors.values() if shown_url(m.url).rstrip("/") == url), None)


def _url_of(mirror: Mirror) -> str:
    """Return the URL of a mirror as Spack needs it, without the folder of layout v2."""
    url = mirror.storage.origin.rstrip("/")
    return url if mirror.build_cache else url.removesuffix("/build_cache")
