"""Find the spec files of a mirror without an index, and the sizes of archives in one with it."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from functools import partial

from spackscope.model.core.errors import (
    Cancelled,
    SourceError,
    Unreadable,
)
from spackscope.model.core.parallel import run_parallel
from spackscope.model.core.records import (
    Problem,
)
from spackscope.model.readers.manifest import MAX_MANIFEST_SIZE, SPEC, read_manifest
from spackscope.model.sources.document import (
    DiscoveredSource,
    Document,
)
from spackscope.model.sources.mirror_files import BUILD_CACHE, Mirror, problem_of, together
from spackscope.model.storage.base import FetchedFile

SPECS = "v3/manifests/spec"
"""Where layout v3 has one manifest for each spec, from the top of a mirror."""

LARGEST_SPEC_FILE = 2**26
"""Bytes of a spec file that is fetched; one with 1,000 dependencies has 2 million."""

MANIFEST = ".spec.manifest.json"
_V2_ENDINGS = (".spec.json.sig", ".spec.json", ".spec.yaml", "/spec.yaml")

Found = tuple[list[Document], list[Problem]]


def sizes_of(mirror: Mirror) -> Iterator[Document]:
    """Give the spec manifests of a mirror on this machine, to be read for the sizes in them."""
    for name in _names(mirror, SPECS):
        if name.endswith(MANIFEST) and (path := _path(mirror, name)):
            origin = os.path.join(mirror.place.origin, *name.split("/"))
            try:
                yield mirror.document(FetchedFile(path, origin), "sizes")
            except SourceError:
                # It was there a moment ago; a size is not worth a word.
                continue


def without_index(mirror: Mirror) -> DiscoveredSource | None:
    """Find the spec files of a mirror, layout v3 before v2; None without any.

    Those of layout v3 lie in blobs that manifests name. What cannot be read of them is a Problem.
    Raises ListingUnsupported, other SourceErrors and Cancelled.
    """
    found: list[DiscoveredSource] = []
    is_whole = mirror.build_cache == BUILD_CACHE
    below = _names(mirror, SPECS) if is_whole else ()
    manifests = [name for name in below if name.endswith(MANIFEST)]
    if manifests:
        found.append(
            _all(mirror, "v3", [partial(_by_manifest, mirror, name) for name in manifests])
        )
    if not mirror.view and (files := _spec_files(mirror)):
        found.append(_all(mirror, "v2", [partial(_spec_file, mirror, name) for name in files]))
    return together(found) if found else None


def _spec_files(mirror: Mirror) -> list[str]:
    """Give the spec files of layout v2, of one that is there in two forms the signed one."""
    chosen: dict[str, str] = {}
    names = [name.removeprefix("./") for name in _names(mirror, mirror.build_cache.rstrip("/"))]
    for ending in _V2_ENDINGS:
        for name in names:
            if name.endswith(ending):
                chosen.setdefault(name.removesuffix(ending), name)
    return sorted(chosen.values())


def _names(mirror: Mirror, under: str) -> Iterator[str]:
    for number, name in enumerate(mirror.place.names(under)):
        if number % 256 == 0 and mirror.should_stop():
            raise Cancelled
        yield name


def _all(mirror: Mirror, layout: str, tasks: list[Callable[[], Found]]) -> DiscoveredSource:
    if mirror.is_here:
        found = []
        for number, task in enumerate(tasks):
            if number % 256 == 0 and mirror.should_stop():
                raise Cancelled
            found.append(task())
    else:
        found = run_parallel(tasks, mirror.should_stop)
    documents = tuple(document for some, _ in found for document in some)
    problems = tuple(problem for _, some in found for problem in some)
    return DiscoveredSource(mirror.source, "mirror", f"{layout} spec files", documents, problems)


def _spec_file(mirror: Mirror, name: str) -> Found:
    try:
        return [mirror.document(mirror.place.fetch(name, max_size=LARGEST_SPEC_FILE))], []
    except SourceError as error:
        return [], [problem_of(error, os.path.join(mirror.place.origin, *name.split("/")))]


def _by_manifest(mirror: Mirror, name: str) -> Found:
    """Find the spec file that a manifest names, which is told by the name of the manifest."""
    origin = os.path.join(mirror.place.origin, *name.split("/"))
    try:
        manifest = mirror.place.fetch(name, immutable=True, max_size=MAX_MANIFEST_SIZE)
        blob = read_manifest(mirror.read(manifest)).blob(SPEC)
        spec = mirror.place.fetch(
            blob.name, sha256=blob.checksum, immutable=True, max_size=LARGEST_SPEC_FILE
        )
        documents = [
            mirror.document(FetchedFile(spec.path, manifest.origin)),
            mirror.document(manifest, "sizes"),
        ]
    except (SourceError, Unreadable) as error:
        return [], [Problem(origin, "", str(error).removeprefix(origin).lstrip(": "))]
    return documents, []


def _path(mirror: Mirror, name: str) -> str:
    """Give where a file of a mirror on this machine lies, unless it is no file."""
    top = getattr(mirror.place, "top", "")
    path = os.path.join(top, *name.split("/"))
    try:
        return path if stat.S_ISREG(os.stat(path).st_mode) else ""
    except OSError:
        return ""
