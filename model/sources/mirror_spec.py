"""Read the signature, the archive and the size of one spec from a mirror, beside its index.

Names of files as in `URLBuildcacheEntry` and `URLBuildcacheEntryV2` of
lib/spack/spack/url_buildcache.py. Signatures are read, not verified; `gpg` verifies them when
Spack installs.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from spackscope.model.core.errors import (
    Cancelled,
    NotFound,
    SourceError,
    Unreadable,
    describe_error,
)
from spackscope.model.core.frozen import Frozen, field, replace
from spackscope.model.core.records import SourceStatus, Spec
from spackscope.model.core.redaction import shown_url
from spackscope.model.core.tasks import run_parallel
from spackscope.model.readers.formats import ARCHIVE, read_manifest
from spackscope.model.readers.unpack import Signature, read_signature
from spackscope.model.sources.mirror import (
    MANIFEST,
    MAX_SPEC_FILE_SIZE,
    SPECS,
    FileState,
    Mirror,
    mirror_at,
)
from spackscope.model.sources.session import Session
from spackscope.model.sources.source_name import (
    BUILD_CACHE,
    PREFIX,
    UrlTarget,
    parse_target,
    path_or_url,
    unique_names,
)
from spackscope.model.sources.spack_config import (
    ConfiguredMirror,
    SpackConfig,
    find_mirror,
    find_spack_root,
)
from spackscope.model.storage.base import FetchedFile, Storage, Wanted, is_remote

REGISTRY = "OCI"
"""The layout of a registry, which has neither manifests nor signatures of Spack's."""

MAX_MIRRORS = 8
"""Mirrors that are asked for one spec."""

MAX_SIZES = 1000
"""Sizes that are fetched at once; a closure seldom has half as many specs."""

_IMPOLITE = re.compile(r"[^A-Za-z0-9_+.-]")
"""Characters that Spack replaces in file names (`polite_filename` of its util/filesystem.py)."""

_IN_MIRROR = re.compile(r"(?:(.*)/)?(blobs/sha256|v3/manifests|build_cache)/")
"""The top of a mirror, and the folder of a document in it."""

_V2_CHECKSUM = re.compile(rb'"binary_cache_checksum":\s*\{[^{}]*"hash":\s*"([0-9a-f]{64})"')
_UID = re.compile(rb"^uid:(?:[^:\n]*:){8}([^:\n]*):", re.MULTILINE)
"""The name of a key as GnuPG prints it (doc/DETAILS), where `\\x3a` stands for a colon."""

_MAX_TAG = 128

_GPG_TIMEOUT = 2
"""Seconds after which GnuPG is ended."""

_MAX_OWNER = 500
"""Characters that are kept of the name of a key."""


class Signer(Frozen):
    """A signature, and the owner of its key.

    `owner` is the name that the keyring of the user's Spack has for the key, or "".
    """

    signature: Signature
    owner: str = ""


class MirrorEntry(Frozen):
    """The files of a spec in a mirror.

    `document` is the shown name of the spec manifest (layout v3) or the spec file (v2), and
    `signer` its signature, if it has one. `problem` says why the document, and so the signature,
    is unknown. `archive_file` is the expected place of the archive, and `archive_problem` why it
    is not in the state `present`. `is_checked` is False if the user's Spack installs from this
    mirror without a signature. The `checksum` of the archive is taken from the document, if it has
    one, and `archive_name` is its name in the `storage` of the mirror.
    """

    source: str
    layout: str
    document: str = ""
    signer: Signer | None = None
    problem: str = ""
    archive: FileState = "unknown"
    archive_file: str = ""
    archive_problem: str = ""
    is_checked: bool = True
    checksum: str = ""
    archive_name: str = ""
    storage: Storage | None = field(default=None, repr=False)

    @property
    def is_signed(self) -> bool | None:
        """Whether the document has a signature; None if that is unknown."""
        return None if self.problem else self.signer is not None

    def fetch_archive(self, max_size: int, *, only_start: bool = False) -> FetchedFile:
        """Fetch the archive, and compare it with the checksum.

        With `only_start` not all of it is fetched: see `Wanted`. Raises SourceError, Cancelled.
        """
        if self.storage is None or not self.archive_name:
            raise SourceError(self.archive_problem or self.problem)
        wanted = Wanted(self.archive_name, self.checksum, max_size=max_size, only_start=only_start)
        file = self.storage.fetch(wanted)
        if file.remark:
            raise SourceError(file.remark)
        return file


class Mirrors:
    """The mirrors of a catalog, and requests for the files of a spec in them.

    `states` are the sources of the catalog, and `sources` their names as the user gave them, which
    may contain passwords. Several threads may call the methods.

        for entry in Mirrors(catalog.sources, session, sources).entries(spec):
            print(entry.is_signed, entry.archive)
    """

    def __init__(
        self,
        states: Sequence[SourceStatus],
        session: Session,
        sources: Sequence[str] = (),
    ) -> None:
        self._states, self._session = states, session
        self._given = dict(zip(unique_names(map(shown_url, sources)), sources, strict=True))
        self._owners: dict[str, str] = {}
        self._lock = threading.Lock()

    def open(self, spec: Spec, state: SourceStatus) -> Mirror | None:
        """Open the mirror from which a source lists a spec; None for any other source.

        If a source has several mirrors, such as the public cache, the mirror is found by the
        document of the spec. Raises SourceError.
        """
        url, options, view = self._given.get(state.name, state.name), {}, ""
        if state.name.startswith(PREFIX):
            configured = find_mirror(state.name, self._session.spack)
            url, options, view = configured.url, dict(configured.options), configured.view
        if state.layout == REGISTRY:
            registry = UrlTarget(url, layout="v2")
            return mirror_at(state.name, registry, self._session, options)
        target = parse_target(url) if state.kind == "mirror" else None
        # A directory may contain several mirrors. Only the URL that the user gave has a password.
        is_told_by_origin = target is None or not is_remote(url)
        match = _IN_MIRROR.match(spec.origin) if state.name == spec.source else None
        if match and is_told_by_origin:
            layout = "v2" if match[2] == "build_cache" else "v3"
            target = UrlTarget(match[1] or "", layout=layout)
        if target is None or target.name:
            return None
        target = replace(target, top=path_or_url(target.top), view=view or target.view)
        return mirror_at(state.name, target, self._session, options)

    def entries(self, spec: Spec, *, to_fetch: bool = False) -> list[MirrorEntry]:
        """Return the entry of a spec in each mirror that lists it, asking several at once.

        With `to_fetch` only the name and the checksum of the archive are asked for: a copy of a
        manifest is current, and the state of the archive unknown. A mirror that did not answer
        when it was read is not asked again. Raises Cancelled.
        """

        def read(state: SourceStatus) -> MirrorEntry | None:
            unknown = MirrorEntry(state.name, state.layout)
            is_registry = state.layout == REGISTRY
            if state.remark and not is_registry:
                return replace(unknown, problem=state.remark)
            try:
                if (mirror := self.open(spec, state)) is None:
                    return None
                if is_registry:
                    return replace(unknown, archive_name=_tag(spec), storage=mirror.storage)
                return self._entry(mirror, state, spec, to_fetch)
            except Exception as error:
                return replace(unknown, problem=describe_error(error))

        listing = [each for each in self._states if each.name in spec.sources and not each.failure]
        tasks = [partial(read, state) for state in listing[:MAX_MIRRORS] if spec.in_cache]
        entries = run_parallel(tasks)
        return [entry for entry in entries if entry is not None]

    def _entry(
        self, mirror: Mirror, state: SourceStatus, spec: Spec, to_fetch: bool
    ) -> MirrorEntry:
        """Read the entry of a spec in a mirror, from the first layout that has the spec.

        Raises SourceError and Cancelled.
        """
        layouts = mirror.target.layouts
        layouts = tuple(each for each in layouts if each in state.layout) or layouts
        missing: NotFound | None = None
        for layout in layouts:
            try:
                if layout == "v3":
                    # A manifest may be signed again with another key, so a copy may be stale.
                    file, data = mirror.fetch_manifest(_manifest_name(spec), immutable=to_fetch)
                else:
                    file, archive_name = _fetch_spec_file(mirror, spec)
                    data = mirror.read(file, MAX_SPEC_FILE_SIZE)
                break
            except NotFound as error:
                missing = missing or error
        else:
            if missing is not None and missing.is_forbidden:
                raise missing
            what = "spec manifest" if "v3" in layouts else "spec file"
            why = f"listed, but the mirror has no {what} for it"
            return MirrorEntry(
                mirror.source, "", problem=why, archive="missing", archive_problem=why
            )
        signer: Signer | None = None
        archive: FileState = "unknown"
        problem, checksum, size = "", "", None
        try:
            if file.origin.endswith(".yaml"):
                raise Unreadable("before Spack 0.18 the signature is inside the archive")
            if (signature := read_signature(data)) is not None:
                signer = self._signer(signature)
            elif file.origin.endswith(".sig"):
                raise Unreadable("its signature is missing")
        except Unreadable as error:
            problem = str(error)
        entry = MirrorEntry(mirror.source, layout, file.origin, signer, problem)
        if layout == "v3":
            try:
                manifest = read_manifest(data)
                # An entry that cannot be read may be that of the archive.
                archive = "unknown" if manifest.remarks else "missing"
                blob = manifest.blob(ARCHIVE)
                archive_name, checksum, size = blob.name, blob.checksum, blob.size
            except Unreadable as error:
                # A file that is not a manifest is not an unsigned manifest either.
                problem = problem or ("" if signer else str(error))
                return replace(entry, problem=problem, archive=archive, archive_problem=str(error))
        else:
            match = _V2_CHECKSUM.search(data)
            checksum = match[1].decode() if match else ""
        configured = _configured(mirror, self._session.spack) if entry.is_signed is False else None
        why = ""
        if not to_fetch:
            archive, why = mirror.state_of(archive_name, size)
        return replace(
            entry,
            archive=archive,
            archive_file=mirror.storage.origin_of(archive_name),
            archive_problem=why,
            is_checked=configured is None or configured.signed,
            checksum=checksum,
            archive_name=archive_name,
            storage=mirror.storage,
        )

    def sizes(self, specs: Iterable[Spec], *, is_offline: bool = False) -> dict[str, float]:
        """Return the sizes of archives in bytes, by hash, for the first MAX_SIZES without one.

        The manifest of a spec is fetched from its mirror of layout v3, several at once, and kept:
        it does not change. With `is_offline`, or if the server of a source did not answer when the
        source was read, only manifests that were fetched before are read. Specs whose size cannot
        be found out are left out, without an error. Raises Cancelled.
        """

        def read(spec: Spec, state: SourceStatus) -> int | None:
            try:
                name, mirror = _manifest_name(spec), self.open(spec, state)
                if mirror is None:
                    return None
                may_ask = not (is_offline or state.remark)
                _, data = mirror.fetch_manifest(name, immutable=True, may_download=may_ask)
                return read_manifest(data).blob(ARCHIVE).size
            except Cancelled:
                raise
            except Exception:
                return None

        tasks: dict[str, Callable[[], int | None]] = {}
        for spec in specs:
            with_sizes = (state for state in self._states if state.has_sizes)
            state = next((each for each in with_sizes if each.name in spec.sources), None)
            if state is not None and spec.size is None and spec.cached and len(tasks) < MAX_SIZES:
                tasks[spec.hash] = partial(read, spec, state)
        sizes = run_parallel([*tasks.values()])
        found = zip(tasks, sizes, strict=True)
        return {hash_: float(size) for hash_, size in found if size is not None}

    def _signer(self, signature: Signature) -> Signer:
        """Return a signature with the owner of its key, who is looked up once."""
        key = signature.fingerprint or signature.key_id
        with self._lock:
            if key not in self._owners:
                self._owners[key] = _owner_of(key, self._session.environ)
            return Signer(signature, self._owners[key])


def _manifest_name(spec: Spec) -> str:
    """Return the name of the manifest of a spec. Raises SourceError for `..`."""
    package = _polite(spec.package)
    return f"{SPECS}/{package}/{package}-{_polite(spec.version)}-{spec.hash}{MANIFEST}"


def _tag(spec: Spec) -> str:
    """Return the tag of the image of a spec: `_oci_default_tag` of Spack's binary_distribution.py.

    A long tag is cut as by `ensure_valid_tag` of lib/spack/spack/oci/image.py.
    """
    tag = re.sub(r"[^\w.-]", "_", f"{spec.package}-{spec.version}-{spec.hash}.spack")
    return tag if len(tag) <= _MAX_TAG else tag[: _MAX_TAG // 2] + tag[-_MAX_TAG // 2 :]


def _fetch_spec_file(mirror: Mirror, spec: Spec) -> tuple[FetchedFile, str]:
    """Fetch the spec file of layout v2, the signed form first; return the name of the archive too.

    Raises NotFound, SourceError and Cancelled.
    """
    compiler, _, version = spec.compiler.partition("/")[0].partition("@")
    if not (version := version.removeprefix("=")):
        raise SourceError("its name in the mirror is unknown: it depends on the compiler")
    architecture = "-".join(map(_polite, (spec.platform, spec.os, spec.target)))
    compiler = f"{_polite(compiler)}-{_polite(version)}"
    package = f"{_polite(spec.package)}-{_polite(spec.version)}"
    name = f"{architecture}-{compiler}-{package}-{spec.hash}"
    archive = f"{BUILD_CACHE}{architecture}/{compiler}/{package}/{name}.spack"
    for ending in (".spec.json.sig", ".spec.json"):
        try:
            return mirror.fetch_document(
                f"{BUILD_CACHE}{name}{ending}", MAX_SPEC_FILE_SIZE
            ), archive
        except NotFound:
            continue
    return mirror.fetch_document(f"{BUILD_CACHE}{name}.spec.yaml", MAX_SPEC_FILE_SIZE), archive


def _polite(name: str) -> str:
    """Return a part of the name of a file as Spack writes it. Raises SourceError for `..`."""
    polite = _IMPOLITE.sub("_", name)
    if not polite.strip("."):
        raise SourceError("its name in the mirror is unknown: a part of it is empty")
    return polite


def _owner_of(key: str, environ: Mapping[str, str]) -> str:
    """Return the name of a key in the keyring of the user's Spack, as GnuPG prints it, or "".

    The keyring is in the directory of `GNUPGHOME` of lib/spack/spack/util/gpg.py. If it does not
    exist, GnuPG is not started, which would make one.
    """
    home = environ.get("SPACK_GNUPGHOME", "")
    if not home and (root := find_spack_root(environ)):
        home = os.path.join(root, "opt", "spack", "gpg")
    gpg = shutil.which("gpg", path=environ.get("PATH"))
    keyrings = (os.path.join(home, f"pubring.{ending}") for ending in ("kbx", "gpg"))
    if not (key and home and gpg and any(map(os.path.isfile, keyrings))):
        return ""
    # With these options GnuPG writes nothing, and starts no other program.
    quiet = ("--batch", "--no-options", "--no-autostart", "--lock-never", "--trust-model=always")
    command = [gpg, *quiet, f"--homedir={home}", "--with-colons", "--list-keys", key]
    try:
        printed = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_GPG_TIMEOUT
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""
    name = match[1] if (match := _UID.search(printed)) else b""
    unescaped = re.sub(rb"\\x([0-9a-f]{2})", lambda byte: bytes.fromhex(byte[1].decode()), name)
    return unescaped.decode("utf-8", "replace")[:_MAX_OWNER]


def _configured(mirror: Mirror, spack: SpackConfig | None) -> ConfiguredMirror | None:
    """Return a mirror as the user's Spack is configured to use it; None if it is not."""
    mirrors = spack.mirrors if spack is not None else {}
    if mirror.source.startswith(PREFIX):
        return mirrors.get(mirror.source.removeprefix(PREFIX))
    top = mirror.storage.origin.rstrip("/")
    return next((m for m in mirrors.values() if shown_url(m.url).rstrip("/") == top), None)
