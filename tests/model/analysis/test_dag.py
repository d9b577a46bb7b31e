"""The attributes and closures of specs are those that Spack wrote."""

import json
from pathlib import Path
from typing import Any

import pytest

from spackscope.model.analysis.dag import Dag, Walker, count_dependents, dag_of, spec_at, texts
from spackscope.model.core.columns import FLAGS
from spackscope.model.index.catalog import Catalog
from tests.builders.catalogs import catalog_of
from tests.builders.nodes import Node, edge, leaf, node
from tests.builders.pages import hash_of, record, write_page
from tests.builders.spack import whole_index, write_index
from tests.examples import some_and_all
from tests.model.analysis.cases import graph_of, ids_of

LINKS_ABSENT = [edge("zlib", hash_of(9), ["link"])]


def own(node: dict[str, Any]) -> dict[str, Any]:
    """Return the own attributes of a node of the formats 4 and 5."""
    parameters = dict(node["parameters"])
    flags = {name: parameters.pop(name) for name in FLAGS}
    parameters.pop("patches", None)
    target, external = node["arch"]["target"], node.get("external") or {}
    compiler, modules = node.get("compiler"), external.get("module") or []
    more = external.get("extra_attributes")
    attributes = {
        "package": node["name"],
        "version": node["version"],
        "namespace": node["namespace"],
        "patches": tuple(node.get("patches", ())),
        "package_hash": node["package_hash"],
        "platform": node["arch"]["platform"],
        "os": node["arch"]["platform_os"],
        "target": target["name"] if isinstance(target, dict) else target,
        "compiler": f"{compiler['name']}@{compiler['version']}" if compiler else "",
        "external": external.get("path") or "",
        "external_module": tuple(modules),
        "external_extra": json.dumps(more, sort_keys=True) if more else "",
        "spec_format": str(node.get("annotations", {}).get("original_specfile_version", 4)),
        **{name: tuple(words) for name, words in flags.items()},
        **{f"variant:{name}": value for name, value in parameters.items()},
    }
    return {name: value for name, value in attributes.items() if value not in ("", ())}


@pytest.mark.parametrize("name", ["spack0", "spack1"])
@some_and_all(9)
def test_attributes_configurations_and_closures_are_those_of_the_nodes(
    name: str, whole_catalogs: dict[str, Catalog], step: int
) -> None:
    graph = dag_of(whole_catalogs[name])
    records = json.loads(whole_index(name))["database"]["installs"]
    nodes = {hash_: record["spec"] for hash_, record in records.items()}
    numbers: dict[int, str] = {}
    texts_: dict[str, int] = {}

    for id_, hash_ in list(enumerate(graph.hashes(range(graph.count))))[::step]:
        expected, attributes = own(nodes[hash_]), dict(graph.attributes(id_))
        for name in [name for name, value in expected.items() if isinstance(value, list)]:
            expected[name] = tuple(sorted(expected[name]))
            attributes[name] = tuple(sorted(texts(attributes[name])))
        if "external_extra" in attributes:
            more = json.loads(str(attributes["external_extra"]))
            attributes["external_extra"] = json.dumps(more, sort_keys=True)
        assert attributes == expected, hash_
        number, text = graph.configuration(id_), json.dumps(expected, sort_keys=True)
        assert numbers.setdefault(number, text) == text
        assert texts_.setdefault(text, number) == number

    def reach(hash_: str, deptypes: set[str]) -> set[str]:
        reached, waiting = set(), [hash_]
        while waiting:
            if (hash_ := waiting.pop()) not in reached:
                reached.add(hash_)
                edges = nodes[hash_].get("dependencies", [])
                waiting += [
                    e["hash"] for e in edges if deptypes & set(e["parameters"]["deptypes"])
                ]
        return reached

    for id_ in range(0, graph.count, 97 * step):
        for run_only, deptypes in ((True, {"link", "run"}), (False, {"build", "link", "test"})):
            reached = graph.hashes(graph.reached([id_], run_only=run_only))
            assert set(reached) == reach(graph.hash(id_), {"run", *deptypes})


def test_an_absent_dependency_has_a_name_and_nothing_else(tmp_path: Path) -> None:
    nodes = [node(hash_of(n), name="hdf5", dependencies=LINKS_ABSENT) for n in (1, 2)]
    paths = [write_index(tmp_path / f"{n}.json", each) for n, each in enumerate(nodes)]
    graph = dag_of(catalog_of(*paths))
    children = [graph.links(id_)[0][0] for id_ in range(2)]

    assert [graph.is_described(child) for child in children] == [False, False]
    assert graph.identity(children[0]) == graph.identity(children[1])
    assert graph.hashes(children) == [hash_of(9)] * 2
    assert graph.attributes(children[0]) == {"package": "zlib"}
    assert graph.configuration(children[0]) == graph.configuration(children[1]) < 0
    assert graph.reached([0], run_only=True) == {0, children[0]}
    assert [graph.dependents(child) for child in children] == [{0, 1}] * 2


def test_the_same_hash_in_two_tags_is_the_same_spec(tmp_path: Path) -> None:
    write_page(tmp_path / "one", [record(1), record(2)])
    write_page(tmp_path / "two", [record(1)], tag="other")
    graph = dag_of(catalog_of(tmp_path / "one", tmp_path / "two"))

    assert [graph.identity(id_) for id_ in range(3)] == [0, 1, 0]
    assert [graph.records(id_) for id_ in range(3)] == [[0, 2], [1], [0, 2]]
    assert not graph.lists_dependencies(0)


def test_a_variant_that_spack_printed_otherwise_is_the_same(tmp_path: Path) -> None:
    variants = [["cuda_arch:=80,90", "+mpi"], ["+mpi", "cuda_arch=90,80"]]
    write_page(tmp_path, [record(n, variants=each) for n, each in enumerate(variants)])

    graph = dag_of(catalog_of(tmp_path))

    assert graph.configuration(0) == graph.configuration(1)
    assert graph.attributes(0) == graph.attributes(1)


def joined(path: Path, *sides: list[Node]) -> tuple[Dag, dict[str, int]]:
    """Join the graphs of two documents; return also the identity of each hash."""
    catalogs = [
        catalog_of(write_index(path / f"{number}.json", *nodes))
        for number, nodes in enumerate(sides)
    ]
    graph = Dag(*catalogs)
    dags = map(dag_of, catalogs)
    first, second = (sorted(each.reached(range(each.count))) for each in dags)
    ids = [*first, *map(graph.second_id, second)]
    return graph, dict(zip(graph.hashes(ids), map(graph.identity, ids), strict=True))


def test_a_spec_of_both_graphs_is_one(
    made_catalog: Catalog, whole_catalogs: dict[str, Catalog]
) -> None:
    graph = Dag(whole_catalogs["spack1"], made_catalog)
    twice, count = Dag(made_catalog, made_catalog), dag_of(made_catalog).count
    assert [twice.identity(graph.second_id(id_)) for id_ in range(count)] == list(range(count))
    ids = list(map(graph.second_id, range(count)))

    same = [graph.identity(id_) for id_ in ids]
    assert max(same) < graph.count
    assert graph.hashes(ids) == graph.hashes(same)
    for id_, other in zip(ids, same, strict=True):
        assert graph.name(id_) == graph.name(other)
        # A lock file has the externals of another machine: their paths differ.
        if not graph.external(id_):
            assert graph.configuration(id_) == graph.configuration(other), graph.name(id_)
        edges = [(graph.identity(child), kind) for child, kind in graph.links(id_)]
        others = [(graph.identity(child), kind) for child, kind in graph.links(other)]
        assert edges == others


def test_specs_of_either_graph_keep_their_own_identity(tmp_path: Path) -> None:
    first, second, third = (leaf(hash_of(n), "zlib", v) for n, v in ((1, "1"), (2, "2"), (3, "1")))
    graph, found = joined(tmp_path, [first, second], [second, third])
    one, two, three = (found[hash_of(number)] for number in (1, 2, 3))
    assert max(one, two) < graph.second_id(0) <= three
    assert graph.configuration(one) == graph.configuration(three) != graph.configuration(two)
    assert graph.hashes([three, one, three]) == [hash_of(3), hash_of(1), hash_of(3)]


def test_an_absent_dependency_is_what_the_other_graph_describes(tmp_path: Path) -> None:
    needs = [node(hash_of(1), name="hdf5", dependencies=LINKS_ABSENT)]
    has = [leaf(hash_of(9), "zlib", "1.3")]
    also_needs = [node(hash_of(2), name="vtk", dependencies=LINKS_ABSENT)]

    for first, second in ((needs, has), (has, needs), (needs, also_needs)):
        is_known = has in (first, second)
        graph, found = joined(tmp_path, first, second)
        ((child, _),) = graph.links(found[hash_of(1)])
        assert not graph.is_described(child)
        assert graph.identity(child) == graph.identity(found[hash_of(9)])
        assert graph.is_described(graph.identity(child)) is is_known
        assert graph.configuration(child) < 0 or is_known


ROOT, MPI, CMAKE, ZLIB, BUILD_ZLIB, GMAKE = map(hash_of, range(6))


def spec(hash_: str, name: str, *dependencies: Node, version: str = "1") -> Node:
    return node(hash_, name=name, version=version, dependencies=[*dependencies])


@pytest.fixture
def graph(tmp_path: Path) -> Dag:
    """Return a graph in which two zlibs are used: one by mpich, one by cmake."""
    return graph_of(
        tmp_path,
        spec(ROOT, "hdf5", edge("cmake", CMAKE, ["build"]), edge("mpich", MPI, ["link"])),
        spec(CMAKE, "cmake", edge("zlib", BUILD_ZLIB, ["link"]), edge("gmake", GMAKE, ["build"])),
        spec(MPI, "mpich", edge("zlib", ZLIB, ["link"]), edge("gmake", GMAKE, ["build"])),
        spec(ZLIB, "zlib", version="1.3"),
        spec(BUILD_ZLIB, "zlib", version="1.2"),
        spec(GMAKE, "gmake"),
    )


def test_a_path_of_names_leads_to_a_spec(graph: Dag) -> None:
    root, zlib, build_zlib = ids_of(graph, ROOT, ZLIB, BUILD_ZLIB)
    paths = (), ("mpich", "zlib"), ("cmake", "zlib"), ("mpich", "cmake")
    assert [spec_at(graph, root, path) for path in paths] == [root, zlib, build_zlib, None]


@pytest.mark.parametrize(("limit", "value"), [("MAX_DEPTH", 1), ("MAX_WALKED", 3)])
def test_a_walk_is_bounded_and_says_what_it_leaves_out(
    limit: str, value: int, graph: Dag, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, *below = ids_of(graph, ROOT, CMAKE, MPI)
    assert not Walker(graph).walk(root, run_only=False).unknown
    monkeypatch.setattr(f"spackscope.model.analysis.dag.{limit}", value)
    cut = Walker(graph).walk(root, run_only=False)
    assert "hdf5" in cut.nodes
    assert cut.unknown <= {*below}
    assert cut.unknown


def test_dependents_are_counted_for_more_nodes_than_a_mask_has_bits() -> None:
    """Leaves below one node in the middle, which many tops have; and nodes on their own."""
    leaves, middle = range(3_000), 3_000
    tops, alone = range(3_001, 5_001), range(5_001, 9_001)
    below = {middle: [*leaves], **{top: [middle] for top in tops}}
    counts = count_dependents(
        [*leaves, *alone], {*tops, *leaves, *alone}, lambda n: below.get(n, [])
    )
    assert set(map(counts.get, leaves)) == {len(tops) + 1}
    assert set(map(counts.get, alone)) == {1}
