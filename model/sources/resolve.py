"""Resolve the sources to read: named by the user or a variable, of Spack, or the sample."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import suppress

from spackscope.model.core.errors import QueryError, SourceError
from spackscope.model.core.redaction import shown_url
from spackscope.model.sources.session import Session
from spackscope.model.sources.site_url import parse_site_url
from spackscope.model.sources.source_name import (
    PREFIX,
    PUBLIC,
    SAMPLE,
    SITE,
    STANDARD_INPUT,
    absolute_path,
    is_local_path,
    parse_public_cache,
)
from spackscope.model.storage.base import is_remote, scheme_of

DATABASE = ".spack-db/index.json"
"""The database in an install tree."""

_ENDINGS = (".json", ".lock", ".sig", ".yaml", ".md", ".gz", ".zst")
_PATH = (
    r"(?:~|\.\.?|/[^\s/]+)/.*|[\w.-]+(?:/[\w.-]+){2,}/?"
    rf"|[^\s=@%^]+(?:{'|'.join(map(re.escape, _ENDINGS))})"
)
"""A word that can only be a path: /HASH and NAME/HASH may be hash prefixes."""

_SOURCE_MIRROR = "https://mirror.spack.io"


def resolve_sources(
    arguments: Sequence[str], session: Session, configured: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return the sources to read, each once: the arguments, or else SPACKSCOPE_FROM.

    SPACKSCOPE_FROM contains one source, or several separated by blanks and quoted as in a shell.
    If it is empty, the `configured` sources are read, else the binary mirrors of the user's Spack
    and its install trees with a database. For a Spack without either the source is `spack:`,
    which cannot be read. Without a Spack the bundled sample is read, which `sample` names too if
    no file has this name. Raises SourceError where a quote in SPACKSCOPE_FROM is not closed, and
    for an address of cache.spack.io that is wrong or has a query.

        resolve_sources([], Session({"SPACKSCOPE_FROM": "public ~/mirror"}))  # two sources
    """
    names, variable = arguments, session.environ.get("SPACKSCOPE_FROM", "").strip()
    if variable and not names:
        names = [variable]
        if not os.path.exists(os.path.expanduser(variable)):
            import shlex

            try:
                names = shlex.split(variable)
            except ValueError as error:
                why = f"SPACKSCOPE_FROM cannot be split into sources: {error}"
                raise SourceError(why) from None
    elif not names:
        names = configured
    if not names and (spack := session.spack) is not None:
        # Before Spack 0.22 its own mirror was not marked as one of sources only, which it is.
        mirrors = (
            f"{PREFIX}{mirror.name}"
            for mirror in spack.mirrors.values()
            if mirror.binary and mirror.url.rstrip("/") != _SOURCE_MIRROR
        )
        names = (*mirrors, *filter(has_database, spack.trees)) or (PREFIX,)
    if SAMPLE in names and os.path.exists(SAMPLE):
        names = [os.path.join(os.curdir, name) if name == SAMPLE else name for name in names]
    return tuple(dict.fromkeys(map(_site_source, names or (SAMPLE,))))


def _site_source(name: str) -> str:
    """Return the source of an address of cache.spack.io; any other name as it is."""
    if SITE not in name.lower():
        return name
    try:
        view = parse_site_url(name)
    except QueryError as error:
        raise SourceError(f"{shown_url(name)}: {error}") from None
    if view is not None and view.query:
        raise SourceError(f"{shown_url(name)} has a query: write {view.source} as the source")
    return name if view is None else view.source


def has_database(tree: str) -> bool:
    """Check whether an install tree has a database."""
    return os.path.isfile(os.path.join(tree, DATABASE))


def source_key(source: str, session: Session) -> str:
    """Return the tag list, mirror or path that a source names now, for the name of its index.

    Raises SourceError for a relative path in a directory that no longer exists.
    """
    if source == STANDARD_INPUT:
        return source
    if (public := parse_public_cache(source, session.environ, session.tag_list)) is not None:
        return f"{PUBLIC}\0{public.tag_list}\0{','.join(public.tags)}"
    if source.startswith(PREFIX):
        spack = session.spack
        mirror = spack.mirrors.get(source.removeprefix(PREFIX)) if spack is not None else None
        return f"{source}\0{mirror.url}\0{mirror.view}" if mirror is not None else source
    if is_remote(source) or scheme_of(source) == "file":
        return source
    return absolute_path(source)


def is_source_word(word: str) -> bool:
    """Check whether a word beside a query is a source.

    Sources are URLs, `spack:NAME`, `public`, `sample`, standard input, paths with a known ending,
    and words with a slash: if such a word may be a hash, too, the path has to exist.
    """
    return _can_only_be_source(word) or ("/" in word and word != "/" and names_source(word))


def names_source(word: str) -> bool:
    """Check whether a word names a source: it can be nothing else, or is a path that exists."""
    if _can_only_be_source(word):
        return True
    try:
        return os.path.exists(absolute_path(word))
    except (SourceError, ValueError):
        return False


def _can_only_be_source(word: str) -> bool:
    # A URL is one even where its scheme is not supported.
    if word == SAMPLE or scheme_of(word) or not is_local_path(word):
        return True
    return ("/" in word or word.endswith(_ENDINGS)) and re.fullmatch(_PATH, word) is not None


LOCK = "spack.lock"
"""The name of the file that has the concrete specs of an environment."""

_MARKERS = (LOCK, "spack.yaml")
_MAX_SHOWN = 5


def find_environment(name: str, session: Session) -> str:
    """Return the source that an environment is read from.

    `name` is the path of a file or an environment, else the name of a managed environment
    (`env_root_path` in Spack's environment.py) or of the active one. The name of any other source
    is returned as it is. Raises SourceError for an environment that does not exist.

        find_environment("climate", session)  # /opt/spack/var/spack/environments/climate
    """
    if not is_local_path(name):
        return name
    path = absolute_path(name)
    if os.path.isfile(path) or _is_environment(path):
        return name
    root, active = _root(session), session.environ.get("SPACK_ENV", "").rstrip(os.sep)
    managed = [os.path.join(root, name)] if root else []
    if active and os.path.basename(active) == name:
        managed.append(active)
    if not (os.path.isabs(name) or ".." in name.split(os.sep)):
        for each in filter(_is_environment, managed):
            return each
    if os.path.exists(path):
        return name
    shown = shown_url(name)
    if os.sep in name or not root:
        raise SourceError(f"the environment {shown} does not exist")
    from difflib import get_close_matches

    names = environment_names(session)
    alike = get_close_matches(name, names, _MAX_SHOWN) or names[:_MAX_SHOWN]
    more = f"; there are {', '.join(alike)}" if alike else ""
    raise SourceError(
        f"the environment {shown} is neither a file or directory, nor in {root}{more}"
    )


def names_environment(word: str) -> bool:
    """Check whether a word names a lock file, or the directory of an environment."""
    is_lock = word.endswith(".lock")
    return is_lock or (is_local_path(word) and _is_environment(os.path.expanduser(word)))


def environment_names(session: Session) -> list[str]:
    """Return the names of the environments that the user's Spack manages."""
    names: list[str] = []
    if root := _root(session):
        with suppress(OSError), os.scandir(root) as entries:
            names = sorted(entry.name for entry in entries if _is_environment(entry.path))
    return names


def _is_environment(path: str) -> bool:
    return any(os.path.isfile(os.path.join(path, marker)) for marker in _MARKERS)


def _root(session: Session) -> str:
    return session.spack.environments if session.spack is not None else ""
