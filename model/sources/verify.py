"""Verify sources: check the hashes of records, and compare mirrors with their indexes."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from spackscope.model.core.errors import Cancelled, SourceError, Unreadable, describe_unexpected
from spackscope.model.core.records import Problem
from spackscope.model.core.tasks import OnProgress
from spackscope.model.readers.formats import check_hashes, read_manifest
from spackscope.model.readers.json import MAX_PROBLEMS
from spackscope.model.readers.nodes import StoredHashes, WrongHash
from spackscope.model.readers.pages import is_page
from spackscope.model.sources.document import DiscoveredSource, Document, read_bytes
from spackscope.model.sources.mirror import SPECS, Mirror
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
    for number, document in enumerate(discovered.documents):
        report("files read", number, len(discovered.documents))
        if document.kind != "sizes" and (hashes := _check(document, report)) is not None:
            is_known |= hashes.is_known
            new = [record for record in hashes.wrong if record not in verified.wrong]
            room = MAX_PROBLEMS - len(verified.wrong)
            verified.wrong |= dict.fromkeys(new[:room], document.origin)
            verified.wrong_count += len(new) + hashes.wrong_count - len(hashes.wrong)
            verified.whole |= hashes.whole
            for reason, unchecked in hashes.unchecked.items():
                verified.unchecked.setdefault(reason, set()).update(unchecked)
            verified.problems += [Problem(document.origin, "", why) for why in hashes.problems]
            if document.mirror is not None:
                _compare(document.mirror, hashes.cached, verified, report)
    if not is_known and not verified.failure:
        why = f"cannot be read: {verified.problems[0]}" if verified.problems else "is empty"
        verified.failure = f"the source {discovered.source} {why}"
    return verified


def _check(document: Document, report: OnProgress) -> StoredHashes | None:
    """Check the hashes of a document; None if it need not be one, and is not. Raises Cancelled."""
    try:
        data = read_bytes(document)
        if document.kind == "candidate" and not is_page(data):
            return None
        return check_hashes(
            data,
            origin=document.origin,
            on_count=lambda count: report("specs read", count, None),
        )
    except Cancelled:
        raise
    except OSError as error:
        why = error.strerror or str(error)
    except Exception as error:
        why = f"cannot be read: {describe_unexpected(error)}"
    return StoredHashes(problems=[why], is_known=False)


def _compare(
    mirror: Mirror, listed: Mapping[str, str], verified: VerifiedSource, report: OnProgress
) -> None:
    """Compare the specs that an index lists with the files of its mirror. Raises Cancelled.

    As `check_index_fn` of lib/spack/spack/cmd/buildcache.py, but manifests are read only on this
    machine, since each would be a request.
    """
    target, is_v3 = mirror.target, mirror.target.layout == "v3"
    specs: dict[str, str] = {}
    complete: set[str] = set()
    try:
        folder = SPECS if is_v3 else target.build_cache.rstrip("/")
        for number, name in enumerate(mirror.storage.names(folder)):
            report("files of the mirror", number, None)
            match = _FILE_OF_SPEC.fullmatch(name)
            if match is None or (target.view and match["hash"] not in listed):
                continue
            if match["end"] == ".spack":
                complete.add(match["hash"])
                continue
            package, stem = match["package"], match["stem"]
            name_there = f"{package}@{stem.removeprefix(f'{package}-')}" if package else stem
            specs[match["hash"]] = listed.get(match["hash"], name_there)
            if is_v3 and mirror.is_local:
                try:
                    blobs = read_manifest(mirror.fetch_manifest(name)[1]).blobs
                    is_complete = all(mirror.storage.is_cached(blob.name) for blob in blobs)
                except (SourceError, Unreadable) as error:
                    verified.problems.append(Problem(mirror.origin_of(name), "", str(error)))
                    is_complete = True
                if is_complete:
                    complete.add(match["hash"])
    except SourceError as error:
        verified.not_compared = f"its index is not compared with its files: {error}"
        return
    without = specs.keys() - complete
    if is_v3 and not mirror.is_local:
        without = set()
        verified.not_compared = "its archives are not looked for: each would need a request"
    differing = (specs.keys() - listed.keys(), listed.keys() - specs.keys(), without)
    for kind, hashes in zip(DIFFERENCES, differing, strict=True):
        verified.differing[kind] |= {hash_: specs.get(hash_) or listed[hash_] for hash_ in hashes}
