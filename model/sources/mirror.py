"""Look at a mirror, and list its indexes, or where it has none its spec files.

Like `BinaryCacheIndex.update` of lib/spack/spack/binary_distribution.py, which reads the index of
layout v3 and then that of layout v2, where a mirror has both.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from spackscope.model.core.errors import ListingUnsupported, NotFound, SourceError, WrongContent
from spackscope.model.sources.document import (
    DiscoveredSource,
)
from spackscope.model.sources.mirror_files import BUILD_CACHE, Mirror, problem_of, together
from spackscope.model.sources.mirror_index import index_of_v2, index_of_v3
from spackscope.model.sources.mirror_spec_files import without_index


def layouts_of(mirror: Mirror) -> Sequence[str]:
    """Tell in which layouts a mirror is looked at: views are of v3, a `build_cache` is of v2."""
    if mirror.view or mirror.layout == "v3":
        return ("v3",)
    is_v2 = mirror.layout == "v2" or mirror.build_cache != BUILD_CACHE
    return ("v2",) if is_v2 else ("v3", "v2")


def discover_mirror(mirror: Mirror) -> DiscoveredSource:
    """Find the indexes of a mirror, else its spec files.

    Raises SourceError where it has neither, or where no index is good; Cancelled.
    """
    found: list[DiscoveredSource] = []
    missing: list[NotFound] = []
    failures: list[SourceError] = []
    is_in_trouble = False
    for layout in layouts_of(mirror):
        if is_in_trouble and not mirror.place.is_cached(f"{mirror.build_cache}index.json"):
            # Waiting for the server once was long enough.
            break
        try:
            found.append(index_of_v3(mirror) if layout == "v3" else index_of_v2(mirror))
        except NotFound as error:
            missing.append(error)
        except SourceError as error:
            failures.append(error)
            is_in_trouble = not (mirror.is_here or isinstance(error, WrongContent))
    if found:
        discovered = together(found)
        problems = (
            problem_of(error, mirror.place.origin)
            for error in failures
            if str(error) not in discovered.remark
        )
        return replace(discovered, problems=(*discovered.problems, *problems))
    if failures:
        raise failures[0]
    try:
        if (listed := without_index(mirror)) is not None:
            return listed
    except ListingUnsupported:
        pass
    for refusal in missing:
        if refusal.is_forbidden:
            raise refusal
    at = mirror.place.origin or os.curdir
    if mirror.view:
        raise SourceError(f"the mirror {at} has no view {mirror.view}")
    raise SourceError(
        f"the mirror {at} holds no index: `spack buildcache update-index {at}` makes one"
    )
