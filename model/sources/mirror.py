"""Find the documents of mirrors, of the URLs that name a part of one, and of tag lists.

A mirror of layout v3 has manifests, which name blobs by their checksums: its index, and the spec
file and archive of each spec. A mirror of layout v2 has its index and its spec files in the folder
`build_cache`. A registry is read as such a mirror.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any, Literal

from spackscope.model.core.errors import NotFound, SourceError, Unreadable, WrongContent, naming
from spackscope.model.core.file_access import MAX_FILE_SIZE, read_file, read_head
from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.core.records import Problem
from spackscope.model.core.redaction import shown_url
from spackscope.model.core.tasks import check_cancelled, progress_joined, run_parallel
from spackscope.model.readers.formats import (
    ARCHIVE,
    DATABASE,
    MAX_MANIFEST_SIZE,
    SPEC,
    Blob,
    Manifest,
    check_document,
    read_manifest,
)
from spackscope.model.readers.json import member, storable
from spackscope.model.readers.unpack import decode, decompress
from spackscope.model.sources.document import (
    DiscoveredSource,
    Document,
    Documents,
    FileList,
    combine,
    document_at,
    join_remarks,
)
from spackscope.model.sources.session import Session
from spackscope.model.sources.source_name import (
    ALL_TAGS,
    BUILD_CACHE,
    INDEX_MANIFEST,
    PUBLIC,
    TAG_LIST,
    PublicCache,
    UrlTarget,
    default_tag,
    parse_target,
    release_tags,
    spack_argument,
    tags_below,
)
from spackscope.model.storage.base import (
    FetchedFile,
    LocalFolder,
    Storage,
    Wanted,
    is_remote,
    scheme_of,
)
from spackscope.model.storage.urls import MAX_URL_LENGTH, split_url

_INDEXES = "v3/manifests/index"
SPECS = "v3/manifests/spec"
"""The folder of layout v3 with one manifest for each spec."""

MAX_SPEC_FILE_SIZE = 2**26
"""Bytes of a spec file; one with 1,000 dependencies has 2 million."""

MANIFEST = ".spec.manifest.json"
_ENDINGS = (MANIFEST, ".spec.json.sig", ".spec.json", ".spec.yaml", ".spack")
"""Files of a spec in the order of choice: manifests of layout v3, spec files of v2, archives."""

_FILE_OF_SPEC = re.compile(
    rf"(?:.*/)?[^/]+-(?P<hash>[a-z2-7]{{32}})(?P<ending>{'|'.join(map(re.escape, _ENDINGS))})"
)
_MAX_INDEXES = 8
"""Indexes of one mirror that are read; Spack has had five versions of the database since 0.13."""

_MAX_NAMED = 20
"""The most views that the error about an unknown view lists."""

_DATABASE_VERSION = re.compile(r"v([0-9]{1,9})\+json")
FileState = Literal["present", "missing", "forbidden", "wrong size", "unknown"]
_SHORT = {"missing": "missing", "wrong size": "incomplete"}


class Mirror(Frozen):
    """A mirror of a source.

    `target` is the part that is read: a `view` of layout v3, or one layout. All specs get `tag`
    and `stack`, if they are given. `listed` is the time, in seconds since 1970, since when a tag
    list names the index. `files` is a digest that changes when archives come or go in a mirror on
    this machine; "" for a mirror elsewhere, and where there is nothing beside the index.
    """

    source: str
    storage: Storage
    target: UrlTarget
    tag: str = ""
    stack: str = ""
    files: str = ""
    listed: float = 0.0

    @property
    def is_local(self) -> bool:
        """Whether the mirror is a directory on this machine."""
        return isinstance(self.storage, LocalFolder)

    @property
    def index_manifest(self) -> str:
        """The name of the manifest of the index of layout v3, or of the index of the view."""
        return "/".join(filter(None, (_INDEXES, self.target.view, INDEX_MANIFEST)))

    def fetch_manifest(self, name: str, **how: Any) -> tuple[FetchedFile, bytes]:
        """Fetch a manifest of layout v3, and return it with its content. Raises SourceErrors.

        `how` has fields of `Wanted`.
        """

        def check(data: bytes) -> None:
            if not (manifest := read_manifest(data)).blobs:
                raise Unreadable("; ".join(manifest.remarks) or "the manifest names no files")

        file = self.storage.fetch(Wanted(name, max_size=MAX_MANIFEST_SIZE, check=check, **how))
        return file, self.read(file, MAX_MANIFEST_SIZE + 1)

    def fetch_document(self, name: str, max_size: int = MAX_FILE_SIZE) -> FetchedFile:
        """Fetch a document without a checksum. Raises the errors of `Storage.fetch`."""
        return self.storage.fetch(Wanted(name, max_size=max_size, check=check_document))

    def read(self, file: FetchedFile, size: int) -> bytes:
        """Read at most `size` bytes from the start of a file. Raises SourceError."""
        with naming(file.origin):
            return read_head(file.path, size)

    def document(self, file: FetchedFile) -> Document:
        """Return the document of a file. Raises SourceError."""
        document = document_at(self.source, file.path, file.origin)
        return document._replace(cached=True, tag=self.tag, stack=self.stack)

    def missing_files(self, manifest: Manifest) -> tuple[str, bool]:
        """Return why a file of a manifest is missing, or "", and whether the archive is there.

        A file of the wrong size is missing, too. A mirror elsewhere counts as complete.
        """
        missing, has_archive = "", True
        for blob in manifest.blobs if self.is_local else ():
            is_archive = blob.media_type.startswith(ARCHIVE)
            state, why = self.state_of(blob.name, blob.size)
            if state in _SHORT:
                why = f"the {'archive' if is_archive else 'spec file'} is {_SHORT[state]}"
            missing = missing or why
            has_archive = has_archive and not (is_archive and why)
        return missing, has_archive

    def state_of(self, name: str, size: int | None) -> tuple[FileState, str]:
        """Return the state of a file, and why it is not `present`; `size` is its recorded size.

        Raises Cancelled.
        """
        try:
            there = self.storage.size_of(name)
        except NotFound as error:
            return ("forbidden" if error.is_forbidden else "missing"), str(error)
        except SourceError as error:
            return "unknown", str(error)
        if size is not None and there is not None and size != there:
            return "wrong size", f"it has {there:,} bytes, and the mirror records {size:,}"
        return "present", ""


def mirror_at(
    source: str, target: UrlTarget, session: Session, options: Mapping[str, object] = {}
) -> Mirror:
    """Open the mirror that a URL or path names, with the options of the connection.

    Raises SourceError.
    """
    return Mirror(source, session.open(target.top, options), target)


def problem_from(error: Exception, origin: str) -> Problem:
    """Return a failure as the problem of one file, where the other files can be read."""
    message = str(error)
    if origin and message.startswith(f"{origin}/"):
        name, _, why = message.removeprefix(origin).partition(" ")
        return Problem(origin + name.rstrip(":"), "", why, is_unread=True)
    reason = message.removeprefix(origin).lstrip(": ")
    return Problem(origin, "", reason, is_unread=True)


def discover_mirror(mirror: Mirror) -> DiscoveredSource:
    """Find the indexes of a mirror, or else its spec files.

    As `BinaryCacheIndex.update` of lib/spack/spack/binary_distribution.py, which reads the index
    of layout v3 and then the index of layout v2, where a mirror has both. Raises SourceError where
    the mirror has neither indexes nor spec files, or where no index can be used, and Cancelled.
    """
    target, origin = mirror.target, mirror.storage.origin

    def find(layout: str) -> DiscoveredSource | SourceError:
        try:
            return find_index(mirror, layout)
        except SourceError as error:
            return error

    # A server is waited for once, not for each layout.
    found = run_parallel([partial(find, layout) for layout in target.layouts])
    errors = [each for each in found if isinstance(each, SourceError)]
    failures = [each for each in errors if not isinstance(each, NotFound)]
    if indexes := [each for each in found if isinstance(each, DiscoveredSource)]:
        combined = combine(indexes)
        new = (error for error in failures if str(error) not in combined.remark)
        problems = (problem_from(error, origin) for error in new)
        return replace(combined, problems=(*combined.problems, *problems))
    for failure in (*failures, *(error for error in errors if error.is_forbidden)):
        raise failure
    name = origin or os.curdir
    if target.view:
        views = ", ".join(_views(mirror)[:_MAX_NAMED])
        others = f": it has {views}" if views else ""
        raise SourceError(f"the mirror {name} has no view {target.view}{others}")
    if spec_files := _spec_files(mirror):
        return combine(spec_files)
    hint = f"create one with `spack buildcache update-index {spack_argument(name)}`"
    raise SourceError(f"the mirror {name} has no index: {hint}")


def find_index(mirror: Mirror, layout: str) -> DiscoveredSource:
    """Find the index of a layout, or the indexes of all views if layout v3 has only views.

    Layouts as in `URLBuildcacheEntry` of lib/spack/spack/url_buildcache.py. Raises NotFound for a
    missing index, and SourceError for an index that cannot be used.
    """
    its = replace(mirror, target=replace(mirror.target, layout=layout))
    mirror = replace(its, files=_files_of(its))
    if layout == "v2":
        return _v2_index(mirror)
    try:
        return _v3_index(mirror)
    except NotFound:
        views = [] if mirror.target.view or mirror.target.name else _views(mirror)
        if not views:
            raise
        targets = [replace(mirror.target, view=view) for view in views]
        # Spack reads a view only where its configuration names it.
        return combine([_v3_index(replace(mirror, target=its), "views") for its in targets])


def _files_of(mirror: Mirror) -> str:
    """Return the digest `Mirror.files`. Raises Cancelled.

    The times of a directory change when a file in it comes or goes. A manifest may also be
    replaced by one that names another archive.
    """
    if not isinstance(mirror.storage, LocalFolder):
        return ""
    files, has_specs = FileList("", ""), False
    for folder in (SPECS, "blobs") if mirror.target.layout == "v3" else (BUILD_CACHE,):
        for directory, folders, names in os.walk(os.path.join(mirror.storage.top, folder)):
            check_cancelled()
            folders.sort()
            its = [name for name in names if name.endswith(_ENDINGS[:-1])]
            has_specs = has_specs or bool(its)
            for name in ("", *sorted(its)):
                path = os.path.join(directory, name)
                with contextlib.suppress(OSError):
                    files.add(path, os.stat(path))
    return files.fingerprint if has_specs else ""


def _views(mirror: Mirror) -> list[str]:
    """Return the names of the views of a mirror on this machine. Raises Cancelled."""
    start, end = f"{_INDEXES}/", f"/{INDEX_MANIFEST}"
    names = [name[len(start) :] for name in mirror.storage.names(_INDEXES)]
    return [name.removesuffix(end) for name in names if name.endswith(end)]


def _v3_index(mirror: Mirror, layout: str = "v3") -> DiscoveredSource:
    """Find the index of layout v3, or of the view. Raises NotFound where it has no manifest.

    Since Spack 1.3 a manifest names an index for each version of the database that was pushed,
    with different specs: all of them are read, the newest first. Where an index cannot be fetched
    or does not match its checksum, its previous version in the cache of downloads is used. The
    manifest of a mirror in a tag list is requested again once the list names another index.
    """
    name, is_listed = mirror.index_manifest, mirror.target.checksum != ""
    blobs: dict[Blob, int] = {}
    indexes: dict[Blob, FetchedFile | SourceError] = {}
    # Manifest and indexes may be replaced between the requests.
    for may_be_copy in (is_listed, False):
        manifest, data = mirror.fetch_manifest(name, immutable=may_be_copy)
        if may_be_copy and not _is_current(mirror, manifest, data):
            continue
        try:
            all_blobs = _newest_first(read_manifest(data).blobs_of(DATABASE))
        except Unreadable as error:
            raise WrongContent(f"{manifest.origin}: {error}") from None
        before, blobs = blobs, dict(list(all_blobs.items())[:_MAX_INDEXES])
        if blobs == before:
            break
        indexes = {blob: _fetch_index(mirror, blob) for blob in blobs}
        if not any(isinstance(index, SourceError) or index.remark for index in indexes.values()):
            break
    failures = [index for index in indexes.values() if isinstance(index, SourceError)]
    problems = [problem_from(failure, mirror.storage.origin) for failure in failures]
    if len(all_blobs) > len(blobs):
        most = f"it names {len(all_blobs)} indexes; the newest {len(blobs)} are read"
        problems.append(Problem(manifest.origin, "", most, is_unread=True))
    found = {b: index for b, index in indexes.items() if isinstance(index, FetchedFile)}
    if not found:
        raise failures[0]
    parts = [
        _mirror_source(
            mirror,
            "v3",
            index,
            manifest,
            kind=f"{layout}:{_media(blob, blobs[blob])}",
            sha256=blob.checksum if mirror.is_local else "",
        )
        for blob, index in found.items()
    ]
    source = combine(parts)
    if len(parts) > 1:
        versions = ", ".join(f"v{blobs[blob]}" if blobs[blob] else "others" for blob in found)
        source = replace(source, layout=f"v3 (indexes {versions})")
    return replace(source, problems=tuple(problems))


def _is_current(mirror: Mirror, manifest: FetchedFile, data: bytes) -> bool:
    """Check whether a cached manifest is as new as the tag list that names an index of it."""
    with contextlib.suppress(Unreadable):
        checksums = {blob.checksum for blob in read_manifest(data).blobs}
        is_newer = manifest.checked is not None and manifest.checked > mirror.listed
        return is_newer or mirror.target.checksum in checksums
    return False


def _fetch_index(mirror: Mirror, blob: Blob) -> FetchedFile | SourceError:
    """Fetch an index that a manifest names, or its previous version, or return the failure.

    An index on this machine is verified when it is read.
    """
    sha256 = "" if mirror.is_local else blob.checksum
    copy = f"{mirror.index_manifest} {blob.media_type}"
    try:
        index = mirror.storage.fetch(Wanted(blob.name, sha256, copy=copy))
    except NotFound as error:
        return SourceError(f"{error}, but the manifest of the mirror names it")
    except SourceError as error:
        return error
    remark = f"{index.remark}; the previous index is used" if index.remark else ""
    return replace(index, remark=remark)


def _media(blob: Blob, version: int) -> str:
    """Return the version in the media type of an index, and its compression: `8+gzip`."""
    packed = f"+{blob.compression}" if blob.compression else ""
    return f"{version or '?'}{packed}"


def _newest_first(blobs: Iterable[Blob]) -> dict[Blob, int]:
    """Return the first index of each version of the database, with the version.

    An unknown media type counts as version 0.
    """
    by_version: dict[int, Blob] = {}
    for blob in blobs:
        match = _DATABASE_VERSION.fullmatch(blob.media_type, len(DATABASE))
        by_version.setdefault(int(match[1]) if match else 0, blob)
    return {blob: version for version, blob in sorted(by_version.items(), reverse=True)}


def _v2_index(mirror: Mirror) -> DiscoveredSource:
    """Find the index of layout v2. Raises NotFound, SourceError.

    Its checksum, in a file next to it, is not read: the two are written one after the other, and
    Spack ignores a difference.
    """
    index = mirror.fetch_document(f"{BUILD_CACHE}index.json")
    return _mirror_source(mirror, "v2", index, index, kind="v2:")


def _mirror_source(
    mirror: Mirror,
    layout: str,
    index: FetchedFile,
    named_in: FetchedFile,
    *,
    kind: str,
    sha256: str = "",
) -> DiscoveredSource:
    """Return a mirror with one index of a kind, which is `Document.index_kind`.

    `named_in` is the file that names it, and `sha256` the checksum that is still to be compared.
    """
    document = mirror.document(index)._replace(
        mirror=mirror, cached=not mirror.files, index_kind=kind, sha256=sha256
    )
    return DiscoveredSource(
        mirror.source,
        "mirror",
        layout,
        documents=Documents([document]),
        checked=index.checked if index.remark else named_in.checked,
        remark=join_remarks((named_in.remark, index.remark)),
    )


def _names_of_specs(mirror: Mirror, layout: str) -> tuple[dict[str, str], set[str]]:
    """Return the name of the manifest or spec file of each spec in a layout, by its hash.

    If a spec has several forms, the signed one is named. The hashes that have an archive beside
    their spec file, in layout v2, are returned, too. Raises Cancelled.
    """
    folder = SPECS if layout == "v3" else BUILD_CACHE.rstrip("/")
    names, archives = dict[str, str](), set[str]()
    files = [*filter(None, map(_FILE_OF_SPEC.fullmatch, mirror.storage.names(folder)))]
    for match in sorted(files, key=lambda match: _ENDINGS.index(match["ending"])):
        if match["ending"] == _ENDINGS[-1]:
            archives.add(match["hash"])
        else:
            names.setdefault(match["hash"], match[0].removeprefix("./"))
    return names, archives


def _spec_files(mirror: Mirror) -> list[DiscoveredSource]:
    """Return the spec files of a mirror on this machine, layout v3 before v2, if it has some.

    Spec files of layout v3 are blobs, and shown under the names of their manifests. A spec file
    that cannot be read is a Problem. Raises Cancelled.
    """

    def read(name: str, has_archive: bool) -> Document | Problem:
        try:
            if not name.endswith(MANIFEST):
                document = mirror.document(mirror.fetch_document(name, MAX_SPEC_FILE_SIZE))
                return document._replace(cached=has_archive)
            file, data = mirror.fetch_manifest(name, immutable=True)
            manifest = read_manifest(data)
            blob = manifest.blob(SPEC)
            wanted = Wanted(blob.name, blob.checksum, max_size=MAX_SPEC_FILE_SIZE)
            spec_file = mirror.storage.fetch(wanted)
            sizes = [each.size for each in manifest.blobs if each.media_type.startswith(ARCHIVE)]
            document = mirror.document(FetchedFile(spec_file.path, file.origin))
            return document._replace(
                cached=mirror.missing_files(manifest)[1],
                archive_size=next(iter(sizes), None),
            )
        except (SourceError, Unreadable) as error:
            return problem_from(error, mirror.storage.origin_of(name))

    sources = list[DiscoveredSource]()
    for layout in mirror.target.layouts:
        names, archives = _names_of_specs(mirror, layout)
        tasks = [partial(read, names[hash_], hash_ in archives) for hash_ in names]
        if found := run_parallel(tasks):
            documents = Documents(each for each in found if isinstance(each, Document))
            problems = tuple(each for each in found if isinstance(each, Problem))
            its = f"{layout} spec files"
            sources.append(DiscoveredSource(mirror.source, "mirror", its, documents, problems))
    return sources


_BUCKET = "s3://spack-binaries/"
_COPIES = {
    "e4s": "https://cache.e4s.io/",
    "uo": "https://uo-spack-mirror.e4s.io:9002/spack-binaries/",
}
"""The cache of E4S, and copies of the bucket, by their names in `public:NAME/TAG`."""

TAG_FORMS = {"e4s": "YY.MM", "uo": "TAG"}
"""How the tags of these caches look; no server lists them."""

_MAX_SIZE = 2**26
"""Bytes of a tag list that are read."""

_MAX_TAGS = 8
"""The most tags that a message lists."""

_MAX_COMPARED = 2_000
"""Tags of a list that an unknown one is compared with."""


def discover_public_cache(source: str, public: PublicCache, session: Session) -> DiscoveredSource:
    """Find the indexes of the tags of a tag list; an index that fails is a Problem.

    The tag list, from which cache.spack.io is made, is written by
    images/cache-indexer/cache_indexer.py of spack-infrastructure. It maps tags to lists of `label`
    and `url`, one for each index; the label `root` is the union of a tag, other labels are stacks.
    The URL leads to the index in layout v2, and to its blob in layout v3. Tags may also name
    places that are not in the list: a folder of the bucket, as `releases/v2026.10`, the cache of
    E4S, as `e4s/25.11`, a copy at a university, as `uo/develop`, and a view of these, as
    `releases/v2026.10:NAME`.

    Without tags the default tag is read, for `*` all releases and `develop`, and for `/HASH` the
    first of these that has the hash; the source is named after a tag that is found. Raises
    SourceError where there is no tag list, no such tag or no index, and Cancelled.
    """
    problems: list[Problem] = []
    content, file = dict[str, Any](), FetchedFile("", public.tag_list)
    # A copy is asked where the public cache cannot be reached.
    if not public.tags or not all(map(_is_of_copy, public.tags)):
        content, file = read_tag_list(public, session)
    tags, unexpected = _tags_to_read(public, content, session)
    if unexpected:
        problems.append(Problem(file.origin, "", storable(unexpected), is_unread=True))
    if not public.tags or public.tags[0].startswith("/"):
        is_public = source.partition(":")[0] == PUBLIC
        source = f"{PUBLIC}:{tags[0]}" if is_public else f"{public.tag_list}#{storable(tags[0])}"
    origin = file.origin
    listed = os.stat(file.path).st_mtime if file.path else 0.0
    tasks: list[Callable[[], DiscoveredSource]] = []
    for tag in tags:
        entries: Any = content.get(tag)
        view = ""
        if not isinstance(entries, list) and ("/" in tag or ":" in tag):
            folder, _, view = tag.partition(":")
            copy, _, rest = folder.partition("/")
            place = f"{_COPIES[copy]}{rest}" if _is_of_copy(tag) else f"{_BUCKET}{folder}"
            entries = [{"label": "root", "url": place}]
        if not isinstance(entries, list):
            unknown = _unknown_tag(content, tag, origin)
            if len(tags) == 1:
                raise unknown
            problems.append(Problem("", "", str(unknown), is_unread=True))
            continue
        for entry in entries:
            label, url = member(entry, "label"), member(entry, "url")
            place = storable(f"{tag} {label}" if isinstance(label, str) else tag)
            try:
                if type(label) is not str or type(url) is not str or not url:
                    raise SourceError("an entry has no label and url")
                urls = _urls_of(url, public.tag_list)
            except SourceError as error:
                problems.append(Problem(origin, place, storable(str(error)), is_unread=True))
                continue
            its = {"tag": tag, "stack": storable(label), "listed": listed}
            tasks.append(partial(_listed_index, source, urls, view, session, **its))
    list_itself = DiscoveredSource(
        source, "public cache", "", Documents(), tuple(problems), file.checked, file.remark
    )
    several = progress_joined(f"bytes of {len(tasks):,} indexes")
    with several if len(tasks) > 1 else contextlib.nullcontext():
        combined = combine([list_itself, *run_parallel(tasks)])
    if not combined.documents:
        why = str(combined.problems[0]) if combined.problems else "it lists no index"
        raise SourceError(f"the source {source} has no readable index: {why}")
    return combined


def _tags_to_read(
    public: PublicCache, content: Mapping[str, Any], session: Session
) -> tuple[Sequence[str], str]:
    """Return the tags that a source stands for, and why they are not the expected ones, or ""."""
    if public.tags and not public.tags[0].startswith("/"):
        several = (release_tags(content) if t == ALL_TAGS else [t] for t in public.tags)
        return [*dict.fromkeys(chain.from_iterable(several))], ""
    spack = session.spack
    tag, unexpected = default_tag(content, spack.release if spack is not None else "")
    if public.tags:
        hash_ = public.tags[0][1:]
        return [_first_with(hash_, content, public.tag_list, session) or tag], ""
    return [tag], unexpected


def _first_with(hash_: str, content: Mapping[str, Any], tag_list: str, session: Session) -> str:
    """Return the first tag of a list with a hash: the newest release, or `develop` at last.

    Only tags up to this one are fetched. Returns "" where none has the hash. Raises Cancelled.
    """
    for tag in release_tags(content):
        with contextlib.suppress(SourceError, Unreadable):
            found = discover_public_cache(tag, PublicCache(tag_list, (tag,)), session)
            for document in found.documents:
                check_cancelled()
                if hash_.encode() in decompress(read_file(document.path))[0]:
                    return tag
    return ""


def _is_of_copy(tag: str) -> bool:
    """Check whether a tag is read from the cache of E4S, or a copy at a university."""
    return "/" in tag and tag.partition("/")[0] in _COPIES


def read_tag_list(public: PublicCache, session: Session) -> tuple[dict[str, Any], FetchedFile]:
    """Fetch a tag list: the indexes of each tag. Raises SourceError and Cancelled."""
    if scheme_of(public.tag_list):
        split_url(public.tag_list)
    top, name = _split(public.tag_list)
    file = session.open(top).fetch(Wanted(name, max_size=_MAX_SIZE, check=parse_tag_list))
    with naming(f"the tag list {file.origin}"):
        return parse_tag_list(read_file(file.path, _MAX_SIZE)), file


def parse_tag_list(data: bytes) -> dict[str, Any]:
    """Parse a tag list: the indexes of each tag. Raises Unreadable."""
    try:
        content = json.loads(decode(data))
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"it is not JSON, or is cut off: {storable(str(error))}") from None
    if not isinstance(content, dict):
        raise Unreadable("not an object")
    if not any(isinstance(entries, list) for entries in content.values()):
        raise Unreadable("it has no tags")
    return content


def _unknown_tag(content: Mapping[str, Any], tag: str, origin: str) -> SourceError:
    import difflib

    tags = [storable(key) for key, value in content.items() if isinstance(value, list)]
    tags.sort(reverse=True)
    if below := tags_below([tag], tags):
        hint = f"there are {_first_of(below)}"
    elif tag in _COPIES:
        hint = f"name one of that cache, as {tag}/{TAG_FORMS[tag]}"
    elif similar := difflib.get_close_matches(tag, tags[:_MAX_COMPARED], 3):
        hint = f"did you mean {' or '.join(similar)}?"
    else:
        hint = f"there are {_first_of(tags)}"
    return SourceError(f"the tag list {origin} has no tag {shown_url(tag)}: {hint}")


def _first_of(tags: Sequence[str]) -> str:
    others = " and others" if len(tags) > _MAX_TAGS else ""
    return f"{', '.join(tags[:_MAX_TAGS])}{others}"


def _listed_index(
    source: str, urls: Sequence[str], view: str, session: Session, **its: Any
) -> DiscoveredSource:
    """Find an index of a tag list at the first URL that has it.

    `its` are the fields of `Mirror` that the list determines. The list is made once a day, and
    `get_index_blob` of cache_indexer.py takes the first index of a manifest. So all indexes that
    the manifest names now are read, and not the blob that the list names. The problem is that of
    the URL that refuses the index, where one does: the others may only lack what the copy of the
    user has.
    """
    problem, refusal = Problem("", "", ""), None
    for url in urls:
        target = parse_target(url)
        target = replace(target, view=view or target.view)
        try:
            mirror = replace(mirror_at(source, target, session), **its)
            if target.name and not target.layout:
                index = mirror.fetch_document(target.name)
                return _mirror_source(mirror, "v2", index, index, kind="v2:")
            return find_index(mirror, target.layout) if target.layout else discover_mirror(mirror)
        except SourceError as error:
            problem = problem_from(error, shown_url(target.top))
            problem = replace(problem, place=f"{its['tag']} {its['stack']}")
            if error.is_forbidden and refusal is None:
                refusal = problem
            if not isinstance(error, NotFound):
                break
    return DiscoveredSource(source, "public cache", problems=(refusal or problem,))


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


def _urls_of(url: str, tag_list: str) -> Sequence[str]:
    """Return the URLs and paths where an index of a tag list may be, in the order to try them.

    The list is at the top of its bucket, of which the user may have a copy. Raises SourceError for
    a wrong URL, and for a local file that a remote tag list names.
    """
    if len(url) > MAX_URL_LENGTH:
        raise SourceError(f"its URL is longer than {MAX_URL_LENGTH:,} characters")
    folder, mark, query = _split(tag_list)[0].partition("?")
    scheme = scheme_of(url)
    in_bucket = url.partition("://")[2].partition("/")[2] if scheme == "s3" else url
    near = f"{folder}/{in_bucket}{mark}{query}" if scheme in ("", "s3") else url
    # In the bucket of the public cache only, an index can be read without an account at this URL.
    urls = [near, url.replace(_BUCKET, f"{TAG_LIST.rpartition('/')[0]}/", 1)]
    if is_remote(tag_list):
        if url.startswith(("/", "~")) or scheme_of(url) == "file":
            raise SourceError(f"a remote tag list cannot name local files: {shown_url(url)}")
        urls = [each for each in urls if scheme_of(each)]
    for each in urls:
        if scheme_of(each):
            split_url(each)
    return list(dict.fromkeys(urls))


def discover_url(
    source: str, url: str, session: Session, options: Mapping[str, object] = {}, view: str = ""
) -> DiscoveredSource:
    """Discover the documents at a URL: a mirror, a part of one, or another file.

    `options` are connection options as in mirrors.yaml. Raises SourceError and Cancelled.
    """
    split_url(url)
    if scheme_of(url).startswith("oci"):
        registry = mirror_at(source, UrlTarget(url, layout="v2"), session, options)
        return replace(discover_mirror(registry), layout="OCI")
    target = parse_target(url)
    mirror = mirror_at(source, replace(target, view=view or target.view), session, options)
    if not target.name:
        return discover_mirror(mirror)
    file = mirror.storage.fetch(Wanted(target.name, target.checksum, check=check_document))
    document = mirror.document(file)._replace(cached=False)
    return DiscoveredSource(
        source, "file", documents=Documents([document]), checked=file.checked, remark=file.remark
    )


# Specs in the files of a mirror on this machine, whatever its index lists, as `check_index_fn` of
# lib/spack/spack/cmd/buildcache.py.


class StoredSpec(Frozen):
    """A spec of which a mirror has a manifest or spec file.

    `size` is the size of the archive in bytes, if the manifest has it. `problem` says which file
    is missing, or is "". Spack can install a spec that `has_archive`, even if the spec file is
    gone.
    """

    size: int | None = None
    problem: str = ""
    has_archive: bool = True


def stored_specs(mirror: Mirror, on_file: Callable[[], object]) -> dict[str, StoredSpec]:
    """Return the specs of a mirror on this machine in the layout of its target, by hash.

    `on_file` is called for each spec. Raises SourceError and Cancelled.
    """
    stored: dict[str, StoredSpec] = {}
    names, archives = _names_of_specs(mirror, mirror.target.layout)
    for hash_, name in names.items():
        on_file()
        if name.endswith(MANIFEST):
            stored[hash_] = _read_manifest(mirror, name)
        else:
            is_there = hash_ in archives
            why = "" if is_there else "the archive is missing"
            stored[hash_] = StoredSpec(None, why, is_there)
    return stored


def _read_manifest(mirror: Mirror, file: str) -> StoredSpec:
    """Return the spec of a manifest on this machine."""
    try:
        manifest = read_manifest(mirror.fetch_manifest(file)[1])
        size = manifest.blob(ARCHIVE).size
        if manifest.remarks:
            raise Unreadable(manifest.remarks[0])
    except (SourceError, Unreadable) as error:
        why = str(problem_from(error, mirror.storage.origin_of(file)))
        return StoredSpec(None, why, False)
    return StoredSpec(size, *mirror.missing_files(manifest))
