"""Resolve the names of sources, and discover the documents in them.

A directory may be an install tree, an environment, a mirror, and so on; any other directory is
searched. The names in these are defined by lib/spack/spack/database.py, environment/environment.py
and url_buildcache.py.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import time
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from operator import attrgetter

from spackscope.model.core.errors import (
    NotFound,
    SourceError,
    Unreachable,
    describe_error,
    naming,
    reason,
)
from spackscope.model.core.file_access import read_head
from spackscope.model.core.frozen import replace
from spackscope.model.core.records import Problem
from spackscope.model.core.redaction import shown_url
from spackscope.model.core.tasks import check_cancelled, progress_to, report_progress, run_parallel
from spackscope.model.sources.document import (
    PAGE_NAME,
    DiscoveredSource,
    Document,
    Documents,
    FileList,
    combine,
    document_at,
    document_of,
)
from spackscope.model.sources.resolve import DATABASE, LOCK, has_database
from spackscope.model.sources.session import Session
from spackscope.model.sources.source_name import (
    PREFIX,
    PUBLIC,
    STANDARD_INPUT,
    TAG_LIST,
    UrlTarget,
    absolute_path,
    parse_public_cache,
    parse_target,
    path_or_url,
    unique_names,
)
from spackscope.model.sources.spack_config import find_mirror, read_spack_config
from spackscope.model.sources.walk_cache import WalkCache
from spackscope.model.storage.base import LocalFolder, Storage, is_remote, scheme_of

_LATE_SECONDS = 2.0
"""Time after which `on_late` is called with the sources that have answered."""


def discover(
    sources: Sequence[str],
    session: Session,
    *,
    on_late: Callable[[list[DiscoveredSource]], None] | None = None,
) -> list[DiscoveredSource]:
    """Discover the documents of each source, in the order given; several ones in parallel.

    A source that cannot be read has a `failure`, whatever went wrong; the others are discovered
    all the same. Where some sources take long, `on_late` is called once with all sources; sources
    without an answer have a failure then. Raises Cancelled.

        (mirror,) = discover(["~/mirror"], Session(os.environ))
        mirror.failure or [document.path for document in mirror.documents]
    """

    began = reported = time.monotonic()
    is_shown = False

    def on_progress(*_: object) -> None:
        nonlocal reported
        reported = time.monotonic()

    def wait(results: Mapping[int, DiscoveredSource]) -> None:
        nonlocal is_shown
        now = time.monotonic()
        if is_shown or now - began < _LATE_SECONDS:
            return
        late = [_failed(source, "has not answered yet", is_late=True) for source in sources]
        if results and on_late is not None:
            is_shown = True
            on_late(_unique([results.get(index, other) for index, other in enumerate(late)]))
        elif now - reported > _LATE_SECONDS:
            names = (each.source for index, each in enumerate(late) if index not in results)
            report_progress(f"waiting for {', '.join(names)}", 0)

    tasks = [partial(_discover, source, session) for source in sources]
    # Also a path of this machine may hang, as below a mount whose server is gone.
    with progress_to(on_progress):
        return _unique(run_parallel(tasks, wait))


def _unique(sources: Sequence[DiscoveredSource]) -> list[DiscoveredSource]:
    """Add numbers to repeated names."""
    unique = []
    names = unique_names(source.source for source in sources)
    for source, name in zip(sources, names, strict=True):
        documents = source.documents
        if name != source.source:
            documents = documents.named(name)
        unique.append(replace(source, source=name, documents=documents))
    return unique


def _discover(source: str, session: Session) -> DiscoveredSource:
    """Discover one source; every error but Cancelled becomes its failure."""
    check_cancelled()
    try:
        return _found(source, session)
    except SourceError as error:
        message, shown = str(error), shown_url(source).partition("?")[0].rstrip("/")
        if source != STANDARD_INPUT and shown not in message:
            message = _failed(source, f"cannot be read: {message}").failure
        if isinstance(error, (NotFound, Unreachable)) and source.partition(":")[0] == PUBLIC:
            public = parse_public_cache(source, session.environ, session.tag_list)
            if public is not None and public.tag_list == TAG_LIST:
                message += "; SPACKSCOPE_PUBLIC can name a copy of its tag list"
            else:
                message += "; SPACKSCOPE_PUBLIC or the setting public names this tag list"
        return replace(_failed(source, ""), failure=message)
    except Exception as error:
        return _failed(source, f"cannot be read: {describe_error(error)}")


def _failed(source: str, why: str, *, is_late: bool = False) -> DiscoveredSource:
    """Return a source that could not be read, with the kind that its name suggests."""
    name, kind = shown_url(source), "pages"
    if source == STANDARD_INPUT:
        kind = "standard input"
    elif source.startswith(PUBLIC):
        kind = "public cache"
    elif is_remote(source) or source.startswith(PREFIX):
        kind = "mirror"
    return DiscoveredSource(name, kind, failure=f"the source {name} {why}", is_late=is_late)


def _found(source: str, session: Session) -> DiscoveredSource:
    """Discover the documents of a source. Raises SourceError and Cancelled."""
    if path := session.piped.get(source):
        kind = "standard input" if source == STANDARD_INPUT else "pipe"
        origin = kind if source == STANDARD_INPUT else source
        document = document_at(source, path, origin)
        return DiscoveredSource(source, kind, documents=Documents([document]))
    if source == STANDARD_INPUT:
        raise SourceError("standard input was not read")
    if (public := parse_public_cache(source, session.environ, session.tag_list)) is not None:
        from spackscope.model.sources.mirror import discover_public_cache

        return discover_public_cache(shown_url(source), public, session)
    name = shown_url(source) if scheme_of(source) else source
    address, view = source, ""
    options: Mapping[str, object] = {}
    if source.startswith(PREFIX):
        mirror = find_mirror(source, session.spack)
        address, options, view = mirror.url, mirror.options, mirror.view
    if is_remote(address):
        # Modules for servers take longer to import than modules that read an index.
        from spackscope.model.sources.mirror import discover_url

        return discover_url(name, address, session, options, view)
    return _found_here(name, address, session, view)


def _found_here(source: str, address: str, session: Session, view: str) -> DiscoveredSource:
    """Discover the documents at a path or `file:` URL of a source, or of a Spack mirror."""
    address = path_or_url(address)
    if scheme := scheme_of(address):
        raise SourceError(f"the source {shown_url(address)}: {scheme}:// is not supported")
    path = absolute_path(address)
    is_directory = os.path.isdir(path)
    target = UrlTarget(address, view=view) if is_directory else parse_target(address)
    if not (target.view and os.path.isdir(absolute_path(target.top))):
        try:
            mode = os.stat(path).st_mode
        except (OSError, ValueError) as error:
            why = "does not exist" if isinstance(error, FileNotFoundError) else reason(error)
            name = shown_url(source)
            name = f"{name}, {shown_url(address)}," if source.startswith(PREFIX) else name
            raise SourceError(f"the source {name} {why}") from None
        if is_directory:
            return discover_directory(source, path, address, session)
        if not stat.S_ISREG(mode):
            raise SourceError(f"the source {source} is neither a file nor a directory")
    if target.view or (target.layout == "v3" and not target.name):
        return _mirror(source, target, session.open(target.top))
    documents = Documents([document_at(source, path, address)])
    return DiscoveredSource(source, "file", documents=documents)


# Directories.


MAX_ENTRIES = 1_000_000
"""Files and directories of a source that are visited; Spack's site has 113,000."""

_DATABASE_FOLDER = ".spack-db"
_METADATA = ".spack"
_MARKERS = frozenset({_DATABASE_FOLDER, _METADATA, LOCK, "spack.yaml", "v3", "build_cache", "bin"})
_SPEC_OF_PREFIX = f"{_METADATA}/spec.json"
_SPEC_FILES = (".spec.json.sig", ".spec.json", ".spec.yaml")
_KERNEL = ("proc", "sys")
"""Folders with kernel file systems, also in a copy of a whole system, such as a chroot."""

_CHECK_EVERY = 256
"""Files between two reports, which check for cancellation; a status may take long."""

_ENDINGS = (".json", ".lock", ".sig", ".yaml", ".gz", ".zst")
_START = (
    rb"""(?x)\s*\{\s*"(database|_meta|roots|concrete_specs|spec)"\s*:"""
    rb"""|(-----BEGIN\ PGP\ SIGNED\ MESSAGE-----)"""
    rb"""|(?:---[ \t]*\r?\n)?(?:spec|binary_cache_checksum|buildinfo):[ \t]*\r?\n"""
)
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_HEAD_SIZE = 512


def discover_directory(source: str, top: str, shown: str, session: Session) -> DiscoveredSource:
    """Discover the documents of a directory, and of all directories below it that Spack made.

    `shown` is its path as the user wrote it. Raises SourceError where there is nothing to read,
    and Cancelled.
    """
    # Without "." and repeated slashes.
    parts = [part for part in shown.split("/") if part not in ("", ".")]
    origin = ("/" if shown.startswith("/") else "") + "/".join(parts)
    with naming(f"the source {source}"):
        names = os.listdir(top)
    top_name = os.path.basename(top)
    if top_name == "build_cache" and _has_spec_files(top):
        above = LocalFolder(os.path.dirname(top), os.path.dirname(origin))
        return _mirror(source, UrlTarget(above.top, layout="v2"), above)
    directory = top
    if top_name in (_DATABASE_FOLDER, ".spack-env", "v3") and _MARKERS.isdisjoint(names):
        directory, names = os.path.dirname(top), [top_name]
        with contextlib.suppress(OSError):
            names = os.listdir(directory)
    origin_there = origin if directory == top else os.path.dirname(origin)
    made = _made_by_spack(source, directory, origin_there, names, session)
    return made or _Search(source, session).below(top, origin)


class _Search:
    """The search for documents of one source below a directory that Spack did not make itself."""

    def __init__(self, source: str, session: Session) -> None:
        self._source, self._session = source, session
        self._parts: list[DiscoveredSource] = []
        self._problems: list[Problem] = []
        self._count = 0

    def below(self, top: str, origin: str) -> DiscoveredSource:
        """Discover all documents; a file of no other format may be a page. Raises Cancelled."""
        files, cache = FileList(top, origin), WalkCache(top, self._session)
        spec_files: list[Document] = []
        others: list[Document] = []
        has_page = False
        for path, status in self._files(cache, top, files):
            document = None
            self._count += 1
            if self._count % _CHECK_EVERY == 0:
                report_progress("files found", self._count)
            if path.endswith(_ENDINGS):
                document = _known(document_of(self._source, path, files.origin_of(path), status))
            if document is None:
                files.add(path, status)
                has_page = has_page or os.path.basename(path) == PAGE_NAME
            else:
                (spec_files if document.cached else others).append(document)
        kind = "pages" if has_page or not (spec_files or others) else ""
        found = [
            DiscoveredSource(self._source, kind, documents=Documents((), files, self._source)),
            DiscoveredSource(self._source, "mirror", "spec files", Documents(spec_files)),
            DiscoveredSource(self._source, "file", documents=Documents(others)),
            *self._parts,
        ]
        parts = [part for part in found if part.documents]
        if parts:
            combined = combine(parts)
            kinds = {part.kind for part in parts if part.kind}
            problems = (*self._problems, *combined.problems)
            kind = kinds.pop() if len(kinds) == 1 else "directory"
            return replace(combined, kind=kind, problems=problems)
        why = self._problems[0].reason if self._problems else "contains no files"
        lead = "" if why.startswith(("contains", "cannot", "is not")) else "cannot be read: "
        failure = f"the source {self._source} {lead}{why}"
        return replace(found[0], problems=tuple(self._problems), failure=failure)

    def _files(
        self, cache: WalkCache, top: str, files: FileList
    ) -> Iterator[tuple[str, os.stat_result]]:
        """Yield all files below a directory by path and status, in the order of their paths.

        Directories are listed only if names may have changed since the last walk. A file that
        cannot be read is a problem. Raises Cancelled.
        """
        paths = cache.files()
        if paths is None:
            yield from self._walk(cache, top, files)
            return
        for path in paths:
            try:
                status = os.stat(path)
            except OSError as error:
                unread = Problem(files.origin_of(path), "", reason(error), is_unread=True)
                self._problems.append(unread)
                continue
            yield path, status

    def _walk(
        self, cache: WalkCache, top: str, files: FileList
    ) -> Iterator[tuple[str, os.stat_result]]:
        """Yield all files below a directory by path and status, in the order of their paths.

        A directory that Spack made is discovered and not entered. Links are followed, and each
        directory is visited once. Everything left out is a problem: unreadable files and
        directories, links to directories that contain the top, kernel file systems, and entries
        after the first `MAX_ENTRIES`. Raises Cancelled.
        """

        def leave_out(path: str, why: str) -> None:
            self._problems.append(Problem(files.origin_of(path), "", why, is_unread=True))

        real_top = os.path.realpath(top)
        visited = {real_top}
        entries_left = MAX_ENTRIES
        # No recursion: directories can be nested deeper than Python's calls.
        pending = [(top, real_top)]
        while pending:
            directory, real = pending.pop()
            report_progress("files found", self._count)
            cache.enter(directory)
            try:
                with os.scandir(directory) as scan:
                    entries = sorted(islice(scan, entries_left + 1), key=attrgetter("name"))
            except OSError as error:
                leave_out(directory, reason(error))
                continue
            entries_left -= len(entries)
            if entries_left < 0:
                limit = f"at most {MAX_ENTRIES:,} files and directories of a source are read"
                leave_out(directory, f"is not read, nor is anything after it: {limit}")
                return
            names = [entry.name for entry in entries]
            if not _MARKERS.isdisjoint(names):
                origin = files.origin_of(directory)
                try:
                    part = _made_by_spack(self._source, directory, origin, names, self._session)
                except SourceError as error:
                    leave_out(directory, str(error))
                    continue
                if part is not None:
                    self._parts.append(part)
                    continue
            below, real_prefix = [], os.path.join(real, "")
            for entry in entries:
                try:
                    is_link = entry.is_symlink()
                    cache.is_plain &= not is_link
                    if not entry.is_dir():
                        status = entry.stat()
                        if stat.S_ISREG(status.st_mode):
                            cache.add(entry.name)
                            yield entry.path, status
                        continue
                    # The status of a plain directory is not needed, and takes as long as that of
                    # the only file in it.
                    below_real = real_prefix + entry.name
                    if is_link:
                        below_real = os.path.realpath(entry.path)
                    if below_real in visited:
                        continue
                    visited.add(below_real)
                    if is_link and real_top.startswith(os.path.join(below_real, "")):
                        why = "is not followed: it leads to a directory that contains the source"
                        leave_out(entry.path, why)
                    # As `df`, which leaves out file systems without blocks.
                    elif (is_link or entry.name in _KERNEL) and not os.statvfs(
                        entry.path
                    ).f_blocks:
                        leave_out(entry.path, "is not read: it is a kernel file system")
                    else:
                        below.append((entry.path, below_real))
                except OSError as error:
                    leave_out(entry.path, reason(error))
            pending += reversed(below)
        if not (self._parts or self._problems):
            cache.save()


def _made_by_spack(
    source: str, directory: str, origin: str, names: Collection[str], session: Session
) -> DiscoveredSource | None:
    """Discover a directory that Spack made; None for any other. Raises SourceError."""
    if _DATABASE_FOLDER in names or LOCK in names:
        parts = []
        if _DATABASE_FOLDER in names:
            parts.append(_file(source, directory, origin))
        # A directory may be both, as that of a site whose environment has its view there.
        if LOCK in names:
            environment = _file(source, directory, origin, "environment", LOCK)
            parts.append(replace(environment, layout=f"with {LOCK}") if parts else environment)
        return combine(parts)
    if _METADATA in names and os.path.isfile(os.path.join(directory, _SPEC_OF_PREFIX)):
        # As `DirectoryLayout.all_specs` of lib/spack/spack/directory_layout.py, by which Spack
        # makes a database anew.
        installed = _file(source, directory, origin, "install tree", _SPEC_OF_PREFIX)
        (document,) = installed.documents
        documents = Documents([document._replace(prefix=directory)])
        return replace(installed, layout="prefix", documents=documents)
    # Names alone make no mirror, and no Spack.
    if _is_mirror(directory, names):
        return _mirror(source, UrlTarget(directory), LocalFolder(directory, origin))
    if os.path.isfile(os.path.join(directory, "bin", "spack")) and os.path.isdir(
        os.path.join(directory, "lib", "spack", "spack")
    ):
        config = read_spack_config({**session.environ, "SPACK_ROOT": directory, "SPACK_ENV": ""})
        assert config is not None
        parts = [_file(source, tree, tree) for tree in filter(has_database, config.trees)]
        if not parts:
            tried = " or ".join(config.trees)
            raise SourceError(f"the Spack in {directory} has no install database in {tried}")
        return replace(combine(parts), problems=config.problems)
    if "spack.yaml" in names:
        name = origin or directory
        raise SourceError(
            f"the environment {name} is not concretized: it has no {LOCK};"
            f" create one with `spack -e {name} concretize`"
        )
    return None


def kind_of(path: str) -> str:
    """Return what Spack made a file or directory as, by names and first bytes; "" for others.

    Raises Cancelled.
    """
    check_cancelled()
    try:
        if not os.path.isdir(path):
            is_known = path.endswith(_ENDINGS) and _known(document_at(path, path, path))
            return ("environment" if path.endswith(".lock") else "file") if is_known else ""
        names = os.listdir(path)
    except (OSError, SourceError):
        return ""
    if _DATABASE_FOLDER in names:
        return "install tree"
    return "environment" if LOCK in names else "mirror" if _is_mirror(path, names) else ""


def _is_mirror(directory: str, names: Collection[str]) -> bool:
    v3, build_cache = os.path.join(directory, "v3"), os.path.join(directory, "build_cache")
    return (
        os.path.isfile(os.path.join(v3, "layout.json"))
        or os.path.isdir(os.path.join(v3, "manifests"))
        or ("build_cache" in names and _has_spec_files(build_cache))
    )


def _mirror(source: str, target: UrlTarget, storage: Storage) -> DiscoveredSource:
    """Discover a mirror. Raises SourceError."""
    from spackscope.model.sources.mirror import Mirror, discover_mirror

    return discover_mirror(Mirror(source, storage, target))


def _file(
    source: str, directory: str, origin: str, kind: str = "install tree", name: str = DATABASE
) -> DiscoveredSource:
    document = document_at(source, os.path.join(directory, name), os.path.join(origin, name))
    return DiscoveredSource(source, kind, documents=Documents([document]))


def _has_spec_files(directory: str) -> bool:
    with contextlib.suppress(OSError):
        endings = ("/index.json", *_SPEC_FILES)
        return any(f"/{name}".endswith(endings) for name in os.listdir(directory))
    return False


def _known(document: Document) -> Document | None:
    """Return a file as a known document if it begins as a database, lock or spec file; else None.

    A file that is packed with zstd is one, too. The specs of a spec file are in a build cache.
    """
    try:
        head = read_head(document.path, _HEAD_SIZE)
        if head.startswith(_GZIP):
            head = zlib.decompressobj(wbits=31).decompress(head, _HEAD_SIZE)
    except (OSError, zlib.error):
        return None
    if head.startswith(_ZSTD):
        return document._replace(kind="known")
    start = re.match(_START, head)
    if start is None:
        return None
    return document._replace(kind="known", cached=(start[1] or b"spec") == b"spec")
