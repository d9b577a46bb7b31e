"""List the files and directories that a typed path can become."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from itertools import islice

from spackscope.model.assist.answers import Choice, bounded
from spackscope.model.core.text import is_clean

_MAX_ENTRIES = 10_000
"""Entries of a directory that are looked at."""


def expanded(word: str, environ: Mapping[str, str]) -> str:
    """Return a word with the home directory and the variables that a shell would put there."""

    def value(match: re.Match[str]) -> str:
        return environ.get(match[1] or match[2], "")

    return re.sub(r"\$(?:(\w+)|\{(\w+)\})", value, os.path.expanduser(word))


def paths_from(typed: str, environ: Mapping[str, str]) -> list[Choice]:
    """Return the paths that begin with a typed one, of one directory; directories end in a slash.

    A file whose name begins with a dot is among them only where the dot was typed.
    """
    head, _, start = typed.rpartition("/")
    head += "/" if "/" in typed else ""
    try:
        with os.scandir(expanded(head, environ) or ".") as entries:
            found = [
                (entry.name, entry.is_dir())
                for entry in islice(entries, _MAX_ENTRIES)
                if entry.name.startswith(start) and (start or not entry.name.startswith("."))
            ]
    except (OSError, ValueError):
        return []
    paths = ((f"{head}{name}{'/' * is_dir}", is_dir) for name, is_dir in sorted(found))
    return bounded([Choice(path, "", not is_dir) for path, is_dir in paths if is_clean(path)])
