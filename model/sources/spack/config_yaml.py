"""Read the YAML of Spack's configuration, of which a broken file spoils no other."""

from __future__ import annotations

import os
from typing import Any

from spackscope.model.bounded_files import read_file
from spackscope.model.readers.front_matter import DEEPEST, FrontMatterError, decode
from spackscope.model.sources.documents import SourceError, reason

LARGEST = 2**20
"""Bytes of a configuration file that is read."""


def read_yaml(path: str) -> dict[str, Any]:
    """Read a file as YAML 1.1 whose scalars are all texts; nothing where there is no file.

    Raises SourceError naming the file and the line of what cannot be read.
    """
    try:
        if not os.path.isfile(path):
            return {}
        data = read_file(path, LARGEST)
    except (OSError, ValueError) as error:
        raise SourceError(f"{path} {reason(error)}") from None
    try:
        loaded = _load(decode(data))
    except FrontMatterError as error:
        raise SourceError(f"{path} cannot be read: {error}") from None
    if loaded is None or loaded == "":
        return {}
    if not isinstance(loaded, dict):
        raise SourceError(f"{path} cannot be read: it is no mapping")
    return loaded


def _load(text: str) -> Any:
    """Load YAML, but for what is nested so deeply that it would end the process."""
    import yaml

    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        depth = 0
        for event in yaml.parse(text, Loader=loader):
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
                if depth > DEEPEST:
                    mark = event.start_mark
                    line = f"line {mark.line + 1}: " if mark is not None else ""
                    raise FrontMatterError(f"{line}it is nested too deeply")
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
        # BaseLoader makes texts, lists and mappings, nothing else; an alias is no copy.
        return yaml.load(text, Loader=loader)
    except yaml.MarkedYAMLError as error:
        why = " ".join(str(error.problem or error).split())
        mark = error.problem_mark or error.context_mark
        line = f"line {mark.line + 1}: " if mark is not None else ""
        raise FrontMatterError(f"{line}{why}") from None
    except (yaml.YAMLError, ValueError, OverflowError, TypeError, RecursionError) as error:
        raise FrontMatterError(" ".join(str(error).split())[:200]) from None
