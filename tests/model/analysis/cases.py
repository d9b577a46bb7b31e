"""Read what Spack answers on its two large indexes, and build small graphs."""

import json
import lzma
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

from spackscope.model.analysis.dag import Dag, dag_of
from spackscope.model.analysis.nearest import NearestSearch
from spackscope.model.core.rules import FitReason
from spackscope.model.index.catalog import Catalog
from tests.builders.catalogs import catalog_of
from tests.builders.nodes import Node
from tests.builders.spack import SPACK_DATA, write_index


@lru_cache
def spack_answers(name: str) -> list[dict[str, Any]]:
    """Return the answers in a file of `tests/data/spack/analysis`, such as `diff_pairs`."""
    data = (SPACK_DATA / "analysis" / f"{name}.json.xz").read_bytes()
    answers: list[dict[str, Any]] = json.loads(lzma.decompress(data))
    return answers


def made_lock() -> bytes:
    """Return the lock file of an environment of 134 specs, all of which are in spack1."""
    return lzma.decompress((SPACK_DATA / "analysis" / "made.lock.xz").read_bytes())


@lru_cache
def ids_in(catalog: Catalog) -> dict[str, int]:
    """Return all ids of an index by the first seven characters of their hashes."""
    ids = range(catalog.edges.count)
    return {hash_[:7]: id_ for id_, hash_ in zip(ids, catalog.hashes.of(ids), strict=True)}


def ids_of(graph: Dag, *hashes: str) -> list[int]:
    """Return the ids of nodes by their hashes."""
    found = graph.find(hashes)
    return [found[hash_] for hash_ in hashes]


def named(reason: FitReason) -> str:
    """Return the rule of a reason, as `target`, or `^target` where only dependencies break it."""
    return "^" * reason.of_dependency + reason.rule.name


def graph_of(directory: Path, *nodes: Node) -> Dag:
    """Index nodes, or what a directory has, as a graph."""
    if nodes:
        directory /= "index.json"
        write_index(directory, *nodes)
    return dag_of(catalog_of(directory, dependency_only=True))


def ranked(
    graph: Dag, spec: int, candidates: Iterable[int], most: int = 99
) -> list[tuple[str, list[str]]]:
    """Return the hash of the nearest candidate and of those tied with it, and what differs.

    Each is the nearest of the rest.
    """
    rest, found = [*candidates], list[tuple[str, list[str]]]()
    for _ in range(min(most, NearestSearch(graph).nearest(spec, rest).tied)):
        best = NearestSearch(graph).nearest(spec, rest)
        assert best.id is not None
        rest = [id_ for id_ in rest if graph.identity(id_) != best.id]
        found.append((graph.hash(best.id), [each.attribute for each in best.differences]))
    return found
