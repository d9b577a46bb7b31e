"""Find where files of a user belong, by the XDG base directory specification."""

from __future__ import annotations

import os
from collections.abc import Mapping


def base_directory(environ: Mapping[str, str], variable: str, *below_home: str) -> str | None:
    """Give the directory that a variable such as XDG_CACHE_HOME names, or the one below home.

    None without a home. Relative paths are ignored, as the specification asks.
    """
    directory = environ.get(variable, "")
    if os.path.isabs(directory):
        return directory
    home = environ.get("HOME", "")
    return os.path.join(home, *below_home) if os.path.isabs(home) else None
