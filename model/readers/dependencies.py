"""Read the dependencies of spec nodes, and the compilers among them."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from functools import cached_property

from spackscope.model.core.frozen import replace
from spackscope.model.core.records import LANGUAGES, Dependency, is_hash
from spackscope.model.core.text import counted
from spackscope.model.readers.json import FieldReader, Texts, kind, mismatch, storable

_LANGUAGES = frozenset(LANGUAGES)
OLD_HASH_KEYS = ("full_hash", "build_hash")
"""Keys of other hashes of a node, by which dependencies name it until Spack 0.17."""
_HASH_KEYS = ("hash", *OLD_HASH_KEYS)


class DependencyReader:
    """Reads dependencies; equal ones become one object.

    `versions` has the version of each node of the document by its hash. It is complete when
    `resolved`, `compiler` and `absent` are called.
    """

    def __init__(self, fields: FieldReader, versions: Mapping[str, str]) -> None:
        self._fields = fields
        self._versions = versions
        self._known: dict[tuple[str, str, Texts, Texts], Dependency] = {}
        self._aliases: dict[str, str] = {}

    @property
    def count(self) -> int:
        """Number of different dependencies so far."""
        return len(self._known)

    def add_alias(self, alias: str, hash_: str) -> None:
        """Add another hash by which dependencies may name a node."""
        self._aliases[alias] = hash_

    def read(self, dependencies: object) -> tuple[Dependency, ...]:
        """Return the dependencies of a node: an object with their names as keys, or a list."""
        if not dependencies and dependencies in (None, [], {}):
            return ()
        if type(dependencies) is dict:
            pairs = list(dependencies.items())
        elif type(dependencies) is list:
            pairs = [(None, item) for item in dependencies]
        else:
            self._fields.add_problem(mismatch("dependencies", dependencies, "a list"))
            return ()
        result: list[Dependency] = []
        cache = self._known
        for name, item in pairs:
            try:
                its = item["parameters"]
                key = item["hash"], item["name"], tuple(its["deptypes"]), tuple(its["virtuals"])
                result.append(cache[key])
            except (KeyError, TypeError):
                if (dependency := self._dependency(name, item)) is not None:
                    result.append(dependency)
        return tuple(result)

    def _dependency(self, name: object, item: object) -> Dependency | None:
        if type(item) is not dict:
            self._fields.add_problem(f"dependencies contains {kind(item)}, expected objects")
            return None
        name = item.get("name") if name is None else name
        label = f"dependency {name}" if type(name) is str and name else "dependency"
        hash_ = next((item[key] for key in _HASH_KEYS if key in item), None)
        if not is_hash(hash_):
            self._fields.add_wrong_hash(f"hash of {label}", hash_)
            return None
        its = item.get("parameters")
        if type(its) is dict:
            deptypes, virtuals = its.get("deptypes"), its.get("virtuals", [])
        else:
            deptypes, virtuals = item.get("type"), []
        key = (
            sys.intern(hash_),
            self._fields.string("name of dependency", name),
            self._fields.strings(f"deptypes of {label}", deptypes),
            self._fields.strings(f"virtuals of {label}", virtuals),
        )
        return self._known.setdefault(key, Dependency(*key))

    @cached_property
    def _renamed(self) -> dict[str, str]:
        """The hash of each node that dependencies name by an alias."""
        if not self._aliases:
            return {}
        unknown = {hash_ for hash_, *_ in self._known if hash_ not in self._versions}
        return {alias: self._aliases[alias] for alias in unknown if alias in self._aliases}

    def resolved(self, dependencies: tuple[Dependency, ...]) -> tuple[Dependency, ...]:
        """Return dependencies that name nodes by their own hashes."""
        renamed = self._renamed
        if not renamed or all(item.hash not in renamed for item in dependencies):
            return dependencies
        return tuple(
            replace(item, hash=sys.intern(renamed.get(item.hash, item.hash)))
            for item in dependencies
        )

    def compiler(self, dependencies: tuple[Dependency, ...]) -> str:
        """Return the first of the compilers for C, C++ and Fortran as `name@version`."""
        for language in LANGUAGES:
            for item in dependencies:
                if language in item.virtuals:
                    version = storable(self._versions.get(item.hash, ""))
                    return sys.intern(f"{item.name}@{version}" if version else item.name)
        return "none"

    def absent(self) -> Iterator[str]:
        """Yield one sentence if dependencies are named whose nodes are not in the document.

        Spack warns of them too (`_assign_dependencies` in lib/spack/spack/database.py).
        """
        hashes = self._versions.keys() | self._renamed.keys()
        names: dict[str, str] = {}
        for hash_, name, *_ in self._known:
            if hash_ not in hashes:
                names.setdefault(hash_, name)
        if names:
            hash_, name = next(iter(names.items()))
            missing = f"{counted(len(names), 'dependency')} {'is' if len(names) == 1 else 'are'}"
            yield storable(f"{missing} missing, such as {name}/{hash_[:7]}")


def compiles(dependencies: tuple[Dependency, ...]) -> bool:
    """Check whether a compiler for C, C++ or Fortran is among the dependencies."""
    return any(item.virtuals and not _LANGUAGES.isdisjoint(item.virtuals) for item in dependencies)
