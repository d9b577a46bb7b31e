"""Write the sample's index and environment in sample_data/, from one of the large indexes.

The cache has hdf5 and packages that use it, in all their builds; what these need is listed only as
their dependencies. The environment has four of them, and newer versions of two dependencies.

In a clone: `.venv/bin/python -m tests.builders.sample`.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

from tests.builders.example_files import edges_of, with_versions
from tests.builders.spack import whole_index

SAMPLE_DATA = Path(__file__).parents[2] / "sample_data"
INDEX = SAMPLE_DATA / "cache" / "index.json.gz"
LOCK = SAMPLE_DATA / "environment" / "spack.lock"

_CACHED = ("adios2", "cgns", "conduit", "hdf5", "netcdf-c", "silo", "vtk")
_ROOTS = ("dujbabn", "dlhetrw", "2rz635t", "j5y4rgl")
"""netcdf-c, conduit, silo and vtk with the same hdf5."""

_NEWER = {("libpng", "1.6.55"): "1.6.56", ("proj", "9.7.0"): "9.8.0"}

Nodes = dict[str, dict[str, Any]]


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
    installs = sample_index()["database"]["installs"]
    nodes = {hash_: record["spec"] for hash_, record in installs.items()}
    roots = [next(hash_ for hash_ in nodes if hash_.startswith(start)) for start in _ROOTS]
    new = with_versions({hash_: nodes[hash_] for hash_ in _closure(nodes, roots)}, _NEWER)
    return {
        "_meta": {"file-type": "spack-lockfile", "lockfile-version": 6, "specfile-version": 5},
        "roots": [{"hash": new[root]["hash"], "spec": new[root]["name"]} for root in roots],
        "concrete_specs": {node["hash"]: node for node in new.values()},
    }


def _closure(nodes: Nodes, hashes: Iterable[str]) -> list[str]:
    """Return hashes with those of all their dependencies, which come first."""
    below: dict[str, list[str]] = {}
    pending = [*hashes]
    while pending:
        if (hash_ := pending.pop()) not in below:
            below[hash_] = [edge["hash"] for edge in edges_of(nodes[hash_])]
            pending += below[hash_]
    return [*TopologicalSorter(below).static_order()]


def main() -> None:
    """Write both files."""
    text = json.dumps(sample_index(), separators=(",", ":"))
    INDEX.write_bytes(gzip.compress(text.encode(), mtime=0))
    LOCK.write_text(json.dumps(sample_lock(), separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
