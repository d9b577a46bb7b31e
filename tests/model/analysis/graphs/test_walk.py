"""Specs by the names of the packages that lead to them."""

from __future__ import annotations

from pathlib import Path

import pytest

from spackscope.model.analysis import dag as walk
from spackscope.model.analysis.dag import Dag, Walker, dag_of, spec_at
from tests.builders import Node, catalog_of, database, edge, hash_of, installs, node

ROOT, MPI, CMAKE, ZLIB, BUILD_ZLIB, GMAKE = map(hash_of, range(6))


def spec(hash_: str, name: str, *dependencies: Node, version: str = "1") -> Node:
    return node(hash_, name=name, version=version, dependencies=[*dependencies])


@pytest.fixture
def graph(tmp_path: Path) -> Dag:
    """Return a graph in which two zlibs are used: one by mpich, one by cmake."""
    records = installs(
        spec(ROOT, "hdf5", edge("cmake", CMAKE, ["build"]), edge("mpich", MPI, ["link"])),
        spec(CMAKE, "cmake", edge("zlib", BUILD_ZLIB, ["link"]), edge("gmake", GMAKE, ["build"])),
        spec(MPI, "mpich", edge("zlib", ZLIB, ["link"]), edge("gmake", GMAKE, ["build"])),
        spec(ZLIB, "zlib", version="1.3"),
        spec(BUILD_ZLIB, "zlib", version="1.2"),
        spec(GMAKE, "gmake"),
    )
    path = tmp_path / "index.json"
    path.write_bytes(database(records))
    return dag_of(catalog_of(path))


def id_of(graph: Dag, hash_: str) -> int:
    return graph.find([hash_])[hash_]


def test_a_path_of_names_leads_to_a_spec(graph: Dag) -> None:
    root = id_of(graph, ROOT)
    assert spec_at(graph, root, ()) == root
    assert spec_at(graph, root, ("mpich", "zlib")) == id_of(graph, ZLIB)
    assert spec_at(graph, root, ("cmake", "zlib")) == id_of(graph, BUILD_ZLIB)
    assert spec_at(graph, root, ("mpich", "cmake")) is None


@pytest.mark.parametrize(("limit", "value"), [("MAX_DEPTH", 1), ("MAX_SPECS", 3)])
def test_a_walk_is_bounded_and_says_what_it_leaves_out(
    limit: str, value: int, graph: Dag, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Walker(graph).walk([id_of(graph, ROOT)], run_only=False)
    assert not whole.unknown
    monkeypatch.setattr(walk, limit, value)
    cut = Walker(graph).walk([id_of(graph, ROOT)], run_only=False)
    assert "hdf5" in cut.nodes
    assert cut.unknown <= {id_of(graph, CMAKE), id_of(graph, MPI)}
    assert cut.unknown
