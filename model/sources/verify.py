"""Verify sources: check whether each record has the hash that its content gives."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from spackscope.model.core.errors import Cancelled, describe_unexpected
from spackscope.model.core.records import Problem
from spackscope.model.readers.cache_pages import is_page
from spackscope.model.readers.limits import MAX_PROBLEMS
from spackscope.model.readers.stored_hashes import StoredHashes, WrongHash, check_hashes
from spackscope.model.sources.document import DiscoveredSource, Document
from spackscope.model.sources.document_bytes import read_bytes
from spackscope.model.sources.session import Session

_PROGRESS_INTERVAL = 0.1


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
    report = _Reporter(session)
    is_known = False
    for number, document in enumerate(discovered.documents):
        report("files read", number, len(discovered.documents))
        if document.kind != "sizes":
            hashes = _check(document, lambda count: report("specs read", count, None))
            is_known |= hashes is not None and hashes.is_known
            verified.add(document.origin, hashes or StoredHashes())
    if not is_known and not verified.failure:
        reason = f" cannot be read: {verified.problems[0]}" if verified.problems else " is empty"
        verified.failure = f"the source {discovered.source}{reason}"
    return verified


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


class _Reporter:
    """Reports progress at most ten times a second, and raises Cancelled."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._last = 0.0

    def __call__(self, what: str, done: int, total: int | None) -> None:
        if time.monotonic() - self._last > _PROGRESS_INTERVAL:
            self._session.check_cancelled()
            self._session.on_progress(what, done, total)
            self._last = time.monotonic()
