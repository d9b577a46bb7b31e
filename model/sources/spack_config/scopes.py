"""Find the configuration scopes that Spack reads, and the directories and variables they name.

As `create` in lib/spack/spack/config.py and `replacements` in lib/spack/spack/util/path.py.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from spackscope.model.core.errors import (
    SourceError,
)
from spackscope.model.core.records import Problem
from spackscope.model.readers.limits import MAX_YAML_VALUES
from spackscope.model.sources.spack_config.config_yaml import read_yaml
from spackscope.model.storage.urls import local_path, scheme_of, shown_url

SYSTEM = "/etc/spack"
_DEEPEST = 16
_MOST_SCOPES = 200
_LONGEST_EXPANSION = 2**20
_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)\})")
_WHEN_VARIABLE = re.compile(r"""\s*(["'])(\w+)\1\s+(not\s+)?in\s+env\s*""")
_WHEN_PLATFORM = re.compile(r"""\s*platform\s*(==|!=)\s*(["'])(\w+)\2\s*""")
_OWN_PATHS = {"user": "SPACK_USER_CONFIG_PATH", "system": "SPACK_SYSTEM_CONFIG_PATH"}
_ONLY = "only files and directories are read"
PLATFORM = "windows" if sys.platform == "win32" else sys.platform


def spack_root(environ: Mapping[str, str]) -> str:
    """Find the root of the user's Spack: SPACK_ROOT, else where `spack` on PATH lies."""
    root = environ.get("SPACK_ROOT", "")
    if root:
        return os.path.abspath(root)
    import shutil

    program = shutil.which("spack", path=environ.get("PATH", ""))
    if program is None:
        return ""
    root = os.path.dirname(os.path.dirname(os.path.realpath(program)))
    return root if os.path.isdir(os.path.join(root, "lib", "spack", "spack")) else ""


@dataclass
class Paths:
    """Substitute the variables that Spack knows in paths of its configuration."""

    root: str
    environ: Mapping[str, str]
    _expanded: int = 0

    @property
    def home(self) -> str:
        """The user's home, or nothing."""
        return self.environ.get("HOME", "")

    def user_cache(self) -> str:
        """Give where Spack keeps what belongs to the user."""
        given = self.environ.get("SPACK_USER_CACHE_PATH", "")
        return os.path.abspath(self._home(given) if given else os.path.join(self.home, ".spack"))

    def absolute(self, path: str, base: str) -> str:
        """Make a path of the configuration absolute, as seen from the directory of its file."""
        path = self._home(_VARIABLE.sub(self._bounded_value, path))
        return os.path.normpath(os.path.join(base, path))

    def place(self, url: str, base: str) -> str:
        """Make a path absolute, unless it is an address."""
        return url if scheme_of(url) else self.absolute(url, base)

    def _home(self, path: str) -> str:
        if self.home and (path == "~" or path.startswith("~/")):
            return self.home + path[1:]
        return os.path.expanduser(path) if path.startswith("~") else path

    def _bounded_value(self, found: re.Match[str]) -> str:
        """Return what a variable stands for, unless all of them together are too long by now."""
        if self._expanded > _LONGEST_EXPANSION:
            return found[0]
        value = self._value(found)
        self._expanded += len(value)
        return value

    def _value(self, found: re.Match[str]) -> str:
        name = found[1] or found[2]
        own = name.lower()
        if own == "spack" and self.root:
            return self.root
        if own == "user":
            import getpass

            return self.environ.get("USER") or getpass.getuser()
        if own == "tempdir":
            import tempfile

            return self.environ.get("TMPDIR") or tempfile.gettempdir()
        if own == "user_cache_path":
            return self.user_cache()
        if own == "platform":
            return PLATFORM
        if own == "spack_home":
            return self.environ.get("SPACK_HOME") or self.home
        if own == "env" and self.environ.get("SPACK_ENV"):
            return self.environ["SPACK_ENV"]
        return self.environ.get(name, found[0])


@dataclass
class Scopes:
    """Hold the scopes of a Spack, lowest first: directories, files, and what environments say."""

    paths: Paths
    problems: list[Problem] = field(default_factory=list)
    _files: dict[str, dict[str, Any]] = field(default_factory=dict)
    _values: int = 0
    _scopes: list[tuple[str, dict[str, Any] | None]] = field(default_factory=list)
    _seen: set[str] = field(default_factory=set)

    def find(self) -> None:
        """Find all scopes that this Spack would read now."""
        environ, root = self.paths.environ, self.paths.root
        is_local = "SPACK_DISABLE_LOCAL_CONFIG" not in environ
        etc = os.path.join(root, "etc", "spack") if root else ""
        defaults = os.path.join(etc, "defaults") if root else ""
        if root and any(self._lists_the_user(directory) for directory in (etc, defaults)):
            directories = [defaults, etc]
        else:
            directories = [defaults] if root else []
            directories += [self.own_path("system", SYSTEM)] if is_local else []
            directories += [etc] if root else []
            user = os.path.join(self.paths.home, ".spack")
            directories += [self.own_path("user", user)] if is_local else []
        for directory in directories:
            self._add(directory, 0)
        if environment := environ.get("SPACK_ENV", ""):
            self._add_environment(os.path.abspath(environment))

    def own_path(self, name: str, default: str) -> str:
        """Give the directory of a scope, which an environment variable may name."""
        given = self.paths.environ.get(_OWN_PATHS.get(name, ""), "")
        return self.paths.absolute(given or default, os.path.abspath(os.sep))

    def sections(self, name: str) -> list[tuple[Any, bool, str]]:
        """Give a section of each scope that has it, highest first.

        With it, whether it stands in for that of all lower scopes, and the directory that its
        paths are relative to.
        """
        found: list[tuple[Any, bool, str]] = []
        for path, inline in reversed(self._scopes):
            if inline is None:
                file, base = os.path.join(path, f"{name}.yaml"), path
                content = self._read(file)
            else:
                content, base = inline, os.path.dirname(path)
            for key, overrides in ((f"{name}:", True), (name, False)):
                if key in content:
                    found.append((content[key], overrides, base))
        return found

    def _lists_the_user(self, directory: str) -> bool:
        included = self._read(os.path.join(directory, "include.yaml")).get("include")
        return isinstance(included, list) and any(
            isinstance(entry, dict) and entry.get("name") == "user" for entry in included
        )

    def _read(self, path: str) -> dict[str, Any]:
        """Read a file once; what is wrong with it is a problem, and it is empty then."""
        if path not in self._files:
            self._files[path] = {}
            try:
                content, values = read_yaml(path)
                if self._values + values > MAX_YAML_VALUES:
                    limit = f"at most {MAX_YAML_VALUES:,} values of the configuration are read"
                    raise SourceError(f"{path} is not read: with it there are more; {limit}")
                self._values += values
                self._files[path] = content
            except SourceError as error:
                reason = str(error).removeprefix(path).lstrip()
                self.problems.append(Problem(path, "", reason))
        return self._files[path]

    def _add(self, path: str, depth: int) -> None:
        """Add a directory or file, above those that it includes."""
        real = os.path.realpath(path)
        if real in self._seen or depth > _DEEPEST:
            return
        if len(self._seen) >= _MOST_SCOPES:
            if len(self._seen) == _MOST_SCOPES:
                reason = f"it is not read; at most {_MOST_SCOPES} files and directories are"
                self.problems.append(Problem(path, "", reason))
                self._seen.add("")
            return
        self._seen.add(real)
        if os.path.isdir(path):
            include = os.path.join(path, "include.yaml")
            self._include(self._read(include).get("include"), include, depth)
            self._scopes.append((path, None))
            platform = os.path.join(path, PLATFORM)
            if os.path.isdir(platform):
                self._add(platform, depth + 1)
        elif os.path.isfile(path):
            content = self._read(path)
            content = _inner(content)
            self._include(content.get("include"), path, depth)
            self._scopes.append((path, content))

    def _add_environment(self, directory: str) -> None:
        path = os.path.join(directory, "spack.yaml")
        if os.path.isfile(path):
            self._add(path, 0)
        else:
            self.problems.append(Problem(path, "", "the active environment has no such file"))

    def _include(self, included: Any, file: str, depth: int) -> None:
        entries = included if isinstance(included, list) else []
        for entry in reversed(entries):
            told = entry if isinstance(entry, dict) else {"path": entry}
            path = told.get("path")
            if "git" in told or type(path) is not str:
                self._pass_over(
                    file, told.get("git") or path, "only files and directories are read"
                )
                continue
            is_so = self._when(told.get("when"))
            if is_so is None:
                self._pass_over(file, path, f"its condition {told.get('when')} is not understood")
            if not is_so:
                continue
            name = told.get("name")
            variable = told.get("path_override_env_var") or _OWN_PATHS.get(str(name), "")
            path = self.paths.environ.get(str(variable), "") or path
            place = self.paths.place(path, os.path.dirname(file))
            if scheme_of(place) == "file":
                try:
                    place = local_path(place)
                except SourceError as error:
                    self.problems.append(Problem(file, "include", str(error)))
                    continue
            if scheme_of(place):
                self._pass_over(file, path, _ONLY)
            elif os.path.exists(place):
                self._add(place, depth + 1)
            elif str(told.get("optional", "")).lower() not in ("true", "yes", "on"):
                shown = shown_url(place)
                reason = f"the configuration {shown} that it includes does not exist"
                self.problems.append(Problem(file, "include", reason))

    def _pass_over(self, file: str, what: object, why: str) -> None:
        reason = f"{shown_url(str(what))[:200]} is passed over: {why}"
        self.problems.append(Problem(file, "include", reason))

    def _when(self, condition: Any) -> bool | None:
        if condition is None:
            return True
        text = condition if isinstance(condition, str) else ""
        if found := _WHEN_VARIABLE.fullmatch(text):
            return (found[2] in self.paths.environ) is not bool(found[3])
        if found := _WHEN_PLATFORM.fullmatch(text):
            return (found[3] == PLATFORM) is (found[1] == "==")
        return {"true": True, "false": False}.get(text.strip().lower())


def _inner(content: dict[str, Any]) -> dict[str, Any]:
    """Give what an environment says of the configuration, or a file that is all configuration."""
    for key in ("spack", "env"):
        if isinstance(content.get(key), dict):
            return dict(content[key])
    return content
