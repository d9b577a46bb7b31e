"""Read the configuration of the user's own Spack: mirrors, install trees, externals, reuse.

As lib/spack/spack/config.py, mirrors/mirror.py, `replacements` of util/path.py and
`parse_install_tree` of store.py. The reader of YAML is imported once there is a file to read. The
rules of reuse are as `ReusableSpecsSelector` in solver/reuse.py, `Mirror.matches_binary` in
mirrors/mirror.py, and `RequirementParser` in solver/requirements.py.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

from spackscope.model.core.errors import QueryError, SourceError, Unreadable, reason
from spackscope.model.core.file_access import read_file, read_head
from spackscope.model.core.frozen import Frozen, field
from spackscope.model.core.machine import PLATFORM
from spackscope.model.core.records import Problem
from spackscope.model.core.redaction import shown_url
from spackscope.model.core.text import clean
from spackscope.model.query.parser import parse_spec
from spackscope.model.query.toolchains import Toolchains, parse_toolchain
from spackscope.model.sources.source_name import PREFIX, PUBLIC, TAG_LIST
from spackscope.model.storage.base import scheme_of

if TYPE_CHECKING:
    from spackscope.model.query.ast import Group, Query

_OWN_PATHS = {"user": "SPACK_USER_CONFIG_PATH", "system": "SPACK_SYSTEM_CONFIG_PATH"}
"""The variables that name the directories of the user and of the system."""

_VARIABLE = r"\$(?:(\w+)|\{(\w+)\})"
_PADDING = r"\$\{?padding(?::\d+)?\}?$"
_MAX_FILE_SIZE = 2**20
_MAX_LOCK_SIZE = 2**28
_CONNECTION = ("access_token", "access_token_variable", "profile", "endpoint_url")
_NULL = ("", "~", "null", "Null", "NULL")
_MAX_SCOPES, _MAX_VARIABLES = 200, 20
"""Files and directories of a configuration, and variables of a path that are expanded."""
_TRUE = ("true", "True", "TRUE")


class Text(str):
    """A key or value of a configuration file, with the file and the line that it is in.

    A key that `overrides` replaces the value of lower scopes: it is written with two colons.
    """

    __slots__ = ("file", "line", "overrides")

    file: str
    line: int
    overrides: bool

    def problem(self, why: str) -> Problem:
        """Return a problem at the place of the text."""
        return Problem(self.file, f"line {self.line}", clean(why))


OfYaml = TypeVar("OfYaml", Text, list[Any], dict[Any, Any])
_KIND_NAMES: Mapping[type, str] = {Text: "a string", list: "a list", dict: "a mapping"}


class Selection(Frozen):
    """The specs that match one of `include`, unless it is empty, and none of `exclude`."""

    include: tuple[Text, ...] = ()
    exclude: tuple[Text, ...] = ()


class ConfiguredMirror(Frozen):
    """A mirror of mirrors.yaml, with its fetch settings.

    `url` is a URL or an absolute path. If it is not `signed`, Spack installs from it without
    checking signatures. `options` are its connection options, by their names in mirrors.yaml,
    and `binaries` selects the specs that Spack fetches from it.
    """

    name: str
    url: str = field(repr=False)
    view: str = ""
    binary: bool = True
    signed: bool = True
    options: Mapping[str, Any] = field(default_factory=dict, repr=False)
    binaries: Selection = Selection()


class ConfiguredExternal(Frozen):
    """An external of packages.yaml: its spec, its prefix or "", and its modules."""

    spec: Text
    query: Query = field(repr=False)
    prefix: str = ""
    modules: tuple[str, ...] = ()


class SpackConfig(Frozen):
    """The mirrors of a Spack in their order, and its own and other install trees.

    `environments` is the directory of its managed environments, or "" if it is unknown.
    """

    mirrors: Mapping[str, ConfiguredMirror]
    trees: tuple[str, ...]
    environments: str
    scopes: Scopes = field(repr=False)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The parts of the sections read so far that were left out, and why."""
        return tuple(dict.fromkeys(self.scopes.problems))

    @cached_property
    def externals(self) -> tuple[ConfiguredExternal, ...]:
        """The externals that packages.yaml lists."""
        externals, scopes = [], self.scopes
        for package in scopes.mappings("packages").values():
            for entry in scopes.entries(package, "externals"):
                prefix = scopes.value(entry, "prefix", Text) or ""
                modules = scopes.texts(entry, "modules")
                spec = scopes.value(entry, "spec", Text)
                if not spec:
                    continue
                try:
                    query = parse_spec(spec)
                    externals.append(ConfiguredExternal(spec, query, prefix, modules))
                except QueryError as error:
                    scopes.refuse(spec, f"{spec} is not considered: {error}")
        return tuple(externals)

    @cached_property
    def release(self) -> str:
        """The release that Spack's packages are pinned to, as `v2026.06`; "" for none.

        The release is the tag or branch of the repository `builtin` in repos.yaml. Before 1.0 the
        packages were released with Spack.
        """
        version = spack_version(self.scopes.root)
        heads = [f"v{version}"] if version.startswith("0.") else []
        if isinstance(repositories := self.scopes.merged("repos"), dict):
            fields = repositories.get("builtin")
            fields = fields if isinstance(fields, dict) else {}
            heads += [self.scopes.value(fields, key, Text) or "" for key in ("tag", "branch")]
        matches = (re.fullmatch(r"(?:releases/)?(v\d+\.\d+(?:\.\d+)?)", head) for head in heads)
        return next((match[1] for match in matches if match), "")

    @cached_property
    def toolchains(self) -> Toolchains:
        """The toolchains of toolchains.yaml; one that cannot be understood is a problem."""
        toolchains: dict[str, Sequence[Group]] = {}
        scopes = self.scopes
        section = scopes.section("toolchains")
        for name in section:
            if isinstance(section[name], Text):
                parts = [(section[name], "")]
            else:
                texts = (
                    [scopes.value(entry, key, Text) or "" for key in ("spec", "when")]
                    for entry in scopes.entries(section, name)
                )
                parts = [(spec, when) for spec, when in texts]
            try:
                toolchains[str(name)] = parse_toolchain(parts)
            except QueryError as error:
                scopes.refuse(name, f"the toolchain {name} is not considered: {error}")
        return toolchains


def read_spack_config(environ: Mapping[str, str]) -> SpackConfig | None:
    """Read the configuration of the user's Spack, or return None where there is none.

    Without a Spack only the scopes of the system and of the user are read. Files that cannot be
    read are listed in `problems`.

        read_spack_config(os.environ).mirrors["site"].url
    """
    scopes = Scopes(environ)
    if scopes.is_empty:
        return None
    root, config = scopes.root, scopes.section("config")
    own = _tree(scopes, config, root and os.path.join(root, "opt", "spack"))
    upstreams = [_tree(scopes, each) for each in scopes.mappings("upstreams").values()]
    # As `env_root_path` of Spack.
    environments = scopes.directory(
        scopes.value(config, "environments_root", Text),
        root and os.path.join(root, "var", "spack", "environments"),
    )
    mirrors = {mirror.name: mirror for mirror in _mirrors(scopes)}
    trees = tuple(dict.fromkeys(filter(None, (own, *upstreams))))
    return SpackConfig(mirrors, trees, environments, scopes)


def _tree(scopes: Scopes, section: Mapping[Any, Any], default: str = "") -> str:
    """Return the install tree of a section; the default without one."""
    tree = section.get("install_tree")
    fields, key = (tree, "root") if isinstance(tree, dict) else (section, "install_tree")
    return scopes.directory(scopes.value(fields, key, Text), default)


def _mirrors(scopes: Scopes) -> Iterator[ConfiguredMirror]:
    for name, entry in scopes.section("mirrors").items():
        fields = entry if isinstance(entry, dict) else {_text(name.file, "url", name.line): entry}
        key = "fetch" if "fetch" in fields else "pull"
        if isinstance(fields.get(key), dict):
            fields = {**fields, **fields[key]}
        elif fetch := scopes.value(fields, key, Text):
            fields = {**fields, "url": fetch}
        url = scopes.path(scopes.value(fields, "url", Text))
        if not url:
            scopes.refuse(name, f"the mirror {shown_url(name)} has no url to fetch from")
            continue
        options: dict[str, Any] = {key: scopes.value(fields, key, Text) for key in _CONNECTION}
        if isinstance(pair := fields.get("access_pair"), dict):
            options["access_pair"] = {key: scopes.value(pair, key, Text) for key in pair}
        elif scopes.value(fields, "access_pair", list):
            options["access_pair"] = scopes.texts(fields, "access_pair")
        options = {key: value for key, value in options.items() if value}
        binary, signed = (scopes.flag(fields, key, default=True) for key in ("binary", "signed"))
        view = scopes.value(fields, "view", Text) or ""
        binaries = Selection(
            *(scopes.texts(fields, f"{key}_binary") for key in ("include", "exclude"))
        )
        yield ConfiguredMirror(name, url, view, binary, signed, options, binaries)


def find_mirror(source: str, spack: SpackConfig | None) -> ConfiguredMirror:
    """Return the mirror that `spack:NAME` names.

    Raises SourceError with the known names if there is none.
    """
    name, shown = source.removeprefix(PREFIX), shown_url(source)
    if spack is None:
        raise SourceError(f"the source {shown} is unknown: no Spack was found")
    mirror = spack.mirrors.get(name)
    if mirror is not None and mirror.binary:
        return mirror
    if mirror is not None:
        raise SourceError(f"the source {shown} has no binaries, only sources")
    known_names = [f"{PREFIX}{each.name}" for each in spack.mirrors.values() if each.binary]
    hint = f"there are {', '.join(known_names)}" if known_names else "it has no mirror of binaries"
    problems = "".join(f"; {problem}" for problem in spack.problems)
    if not name:
        tag, top = spack.release, TAG_LIST.rpartition("/")[0]
        is_known = tag.count(".") == 2
        raise SourceError(
            f"your Spack ({PREFIX}) has no mirror of binaries{problems}; `-f {PUBLIC}` reads the "
            f"public cache, and `spack mirror add spack-cache {top}/{tag if is_known else 'TAG'}` "
            f"adds it{'' if is_known else ': `spackscope sources --tags` lists the tags'}"
        )
    raise SourceError(f"the source {shown} is unknown to Spack: {hint}{problems}")


def spack_version(root: str) -> str:
    """Return the version of a Spack by its root, as "1.2.0.dev0"; "" if it cannot be read."""
    text = b""
    with suppress(OSError):
        text = read_head(os.path.join(root, "lib", "spack", "spack", "__init__.py"), 2**16)
    match = re.search(rb'^__version__ = "(\d+\.\d+[.\w]*)"', text, re.MULTILINE)
    return match[1].decode() if match else ""


def find_spack_root(environ: Mapping[str, str]) -> str:
    """Return the root of the user's Spack, or "": SPACK_ROOT, else the root of `spack` on PATH."""
    if root := environ.get("SPACK_ROOT", ""):
        return os.path.abspath(root)
    # As shutil.which, which takes long to import.
    for directory in environ["PATH"].split(os.pathsep) if environ.get("PATH") else ():
        program = os.path.join(directory, "spack")
        if os.path.isfile(program) and os.access(program, os.X_OK):
            root = os.path.dirname(os.path.dirname(os.path.realpath(program)))
            return root if os.path.isdir(os.path.join(root, "lib", "spack", "spack")) else ""
    return ""


class Scopes:
    """The configuration files that the user's Spack would read now, as a Spack merges them.

    `root` is the directory of the Spack, or "". `problems` grow as files are read.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.root, self._environ = find_spack_root(environ), environ
        self.problems: list[Problem] = []
        self._home = environ.get("HOME", "")
        self._files: dict[str, dict[str, Any]] = {}
        self._seen: set[str] = set()
        self._scopes: list[tuple[str, dict[str, Any] | None]] = []
        """Lowest first: directories, and files or environments with their content."""

        etc = os.path.join(self.root, "etc", "spack")
        directories = [os.path.join(etc, "defaults"), etc] if self.root else []
        if not any(map(self._includes_user_scope, directories)):
            is_local = "SPACK_DISABLE_LOCAL_CONFIG" not in environ
            system, user = self._own_directories() if is_local else ("", "")
            directories = [*directories[:1], system, *directories[1:], user]
        for directory in filter(os.path.isdir, directories):
            self._add(directory)
        if self.active_environment:
            path = os.path.join(self.active_environment, "spack.yaml")
            if os.path.isfile(path):
                self._add(path)
            else:
                self.problems.append(Problem(path, "", "the active environment has no such file"))

    @property
    def active_environment(self) -> str:
        """The directory of the active environment, or ""."""
        environment = self._environ.get("SPACK_ENV", "")
        return os.path.abspath(environment) if environment else ""

    @property
    def is_empty(self) -> bool:
        """Whether there is neither a Spack nor anything that configures one."""
        return not (self.root or self._scopes or self.problems)

    def section(self, name: str) -> dict[Any, Any]:
        """Return a section merged from all scopes, the entries of the highest one first.

        Keys and values are texts with their places, lists and mappings of these.
        """
        merged = self.merged(name)
        return merged if isinstance(merged, dict) else {}

    def merged(self, name: str) -> Any:
        """Return the value of a section, which may be a list; None without one."""
        merged: dict[Any, Any] = {}
        for path, content in self._scopes:
            if content is None:
                content = self._read(os.path.join(path, f"{name}.yaml"))
            merged = _merge({key: value for key, value in content.items() if key == name}, merged)
        return merged.get(name)

    def mappings(self, name: str) -> dict[Text, dict[Any, Any]]:
        """Return the entries of a section that has only mappings."""
        section = self.section(name)
        return {key: self.value(section, key, dict) or {} for key in section}

    def value(self, fields: Mapping[Any, Any], key: str, kind: type[OfYaml]) -> OfYaml | None:
        """Return the value of a key; None without one, and where it has another type."""
        value = fields.get(key)
        if value is None or (isinstance(value, str) and value in _NULL):
            return None
        if isinstance(value, kind):
            return value
        found = next(name for each, name in _KIND_NAMES.items() if isinstance(value, each))
        place = _first_text(value) or next(each for each in fields if each == key)
        self.refuse(place, f"{key} has to be {_KIND_NAMES[kind]}, not {found}")
        return None

    def flag(self, fields: Mapping[Any, Any], key: str, *, default: bool) -> bool:
        """Return the boolean of a key, or the default for a missing value."""
        text = self.value(fields, key, Text)
        return default if text is None else text in _TRUE

    def entries(
        self, fields: Mapping[Any, Any], key: str, short_for: str = ""
    ) -> list[dict[Any, Any]]:
        """Return the mappings of a list; a text in it is the value of the key `short_for`."""
        listed = self.value(fields, key, list) or ()
        mappings = ({short_for: each} if isinstance(each, Text) else each for each in listed)
        return [each for each in mappings if isinstance(each, dict)]

    def texts(self, fields: Mapping[Any, Any], key: str) -> tuple[Text, ...]:
        """Return the texts of a list, or a text alone."""
        alone = fields.get(key)
        listed = [alone] if isinstance(alone, Text) else self.value(fields, key, list) or ()
        return tuple(each for each in listed if isinstance(each, Text) and each not in _NULL)

    def refuse(self, place: Text, why: str) -> None:
        """Add a problem with the place of the entry that is left out."""
        self.problems.append(place.problem(why))

    def path(self, value: object) -> str:
        """Return the absolute path, or the URL, that a value stands for; "" for no text."""
        if not isinstance(value, Text) or value in _NULL:
            return ""
        return self._absolute(re.sub(_PADDING, "", value), os.path.dirname(value.file))

    def directory(self, value: Text | None, default: str = "") -> str:
        """Return the directory that a value names, "" with a problem, or the default for None."""
        if value is None:
            return default
        path = self.path(value)
        variable = re.search(_VARIABLE, path)
        if os.path.isabs(path) and not variable:
            return path
        why = f"{variable[0]} is not set" if variable else "it is not a directory"
        self.refuse(value, f"{shown_url(value)[:200]} is left out: {why}")
        return ""

    def _own_directories(self) -> tuple[str, str]:
        """Return the directories of the system and of the user, which variables may name."""
        system = self._environ.get(_OWN_PATHS["system"]) or "/etc/spack"
        user = self._environ.get(_OWN_PATHS["user"]) or os.path.join(self._home, ".spack")
        return self._absolute(system, os.sep), self._absolute(user, os.sep)

    def _absolute(self, path: str, base: str) -> str:
        """Return the absolute form of a path in a file of the directory `base`; a URL as it is."""
        if scheme_of(path):
            return path
        expanded = re.sub(_VARIABLE, self._expand, path, count=_MAX_VARIABLES)
        path = self._expand_home(expanded)
        return os.path.normpath(os.path.join(base, path))

    def _expand_home(self, path: str) -> str:
        if self._home and (path == "~" or path.startswith("~/")):
            return self._home + path[1:]
        return os.path.expanduser(path) if path.startswith("~") else path

    def _expand(self, match: re.Match[str]) -> str:
        """Return the value of a variable, one of Spack's own or of the environment."""
        name = match[1] or match[2]
        return self._own_variables.get(name.lower()) or self._environ.get(name, match[0])

    @cached_property
    def _own_variables(self) -> Mapping[str, str]:
        get = self._environ.get
        cache = get("SPACK_USER_CACHE_PATH") or os.path.join(self._home, ".spack")
        return {
            "user": get("USER") or get("LOGNAME", ""),
            "tempdir": get("TMPDIR") or "/tmp",
            "user_cache_path": os.path.abspath(self._expand_home(cache)),
            "spack_home": get("SPACK_HOME") or self._home,
            "platform": PLATFORM,
            "spack": self.root,
            "env": get("SPACK_ENV", ""),
        }

    def _includes_user_scope(self, directory: str) -> bool:
        included = self._read(os.path.join(directory, "include.yaml"))
        return any(
            entry.get("name") == "user" for entry in self.entries(included, "include", "path")
        )

    def _add(self, path: str) -> None:
        """Add a directory or file as a scope, above the scopes that it includes."""
        real = os.path.realpath(path)
        if real in self._seen or len(self._seen) > _MAX_SCOPES:
            return
        self._seen.add(real)
        if len(self._seen) > _MAX_SCOPES:
            why = f"is not read, nor is any after it; at most {_MAX_SCOPES} files are"
            self.problems.append(Problem(path, "", why))
            return
        is_directory = os.path.isdir(path)
        file = os.path.join(path, "include.yaml") if is_directory else path
        content = self._read(file)
        # The configuration in an environment, or a file that contains nothing else.
        parts = (content.get(key) for key in ("spack", "env"))
        content = next((part for part in parts if isinstance(part, dict)), content)
        for entry in reversed(self.entries(content, "include", "path")):
            if below := self._included(entry):
                self._add(below)
        self._scopes.append((path, None if is_directory else content))
        platform = os.path.join(path, PLATFORM)
        if os.path.isdir(platform):
            self._add(platform)

    def _included(self, fields: Mapping[str, Any]) -> str:
        """Return the path of an included scope, or "" where it does not apply or exist.

        A scope that cannot be included is a problem.
        """
        git, written, condition, name, variable = (
            self.value(fields, key, Text)
            for key in ("git", "path", "when", "name", "path_override_env_var")
        )
        place = written or git
        if place is None:
            return ""
        skipped = f"{shown_url(place)[:200]} is skipped"
        is_optional = self.flag(fields, "optional", default=False)
        if condition is not None:
            from spackscope.model.sources.conditions import is_met

            try:
                if not is_met(condition, self._environ):
                    return ""
            except Unreadable as error:
                why = f"its condition {condition[:200]} is not understood: {error}"
                self.refuse(condition, f"{skipped}: {why}")
                return ""
        own_path = self._environ.get(variable or _OWN_PATHS.get(name or "", ""))
        path = self._absolute(own_path or place, os.path.dirname(place.file))
        if place is git or scheme_of(path):
            self.refuse(place, f"{skipped}: only files and directories are read")
        elif os.path.exists(path):
            # The lock file of an environment has specs, and configures nothing.
            return "" if os.path.basename(path) == "spack.lock" else path
        elif not is_optional:
            # As it is written: the value of a variable may be a secret.
            named = shown_url(own_path or place)
            why = f"the configuration {named} that it includes does not exist"
            self.refuse(place, why)
        return ""

    def _read(self, path: str) -> dict[str, Any]:
        """Read a file once, with all scalars as texts; an absent file is empty.

        An alias counts as many values as it stands for. A part that cannot be read is left out,
        and is a problem.
        """
        if path in self._files or not os.path.lexists(path):
            return self._files.setdefault(path, {})
        from spackscope.model.readers import unpack, yaml

        self._files[path] = {}
        place = why = ""
        try:
            text = unpack.decode(read_file(path, _MAX_FILE_SIZE))
            content, refused, error = yaml.load_spack_yaml(text, partial(_text, path))
            for each in refused:
                self.problems.append(Problem(path, f"line {each.line}", clean(str(each))))
            if error is not None:
                place = f"line {error.line}" if error.line else ""
                here = " from here on" if place and error.is_syntax_error else ""
                why = clean(f"cannot be read{here}: {error}")
            if isinstance(content, dict):
                self._files[path] = content
            elif content not in (None, ""):
                why = "cannot be read: not a mapping"
        except Unreadable as unread:
            why = f"cannot be read: {unread}"
        except (OSError, ValueError) as failure:
            why = reason(failure)
        if why:
            self.problems.append(Problem(path, place, why))
        return self._files[path]


def _text(file: str, value: str, line: int) -> Text:
    """Return a text; a last colon is read as by `construct_yaml_str` in util/spack_yaml.py."""
    overrides = value.endswith(":") and "@" not in value
    text = Text(value[:-1] if overrides else value)
    text.file, text.line, text.overrides = file, line, overrides
    return text


def _first_text(value: object) -> Text | None:
    """Return the text that is written first in a value, if it has one."""
    while isinstance(value, dict | list) and value:
        value = next(iter(value))
    return value if isinstance(value, Text) else None


def _merge(high: Any, low: Any) -> Any:
    """Merge two values as `merge_yaml` of Spack."""
    if isinstance(high, list) and isinstance(low, list):
        return [*high, *low]
    if not isinstance(high, dict):
        return high
    low, merged = low if isinstance(low, dict) else {}, {}
    for key, value in high.items():
        merged[key] = _merge(value, None if key.overrides else low.get(key))
    return {**merged, **{key: value for key, value in low.items() if key not in merged}}


# The rules by which Spack reuses cached and installed specs


ALL = "all"
"""The entry of packages.yaml for packages without an entry of their own."""

_BOTH: tuple[Mapping[str, Any], ...] = ({"type": Text("local")}, {"type": Text("buildcache")})
"""The default of concretizer:reuse:from."""


class Requirement(Frozen):
    """A requirement, conflict or preference of packages.yaml, on specs that match `when`, if set.

    `policy` says how many of the specs must match: one_of, any_of, or none_of for a conflict.
    """

    specs: tuple[Text, ...]
    policy: str = "one_of"
    when: Text | None = None
    message: str = ""


class ReuseRules(Frozen):
    """The rules of concretizer.yaml, mirrors.yaml and packages.yaml.

    `reuse` is the value of concretizer:reuse, or its key if that is a mapping; None without one.
    Nothing is reused if it `is_off`, and with `only_dependencies` only dependencies of the specs
    that are asked for. A cached spec is considered if one of `caches` selects it, a spec in the
    own install tree if one of `trees` does, one of the hashes of an environment if its selection
    does. `mirrors` has the filter of each mirror, by both names
    that it has as a source. The other mappings have entries of packages.yaml by package, or `all`:
    `require`, `conflict`, `buildable: false`, and `prefer`. `os_compatible` has, by operating
    system, the systems whose specs are reused on it. The specs may name `toolchains`.
    """

    reuse: Text | None = None
    is_off: bool = False
    only_dependencies: bool = False
    caches: tuple[Selection, ...] = (Selection(),)
    trees: tuple[Selection, ...] = (Selection(),)
    environments: tuple[tuple[frozenset[str], Selection], ...] = ()
    mirrors: Mapping[str, Selection] = field(default_factory=dict)
    requirements: Mapping[str, tuple[Requirement, ...]] = field(default_factory=dict)
    conflicts: Mapping[str, tuple[Requirement, ...]] = field(default_factory=dict)
    not_buildable: Mapping[str, Text] = field(default_factory=dict)
    preferred: Mapping[str, tuple[Requirement, ...]] = field(default_factory=dict)
    os_compatible: Mapping[str, tuple[Text, ...]] = field(default_factory=dict)
    toolchains: Toolchains = field(default_factory=dict)


def read_reuse_rules(spack: SpackConfig) -> ReuseRules:
    """Read the rules of a configuration, and add their problems to its own.

    read_reuse_rules(session.spack).caches[0].exclude[0].line
    """
    scopes = spack.scopes
    section = scopes.section("concretizer")
    reuse = section.get("reuse")
    details = reuse if isinstance(reuse, dict) else {}
    place = next((key for key in section if key == "reuse"), None) if details else None
    place = place or scopes.value(section, "reuse", Text)
    only_dependencies = reuse == "dependencies" or not scopes.flag(details, "roots", default=True)
    is_off = (
        reuse != "dependencies" and not details and not scopes.flag(section, "reuse", default=True)
    )
    selections: dict[str, list[Selection]] = {"local": [], "buildcache": []}
    environments: list[tuple[frozenset[str], Selection]] = []
    for part in scopes.entries(details, "from") if "from" in details else _BOTH:
        kind = scopes.value(part, "type", Text)
        include, exclude = (
            scopes.texts(part if key in part else details, key) for key in ("include", "exclude")
        )
        if kind in selections:
            selections[kind].append(Selection(include, exclude))
        elif kind == "environment":
            hashes = _environment_hashes(spack, scopes.value(part, "path", Text), kind)
            environments.append((hashes, Selection(include, exclude)))
    packages = scopes.mappings("packages")
    oses = scopes.value(section, "os_compatible", dict) or {}

    def constraints(key: str) -> dict[str, tuple[Requirement, ...]]:
        read = (
            (name, tuple(_constraints(scopes, entry, key))) for name, entry in packages.items()
        )
        return {name: rules for name, rules in read if rules}

    return ReuseRules(
        place,
        is_off,
        only_dependencies,
        tuple(selections["buildcache"]),
        tuple(selections["local"]),
        tuple(environments),
        {
            source: mirror.binaries
            for mirror in spack.mirrors.values()
            for source in (f"{PREFIX}{mirror.name}", mirror.url)
        },
        constraints("require"),
        constraints("conflict"),
        {
            name: entry["buildable"]
            for name, entry in packages.items()
            if not scopes.flag(entry, "buildable", default=True)
        },
        constraints("prefer"),
        {name: scopes.texts(oses, name) for name in oses},
        spack.toolchains,
    )


def _environment_hashes(spack: SpackConfig, place: Text | None, kind: Text) -> frozenset[str]:
    """Return the hashes in the lock file of an environment, and of all that it includes.

    Without a path or name it is the active environment. A file that cannot be read is a problem.
    """
    scopes = spack.scopes
    path = scopes.active_environment if place is None else scopes.path(place)
    if place is not None and not os.path.isdir(path):
        path = os.path.join(spack.environments, place)
    if not path:
        return frozenset()
    from spackscope.model.readers import json, unpack

    hashes = set[str]()
    try:
        data = read_file(os.path.join(path, "spack.lock"), _MAX_LOCK_SIZE)
        waiting = [json.parse(unpack.decode(data), whole=True)[0]]
        for document in waiting:
            concrete, included = (
                json.member(document, key) for key in ("concrete_specs", "include_concrete")
            )
            hashes.update(concrete if isinstance(concrete, dict) else ())
            waiting += included.values() if isinstance(included, dict) else ()
    except (OSError, Unreadable) as error:
        why = str(error) if isinstance(error, Unreadable) else reason(error)
        scopes.refuse(place or kind, f"nothing is reused from {path}/spack.lock: {why}")
    return frozenset(hashes)


def _constraints(scopes: Scopes, fields: Mapping[str, Any], key: str) -> Iterator[Requirement]:
    """Yield the constraints of a package below `require`, `prefer` or `conflict`."""
    policies = {"spec": "none_of" if key == "conflict" else "one_of"}
    if key == "require":
        policies |= {"one_of": "one_of", "any_of": "any_of"}
        if isinstance(fields.get(key), Text):
            fields = {key: [fields[key]]}
    for entry in scopes.entries(fields, key, "spec"):
        when, message = (scopes.value(entry, name, Text) for name in ("when", "message"))
        if isinstance(entry.get("when"), list | dict):
            continue
        for name, policy in policies.items():
            if specs := scopes.texts(entry, name):
                yield Requirement(specs, policy, when, message or "")


def place_of(text: Text) -> str:
    """Return where a text of the configuration is written: `~/.spack/mirrors.yaml:3`."""
    home = os.path.expanduser("~")
    file = f"~{text.file[len(home) :]}" if text.file.startswith(home + os.sep) else text.file
    return clean(f"{file}:{text.line}")
