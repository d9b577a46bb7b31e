"""Write the files that the examples of the documents read.

In a clone: `.venv/bin/python -m tests.builders.example_files DIRECTORY`.
"""

from __future__ import annotations

import json
import lzma
import shutil
import sys
from collections.abc import Mapping
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

from spackscope.model.readers.nodes import content_hash
from tests.builders.mirrors import complete, files_in, signed_v3, write_files
from tests.builders.spack import SPACK_DATA, whole_index

_NEWER = {("zlib-ng", "2.3.2"): "2.3.3", ("libiconv", "1.17"): "1.18"}


def write_example_files(directory: Path) -> None:
    """Write an index, mirrors, an install tree, and a lock file with an older and a newer one."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "index.json").write_bytes(whole_index("spack1"))
    write_files(directory / "mirror", complete(signed_v3()))
    write_files(directory / "pruned", signed_v3())
    write_files(directory / "copy", files_in(SPACK_DATA / "mirror-v3"))
    shutil.copytree(SPACK_DATA / "install-tree-1.2", directory / "tree")
    lock = json.loads(lzma.decompress((SPACK_DATA / "analysis" / "made.lock.xz").read_bytes()))
    for name, document in {"": lock, "old": lock, "new": _later(lock)}.items():
        (directory / name).mkdir(exist_ok=True)
        (directory / name / "spack.lock").write_text(json.dumps(document))
    write_files(directory / "old" / "mirror", complete(files_in(SPACK_DATA / "mirror-v2")))


def _later(lock: dict[str, Any]) -> dict[str, Any]:
    """Return a lock file as if concretized again: with newer versions, and without a root."""
    new = with_versions(lock["concrete_specs"], _NEWER)
    gone = next(root for root in lock["roots"] if root["spec"].startswith("glm"))
    kept = [root for root in lock["roots"] if root != gone]
    return lock | {
        "roots": [root | {"hash": new[root["hash"]]["hash"]} for root in kept],
        "concrete_specs": {
            node["hash"]: node for hash_, node in new.items() if hash_ != gone["hash"]
        },
    }


def with_versions(
    nodes: Mapping[str, dict[str, Any]], versions: Mapping[tuple[str, str], str]
) -> dict[str, dict[str, Any]]:
    """Return nodes with other versions and what follows from them, by the hashes of before.

    They are in the order in which they can be built.
    """
    below = {hash_: [edge["hash"] for edge in edges_of(node)] for hash_, node in nodes.items()}
    new: dict[str, Any] = {}
    for hash_ in TopologicalSorter(below).static_order():
        node = dict(nodes[hash_])
        node["version"] = versions.get((node["name"], node["version"]), node["version"])
        if edges := edges_of(node):
            node["dependencies"] = [e | {"hash": new[e["hash"]]["hash"]} for e in edges]
        is_changed = node | {"hash": ""} != nodes[hash_] | {"hash": ""}
        new[hash_] = node | ({"hash": content_hash(node)} if is_changed else {})
    return new


def edges_of(node: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the edges from a node to its dependencies."""
    edges: list[dict[str, Any]] = node.get("dependencies", [])
    return edges


if __name__ == "__main__":
    write_example_files(Path(sys.argv[1]))
