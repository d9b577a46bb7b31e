"""Build an `index.json` of any size with real DAGs: copies of specs that Spack concretized."""

from __future__ import annotations

import json
import lzma
import random
from collections.abc import Collection, Mapping
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

from tests.builders.nodes import content_hash

SEED = Path(__file__).parents[1] / "tests" / "data" / "spack" / "spack1.whole.json.xz"

_KEPT = {"apple-clang", "compiler-wrapper", "gcc", "gcc-runtime", "glibc", "llvm"}
"""Packages that keep their names: compilers, and what rules of reuse know by its name."""

Node = dict[str, Any]
Records = dict[str, Node]


def build_index(path: Path, specs: int) -> Path:
    """Write a database of version 8 with about this many records.

    The records are copies of 9,007 specs, of which 8,064 are look-alikes, with the hashes of their
    nodes. Every other copy has other versions of two common dependencies, so that the groups of
    look-alikes are twice as large; else the names of packages end in the number of the copy.
    Compilers, and what comes with them, are the same in all copies.
    """
    seed: Records = json.loads(lzma.decompress(SEED.read_bytes()))["database"]["installs"]
    nodes = {hash_: record["spec"] for hash_, record in seed.items()}
    records: Records = {}
    for number in range(1000):
        if len(records) >= specs:
            break
        suffix = f"-{number // 2}" if number > 1 else ""
        copies = _copy(nodes, suffix, ("gmake", "zlib-ng") if number % 2 else ())
        records |= {copy["hash"]: seed[hash_] | {"spec": copy} for hash_, copy in copies.items()}
    path.write_text(json.dumps({"database": {"version": "8", "installs": records}}))
    return path


def build_lock(path: Path, index: Path, specs: int) -> Path:
    """Write a lock file with about this many specs of an index, most of them changed."""
    records: Records = json.loads(index.read_bytes())["database"]["installs"]
    cached = sorted(hash_ for hash_, record in records.items() if record["in_buildcache"])
    roots: list[str] = []
    locked: dict[str, Node] = {}
    for root in random.Random(specs).sample(cached, len(cached)):
        if len(locked) >= specs:
            break
        roots.append(root)
        waiting = [root]
        while waiting:
            if (hash_ := waiting.pop()) not in locked:
                locked[hash_] = records[hash_]["spec"]
                waiting += _dependencies(locked[hash_])
    copies = _copy(locked, "", ("bzip2", "libiconv", "pkgconf"))
    document = {
        "_meta": {"file-type": "spack-lockfile", "lockfile-version": 6, "specfile-version": 5},
        "roots": [{"hash": copies[root]["hash"], "spec": copies[root]["name"]} for root in roots],
        "concrete_specs": {copy["hash"]: copy for copy in copies.values()},
    }
    path.write_text(json.dumps(document))
    return path


def _copy(nodes: Mapping[str, Node], suffix: str, changed: Collection[str]) -> dict[str, Node]:
    """Return copies of nodes by the hashes of these, with new names and some new versions."""
    copies: dict[str, Node] = {}
    below = {hash_: _dependencies(node) for hash_, node in nodes.items()}
    for hash_ in TopologicalSorter(below).static_order():
        node = dict(nodes[hash_])
        if node.get("external"):
            copies[hash_] = node
            continue
        if _base_name(node["name"]) in changed:
            node["version"] += ".1"
        node["name"] = _new_name(node["name"], suffix)
        if "dependencies" in node:
            node["dependencies"] = [
                edge
                | {
                    "name": _new_name(edge["name"], suffix),
                    "hash": copies[edge["hash"]]["hash"],
                }
                for edge in node["dependencies"]
            ]
        copies[hash_] = node | {"hash": content_hash(node)}
    return copies


def _dependencies(node: Node) -> list[str]:
    return [edge["hash"] for edge in node.get("dependencies", ())]


def _base_name(name: str) -> str:
    """Return the name of a package without the number of its copy."""
    base, _, number = name.rpartition("-")
    return base if number.isdecimal() else name


def _new_name(name: str, suffix: str) -> str:
    return name if name in _KEPT else name + suffix
