"""Verify sources: check the hashes of records, and compare mirrors with their indexes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from spackscope.model.core.errors import SourceError, describe_error
from spackscope.model.core.records import Problem, has_no_index
from spackscope.model.core.tasks import report_progress
from spackscope.model.readers.formats import check_hashes
from spackscope.model.readers.json import MAX_PROBLEMS
from spackscope.model.readers.nodes import StoredHashes, WrongHash
from spackscope.model.readers.pages import is_page
from spackscope.model.sources.document import DiscoveredSource, Document, read_bytes
from spackscope.model.sources.mirror import Mirror, stored_specs

UNINDEXED, MISSING = "in the mirror, but not in its index", "in the index, but not in its mirror"
"""How a mirror and its index differ about a spec, unless a file of the spec is missing."""


@dataclass
class VerifiedSource:
    """The hashes of a source, each once, however many documents list it.

    `whole` has hashes that match their content. `wrong` maps records whose content gives another
    hash to the first document that lists them, at most MAX_PROBLEMS of `wrong_count`. `unchecked`
    has hashes that cannot be checked, by reason. `failure` says why nothing can be read.
    `differing` has the names of specs by hash for each way in which mirrors differ from their
    indexes; `not_compared` says why these differences are unknown.
    """

    name: str
    kind: str
    whole: set[str] = field(default_factory=set)
    wrong: dict[WrongHash, str] = field(default_factory=dict)
    wrong_count: int = 0
    unchecked: dict[str, set[str]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    failure: str = ""
    differing: dict[str, dict[str, str]] = field(default_factory=dict)
    not_compared: str = ""

    @property
    def is_right(self) -> bool:
        """Whether no record is wrong, and no mirror differs from its index."""
        return not (self.wrong_count or self.differing)


def verify(discovered: DiscoveredSource) -> VerifiedSource:
    """Read all documents of a source again, one after the other, and check their hashes.

    Raises Cancelled. A document that cannot be read is a problem; if none can, it is the failure.

        for source in discover(["spack.lock"], session):
            print(verify(source).wrong_count)
    """
    kind = f"{discovered.kind} {discovered.layout}".strip()
    verified = VerifiedSource(discovered.source, kind, failure=discovered.failure)
    verified.problems += discovered.problems
    if has_no_index(discovered.kind, discovered.layout):
        verified.not_compared = "Spack sees no spec in it, since the mirror has no index"

    is_known = False
    indexes: dict[str, tuple[Mirror, dict[str, str]]] = {}
    for number, document in enumerate(discovered.documents):
        report_progress("files read", number, len(discovered.documents))
        if (hashes := _check(document)) is not None:
            is_known |= hashes.is_known
            new = [record for record in hashes.wrong if record not in verified.wrong]
            room = MAX_PROBLEMS - len(verified.wrong)
            verified.wrong |= dict.fromkeys(new[:room], document.origin)
            verified.wrong_count += len(new) + hashes.wrong_count - len(hashes.wrong)
            verified.whole |= hashes.whole
            for reason, unchecked in hashes.unchecked.items():
                verified.unchecked.setdefault(reason, set()).update(unchecked)
            verified.problems += [Problem(document.origin, "", why) for why in hashes.problems]
            if (mirror := document.mirror) is not None:
                # A mirror may have several indexes, by the version of the database.
                key = f"{mirror.storage.origin}/{mirror.target}"
                indexes.setdefault(key, (mirror, {}))[1].update(hashes.cached)
    for mirror, listed in indexes.values():
        _compare(mirror, listed, verified)
    if not is_known and not verified.failure:
        why = f"cannot be read: {verified.problems[0]}" if verified.problems else "is empty"
        verified.failure = f"the source {discovered.source} {why}"
    return verified


def _compare(mirror: Mirror, listed: Mapping[str, str], verified: VerifiedSource) -> None:
    """Compare the specs that the indexes of a mirror list with its files. Raises Cancelled.

    As `check_index_fn` of lib/spack/spack/cmd/buildcache.py: a view does not list everything, and
    a spec that is not listed may lack files, too.
    """
    try:
        stored = stored_specs(mirror, lambda count: report_progress("files of the mirror", count))
    except SourceError as error:
        verified.not_compared = f"its index is not compared with its files: {error}"
        return
    for hash_, spec in stored.items():
        is_listed = hash_ in listed
        for why in ("" if is_listed else UNINDEXED, spec.problem):
            if why and (is_listed or not mirror.target.view):
                name = listed.get(hash_, spec.name)
                verified.differing.setdefault(why, {})[hash_] = name
    if missing := {hash_: name for hash_, name in listed.items() if hash_ not in stored}:
        verified.differing.setdefault(MISSING, {}).update(missing)
    if not (mirror.is_local or mirror.target.layout == "v2"):
        verified.not_compared = "its archives are not checked: each would need a request"


def _check(document: Document) -> StoredHashes | None:
    """Check the hashes of a document; None for a candidate but not a page. Raises Cancelled."""
    try:
        data = read_bytes(document)
        if document.kind == "candidate" and not is_page(data):
            return None
        return check_hashes(
            data,
            origin=document.origin,
            on_count=lambda count: report_progress("specs read", count),
        )
    except Exception as error:
        why = f"cannot be read: {describe_error(error)}"
        return StoredHashes(problems=[why], is_known=False)
