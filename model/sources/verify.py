"""Verify sources: check whether the content of each record gives its hash."""

from __future__ import annotations

from dataclasses import dataclass, field

from spackscope.model.core.errors import Cancelled, describe_unexpected
from spackscope.model.core.records import Problem
from spackscope.model.core.tasks import OnProgress
from spackscope.model.readers.formats import check_hashes
from spackscope.model.readers.json import MAX_PROBLEMS
from spackscope.model.readers.nodes import StoredHashes, WrongHash
from spackscope.model.readers.pages import is_page
from spackscope.model.sources.document import DiscoveredSource, Document, read_bytes
from spackscope.model.sources.session import Session


@dataclass
class VerifiedSource:
    """The hashes of a source, each once, however many documents list it.

    `wrong` has the records whose content gives another hash by the first document that lists
    them, at most MAX_PROBLEMS of `wrong_count`. `unchecked` are those that cannot be checked, by
    the reason. `failure` says why nothing can be read.
    """

    name: str
    kind: str
    whole: set[str] = field(default_factory=set)
    wrong: dict[WrongHash, str] = field(default_factory=dict)
    wrong_count: int = 0
    unchecked: dict[str, set[str]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    failure: str = ""


def verify(discovered: DiscoveredSource, session: Session) -> VerifiedSource:
    """Read all documents of a source again, one after the other, and check their hashes.

    Raises Cancelled. What cannot be read is a problem, or the failure if that is everything.

        for source in discover(["spack.lock"], session):
            print(verify(source, session).wrong_count)
    """
    kind = f"{discovered.kind} {discovered.layout}".strip()
    verified = VerifiedSource(discovered.source, kind, failure=discovered.failure)
    verified.problems += discovered.problems

    def report(what: str, done: int, total: int | None) -> None:
        session.check_cancelled()
        session.on_progress(what, done, total)

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
