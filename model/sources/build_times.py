"""Read how long builds took: `.spack/install_times.json` in prefixes, and in archives.

`Timer.write_json` of lib/spack/spack/util/timer.py writes the file, with `cache` for a spec that
was fetched, not built. The installer of Spack 1.2 wrote no such file for half a year.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress

from spackscope.model.core.errors import SourceError
from spackscope.model.core.file_access import read_file
from spackscope.model.core.tasks import check_cancelled
from spackscope.model.sources.source_name import absolute_path

_NAME = os.path.join(".spack", "install_times.json")
_PREFIX = re.compile(r".*-([a-z2-7]{32})")
_MAX_DEPTH = 4
"""Folders from the root of an install tree down to a prefix, in all of Spack's defaults."""

_MAX_SECONDS = 366 * 24 * 3600
"""A build that took longer is an error in a file."""

_MAX_SIZE = 2**20
_MAX_FOLDERS = 200_000


def build_seconds(trees: Iterable[str], hashes: Collection[str]) -> dict[str, float]:
    """Return the seconds that builds took, by hash, as recorded in install trees.

    Specs that were fetched from a cache, and files that cannot be read, are left out. A spec may
    have been built in several trees: the first record counts. Raises Cancelled.

        build_seconds(["/opt/spack/opt/spack"], ["uehz56wshngztk47qm2f2fw4zqaoxohy"])
    """
    found: dict[str, float] = {}
    for tree in trees:
        # A tree from a variable or a configuration file may begin with a tilde.
        with suppress(SourceError):
            for hash_, path in _prefixes(absolute_path(tree), hashes):
                if hash_ not in found and (seconds := _seconds(path)) is not None:
                    found[hash_] = seconds
    return found


def _prefixes(tree: str, hashes: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield the prefixes of some hashes, whatever folders they are in."""
    folders, count = [(tree, 1)], 0
    while folders and count < _MAX_FOLDERS:
        check_cancelled()
        folder, depth = folders.pop()
        count += 1
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                if match := _PREFIX.fullmatch(entry.name):
                    if match[1] in hashes:
                        yield match[1], entry.path
                    continue
                is_hidden = entry.name.startswith(".")
                if depth < _MAX_DEPTH and not is_hidden and entry.is_dir(follow_symlinks=False):
                    folders.append((entry.path, depth + 1))


def _seconds(prefix: str) -> float | None:
    try:
        return seconds_of(read_file(os.path.join(prefix, _NAME), _MAX_SIZE))
    except OSError:
        return None


def seconds_of(data: bytes) -> float | None:
    """Return the seconds in the file of a build; None if the file has none."""
    try:
        times = json.loads(data)
        total = times["total"]
        # A spec from a cache was not built, and true is a number to Python.
        if times.get("cache") or isinstance(total, bool):
            return None
        return float(total) if 0 <= total <= _MAX_SECONDS else None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
