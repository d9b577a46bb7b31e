"""Write the files of sample_data/ that are no pages, most of them from one of the large indexes.

The cache has hdf5 and packages that use it, in all their builds; what these need is listed only as
their dependencies. The environment has four of them, and newer versions of two dependencies. The
examples are what the documents read: the cache with all of its builds, the environment, also as it
was before, mirrors, and an install tree.

In a clone: `.venv/bin/python -m tests.builders.sample`.
"""

import gzip
import json
from collections.abc import Iterable, Mapping
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from tests.builders.manifests import Files
from tests.builders.mirrors import complete, files_in, signed_v3, under
from tests.builders.nodes import content_hash
from tests.builders.spack import SPACK_DATA, whole_index

SAMPLE_DATA = Path(__file__).parents[2] / "sample_data"
INDEX = SAMPLE_DATA / "cache" / "index.json.gz"
LOCK = SAMPLE_DATA / "environment" / "spack.lock"
EXAMPLES = SAMPLE_DATA / "examples.zip"

_CACHED = ("adios2", "cgns", "conduit", "hdf5", "netcdf-c", "silo", "vtk")
_ROOTS = ("dujbabn", "dlhetrw", "2rz635t", "j5y4rgl")
"""netcdf-c, conduit, silo and vtk with the same hdf5."""
_REMOVED_ROOT = "b64gwrb"
"""adios2 with another hdf5, which the environment had before."""

_NEWER = {("libpng", "1.6.55"): "1.6.56", ("proj", "9.7.0"): "9.8.0"}

_INSTALLED: Mapping[str, Mapping[str, int | str]] = {
    "linux-x86_64_v3/zlib-ng-2.3.2-l34a4my3xftm6yj7uftfp25kvu5pnhmn": {
        "include/zlib.h": 87_000,
        "lib/libz.a": 201_000,
        "lib/libz.so": "libz.so.1",
        "lib/libz.so.1": "libz.so.1.3.1.zlib-ng",
        "lib/libz.so.1.3.1.zlib-ng": 165_000,
    },
    "linux-x86_64_v3/hdf5-1.14.6-3blxiloopoyy7q57wzbcbqsjfftimtep": {
        "bin/h5cc": "h5pcc",
        "bin/h5dump": 412_000,
        "lib/libhdf5.so": "libhdf5.so.310",
        "lib/libhdf5.so.310": "libhdf5.so.310.5.1",
        "lib/libhdf5.so.310.5.1": 5_120_000,
    },
}
"""The prefixes of the install tree that have a list of their files: sizes, and links."""

Nodes = dict[str, dict[str, Any]]


@cache
def sample_index() -> dict[str, Any]:
    """Return the part of the index, dependencies first: equal parts are close, and pack well."""
    database = json.loads(whole_index("spack1"))["database"]
    installs = database["installs"]
    nodes = {hash_: record["spec"] for hash_, record in installs.items()}
    chosen = [hash_ for hash_, node in nodes.items() if node["name"] in _CACHED]
    records = {
        hash_: installs[hash_] | {"in_buildcache": nodes[hash_]["name"] in _CACHED}
        for hash_ in _closure(nodes, chosen)
    }
    return {"database": database | {"installs": records}}


def sample_lock() -> dict[str, Any]:
    """Return the lock file of the environment."""
    return _lock(_ROOTS, _NEWER)


def example_files() -> Files:
    """Return the files that the documents read."""
    database = sample_index()["database"]
    installs = {
        hash_: record | {"in_buildcache": not record["spec"].get("external")}
        for hash_, record in database["installs"].items()
    }
    documents = {
        "index.json": {"database": database | {"installs": installs}},
        "old/spack.lock": _lock((*_ROOTS, _REMOVED_ROOT), {}),
        "new/spack.lock": sample_lock(),
    }
    return {
        **{name: _packed(document) for name, document in documents.items()},
        **under("mirror", complete(signed_v3())),
        **under("tree", files_in(SPACK_DATA / "install-tree-1.2")),
        **under("tree", dict(map(_file_list, _INSTALLED.items()))),
    }


def _packed(document: object) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode()


def unpack_examples(directory: Path) -> None:
    """Write the files that the documents read into a directory."""
    with ZipFile(EXAMPLES) as archive:
        archive.extractall(directory)


def _file_list(item: tuple[str, Mapping[str, int | str]]) -> tuple[str, bytes]:
    """Return the name and content of the list of files that Spack keeps in a prefix."""
    folder, files = item
    prefix = f"/opt/spack/opt/{folder}"
    entries: dict[str, dict[str, int | str]] = {prefix: {"mode": 0o40755}}
    for name, size in {".spack/spec.json": 5_000, **files}.items():
        mode = 0o100755 if name.startswith("bin/") else 0o100644
        is_link = isinstance(size, str)
        fields = {"mode": 0o120777, "dest": size} if is_link else {"mode": mode, "size": size}
        entries[f"{prefix}/{name}"] = fields
    return f"{folder}/.spack/install_manifest.json", json.dumps(entries).encode()


def _lock(roots: Iterable[str], versions: Mapping[tuple[str, str], str]) -> dict[str, Any]:
    """Return a lock file of specs of the sample, by the starts of their hashes."""
    installs = sample_index()["database"]["installs"]
    nodes = {hash_: record["spec"] for hash_, record in installs.items()}
    hashes = [next(hash_ for hash_ in nodes if hash_.startswith(start)) for start in roots]
    new = with_versions({hash_: nodes[hash_] for hash_ in _closure(nodes, hashes)}, versions)
    return {
        "_meta": {"file-type": "spack-lockfile", "lockfile-version": 6, "specfile-version": 5},
        "roots": [{"hash": new[root]["hash"], "spec": new[root]["name"]} for root in hashes],
        "concrete_specs": {node["hash"]: node for node in new.values()},
    }


def with_versions(nodes: Nodes, versions: Mapping[tuple[str, str], str]) -> Nodes:
    """Return nodes with other versions and what follows from them, by the hashes of before.

    They are in the order in which they can be built.
    """
    below = {hash_: [edge["hash"] for edge in _edges(node)] for hash_, node in nodes.items()}
    new: Nodes = {}
    for hash_ in TopologicalSorter(below).static_order():
        node = dict(nodes[hash_])
        node["version"] = versions.get((node["name"], node["version"]), node["version"])
        if edges := _edges(node):
            node["dependencies"] = [e | {"hash": new[e["hash"]]["hash"]} for e in edges]
        is_changed = node | {"hash": ""} != nodes[hash_] | {"hash": ""}
        new[hash_] = node | ({"hash": content_hash(node)} if is_changed else {})
    return new


def _edges(node: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the edges from a node to its dependencies."""
    edges: list[dict[str, Any]] = node.get("dependencies", [])
    return edges


def _closure(nodes: Nodes, hashes: Iterable[str]) -> list[str]:
    """Return hashes with those of all their dependencies, which come first."""
    below: dict[str, list[str]] = {}
    pending = [*hashes]
    while pending:
        if (hash_ := pending.pop()) not in below:
            below[hash_] = [edge["hash"] for edge in _edges(nodes[hash_])]
            pending += below[hash_]
    return [*TopologicalSorter(below).static_order()]


def main() -> None:
    """Write the files."""
    INDEX.write_bytes(gzip.compress(_packed(sample_index()), mtime=0))
    LOCK.write_bytes(_packed(sample_lock()) + b"\n")
    with ZipFile(EXAMPLES, "w", ZIP_DEFLATED) as archive:
        for name, data in example_files().items():
            archive.writestr(ZipInfo(name), data, ZIP_DEFLATED)


if __name__ == "__main__":
    main()
