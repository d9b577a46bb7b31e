"""Read what the user's own Spack is configured to use: mirrors, install trees, externals."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from spackscope.model.core.errors import SourceError, Unreadable, reason
from spackscope.model.core.files import read_file
from spackscope.model.core.frozen import Frozen, field
from spackscope.model.core.records import Problem
from spackscope.model.core.redaction import shown_url
from spackscope.model.sources.source_name import DEFAULT_TAG, PREFIX, PUBLIC, TAG_LIST
from spackscope.model.storage.base import scheme_of

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
                from spackscope.model.readers.yaml import MAX_YAML_VALUES

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
            from spackscope.model.storage.urls import local_path

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
    # Without a Spack nothing of this is needed.
    from spackscope.model.readers.unpack import decode
    from spackscope.model.readers.yaml import load_yaml

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


_CONNECTION = ("access_pair", "access_token", "access_token_variable", "profile", "endpoint_url")
_NULL = ("", "~", "null")
_PATHS = ("url", "fetch", "root", "install_tree", "environments_root")
_FALSE = frozenset({"false", "no", "off"})
_PADDING = re.compile(r"\$\{?padding(?::\d+)?\}?$")
_MAX_MERGED = 8
_MAX_VERSION_SIZE = 2**16


class ConfiguredMirror(Frozen):
    """A mirror of mirrors.yaml, as far as it is fetched from.

    `url` is a URL or an absolute path. What is not `signed` is installed without a check of its
    signature. `options` are those of its connection, by their names in
    mirrors.yaml.
    """

    name: str
    url: str = field(repr=False)
    view: str = ""
    binary: bool = True
    signed: bool = True
    options: Mapping[str, Any] = field(default_factory=dict, repr=False)


class ConfiguredExternal(Frozen):
    """An external of packages.yaml: its spec, its prefix or "", and its modules."""

    spec: str
    prefix: str = ""
    modules: tuple[str, ...] = ()


class SpackConfig(Frozen):
    """The mirrors of a Spack in their order, and its own and other install trees.

    `environments` is the directory of its managed environments, or "" if it is unknown, and
    `public_tag` the tag of the public cache with the binaries of its release.
    """

    mirrors: Mapping[str, ConfiguredMirror]
    trees: tuple[str, ...]
    problems: tuple[Problem, ...] = ()
    environments: str = ""
    public_tag: str = DEFAULT_TAG


def read_spack_config(environ: Mapping[str, str]) -> SpackConfig | None:
    """Read the configuration of the user's Spack, or return None where there is none.

    Without a Spack only the scopes of the system and of the user are read. Files that cannot be
    read are listed in `problems`.

        read_spack_config(os.environ).mirrors["site"].url
    """
    paths = find_spack(environ)
    if paths is None:
        return None
    scopes = Scopes(paths)
    scopes.find()
    mirrors = {mirror.name: mirror for mirror in _mirrors(scopes)}
    trees = tuple(dict.fromkeys(_trees(scopes)))
    environments = _environments_root(scopes)
    return SpackConfig(
        mirrors, trees, tuple(scopes.problems), environments, _public_tag(paths.root)
    )


def read_externals(environ: Mapping[str, str]) -> tuple[ConfiguredExternal, ...]:
    """Return the externals that the packages.yaml of the user's Spack lists."""
    paths = Paths(find_spack_root(environ), environ)
    scopes = Scopes(paths)
    scopes.find()
    return tuple(_externals(_section(scopes, "packages")))


def find_mirror(
    source: str, spack: SpackConfig | None
) -> tuple[ConfiguredMirror, tuple[Problem, ...]]:
    """Return the mirror that `spack:NAME` names, and the problems of the configuration.

    Raises SourceError where there is none, with the names of those that there are.
    """
    name, shown = source.removeprefix(PREFIX), shown_url(source)
    if spack is None:
        raise SourceError(f"the source {shown} is unknown: no Spack was found")
    mirror = spack.mirrors.get(name)
    if mirror is not None and mirror.binary:
        return mirror, spack.problems
    if mirror is not None:
        raise SourceError(f"the source {shown} has no binaries, only sources")
    known_names = [f"{PREFIX}{each.name}" for each in spack.mirrors.values() if each.binary]
    hint = f"there are {', '.join(known_names)}" if known_names else "it has no mirror of binaries"
    problems = "".join(f"; {problem}" for problem in spack.problems)
    if not name:
        tag, top = spack.public_tag, TAG_LIST.rpartition("/")[0]
        raise SourceError(
            f"your Spack ({PREFIX}) has no mirror of binaries{problems}; "
            f"`spack mirror add {tag} {top}/{tag}` adds the public cache, "
            f"and `-f {PUBLIC}:{tag}` reads it"
        )
    raise SourceError(f"the source {shown} is unknown to Spack: {hint}{problems}")


def _public_tag(root: str) -> str:
    """Return the tag of the public cache for the release of a Spack, as vX.Y.Z, else `develop`."""
    try:
        with open(os.path.join(root, "lib", "spack", "spack", "__init__.py"), "rb") as file:
            text = file.read(_MAX_VERSION_SIZE)
    except OSError:
        return DEFAULT_TAG
    match = re.search(rb'^__version__ = "(\d+\.\d+\.\d+)"', text, re.MULTILINE)
    return f"v{match[1].decode()}" if match else DEFAULT_TAG


def _section(scopes: Scopes, name: str) -> Any:
    """Merge a section of all scopes; the highest scope comes first and wins."""
    merged: Any = None
    # An entry of mirrors may be a URL alone.
    is_url = name == "mirrors"
    for section in scopes.sections(name):
        value = section.value
        if isinstance(value, dict):
            value = {
                key: _absolute(scopes.paths, entry, section.base, "url" if is_url else str(key))
                for key, entry in value.items()
            }
        merged = value if merged is None else _merge(merged, value, _MAX_MERGED)
        if section.overrides:
            break
    return _merge(merged, {}, _MAX_MERGED) if isinstance(merged, dict) else {}


def _merge(high: Any, low: Any, depth: int) -> Any:
    """Merge two mappings; a key that ends in a colon replaces all of the lower one."""
    if not (isinstance(high, dict) and isinstance(low, dict)) or not depth:
        return high
    merged = {}
    for key, value in high.items():
        name = str(key).rstrip(":")
        replaces = str(key).endswith(":") or name not in low
        merged[name] = value if replaces else _merge(value, low[name], depth - 1)
    return {**merged, **{key: value for key, value in low.items() if key not in merged}}


def _absolute(paths: Paths, value: Any, base: str, key: str) -> Any:
    """Make the paths in a section absolute, while it is known which file they are from."""
    if isinstance(value, dict):
        return {name: _absolute(paths, entry, base, str(name)) for name, entry in value.items()}
    key = key.rstrip(":")
    if key not in _PATHS or not isinstance(value, str):
        return value
    path = None if value in _NULL else paths.absolute_url(_PADDING.sub("", value), base)
    return {"root": path} if key == "install_tree" else path


def _mirrors(scopes: Scopes) -> Iterator[ConfiguredMirror]:
    for key, entry in _section(scopes, "mirrors").items():
        name = str(key).rstrip(":")
        fields = entry if isinstance(entry, dict) else {"url": entry}
        fetch = fields.get("fetch", fields.get("pull"))
        if isinstance(fetch, dict):
            fields = {**fields, **fetch}
        elif isinstance(fetch, str):
            fields = {**fields, "url": fetch}
        url = fields.get("url")
        if not isinstance(url, str) or not url:
            scopes.problems.append(
                Problem("mirrors.yaml", shown_url(name), "it has no url to fetch from")
            )
            continue
        view = fields.get("view", "")
        options = {key: fields[key] for key in _CONNECTION if fields.get(key, "") not in _NULL}
        binary, signed = (
            str(fields.get(key, "true")).lower() not in _FALSE for key in ("binary", "signed")
        )
        view = view if isinstance(view, str) else ""
        yield ConfiguredMirror(name, url, view, binary, signed, options)


def _externals(packages: Any) -> Iterator[ConfiguredExternal]:
    for package in packages.values() if isinstance(packages, dict) else ():
        entries = package.get("externals") if isinstance(package, dict) else None
        for entry in entries if isinstance(entries, list) else ():
            spec = entry.get("spec") if isinstance(entry, dict) else None
            if not isinstance(spec, str):
                continue
            prefix, modules = entry.get("prefix"), entry.get("modules")
            yield ConfiguredExternal(
                spec,
                prefix if isinstance(prefix, str) and prefix not in _NULL else "",
                tuple(map(str, modules)) if isinstance(modules, list) else (),
            )


def _trees(scopes: Scopes) -> Iterator[str]:
    """Yield the install tree of the Spack itself, then those of its upstreams."""
    own = _tree_root(_section(scopes, "config"))
    if own and "$" not in own:
        yield own
    elif scopes.paths.root:
        yield os.path.join(scopes.paths.root, "opt", "spack")
    yield from filter(None, map(_tree_root, _section(scopes, "upstreams").values()))


def _environments_root(scopes: Scopes) -> str:
    """Return the directory of managed environments, as `env_root_path` in Spack."""
    root = _section(scopes, "config").get("environments_root")
    if isinstance(root, str) and os.path.isabs(root) and "$" not in root:
        return root
    home = scopes.paths.root
    return os.path.join(home, "var", "spack", "environments") if home else ""


def _tree_root(section: Any) -> str:
    tree = section.get("install_tree") if isinstance(section, dict) else None
    root = tree.get("root") if isinstance(tree, dict) else None
    return root if isinstance(root, str) and os.path.isabs(root) else ""


class ListedExtension(Frozen):
    """An entry of config:extensions.

    `written` is its text in the configuration, `path` the absolute path that it stands for, and
    `directory` that of the scope. `is_own` is True in the scope of the user.
    """

    written: str
    path: str
    directory: str
    is_own: bool


def listed_extensions(environ: Mapping[str, str], name: str) -> list[ListedExtension]:
    """Return the entries for directories of this name, those of the highest scope first.

    The scope of an active environment is not read.
    """
    paths = Paths(find_spack_root(environ), {**environ, "SPACK_ENV": ""})
    scopes = Scopes(paths)
    scopes.find()
    own = os.path.realpath(paths.own()[1])
    listed = []
    for section in scopes.sections("config"):
        value = section.value if isinstance(section.value, dict) else {}
        lists = [value.get(key) for key in ("extensions:", "extensions")]
        for entry in (
            entry for entries in lists if isinstance(entries, list) for entry in entries
        ):
            path = paths.absolute(str(entry), section.base)
            if os.path.basename(path) == name:
                is_own = os.path.realpath(section.base) == own
                listed.append(ListedExtension(str(entry), path, section.base, is_own))
    return listed
