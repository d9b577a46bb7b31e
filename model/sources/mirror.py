"""Discover the documents of mirrors: their indexes, or else their spec files; of tag lists."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

from spackscope.model.core.errors import (
    ListingUnsupported,
    NotFound,
    SourceError,
    Unreadable,
    WrongContent,
    reason,
)
from spackscope.model.core.files import (
    MAX_FILE_SIZE,
    private_directory,
    read_file,
    read_head,
    write_atomically,
    xdg_dir,
)
from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.core.records import Problem
from spackscope.model.core.redaction import shown_url
from spackscope.model.core.tasks import run_parallel
from spackscope.model.readers.detect import check_document
from spackscope.model.readers.encoding import decode
from spackscope.model.readers.fields import storable
from spackscope.model.readers.json import parse
from spackscope.model.readers.manifest import (
    DATABASE,
    MAX_MANIFEST_SIZE,
    SPEC,
    Blob,
    read_manifest,
)
from spackscope.model.sources.document import (
    DiscoveredSource,
    Document,
    Documents,
    Kind,
    combine,
    document_at,
    join_remarks,
)
from spackscope.model.sources.session import Session
from spackscope.model.sources.source_name import (
    BUILD_CACHE,
    DEFAULT_TAG,
    TAG_LIST,
    PublicCache,
    UrlTarget,
    begins_tag_list,
    is_tag_list,
    parse_target,
)
from spackscope.model.storage.base import FetchedFile, LocalFolder, Storage, is_remote, scheme_of
from spackscope.model.storage.urls import MAX_URL_LENGTH, split_url


class Mirror(Frozen):
    """A mirror of a source, and which part of it is read.

    `view` is the part of a v3 mirror that the user's configuration names. `build_cache` is the
    folder of layout v2; it is empty where the storage is that folder. `layout` is `v2` or `v3`
    where only that is meant. All specs get `tag` and `stack`, if they are given.
    """

    source: str
    storage: Storage
    session: Session
    view: str = ""
    build_cache: str = BUILD_CACHE
    layout: str = ""
    tag: str = ""
    stack: str = ""

    @property
    def is_local(self) -> bool:
        """Whether it is a directory on this machine."""
        return isinstance(self.storage, LocalFolder)

    def origin_of(self, name: str) -> str:
        """Return what the user is shown for a file of the mirror."""
        return os.path.join(self.storage.origin, *name.split("/"))

    def document(self, file: FetchedFile, kind: Kind = "known") -> Document:
        """Return the document of a file. Raises SourceError."""
        document = document_at(self.source, file.path, file.origin)
        return replace(document, kind=kind, cached=True, tag=self.tag, stack=self.stack)

    def fetch_manifest(self, name: str, *, immutable: bool = False) -> FetchedFile:
        """Fetch a manifest of layout v3. Raises what `Storage.fetch` raises."""

        def check(data: bytes) -> None:
            if not (manifest := read_manifest(data)).blobs:
                raise Unreadable("; ".join(manifest.remarks) or "the manifest names no files")

        return self.storage.fetch(
            name, immutable=immutable, max_size=MAX_MANIFEST_SIZE, check=check
        )

    def fetch_document(self, name: str, max_size: int = MAX_FILE_SIZE) -> FetchedFile:
        """Fetch a document without a checksum. Raises what `Storage.fetch` raises."""
        return self.storage.fetch(name, max_size=max_size, check=check_document)

    def read(self, file: FetchedFile, size: int = MAX_MANIFEST_SIZE + 1) -> bytes:
        """Read at most `size` bytes from the start of a file. Raises SourceError."""
        try:
            return read_head(file.path, size)
        except OSError as error:
            raise SourceError(f"{file.origin} {reason(error)}") from None


class MirrorIndex(Frozen):
    """An index of a mirror, of layout `v2` or `v3`, and the path of its document."""

    mirror: Mirror
    layout: str
    path: str


def mirror_at(source: str, storage: Storage, target: UrlTarget, session: Session) -> Mirror:
    """Return the mirror, or the part of one, that a URL or path names."""
    return Mirror(source, storage, session, target.view, target.build_cache, target.layout)


def problem_from(error: SourceError, origin: str) -> Problem:
    """Return a failure as the problem of one file, where the other files can be read."""
    message = str(error)
    if origin and message.startswith(f"{origin}/"):
        name, _, why = message.removeprefix(origin).partition(" ")
        return Problem(origin + name.rstrip(":"), "", why)
    return Problem(origin, "", message.removeprefix(origin).lstrip(": "))


SPECS = "v3/manifests/spec"
"""The folder of layout v3 with one manifest for each spec."""

MANIFEST = ".spec.manifest.json"

MAX_SPEC_FILE_SIZE = 2**26
"""Bytes of a spec file; one with 1,000 dependencies has 2 million."""

_V2_ENDINGS = (".spec.json.sig", ".spec.json", ".spec.yaml", "/spec.yaml")
_CHECK_EVERY = 256
"""Files between two checks whether to stop."""

_Outcome = list[Document] | Problem


def find_size_manifests(mirror: Mirror) -> Iterator[Document]:
    """Yield the spec manifests of a local mirror, which are read for the sizes in them."""
    for name in _names(mirror, SPECS):
        if name.endswith(MANIFEST):
            # One that was removed just now, or is a directory, is not worth a problem.
            with contextlib.suppress(SourceError):
                yield mirror.document(mirror.storage.fetch(name), "sizes")


def find_spec_files(mirror: Mirror) -> DiscoveredSource | None:
    """Find the spec files of a mirror, layout v3 before v2; None without any.

    Those of layout v3 are blobs that manifests name. Each one that cannot be read is a Problem.
    Raises ListingUnsupported, other SourceErrors and Cancelled.
    """
    parts: list[DiscoveredSource] = []
    has_v3 = mirror.build_cache == BUILD_CACHE
    names = _names(mirror, SPECS) if has_v3 else ()
    if manifests := [name for name in names if name.endswith(MANIFEST)]:
        parts.append(_fetch_all(mirror, "v3", _fetch_by_manifest, manifests))
    if not mirror.view and (files := _v2_spec_files(mirror)):
        parts.append(_fetch_all(mirror, "v2", _fetch_v2_spec_file, files))
    return combine(parts) if parts else None


def _v2_spec_files(mirror: Mirror) -> list[str]:
    """Return the spec files of layout v2; the signed form of one that has two forms."""
    chosen: dict[str, str] = {}
    names = [name.removeprefix("./") for name in _names(mirror, mirror.build_cache.rstrip("/"))]
    for ending in _V2_ENDINGS:
        for name in names:
            if name.endswith(ending):
                chosen.setdefault(name.removesuffix(ending), name)
    return sorted(chosen.values())


def _names(mirror: Mirror, folder: str) -> Iterator[str]:
    for number, name in enumerate(mirror.storage.names(folder)):
        if number % _CHECK_EVERY == 0:
            mirror.session.check_cancelled()
        yield name


def _fetch_all(
    mirror: Mirror, layout: str, fetch: Callable[[Mirror, str], _Outcome], names: Sequence[str]
) -> DiscoveredSource:
    outcomes = run_parallel(
        [partial(fetch, mirror, name) for name in names], mirror.session.should_stop
    )
    return DiscoveredSource(
        mirror.source,
        "mirror",
        f"{layout} spec files",
        documents=Documents(
            chain.from_iterable(each for each in outcomes if isinstance(each, list))
        ),
        problems=tuple(each for each in outcomes if isinstance(each, Problem)),
    )


def _fetch_v2_spec_file(mirror: Mirror, name: str) -> _Outcome:
    try:
        return [mirror.document(mirror.fetch_document(name, MAX_SPEC_FILE_SIZE))]
    except SourceError as error:
        return problem_from(error, mirror.origin_of(name))


def _fetch_by_manifest(mirror: Mirror, name: str) -> _Outcome:
    """Fetch the spec file that a manifest names; it is shown under the name of the manifest."""
    try:
        manifest = mirror.fetch_manifest(name, immutable=True)
        blob = read_manifest(mirror.read(manifest)).blob(SPEC)
        spec_file = mirror.storage.fetch(
            blob.name, sha256=blob.checksum, immutable=True, max_size=MAX_SPEC_FILE_SIZE
        )
        return [
            mirror.document(FetchedFile(spec_file.path, manifest.origin)),
            mirror.document(manifest, "sizes"),
        ]
    except (SourceError, Unreadable) as error:
        origin = mirror.origin_of(name)
        return Problem(origin, "", str(error).removeprefix(origin).lstrip(": "))


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


def discover_mirror(mirror: Mirror) -> DiscoveredSource:
    """Find the indexes of a mirror, or else its spec files.

    Raises SourceError where it has neither, or where no index can be used, and Cancelled.
    """
    indexes, errors = _find_indexes(mirror)
    missing = [error for error in errors if isinstance(error, NotFound)]
    failures = [error for error in errors if not isinstance(error, NotFound)]
    origin = mirror.storage.origin
    if indexes:
        combined = combine(indexes)
        new = (error for error in failures if str(error) not in combined.remark)
        problems = (problem_from(error, origin) for error in new)
        return replace(combined, problems=(*combined.problems, *problems))
    if failures:
        raise failures[0]
    with contextlib.suppress(ListingUnsupported):
        if (spec_files := find_spec_files(mirror)) is not None:
            return spec_files
    for error in missing:
        if error.is_forbidden:
            raise error
    if mirror.view:
        raise SourceError(f"the mirror {origin or os.curdir} has no view {mirror.view}")
    hint = f"create one with `spack buildcache update-index {origin or os.curdir}`"
    raise SourceError(f"the mirror {origin or os.curdir} has no index: {hint}")


def _find_indexes(mirror: Mirror) -> tuple[list[DiscoveredSource], list[SourceError]]:
    """Return the indexes of a mirror, and why others are missing or cannot be read."""
    indexes: list[DiscoveredSource] = []
    errors: list[SourceError] = []
    has_failed_requests = False
    for layout in _layouts_of(mirror):
        if has_failed_requests and not mirror.storage.is_cached(f"{mirror.build_cache}index.json"):
            # The server has been waited for once.
            break
        try:
            find = find_v3_index if layout == "v3" else find_v2_index
            indexes.append(find(mirror))
        except SourceError as error:
            errors.append(error)
            is_answer = isinstance(error, (NotFound, WrongContent))
            has_failed_requests = not (mirror.is_local or is_answer)
    return indexes, errors


def _layouts_of(mirror: Mirror) -> Sequence[str]:
    """Return the layouts to look for: views exist in v3 only, a `build_cache` in v2 only."""
    if mirror.view or mirror.layout == "v3":
        return ("v3",)
    is_v2 = mirror.layout == "v2" or mirror.build_cache != BUILD_CACHE
    return ("v2",) if is_v2 else ("v3", "v2")


_BUCKET = "s3://spack-binaries/"
_MAX_SIZE = 2**26
"""Bytes of a tag list that are read."""


def discover_public_cache(source: str, public: PublicCache, session: Session) -> DiscoveredSource:
    """Find the indexes of the tags; each one that fails is a Problem.

    Raises SourceError where there is no tag list, no such tag or no index, and Cancelled.
    """
    if scheme_of(public.tag_list):
        split_url(public.tag_list)
    top, name = _split(public.tag_list)
    file = session.open(top).fetch(name, max_size=_MAX_SIZE, check=parse_tag_list)
    content = _read_tag_list(file)
    problems: list[Problem] = []
    tasks: list[Callable[[], DiscoveredSource]] = []
    for tag in public.tags or (DEFAULT_TAG,):
        for entry in _entries(content, tag, public.tag_list, file.origin):
            if isinstance(entry, Problem):
                problems.append(entry)
            else:
                tasks.append(partial(_discover_index, source, entry, session))
    list_itself = DiscoveredSource(
        source, "public cache", problems=tuple(problems), checked=file.checked, remark=file.remark
    )
    combined = combine([list_itself, *run_parallel(tasks, session.should_stop)])
    if not combined.documents:
        why = str(combined.problems[0]) if combined.problems else "it lists no index"
        raise SourceError(f"the source {source} has no index that can be read: {why}")
    return combined


class _Entry(Frozen):
    """One index of a tag list, and where it may be, in the order in which to look."""

    tag: str
    label: str
    urls: Sequence[str]


def _read_tag_list(file: FetchedFile) -> dict[str, Any]:
    try:
        return parse_tag_list(read_file(file.path, _MAX_SIZE))
    except (OSError, Unreadable) as error:
        raise SourceError(f"the tag list {file.origin} {reason(error)}") from None


def parse_tag_list(data: bytes) -> dict[str, Any]:
    """Parse a tag list: the indexes of each tag. Raises Unreadable."""
    content, _ = parse(decode(data), whole=True)
    if not isinstance(content, dict):
        raise Unreadable("not an object")
    if not any(isinstance(entries, list) for entries in content.values()):
        raise Unreadable("it has no tags")
    return content


def _entries(
    content: Mapping[str, Any], tag: str, tag_list: str, origin: str
) -> Iterator[_Entry | Problem]:
    """Yield the indexes of a tag. Raises SourceError where there is no such tag."""
    entries = content.get(tag)
    if not isinstance(entries, list):
        raise _unknown_tag(content, tag, origin)
    for number, entry in enumerate(entries, start=1):
        label = entry.get("label") if isinstance(entry, dict) else None
        url = entry.get("url") if isinstance(entry, dict) else None
        if type(label) is not str or type(url) is not str or not url:
            yield Problem(origin, storable(tag), f"entry {number} has no label and url")
            continue
        try:
            yield _Entry(tag, storable(label), _urls_of(url, tag_list))
        except SourceError as error:
            yield Problem(origin, storable(f"{tag} {label}"), storable(str(error)))


def _unknown_tag(content: Mapping[str, Any], tag: str, origin: str) -> SourceError:
    import difflib

    tags = [storable(key) for key, value in content.items() if isinstance(value, list)]
    tags.sort(reverse=True)
    if similar := difflib.get_close_matches(tag, tags, 3):
        hint = f"did you mean {' or '.join(similar)}?"
    else:
        hint = f"there are {', '.join(tags[:8])}" + (" and others" if len(tags) > 8 else "")
    return SourceError(f"the tag list {origin} has no tag {shown_url(tag)}: {hint}")


def _discover_index(source: str, entry: _Entry, session: Session) -> DiscoveredSource:
    """Find one index of the tag list, next to the list or where its entry says."""
    problem = Problem("", "", "")
    for url in dict.fromkeys(entry.urls):
        try:
            return _discover_at(source, url, entry, session)
        except SourceError as error:
            location = f"{entry.tag} {entry.label}"
            problem = replace(problem_from(error, shown_url(url)), place=location)
            if not isinstance(error, NotFound):
                break
    return DiscoveredSource(source, "public cache", problems=(problem,))


def _discover_at(source: str, url: str, entry: _Entry, session: Session) -> DiscoveredSource:
    target = parse_target(url)
    if target.name == "index.json":
        target = replace(target, name="", build_cache="", layout="v2")
    mirror = mirror_at(source, session.open(target.top), target, session)
    mirror = replace(mirror, tag=entry.tag, stack=entry.label)
    if target.layout:
        return find_v2_index(mirror) if target.layout == "v2" else find_v3_index(mirror)
    if not target.name:
        return discover_mirror(mirror)
    documents = Documents([mirror.document(mirror.fetch_document(target.name))])
    return DiscoveredSource(source, "public cache", documents=documents)


def _split(tag_list: str) -> tuple[str, str]:
    """Return the folder of a tag list, and its name there."""
    target = parse_target(tag_list)
    if target.name:
        return target.top, target.name
    path, mark, query = tag_list.partition("?")
    if scheme_of(tag_list) and "/" not in path.partition("://")[2]:
        return tag_list, ""
    top, slash, name = path.rpartition("/")
    return (top or slash or ".") + mark + query, name


def _urls_of(url: str, tag_list: str) -> list[str]:
    """Return where an entry of a tag list may be, in the order in which to look.

    A remote tag list may name URLs and files next to it. Raises SourceError for any other.
    """
    if len(url) > MAX_URL_LENGTH:
        raise SourceError(f"its URL is longer than {MAX_URL_LENGTH:,} characters")
    # In the bucket of the public cache only, an index can be read without an account at this URL.
    urls = [_next_to(tag_list, url), url.replace(_BUCKET, f"{TAG_LIST.rpartition('/')[0]}/", 1)]
    if is_remote(tag_list):
        if url.startswith(("/", "~")) or scheme_of(url) == "file":
            raise SourceError(f"a remote tag list cannot name local files: {shown_url(url)}")
        urls = [each for each in urls if scheme_of(each)]
    for each in urls:
        if scheme_of(each):
            split_url(each)
    return urls


def _next_to(tag_list: str, url: str) -> str:
    """Return where an index is if the tag list is a copy next to copies of the indexes."""
    top, _ = _split(tag_list)
    path, mark, query = top.partition("?")
    if url.startswith(_BUCKET):
        return f"{path}/{url.removeprefix(_BUCKET)}{mark}{query}"
    return url if scheme_of(url) else f"{path}/{url}{mark}{query}"


def discover_url(
    source: str, url: str, session: Session, options: Mapping[str, object] = {}, view: str = ""
) -> DiscoveredSource:
    """Discover what a URL names: a mirror, a part of one, a tag list or another document.

    `options` are those of the connection. Raises SourceError and Cancelled.
    """
    split_url(url)
    if scheme_of(url).startswith("oci"):
        registry = Mirror(source, session.open(url, options), session, build_cache="")
        return replace(discover_mirror(registry), layout="OCI")
    target = parse_target(url)
    storage = session.open(target.top, options)
    mirror = mirror_at(source, storage, replace(target, view=view or target.view), session)
    if not target.name:
        return discover_mirror(mirror)
    file = storage.fetch(target.name, check=_check_named)
    if is_tag_list(file.path):
        return discover_public_cache(source, PublicCache(url), session)
    document = replace(mirror.document(file), cached=False)
    return DiscoveredSource(
        source, "file", documents=Documents([document]), checked=file.checked, remark=file.remark
    )


def _check_named(data: bytes) -> None:
    """Check a file that a URL names, a tag list or a document. Raises Unreadable."""
    if begins_tag_list(data):
        parse_tag_list(data)
    else:
        check_document(data)
