"""Fetch the size of an archive from its mirror, where no index records it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from spackscope.model.core.errors import Cancelled
from spackscope.model.core.records import SourceStatus, Spec
from spackscope.model.sources.session import Session
from spackscope.model.sources.source_name import PREFIX, shown_source, unique_names
from spackscope.model.sources.url_target import parse_target
from spackscope.model.storage.schemes import is_remote

if TYPE_CHECKING:
    from spackscope.model.storage.base import Storage

MAX_SIZES = 1000
"""Sizes that are fetched at once; a closure seldom has half as many specs."""

_PATH_PART = re.compile(r"[\w.+-]+")
_BLOB = "/blobs/sha256/"


def size_source(spec: Spec, states: Iterable[SourceStatus]) -> str:
    """Return the name of the remote source that may have the size of a spec's archive, or ""."""
    if spec.size is not None or not spec.cached:
        return ""
    for state in states:
        was_fetched = state.checked is not None and not state.failure
        has_manifests = "v3" in state.layout or state.kind == "public cache"
        if was_fetched and has_manifests and state.name in spec.sources:
            return state.name
    return ""


def archive_sizes(
    specs: Iterable[Spec],
    states: Sequence[SourceStatus],
    session: Session,
    sources: Sequence[str] = (),
    *,
    is_offline: bool = False,
) -> dict[str, float]:
    """Return by hash the sizes that can be found out of the first MAX_SIZES specs without one.

    Several are fetched at once, as `archive_size` does, but none from a server that did not
    answer when its source was read. Raises Cancelled.
    """
    silent = {state.name for state in states if state.remark}
    without_size = [spec for spec in specs if size_source(spec, states)][:MAX_SIZES]
    tasks = [
        partial(
            archive_size,
            spec,
            states,
            session,
            sources,
            is_offline=is_offline or size_source(spec, states) in silent,
        )
        for spec in without_size
    ]
    if not tasks:
        return {}
    from spackscope.model.core.parallel import run_parallel

    sizes = run_parallel(tasks, session.should_stop)
    return {
        spec.hash: size for spec, size in zip(without_size, sizes, strict=True) if size is not None
    }


def archive_size(
    spec: Spec,
    states: Iterable[SourceStatus],
    session: Session,
    sources: Sequence[str] = (),
    *,
    is_offline: bool = False,
) -> float | None:
    """Return the size of a spec's archive in bytes, or None where it cannot be found out.

    Where the spec has none, the manifest of the spec is fetched from its mirror of layout v3, and
    kept: it does not change. `states` are those of the catalog, `sources` what the user
    gave, which may contain the password of the mirror. If it `is_offline`, only manifests that
    were fetched before are read. Errors are not reported. Raises Cancelled.

        archive_size(spec, catalog.sources, session)
    """
    source = size_source(spec, states)
    if not source:
        return spec.size
    if not (_PATH_PART.fullmatch(spec.package) and _PATH_PART.fullmatch(spec.version)):
        return None
    # Most specs have a size or no remote source, and need nothing that fetches.
    from spackscope.model.core.bounded_files import read_file
    from spackscope.model.readers.manifest import MAX_MANIFEST_SIZE, archive_size_in
    from spackscope.model.sources.mirror_spec_files import MANIFEST, SPECS

    name = f"{SPECS}/{spec.package}/{spec.package}-{spec.version}-{spec.hash}{MANIFEST}"
    try:
        storage = _storage_of(source, spec.origin, sources, session)
        if storage is None or (is_offline and not storage.is_cached(name)):
            return None
        path = storage.fetch(name, immutable=True, max_size=MAX_MANIFEST_SIZE).path
        entry = archive_size_in(read_file(path, MAX_MANIFEST_SIZE), origin=name)
    except Cancelled:
        raise
    except Exception:
        return None
    return None if entry is None else float(entry[1])


def _storage_of(
    source: str, origin: str, sources: Sequence[str], session: Session
) -> Storage | None:
    """Open the mirror that a spec comes from; None where that is not remote."""
    if source.startswith(PREFIX):
        from spackscope.model.sources.spack_config.config import find_mirror

        mirror, _ = find_mirror(source, session.spack)
        return session.open(mirror.url, mirror.options)
    source_by_name = dict(zip(unique_names(map(shown_source, sources)), sources, strict=True))
    url = source_by_name.get(source, source)
    target = parse_target(url)
    if is_remote(url) and not target.name:
        return session.open(target.top)
    # An index of the public cache is a blob, and its URL begins with that of the mirror.
    top, blob, _ = origin.partition(_BLOB)
    return session.open(top) if blob and is_remote(top) else None
