"""Read the YAML of Spack's configuration, of which a broken file spoils no other."""

from __future__ import annotations

import os
from typing import Any

from spackscope.model.core.bounded_files import read_file
from spackscope.model.core.errors import SourceError, Unreadable, reason
from spackscope.model.readers.encoding import decode
from spackscope.model.readers.yaml import load_yaml

LARGEST = 2**20
"""Bytes of a configuration file that is read."""


def read_yaml(path: str) -> tuple[dict[str, Any], int]:
    """Read a file as YAML 1.1 whose scalars are all texts; nothing where there is no file.

    With the mapping comes the number of its values, where each alias counts for all that it
    stands for.
    Raises SourceError naming the file and the line of what cannot be read.
    """
    try:
        if not os.path.exists(path):
            return {}, 0
        data = read_file(path, LARGEST)
    except (OSError, ValueError) as error:
        raise SourceError(f"{path} {reason(error)}") from None
    try:
        loaded, count = load_yaml(decode(data), aliases=True)
    except Unreadable as error:
        line = getattr(error, "line", None)
        where = f"line {line}: " if line else ""
        raise SourceError(f"{path} cannot be read: {where}{error}") from None
    if loaded is None or loaded == "":
        return {}, 0
    if not isinstance(loaded, dict):
        raise SourceError(f"{path} cannot be read: it is no mapping")
    return loaded, count
