"""Read one YAML file of Spack's configuration."""

from __future__ import annotations

import os
from typing import Any

from spackscope.model.core.bounded_files import read_file
from spackscope.model.core.errors import SourceError, Unreadable, reason
from spackscope.model.readers.encoding import decode
from spackscope.model.readers.yaml import load_yaml

_MAX_SIZE = 2**20


def read_yaml(path: str) -> tuple[dict[str, Any], int]:
    """Read a file as YAML 1.1 whose scalars are all texts; empty where there is no file.

    Return the mapping with the number of its values, where an alias counts as many as it stands
    for. Raises SourceError with the file and the line of what cannot be read.
    """
    try:
        if not os.path.exists(path):
            return {}, 0
        data = read_file(path, _MAX_SIZE)
    except (OSError, ValueError) as error:
        raise SourceError(f"{path} {reason(error)}") from None
    try:
        content, count = load_yaml(decode(data), aliases=True)
    except Unreadable as error:
        line = getattr(error, "line", None)
        where = f"line {line}: " if line else ""
        raise SourceError(f"{path} cannot be read: {where}{error}") from None
    if content is None or content == "":
        return {}, 0
    if not isinstance(content, dict):
        raise SourceError(f"{path} cannot be read: not a mapping")
    return content, count
