"""Find the environment that the user names: a path, or the name of one that Spack manages."""

from __future__ import annotations

import os
from contextlib import suppress
from difflib import get_close_matches

from spackscope.model.core.errors import SourceError
from spackscope.model.core.redaction import shown_url
from spackscope.model.sources.session import Session
from spackscope.model.sources.source_name import absolute_path, is_local_path

LOCK = "spack.lock"
"""The name of the file that has the concrete specs of an environment."""

_MARKERS = (LOCK, "spack.yaml")
_MAX_SHOWN = 5


def find_environment(name: str, session: Session) -> str:
    """Return the source that an environment is read from.

    A name is one of a managed environment (`env_root_path` in Spack's environment.py), unless a
    file or an environment is at this path. Anything else that is a source is returned as it is.
    Raises SourceError where there is none.

        find_environment("climate", session)  # /opt/spack/var/spack/environments/climate
    """
    if not is_local_path(name):
        return name
    path = absolute_path(name)
    if os.path.isfile(path) or _is_environment(path):
        return name
    for managed in _managed_paths(name, session):
        if _is_environment(managed):
            return managed
    if os.path.exists(path):
        return name
    raise SourceError(_unknown(name, session))


def environment_names(session: Session) -> list[str]:
    """Return the names of the environments that the user's Spack manages."""
    names: list[str] = []
    if root := _root(session):
        with suppress(OSError), os.scandir(root) as entries:
            names = sorted(entry.name for entry in entries if _is_environment(entry.path))
    return names


def _is_environment(path: str) -> bool:
    return any(os.path.isfile(os.path.join(path, marker)) for marker in _MARKERS)


def _managed_paths(name: str, session: Session) -> list[str]:
    """Return where an environment of this name may be: among those of Spack, or the active one."""
    if os.path.isabs(name) or ".." in name.split(os.sep):
        return []
    root, active = _root(session), session.environ.get("SPACK_ENV", "")
    paths = [os.path.join(root, name)] if root else []
    return (
        [*paths, active] if active and os.path.basename(active.rstrip(os.sep)) == name else paths
    )


def _root(session: Session) -> str:
    return session.spack.environments if session.spack is not None else ""


def _unknown(name: str, session: Session) -> str:
    """Return the sentence that there is no such environment, with names that are alike."""
    root, shown = _root(session), shown_url(name)
    if os.sep in name or not root:
        return f"the environment {shown} does not exist"
    names = environment_names(session)
    alike = get_close_matches(name, names, _MAX_SHOWN) or names[:_MAX_SHOWN]
    more = f"; there are {', '.join(alike)}" if alike else ""
    return f"the environment {shown} is neither a file or directory, nor in {root}{more}"
