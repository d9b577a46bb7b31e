"""Compare the archives of one hash in several mirrors, and judge whether differences are benign.

The prefix that an archive was built for is in its `.spack/binary_distribution`, which
`get_buildinfo_dict` of lib/spack/spack/binary_distribution.py writes.
"""

from __future__ import annotations

import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import BinaryIO, Literal, NamedTuple

from spackscope.model.core.errors import Unreadable
from spackscope.model.core.file_access import open_file, sha256_of, too_large
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.records import Spec
from spackscope.model.core.tasks import check_cancelled, report_progress
from spackscope.model.readers.json import storable
from spackscope.model.sources.archive import MAX_ARCHIVE, UnpackBudget, read_members
from spackscope.model.sources.mirror_spec import MirrorEntry, Mirrors
from spackscope.model.sources.session import Session
from spackscope.model.storage.base import scheme_of

Judgement = Literal["suspicious", "unknown", "benign", "alike"]
JUDGEMENTS: tuple[Judgement, ...] = ("suspicious", "unknown", "benign", "alike")
"""All judgements, the worst first."""

Reason = tuple[Judgement, str]

_BUILD_PATH = re.compile(rb"""(?:^|[{,\s])["']?buildpath["']?:\s*["']?([^"'\n,}]+)""")
_BUILD_INFO, _MAX_BUILD_INFO = "/.spack/binary_distribution", 2**16
_PADDING = "__spack_path_placeholder__"


class Copy(Frozen):
    """A copy of a spec: its entry in a mirror, and facts from its archive, if that was read.

    `content` is the checksum of the archive, `prefix` the install tree that it was built for; each
    is "" where it is unknown. `problem` says why the archive could not be read whole.
    """

    entry: MirrorEntry
    content: str = ""
    prefix: str = ""
    problem: str = ""

    @property
    def signer(self) -> str:
        """The id of the key that signed the document, or ""."""
        return self.entry.signer.signature.key_id if self.entry.signer is not None else ""


class Copies(NamedTuple):
    """The copies of a spec in several mirrors, and judgements with reasons, the worst first."""

    spec: Spec
    copies: tuple[Copy, ...]
    reasons: tuple[Reason, ...]

    @property
    def judgement(self) -> Judgement:
        """The worst judgement."""
        return self.reasons[0][0] if self.reasons else "alike"

    @property
    def differ(self) -> bool:
        """Whether the copies are known to differ."""
        checksums = {copy.entry.checksum for copy in self.copies} - {""}
        return len(checksums) > 1 or any(reason[0] != "unknown" for reason in self.reasons)


def compare_copies(
    specs: Iterable[Spec],
    mirrors: Mirrors,
    *,
    reads_archives: bool = True,
) -> Iterator[Copies]:
    """Yield the copies of each hash that several mirrors list, judged.

    With `reads_archives` archives on this machine are read, else only documents. No archive is
    downloaded. Raises Cancelled.

        for its in compare_copies(specs, Mirrors(catalog.sources, session)):
            print(its.spec.hash, its.judgement)
    """
    hashes = dict[str, Spec]()
    for spec in specs:
        if len(spec.sources) > 1:
            hashes.setdefault(spec.hash, spec)
    budgets = defaultdict[str, UnpackBudget](UnpackBudget)
    for number, spec in enumerate(hashes.values()):
        report_progress("specs compared", number, len(hashes))
        entries = mirrors.entries(spec)
        if len(entries) > 1:
            copies = tuple(
                _read_archive(entry, mirrors.session, budgets[entry.source])
                if reads_archives
                else Copy(entry)
                for entry in entries
            )
            yield Copies(spec, copies, judge(copies, are_read=reads_archives))


def judge(copies: Sequence[Copy], *, are_read: bool = True) -> tuple[Reason, ...]:
    """Return the differences between copies of one hash with judgements, the worst first.

    With `are_read`, an archive that was not read is a reason. Prefixes are taken from the
    archives, and not verified.
    """
    reasons = _differences(copies, are_read=are_read)
    return tuple(sorted(reasons, key=lambda each: JUDGEMENTS.index(each[0])))


def _differences(copies: Sequence[Copy], *, are_read: bool) -> Iterator[Reason]:
    """Yield the differences between copies with the judgement on each."""
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
        is_unread = entry.checksum and not copy.content and entry.archive == "present"
        if are_read and is_unread:
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


def _read_archive(entry: MirrorEntry, session: Session, budget: UnpackBudget) -> Copy:
    """Read the archive of an entry, if it is on this machine and can be read. Raises Cancelled."""
    path = entry.archive_file
    try:
        if scheme_of(path):
            return Copy(entry)
        if (size := os.path.getsize(path)) > MAX_ARCHIVE:
            return Copy(entry, problem=str(too_large(size, MAX_ARCHIVE)))
        with open_file(path) as file:
            checksum = sha256_of(file, check_cancelled)
            budget.add(size)
            try:
                return Copy(entry, checksum, _prefix_of(file, budget))
            except Unreadable as error:
                return Copy(entry, checksum, problem=str(error))
    except OSError:
        return Copy(entry)


def _prefix_of(file: BinaryIO, budget: UnpackBudget) -> str:
    """Return the install tree that an archive was built for, "" if the archive does not name it.

    Raises Unreadable and OSError.
    """
    for _, info in read_members(file, budget, (_BUILD_INFO,), _MAX_BUILD_INFO):
        if info:
            match = _BUILD_PATH.search(info)
            return storable(match[1].decode("utf-8", "replace")) if match else ""
    return ""
