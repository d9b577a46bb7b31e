"""Find the indexes of a mirror, of layout v3 and of layout v2, and verify their checksums.

Layouts as in `URLBuildcacheEntry` of lib/spack/spack/url_buildcache.py.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Mapping
from typing import NamedTuple

from spackscope.model.core.errors import NotFound, SourceError, Unreadable, WrongContent
from spackscope.model.core.files import private_directory, read_file, write_atomically, xdg_dir
from spackscope.model.core.frozen import replace
from spackscope.model.core.records import Problem
from spackscope.model.readers.manifest import DATABASE, Blob, read_manifest
from spackscope.model.sources.document import DiscoveredSource, Documents, combine, join_remarks
from spackscope.model.sources.mirror import Mirror, MirrorIndex, problem_from
from spackscope.model.sources.mirror_spec_files import find_size_manifests
from spackscope.model.storage.base import FetchedFile
from spackscope.model.storage.local import LocalFolder

_INDEXES = "v3/manifests/index"
_MANIFEST = "index.manifest.json"
_MAX_HASH_SIZE = 1024
_SHA256 = re.compile(r"[0-9a-fA-F]{64}")
_NO_SHA256 = "not a sha256 in 64 hexadecimal digits"


def find_v3_index(mirror: Mirror) -> DiscoveredSource:
    """Find the index of layout v3, or those of its views where it has only these.

    Raises NotFound where there is none, and SourceError where the index does not have the
    checksum of its manifest and no older index is in the cache.
    """
    try:
        indexes = [_index_of_manifest(mirror)]
    except NotFound:
        views = [] if mirror.view else _views(mirror)
        if not views:
            raise
        indexes = [_index_of_manifest(replace(mirror, view=view)) for view in views]
    source = combine(indexes)
    if mirror.is_local:
        source = replace(
            source, documents=source.documents.followed_by(find_size_manifests(mirror))
        )
    return source


def index_manifest(mirror: Mirror) -> str:
    """Return the name of the manifest of the index of layout v3, or of that of the view."""
    return "/".join(part for part in (_INDEXES, mirror.view, _MANIFEST) if part)


def _views(mirror: Mirror) -> list[str]:
    try:
        names = list(mirror.storage.names(_INDEXES))
    except SourceError:
        return []
    ending = f"/{_MANIFEST}"
    return [
        name.removeprefix(f"{_INDEXES}/").removesuffix(ending)
        for name in names
        if name.endswith(ending)
    ]


def _index_of_manifest(mirror: Mirror) -> DiscoveredSource:
    """Find the index of a mirror or of its view. Raises NotFound where it has no manifest."""
    name = index_manifest(mirror)
    manifest, index = _fetch_index(mirror, name, *_fetch_manifest(mirror, name))
    return _mirror_source(mirror, "v3", index, manifest)


def _fetch_manifest(mirror: Mirror, name: str) -> tuple[FetchedFile, Blob]:
    manifest = mirror.fetch_manifest(name)
    try:
        return manifest, read_manifest(mirror.read(manifest)).blob(DATABASE)
    except Unreadable as error:
        raise WrongContent(f"{manifest.origin}: {error}") from None


def _fetch_index(
    mirror: Mirror, name: str, manifest: FetchedFile, blob: Blob
) -> tuple[FetchedFile, FetchedFile]:
    """Fetch the index of a manifest, or else an older one; return the manifest with it."""
    verified = _verified_index(mirror, name)
    try:
        return manifest, _fetch_blob(mirror, blob, verified)
    except SourceError as error:
        # The index may have been replaced between the two requests.
        newer_manifest, newer_blob = _fetch_manifest(mirror, name)
        try:
            if newer_blob == blob:
                raise error
            return newer_manifest, _fetch_blob(mirror, newer_blob, verified)
        except SourceError as failure:
            return manifest, _older_index(mirror, verified, failure)


def _fetch_blob(mirror: Mirror, blob: Blob, verified: _VerifiedIndexFile) -> FetchedFile:
    try:
        return _fetch_verified(mirror, blob.name, blob.checksum, verified)
    except NotFound as error:
        raise SourceError(f"{error}, but the manifest of the mirror names it") from None


def _fetch_verified(
    mirror: Mirror, name: str, sha256: str, verified: _VerifiedIndexFile
) -> FetchedFile:
    """Fetch an index with this checksum; of an unchanged local file it is not computed again."""
    if mirror.is_local:
        file = mirror.storage.fetch(name)
        if verified.is_current(sha256, file.path):
            return file
    file = mirror.storage.fetch(name, sha256=sha256, immutable=True)
    verified.write(sha256, file.path)
    return file


def _older_index(mirror: Mirror, verified: _VerifiedIndexFile, error: SourceError) -> FetchedFile:
    """Return the last verified index of a remote mirror, or raise `error` without a copy of it."""
    last = verified.read()
    if mirror.is_local or last is None:
        raise error
    blob = Blob(DATABASE, last.checksum)
    try:
        file = mirror.storage.fetch(blob.name, sha256=last.checksum, immutable=True)
    except SourceError:
        raise error from None
    remark = f"{error}; the previous index is used"
    return replace(file, checked=last.mtime_ns / 1e9, remark=remark)


def find_v2_index(mirror: Mirror) -> DiscoveredSource:
    """Find the index of layout v2, whose sha256 is in a file next to it.

    The two may be replaced one after the other, so where they do not match both are fetched once
    more. An index that still does not match is used with a problem, as Spack does. Raises
    NotFound, SourceError.
    """
    name = f"{mirror.build_cache}index.json"
    problems: tuple[Problem, ...] = ()
    hash_file, sha256 = _fetch_sha256(mirror, name)
    if hash_file is not None and not sha256:
        problems = (Problem(hash_file.origin, "", _NO_SHA256),)
    try:
        index = _fetch_v2_index(mirror, name, sha256)
    except WrongContent:
        hash_file, sha256 = _fetch_sha256(mirror, name)
        try:
            index = _fetch_v2_index(mirror, name, sha256)
        except WrongContent as error:
            index = mirror.fetch_document(name)
            problem = problem_from(error, index.origin)
            problems = (replace(problem, reason=f"{problem.reason}; it was read anyway"),)
    if mirror.read(index, 64).lstrip()[:1] == b"<":
        raise WrongContent(f"{index.origin} is a web page, expected an index")
    return replace(_mirror_source(mirror, "v2", index, hash_file), problems=problems)


def _fetch_sha256(mirror: Mirror, name: str) -> tuple[FetchedFile | None, str]:
    """Fetch the file with the sha256 of an index, and return it with the sha256."""
    try:
        file = mirror.storage.fetch(f"{name}.hash", max_size=_MAX_HASH_SIZE, check=_parse_sha256)
    except SourceError:
        # Spack fetches the index itself then, and finds what is wrong.
        return None, ""
    with contextlib.suppress(Unreadable):
        return file, _parse_sha256(mirror.read(file))
    return file, ""


def _parse_sha256(data: bytes) -> str:
    """Return the sha256 in a file. Raises Unreadable."""
    text = data.decode("ascii", "replace").strip()
    if not _SHA256.fullmatch(text):
        raise Unreadable(_NO_SHA256)
    return text.lower()


def _fetch_v2_index(mirror: Mirror, name: str, sha256: str) -> FetchedFile:
    if not sha256:
        return mirror.fetch_document(name)
    return _fetch_verified(mirror, name, sha256, _verified_index(mirror, name))


def _mirror_source(
    mirror: Mirror, layout: str, index: FetchedFile, named_in: FetchedFile | None
) -> DiscoveredSource:
    """Return a mirror with one index; `named_in` is the file that contains its checksum."""
    return DiscoveredSource(
        mirror.source,
        "mirror",
        layout,
        documents=Documents([mirror.document(index)]),
        checked=named_in.checked if named_in and not index.remark else index.checked,
        remark=join_remarks((named_in.remark if named_in else "", index.remark)),
        indexes=(MirrorIndex(mirror, layout, index.path),),
    )


def _verified_index(mirror: Mirror, name: str) -> _VerifiedIndexFile:
    storage = mirror.storage
    top = storage.top if isinstance(storage, LocalFolder) else storage.origin
    return _VerifiedIndexFile(mirror.session.environ, f"{top}\0{name}")


class _VerifiedIndex(NamedTuple):
    """The sha256 of an index, and the size, mtime and ctime (in ns) of its file."""

    checksum: str
    size: int
    mtime_ns: int
    ctime_ns: int


class _VerifiedIndexFile:
    """The record of a mirror's last verified index, in the user's cache directory if there is one.

    `key` identifies one index of one mirror.
    """

    def __init__(self, environ: Mapping[str, str], key: str) -> None:
        cache = xdg_dir(environ, "cache")
        name = hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()[:32]
        self._path = cache and os.path.join(cache, "mirrors", f"{name}.json")

    def read(self) -> _VerifiedIndex | None:
        """Return the last verified index, or None."""
        if not self._path:
            return None
        try:
            checksum, size, mtime_ns, ctime_ns = json.loads(read_file(self._path, _MAX_HASH_SIZE))
            verified = _VerifiedIndex(checksum, int(size), int(mtime_ns), int(ctime_ns))
        except (OSError, ValueError, TypeError, RecursionError):
            return None
        return verified if isinstance(checksum, str) and _SHA256.fullmatch(checksum) else None

    def is_current(self, checksum: str, path: str) -> bool:
        """Check whether a file had this checksum, and has not changed since."""
        try:
            return self.read() == _state_of(checksum, path)
        except OSError:
            return False

    def write(self, checksum: str, path: str) -> None:
        """Remember that a file has a checksum; do nothing where that cannot be written."""
        with contextlib.suppress(OSError):
            verified = _state_of(checksum, path)
            if not self._path or verified == self.read():
                return
            directory = os.path.dirname(self._path)
            private_directory(os.path.dirname(directory))
            private_directory(directory)
            write_atomically(self._path, json.dumps(verified).encode())


def _state_of(checksum: str, path: str) -> _VerifiedIndex:
    status = os.stat(path)
    return _VerifiedIndex(checksum, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
