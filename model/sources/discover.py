"""Look at sources, and list the documents in them."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from spackscope.model.core.bounded_files import read_head
from spackscope.model.core.errors import (
    Cancelled,
    SourceError,
    describe_unexpected,
    reason,
)
from spackscope.model.core.parallel import run_parallel
from spackscope.model.core.records import (
    Problem,
)
from spackscope.model.sources.directory import discover_directory
from spackscope.model.sources.document import (
    DiscoveredSource,
    document_of,
)
from spackscope.model.sources.mirror import discover_mirror
from spackscope.model.sources.mirror_files import Mirror
from spackscope.model.sources.public_cache import discover_public_cache
from spackscope.model.sources.public_cache_name import PUBLIC, Asked, asked_of, is_catalogue
from spackscope.model.sources.resolve import STANDARD_INPUT, location, names_apart, shown_source
from spackscope.model.sources.session import Session
from spackscope.model.sources.spack_config.config import PREFIX
from spackscope.model.sources.spack_config.mirrors import configured
from spackscope.model.sources.url_target import addressed
from spackscope.model.storage.local import LocalFolder
from spackscope.model.storage.urls import is_remote, local_path, scheme_of, shown_url, split_url

_HEAD = 512

_PATIENCE = 2.0
"""Seconds after which a source is late."""


def discover(
    sources: Sequence[str],
    session: Session,
    *,
    on_late: Callable[[list[DiscoveredSource]], None] | None = None,
) -> list[DiscoveredSource]:
    """Find the documents of each source, in the order given; those far away side by side.

    One that fails says so in its `failure`, whatever it raises, and hides no other; nor does one
    that is slow, for `on_late` is given what is there after a while, once. Raises Cancelled.
    """

    def tell_late(found: Mapping[int, DiscoveredSource]) -> None:
        if on_late is not None:
            waited_for = enumerate(map(_not_yet, sources))
            on_late(_each_once([found.get(number, one) for number, one in waited_for]))

    tasks = [partial(_discover, source, session) for source in sources]
    if len(sources) > 1 and any(_may_wait(source) for source in sources):
        found = run_parallel(tasks, session.should_stop, patience=_PATIENCE, on_late=tell_late)
    else:
        found = [task() for task in tasks]
    return _each_once(found)


def _each_once(found: Sequence[DiscoveredSource]) -> list[DiscoveredSource]:
    """Tell once what is wrong in a configuration that several sources come from.

    Sources with the same shown name are numbered.
    """
    told: set[Problem] = set()
    once = []
    for one, name in zip(found, names_apart(each.source for each in found), strict=True):
        problems = tuple(problem for problem in one.problems if problem not in told)
        told.update(problems)
        documents = one.documents
        if name != one.source:
            documents = tuple(replace(document, source=name) for document in documents)
        once.append(replace(one, source=name, documents=documents, problems=problems))
    return once


def _not_yet(source: str) -> DiscoveredSource:
    told = shown_source(source)
    return DiscoveredSource(told, _kind(source), failure=f"the source {told} has not answered yet")


def _may_wait(source: str) -> bool:
    return is_remote(source) or source.startswith((PREFIX, PUBLIC))


def _discover(source: str, session: Session) -> DiscoveredSource:
    if session.should_stop():
        raise Cancelled
    told = shown_source(source)
    try:
        if source == STANDARD_INPUT:
            return _standard_input(session.stdin_path)
        if (asked := asked_of(source, session.environ)) is not None:
            return discover_public_cache(told, asked, session)
        if source.startswith(PREFIX):
            return _of_spack(source, session)
        if is_remote(source):
            return _far_away(told, source, session, {})
        return _here(source, source, session)
    except SourceError as error:
        return DiscoveredSource(told, _kind(source), failure=_naming(source, str(error)))
    except Cancelled:
        raise
    except Exception as error:
        failure = f"the source {told} cannot be read: {describe_unexpected(error)}"
        return DiscoveredSource(told, _kind(source), failure=failure)


def _naming(source: str, failure: str) -> str:
    """Say which source fails, unless it is said."""
    shown = shown_url(source)
    is_said = source == STANDARD_INPUT or shown.partition("?")[0].rstrip("/") in failure
    return failure if is_said else f"the source {shown} cannot be read: {failure}"


def _kind(source: str) -> str:
    """Tell what a source would have been, that could not be read."""
    if source == STANDARD_INPUT:
        return "standard input"
    if is_remote(source) or source.startswith(PREFIX):
        return "mirror"
    return "public cache" if source.startswith(PUBLIC) else "pages"


def _standard_input(path: str) -> DiscoveredSource:
    if not path:
        raise SourceError("standard input was not read")
    try:
        status = os.stat(path)
    except OSError as error:
        raise SourceError(f"standard input {reason(error)}") from None
    document = document_of(STANDARD_INPUT, path, "standard input", status, kind="asked for")
    return DiscoveredSource(STANDARD_INPUT, "standard input", documents=(document,))


def _of_spack(source: str, session: Session) -> DiscoveredSource:
    """Look at a mirror of the user's Spack, with what its configuration says of the way there."""
    mirror, problems = configured(source.removeprefix(PREFIX), session.spack)
    if is_remote(mirror.url):
        found = _far_away(source, mirror.url, session, mirror.options, mirror.view)
    else:
        found = _here(source, mirror.url, session, mirror.view)
    return replace(found, problems=(*problems, *found.problems))


def _far_away(
    source: str, url: str, session: Session, options: Mapping[str, object], view: str = ""
) -> DiscoveredSource:
    split_url(url)
    if scheme_of(url).startswith("oci"):
        registry = Mirror(source, session.open(url, options), session.environ, build_cache="")
        return replace(discover_mirror(registry), layout="OCI")
    at = addressed(url)
    place = session.open(at.top, options)
    mirror = Mirror(
        source,
        place,
        session.environ,
        view=view or at.view,
        build_cache=at.build_cache,
        layout=at.layout,
        should_stop=session.should_stop,
    )
    if not at.name:
        return discover_mirror(mirror)
    fetched = place.fetch(at.name)
    if is_catalogue(_head(fetched.path)):
        return discover_public_cache(source, Asked(url), session)
    document = replace(mirror.document(fetched), cached=False)
    return DiscoveredSource(
        source,
        "file",
        documents=(document,),
        checked=fetched.checked,
        remark=fetched.remark,
    )


def _here(source: str, path: str, session: Session, view: str = "") -> DiscoveredSource:
    """Look at a file or directory on this machine."""
    named = None if path == source else path
    if scheme_of(path) == "file":
        source = shown_source(source)
        named = path = local_path(path)
    elif scheme := scheme_of(path):
        raise SourceError(f"the source {shown_url(path)}: {scheme}:// is not supported")
    top = str(location(path))
    try:
        status = os.stat(top)
    except (OSError, ValueError) as error:
        why = "does not exist" if isinstance(error, FileNotFoundError) else reason(error)
        told = shown_url(source)
        told = f"{told}, {shown_url(path)}," if source.startswith(PREFIX) else told
        raise SourceError(f"the source {told} {why}") from None
    if stat.S_ISDIR(status.st_mode):
        if view:
            folder = LocalFolder(top, named or source)
            return discover_mirror(Mirror(source, folder, session.environ, view=view))
        return discover_directory(source, top, session, named=named)
    if not stat.S_ISREG(status.st_mode):
        raise SourceError(f"the source {source} is neither a file nor a directory")
    at = addressed(named or source)
    if at.layout == "v3":
        folder = LocalFolder(str(location(at.top or ".")), at.top)
        return discover_mirror(Mirror(source, folder, session.environ, view=at.view, layout="v3"))
    if is_catalogue(_head(top)):
        return discover_public_cache(source, Asked(named or source), session)
    document = document_of(source, top, named or source, status, kind="asked for")
    return DiscoveredSource(source, "file", documents=(document,))


def _head(path: str) -> bytes:
    try:
        return read_head(path, _HEAD)
    except OSError:
        return b""
