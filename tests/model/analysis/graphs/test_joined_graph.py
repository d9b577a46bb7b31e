"""Two graphs joined into one answer as the graph of both documents would."""

from __future__ import annotations

import lzma
from pathlib import Path

import pytest

from spackscope.model.analysis.dag import Dag, dag_of
from spackscope.model.catalog.catalog import Catalog
from tests.builders import SPACK_DATA, catalog_of, database, edge, hash_of, installs, leaf, node

LINKS_ABSENT = [edge("zlib", hash_of(9), ["link"])]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    """Index a lock file of 134 specs, all of which are in the index spack1."""
    path = tmp_path_factory.mktemp("made") / "spack.lock"
    path.write_bytes(lzma.decompress((SPACK_DATA / "analysis" / "made.lock.xz").read_bytes()))
    return catalog_of(path)


def joined(path: Path, *documents: bytes) -> tuple[Dag, dict[str, int]]:
    """Join the graphs of two documents; return also the identity of each hash."""
    catalogs = []
    for number, data in enumerate(documents):
        (path / f"{number}.json").write_bytes(data)
        catalogs.append(catalog_of(path / f"{number}.json"))
    graph = Dag(*catalogs)
    dags = map(dag_of, catalogs)
    first, second = (sorted(each.reached(range(each.count))) for each in dags)
    ids = [*first, *map(graph.second_id, second)]
    return graph, dict(zip(graph.hashes(ids), map(graph.identity, ids), strict=True))


def test_a_spec_of_both_graphs_is_one(made: Catalog, whole_catalogs: dict[str, Catalog]) -> None:
    graph = Dag(whole_catalogs["spack1"], made)
    ids = [graph.second_id(id_) for id_ in range(dag_of(made).count)]

    same = [graph.identity(id_) for id_ in ids]
    assert max(same) < graph.count
    assert graph.hashes(ids) == graph.hashes(same)
    for id_, other in zip(ids, same, strict=True):
        assert graph.name(id_) == graph.name(other)
        # A lock file has the externals of another machine: their paths differ.
        if not graph.attributes(id_).external:
            assert graph.configuration(id_) == graph.configuration(other), graph.name(id_)
        edges = [(graph.identity(e.child), e.deptypes, e.virtuals) for e in graph.edges(id_)]
        others = [(graph.identity(e.child), e.deptypes, e.virtuals) for e in graph.edges(other)]
        assert edges == others


def test_specs_of_either_graph_keep_their_own_identity(tmp_path: Path) -> None:
    graph, found = joined(
        tmp_path,
        database(installs(leaf(hash_of(1), "zlib", "1"), leaf(hash_of(2), "zlib", "2"))),
        database(installs(leaf(hash_of(2), "zlib", "2"), leaf(hash_of(3), "zlib", "1"))),
    )

    assert {hash_: id_ >= graph.second_id(0) for hash_, id_ in found.items()} == {
        hash_of(1): False,
        hash_of(2): False,
        hash_of(3): True,
    }
    one, two, three = (found[hash_of(number)] for number in (1, 2, 3))
    assert graph.configuration(one) == graph.configuration(three) != graph.configuration(two)
    assert graph.hashes([three, one, three]) == [hash_of(3), hash_of(1), hash_of(3)]


def test_an_absent_dependency_is_what_the_other_graph_describes(tmp_path: Path) -> None:
    needs = database(installs(node(hash_of(1), name="hdf5", dependencies=LINKS_ABSENT)))
    has = database(installs(leaf(hash_of(9), "zlib", "1.3")))
    also_needs = database(installs(node(hash_of(2), name="vtk", dependencies=LINKS_ABSENT)))

    for name, first, second in (
        ("below", needs, has),
        ("above", has, needs),
        ("neither", needs, also_needs),
    ):
        (tmp_path / name).mkdir()
        graph, found = joined(tmp_path / name, first, second)
        (edge_,) = graph.edges(found[hash_of(1)])
        assert not graph.is_described(edge_.child)
        assert graph.identity(edge_.child) == graph.identity(found[hash_of(9)])
        assert graph.is_described(graph.identity(edge_.child)) is (name != "neither")
        assert graph.configuration(edge_.child) < 0 or name != "neither"


def test_a_graph_can_be_joined_with_itself(made: Catalog) -> None:
    graph = Dag(made, made)

    for id_ in range(dag_of(made).count):
        second = graph.second_id(id_)
        assert graph.identity(second) == graph.identity(id_) == id_
        assert graph.configuration(second) == graph.configuration(id_)
        assert all(edge_.child >= graph.second_id(0) for edge_ in graph.edges(second))
