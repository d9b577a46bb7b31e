"""Verify sources: check the hashes of records, and compare mirrors with their indexes."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from spackscope.model.core.errors import Cancelled, SourceError, Unreadable, describe_unexpected
from spackscope.model.core.records import Problem
from spackscope.model.core.tasks import OnProgress
from spackscope.model.readers.formats import check_hashes, read_manifest
from spackscope.model.readers.json import MAX_PROBLEMS
from spackscope.model.readers.nodes import StoredHashes, WrongHash
from spackscope.model.readers.pages import is_page
from spackscope.model.sources.document import DiscoveredSource, Document, read_bytes
from spackscope.model.sources.mirror import SPECS, Mirror, MirrorIndex
from spackscope.model.sources.session import Session

DIFFERENCES = ("unindexed", "missing", "without_blobs")
"""How a mirror can differ from its index."""

_PROGRESS_INTERVAL = 0.1
_FILE_OF_SPEC = re.compile(
    rf"(?:{SPECS}/(?P<package>[^/]+)/|(?:.*/)?)(?P<stem>[^/]+)-(?P<hash>[a-z2-7]{{32}})"
    r"(?P<end>\.spec\.manifest\.json|\.spec\.json\.sig|\.spec\.json|\.spec\.yaml|\.spack)"
)
"""A manifest of layout v3, or a spec file or archive of layout v2."""


@dataclass
class VerifiedSource:
    """The hashes of a source, each once, however many documents list it.

    `wrong` has the records whose content gives another hash by the first document that lists
    them, at most MAX_PROBLEMS of `wrong_count`. `unchecked` are those that cannot be checked, by
    the reason. `failure` says why nothing can be read.

    `differing` has the names of specs by hash, by what their mirror does not have as its index
    says: `unindexed` ones are in the mirror but not in the index, `missing` ones in the index but
    not in the mirror, those `without_blobs` in the mirror without their archive or another file.
    `not_compared` says what was not compared, and why.
    """

    name: str
    kind: str
    whole: set[str] = field(default_factory=set)
    wrong: dict[WrongHash, str] = field(default_factory=dict)
    wrong_count: int = 0
    unchecked: dict[str, set[str]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    failure: str = ""
    differing: dict[str, dict[str, str]] = field(
        default_factory=lambda: {kind: {} for kind in DIFFERENCES}
    )
    not_compared: str = ""

    @property
    def is_right(self) -> bool:
        """Whether no record is wrong, and no mirror differs from its index."""
        return not (self.wrong_count or any(self.differing.values()))

    def add(self, document: str, hashes: StoredHashes) -> None:
        """Add what is known of a document."""
        new = [record for record in hashes.wrong if record not in self.wrong]
        self.wrong |= dict.fromkeys(new[: MAX_PROBLEMS - len(self.wrong)], document)
        self.wrong_count += len(new) + hashes.wrong_count - len(hashes.wrong)
        self.whole |= hashes.whole
        for reason, others in hashes.unchecked.items():
            self.unchecked.setdefault(reason, set()).update(others)
        self.problems += [Problem(document, "", reason) for reason in hashes.problems]


def verify(discovered: DiscoveredSource, session: Session) -> VerifiedSource:
    """Read all documents of a source again, one after the other, and check their hashes.

    Raises Cancelled. What cannot be read is a problem, or the failure if that is everything.

        for source in discover(["spack.lock"], session):
            print(verify(source, session).wrong_count)
    """
    kind = f"{discovered.kind} {discovered.layout}".strip()
    verified = VerifiedSource(discovered.source, kind, failure=discovered.failure)
    verified.problems += discovered.problems
    reported = 0.0

    def report(what: str, done: int, total: int | None) -> None:
        """Report progress at most ten times a second. Raises Cancelled."""
        nonlocal reported
        if time.monotonic() - reported > _PROGRESS_INTERVAL:
            session.check_cancelled()
            session.on_progress(what, done, total)
            reported = time.monotonic()

    is_known = False
    cached = {}
    for number, document in enumerate(discovered.documents):
        report("files read", number, len(discovered.documents))
        if document.kind != "sizes":
            hashes = _check(document, lambda count: report("specs read", count, None))
            is_known |= hashes is not None and hashes.is_known
            verified.add(document.origin, hashes or StoredHashes())
            cached[document.path] = hashes.cached if hashes is not None else {}
    for index in discovered.indexes:
        _compare(index, cached.get(index.path, {}), verified, report)
    if not is_known and not verified.failure:
        reason = f" cannot be read: {verified.problems[0]}" if verified.problems else " is empty"
        verified.failure = f"the source {discovered.source}{reason}"
    return verified


def _compare(
    index: MirrorIndex, listed: Mapping[str, str], verified: VerifiedSource, report: OnProgress
) -> None:
    """Compare the specs that an index lists with the files of its mirror. Raises Cancelled.

    As `check_index_fn` of lib/spack/spack/cmd/buildcache.py, but manifests are read only on this
    machine, since each would be a request.
    """
    mirror, is_v3 = index.mirror, index.layout == "v3"
    specs: dict[str, str] = {}
    complete: set[str] = set()
    try:
        folder = SPECS if is_v3 else mirror.build_cache.rstrip("/")
        for number, name in enumerate(mirror.storage.names(folder)):
            report("files of the mirror", number, None)
            match = _FILE_OF_SPEC.fullmatch(name)
            if match is None or (mirror.view and match["hash"] not in listed):
                continue
            if match["end"] == ".spack":
                complete.add(match["hash"])
                continue
            package, stem = match["package"], match["stem"]
            name_there = f"{package}@{stem.removeprefix(f'{package}-')}" if package else stem
            specs[match["hash"]] = listed.get(match["hash"], name_there)
            if is_v3 and mirror.is_local and _has_blobs(mirror, name, verified):
                complete.add(match["hash"])
    except SourceError as error:
        verified.not_compared = f"its index is not compared with its files: {error}"
        return
    differing = verified.differing
    differing["unindexed"] |= {hash_: specs[hash_] for hash_ in specs.keys() - listed.keys()}
    differing["missing"] |= {hash_: listed[hash_] for hash_ in listed.keys() - specs.keys()}
    if mirror.is_local or not is_v3:
        differing["without_blobs"] |= {hash_: specs[hash_] for hash_ in specs.keys() - complete}
    else:
        verified.not_compared = "its archives are not looked for: each would need a request"


def _has_blobs(mirror: Mirror, name: str, verified: VerifiedSource) -> bool:
    """Check whether a local mirror has all files that a manifest names."""
    try:
        manifest = read_manifest(mirror.read(mirror.fetch_manifest(name)))
    except (SourceError, Unreadable) as error:
        verified.problems.append(Problem(mirror.origin_of(name), "", str(error)))
        return True
    return all(mirror.storage.is_cached(blob.name) for blob in manifest.blobs)


def _check(document: Document, on_count: Callable[[int], None]) -> StoredHashes | None:
    """Check the hashes of a document; None if it need not be one, and is not. Raises Cancelled."""
    try:
        data = read_bytes(document)
        if document.kind == "candidate" and not is_page(data):
            return None
        return check_hashes(data, origin=document.origin, on_count=on_count)
    except Cancelled:
        raise
    except OSError as error:
        reason = error.strerror or str(error)
    except Exception as error:
        reason = f"cannot be read: {describe_unexpected(error)}"
    return StoredHashes(problems=[reason], is_known=False)
