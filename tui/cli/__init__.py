"""The command line: arguments, help and the commands that print."""

from __future__ import annotations


def read_resource(path: str) -> str:
    """Return the text of a file of this package."""
    # In spackscope.pyz it is a member of the archive.
    from importlib.resources import files

    return files(__name__).joinpath(path).read_text("utf-8")
