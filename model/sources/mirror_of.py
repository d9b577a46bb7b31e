"""Find the mirror that lists a spec, to read what its index does not say."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from spackscope.model.core.frozen import replace
from spackscope.model.core.records import SourceStatus, Spec
from spackscope.model.core.redaction import shown_url
from spackscope.model.sources.mirror import Mirror, mirror_at
from spackscope.model.sources.session import Session
from spackscope.model.sources.source_name import PREFIX, absolute_path, unique_names
from spackscope.model.sources.url_target import UrlTarget, parse_target
from spackscope.model.storage.base import Storage
from spackscope.model.storage.local import LocalFolder
from spackscope.model.storage.schemes import is_remote, scheme_of
from spackscope.model.storage.urls import local_path

REGISTRY = "OCI"
"""The layout of a registry, which has neither manifests nor signatures of Spack's."""

_V3 = re.compile(r"(?:(?P<top>.*)/)?(?:blobs/sha256|v3/manifests)/")
_V2 = re.compile(r"(?P<top>(?:.*/)?build_cache)/")


def mirror_of(
    spec: Spec, state: SourceStatus, session: Session, sources: Sequence[str] = ()
) -> Mirror | None:
    """Open the mirror from which a source lists a spec; None if that is no mirror of files.

    A source that is several mirrors, such as the public cache, has that of the document of the
    spec. `sources` are what the user gave, which may contain the password of the mirror. Raises
    SourceError.
    """
    if state.layout == REGISTRY:
        return None
    url, options, view = _given(state.name, session, sources)
    target = parse_target(url) if state.kind == "mirror" else None
    if state.name == spec.source and not (is_remote(url) and target is not None):
        # A directory may contain several mirrors. Only what the user gave has the password.
        target = _target_of(spec.origin) or target
    if target is None or target.name:
        return None
    storage = _open(target.top, session, options)
    return mirror_at(state.name, storage, replace(target, view=view or target.view), session)


def layouts_of(mirror: Mirror, state: SourceStatus) -> Sequence[str]:
    """Return the layouts in which a mirror may list specs, v3 first, as Spack looks for them."""
    if mirror.layout:
        return (mirror.layout,)
    layouts = ("v3", "v2")
    return [layout for layout in layouts if layout in state.layout] or layouts


def _given(
    name: str, session: Session, sources: Sequence[str]
) -> tuple[str, Mapping[str, object], str]:
    """Return the URL or path of a source, the options of its connection, and its view."""
    if name.startswith(PREFIX):
        from spackscope.model.sources.spack_config.config import find_mirror

        mirror, _ = find_mirror(name, session.spack)
        return mirror.url, mirror.options, mirror.view
    by_name = dict(zip(unique_names(map(shown_url, sources)), sources, strict=True))
    return by_name.get(name, name), {}, ""


def _target_of(origin: str) -> UrlTarget | None:
    """Return the mirror that a document is from, by the folders in its name."""
    if match := _V3.match(origin):
        return UrlTarget(match["top"] or "", layout="v3")
    if match := _V2.match(origin):
        return UrlTarget(match["top"], build_cache="", layout="v2")
    return None


def _open(top: str, session: Session, options: Mapping[str, object]) -> Storage:
    if is_remote(top):
        return session.open(top, options)
    path = local_path(top) if scheme_of(top) == "file" else top
    return LocalFolder(absolute_path(path or "."), path)
