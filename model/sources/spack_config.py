"""Read what the user's own Spack is configured to use: mirrors, install trees, externals.

As lib/spack/spack/config.py, mirrors/mirror.py, extensions.py, `replacements` of util/path.py and
`parse_install_tree` of store.py. What reads YAML is imported once there is a file to read.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from spackscope.model.core.errors import SourceError, Unreadable, reason
from spackscope.model.core.files import read_file
from spackscope.model.core.frozen import Frozen, field
from spackscope.model.core.records import Problem
from spackscope.model.core.redaction import shown_url
from spackscope.model.sources.source_name import DEFAULT_TAG, PREFIX, PUBLIC, TAG_LIST
from spackscope.model.storage.base import scheme_of

_PLATFORM = "windows" if sys.platform == "win32" else sys.platform
_OWN_PATHS = {"user": "SPACK_USER_CONFIG_PATH", "system": "SPACK_SYSTEM_CONFIG_PATH"}
"""The variables that name the directories of the user and of the system."""

_VARIABLE = r"\$(?:(\w+)|\{(\w+)\})"
_MAX_EXPANSION = 2**20
"""Characters that all variables of a configuration may expand to, together."""

_MAX_DEPTH = 16
"""Files that include one another."""

_MAX_FILE_SIZE = 2**20
_MAX_SCOPES = 200
_MAX_MERGED = 8
"""Levels of a section that are merged."""

_WHEN_VARIABLE = re.compile(r"""\s*(["'])(\w+)\1\s+(not\s+)?in\s+env\s*""")
_WHEN_PLATFORM = re.compile(r"""\s*platform\s*(==|!=)\s*(["'])(\w+)\2\s*""")
_ONLY_FILES = "only files and directories are read"
_CONNECTION = ("access_pair", "access_token", "access_token_variable", "profile", "endpoint_url")
_NULL = ("", "~", "null")
_PATHS = ("url", "fetch", "root", "install_tree", "environments_root")
_FALSE = frozenset({"false", "no", "off"})
_PADDING = re.compile(r"\$\{?padding(?::\d+)?\}?$")


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


class ListedExtension(Frozen):
    """An entry of config:extensions.

    `written` is its text in the configuration, `path` the absolute path that it stands for, and
    `directory` that of the scope. `is_own` is True in the scope of the user.
    """

    written: str
    path: str
    directory: str
    is_own: bool


def read_spack_config(environ: Mapping[str, str]) -> SpackConfig | None:
    """Read the configuration of the user's Spack, or return None where there is none.

    Without a Spack only the scopes of the system and of the user are read. Files that cannot be
    read are listed in `problems`.

        read_spack_config(os.environ).mirrors["site"].url
    """
    scopes = _find_scopes(environ)
    if scopes is None:
        return None
    mirrors = {mirror.name: mirror for mirror in _mirrors(scopes)}
    config = scopes.merged("config")
    upstreams = [_tree_root(each) for each in scopes.merged("upstreams").values()]
    own = _tree_root(config)
    if not own or "$" in own:
        own = os.path.join(scopes.root, "opt", "spack") if scopes.root else ""
    # As `env_root_path` of Spack.
    environments = _absolute(config.get("environments_root"))
    if not environments or "$" in environments:
        environments = scopes.root and os.path.join(scopes.root, "var", "spack", "environments")
    return SpackConfig(
        mirrors,
        tuple(dict.fromkeys(filter(None, [own, *upstreams]))),
        tuple(scopes.problems),
        environments,
        _public_tag(scopes.root),
    )


def read_externals(environ: Mapping[str, str]) -> tuple[ConfiguredExternal, ...]:
    """Return the externals that the packages.yaml of the user's Spack lists."""
    externals = []
    scopes = _find_scopes(environ)
    for package in scopes.merged("packages").values() if scopes is not None else ():
        entries = package.get("externals") if isinstance(package, dict) else None
        for entry in entries if isinstance(entries, list) else ():
            spec = entry.get("spec") if isinstance(entry, dict) else None
            if isinstance(spec, str):
                prefix, modules = entry.get("prefix"), entry.get("modules")
                prefix = prefix if isinstance(prefix, str) and prefix not in _NULL else ""
                modules = tuple(map(str, modules)) if isinstance(modules, list) else ()
                externals.append(ConfiguredExternal(spec, prefix, modules))
    return tuple(externals)


def listed_extensions(environ: Mapping[str, str], name: str) -> list[ListedExtension]:
    """Return the extensions in directories of this name, those of the highest scope first.

    The scope of an active environment is not read.
    """
    scopes = _Scopes(find_spack_root(environ), {**environ, "SPACK_ENV": ""})
    scopes.find()
    own = os.path.realpath(scopes.own_directories()[1])
    listed = []
    for value, _, base in scopes.sections("config"):
        fields = value if isinstance(value, dict) else {}
        for entries in (fields.get("extensions:"), fields.get("extensions")):
            for entry in entries if isinstance(entries, list) else ():
                path = scopes.absolute(str(entry), base)
                if os.path.basename(path) == name:
                    is_own = os.path.realpath(base) == own
                    listed.append(ListedExtension(str(entry), path, base, is_own))
    return listed


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


def find_spack_root(environ: Mapping[str, str]) -> str:
    """Return the root of the user's Spack, or "": SPACK_ROOT, else that of `spack` on PATH."""
    if root := environ.get("SPACK_ROOT", ""):
        return os.path.abspath(root)
    # As shutil.which, which takes long to import.
    for directory in environ["PATH"].split(os.pathsep) if environ.get("PATH") else ():
        program = os.path.join(directory, "spack")
        if os.path.isfile(program) and os.access(program, os.X_OK):
            root = os.path.dirname(os.path.dirname(os.path.realpath(program)))
            return root if os.path.isdir(os.path.join(root, "lib", "spack", "spack")) else ""
    return ""


def _public_tag(root: str) -> str:
    """Return the tag of the public cache for the release of a Spack, as vX.Y.Z, else `develop`."""
    try:
        with open(os.path.join(root, "lib", "spack", "spack", "__init__.py"), "rb") as file:
            text = file.read(2**16)
    except OSError:
        return DEFAULT_TAG
    match = re.search(rb'^__version__ = "(\d+\.\d+\.\d+)"', text, re.MULTILINE)
    return f"v{match[1].decode()}" if match else DEFAULT_TAG


def _mirrors(scopes: _Scopes) -> Iterator[ConfiguredMirror]:
    for key, entry in scopes.merged("mirrors").items():
        name = str(key).rstrip(":")
        fields = entry if isinstance(entry, dict) else {"url": entry}
        fetch = fields.get("fetch", fields.get("pull"))
        if isinstance(fetch, dict):
            fields = {**fields, **fetch}
        elif isinstance(fetch, str):
            fields = {**fields, "url": fetch}
        url = fields.get("url")
        if not isinstance(url, str) or not url:
            why = "it has no url to fetch from"
            scopes.problems.append(Problem("mirrors.yaml", shown_url(name), why))
            continue
        view = fields.get("view", "")
        view = view if isinstance(view, str) else ""
        options = {key: fields[key] for key in _CONNECTION if fields.get(key, "") not in _NULL}
        binary, signed = (
            str(fields.get(key, "true")).lower() not in _FALSE for key in ("binary", "signed")
        )
        yield ConfiguredMirror(name, url, view, binary, signed, options)


def _tree_root(section: Any) -> str:
    tree = section.get("install_tree") if isinstance(section, dict) else None
    root = tree.get("root") if isinstance(tree, dict) else None
    return _absolute(root)


def _absolute(path: Any) -> str:
    return path if isinstance(path, str) and os.path.isabs(path) else ""


def _find_scopes(environ: Mapping[str, str]) -> _Scopes | None:
    """Find the scopes of the user's Spack, or return None where nothing is configured."""
    scopes = _Scopes(find_spack_root(environ), environ)
    if not scopes.root and not environ.get("SPACK_ENV"):
        # Without a Spack the system and the user may still configure something.
        is_local = "SPACK_DISABLE_LOCAL_CONFIG" not in environ
        if not is_local or not any(map(os.path.isdir, scopes.own_directories())):
            return None
    scopes.find()
    return scopes


class _Scopes:
    """The scopes of a Spack, lowest first: directories, files, and what environments contain.

    `root` is that of the Spack, or "".
    """

    def __init__(self, root: str, environ: Mapping[str, str]) -> None:
        self.root, self._environ = root, environ
        self.problems: list[Problem] = []
        self._home = environ.get("HOME", "")
        self._expanded = 0
        self._files: dict[str, dict[str, Any]] = {}
        self._value_count = 0
        self._scopes: list[tuple[str, dict[str, Any] | None]] = []
        self._seen: set[str] = set()

    def find(self) -> None:
        """Find all scopes that this Spack would read now."""
        directories = []
        if self.root:
            etc = os.path.join(self.root, "etc", "spack")
            directories = [os.path.join(etc, "defaults"), etc]
        if not any(map(self._includes_user_scope, directories)):
            is_local = "SPACK_DISABLE_LOCAL_CONFIG" not in self._environ
            system, user = self.own_directories() if is_local else ("", "")
            directories = [*directories[:1], system, *directories[1:], user]
        for directory in filter(None, directories):
            self._add(directory, 0)
        if environment := self._environ.get("SPACK_ENV", ""):
            path = os.path.join(os.path.abspath(environment), "spack.yaml")
            if os.path.isfile(path):
                self._add(path, 0)
            else:
                self.problems.append(Problem(path, "", "the active environment has no such file"))

    def sections(self, name: str) -> Iterator[tuple[Any, bool, str]]:
        """Yield a section of each scope that has it, highest first.

        With it comes whether it overrides those of all lower scopes, or is merged with them, and
        what its paths are relative to.
        """
        for path, content in reversed(self._scopes):
            base = os.path.dirname(path)
            if content is None:
                content, base = self._read(os.path.join(path, f"{name}.yaml")), path
            for key, overrides in ((f"{name}:", True), (name, False)):
                if key in content:
                    yield content[key], overrides, base

    def merged(self, name: str) -> dict[Any, Any]:
        """Merge a section of all scopes; the highest scope comes first and wins."""
        merged: Any = None
        # An entry of mirrors may be a URL alone.
        is_url = name == "mirrors"
        for value, overrides, base in self.sections(name):
            if isinstance(value, dict):
                value = {
                    key: self._with_paths(entry, base, "url" if is_url else str(key))
                    for key, entry in value.items()
                }
            merged = value if merged is None else _merge(merged, value, _MAX_MERGED)
            if overrides:
                break
        return _merge(merged, {}, _MAX_MERGED) if isinstance(merged, dict) else {}

    def own_directories(self) -> tuple[str, str]:
        """Return the directories of the system and of the user, which variables may name."""
        top = os.path.abspath(os.sep)
        system = self._environ.get(_OWN_PATHS["system"]) or "/etc/spack"
        user = self._environ.get(_OWN_PATHS["user"]) or os.path.join(self._home, ".spack")
        return self.absolute(system, top), self.absolute(user, top)

    def absolute(self, path: str, base: str) -> str:
        """Return the absolute form of a path in a file of the directory `base`; a URL as it is."""
        if scheme_of(path):
            return path
        path = self._expand_home(re.sub(_VARIABLE, self._expand, path))
        return os.path.normpath(os.path.join(base, path))

    def _expand_home(self, path: str) -> str:
        if self._home and (path == "~" or path.startswith("~/")):
            return self._home + path[1:]
        return os.path.expanduser(path) if path.startswith("~") else path

    def _expand(self, match: re.Match[str]) -> str:
        """Return the value of a variable, one of Spack's own or of the environment."""
        if self._expanded > _MAX_EXPANSION:
            return match[0]
        environ, name = self._environ, match[1] or match[2]
        own = name.lower()
        value: str | None = None
        if own == "user":
            import getpass

            value = environ.get("USER") or getpass.getuser()
        elif own == "tempdir":
            import tempfile

            value = environ.get("TMPDIR") or tempfile.gettempdir()
        elif own == "user_cache_path":
            path = environ.get("SPACK_USER_CACHE_PATH") or os.path.join(self._home, ".spack")
            value = os.path.abspath(self._expand_home(path))
        elif own == "spack_home":
            value = environ.get("SPACK_HOME") or self._home
        elif own == "platform":
            value = _PLATFORM
        elif own == "spack":
            value = self.root or None
        elif own == "env":
            value = environ.get("SPACK_ENV") or None
        if value is None:
            value = environ.get(name, match[0])
        self._expanded += len(value)
        return value

    def _with_paths(self, value: Any, base: str, key: str) -> Any:
        """Make the paths in a section absolute, while it is known which file they are from."""
        if isinstance(value, dict):
            return {name: self._with_paths(each, base, str(name)) for name, each in value.items()}
        key = key.rstrip(":")
        if key not in _PATHS or not isinstance(value, str):
            return value
        path = None if value in _NULL else self.absolute(_PADDING.sub("", value), base)
        return {"root": path} if key == "install_tree" else path

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
                if os.path.exists(path):
                    self._files[path] = self._read_yaml(path)
            except SourceError as error:
                self.problems.append(Problem(path, "", str(error)))
        return self._files[path]

    def _read_yaml(self, path: str) -> dict[str, Any]:
        """Read a file as YAML 1.1 whose scalars are all texts.

        An alias counts as many values as it stands for. Raises SourceError with the line of what
        cannot be read.
        """
        from spackscope.model.readers.unpack import decode
        from spackscope.model.readers.yaml import MAX_YAML_VALUES, load_yaml

        try:
            content, count = load_yaml(decode(read_file(path, _MAX_FILE_SIZE)), aliases=True)
        except Unreadable as error:
            line = getattr(error, "line", None)
            where = f"line {line}: " if line else ""
            raise SourceError(f"cannot be read: {where}{error}") from None
        except (OSError, ValueError) as error:
            raise SourceError(reason(error)) from None
        if content is None or content == "":
            return {}
        if not isinstance(content, dict):
            raise SourceError("cannot be read: not a mapping")
        if self._value_count + count > MAX_YAML_VALUES:
            limit = f"at most {MAX_YAML_VALUES:,} values of the configuration are read"
            raise SourceError(f"is not read: with it there are more; {limit}")
        self._value_count += count
        return content

    def _add(self, path: str, depth: int) -> None:
        """Add a directory or file, above those that it includes."""
        real = os.path.realpath(path)
        if real in self._seen or depth > _MAX_DEPTH:
            return
        if len(self._seen) >= _MAX_SCOPES:
            if len(self._seen) == _MAX_SCOPES:
                why = f"is not read; at most {_MAX_SCOPES} files and directories are"
                self.problems.append(Problem(path, "", why))
                self._seen.add("")
            return
        self._seen.add(real)
        if os.path.isdir(path):
            include = os.path.join(path, "include.yaml")
            self._include_all(self._read(include).get("include"), include, depth)
            self._scopes.append((path, None))
            platform = os.path.join(path, _PLATFORM)
            if os.path.isdir(platform):
                self._add(platform, depth + 1)
        elif os.path.isfile(path):
            content = self._read(path)
            # The configuration in an environment, or a file that contains nothing else.
            parts = (content.get(key) for key in ("spack", "env"))
            content = next((part for part in parts if isinstance(part, dict)), content)
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
        path, condition = fields.get("path"), fields.get("when")
        if "git" in fields or type(path) is not str:
            raise _skipped(fields.get("git") or path, _ONLY_FILES)
        applies = self._applies(condition)
        if applies is None:
            raise _skipped(path, f"its condition {condition} is not understood")
        if not applies:
            return ""
        variable = fields.get("path_override_env_var")
        variable = variable or _OWN_PATHS.get(str(fields.get("name")), "")
        path = self._environ.get(str(variable), "") or path
        included = self.absolute(path, os.path.dirname(file))
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
            return (match[2] in self._environ) is not bool(match[3])
        if match := _WHEN_PLATFORM.fullmatch(text):
            return (match[3] == _PLATFORM) is (match[1] == "==")
        return {"true": True, "false": False}.get(text.strip().lower())


def _skipped(include: object, why: str) -> SourceError:
    return SourceError(f"{shown_url(str(include))[:200]} is skipped: {why}")


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
