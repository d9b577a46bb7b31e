"""Discover the documents of sources: what a name stands for, and what is there."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from spackscope.model.core.errors import Cancelled, SourceError, describe_unexpected, reason
from spackscope.model.core.frozen import replace
from spackscope.model.core.records import Problem
from spackscope.model.core.redaction import shown_url
from spackscope.model.sources.directory import discover_directory
from spackscope.model.sources.document import DiscoveredSource, Documents, document_at
from spackscope.model.sources.session import Session
from spackscope.model.sources.source_name import (
    PREFIX,
    PUBLIC,
    STANDARD_INPUT,
    PublicCache,
    UrlTarget,
    absolute_path,
    is_tag_list,
    parse_public_cache,
    parse_target,
    unique_names,
)
from spackscope.model.storage.base import is_remote, scheme_of

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
            late = (_failed(source, "has not answered yet", is_late=True) for source in sources)
            on_late(_unique([results.get(index, other) for index, other in enumerate(late)]))

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
    try:
        return _found(source, session)
    except SourceError as error:
        message, shown = str(error), shown_url(source).partition("?")[0].rstrip("/")
        if source == STANDARD_INPUT or shown in message:
            return replace(_failed(source, ""), failure=message)
        return _failed(source, f"cannot be read: {message}")
    except Cancelled:
        raise
    except Exception as error:
        return _failed(source, f"cannot be read: {describe_unexpected(error)}")


def _failed(source: str, why: str, *, is_late: bool = False) -> DiscoveredSource:
    """Return a source that could not be read, with the kind that its name suggests."""
    name, kind = shown_url(source), "mirror" if _may_take_long(source) else "pages"
    if source == STANDARD_INPUT:
        kind = "standard input"
    elif source.startswith(PUBLIC):
        kind = "public cache"
    return DiscoveredSource(name, kind, failure=f"the source {name} {why}", is_late=is_late)


def _found(source: str, session: Session) -> DiscoveredSource:
    """Discover what a name stands for. Raises SourceError and Cancelled."""
    if source == STANDARD_INPUT:
        if not session.stdin_path:
            raise SourceError("standard input was not read")
        document = document_at(source, session.stdin_path, "standard input")
        return DiscoveredSource(source, "standard input", documents=Documents([document]))
    if (public := parse_public_cache(source, session.environ, session.tag_list)) is not None:
        from spackscope.model.sources.mirror import discover_public_cache

        return discover_public_cache(shown_url(source), public, session)
    name = shown_url(source) if scheme_of(source) else source
    address, view, problems = source, "", tuple[Problem, ...]()
    options: Mapping[str, object] = {}
    if source.startswith(PREFIX):
        from spackscope.model.sources.spack_config import find_mirror

        mirror, problems = find_mirror(source, session.spack)
        address, options, view = mirror.url, mirror.options, mirror.view
    if is_remote(address):
        # What reaches servers takes longer to import than what reads an index.
        from spackscope.model.sources.mirror import discover_url

        found = discover_url(name, address, session, options, view)
    else:
        found = _found_here(name, address, session, view)
    return replace(found, problems=(*problems, *found.problems))


def _found_here(source: str, address: str, session: Session, view: str) -> DiscoveredSource:
    """Discover what is at a path or `file:` URL of a source, or of a mirror of Spack."""
    if scheme_of(address) == "file":
        from spackscope.model.storage.urls import local_path

        address = local_path(address)
    elif scheme := scheme_of(address):
        raise SourceError(f"the source {shown_url(address)}: {scheme}:// is not supported")
    path = absolute_path(address)
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError) as error:
        why = "does not exist" if isinstance(error, FileNotFoundError) else reason(error)
        name = shown_url(source)
        name = f"{name}, {shown_url(address)}," if source.startswith(PREFIX) else name
        raise SourceError(f"the source {name} {why}") from None
    is_directory = stat.S_ISDIR(mode)
    if is_directory and not view:
        return discover_directory(source, path, address, session)
    if not (is_directory or stat.S_ISREG(mode)):
        raise SourceError(f"the source {source} is neither a file nor a directory")
    target = UrlTarget(address, view=view) if is_directory else parse_target(address)
    if target.view or target.layout == "v3":
        from spackscope.model.sources.mirror import discover_mirror, mirror_at

        return discover_mirror(mirror_at(source, target, session))
    if is_tag_list(path):
        from spackscope.model.sources.mirror import discover_public_cache

        return discover_public_cache(source, PublicCache(address), session)
    documents = Documents([document_at(source, path, address)])
    return DiscoveredSource(source, "file", documents=documents)
