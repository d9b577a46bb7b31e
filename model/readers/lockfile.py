"""Read `spack.lock`: the specs that an environment was concretized to.

Its versions follow lib/spack/spack/environment/environment.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from spackscope.model.core.records import Problem, Spec, is_hash
from spackscope.model.readers.json import (
    AS_UNDERSTOOD,
    Number,
    kind,
    mismatch,
    storable,
    unknown_version,
)
from spackscope.model.readers.spec_node import NodeReader, node_hash

FORMATS = {"4": 3, "5": 4, "6": 5}
"""The specfile format of the nodes, by the version of the lock file."""

BEFORE_0_18 = ("1", "2", "3")


class LockedEnvironment(NamedTuple):
    """An environment in a lock file; `path` is empty for that of the file itself."""

    path: str
    roots: object
    concrete_specs: dict[str, Any]


def is_lockfile(document: Any) -> bool:
    """Recognise a parsed lock file by its concrete specs."""
    return isinstance(document, dict) and "concrete_specs" in document


def read_lockfile(document: dict[str, Any], *, origin: str) -> Iterator[Spec | Problem]:
    """Yield the specs of a parsed lock file, then those of environments that it includes.

    The roots are `explicit`. A spec of several environments comes once. The document is emptied
    on the way to save memory. Format: lib/spack/spack/environment/environment.py.
    """
    version, reason = _version(document.get("_meta"))
    if reason:
        yield Problem(origin, "", reason)
    environments: list[LockedEnvironment] = []
    for item in locked_environments(document, origin):
        if isinstance(item, Problem):
            yield item
        else:
            environments.append(item)
    nodes = NodeReader(origin, FORMATS.get(version))
    roots: set[str] = set()
    for environment in environments:
        for root, reason in _roots(environment):
            if reason:
                yield Problem(origin, environment.path, storable(reason))
            roots.add(root)
    for path, _, concrete_specs in environments:
        nodes.prefix = f"{path}: " if path else ""
        for key in list(concrete_specs):
            node = concrete_specs.pop(key)
            spec = nodes.add(hash_of(key, node, version), node, explicit=key in roots)
            if spec is not None and spec.hash != key:
                nodes.dependencies.add_alias(key, spec.hash)
    yield from nodes.finish()


def _version(meta: object) -> tuple[str, str]:
    """Return the version of a lock file, and why it may be misread."""
    version = meta.get("lockfile-version") if isinstance(meta, dict) else None
    if type(version) is Number and version in FORMATS:
        return str(version), ""
    if type(version) is Number and version in BEFORE_0_18:
        reason = f"lockfile-version {version} is from before Spack 0.18; {AS_UNDERSTOOD}"
        return str(version), reason
    expected = f"a number from {min(FORMATS)} to {max(FORMATS)}"
    return "", unknown_version("lockfile-version", version, expected)


def locked_environments(
    document: dict[str, Any], origin: str
) -> Iterator[LockedEnvironment | Problem]:
    """Yield the environment of a lock file, and those that it includes, however deep."""
    waiting: list[tuple[str, Any]] = [("", document)]
    for path, environment in waiting:
        if not isinstance(environment, dict):
            yield Problem(origin, path, mismatch("environment", environment, "an object"))
            continue
        concrete = environment.get("concrete_specs")
        if isinstance(concrete, dict):
            yield LockedEnvironment(path, environment.get("roots"), concrete)
        else:
            yield Problem(origin, path, mismatch("concrete_specs", concrete, "an object"))
        included = environment.get("include_concrete", {})
        if isinstance(included, dict):
            waiting += [(storable(name), inner) for name, inner in included.items()]
        else:
            yield Problem(origin, path, mismatch("include_concrete", included, "an object"))


def _roots(environment: LockedEnvironment) -> Iterator[tuple[str, str]]:
    """Yield the hash of each root, and what is wrong with it."""
    if not isinstance(environment.roots, list):
        yield "", mismatch("roots", environment.roots, "a list")
        return
    for root in environment.roots:
        hash_ = root.get("hash") if isinstance(root, dict) else None
        if type(hash_) is not str:
            yield "", f"roots contains {kind(root)} without a hash"
        elif hash_ in environment.concrete_specs:
            yield hash_, ""
        else:
            spec = root.get("spec")
            name = f"{spec[:80]} " if isinstance(spec, str) else ""
            yield hash_, f"root {name}/{hash_[:7]} is not in concrete_specs"


def hash_of(key: str, node: object, version: str) -> object:
    """Return the hash of a spec: its key, but before version 4 keys could be other hashes."""
    if version in BEFORE_0_18 and is_hash(stated := node_hash(node)):
        return stated
    return key
