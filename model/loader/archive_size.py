"""Find out the size of an archive, where a mirror far away can tell what no index does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.core.errors import (
    Cancelled,
)
from spackscope.model.core.records import (
    Spec,
)
from spackscope.model.sources.session import Session


def mirror_to_ask(catalog: Catalog, spec: Spec) -> str:
    """Name the source that can tell the size of a spec's archive, or give an empty text."""
    if spec.size is not None or not spec.cached:
        return ""
    for state in catalog.sources:
        is_far = state.checked is not None and not state.failure
        has_manifests = "v3" in state.layout or state.kind == "public cache"
        if is_far and has_manifests and state.name in spec.sources:
            return state.name
    return ""


def archive_size(
    catalog: Catalog,
    spec: Spec,
    session: Session,
    *,
    sources: Sequence[str] = (),
) -> float | None:
    """Give the bytes of a spec's archive, asking its mirror where no document told it.

    None where it cannot tell, or be reached, or any error comes of it. `sources` are those that
    the user gave. Raises Cancelled.
    """
    mirror = mirror_to_ask(catalog, spec)
    if not mirror:
        return spec.size
    from spackscope.model.sources.archive_size import remote_size

    asked = replace(spec, source=mirror)
    try:
        return remote_size(asked, session, sources=sources)
    except Cancelled:
        raise
    except Exception:
        return None
