"""Ask a mirror of layout v3 for the size of one archive, which no index records."""

from __future__ import annotations

import re
from collections.abc import Sequence

from spackscope.model.core.bounded_files import read_file
from spackscope.model.core.errors import (
    SourceError,
    Unreadable,
)
from spackscope.model.core.records import Spec
from spackscope.model.readers.manifest import MAX_MANIFEST_SIZE, archive_size
from spackscope.model.sources.mirror_spec_files import MANIFEST, SPECS
from spackscope.model.sources.resolve import names_apart, shown_source
from spackscope.model.sources.session import Session
from spackscope.model.sources.spack_config.config import PREFIX
from spackscope.model.sources.spack_config.mirrors import configured
from spackscope.model.sources.url_target import addressed
from spackscope.model.storage.base import Storage
from spackscope.model.storage.urls import is_remote

_PART = re.compile(r"[\w.+-]+")
_BLOB = "/blobs/sha256/"


def remote_size(spec: Spec, session: Session, *, sources: Sequence[str] = ()) -> float | None:
    """Give the bytes of the archive of a spec, asking its mirror for one small file.

    `sources` are those given by the user, of which one may hold the password that it takes.

    None where the spec comes from no mirror of layout v3 far away, or that does not tell. It is
    asked once only: a manifest does not change. Raises Cancelled.
    """
    if not (_PART.fullmatch(spec.package) and _PART.fullmatch(spec.version)):
        return None
    name = f"{SPECS}/{spec.package}/{spec.package}-{spec.version}-{spec.hash}{MANIFEST}"
    try:
        place = _place(spec, sources, session)
        if place is None:
            return None
        path = place.fetch(name, immutable=True, max_size=MAX_MANIFEST_SIZE).path
        told = archive_size(read_file(path, MAX_MANIFEST_SIZE), origin=name)
    except (SourceError, OSError, Unreadable):
        return None
    return None if told is None else float(told[1])


def _place(spec: Spec, sources: Sequence[str], session: Session) -> Storage | None:
    """Open the mirror that a spec comes from; None where it is no mirror far away."""
    if spec.source.startswith(PREFIX):
        mirror, _ = configured(spec.source.removeprefix(PREFIX), session.spack)
        return session.open(mirror.url, mirror.options)
    named = dict(zip(names_apart(map(shown_source, sources)), sources, strict=True))
    source = named.get(spec.source, spec.source)
    at = addressed(source)
    if is_remote(source) and not at.name:
        return session.open(at.top)
    # An index of the public cache is a blob, and the mirror it belongs to begins its address.
    top, blob, _ = spec.origin.partition(_BLOB)
    return session.open(top) if blob and is_remote(top) else None
