"""Read a Spack database into records, as far as queries ask for them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from spackscope.model.columns import FLAGS
from spackscope.model.compilers import LANGUAGES
from spackscope.model.records import Dependency, Spec


def read_index(path: Path) -> dict[str, Spec]:
    """Give the records of a database of version 7 or 8 by their hashes."""
    installs = json.loads(gzip.decompress(path.read_bytes()))["database"]["installs"]
    nodes = {hash_: install["spec"] for hash_, install in installs.items()}
    return {hash_: _spec(hash_, node, nodes) for hash_, node in nodes.items()}


def _spec(hash_: str, node: Mapping[str, Any], nodes: Mapping[str, Mapping[str, Any]]) -> Spec:
    edges = tuple(map(_edge, node.get("dependencies", ())))
    parameters = node["parameters"].items()
    arch = node["arch"]
    return Spec(
        package=node["name"],
        hash=hash_,
        version=node["version"],
        compiler=_compiler(node, edges, nodes),
        platform=arch["platform"],
        os=arch["platform_os"],
        target=arch["target"],
        variants=tuple(_variant(key, value) for key, value in parameters if key not in FLAGS),
        stacks=(),
        size=None,
        tag="",
        origin="",
        namespace=node["namespace"],
        flags=tuple(f"{key}={' '.join(value)}" for key, value in parameters if key in FLAGS),
        dependencies=edges,
    )


def _edge(edge: Mapping[str, Any]) -> Dependency:
    parameters = edge["parameters"]
    return Dependency(
        edge["hash"], edge["name"], tuple(parameters["deptypes"]), tuple(parameters["virtuals"])
    )


def _variant(name: str, value: object) -> str:
    if isinstance(value, bool):
        return ("+" if value else "~") + name
    return f"{name}:={','.join(value)}" if isinstance(value, list) else f"{name}={value}"


def _compiler(
    node: Mapping[str, Any], edges: tuple[Dependency, ...], nodes: Mapping[str, Mapping[str, Any]]
) -> str:
    if stated := node.get("compiler"):
        return f"{stated['name']}@{stated['version']}"
    for language in LANGUAGES:
        for edge in edges:
            if language in edge.virtuals:
                return f"{edge.name}@{nodes[edge.hash]['version']}"
    return "none"
