"""Decide on the sources: those given, else those of the environment, of Spack, or the sample."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

from spackscope.model.core.errors import (
    SourceError,
    reason,
)
from spackscope.model.sources.public_cache_name import CATALOGUE_NAME, PUBLIC, asked_of
from spackscope.model.sources.session import Session
from spackscope.model.sources.spack_config.config import PREFIX, Spack
from spackscope.model.storage.urls import is_remote, scheme_of, shown_url

SAMPLE = "sample_data"
"""The name of the bundled sample, the source where none is given and no Spack is found."""

STANDARD_INPUT = "-"
"""The name of standard input as a source."""

_SOURCES_ONLY = "https://mirror.spack.io"


def chosen(given: Sequence[str], session: Session) -> tuple[str, ...]:
    """Decide on the sources: those given, else SPACKSCOPE_FROM, else those of the user's Spack.

    SPACKSCOPE_FROM holds one source or several separated by blanks, quoted as in a shell. Of
    Spack these are its mirrors of binaries and the install trees with a database. Without any
    it is the bundled sample. Raises SourceError where the quotes of SPACKSCOPE_FROM do not close.
    """
    if given:
        return tuple(dict.fromkeys(given))
    variable = session.environ.get("SPACKSCOPE_FROM", "").strip()
    if not variable:
        return _of_spack(session.spack) or (SAMPLE,)
    if os.path.exists(os.path.expanduser(variable)):
        return (variable,)
    try:
        return tuple(dict.fromkeys(shlex.split(variable)))
    except ValueError as error:
        raise SourceError(f"SPACKSCOPE_FROM cannot be split into sources: {error}") from None


def _of_spack(spack: Spack | None) -> tuple[str, ...]:
    """Give the mirrors and install trees of the user's Spack.

    Where its configuration cannot be read and names nothing, that is said beside the sample.
    """
    if spack is None:
        return ()
    # Before Spack 0.22 its own mirror was not marked as one of sources only, which it is.
    mirrors = [
        f"{PREFIX}{mirror.name}"
        for mirror in spack.mirrors.values()
        if mirror.binary and mirror.url.rstrip("/") != _SOURCES_ONLY
    ]
    trees = [tree for tree in spack.trees if has_database(tree)]
    if (
        not mirrors
        and not trees
        and any("cannot be read" in each.reason for each in spack.problems)
    ):
        return (PREFIX, SAMPLE)
    return (*mirrors, *trees)


def has_database(tree: str) -> bool:
    """Tell whether an install tree has a database."""
    return os.path.isfile(os.path.join(tree, ".spack-db", "index.json"))


def key(source: str, session: Session) -> str:
    """Return what a source stands for here and now; its index is kept under that.

    Raises SourceError for a relative path in a directory that no longer exists.
    """
    if source == STANDARD_INPUT:
        return source
    if (asked := asked_of(source, session.environ)) is not None:
        return f"{PUBLIC}\0{asked.catalogue}\0{','.join(asked.tags)}"
    if source.startswith(PREFIX):
        spack = session.spack
        mirror = spack.mirrors.get(source.removeprefix(PREFIX)) if spack is not None else None
        return f"{source}\0{mirror.url}\0{mirror.view}" if mirror is not None else source
    if is_remote(source) or scheme_of(source) == "file":
        return source
    return str(location(source))


def is_path(source: str) -> bool:
    """Tell whether a source is the path of a file or directory on this machine."""
    is_other = source == STANDARD_INPUT or source.startswith(PREFIX) or is_remote(source)
    return not is_other and scheme_of(source) != "file" and asked_of(source, {}) is None


def shown_source(source: str) -> str:
    """Return a source as it is known from here on, without what may be secret in its URL."""
    url, _, tags = source.partition("#")
    if tags and url.partition("?")[0].endswith(CATALOGUE_NAME):
        return f"{shown_url(url)}#{shown_url(tags)}"
    return shown_url(source)


def names_apart(names: Iterable[str]) -> list[str]:
    """Return names with a number where one is repeated.

    URLs that differ only in what is not shown have one name.
    """
    apart: dict[str, None] = {}
    for name in names:
        number, different = 1, name
        while different in apart:
            number += 1
            different = f"{name} ({number})"
        apart[different] = None
    return list(apart)


def location(source: str) -> Path:
    """Give the absolute path of a source; `sample_data` is the sample in the installed package.

    Raises SourceError for a relative path in a directory that is no more, and one of a user
    with a NUL.
    """
    if source == SAMPLE:
        from importlib.resources import files

        return Path(str(files("spackscope.sample_data")))
    try:
        return Path(os.path.abspath(os.path.expanduser(source)))
    except (OSError, ValueError) as error:
        raise SourceError(f"the source {shown_url(source)} {reason(error)}") from None
