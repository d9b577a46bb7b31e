"""List the specs that the files of a mirror contain, whatever its index lists.

As `check_index_fn` of lib/spack/spack/cmd/buildcache.py. Only what a folder of this machine has is
looked at file by file; in a bucket each would need a request.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from spackscope.model.core.errors import SourceError, Unreadable
from spackscope.model.core.frozen import Frozen
from spackscope.model.readers.formats import ARCHIVE, read_manifest
from spackscope.model.sources.mirror import MANIFEST, SPECS, Mirror, problem_from

_FILE_OF_SPEC = re.compile(
    rf"(?:{SPECS}/(?P<package>[^/]+)/|(?:.*/)?)(?P<stem>[^/]+)-(?P<hash>[a-z2-7]{{32}})"
    rf"(?:{re.escape(MANIFEST)}|\.spec\.json\.sig|\.spec\.json|\.spec\.yaml|(?P<archive>\.spack))"
)
"""A manifest of layout v3, or a spec file or archive of layout v2."""


class StoredSpec(Frozen):
    """A spec of which a mirror has a manifest or spec file.

    `name` is that of the package with the version, `size` that of the archive in bytes, as far as
    the manifest says it. `problem` is what is missing, or "". Only what `has_archive` can be
    installed: Spack does so also where the spec file is gone.
    """

    name: str
    size: int | None = None
    problem: str = ""
    has_archive: bool = True


def stored_specs(mirror: Mirror, on_count: Callable[[int], object]) -> dict[str, StoredSpec]:
    """Return the specs of a mirror in the layout of its target, by hash.

    `on_count` is called with the number of each file. Raises ListingUnsupported, other
    SourceErrors and Cancelled.
    """
    is_v3 = mirror.target.layout == "v3"
    stored: dict[str, StoredSpec] = {}
    archives: set[str] = set()
    folder = SPECS if is_v3 else mirror.target.build_cache.rstrip("/")
    for number, name in enumerate(mirror.names(folder)):
        on_count(number)
        if (match := _FILE_OF_SPEC.fullmatch(name)) is None:
            continue
        hash_, stem, package = match["hash"], match["stem"], match["package"]
        if package:
            stem = f"{package}@{stem.removeprefix(f'{package}-')}"
        if match["archive"]:
            archives.add(hash_)
        elif is_v3 and mirror.is_local:
            stored[hash_] = _read_manifest(mirror, name, stem)
        else:
            stored[hash_] = StoredSpec(
                stem, None, "" if is_v3 else "the archive is missing", is_v3
            )
    for hash_ in archives & stored.keys():
        stored[hash_] = StoredSpec(stored[hash_].name)
    return stored


def _read_manifest(mirror: Mirror, file: str, name: str) -> StoredSpec:
    """Return the spec of a manifest on this machine."""
    try:
        manifest = read_manifest(mirror.fetch_manifest(file)[1])
        size = manifest.blob(ARCHIVE).size
        if manifest.remarks:
            raise Unreadable(manifest.remarks[0])
    except (SourceError, Unreadable) as error:
        why = str(problem_from(error, mirror.origin_of(file)))
        return StoredSpec(name, None, why, False)
    return StoredSpec(name, size, *mirror.missing_files(manifest))
