"""Discover the documents of a mirror in all its layouts: its indexes, or else its spec files.

Like `BinaryCacheIndex.update` of lib/spack/spack/binary_distribution.py, which reads the index of
layout v3 and then that of layout v2, where a mirror has both.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence

from spackscope.model.core.errors import ListingUnsupported, NotFound, SourceError, WrongContent
from spackscope.model.core.frozen import replace
from spackscope.model.sources.document import DiscoveredSource, combine
from spackscope.model.sources.mirror import Mirror, problem_from
from spackscope.model.sources.mirror_index import find_v2_index, find_v3_index
from spackscope.model.sources.mirror_spec_files import find_spec_files
from spackscope.model.sources.url_target import BUILD_CACHE


def discover_mirror(mirror: Mirror) -> DiscoveredSource:
    """Find the indexes of a mirror, or else its spec files.

    Raises SourceError where it has neither, or where no index can be used, and Cancelled.
    """
    indexes, errors = _find_indexes(mirror)
    missing = [error for error in errors if isinstance(error, NotFound)]
    failures = [error for error in errors if not isinstance(error, NotFound)]
    origin = mirror.storage.origin
    if indexes:
        combined = combine(indexes)
        new = (error for error in failures if str(error) not in combined.remark)
        problems = (problem_from(error, origin) for error in new)
        return replace(combined, problems=(*combined.problems, *problems))
    if failures:
        raise failures[0]
    with contextlib.suppress(ListingUnsupported):
        if (spec_files := find_spec_files(mirror)) is not None:
            return spec_files
    for error in missing:
        if error.is_forbidden:
            raise error
    if mirror.view:
        raise SourceError(f"the mirror {origin or os.curdir} has no view {mirror.view}")
    hint = f"create one with `spack buildcache update-index {origin or os.curdir}`"
    raise SourceError(f"the mirror {origin or os.curdir} has no index: {hint}")


def _find_indexes(mirror: Mirror) -> tuple[list[DiscoveredSource], list[SourceError]]:
    """Return the indexes of a mirror, and why others are missing or cannot be read."""
    indexes: list[DiscoveredSource] = []
    errors: list[SourceError] = []
    has_failed_requests = False
    for layout in _layouts_of(mirror):
        if has_failed_requests and not mirror.storage.is_cached(f"{mirror.build_cache}index.json"):
            # The server has been waited for once.
            break
        try:
            find = find_v3_index if layout == "v3" else find_v2_index
            indexes.append(find(mirror))
        except SourceError as error:
            errors.append(error)
            is_answer = isinstance(error, (NotFound, WrongContent))
            has_failed_requests = not (mirror.is_local or is_answer)
    return indexes, errors


def _layouts_of(mirror: Mirror) -> Sequence[str]:
    """Return the layouts to look for: views exist in v3 only, a `build_cache` in v2 only."""
    if mirror.view or mirror.layout == "v3":
        return ("v3",)
    is_v2 = mirror.layout == "v2" or mirror.build_cache != BUILD_CACHE
    return ("v2",) if is_v2 else ("v3", "v2")
