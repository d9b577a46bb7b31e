"""Find the configuration scopes that Spack reads, as `create` of lib/spack/spack/config.py."""

from __future__ import annotations

import os
import re
from typing import Any, NamedTuple

from spackscope.model.core.errors import SourceError, Unreadable, reason
from spackscope.model.core.files import read_file
from spackscope.model.core.records import Problem
from spackscope.model.core.redaction import shown_url
from spackscope.model.readers.encoding import decode
from spackscope.model.readers.limits import MAX_YAML_VALUES
from spackscope.model.readers.yaml import load_yaml
from spackscope.model.sources.spack_config.paths import OWN_PATHS, PLATFORM, Paths
from spackscope.model.storage.schemes import scheme_of
from spackscope.model.storage.urls import local_path

_MAX_DEPTH = 16
_MAX_FILE_SIZE = 2**20
_MAX_SCOPES = 200
_WHEN_VARIABLE = re.compile(r"""\s*(["'])(\w+)\1\s+(not\s+)?in\s+env\s*""")
_WHEN_PLATFORM = re.compile(r"""\s*platform\s*(==|!=)\s*(["'])(\w+)\2\s*""")
_ONLY_FILES = "only files and directories are read"


class Section(NamedTuple):
    """A section of one scope.

    It `overrides` those of all lower scopes, or is merged with them. Its paths are relative to
    `base`.
    """

    value: Any
    overrides: bool
    base: str


class Scopes:
    """The scopes of a Spack, lowest first: directories, files, and what environments contain."""

    def __init__(self, paths: Paths) -> None:
        self.paths = paths
        self.problems: list[Problem] = []
        self._files: dict[str, dict[str, Any]] = {}
        self._value_count = 0
        self._scopes: list[tuple[str, dict[str, Any] | None]] = []
        self._seen: set[str] = set()

    def find(self) -> None:
        """Find all scopes that this Spack would read now."""
        environ, root = self.paths.environ, self.paths.root
        is_local = "SPACK_DISABLE_LOCAL_CONFIG" not in environ
        etc = os.path.join(root, "etc", "spack") if root else ""
        defaults = os.path.join(etc, "defaults") if root else ""
        directories = [defaults, etc]
        if not root or not any(map(self._includes_user_scope, directories)):
            system, user = self.paths.own() if is_local else ("", "")
            directories = [defaults, system, etc, user]
        for directory in filter(None, directories):
            self._add(directory, 0)
        if environment := environ.get("SPACK_ENV", ""):
            path = os.path.join(os.path.abspath(environment), "spack.yaml")
            if os.path.isfile(path):
                self._add(path, 0)
            else:
                self.problems.append(Problem(path, "", "the active environment has no such file"))

    def sections(self, name: str) -> list[Section]:
        """Return a section of each scope that has it, highest first."""
        sections: list[Section] = []
        for path, content in reversed(self._scopes):
            base = os.path.dirname(path)
            if content is None:
                content, base = self._read(os.path.join(path, f"{name}.yaml")), path
            for key, overrides in ((f"{name}:", True), (name, False)):
                if key in content:
                    sections.append(Section(content[key], overrides, base))
        return sections

    def _includes_user_scope(self, directory: str) -> bool:
        included = self._read(os.path.join(directory, "include.yaml")).get("include")
        return isinstance(included, list) and any(
            isinstance(entry, dict) and entry.get("name") == "user" for entry in included
        )

    def _read(self, path: str) -> dict[str, Any]:
        """Read a file once; one that cannot be read is a problem, and counts as empty."""
        if path not in self._files:
            self._files[path] = {}
            try:
                content, count = _read_yaml(path)
                if self._value_count + count > MAX_YAML_VALUES:
                    limit = f"at most {MAX_YAML_VALUES:,} values of the configuration are read"
                    raise SourceError(f"{path} is not read: with it there are more; {limit}")
                self._value_count += count
                self._files[path] = content
            except SourceError as error:
                self.problems.append(Problem(path, "", str(error).removeprefix(path).lstrip()))
        return self._files[path]

    def _add(self, path: str, depth: int) -> None:
        """Add a directory or file, above those that it includes."""
        real = os.path.realpath(path)
        if real in self._seen or depth > _MAX_DEPTH:
            return
        if len(self._seen) >= _MAX_SCOPES:
            if len(self._seen) == _MAX_SCOPES:
                reason = f"is not read; at most {_MAX_SCOPES} files and directories are"
                self.problems.append(Problem(path, "", reason))
                self._seen.add("")
            return
        self._seen.add(real)
        if os.path.isdir(path):
            include = os.path.join(path, "include.yaml")
            self._include_all(self._read(include).get("include"), include, depth)
            self._scopes.append((path, None))
            platform = os.path.join(path, PLATFORM)
            if os.path.isdir(platform):
                self._add(platform, depth + 1)
        elif os.path.isfile(path):
            content = _configuration(self._read(path))
            self._include_all(content.get("include"), path, depth)
            self._scopes.append((path, content))

    def _include_all(self, included: Any, file: str, depth: int) -> None:
        for entry in reversed(included if isinstance(included, list) else []):
            fields = entry if isinstance(entry, dict) else {"path": entry}
            try:
                if path := self._included_path(fields, file):
                    self._add(path, depth + 1)
            except SourceError as error:
                self.problems.append(Problem(file, "include", str(error)))

    def _included_path(self, fields: dict[str, Any], file: str) -> str:
        """Return the path of an included scope, or "" where it does not apply or exist.

        Raises SourceError where it cannot be included.
        """
        path = fields.get("path")
        if "git" in fields or type(path) is not str:
            raise _skipped(fields.get("git") or path, _ONLY_FILES)
        condition = fields.get("when")
        applies = self._applies(condition)
        if applies is None:
            raise _skipped(path, f"its condition {condition} is not understood")
        if not applies:
            return ""
        variable = fields.get("path_override_env_var")
        variable = variable or OWN_PATHS.get(str(fields.get("name")), "")
        path = self.paths.environ.get(str(variable), "") or path
        included = self.paths.absolute_url(path, os.path.dirname(file))
        if scheme_of(included) == "file":
            included = local_path(included)
        if scheme_of(included):
            raise _skipped(path, _ONLY_FILES)
        if os.path.exists(included):
            return included
        if str(fields.get("optional", "")).lower() not in ("true", "yes", "on"):
            shown = shown_url(included)
            raise SourceError(f"the configuration {shown} that it includes does not exist")
        return ""

    def _applies(self, condition: Any) -> bool | None:
        """Evaluate the condition of an include; None where it is not understood."""
        if condition is None:
            return True
        text = condition if isinstance(condition, str) else ""
        if match := _WHEN_VARIABLE.fullmatch(text):
            return (match[2] in self.paths.environ) is not bool(match[3])
        if match := _WHEN_PLATFORM.fullmatch(text):
            return (match[3] == PLATFORM) is (match[1] == "==")
        return {"true": True, "false": False}.get(text.strip().lower())


def _skipped(include: object, why: str) -> SourceError:
    return SourceError(f"{shown_url(str(include))[:200]} is skipped: {why}")


def _configuration(content: dict[str, Any]) -> dict[str, Any]:
    """Return the configuration in an environment, or a file that contains nothing else."""
    for key in ("spack", "env"):
        if isinstance(content.get(key), dict):
            return dict(content[key])
    return content


def _read_yaml(path: str) -> tuple[dict[str, Any], int]:
    """Read a file as YAML 1.1 whose scalars are all texts; empty where there is no file.

    Return the mapping with the number of its values, where an alias counts as many as it stands
    for. Raises SourceError with the file and the line of what cannot be read.
    """
    try:
        if not os.path.exists(path):
            return {}, 0
        data = read_file(path, _MAX_FILE_SIZE)
    except (OSError, ValueError) as error:
        raise SourceError(f"{path} {reason(error)}") from None
    try:
        content, count = load_yaml(decode(data), aliases=True)
    except Unreadable as error:
        line = getattr(error, "line", None)
        where = f"line {line}: " if line else ""
        raise SourceError(f"{path} cannot be read: {where}{error}") from None
    if content is None or content == "":
        return {}, 0
    if not isinstance(content, dict):
        raise SourceError(f"{path} cannot be read: not a mapping")
    return content, count
