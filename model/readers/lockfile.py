"""Read `spack.lock`, which holds what an environment was concretized to.

Its versions follow lib/spack/spack/environment/environment.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from spackscope.model.core.records import Problem, Spec, is_hash
from spackscope.model.readers.json import Number, kind, read_json, storable
from spackscope.model.readers.spec_node import NodeReader, node_hash

FORMATS = {"4": 3, "5": 4, "6": 5}
"""The specfile format of the nodes, by the version of the lock file."""

_BEFORE_0_18 = ("1", "2", "3")


def is_lockfile(document: Any) -> bool:
    """Tell a lock file from other documents by its concrete specs."""
    return isinstance(document, dict) and "concrete_specs" in document


def read_lockfile(data: bytes, *, origin: str) -> Iterator[Spec | Problem]:
    """Yield the specs of a lock file in its order, then those of environments it includes.

    The roots are `explicit`. A spec that several of these environments hold comes once.
    """
    return read_json(
        data, origin=origin, name="Spack lock file", fits=is_lockfile, records=lockfile_records
    )


def lockfile_records(document: Any, *, origin: str) -> Iterator[Spec | Problem]:
    """Yield the specs of a parsed lock file, which is emptied on the way to save memory."""
    version, doubt = _version(document.get("_meta"))
    if doubt:
        yield Problem(origin, "_meta", storable(doubt))
    environments, problems = _environments(document, origin)
    yield from problems
    nodes = NodeReader(origin, FORMATS.get(version))
    roots: set[str] = set()
    for place, environment in environments:
        for root, reason in _roots(environment.get("roots"), environment["concrete_specs"]):
            if reason:
                yield Problem(origin, f"{place}roots", storable(reason))
            roots.add(root)
    read: dict[str, Spec] = {}
    remarks: list[Iterable[Problem]] = []
    for place, environment in environments:
        concrete = environment["concrete_specs"]
        for key in list(concrete):
            node = concrete.pop(key)
            spec = nodes.spec(_hash(key, node, version), node, explicit=key in roots)
            if spec is not None and spec.hash != key:
                nodes.also_called(key, spec.hash)
            if spec is not None and read.setdefault(spec.hash, spec) != spec:
                reason = "it stands in the file twice with differing content; the first one counts"
                at = f"{place}{spec.package}/{spec.hash[:7]}"
                remarks.append([Problem(origin, at, reason)])
            remarks.append(nodes.problems())
    yield from map(nodes.settled, read.values())
    yield from chain.from_iterable(remarks)
    yield from nodes.absent()


def _version(meta: object) -> tuple[str, str]:
    """Give the version of the lock file, and what is doubtful about it."""
    version = meta.get("lockfile-version") if isinstance(meta, dict) else None
    if type(version) is not Number:
        shown = repr(version)[:40] if version and type(version) is str else kind(version)
        known = f"{min(FORMATS)} to {max(FORMATS)}"
        return "", f"the lockfile-version is {shown}, and should be a number from {known}"
    if version in FORMATS:
        return str(version), ""
    rest = "its specs are read as far as they are understood"
    if version in _BEFORE_0_18:
        return str(version), f"lock files of version {version} come from before Spack 0.18; {rest}"
    return "", f"the lockfile-version {version[:40]} is none of those known, 4 to 6; {rest}"


def _environments(
    document: dict[str, Any], origin: str
) -> tuple[list[tuple[str, dict[str, Any]]], list[Problem]]:
    """Give the environment of the file and all that it includes, with the place of each."""
    found: list[tuple[str, dict[str, Any]]] = []
    problems: list[Problem] = []
    waiting: list[tuple[str, Any]] = [("", document)]
    for place, environment in waiting:
        if not isinstance(environment, dict):
            reason = f"the environment is {kind(environment)}, and should be a mapping"
            problems.append(Problem(origin, place.removesuffix(": "), reason))
            continue
        concrete = environment.get("concrete_specs")
        if isinstance(concrete, dict):
            found.append((place, environment))
        else:
            reason = f"the list of specs is {kind(concrete)}, and should be a mapping"
            problems.append(Problem(origin, f"{place}concrete_specs", reason))
        included = environment.get("include_concrete", {})
        if isinstance(included, dict):
            waiting += [(storable(f"{path}: "), inner) for path, inner in included.items()]
        else:
            reason = f"the list of environments is {kind(included)}, and should be a mapping"
            problems.append(Problem(origin, f"{place}include_concrete", reason))
    return found, problems


def _roots(roots: object, concrete: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Give the hash of each root, and what is wrong with it."""
    if not isinstance(roots, list):
        yield "", f"the roots are {kind(roots)}, and should be a list"
        return
    for root in roots:
        hash_ = root.get("hash") if isinstance(root, dict) else None
        if type(hash_) is not str:
            yield "", f"among the roots is {kind(root)} without a hash"
        elif hash_ in concrete:
            yield hash_, ""
        else:
            asked = root.get("spec")
            named = f"{asked[:80]} " if isinstance(asked, str) else ""
            yield hash_, f"the root {named}/{hash_[:7]} is not among the specs"


def _hash(key: str, node: object, version: str) -> object:
    """Give the hash of a spec: its key, but before version 4 keys could be other hashes."""
    if version in _BEFORE_0_18:
        stated = node_hash(node)
        return stated if isinstance(stated, str) and is_hash(stated) else key
    return key
