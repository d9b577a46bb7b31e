"""Discover the documents of sources."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from spackscope.model.core.errors import Cancelled, SourceError, describe_unexpected
from spackscope.model.core.frozen import replace
from spackscope.model.core.records import Problem
from spackscope.model.core.redaction import shown_url
from spackscope.model.sources.discover_local import discover_local
from spackscope.model.sources.document import DiscoveredSource, Documents, document_at
from spackscope.model.sources.session import Session
from spackscope.model.sources.source_name import (
    PREFIX,
    PUBLIC,
    STANDARD_INPUT,
    is_local_path,
    unique_names,
)
from spackscope.model.storage.schemes import is_remote

_LATE_SECONDS = 2.0
"""Time after which `on_late` is called with the sources that have answered."""


def discover(
    sources: Sequence[str],
    session: Session,
    *,
    on_late: Callable[[list[DiscoveredSource]], None] | None = None,
) -> list[DiscoveredSource]:
    """Discover the documents of each source, in the order given; remote ones in parallel.

    A source that cannot be read has a `failure`, whatever went wrong; the others are discovered
    all the same. Where some take long, `on_late` is called once with all sources, of which those
    without an answer have a failure. Raises Cancelled.

        (mirror,) = discover(["~/mirror"], Session(os.environ))
        mirror.failure or [document.path for document in mirror.documents]
    """

    def report_late(results: Mapping[int, DiscoveredSource]) -> None:
        if on_late is not None:
            waiting = (_failed(source, "has not answered yet") for source in sources)
            on_late(_unique([results.get(index, other) for index, other in enumerate(waiting)]))

    tasks = [partial(_discover, source, session) for source in sources]
    if len(sources) > 1 and any(_may_take_long(source) for source in sources):
        from spackscope.model.core.tasks import run_parallel

        results = run_parallel(
            tasks, session.should_stop, late_after=_LATE_SECONDS, on_late=report_late
        )
    else:
        results = [task() for task in tasks]
    return _unique(results)


def _unique(sources: Sequence[DiscoveredSource]) -> list[DiscoveredSource]:
    """Add numbers to repeated names, and remove problems that an earlier source has too.

    These are problems of a configuration that several sources come from.
    """
    seen: set[Problem] = set()
    unique = []
    names = unique_names(source.source for source in sources)
    for source, name in zip(sources, names, strict=True):
        problems = tuple(problem for problem in source.problems if problem not in seen)
        seen.update(problems)
        documents = source.documents
        if name != source.source:
            documents = documents.named(name)
        unique.append(replace(source, source=name, documents=documents, problems=problems))
    return unique


def _may_take_long(source: str) -> bool:
    return is_remote(source) or source.startswith((PREFIX, PUBLIC))


def _discover(source: str, session: Session) -> DiscoveredSource:
    """Discover one source; every error but Cancelled becomes its failure."""
    session.check_cancelled()
    name = shown_url(source)
    try:
        if source == STANDARD_INPUT:
            if not session.stdin_path:
                raise SourceError("standard input was not read")
            document = document_at(source, session.stdin_path, "standard input")
            return DiscoveredSource(source, "standard input", documents=Documents([document]))
        if is_local_path(source):
            return discover_local(source, source, session)
        # What reaches servers takes longer to import than what reads an index.
        from spackscope.model.sources.discover_remote import discover_remote

        return discover_remote(name, source, session)
    except SourceError as error:
        message, shown = str(error), shown_url(source).partition("?")[0].rstrip("/")
        if source == STANDARD_INPUT or shown in message:
            return replace(_failed(source, ""), failure=message)
        return _failed(source, f"cannot be read: {message}")
    except Cancelled:
        raise
    except Exception as error:
        return _failed(source, f"cannot be read: {describe_unexpected(error)}")


def _failed(source: str, why: str) -> DiscoveredSource:
    """Return a source that could not be read, with the kind that its name suggests."""
    kind = "public cache" if source.startswith(PUBLIC) else "pages"
    if is_remote(source) or source.startswith(PREFIX):
        kind = "mirror"
    name = shown_url(source)
    kind = "standard input" if source == STANDARD_INPUT else kind
    return DiscoveredSource(name, kind, failure=f"the source {name} {why}")
