"""Read which mirrors, install trees and externals the user's own Spack is configured to use.

As lib/spack/spack/mirrors/mirror.py and `parse_install_tree` of lib/spack/spack/store.py.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from spackscope.model.core.errors import SourceError
from spackscope.model.core.frozen import Frozen, field
from spackscope.model.core.records import Problem
from spackscope.model.core.redaction import shown_url
from spackscope.model.sources.source_name import DEFAULT_TAG, PREFIX, PUBLIC, TAG_LIST
from spackscope.model.sources.spack_config.paths import Paths, find_spack, find_spack_root
from spackscope.model.sources.spack_config.scopes import Scopes

_CONNECTION = ("access_pair", "access_token", "access_token_variable", "profile", "endpoint_url")
_NULL = ("", "~", "null")
_PATHS = ("url", "fetch", "root", "install_tree", "environments_root")
_FALSE = frozenset({"false", "no", "off"})
_PADDING = re.compile(r"\$\{?padding(?::\d+)?\}?$")
_MAX_DEPTH = 8
_MAX_FILE_SIZE = 2**16


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
            text = file.read(_MAX_FILE_SIZE)
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
        merged = value if merged is None else _merge(merged, value, _MAX_DEPTH)
        if section.overrides:
            break
    return _merge(merged, {}, _MAX_DEPTH) if isinstance(merged, dict) else {}


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
