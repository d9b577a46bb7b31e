"""Discover the documents of URLs, of the public cache and of the mirrors of the user's Spack."""

from __future__ import annotations

from collections.abc import Mapping

from spackscope.model.core.frozen import replace
from spackscope.model.readers.detect import check_document
from spackscope.model.sources.discover_local import discover_local
from spackscope.model.sources.document import DiscoveredSource, Documents
from spackscope.model.sources.mirror import Mirror, mirror_at
from spackscope.model.sources.mirror_layouts import discover_mirror
from spackscope.model.sources.public_cache import discover_public_cache, parse_tag_list
from spackscope.model.sources.session import Session
from spackscope.model.sources.source_name import PREFIX, PublicCache, parse_public_cache
from spackscope.model.sources.spack_config.config import find_mirror
from spackscope.model.sources.url_target import begins_tag_list, is_tag_list, parse_target
from spackscope.model.storage.schemes import is_remote, scheme_of
from spackscope.model.storage.urls import split_url


def discover_remote(name: str, source: str, session: Session) -> DiscoveredSource:
    """Discover a URL, `public:TAG` or `spack:NAME`; `name` is what the user is shown for it.

    Raises SourceError and Cancelled.
    """
    if (public := parse_public_cache(source, session.environ, session.tag_list)) is not None:
        return discover_public_cache(name, public, session)
    if source.startswith(PREFIX):
        return _discover_configured(source, session)
    if is_remote(source):
        return _discover_url(name, source, session)
    return discover_local(source, source, session)


def _discover_configured(source: str, session: Session) -> DiscoveredSource:
    """Discover a mirror of the user's Spack, with the options of its connection."""
    mirror, problems = find_mirror(source, session.spack)
    if is_remote(mirror.url):
        result = _discover_url(source, mirror.url, session, mirror.options, mirror.view)
    else:
        result = discover_local(source, mirror.url, session, mirror.view)
    return replace(result, problems=(*problems, *result.problems))


def _discover_url(
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
    file = storage.fetch(target.name, check=_check_named)
    if is_tag_list(file.path):
        return discover_public_cache(source, PublicCache(url), session)
    document = replace(mirror.document(file), cached=False)
    return DiscoveredSource(
        source, "file", documents=Documents([document]), checked=file.checked, remark=file.remark
    )


def _check_named(data: bytes) -> None:
    """Check a file that a URL names, a tag list or a document. Raises Unreadable."""
    if begins_tag_list(data):
        parse_tag_list(data)
    else:
        check_document(data)
