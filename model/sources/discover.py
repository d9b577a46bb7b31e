"""Discover the documents of sources."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from spackscope.model.core.errors import Cancelled, SourceError, describe_unexpected, reason
from spackscope.model.core.frozen import replace
from spackscope.model.core.parallel import run_parallel
from spackscope.model.core.records import Problem
from spackscope.model.sources.directory import discover_directory
from spackscope.model.sources.document import DiscoveredSource, document_at
from spackscope.model.sources.mirror import Mirror, mirror_at, parse_target
from spackscope.model.sources.mirror_layouts import discover_mirror
from spackscope.model.sources.public_cache import (
    PUBLIC,
    PublicCache,
    discover_public_cache,
    is_tag_list,
    parse_public_cache,
)
from spackscope.model.sources.resolve import (
    STANDARD_INPUT,
    absolute_path,
    shown_source,
    unique_names,
)
from spackscope.model.sources.session import Session
from spackscope.model.sources.spack_config.config import PREFIX, find_mirror
from spackscope.model.storage.local import LocalFolder
from spackscope.model.storage.urls import is_remote, local_path, scheme_of, shown_url, split_url

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
            documents = tuple(replace(document, source=name) for document in documents)
        unique.append(replace(source, source=name, documents=documents, problems=problems))
    return unique


def _may_take_long(source: str) -> bool:
    return is_remote(source) or source.startswith((PREFIX, PUBLIC))


def _discover(source: str, session: Session) -> DiscoveredSource:
    """Discover one source; every error but Cancelled becomes its failure."""
    session.check_cancelled()
    name = shown_source(source)
    try:
        if source == STANDARD_INPUT:
            if not session.stdin_path:
                raise SourceError("standard input was not read")
            document = document_at(source, session.stdin_path, "standard input")
            return DiscoveredSource(source, "standard input", documents=(document,))
        if (public := parse_public_cache(source, session.environ)) is not None:
            return discover_public_cache(name, public, session)
        if source.startswith(PREFIX):
            return _discover_configured(source, session)
        if is_remote(source):
            return _discover_remote(name, source, session)
        return _discover_local(source, source, session)
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
    name = shown_source(source)
    kind = "standard input" if source == STANDARD_INPUT else kind
    return DiscoveredSource(name, kind, failure=f"the source {name} {why}")


def _discover_configured(source: str, session: Session) -> DiscoveredSource:
    """Discover a mirror of the user's Spack, with the options of its connection."""
    mirror, problems = find_mirror(source, session.spack)
    if is_remote(mirror.url):
        result = _discover_remote(source, mirror.url, session, mirror.options, mirror.view)
    else:
        result = _discover_local(source, mirror.url, session, mirror.view)
    return replace(result, problems=(*problems, *result.problems))


def _discover_remote(
    source: str, url: str, session: Session, options: Mapping[str, object] = {}, view: str = ""
) -> DiscoveredSource:
    split_url(url)
    if scheme_of(url).startswith("oci"):
        registry = Mirror(source, session.open(url, options), session, build_cache="")
        return replace(discover_mirror(registry), layout="OCI")
    target = parse_target(url)
    storage = session.open(target.top, options)
    mirror = mirror_at(source, storage, replace(target, view=view or target.view), session)
    if not target.name:
        return discover_mirror(mirror)
    file = storage.fetch(target.name)
    if is_tag_list(file.path):
        return discover_public_cache(source, PublicCache(url), session)
    document = replace(mirror.document(file), cached=False)
    return DiscoveredSource(
        source, "file", documents=(document,), checked=file.checked, remark=file.remark
    )


def _discover_local(source: str, path: str, session: Session, view: str = "") -> DiscoveredSource:
    """Discover a local file or directory; `path` is that of a mirror of Spack, or the source."""
    origin = None if path == source else path
    if scheme_of(path) == "file":
        source = shown_source(source)
        origin = path = local_path(path)
    elif scheme := scheme_of(path):
        raise SourceError(f"the source {shown_url(path)}: {scheme}:// is not supported")
    top = str(absolute_path(path))
    try:
        status = os.stat(top)
    except (OSError, ValueError) as error:
        why = "does not exist" if isinstance(error, FileNotFoundError) else reason(error)
        name = shown_url(source)
        name = f"{name}, {shown_url(path)}," if source.startswith(PREFIX) else name
        raise SourceError(f"the source {name} {why}") from None
    if stat.S_ISDIR(status.st_mode):
        if view:
            folder = LocalFolder(top, origin or source)
            return discover_mirror(Mirror(source, folder, session, view=view))
        return discover_directory(source, top, session, origin=origin)
    if not stat.S_ISREG(status.st_mode):
        raise SourceError(f"the source {source} is neither a file nor a directory")
    return _discover_file(source, top, origin or source, session)


def _discover_file(source: str, path: str, origin: str, session: Session) -> DiscoveredSource:
    target = parse_target(origin)
    if target.layout == "v3":
        folder = LocalFolder(str(absolute_path(target.top or ".")), target.top)
        return discover_mirror(mirror_at(source, folder, target, session))
    if is_tag_list(path):
        return discover_public_cache(source, PublicCache(origin), session)
    return DiscoveredSource(source, "file", documents=(document_at(source, path, origin),))
