"""Complete the path of a file or directory that is typed."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from itertools import islice

from spackscope.model.assist.answers import Completion, bounded
from spackscope.model.core.text import is_clean

_MAX_ENTRIES = 10_000
"""Entries of a directory that are looked at."""


def complete_path(
    text: str, expand: Callable[[str], str] = os.path.expanduser
) -> Sequence[Completion]:
    """Return the paths that a text can become, in order; directories end in a slash.

    They are of one directory. A file whose name begins with a dot is among them only where the
    dot was typed.
    """
    folder, slash, start = text.rpartition("/")
    try:
        with os.scandir(expand(folder + slash) or ".") as entries:
            found = [
                (f"{folder}{slash}{entry.name}{'/' * entry.is_dir()}", entry.is_dir())
                for entry in islice(entries, _MAX_ENTRIES)
                if entry.name.startswith(start) and (start or not entry.name.startswith("."))
            ]
    except (OSError, ValueError):
        return []
    return bounded(
        [Completion(path, is_whole=not is_dir) for path, is_dir in sorted(found) if is_clean(path)]
    )
