"""Causes of differences are those that Spack's own hashes prove."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from spackscope.model.analysis.compare import (
    Cause,
    Comparison,
    Difference,
    Pairs,
    fold_differences,
)
from spackscope.model.analysis.dag import AttributeValue, Dag, dag_of
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.edges import EdgeKind
from spackscope.model.report.differences import difference_lines
from tests.builders.catalogs import catalog_of
from tests.builders.nodes import GCC, GLIBC, edge, in_format_6, leaf, node
from tests.builders.pages import hash_of, record, write_page
from tests.builders.spack import database, installs, write_index
from tests.examples import some_and_all
from tests.model.analysis.cases import graph_of, ids_in, ids_of, spack_answers
from tests.model.analysis.lock_files import made, write_lock


def plain(attribute: str, value: Any) -> Any:
    """Return a value, ours or Spack's, with digests cut and one text as a list of one."""
    if attribute == "external_extra" and value is not None:
        return json.loads(value)
    values = [value] if isinstance(value, str) else value
    if attribute in ("package_hash", "patches") and values is not None:
        return [digest[:7] for digest in values]
    return list(values) if isinstance(values, tuple) else values


def difference_in_json(item: Difference) -> dict[str, Any]:
    return {
        "attr": item.attribute,
        "a": plain(item.attribute, item.a),
        "b": plain(item.attribute, item.b),
        "dep": item.dependency,
        "virtuals": list(item.virtuals) if item.attribute == "provider" else [],
        "types": list(item.deptypes),
        "follows": item.follows,
    }


UNSAID = {"dep": "", "virtuals": [], "types": [], "follows": ""}


def expected_difference(answer: dict[str, Any]) -> dict[str, Any]:
    values = {side: plain(answer["attr"], answer[side]) for side in "ab"}
    said = {key: answer.get(key, unsaid) for key, unsaid in UNSAID.items()}
    return {"attr": answer["attr"], **values, **said}


def cause_in_json(graph: Dag, cause: Cause) -> dict[str, Any]:
    a, b = (hash_[:7] for hash_ in graph.hashes([cause.a, cause.b]))
    return {
        "name": cause.package,
        "path": list(cause.path),
        "a": a,
        "b": b,
        "run": cause.run,
        "above": cause.above,
        "follows": cause.follows,
        "diff": [difference_in_json(item) for item in cause.differences],
    }


@some_and_all(8)
def test_the_causes_are_those_of_spack(whole_catalogs: dict[str, Catalog], step: int) -> None:
    for answer in spack_answers("diff_pairs")[::step]:
        catalog = whole_catalogs[answer["index"]]
        graph, ids = dag_of(catalog), ids_in(catalog)
        a, b = (ids[answer[side][:7]] for side in "ab")
        comparison = Pairs(graph).compare(a, b)
        expected = [
            {"follows": "", **cause, "diff": [expected_difference(i) for i in cause["diff"]]}
            for cause in answer["causes"]
        ]
        for cause in expected:
            del cause["deepest"]
        causes = [cause_in_json(graph, cause) for cause in comparison.causes]
        assert causes == expected, answer["id"]
        assert comparison.pairs == answer["pairs"], answer["id"]
        assert not comparison.unexplained
        assert comparison.lists_dependencies
        folded = [len(causes) for _, causes in fold_differences(comparison.causes)]
        assert folded == [line["nodes"] for line in answer["short"]], answer["id"]
        # What is linked or run differs, unless the kind is the same.
        lines = difference_lines(comparison)
        assert any(line.runs for line in lines) is not answer["run_equal"], answer["id"]
        back = Pairs(graph).compare(b, a)
        assert comparison.pairs == back.pairs
        assert [(cause.a, cause.b, cause.path) for cause in comparison.causes] == [
            (cause.b, cause.a, cause.path) for cause in back.causes
        ]


def test_a_hostile_node_is_compared_in_time(tmp_path: Path) -> None:
    """Many edges to one name, of which all give the same virtual."""
    edges = {
        number: [edge(name, hash_of(n), ["link"], ["mpi"]) for n in range(number, number + 1500)]
        for number, name in ((1000, "mpich"), (10000, "openmpi"))
    }
    comparison = compared(tmp_path, {"dependencies": edges[1000]}, {"dependencies": edges[10000]})

    assert len(comparison.causes[0].differences) < 6000


A, B = hash_of(11), hash_of(12)


def compared(directory: Path, a: dict[str, Any], b: dict[str, Any], *others: Any) -> Comparison:
    """Compare two nodes with some fields of their own."""
    fields = {"name": "hdf5", "dependencies": []}
    graph = graph_of(directory, node(A, **fields | a), node(B, **fields | b), *others)
    return Pairs(graph).compare(*ids_of(graph, A, B))


def own(comparison: Comparison) -> list[tuple[str, AttributeValue, AttributeValue, str]]:
    """Return the differences of the two specs themselves."""
    (cause,) = comparison.causes
    assert cause.path == ()
    return [(item.attribute, item.a, item.b, item.follows) for item in cause.differences]


FLAGS = {"build_system": "generic", "cflags": ["-O2", "-g"]}
PATCHES = ["a" * 64, "b" * 64]


@pytest.mark.parametrize(
    ("a", "b", "differences"),
    [
        # A list of one value stays a list.
        *(
            (
                {"parameters": {"x": a}},
                {"parameters": {"x": ["80", "90"]}},
                [("variant:x", its, ("80", "90"), "")],
            )
            for a, its in ((["80"], ("80",)), ("80", "80"))
        ),
        # Flags and patches differ in their order.
        (
            {"parameters": FLAGS, "patches": PATCHES},
            {
                "parameters": FLAGS | {"cflags": ["-g", "-O2"]},
                "patches": PATCHES[::-1],
                "package_hash": "other",
            },
            [
                ("cflags", ("-O2", "-g"), ("-g", "-O2"), ""),
                ("package_hash", "abc====", "other", "patches"),
                ("patches", tuple(PATCHES), tuple(PATCHES[::-1]), ""),
            ],
        ),
        (
            {"external": {"path": "/usr", "module": None, "extra_attributes": {}}},
            {"external": {"path": "/opt", "module": ["a", "b"], "extra_attributes": {"x": "y"}}},
            [
                ("external", "/usr", "/opt", ""),
                ("external_extra", None, '{"x": "y"}', ""),
                ("external_module", None, ("a", "b"), ""),
            ],
        ),
        (
            {"external": {"path": None, "module": ["a"]}},
            {"external": {"path": None, "module": ["b"]}},
            [("external_module", ("a",), ("b",), "")],
        ),
        ({}, {"name": "zlib"}, [("package", "hdf5", "zlib", "")]),
    ],
)
def test_own_attributes_differ(
    tmp_path: Path, a: dict[str, Any], b: dict[str, Any], differences: list[object]
) -> None:
    assert own(compared(tmp_path, a, b)) == differences


def test_what_is_provided_differs_only_where_both_tell(tmp_path: Path) -> None:
    three, four, none, old = (leaf(hash_of(n), "mpich", "4.1") for n in range(4))
    new = in_format_6(three, "mpi@:3"), in_format_6(four, "mpi@:4"), in_format_6(none)
    (tmp_path / "new.json").write_bytes(database(installs(*new), "9"))
    graph = dag_of(catalog_of(tmp_path / "new.json", write_index(tmp_path / "old.json", old)))
    for other, difference in (
        (four, ("provided_virtuals", ("mpi@:3",), ("mpi@:4",), "")),
        (none, ("provided_virtuals", ("mpi@:3",), ("none",), "")),
        (old, ("spec_format", "6", "5", "")),
    ):
        assert own(Pairs(graph).compare(*ids_of(graph, three["hash"], other["hash"]))) == [
            difference
        ]


def test_gcc_and_llvm_are_providers_and_the_runtime_follows(tmp_path: Path) -> None:
    languages = ["c", "cxx"]
    names = {GCC: "gcc", hash_of(7): "gcc-runtime", hash_of(8): "zlib", hash_of(9): "llvm"}
    gcc, llvm = (edge(names[h], h, ["build"], languages) for h in (GCC, hash_of(9)))
    runtime, zlib = (edge(names[h], h, ["link"]) for h in (hash_of(7), hash_of(8)))
    sides = {"dependencies": [gcc, runtime, zlib]}, {"dependencies": [llvm, zlib]}
    comparison = compared(tmp_path, *sides, *(leaf(h, name, "1") for h, name in names.items()))

    assert own(comparison) == [
        ("provider", "gcc@1", "llvm@1", ""),
        ("dependency", "gcc-runtime@1", None, "provider"),
    ]
    assert comparison.causes[0].differences[0].virtuals == ("c", "cxx")


def test_compilers_are_dependencies_in_the_new_format_only(tmp_path: Path) -> None:
    gcc = {"name": "gcc", "version": "14.2.0"}
    comparison = compared(
        tmp_path,
        {"annotations": {"original_specfile_version": 4, "compiler": gcc}},
        {"dependencies": [edge("gcc", GCC, ["build"], ["c"]), edge("glibc", GLIBC, ["link"])]},
        leaf(GCC, "gcc", "14.2.0"),
    )

    assert {
        ("compiler", "gcc@14.2.0", None, "spec_format"),
        ("dependency", None, "gcc@14.2.0", "spec_format"),
        ("dependency", None, "glibc", "spec_format"),
    } <= {*own(comparison)}


def test_what_runs_has_a_path_over_what_runs(tmp_path: Path) -> None:
    sides, others = list[dict[str, Any]](), list[dict[str, Any]]()
    for mpich, cmake, zlib in ((31, 41, 21), (32, 42, 22)):
        to_zlib = [edge("zlib", hash_of(zlib), ["link"])]
        others.append(leaf(hash_of(zlib), "zlib", str(zlib)))
        others.append(node(hash_of(mpich), name="mpich", dependencies=to_zlib))
        others.append(node(hash_of(cmake), name="cmake", dependencies=to_zlib))
        to_mpich = edge("mpich", hash_of(mpich), ["link"])
        sides.append({"dependencies": [to_mpich, edge("cmake", hash_of(cmake), ["build"])]})
    comparison = compared(tmp_path, *sides, *others)

    (cause,) = comparison.causes
    assert (cause.path, cause.run_path) == (("cmake", "zlib"), ("mpich", "zlib"))


def test_edges_to_one_name_are_told_apart_by_what_runs(tmp_path: Path) -> None:
    def to(*ends: tuple[int, str]) -> dict[str, Any]:
        return {"dependencies": [edge("python", hash_of(n), [kind]) for n, kind in ends]}

    pythons = [leaf(hash_of(number), "python", f"3.{number}") for number in (3, 4, 5, 6)]
    sides = to((3, "build"), (4, "run")), to((6, "run"), (5, "build"))
    comparison = compared(tmp_path, *sides, *pythons)

    assert [(cause.path, cause.run, cause.differences) for cause in comparison.causes] == [
        (("python",), True, (Difference("version", "3.4", "3.6", package="python"),)),
        (("python",), False, (Difference("version", "3.3", "3.5", package="python"),)),
    ]


def test_what_no_document_describes_and_nothing_compares_is_not_told(tmp_path: Path) -> None:
    a, b = ({"dependencies": [edge("zlib", hash_of(n), ["link"])]} for n in (8, 9))
    comparison = compared(tmp_path, a, b)
    assert (comparison.causes, comparison.unexplained, comparison.pairs) == ((), ("zlib",), 2)
    spliced = compared(tmp_path, {}, {"build_spec": {"name": "hdf5", "hash": hash_of(9)}})
    assert (spliced.causes, spliced.unexplained) == ((), ("hdf5",))


def test_pages_tell_their_own_attributes_only(tmp_path: Path) -> None:
    write_page(tmp_path / "page", [record(11, versions=["1.2"])], title="zlib")
    write_index(tmp_path, node(B))
    graph = dag_of(catalog_of(tmp_path / "page", tmp_path / "index.json"))
    comparison = Pairs(graph).compare(*ids_of(graph, A, B))

    assert not comparison.lists_dependencies
    attributes = {item.attribute for item in comparison.causes[0].differences}
    assert "version" in attributes
    untold = {"package_hash", "compiler", "namespace", "spec_format", "dependency"}
    assert attributes.isdisjoint(untold)


@pytest.mark.parametrize(
    ("limit", "value", "pairs"), [("MAX_PAIRS", 2, 2), ("MAX_LINKS", 5, 6), ("MAX_DEPTH", 1, 6)]
)
def test_a_comparison_is_bounded_and_says_so(
    limit: str, value: int, pairs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"spackscope.model.analysis.compare.{limit}", value)
    edges = {n: [edge(f"zlib{i}", hash_of(n + i), ["link"]) for i in range(5)] for n in (20, 30)}
    below = [
        node(hash_of(n), name="zlib0", dependencies=[edge("gmake", hash_of(n + 5), ["link"])])
        for n in (20, 30)
    ]
    fields = ({"dependencies": edges[20]}, {"dependencies": edges[30]})
    comparison = compared(tmp_path, *fields, *below)

    assert (comparison.pairs, comparison.is_cut) == (pairs, True)


def test_what_is_beyond_the_limit_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hubs = [
        made("hub", links=[made(f"leaf{leaf}", str(version)) for leaf in range(50)])
        for version in (1, 2)
    ]
    catalog = catalog_of(write_lock(tmp_path / "spack.lock", *hubs))
    monkeypatch.setattr("spackscope.model.analysis.compare.MAX_PAIRS", 3)
    links, read = Dag.links, set[int]()

    def read_links(dag: Dag, id_: int) -> Sequence[tuple[int, EdgeKind]]:
        read.add(id_)
        return links(dag, id_)

    monkeypatch.setattr(Dag, "links", read_links)
    a, b = (catalog.by_hash(hub.hash)[0].id for hub in hubs)
    comparison = Pairs(dag_of(catalog)).compare(a, b)
    assert (comparison.pairs, comparison.is_cut) == (3, True)
    assert len(read) == 6


def test_the_version_of_a_compiler_counts_at_run_time() -> None:
    differences = Difference("version", "13", "14"), Difference("external", "/a", "/b")
    for compiles in (True, False):
        gcc = Cause("gcc", ("gcc",), 0, 1, False, 1, differences, compiles=compiles)
        lines = difference_lines(Comparison((gcc,)))
        assert [line.runs for line in lines] == [compiles, False]
