"""Read what Spack answers on its two large indexes, and build small graphs."""

from __future__ import annotations

import json
import lzma
import os
from functools import lru_cache
from pathlib import Path
from typing import Any

from spackscope.model.analysis.dag import Dag, dag_of
from tests.builders import SPACK_DATA, Node, catalog_of, write_index


@lru_cache
def spack_answers(name: str) -> list[dict[str, Any]]:
    """Return every second answer in a file of `tests/data/spack/analysis`, such as `diff_pairs`.

    `make search` compares all of them.
    """
    data = (SPACK_DATA / "analysis" / f"{name}.json.xz").read_bytes()
    answers: list[dict[str, Any]] = json.loads(lzma.decompress(data))
    return answers if os.environ.get("SPACKSCOPE_HYPOTHESIS") == "searching" else answers[::2]


def graph_of(directory: Path, *nodes: Node) -> Dag:
    """Index nodes, or what a directory has, as a graph."""
    if nodes:
        directory /= "index.json"
        write_index(directory, *nodes)
    return dag_of(catalog_of(directory, dependency_only=True))


def ids_by_short_hash(graph: Dag) -> dict[str, int]:
    """Return all ids by the first seven characters of their hashes."""
    ids = range(graph.count)
    return {hash_[:7]: id_ for id_, hash_ in zip(ids, graph.hashes(ids), strict=True)}
