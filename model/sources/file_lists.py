"""Read the files and the times of a build, from its prefix or its archive in a mirror.

A prefix has the list `.spack/install_manifest.json`, which lib/spack/spack/verify.py writes, and
`.spack/install_times.json`, by `Timer.write_json` of lib/spack/spack/util/timer.py, with `cache`
for a spec that was fetched, not built. An archive begins with both, so that no more is fetched
from a server. Names in lists and archives are not trusted: no file is opened by such a name.

An archive of a mirror, of any layout, is a tar file that is compressed with gzip. Its first files
are those in `.spack`, after a few in the prefix itself: `reproducible_tarfile_from_prefix` of
lib/spack/spack/util/archive.py adds the files of a folder, sorted, before its folders. Before
Spack 0.17 it is a member of another tar file, beside its spec file: `build_tarball` of
lib/spack/spack/binary_distribution.py of 0.16.
"""

from __future__ import annotations

import json
import os
import stat
import tarfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Any, BinaryIO, NamedTuple, cast

from spackscope.model.core.errors import SourceError, Unreadable, naming, reason
from spackscope.model.core.file_access import max_unpacked_size, open_file, read_file
from spackscope.model.core.records import SourceStatus, Spec
from spackscope.model.core.tasks import check_cancelled
from spackscope.model.core.text import counted
from spackscope.model.readers.json import AS_SPACK, parse, storable
from spackscope.model.readers.unpack import GZIP, decode, gzip_pieces
from spackscope.model.sources.mirror_spec import MirrorEntry, Mirrors
from spackscope.model.sources.session import Session
from spackscope.model.sources.source_name import absolute_path
from spackscope.model.storage.base import FetchedFile

MAX_ARCHIVE = 2**30
"""Bytes of an archive; larger ones are not read."""

BEGINNINGS = (2**17, 900_000)
"""Bytes at the beginning of an archive in which Spack's own files are searched: first, and last.

The list of 1,000 files takes some 50 kB.
"""

MANIFEST, TIMES = "/.spack/install_manifest.json", "/.spack/install_times.json"
MAX_MANIFEST, _MAX_TIMES = 2**26, 2**20
_MAX_HEADER = 2**16
_MAX_OUTER = 16
"""Members that are searched for the compressed one, with those that hold long names."""


def _find_packed(file: BinaryIO) -> tuple[int, int | None]:
    """Return where in a file the compressed archive begins, and its size; None to the end."""
    at = 0
    for _ in range(_MAX_OUTER):
        file.seek(at)
        header, start = file.read(tarfile.BLOCKSIZE), file.read(len(GZIP))
        try:
            member = tarfile.TarInfo.frombuf(header, "utf-8", "surrogateescape")
        except tarfile.HeaderError:
            break
        at += tarfile.BLOCKSIZE
        if start == GZIP and member.isreg():
            return at, max(0, member.size)
        at += max(0, -(-member.size // tarfile.BLOCKSIZE) * tarfile.BLOCKSIZE)
    return 0, None


_MAX_SECONDS = 366 * 24 * 3600
"""A build that took longer is an error in a file."""


class _Unpacked:
    """An archive that is unpacked once, from its beginning, up to a limit for its size."""

    def __init__(self, file: BinaryIO) -> None:
        self._size = os.fstat(file.fileno()).st_size
        self._pieces, self._unpacked = gzip_pieces(file, *_find_packed(file)), 0
        self._piece, self._at = memoryview(b""), 0

    def tell(self) -> int:
        """Return how many bytes were read or skipped."""
        return self._at

    def read(self, size: int) -> bytes:
        """Read some bytes of a header or a file. Raises Unreadable, OSError and Cancelled."""
        if not 0 <= size <= _MAX_HEADER:
            raise Unreadable(
                f"it has a header of {size:,} bytes; at most {_MAX_HEADER:,} are read"
            )
        return b"".join(self._parts(size))

    def seek(self, offset: int) -> None:
        """Skip the bytes before an offset. Raises Unreadable and OSError."""
        if offset < self._at:
            raise Unreadable("the sizes of its files are wrong")
        for _ in self._parts(offset - self._at):
            pass

    def _parts(self, size: int) -> Iterator[memoryview]:
        while size:
            while not self._piece:
                piece = next(self._pieces, None)
                if piece is None:
                    return
                check_cancelled()
                self._unpacked += len(piece)
                if self._unpacked > max_unpacked_size(self._size):
                    raise Unreadable(f"it unpacks to too much data for {self._size:,} bytes")
                self._piece = memoryview(piece)
            part, self._piece = self._piece[:size], self._piece[size:]
            size -= len(part)
            self._at += len(part)
            yield part


def read_members(
    file: BinaryIO, endings: tuple[str, ...] = (), max_size: int = 0
) -> Iterator[tuple[tarfile.TarInfo, bytes]]:
    """Yield the members of an archive, and up to `max_size` bytes of files by their `endings`.

    `max_size` is a multiple of 64 KiB. Raises Unreadable, OSError and Cancelled.
    """
    unpacked = _Unpacked(file)
    try:
        with tarfile.open(fileobj=cast(BinaryIO, unpacked), mode="r:", encoding="utf-8") as tar:
            while (member := tar.next()) is not None:
                # Earlier members are not kept.
                tar.members.clear()  # type: ignore[attr-defined]
                content = b""
                if member.isreg() and f"/{member.name}".endswith(endings):
                    opened = cast(BinaryIO, tar.extractfile(member))
                    pieces = iter(partial(opened.read, _MAX_HEADER), b"")
                    content = b"".join(islice(pieces, max_size // _MAX_HEADER))
                yield member, content
        # A broken header ends the loop as well.
        while padding := unpacked.read(_MAX_HEADER):
            if padding.strip(b"\0"):
                raise tarfile.ReadError
    except Unreadable:
        raise
    # Long names that follow each other are read within each other.
    except (ValueError, EOFError, RecursionError, tarfile.TarError):
        raise Unreadable("it is not a complete tar file") from None


class ArchiveStart(NamedTuple):
    """The files of Spack's that an archive begins with, each b"" if it is not there.

    `is_whole` if both have passed: the next file has begun.
    """

    manifest: bytes = b""
    times: bytes = b""
    is_whole: bool = False


def read_start(file: BinaryIO) -> ArchiveStart:
    """Return what the part of an archive so far has. Raises OSError and Cancelled."""
    start = ArchiveStart()
    with suppress(Unreadable):
        for member, content in read_members(file, (MANIFEST, TIMES), MAX_MANIFEST):
            if f"/{member.name}".endswith(TIMES):
                start = start._replace(times=start.times or content)
            elif start.manifest:
                return start._replace(is_whole=True)
            else:
                start = start._replace(manifest=content)
    return start


MAX_FILES = 200_000
"""The most files of a spec that are listed."""

NO_LIST = "no install tree or mirror of the sources has a list of the files"
UNLISTED = "its archive on a server does not begin with a list of the files"
TOO_MUCH = "too much would come from servers; ask for fewer specs"
"""Why the files of a spec are unknown, unless a list of them cannot be read."""

MAX_FETCHED = (2**30, 2**34)
"""Bytes from servers after which no more are fetched for an answer; the second with downloads."""

_METADATA = "/.spack/"
_MAX_MODE = 0o177777
_MAX_COUNT = 2**50
"""The least size that is an error."""

_MAX_DEPTH = 4
"""Folders from the root of an install tree down to a prefix, in all of Spack's defaults."""

_TOO_MANY = f"it has more than {MAX_FILES:,} files; the others are ignored"

_KINDS = {stat.S_IFREG: "file", stat.S_IFLNK: "link"}
_TAR_KINDS = {tarfile.SYMTYPE: "link", tarfile.LNKTYPE: "hard link"}


class ListedFile(NamedTuple):
    """A file or link: its path from the prefix, its size in bytes, and the target of a link.

    The kind is `file`, `link`, `link to outside` of the prefix, `hard link` or `other`. `mode` has
    the permissions; size and mode are None where they are unknown.
    """

    path: str
    kind: str
    size: int | None
    target: str
    mode: int | None


class SpecFiles(NamedTuple):
    """The files of a spec, the `place` that lists them, and the `problem` if some are missing."""

    files: Sequence[ListedFile] = ()
    place: str = ""
    problem: str = ""


class FileLists:
    """The files of the specs of a catalog, as its install trees and mirrors list them.

    Archives on servers are read whole only with `may_download`, where they do not begin with a
    list. The methods take all records of a hash, with their provenance; several threads may call
    them.

        FileLists(catalog.sources, session, sources).of([spec]).files
    """

    def __init__(
        self,
        states: Sequence[SourceStatus],
        session: Session,
        sources: Sequence[str],
        *,
        may_download: bool = False,
    ) -> None:
        self._trees = [state.name for state in states if state.kind == "install tree"]
        self._remote = {s.name for s in states if s.checked is not None and not s.failure}
        parts = [[s for s in states if (s.name in self._remote) is is_] for is_ in (False, True)]
        self._mirrors = [Mirrors(part, session, sources) for part in parts]
        self._may_download, self._fetched = may_download, 0

    def are_remote(self, records: Iterable[Spec]) -> bool:
        """Check whether only servers have the archives of a spec."""
        return any(spec.in_cache and self._remote.intersection(spec.sources) for spec in records)

    def of(self, records: Sequence[Spec]) -> SpecFiles:
        """Return the files of a spec from the first place that lists all, or else the most.

        Raises Cancelled.
        """
        found = list[SpecFiles]()
        for each in self._lists(records):
            if not each.problem:
                return each
            found.append(each)
        best = max(found, key=lambda each: len(each.files), default=SpecFiles())
        problem = "; ".join(dict.fromkeys(each.problem for each in found))
        return best._replace(problem=problem or NO_LIST)

    def build_seconds(self, records: Sequence[Spec], *, in_archives: bool) -> float | None:
        """Return the seconds that a build took, as its prefix or an archive has them.

        Raises Cancelled.
        """
        for prefix in filter(None, map(self._prefix_of, records)):
            with suppress(OSError):
                if (seconds := seconds_of(read_file(prefix + TIMES, _MAX_TIMES))) is not None:
                    return seconds
        for entry in self._entries(records) if in_archives else ():
            with suppress(SourceError):
                if (seconds := seconds_of(self._read_start(entry)[1].times)) is not None:
                    return seconds
        return None

    def _entries(self, records: Sequence[Spec]) -> Iterator[MirrorEntry]:
        """Yield the entries of a spec, in mirrors on this machine before others are asked."""
        for mirrors in self._mirrors:
            for spec in records:
                yield from mirrors.entries(spec, to_fetch=True)

    def _lists(self, records: Sequence[Spec]) -> Iterator[SpecFiles]:
        """Yield the files of a spec in each place; an unreadable list is a problem."""
        for prefix in filter(None, map(self._prefix_of, records)):
            try:
                yield _listed(_manifest_files(read_file(prefix + MANIFEST, MAX_MANIFEST)), prefix)
            except FileNotFoundError:
                continue
            except (OSError, Unreadable) as error:
                yield SpecFiles(problem=f"{prefix}{MANIFEST} {reason(error)}")
        for entry in self._entries(records):
            is_remote = entry.source in self._remote
            if is_remote and self._fetched > MAX_FETCHED[self._may_download]:
                yield SpecFiles(problem=TOO_MUCH)
                return
            # The list that a remote archive begins with, or else all of the archive.
            for is_whole in (False, True)[: 1 + self._may_download] if is_remote else (True,):
                try:
                    yield self._in_archive(entry, is_whole)
                except SourceError as error:
                    yield SpecFiles(problem=str(error))

    def _in_archive(self, entry: MirrorEntry, is_whole: bool) -> SpecFiles:
        """Return the files of an archive, or of the list that it begins with.

        Only a whole archive is verified. Raises SourceError and Cancelled.
        """
        if not is_whole:
            fetched, start = self._read_start(entry)
            if not start.manifest:
                return SpecFiles(problem=UNLISTED)
            with naming(fetched.origin):
                return _listed(_manifest_files(start.manifest), f"the list in {fetched.origin}")
        fetched = entry.fetch_archive(MAX_ARCHIVE)
        with naming(fetched.origin), open_file(fetched.path) as file:
            if entry.source in self._remote:
                self._fetched += os.fstat(file.fileno()).st_size
            return _listed(_archive_files(file), fetched.origin)

    def _read_start(self, entry: MirrorEntry) -> tuple[FetchedFile, ArchiveStart]:
        """Fetch the beginning of an archive, and read it. Raises SourceError and Cancelled."""
        for max_size in BEGINNINGS:
            fetched = entry.fetch_archive(max_size, only_start=True)
            with naming(fetched.origin), open_file(fetched.path) as file:
                size, start = os.fstat(file.fileno()).st_size, read_start(file)
            self._fetched += size
            if start.is_whole or size < max_size:
                break
        return fetched, start

    def _prefix_of(self, spec: Spec) -> str:
        """Return the prefix of an installed spec; its tree may have been moved."""
        if spec.external or not (spec.installed and spec.path):
            return ""
        trees = [absolute_path(tree) for tree in self._trees if tree in spec.sources]
        ends = [spec.path.split("/")[-depth:] for depth in range(1, _MAX_DEPTH + 1)]
        prefixes = (os.path.join(tree, *end) for tree in trees for end in ends)
        return next(filter(os.path.isdir, prefixes), spec.path)


def seconds_of(data: bytes) -> float | None:
    """Return the seconds in the file of a build; None if the file has none."""
    try:
        times = json.loads(data)
        total = times["total"]
        # A spec from a cache was not built, and true is a number to Python.
        if times.get("cache") or isinstance(total, bool):
            return None
        return float(total) if 0 <= total <= _MAX_SECONDS else None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


_Found = tuple[str, str, Any, Any, Any]
"""The name of a file with the prefix, its kind, and its target, size and mode, of any type."""


def _manifest_files(data: bytes) -> Iterator[_Found]:
    """Yield the files in the list of a prefix. Raises Unreadable and OSError."""
    found = dict[str, _Found]()

    def keep(name: str, fields: Any) -> None:
        fields = fields if isinstance(fields, dict) else {}
        mode, target = (_count(fields.get("mode")) or 0) & _MAX_MODE, fields.get("dest")
        # The mode of a link was that of its target.
        kind = "link" if target else _KINDS.get(stat.S_IFMT(mode), "other")
        if target or not stat.S_ISDIR(mode):
            found[name] = name, kind, target, fields.get("size"), mode
        if len(found) > MAX_FILES:
            raise Unreadable(_TOO_MANY)

    try:
        manifest, _ = parse(decode(data), {"{": keep}, AS_SPACK, whole=True)
        if not isinstance(manifest, dict):
            raise Unreadable("it is not a list of files")
    finally:
        # The files before an error, too.
        yield from found.values()


def _archive_files(file: BinaryIO) -> Iterator[_Found]:
    """Yield the files of an archive. Raises Unreadable, OSError and Cancelled."""
    for member, _ in read_members(file):
        kind = _TAR_KINDS.get(member.type, "file" if member.isreg() else "other")
        if not member.isdir():
            size = member.size if kind == "file" else None
            yield member.name, kind, member.linkname, size, member.mode


def _count(value: object) -> int | None:
    return value if type(value) is int and 0 <= value < _MAX_COUNT else None


def _listed(members: Iterable[_Found], place: str) -> SpecFiles:
    """Return files sorted by path, with the files in `.spack` at the end.

    Raises OSError, and Unreadable where not even the first file can be read.
    """
    found, problems = list[_Found](), list[str]()
    try:
        for member in members:
            found.append(member)
            if len(found) > MAX_FILES:
                raise Unreadable(_TOO_MANY)
    except Unreadable as error:
        if not found:
            raise
        problems.append(str(error))
    # As `_ensure_common_prefix` of lib/spack/spack/binary_distribution.py.
    tops = (name.partition(_METADATA) for name, *_ in found)
    prefix = min((top for top, metadata, _ in tops if metadata), key=len, default="")
    files, outside = list[ListedFile](), 0
    for name, kind, target, size, mode in found:
        path = name.removeprefix(f"{prefix}/")
        if path == name or ".." in path.split("/"):
            path, outside = name, outside + 1
        target = target if isinstance(target, str) else ""
        if kind == "link" and _leads_out(prefix, path, target):
            kind = "link to outside"
        elif kind == "hard link":
            target = target.removeprefix(f"{prefix}/")
        file = ListedFile(storable(path), kind, _count(size), storable(target), _count(mode))
        files.append(file)
    if outside:
        problems.append(f"{counted(outside, 'path')} outside of the prefix")
    files.sort(key=lambda each: (f"/{each.path}".startswith(_METADATA), each.path))
    return SpecFiles(files, place, "; ".join(problems))


def _leads_out(prefix: str, path: str, target: str) -> bool:
    """Check whether a link of a prefix leads out of it."""
    top = f"/{prefix.strip('/')}/"
    return not os.path.normpath(os.path.join(top, os.path.dirname(path), target)).startswith(top)
