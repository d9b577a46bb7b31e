"""Build small environments from specs that name their dependencies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.builders.nodes import Node, content_hash, edge, node
from tests.builders.spack import environment


@dataclass(frozen=True)
class Made:
    """A spec with its dependencies; equal ones have the same hash, as in Spack."""

    node: Node
    dependencies: tuple[Made, ...] = ()

    @property
    def hash(self) -> str:
        """The hash of the spec."""
        return str(self.node["hash"])

    def all(self) -> Iterator[Made]:
        """Yield the spec and all that it depends on."""
        yield self
        for dependency in self.dependencies:
            yield from dependency.all()


def made(
    name: str,
    version: str = "1.0",
    *,
    links: Sequence[Made] = (),
    builds: Sequence[Made] = (),
    variants: dict[str, Any] | None = None,
    **fields: Any,
) -> Made:
    """Build a spec that links some specs, and is built with others."""
    edges = [
        edge(other.node["name"], other.hash, deptypes)
        for others, deptypes in ((links, ["build", "link"]), (builds, ["build"]))
        for other in others
    ]
    parameters = {"build_system": "generic", **(variants or {})}
    fields |= {"parameters": parameters, "dependencies": sorted(edges, key=lambda e: e["name"])}
    plain = node("", name=name, version=version, **fields)
    return Made({**plain, "hash": content_hash(plain)}, (*links, *builds))


def write_lock(path: Path, *roots: Made) -> Path:
    """Write the lock file of an environment with these roots."""
    nodes = [spec.node for root in roots for spec in root.all()]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(environment(nodes, *(root.hash for root in roots)))
    return path
