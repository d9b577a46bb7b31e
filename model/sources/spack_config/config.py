"""Read which mirrors and install trees the user's own Spack is configured to use.

As lib/spack/spack/mirrors/mirror.py and `parse_install_tree` of lib/spack/spack/store.py.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from spackscope.model.core.records import Problem
from spackscope.model.sources.spack_config.scopes import SYSTEM, Paths, Scopes, spack_root

PREFIX = "spack:"
"""What a source begins with that is a mirror of the user's Spack: `spack:NAME`."""

_CONNECTION = (
    "access_pair",
    "access_token",
    "access_token_variable",
    "profile",
    "endpoint_url",
)
_NULL = ("", "~", "null")
_NO = frozenset({"false", "no", "off"})
_PADDED = re.compile(r"\$\{?padding(?::\d+)?\}?$")
_DEEPEST = 8


@dataclass(frozen=True, slots=True)
class ConfiguredMirror:
    """Hold a mirror of mirrors.yaml, as far as it is fetched from.

    `url` is an address or an absolute path. `options` are what is needed to reach it, by their
    names in mirrors.yaml.
    """

    name: str
    url: str = field(repr=False)
    view: str = ""
    binary: bool = True
    options: Mapping[str, Any] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class Spack:
    """Hold the configuration of a Spack: its root, if that is known, mirrors and install trees.

    The mirrors come in the order in which Spack asks them, and the trees with its own first.
    """

    root: str
    mirrors: Mapping[str, ConfiguredMirror]
    trees: tuple[str, ...]
    problems: tuple[Problem, ...] = ()


def spack_of(environ: Mapping[str, str]) -> Spack | None:
    """Read the configuration of the user's Spack, or None where there is none.

    Without a Spack at hand the scopes of the system and of the user count alone.
    """
    paths = Paths(spack_root(environ), environ)
    scopes = Scopes(paths)
    if not paths.root and not environ.get("SPACK_ENV"):
        own = (
            scopes.own_path("system", SYSTEM),
            scopes.own_path("user", os.path.join(paths.home, ".spack")),
        )
        if "SPACK_DISABLE_LOCAL_CONFIG" in environ or not any(map(os.path.isdir, own)):
            return None
    scopes.find()
    known = dict(_mirrors(scopes))
    trees = tuple(dict.fromkeys([*_own_tree(scopes), *_upstreams(scopes)]))
    return Spack(paths.root, known, trees, tuple(scopes.problems))


def mirrors(environ: Mapping[str, str]) -> Mapping[str, ConfiguredMirror]:
    """Give the mirrors of build caches that the user's Spack knows, by their names."""
    spack = spack_of(environ)
    return (
        {}
        if spack is None
        else {name: mirror for name, mirror in spack.mirrors.items() if mirror.binary}
    )


def install_trees(environ: Mapping[str, str]) -> list[str]:
    """Give the install tree of the user's Spack, and those that it uses as upstreams."""
    spack = spack_of(environ)
    return [] if spack is None else list(spack.trees)


def _section(scopes: Scopes, name: str) -> Any:
    """Merge a section of all scopes, of which the highest counts most and comes first."""
    merged: Any = None
    for value, overrides, base in scopes.sections(name):
        placed = _placed(scopes.paths, name, value, base)
        merged = placed if merged is None else _merged(merged, placed, _DEEPEST)
        if overrides:
            break
    return _merged(merged, {}, _DEEPEST) if isinstance(merged, dict) else {}


def _merged(high: Any, low: Any, depth: int) -> Any:
    """Merge two mappings; a key that ends in a colon takes nothing from below."""
    if not (isinstance(high, dict) and isinstance(low, dict)) or not depth:
        return high
    merged = {}
    for key, value in high.items():
        name = str(key).rstrip(":")
        alone = str(key).endswith(":") or name not in low
        merged[name] = value if alone else _merged(value, low[name], depth - 1)
    return {**merged, **{key: value for key, value in low.items() if key not in merged}}


def _placed(paths: Paths, section: str, value: Any, base: str) -> Any:
    """Make the paths in a section absolute, before it is forgotten which file they stood in."""
    if not isinstance(value, dict):
        return value
    placed = {}
    for name, entry in value.items():
        if section == "mirrors":
            placed[name] = _with_url(paths, entry, base)
        elif section == "config" and str(name).rstrip(":") == "install_tree":
            placed[name] = _with_root(paths, entry, base)
        elif section == "upstreams" and isinstance(entry, dict):
            placed[name] = _with_root(paths, entry, base, "install_tree")
    return placed


def _with_url(paths: Paths, entry: Any, base: str) -> Any:
    if isinstance(entry, str):
        return None if entry in _NULL else paths.place(entry, base)
    if not isinstance(entry, dict):
        return entry
    placed = dict(entry)
    for key in ("url", "fetch"):
        value = placed.get(key)
        if isinstance(value, str):
            placed[key] = None if value in _NULL else paths.place(value, base)
        elif isinstance(value, dict) and isinstance(value.get("url"), str):
            placed[key] = {**value, "url": paths.place(value["url"], base)}
    return placed


def _with_root(paths: Paths, entry: Any, base: str, key: str = "root") -> Any:
    if isinstance(entry, str):
        return {key: paths.absolute(_PADDED.sub("", entry), base)}
    if isinstance(entry, dict):
        told = {str(name).rstrip(":"): value for name, value in entry.items()}
        if isinstance(told.get(key), str) and told[key]:
            return {**told, key: paths.absolute(_PADDED.sub("", told[key]), base)}
    return entry


def _mirrors(scopes: Scopes) -> Iterator[tuple[str, ConfiguredMirror]]:
    for name, entry in _section(scopes, "mirrors").items():
        name = str(name).rstrip(":")
        told = {"url": entry} if isinstance(entry, str) else entry
        if isinstance(told, dict):
            fetch = told.get("fetch", told.get("pull"))
            fetch = {"url": fetch} if isinstance(fetch, str) else fetch
            told = {**told, **fetch} if isinstance(fetch, dict) else told
        url = told.get("url") if isinstance(told, dict) else None
        if not isinstance(url, str) or not url:
            reason = "it has no url from which anything can be fetched"
            scopes.problems.append(Problem("mirrors.yaml", name, reason))
            continue
        view = told.get("view", "")
        binary = str(told.get("binary", "true")).lower() not in _NO
        yield (
            name,
            ConfiguredMirror(
                name,
                url,
                view if isinstance(view, str) else "",
                binary,
                {key: told[key] for key in _CONNECTION if told.get(key, "") not in _NULL},
            ),
        )


def _own_tree(scopes: Scopes) -> Iterator[str]:
    tree = _section(scopes, "config").get("install_tree")
    root = tree.get("root") if isinstance(tree, dict) else None
    if isinstance(root, str) and os.path.isabs(root) and "$" not in root:
        yield root
    elif scopes.paths.root:
        yield os.path.join(scopes.paths.root, "opt", "spack")


def _upstreams(scopes: Scopes) -> Iterator[str]:
    for upstream in _section(scopes, "upstreams").values():
        tree = upstream.get("install_tree") if isinstance(upstream, dict) else None
        if isinstance(tree, str) and os.path.isabs(tree):
            yield tree
