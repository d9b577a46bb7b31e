"""Discover the documents of files and directories of this machine."""

from __future__ import annotations

import os
import stat

from spackscope.model.core.errors import SourceError, reason
from spackscope.model.core.redaction import shown_url
from spackscope.model.sources.directory import discover_directory
from spackscope.model.sources.document import DiscoveredSource, Documents, document_at
from spackscope.model.sources.session import Session
from spackscope.model.sources.source_name import PREFIX, PublicCache, absolute_path
from spackscope.model.sources.url_target import UrlTarget, is_tag_list, parse_target
from spackscope.model.storage.schemes import scheme_of


def discover_local(source: str, path: str, session: Session, view: str = "") -> DiscoveredSource:
    """Discover a local file or directory; `path` is that of a mirror of Spack, or the source."""
    origin = None if path == source else path
    if scheme_of(path) == "file":
        from spackscope.model.storage.urls import local_path

        source = shown_url(source)
        origin = path = local_path(path)
    elif scheme := scheme_of(path):
        raise SourceError(f"the source {shown_url(path)}: {scheme}:// is not supported")
    top = absolute_path(path)
    try:
        status = os.stat(top)
    except (OSError, ValueError) as error:
        why = "does not exist" if isinstance(error, FileNotFoundError) else reason(error)
        name = shown_url(source)
        name = f"{name}, {shown_url(path)}," if source.startswith(PREFIX) else name
        raise SourceError(f"the source {name} {why}") from None
    if stat.S_ISDIR(status.st_mode):
        if view:
            return _discover_mirror(source, UrlTarget(top, view=view), origin or source, session)
        return discover_directory(source, top, session, origin=origin)
    if not stat.S_ISREG(status.st_mode):
        raise SourceError(f"the source {source} is neither a file nor a directory")
    return _discover_file(source, top, origin or source, session)


def _discover_file(source: str, path: str, origin: str, session: Session) -> DiscoveredSource:
    target = parse_target(origin)
    if target.layout == "v3":
        return _discover_mirror(source, target, target.top, session)
    if is_tag_list(path):
        from spackscope.model.sources.public_cache import discover_public_cache

        return discover_public_cache(source, PublicCache(origin), session)
    return DiscoveredSource(
        source, "file", documents=Documents([document_at(source, path, origin)])
    )


def _discover_mirror(
    source: str, target: UrlTarget, origin: str, session: Session
) -> DiscoveredSource:
    from spackscope.model.sources.mirror import mirror_at
    from spackscope.model.sources.mirror_layouts import discover_mirror
    from spackscope.model.storage.local import LocalFolder

    folder = LocalFolder(absolute_path(target.top or "."), origin)
    return discover_mirror(mirror_at(source, folder, target, session))
