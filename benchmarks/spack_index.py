"""Build an `index.json` of any size as Spack 1 writes it, from specs that it has concretized."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

SEED = Path(__file__).parents[1] / "tests" / "data" / "spack" / "spack1.index.json.gz"
EDGES = 20
"""Dependencies per spec, approximately."""

_ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"
_FLAGS = ("cflags", "cppflags", "cxxflags", "fflags", "ldflags", "ldlibs")
_VARIANTS = (
    "bench_api", "bench_check", "bench_cuda", "bench_docs", "bench_fortran", "bench_ipo",
    "bench_mpi", "bench_openmp", "bench_optimize", "bench_pic", "bench_profile", "bench_rocm",
    "bench_shared", "bench_static", "bench_threads",
)  # fmt: skip
# Spack spells a microarchitecture as a name only where its vendor is "generic".
_NAMED = {
    "neoverse_v1": ("ARM", ["neoverse_n1"]),
    "neoverse_v2": ("ARM", ["neoverse_n1", "armv9.0a"]),
    "m1": ("Apple", ["armv8.4a"]),
    "zen4": ("AuthenticAMD", ["zen3", "x86_64_v4"]),
}
_FEATURES = [f"feature{number}" for number in range(60)]

Node = dict[str, Any]
Edge = tuple[str, str, Mapping[str, Any]]


def build_index(path: Path, specs: int) -> Path:
    """Write a database of version 8 with this many records; the same number gives the same bytes.

    The records are copies of solved specs with hashes of their own, and with what is below their
    dependencies as further dependencies, up to some 20. What they were built with and is in no
    build cache stands among them with `in_buildcache` false.
    """
    rng = random.Random(specs)
    with gzip.open(SEED, "rt", encoding="utf-8") as file:
        installs = json.load(file)["database"]["installs"]
    seeds: dict[str, Node] = {hash_: record["spec"] for hash_, record in installs.items()}
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as out:
        out.write('{"database":{"version":"8","installs":{')
        for number, (hash_, record) in enumerate(_records(seeds, specs, rng)):
            out.write("," * (number > 0))
            out.write(f'"{hash_}":{json.dumps(record, separators=(",", ":"))}')
        out.write("}}}")
    return path


def _records(
    seeds: Mapping[str, Node], count: int, rng: random.Random
) -> Iterator[tuple[str, Node]]:
    """Yield hashes and records: first the shared dependencies, then copies of the seeds."""
    seeds = {hash_: seeds[hash_] for hash_ in _children_first(seeds)}
    edges = _more_edges(seeds, rng)
    outside = {
        h: (name, seeds[p])
        for p, children in edges.items()
        for name, h, _ in children
        if h not in seeds
    }
    for hash_, (name, parent) in list(outside.items())[:count]:
        yield hash_, _external(name, hash_, parent)
        count -= 1
    while count > 0:
        hashes = {hash_: "".join(rng.choices(_ALPHABET, k=32)) for hash_ in seeds}
        for old, seed in list(seeds.items())[:count]:
            node = _whole(seed, hashes[old], rng)
            node["dependencies"] = [
                {"name": name, "hash": hashes.get(hash_, hash_), "parameters": parameters}
                for name, hash_, parameters in edges[old]
            ]
            yield hashes[old], {"spec": node, "ref_count": len(old) % 7, "in_buildcache": True}
        count -= len(seeds)


def _children_first(seeds: Mapping[str, Node]) -> Sequence[str]:
    """Order hashes so that no dependency is missing in an incomplete copy."""
    below = {
        hash_: [edge["hash"] for edge in seed.get("dependencies", ()) if edge["hash"] in seeds]
        for hash_, seed in seeds.items()
    }
    return list(TopologicalSorter(below).static_order())


def _more_edges(seeds: Mapping[str, Node], rng: random.Random) -> dict[str, Sequence[Edge]]:
    """Add edges to indirect dependencies, which creates no cycles."""
    direct_edges = {
        hash_: [(e["name"], e["hash"], e["parameters"]) for e in seed.get("dependencies", ())]
        for hash_, seed in seeds.items()
    }
    link = {"deptypes": ["build", "link"], "virtuals": []}
    edges: dict[str, Sequence[Edge]] = {}
    for hash_, direct in direct_edges.items():
        name_by_hash = {child: name for name, child, _ in direct}
        waiting = list(name_by_hash)
        more: list[Edge] = []
        while waiting:
            for name, child, _ in direct_edges.get(waiting.pop(), ()):
                if child not in name_by_hash:
                    name_by_hash[child] = name
                    waiting.append(child)
                    more.append((name, child, link))
        # Half of the specs have little below them, so that the others have to have more.
        count = max(0, rng.randint(EDGES, 2 * EDGES) - len(direct))
        edges[hash_] = [*direct, *rng.sample(more, min(count, len(more)))]
    return edges


def _whole(seed: Node, hash_: str, rng: random.Random) -> Node:
    """Return a node with all fields that Spack writes, and more variants than the seed has."""
    parameters = dict(seed["parameters"])
    parameters |= {name: (name != "bench_api" and rng.random() < 0.02) for name in _VARIANTS}
    parameters = dict(sorted(parameters.items())) | {flag: [] for flag in _FLAGS}
    arch = dict(seed["arch"])
    if arch["target"] in _NAMED:
        vendor, parents = _NAMED[arch["target"]]
        arch["target"] = {
            "name": arch["target"],
            "vendor": vendor,
            "features": _FEATURES,
            "generation": 0,
            "parents": parents,
            "cpupart": "0x0",
        }
    return {
        "name": seed["name"],
        "version": seed["version"],
        "arch": arch,
        "namespace": "builtin",
        "parameters": parameters,
        "package_hash": f"{''.join(rng.choices(_ALPHABET, k=52))}====",
        "dependencies": [],
        "annotations": {"original_specfile_version": 5},
        "hash": hash_,
    }


def _external(name: str, hash_: str, parent: Node) -> Node:
    node = {
        "name": name,
        "version": "12.3.0",
        "arch": parent["arch"],
        "namespace": "builtin",
        "parameters": {"build_system": "generic"} | {flag: [] for flag in _FLAGS},
        "external": {"path": "/usr", "module": None, "extra_attributes": {}},
        "annotations": {"original_specfile_version": 5},
        "hash": hash_,
    }
    return {"spec": node, "ref_count": 1, "in_buildcache": False}
