"""The extension of Spack with the command `spack scope`, and its entry point."""

from __future__ import annotations

DIRECTORY = "spack-scope"
"""Spack loads extensions only from directories that are named spack-NAME."""


def extension_path() -> str:
    """Return the directory of the extension, in any installation.

    Imports nothing, for Spack calls `path_for_spack` whenever it looks a command up.
    """
    return f"{__file__.rpartition('/')[0]}/{DIRECTORY}"


def path_for_spack() -> str:
    """Return what Spack adds to its extensions; nothing if its configuration lists a spack-scope.

    It is the entry point of the group `spack.extensions` (lib/spack/spack/extensions.py), and
    never raises. Spack would list a command twice in its help, or fail in it, if an extension were
    registered twice, as by the line that `spackscope extension` prints as well.
    """
    names = []
    try:
        import sys

        config = sys.modules.get("spack.config")
        listed = config.get("config:extensions") if config is not None else None
        names = [str(path).rstrip("/").rpartition("/")[2] for path in listed or ()]
    except Exception:
        # A Spack that is configured in another way; to be listed twice is better than not at all.
        pass
    return "" if DIRECTORY in names else extension_path()
