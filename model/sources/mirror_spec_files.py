"""Find the spec files of a mirror without an index, and the sizes of archives in one with it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain

from spackscope.model.core.errors import SourceError, Unreadable
from spackscope.model.core.records import Problem
from spackscope.model.core.tasks import run_parallel
from spackscope.model.readers.manifest import SPEC, read_manifest
from spackscope.model.sources.document import DiscoveredSource, Document, Documents, combine
from spackscope.model.sources.mirror import Mirror, problem_from
from spackscope.model.sources.url_target import BUILD_CACHE
from spackscope.model.storage.base import FetchedFile

SPECS = "v3/manifests/spec"
"""The folder of layout v3 with one manifest for each spec."""

MANIFEST = ".spec.manifest.json"

MAX_SPEC_FILE_SIZE = 2**26
"""Bytes of a spec file; one with 1,000 dependencies has 2 million."""

_V2_ENDINGS = (".spec.json.sig", ".spec.json", ".spec.yaml", "/spec.yaml")
_CHECK_EVERY = 256
"""Files between two checks whether to stop."""

_Outcome = list[Document] | Problem


def find_size_manifests(mirror: Mirror) -> Iterator[Document]:
    """Yield the spec manifests of a local mirror, which are read for the sizes in them."""
    for name in _names(mirror, SPECS):
        if name.endswith(MANIFEST):
            # One that was removed just now, or is a directory, is not worth a problem.
            with contextlib.suppress(SourceError):
                yield mirror.document(mirror.storage.fetch(name), "sizes")


def find_spec_files(mirror: Mirror) -> DiscoveredSource | None:
    """Find the spec files of a mirror, layout v3 before v2; None without any.

    Those of layout v3 are blobs that manifests name. Each one that cannot be read is a Problem.
    Raises ListingUnsupported, other SourceErrors and Cancelled.
    """
    parts: list[DiscoveredSource] = []
    has_v3 = mirror.build_cache == BUILD_CACHE
    names = _names(mirror, SPECS) if has_v3 else ()
    if manifests := [name for name in names if name.endswith(MANIFEST)]:
        parts.append(_fetch_all(mirror, "v3", _fetch_by_manifest, manifests))
    if not mirror.view and (files := _v2_spec_files(mirror)):
        parts.append(_fetch_all(mirror, "v2", _fetch_v2_spec_file, files))
    return combine(parts) if parts else None


def _v2_spec_files(mirror: Mirror) -> list[str]:
    """Return the spec files of layout v2; the signed form of one that has two forms."""
    chosen: dict[str, str] = {}
    names = [name.removeprefix("./") for name in _names(mirror, mirror.build_cache.rstrip("/"))]
    for ending in _V2_ENDINGS:
        for name in names:
            if name.endswith(ending):
                chosen.setdefault(name.removesuffix(ending), name)
    return sorted(chosen.values())


def _names(mirror: Mirror, folder: str) -> Iterator[str]:
    for number, name in enumerate(mirror.storage.names(folder)):
        if number % _CHECK_EVERY == 0:
            mirror.session.check_cancelled()
        yield name


def _fetch_all(
    mirror: Mirror, layout: str, fetch: Callable[[Mirror, str], _Outcome], names: Sequence[str]
) -> DiscoveredSource:
    outcomes = run_parallel(
        [partial(fetch, mirror, name) for name in names], mirror.session.should_stop
    )
    return DiscoveredSource(
        mirror.source,
        "mirror",
        f"{layout} spec files",
        documents=Documents(
            chain.from_iterable(each for each in outcomes if isinstance(each, list))
        ),
        problems=tuple(each for each in outcomes if isinstance(each, Problem)),
    )


def _fetch_v2_spec_file(mirror: Mirror, name: str) -> _Outcome:
    try:
        return [mirror.document(mirror.fetch_document(name, MAX_SPEC_FILE_SIZE))]
    except SourceError as error:
        return problem_from(error, mirror.origin_of(name))


def _fetch_by_manifest(mirror: Mirror, name: str) -> _Outcome:
    """Fetch the spec file that a manifest names; it is shown under the name of the manifest."""
    try:
        manifest = mirror.fetch_manifest(name, immutable=True)
        blob = read_manifest(mirror.read(manifest)).blob(SPEC)
        spec_file = mirror.storage.fetch(
            blob.name, sha256=blob.checksum, immutable=True, max_size=MAX_SPEC_FILE_SIZE
        )
        return [
            mirror.document(FetchedFile(spec_file.path, manifest.origin)),
            mirror.document(manifest, "sizes"),
        ]
    except (SourceError, Unreadable) as error:
        origin = mirror.origin_of(name)
        return Problem(origin, "", str(error).removeprefix(origin).lstrip(": "))
