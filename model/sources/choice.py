"""Decide on the sources: those given, else those of the environment, else the bundled sample."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from spackscope.model.sources.documents import SourceError, reason

SAMPLE = "sample_data"
"""The name of the bundled sample, the source where none is given."""


def chosen(given: Sequence[str], environ: Mapping[str, str]) -> tuple[str, ...]:
    """Decide on the sources: those given, else SPACKSCOPE_FROM, else the bundled sample.

    SPACKSCOPE_FROM holds one source or several separated by blanks, quoted as in a shell.
    Raises SourceError where its quotes do not close.
    """
    if given:
        return tuple(dict.fromkeys(given))
    variable = environ.get("SPACKSCOPE_FROM", "").strip()
    if not variable:
        return (SAMPLE,)
    if os.path.exists(os.path.expanduser(variable)):
        return (variable,)
    try:
        return tuple(dict.fromkeys(shlex.split(variable)))
    except ValueError as error:
        raise SourceError(f"SPACKSCOPE_FROM cannot be split into sources: {error}") from None


def location(source: str) -> Path:
    """Give the absolute path of a source; `sample_data` is the sample in the installed package.

    Raises SourceError for a relative path in a directory that is no more.
    """
    if source == SAMPLE:
        from importlib.resources import files

        return Path(str(files("spackscope.sample_data")))
    try:
        return Path(os.path.abspath(os.path.expanduser(source)))
    except OSError as error:
        raise SourceError(f"the source {source} {reason(error)}") from None
