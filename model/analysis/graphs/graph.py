"""The interface of a graph of specs: their own attributes and their dependencies."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Protocol

from spackscope.model.catalog.dependency_graph import Edge
from spackscope.model.catalog.edge_arrays import EdgeKind
from spackscope.model.core.frozen import Frozen, field, fields

COMPILED_IN = 5
"""The first specfile format in which compilers are dependencies (`lib/spack/spack/spec.py`)."""


class Attributes(Frozen):
    """The own attributes of a spec: all that its node states but its dependencies and its hash.

    `variants` has the values of each variant by its name, `+` or `~` of boolean ones, but not the
    patches. `lists` has the names of those that may have several values; before format 5 none, as
    documents do not tell. `flags` has the words of each compiler flag in their order. `compiler`
    is empty where it is a dependency. `external` is the prefix or else the modules, and
    `external_attributes` more about it as JSON; all of them are empty for what Spack built.
    `spec_format` is 0 if it is unknown. Of an absent dependency only the package is known.
    """

    package: str
    version: str = ""
    namespace: str = ""
    variants: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    lists: frozenset[str] = frozenset()
    flags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    patches: tuple[str, ...] = ()
    package_hash: str = ""
    platform: str = ""
    os: str = ""
    target: str = ""
    compiler: str = ""
    external: str = ""
    external_modules: tuple[str, ...] = ()
    external_attributes: str = ""
    spec_format: int = 0

    @property
    def key(self) -> Hashable:
        """A value that is equal for equal attributes."""
        values = (getattr(self, field.name) for field in fields(self))
        return tuple(
            frozenset(value.items()) if isinstance(value, Mapping) else value for value in values
        )


class Graph(Protocol):
    """Specs by their ids, and the edges between them.

    The ids after those of all records are those of absent dependencies, which no document
    describes. All methods raise IndexDamaged.
    """

    def is_described(self, id_: int) -> bool:
        """Check whether a document describes a spec."""

    def lists_dependencies(self, id_: int) -> bool:
        """Check whether the document of a spec lists its dependencies, as pages do not."""

    def name(self, id_: int) -> str:
        """Return the package of a spec."""

    def identity(self, id_: int) -> int:
        """Return the first id with the same hash: two specs are the same if theirs are equal."""

    def hashes(self, ids: Iterable[int]) -> list[str]:
        """Return the hash of each id, in their order."""

    def build_spec(self, id_: int) -> str:
        """Return the hash that a spliced spec was built as; empty for any other."""

    def edges(self, id_: int) -> Sequence[Edge]:
        """Return the edges to the direct dependencies, in the order of the document."""

    def links(self, id_: int) -> Iterable[tuple[int, EdgeKind]]:
        """Return the direct dependencies, each with the kind of the edge to it, as `edges`."""

    def configuration(self, id_: int) -> int:
        """Return a number that is equal for specs with equal attributes; not for absent ones."""

    def attributes(self, id_: int) -> Attributes:
        """Return the own attributes of a spec."""


def by_package(graph: Graph, ids: Iterable[int]) -> dict[str, list[int]]:
    """Return specs by their packages, in their order."""
    packages: dict[str, list[int]] = {}
    for id_ in ids:
        packages.setdefault(graph.name(id_), []).append(id_)
    return packages
