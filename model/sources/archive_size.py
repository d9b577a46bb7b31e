"""Fetch the size of an archive from its mirror, where no index records it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import partial

from spackscope.model.core.errors import Cancelled
from spackscope.model.core.records import SourceStatus, Spec
from spackscope.model.sources.session import Session

MAX_SIZES = 1000
"""Sizes that are fetched at once; a closure seldom has half as many specs."""

_PATH_PART = re.compile(r"[\w.+-]+")


def size_source(spec: Spec, states: Iterable[SourceStatus]) -> SourceStatus | None:
    """Return the remote source that may have the size of a spec's archive, or None."""
    if spec.size is not None or not spec.cached:
        return None
    for state in states:
        was_fetched = state.checked is not None and not state.failure
        has_manifests = "v3" in state.layout or state.kind == "public cache"
        if was_fetched and has_manifests and state.name in spec.sources:
            return state
    return None


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
    without_size = [
        (spec, source) for spec in specs if (source := size_source(spec, states)) is not None
    ][:MAX_SIZES]
    tasks = [
        partial(
            archive_size,
            spec,
            states,
            session,
            sources,
            is_offline=is_offline or bool(source.remark),
        )
        for spec, source in without_size
    ]
    if not tasks:
        return {}
    from spackscope.model.core.tasks import run_parallel

    sizes = run_parallel(tasks, session.should_stop)
    return {
        spec.hash: size
        for (spec, _), size in zip(without_size, sizes, strict=True)
        if size is not None
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
    if source is None:
        return spec.size
    if not (_PATH_PART.fullmatch(spec.package) and _PATH_PART.fullmatch(spec.version)):
        return None
    # Most specs have a size or no remote source, and need nothing that fetches.
    from spackscope.model.core.files import read_file
    from spackscope.model.readers.manifest import MAX_MANIFEST_SIZE, archive_size_in
    from spackscope.model.sources.mirror_of import mirror_of
    from spackscope.model.sources.mirror_spec_files import MANIFEST, SPECS

    name = f"{SPECS}/{spec.package}/{spec.package}-{spec.version}-{spec.hash}{MANIFEST}"
    try:
        mirror = mirror_of(spec, source, session, sources)
        if mirror is None or (is_offline and not mirror.storage.is_cached(name)):
            return None
        path = mirror.fetch_manifest(name, immutable=True).path
        entry = archive_size_in(read_file(path, MAX_MANIFEST_SIZE), origin=name)
    except Cancelled:
        raise
    except Exception:
        return None
    return None if entry is None else float(entry[1])
