"""Substitute the directories and variables that paths in Spack's configuration contain.

As `replacements` in lib/spack/spack/util/path.py.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping

from spackscope.model.storage.schemes import scheme_of

PLATFORM = "windows" if sys.platform == "win32" else sys.platform
OWN_PATHS = {"user": "SPACK_USER_CONFIG_PATH", "system": "SPACK_SYSTEM_CONFIG_PATH"}
"""The variables that name the directories of the user and of the system."""

_VARIABLE = r"\$(?:(\w+)|\{(\w+)\})"
_MAX_EXPANSION = 2**20
"""Characters that all variables of a configuration may expand to, together."""


def find_spack_root(environ: Mapping[str, str]) -> str:
    """Return the root of the user's Spack, or "": SPACK_ROOT, else that of `spack` on PATH."""
    root = environ.get("SPACK_ROOT", "")
    if root:
        return os.path.abspath(root)
    # As shutil.which, which takes long to import.
    directories = environ.get("PATH", "").split(os.pathsep) if environ.get("PATH") else ()
    programs = (os.path.join(directory, "spack") for directory in directories)
    program = next(filter(_is_program, programs), None)
    if program is None:
        return ""
    root = os.path.dirname(os.path.dirname(os.path.realpath(program)))
    return root if os.path.isdir(os.path.join(root, "lib", "spack", "spack")) else ""


def find_spack(environ: Mapping[str, str]) -> Paths | None:
    """Return the paths of the user's Spack, or None where nothing is configured.

    Without a Spack only the scopes of the system and of the user are read.
    """
    paths = Paths(find_spack_root(environ), environ)
    if paths.root or environ.get("SPACK_ENV"):
        return paths
    is_local = "SPACK_DISABLE_LOCAL_CONFIG" not in environ
    return paths if is_local and any(map(os.path.isdir, paths.own())) else None


def _is_program(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)


class Paths:
    """The directories that Spack knows, given its root (or "") and the environment."""

    def __init__(self, root: str, environ: Mapping[str, str]) -> None:
        self.root, self.environ = root, environ
        self._expanded = 0

    @property
    def home(self) -> str:
        """The user's home directory, or "" without one."""
        return self.environ.get("HOME", "")

    def own(self) -> tuple[str, str]:
        """Return the directories of the system and of the user, which variables may name."""
        root = os.path.abspath(os.sep)
        system = self.environ.get(OWN_PATHS["system"]) or "/etc/spack"
        user = self.environ.get(OWN_PATHS["user"]) or os.path.join(self.home, ".spack")
        return self.absolute(system, root), self.absolute(user, root)

    def absolute(self, path: str, base: str) -> str:
        """Return the absolute form of a path in a file of the directory `base`."""
        path = self._expand_home(re.sub(_VARIABLE, self._expand, path))
        return os.path.normpath(os.path.join(base, path))

    def absolute_url(self, url: str, base: str) -> str:
        """Return the absolute form of a path, and a URL as it is."""
        return url if scheme_of(url) else self.absolute(url, base)

    def _expand_home(self, path: str) -> str:
        if self.home and (path == "~" or path.startswith("~/")):
            return self.home + path[1:]
        return os.path.expanduser(path) if path.startswith("~") else path

    def _expand(self, match: re.Match[str]) -> str:
        if self._expanded > _MAX_EXPANSION:
            return match[0]
        name = match[1] or match[2]
        value = self._spack_value(name.lower())
        if value is None:
            value = self.environ.get(name, match[0])
        self._expanded += len(value)
        return value

    def _spack_value(self, name: str) -> str | None:
        """Return the value of one of Spack's own variables, or None."""
        environ = self.environ
        if name == "user":
            import getpass

            return environ.get("USER") or getpass.getuser()
        if name == "tempdir":
            import tempfile

            return environ.get("TMPDIR") or tempfile.gettempdir()
        if name == "user_cache_path":
            path = environ.get("SPACK_USER_CACHE_PATH", "")
            default = os.path.join(self.home, ".spack")
            return os.path.abspath(self._expand_home(path) if path else default)
        values = {
            "spack": self.root or None,
            "platform": PLATFORM,
            "spack_home": environ.get("SPACK_HOME") or self.home,
            "env": environ.get("SPACK_ENV") or None,
        }
        return values.get(name)
