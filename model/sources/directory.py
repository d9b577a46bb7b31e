"""Recognise what a directory is to Spack: an install tree, an environment, a mirror, and so on.

The names are those of lib/spack/spack/database.py, environment/environment.py and
url_buildcache.py.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import time
import zlib
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import compress, islice
from operator import attrgetter

from spackscope.model.core.errors import Cancelled, SourceError, reason
from spackscope.model.core.files import read_head
from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.core.records import Problem
from spackscope.model.core.tasks import ShouldStop
from spackscope.model.sources.document import (
    DiscoveredSource,
    Document,
    Documents,
    FileList,
    combine,
    document_at,
    document_of,
)
from spackscope.model.sources.resolve import DATABASE, has_database
from spackscope.model.sources.session import Session
from spackscope.model.sources.source_name import BUILD_CACHE

_KERNEL = ("/proc", "/sys", "/dev")
_SAMPLE = 8
MOUNTS = "/proc/self/mountinfo"


class Visited:
    """The directories that were visited below one, which is the first.

    Without links, and without mounted file systems, each directory is there once. So the status
    of a directory, which takes as long as that of the only file in it, is not asked for before
    it is needed: until a link leads to a directory, the numbers in the listings are enough.
    """

    def __init__(self, top: str, status: os.stat_result) -> None:
        self._top, self._device = top, status.st_dev
        self._numbers = array("Q", [status.st_ino])
        self._identities: set[tuple[int, int]] = set()
        self._are_listed: bool | None = None
        self._parents = _identities_of(_parents(os.path.realpath(top)))
        # Where one of these is a plain directory, it is on the device of the root.
        devices = {status.st_dev, *(device for device, _ in _identities_of(["/"]))}
        self._kernel = {device for device, _ in _identities_of(_KERNEL)} - devices

    def add_listed(self, directories: Sequence[os.DirEntry[str]]) -> bool:
        """Add directories of a listing, the first time those of the top; all of them are new.

        Returns whether that is certain; from the first time that it is not, none is added here.
        """
        if self._are_listed is None:
            self._are_listed = _are_listed(self._top, directories)
        if self._are_listed and not any(map(os.DirEntry.is_symlink, directories)):
            self._numbers.extend(map(os.DirEntry.inode, directories))
            return True
        self._are_listed = False
        return False

    def add(self, status: os.stat_result) -> bool:
        """Add a directory; return whether it is new."""
        self._are_listed = False
        if not self._identities:
            self._identities.update((self._device, number) for number in self._numbers)
        identity = (status.st_dev, status.st_ino)
        is_new = identity not in self._identities
        self._identities.add(identity)
        return is_new

    def why_left_out(self, status: os.stat_result) -> str:
        """Return why a directory is left out on purpose, or an empty text."""
        if (status.st_dev, status.st_ino) in self._parents:
            return "is not followed: it leads to a directory that contains the source"
        if status.st_dev in self._kernel:
            return "is not read: it is a kernel file system"
        return ""


def _are_listed(top: str, directories: Sequence[os.DirEntry[str]]) -> bool:
    """Check whether listings have the numbers that identify directories, as some of the top.

    Some network and layered file systems list other numbers than they give as a status, and a
    mounted file system is listed with the number of what it covers.
    """
    try:
        with open(MOUNTS, "rb") as table:
            # As proc(5) says, odd characters are octal escapes.
            mounts = [line.split()[4].decode("unicode_escape") for line in table]
        below = os.fsencode(os.path.join(os.path.realpath(top), "")).decode("latin-1")
        return not any(mount.startswith(below) for mount in mounts) and all(
            directory.inode() == directory.stat().st_ino for directory in directories[:_SAMPLE]
        )
    except (OSError, ValueError, IndexError):
        return False


def _parents(path: str) -> Iterator[str]:
    """Yield all directories that contain a path."""
    while (parent := os.path.dirname(path)) != path:
        yield parent
        path = parent


def _identities_of(directories: Iterable[str]) -> set[tuple[int, int]]:
    """Return device and inode of each directory that exists."""
    identities = set()
    for directory in directories:
        with suppress(OSError):
            status = os.stat(directory)
            identities.add((status.st_dev, status.st_ino))
    return identities


MAX_ENTRIES = 1_000_000
"""Files and directories of a source that are visited; Spack's site has 113,000."""

_BATCH = 256
"""Files whose status is asked for before anybody can stop it, which may take long."""

_NAME, _PATH, _MODE = attrgetter("name"), attrgetter("path"), attrgetter("st_mode")

Entries = list["os.DirEntry[str]"]


class FoundFiles(Frozen):
    """The paths of some files, and the status of each."""

    paths: list[str]
    statuses: list[os.stat_result]


class LeftOut(Frozen):
    """The path of what is not read, and why."""

    path: str
    reason: str


class Walk:
    """Finds the files below a directory whose status is known.

    Arguments:
        top: The directory.
        status: Its status.
        markers: The names of entries by which it is recognised what a directory is to Spack.
        enter: Called with each directory with such an entry and the names of all its entries;
            returns whether these are visited.
        should_stop: Called for each directory.

    Links are followed, each directory is visited once. Besides what cannot be read, directories
    that contain the top are left out, kernel file systems, and whatever exceeds `MAX_ENTRIES`.

    A loop in Python would add a third to the time that a file takes. So files are collected from
    several directories, and go through functions written in C.
    """

    def __init__(
        self,
        top: str,
        status: os.stat_result,
        markers: Collection[str],
        enter: Callable[[str, Collection[str]], bool],
        should_stop: ShouldStop,
    ) -> None:
        self._visited = Visited(top, status)
        self._markers, self._enter, self._should_stop = markers, enter, should_stop
        # No recursion: directories can be nested deeper than Python's calls.
        self._pending = [top]
        self._files: Entries = []

    def found(self) -> Iterator[FoundFiles | LeftOut]:
        """Yield the files in the order of their paths, and what is left out. Raises Cancelled."""
        entries_left = MAX_ENTRIES
        while self._pending:
            if self._should_stop():
                raise Cancelled
            directory = self._pending.pop()
            try:
                # It is closed at its end.
                scan = os.scandir(directory)
                entries = list(islice(scan, entries_left + 1))
            except OSError as error:
                yield from self._left_out(directory, reason(error))
                continue
            if len(entries) > entries_left:
                scan.close()
                limit = f"at most {MAX_ENTRIES:,} files and directories of a source are read"
                why = f"is not read, nor is what follows: {limit}"
                yield from self._left_out(directory, why)
                return
            entries_left -= len(entries)
            if len(entries) > 1:
                entries.sort(key=_NAME)
            if self._are_files(entries):
                self._files += entries
            elif self._may_enter(directory, entries):
                yield from self._visit(entries)
            if len(self._files) >= _BATCH:
                yield from self._statuses()
        yield from self._statuses()

    def _are_files(self, entries: Entries) -> bool:
        """Check whether nothing among some entries is a directory or tells of Spack."""
        markers = self._markers
        try:
            for entry in entries:
                if entry.name in markers or entry.is_dir():
                    return False
        except OSError:
            # A link that leads nowhere.
            return False
        return True

    def _may_enter(self, directory: str, entries: Entries) -> bool:
        names = [entry.name for entry in entries]
        return not any(name in self._markers for name in names) or self._enter(directory, names)

    def _visit(self, entries: Entries) -> Iterator[FoundFiles | LeftOut]:
        """Take the files and directories of a directory."""
        with suppress(OSError):
            directories = list(filter(os.DirEntry.is_dir, entries))
            if self._visited.add_listed(directories):
                self._pending += map(_PATH, reversed(directories))
                self._files += [entry for entry in entries if not entry.is_dir()]
                return
        directories = []
        for entry in entries:
            try:
                status = entry.stat()
            except OSError as error:
                yield from self._left_out(entry.path, reason(error))
                continue
            if not stat.S_ISDIR(status.st_mode):
                self._files.append(entry)
            elif self._visited.add(status):
                if why := self._visited.why_left_out(status):
                    yield from self._left_out(entry.path, why)
                else:
                    directories.append(entry)
        self._pending += map(_PATH, reversed(directories))

    def _left_out(self, path: str, why: str) -> Iterator[FoundFiles | LeftOut]:
        yield from self._statuses()
        yield LeftOut(path, why)

    def _statuses(self) -> Iterator[FoundFiles | LeftOut]:
        """Yield the files that were collected."""
        files, self._files = self._files, []
        for start in range(0, len(files), _BATCH):
            yield from _files_of(files[start : start + _BATCH])


def _files_of(entries: Entries) -> Iterator[FoundFiles | LeftOut]:
    """Yield the regular files among some entries."""
    try:
        statuses = list(map(os.DirEntry.stat, entries))
    except OSError as error:
        if len(entries) == 1:
            yield LeftOut(entries[0].path, reason(error))
        else:
            for entry in entries:
                yield from _files_of([entry])
        return
    if not all(map(stat.S_ISREG, map(_MODE, statuses))):
        regular = [stat.S_ISREG(status.st_mode) for status in statuses]
        entries, statuses = list(compress(entries, regular)), list(compress(statuses, regular))
    if entries:
        yield FoundFiles(list(map(_PATH, entries)), statuses)


_DATABASE_FOLDER = ".spack-db"
_LOCK = "spack.lock"
_MARKERS = frozenset({_DATABASE_FOLDER, _LOCK, "spack.yaml", "v3", "build_cache", "bin"})
_SPEC_FILES = (".spec.json.sig", ".spec.json", ".spec.yaml")
_PAGE = "specs.md"
_PROGRESS_SECONDS = 0.1
_ENDINGS = (".json", ".lock", ".sig", ".yaml", ".gz", ".zst")
_START = re.compile(
    rb"""\s*\{\s*"(database|_meta|roots|concrete_specs|spec)"\s*:"""
    rb"""|(-----BEGIN\ PGP\ SIGNED\ MESSAGE-----)"""
    rb"""|(?:---[ \t]*\r?\n)?(?:spec|binary_cache_checksum|buildinfo):[ \t]*\r?\n""",
    re.VERBOSE,
)
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_HEAD_SIZE = 512


def discover_directory(source: str, top: str, shown: str, session: Session) -> DiscoveredSource:
    """Discover the documents of a directory, and of all directories below it that Spack made.

    `shown` is its path as the user wrote it. Raises SourceError where there is nothing to read,
    and Cancelled.
    """
    # Without what a path does not need.
    parts = [part for part in shown.split("/") if part not in ("", ".")]
    origin = ("/" if shown.startswith("/") else "") + "/".join(parts)
    try:
        names = os.listdir(top)
        status = os.stat(top)
    except OSError as error:
        raise SourceError(f"the source {source} {reason(error)}") from None
    search = _Search(source, session)
    top_name = os.path.basename(top)
    if top_name == "build_cache" and _has_spec_files(top):
        return search.mirror(top, origin, build_cache="")
    if top_name in (_DATABASE_FOLDER, ".spack-env", "v3") and _MARKERS.isdisjoint(names):
        parent, names = os.path.dirname(top), [top_name]
        with contextlib.suppress(OSError):
            names = os.listdir(parent)
        directory = search.made_by_spack(parent, os.path.dirname(origin), names)
    else:
        directory = search.made_by_spack(top, origin, names)
    return search.below(top, origin, status) if directory is None else directory


class _Search:
    """The search for documents of one source in directories."""

    def __init__(self, source: str, session: Session) -> None:
        self.source, self.session = source, session
        self._count = 0
        self._last_progress = time.monotonic()

    def below(self, top: str, origin: str, status: os.stat_result) -> DiscoveredSource:
        """Discover everything below a directory that Spack did not make itself."""
        parts: list[DiscoveredSource] = []

        def enter(directory: str, names: Collection[str]) -> bool:
            self._report()
            shown = os.path.join(origin, os.path.relpath(directory, top))
            try:
                part = self.made_by_spack(directory, shown, names)
            except SourceError as error:
                problem = Problem(shown, "", str(error))
                part = DiscoveredSource(self.source, "", problems=(problem,))
            if part is not None:
                parts.append(part)
            return part is None

        walk = Walk(top, status, _MARKERS, enter, self.session.should_stop)
        parts[:0] = self._loose(walk, FileList(top, origin))
        if not any(part.documents for part in parts):
            problems = [problem for part in parts for problem in part.problems]
            why = f"cannot be read: {problems[0].reason}" if problems else "contains no files"
            raise SourceError(f"the source {self.source} {why}")
        kinds = {part.kind for part in parts if part.kind}
        return replace(combine(parts), kind=kinds.pop() if len(kinds) == 1 else "directory")

    def _loose(self, walk: Walk, files: FileList) -> list[DiscoveredSource]:
        """Separate what Spack wrote from other files, which may be pages under any name."""
        known: list[Document] = []
        for found in walk.found():
            self._report()
            if isinstance(found, LeftOut):
                files.add_unreadable(found.path, found.reason)
                continue
            paths, statuses = found.paths, found.statuses
            self._count += len(paths)
            odd = [index for index, path in enumerate(paths) if path.endswith(_ENDINGS)]
            taken = self._sniff([(paths[index], statuses[index]) for index in odd], files)
            if taken:
                known += taken.values()
                left = [path not in taken for path in paths]
                paths, statuses = list(compress(paths, left)), list(compress(statuses, left))
            files.add(paths, statuses)
        has_page = not known or any(os.path.basename(path) == _PAGE for path, *_ in files)
        spec_files = Documents(document for document in known if document.cached)
        others = Documents(document for document in known if not document.cached)
        parts = [
            DiscoveredSource(
                self.source,
                "pages" if has_page else "",
                documents=Documents((), files, self.source),
            ),
            DiscoveredSource(self.source, "mirror", "spec files", spec_files),
            DiscoveredSource(self.source, "file", documents=others),
        ]
        return [part for part in parts if part.documents]

    def _sniff(
        self, found: Iterable[tuple[str, os.stat_result]], files: FileList
    ) -> dict[str, Document]:
        """Return the documents of databases, locks and spec files among some files."""
        taken = {}
        for path, status in found:
            self._report()
            document = _sniff(document_of(self.source, path, files.origin_of(path), status))
            if document.kind == "known":
                taken[path] = document
        return taken

    def _report(self) -> None:
        """Report progress, ten times a second. Raises Cancelled."""
        self.session.check_cancelled()
        if time.monotonic() - self._last_progress > _PROGRESS_SECONDS:
            self.session.on_progress("files found", self._count, None)
            self._last_progress = time.monotonic()

    def made_by_spack(
        self, directory: str, origin: str, names: Collection[str]
    ) -> DiscoveredSource | None:
        """Discover a directory that Spack made; None for any other. Raises SourceError."""
        if _DATABASE_FOLDER in names:
            return self._install_tree(directory, origin)
        if _LOCK in names:
            return self._file(directory, origin, "environment", _LOCK)
        if ("v3" in names and _has_v3_layout(directory)) or (
            "build_cache" in names and _has_spec_files(os.path.join(directory, "build_cache"))
        ):
            return self.mirror(directory, origin)
        if "bin" in names and _is_spack(directory):
            return self._install_trees_of(directory)
        if "spack.yaml" in names:
            name = origin or directory
            raise SourceError(
                f"the environment {name} is not concretized: it has no {_LOCK};"
                f" create one with `spack -e {name} concretize`"
            )
        return None

    def mirror(
        self, directory: str, origin: str, build_cache: str = BUILD_CACHE
    ) -> DiscoveredSource:
        """Discover a mirror, or a `build_cache` folder. Raises SourceError."""
        from spackscope.model.sources.mirror import Mirror, discover_mirror
        from spackscope.model.storage.local import LocalFolder

        folder = LocalFolder(directory, origin)
        return discover_mirror(Mirror(self.source, folder, self.session, build_cache=build_cache))

    def _install_tree(self, directory: str, origin: str) -> DiscoveredSource:
        try:
            return self._file(directory, origin, "install tree", DATABASE)
        except SourceError as error:
            raise SourceError(f"the database of the install tree {error}") from None

    def _file(self, directory: str, origin: str, kind: str, name: str) -> DiscoveredSource:
        path = os.path.join(directory, name)
        document = document_at(self.source, path, os.path.join(origin, name))
        if not os.path.isfile(path):
            raise SourceError(f"{document.origin} cannot be read: not a regular file")
        return DiscoveredSource(self.source, kind, documents=Documents([document]))

    def _install_trees_of(self, spack_root: str) -> DiscoveredSource:
        """Discover the install trees that a Spack is configured to use."""
        from spackscope.model.sources.spack_config import read_spack_config

        environ = {**self.session.environ, "SPACK_ROOT": spack_root, "SPACK_ENV": ""}
        config = read_spack_config(environ)
        trees = config.trees if config is not None else ()
        parts = [self._install_tree(tree, tree) for tree in trees if has_database(tree)]
        if not parts:
            tried = " or ".join(trees) or spack_root
            raise SourceError(f"the Spack in {spack_root} has no install database in {tried}")
        return replace(combine(parts), problems=config.problems if config is not None else ())


def _is_spack(directory: str) -> bool:
    """Check whether a directory is the root of a Spack."""
    return os.path.isfile(os.path.join(directory, "bin", "spack")) and os.path.isdir(
        os.path.join(directory, "lib", "spack", "spack")
    )


def _has_v3_layout(directory: str) -> bool:
    return os.path.isfile(os.path.join(directory, "v3", "layout.json")) or os.path.isdir(
        os.path.join(directory, "v3", "manifests")
    )


def _has_spec_files(directory: str) -> bool:
    try:
        with os.scandir(directory) as entries:
            return any(
                entry.name == "index.json" or entry.name.endswith(_SPEC_FILES) for entry in entries
            )
    except OSError:
        return False


def _sniff(document: Document) -> Document:
    """Return a file of a directory as a known document, if it is a database, lock or spec file.

    Only files with an ending of these are opened. A spec file is in a build cache.
    """
    try:
        head = read_head(document.path, _HEAD_SIZE)
        if head.startswith(_GZIP):
            head = zlib.decompressobj(wbits=31).decompress(head, _HEAD_SIZE)
    except (OSError, zlib.error):
        return document
    if head.startswith(_ZSTD):
        return replace(document, kind="known")
    start = _START.match(head)
    if start is None:
        return document
    return replace(document, kind="known", cached=(start[1] or b"spec") == b"spec")
