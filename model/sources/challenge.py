"""Compare the archives of one hash in several mirrors, and judge whether differences are benign.

The prefix that an archive was built for is in its `.spack/binary_distribution`, which
`get_buildinfo_dict` of lib/spack/spack/binary_distribution.py writes.
"""

from __future__ import annotations

import os
import re
import tarfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from typing import BinaryIO, Literal, cast

from spackscope.model.core.errors import Unreadable
from spackscope.model.core.files import max_unpacked_size, open_file, sha256_of, too_large
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.records import Spec
from spackscope.model.core.tasks import OnProgress, no_progress
from spackscope.model.readers.json import storable
from spackscope.model.readers.unpack import gzip_pieces
from spackscope.model.sources.mirror_spec import MirrorEntry, Mirrors
from spackscope.model.sources.session import Session
from spackscope.model.storage.base import scheme_of

Judgement = Literal["suspicious", "unknown", "benign", "alike"]
JUDGEMENTS: tuple[Judgement, ...] = ("suspicious", "unknown", "benign", "alike")
"""The worst first."""

MAX_ARCHIVE = 2**30
"""Bytes of an archive; larger ones are not read."""

MAX_UNPACKED, MAX_EXPANSION = 2**30, 20
"""Bytes that the archives of a mirror may unpack to, or how many times their sizes, if that is
more: real ones have three to ten times their sizes, but for those of less than 64 KiB."""

_SMALL_ARCHIVE = 2**16

_BUILD_INFO = ".spack/binary_distribution"
_MAX_HEADER = 2**16
"""Bytes of a header, and of that file, which begins with the prefix."""

_HEADER_COST = 8
"""How much longer than unpacking a byte it takes to parse one of a header."""

_BUILD_PATH = re.compile(rb"""(?:^|[{,\s])["']?buildpath["']?:\s*["']?([^"'\n,}]+)""")
_PADDING = "__spack_path_placeholder__"


class Copy(Frozen):
    """A copy of a spec: its entry in a mirror, and facts from its archive, if that was read.

    `content` is the checksum of the archive, `prefix` the install tree that it was built for; each
    is "" where it is unknown. `problem` is why the prefix is, if the archive was not read whole.
    """

    entry: MirrorEntry
    content: str = ""
    prefix: str = ""
    problem: str = ""

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
    budgets = defaultdict[str, _Budget](partial(_Budget, mirrors.session))
    for number, spec in enumerate(reversed(hashes.values())):
        mirrors.session.check_cancelled()
        on_progress("specs compared", number, len(hashes))
        entries = mirrors.entries(spec)
        if len(entries) > 1:
            copies = tuple(
                _read_archive(entry, mirrors.session, budgets[entry.source]) for entry in entries
            )
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
            yield "suspicious", f"the archive of {name} does not match its manifest"
        if entry.archive == "wrong size":
            yield "suspicious", f"the archive of {name}: {entry.archive_problem}"
        if entry.problem:
            yield "unknown", f"{name}: {entry.problem}"
        elif entry.archive in ("missing", "forbidden"):
            yield "unknown", f"{name} has no archive for it"
        elif not entry.checksum:
            yield "unknown", f"{name} has no checksum for it"
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
            yield "unknown", "different archives, and some prefixes are unknown"
            for copy in copies:
                if copy.problem:
                    where = f"the prefix of the archive of {copy.entry.source}"
                    yield "unknown", f"{where} is unknown: {copy.problem}"
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


class _Budget:
    """The limit for unpacking the archives of a mirror, in bytes; header bytes count more.

    A limit for each archive alone would be no limit for thousands of them.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._packed = self._cost = self._limit = 0
        self._reason = ""

    def add(self, size: int) -> None:
        """Allow for an archive of so many bytes."""
        self._packed += max(size, _SMALL_ARCHIVE)
        own = self._cost + max_unpacked_size(size)
        self._limit = max(MAX_UNPACKED, MAX_EXPANSION * self._packed)
        self._reason = "the archives of the mirror unpack to too much data for their sizes"
        if own < self._limit:
            self._limit = own
            self._reason = f"it unpacks to too much data for {size:,} bytes"

    def spend(self, cost: int) -> None:
        """Count the bytes read from an archive. Raises Unreadable if too many, and Cancelled."""
        self._session.check_cancelled()
        self._cost += cost
        if self._cost > self._limit:
            raise Unreadable(self._reason)


class _Unpacked:
    """An archive that is unpacked once, from its beginning, as far as a budget allows."""

    def __init__(self, file: BinaryIO, budget: _Budget) -> None:
        self._pieces, self._budget = gzip_pieces(file), budget
        self._piece, self._at = memoryview(b""), 0

    def tell(self) -> int:
        """Return how many bytes were read or skipped."""
        return self._at

    def read(self, size: int) -> bytes:
        """Read some bytes of a header or a file. Raises Unreadable and OSError."""
        if not 0 <= size <= _MAX_HEADER:
            raise Unreadable(
                f"it has a header of {size:,} bytes; at most {_MAX_HEADER:,} are read"
            )
        self._budget.spend(_HEADER_COST * size)
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
                self._budget.spend(len(piece))
                self._piece = memoryview(piece)
            part, self._piece = self._piece[:size], self._piece[size:]
            size -= len(part)
            self._at += len(part)
            yield part


def _read_archive(entry: MirrorEntry, session: Session, budget: _Budget) -> Copy:
    """Read the archive of an entry, if it is on this machine and can be read. Raises Cancelled."""
    path = entry.archive_file
    try:
        if scheme_of(path):
            return Copy(entry)
        if (size := os.path.getsize(path)) > MAX_ARCHIVE:
            return Copy(entry, problem=str(too_large(size, MAX_ARCHIVE)))
        with open_file(path) as file:
            checksum = sha256_of(file, session.check_cancelled)
            budget.add(size)
            try:
                return Copy(entry, checksum, _prefix_of(_Unpacked(file, budget)))
            except Unreadable as error:
                return Copy(entry, checksum, problem=str(error))
    except OSError:
        return Copy(entry)


def _prefix_of(archive: _Unpacked) -> str:
    """Return the install tree that an archive was built for, "" if it does not tell.

    Raises Unreadable and OSError.
    """
    try:
        with tarfile.open(fileobj=cast(BinaryIO, archive), mode="r:") as tar:
            while (member := tar.next()) is not None:
                # Those before are not kept.
                tar.members.clear()  # type: ignore[attr-defined]
                if member.isreg() and f"/{member.name}".endswith(f"/{_BUILD_INFO}"):
                    info = tar.extractfile(member)
                    match = _BUILD_PATH.search(info.read(_MAX_HEADER) if info else b"")
                    return storable(match[1].decode("utf-8", "replace")) if match else ""
    except Unreadable:
        raise
    # Long names that follow each other are read within each other.
    except (ValueError, EOFError, RecursionError, tarfile.TarError):
        raise Unreadable("it is not a complete tar file") from None
    return ""
