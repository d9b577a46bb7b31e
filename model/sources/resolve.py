"""Resolve which sources are read: those given, or of the environment, of Spack, or the sample."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

from spackscope.model.core.errors import SourceError, reason
from spackscope.model.sources.public_cache import PUBLIC, TAG_LIST_NAME, parse_public_cache
from spackscope.model.sources.session import Session
from spackscope.model.sources.spack_config.config import PREFIX, SpackConfig
from spackscope.model.storage.urls import is_remote, scheme_of, shown_url

SAMPLE = "sample_data"
"""The name of the bundled sample, the source where none is given and no Spack is found."""

STANDARD_INPUT = "-"
"""The name of standard input as a source."""

DATABASE = ".spack-db/index.json"
"""The database in an install tree."""

_PATH = re.compile(r"(?:~|\.\.?|/[^/]+)/.*|.+\.(?:lock|json)")
"""What is neither a spec nor a hash prefix."""

_SOURCE_MIRROR = "https://mirror.spack.io"


def resolve_sources(arguments: Sequence[str], session: Session) -> tuple[str, ...]:
    """Return the sources to read, each once: those given, else those of the environment.

    Without any, SPACKSCOPE_FROM contains one source, or several separated by blanks and quoted
    as in a shell. Without that they are the binary mirrors of the user's Spack and its install
    trees with a database, and without a Spack the bundled sample. Raises SourceError where a
    quote in SPACKSCOPE_FROM is not closed.

        resolve_sources([], Session({"SPACKSCOPE_FROM": "public ~/mirror"}))  # two sources
    """
    if arguments:
        return tuple(dict.fromkeys(arguments))
    variable = session.environ.get("SPACKSCOPE_FROM", "").strip()
    if not variable:
        return _sources_of_spack(session.spack) or (SAMPLE,)
    if os.path.exists(os.path.expanduser(variable)):
        return (variable,)
    try:
        return tuple(dict.fromkeys(shlex.split(variable)))
    except ValueError as error:
        raise SourceError(f"SPACKSCOPE_FROM cannot be split into sources: {error}") from None


def _sources_of_spack(spack: SpackConfig | None) -> tuple[str, ...]:
    """Return the mirrors and install trees of the user's Spack.

    Where its configuration cannot be read and names nothing, `spack:` fails next to the sample.
    """
    if spack is None:
        return ()
    # Before Spack 0.22 its own mirror was not marked as one of sources only, which it is.
    mirrors = [
        f"{PREFIX}{mirror.name}"
        for mirror in spack.mirrors.values()
        if mirror.binary and mirror.url.rstrip("/") != _SOURCE_MIRROR
    ]
    trees = [tree for tree in spack.trees if has_database(tree)]
    if mirrors or trees:
        return (*mirrors, *trees)
    is_unreadable = any("cannot be read" in problem.reason for problem in spack.problems)
    return (PREFIX, SAMPLE) if is_unreadable else ()


def has_database(tree: str) -> bool:
    """Check whether an install tree has a database."""
    return os.path.isfile(os.path.join(tree, DATABASE))


def source_key(source: str, session: Session) -> str:
    """Return what a source stands for here and now, as part of the name of its index.

    Raises SourceError for a relative path in a directory that no longer exists.
    """
    if source == STANDARD_INPUT:
        return source
    if (public := parse_public_cache(source, session.environ)) is not None:
        return f"{PUBLIC}\0{public.tag_list}\0{','.join(public.tags)}"
    if source.startswith(PREFIX):
        spack = session.spack
        mirror = spack.mirrors.get(source.removeprefix(PREFIX)) if spack is not None else None
        return f"{source}\0{mirror.url}\0{mirror.view}" if mirror is not None else source
    if is_remote(source) or scheme_of(source) == "file":
        return source
    return str(absolute_path(source))


def names_source(word: str) -> bool:
    """Check whether a word names a source, and not a spec.

    These are a URL, `spack:NAME`, `public:TAG`, standard input, and a path that exists or can be
    nothing else.
    """
    if not is_local_path(word) or _PATH.fullmatch(word):
        return True
    try:
        return os.path.exists(absolute_path(word))
    except (SourceError, ValueError):
        return False


def is_local_path(source: str) -> bool:
    """Check whether a source is the path of a file or directory on this machine."""
    is_other = source == STANDARD_INPUT or source.startswith(PREFIX) or is_remote(source)
    return not is_other and scheme_of(source) != "file" and parse_public_cache(source, {}) is None


def shown_source(source: str) -> str:
    """Return the name under which a source is shown, without secrets in its URL."""
    url, _, tags = source.partition("#")
    if tags and url.partition("?")[0].endswith(TAG_LIST_NAME):
        return f"{shown_url(url)}#{shown_url(tags)}"
    return shown_url(source)


def unique_names(names: Iterable[str]) -> list[str]:
    """Return names with a number after those that repeat.

    URLs that differ only in what is not shown have the same name.

    >>> unique_names(["a", "b", "a"])
    ['a', 'b', 'a (2)']
    """
    unique: dict[str, None] = {}
    for name in names:
        number, numbered = 1, name
        while numbered in unique:
            number += 1
            numbered = f"{name} ({number})"
        unique[numbered] = None
    return list(unique)


def absolute_path(source: str) -> Path:
    """Return the absolute path of a source; `sample_data` is the sample in the installed package.

    Raises SourceError for a relative path in a directory that no longer exists, and for the name
    of a user with a NUL.
    """
    if source == SAMPLE:
        from importlib.resources import files

        return Path(str(files("spackscope.sample_data")))
    try:
        return Path(os.path.abspath(os.path.expanduser(source)))
    except (OSError, ValueError) as error:
        raise SourceError(f"the source {shown_url(source)} {reason(error)}") from None
