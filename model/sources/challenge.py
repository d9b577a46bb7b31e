"""Compare the archives of one hash in several mirrors, and judge whether differences are benign.

The prefix that an archive was built for is in its `.spack/binary_distribution`, which
`get_buildinfo_dict` of lib/spack/spack/binary_distribution.py writes.
"""

from __future__ import annotations

import errno
import gzip
import io
import os
import re
import tarfile
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import BinaryIO, Literal, cast

from spackscope.model.core.files import open_file, sha256_of, too_large
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.records import Spec
from spackscope.model.core.tasks import OnProgress, no_progress
from spackscope.model.readers.json import storable
from spackscope.model.sources.mirror_spec import MirrorEntry, Mirrors
from spackscope.model.sources.session import Session
from spackscope.model.storage.base import scheme_of

Judgement = Literal["suspicious", "unknown", "benign", "alike"]
JUDGEMENTS: tuple[Judgement, ...] = ("suspicious", "unknown", "benign", "alike")
"""The worst first."""

MAX_ARCHIVE = 2**30
"""Bytes of an archive; larger ones are not read."""

_BUILD_INFO = ".spack/binary_distribution"
_MAX_BUILD_INFO = 2**22
_MAX_UNPACKED = 2**32
"""Bytes that are unpacked at most in search of that file."""

_MAX_MEMBERS = 2**19
"""Members of an archive that are searched at most."""

_BUILD_PATH = re.compile(rb"""(?:^|[{,\s])["']?buildpath["']?:\s*["']?([^"'\n,}]+)""")
_PADDING = "__spack_path_placeholder__"


class Copy(Frozen):
    """A copy of a spec: its entry in a mirror, and facts from its archive, if that was read.

    `content` is the checksum of the archive, `prefix` the install tree that it was built for; each
    is "" where it is unknown.
    """

    entry: MirrorEntry
    content: str = ""
    prefix: str = ""

    @property
    def signer(self) -> str:
        """The id of the key that it is signed with, or ""."""
        return self.entry.signer.signature.key_id if self.entry.signer is not None else ""


class Challenged(Frozen):
    """A spec that several mirrors have, the judgement on its copies, and the reasons for it."""

    spec: Spec
    copies: tuple[Copy, ...]
    judgement: Judgement
    reasons: tuple[str, ...]


def challenge(
    specs: Sequence[Spec], mirrors: Mirrors, *, on_progress: OnProgress = no_progress
) -> Iterator[Challenged]:
    """Yield the judgement on each hash that several mirrors list.

    Archives on this machine are read; those on servers are not downloaded. Raises Cancelled.

        for its in challenge(specs, Mirrors(catalog.sources, session)):
            print(its.spec.hash, its.judgement)
    """
    hashes = {spec.hash: spec for spec in reversed(specs) if len(spec.sources) > 1}
    for number, spec in enumerate(reversed(hashes.values())):
        mirrors.session.check_cancelled()
        on_progress("specs compared", number, len(hashes))
        entries = mirrors.entries(spec)
        if len(entries) > 1:
            copies = tuple(_read_archive(entry, mirrors.session) for entry in entries)
            yield Challenged(spec, copies, *judge(copies))


def judge(copies: Sequence[Copy]) -> tuple[Judgement, tuple[str, ...]]:
    """Return the worst judgement on copies of one hash, and all reasons, the worst first.

    Prefixes are what archives say of themselves; nothing verifies them.
    """
    reasons = sorted(_differences(copies), key=lambda each: JUDGEMENTS.index(each[0]))
    return reasons[0][0] if reasons else "alike", tuple(text for _, text in reasons)


def _differences(copies: Sequence[Copy]) -> Iterator[tuple[Judgement, str]]:
    """Yield what differs between copies, each with the judgement on it."""
    unread = []
    for copy in copies:
        entry, name = copy.entry, copy.entry.source
        if copy.content and entry.checksum and copy.content != entry.checksum:
            yield "suspicious", f"the archive of {name} is not the one that its manifest names"
        if entry.archive == "wrong size":
            yield "suspicious", f"the archive of {name}: {entry.archive_problem}"
        if entry.problem:
            yield "unknown", f"{name}: {entry.problem}"
        elif entry.archive in ("missing", "forbidden"):
            yield "unknown", f"{name} has no archive of it"
        elif not entry.checksum:
            yield "unknown", f"{name} has no checksum of it"
        if entry.size == 0 and entry.checksum:
            yield "suspicious", f"the archive of {name} is empty"
        if entry.checksum and not copy.content and entry.archive == "present":
            unread.append(name)
    archives = {(each.prefix, each.entry.checksum) for each in copies if each.entry.checksum}
    if len({checksum for _, checksum in archives}) > 1:
        prefixes = Counter(prefix for prefix, _ in archives)
        if any(count > 1 for prefix, count in prefixes.items() if prefix):
            yield "suspicious", "different archives for the same prefix"
        if "" in prefixes:
            yield "unknown", "different archives, and not all have a known prefix"
        elif len(prefixes) > 1:
            padded = any(_PADDING in prefix for prefix in prefixes)
            yield "benign", f"built for different prefixes{', padded' * padded}"
    elif len({copy.entry.size for copy in copies} - {None}) > 1:
        yield "suspicious", "one checksum, but different sizes"
    elif archives and unread:
        archives_of = ", ".join(unread)
        yield "unknown", f"only the documents are compared, not the archives of {archives_of}"
    signers = {each.signer for each in copies if each.entry.is_signed} - {""}
    if len(signers) > 1:
        yield "benign", "different signers"
    if signers and any(each.entry.is_signed is False for each in copies):
        yield "benign", "not signed everywhere"


class _Unpacked(gzip.GzipFile):
    """An archive that is unpacked once: long names take little memory, no size seeks back."""

    def read(self, size: int | None = -1) -> bytes:
        """Read so many bytes, if they are not too many. Raises OSError."""
        if size is None or not 0 <= size <= _MAX_BUILD_INFO:
            raise too_large(size, _MAX_BUILD_INFO)
        return super().read(size)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Skip what comes before an offset. Raises OSError."""
        if whence == io.SEEK_SET and offset < self.tell():
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        return super().seek(offset, whence)


class _Watched(io.BufferedReader):
    """A file that is read until the task is cancelled."""

    def __init__(self, file: BinaryIO, session: Session) -> None:
        super().__init__(cast("io.RawIOBase", file))
        self.session = session

    def read(self, size: int | None = -1) -> bytes:
        """Read some bytes. Raises OSError and Cancelled."""
        self.session.check_cancelled()
        return super().read(size)


def _read_archive(entry: MirrorEntry, session: Session) -> Copy:
    """Read the archive of an entry, if it is on this machine and can be read. Raises Cancelled."""
    path = entry.archive_file
    try:
        if scheme_of(path) or os.path.getsize(path) > MAX_ARCHIVE:
            return Copy(entry)
        with open_file(path) as opened, _Watched(opened, session) as file:
            checksum = sha256_of(file)
            file.seek(0)
            return Copy(entry, checksum, _prefix_of(file))
    except OSError:
        return Copy(entry)


def _prefix_of(archive: BinaryIO) -> str:
    """Return the install tree that an archive was built for; "" if it cannot be read."""
    unpacked = 0
    try:
        with _Unpacked(fileobj=archive) as file, tarfile.open(fileobj=file, mode="r:") as members:
            for number, member in enumerate(members):
                unpacked += member.size
                if unpacked > _MAX_UNPACKED or number > _MAX_MEMBERS:
                    break
                if member.isreg() and f"/{member.name}".endswith(f"/{_BUILD_INFO}"):
                    info = members.extractfile(member)
                    text = info.read(_MAX_BUILD_INFO) if info is not None else b""
                    match = _BUILD_PATH.search(text)
                    return storable(match[1].decode("utf-8", "replace")) if match else ""
    # Long names that follow each other are read within each other.
    except (OSError, ValueError, EOFError, RecursionError, zlib.error, tarfile.TarError):
        pass
    return ""
