"""Tests of `compare_specs`, whose rows are those by which Spack's own strings differ."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from spackscope.model.analysis.dag import Dag, Walker, dag_of
from spackscope.model.analysis.differences import Cell, Difference, compare_specs
from spackscope.model.index.catalog import Catalog
from tests.builders.catalogs import catalog_of
from tests.builders.nodes import FLAGS, GCC, GLIBC, Node, edge, in_format_6, leaf, node
from tests.builders.pages import hash_of, record, write_page
from tests.builders.spack import database, installs, write_index
from tests.examples import some_and_all
from tests.model.analysis.cases import graph_of, ids_in, ids_of, spack_answers

A, B, C, LIB, OTHER, MPICH = (hash_of(number) for number in range(11, 17))

Key = tuple[str, str]


def keys(rows: list[Difference]) -> set[Key]:
    return {(package, row.attribute) for row in rows for package in row.packages}


def expected_cell(values: list[Any] | None) -> Cell:
    """Return values of Spack's answers as a cell has them."""
    if values is None:
        return None
    lists = [["+" if v else "~"] if isinstance(v, bool) else v for v in values]
    return tuple(text for v in lists for text in (v if isinstance(v, list) else [v]))


def keys_of_lines(lines: list[str]) -> set[Key]:
    """Return the packages and attributes of short lines, without what follows from a version."""
    found = set()
    for line in lines:
        words = line.partition(" | ")[0].split(" ")
        if words[0].endswith(":"):
            found.add((words[0][:-1], "provider"))
        elif len(words) == 2:
            found.add((words[0], "version"))
        elif words[1] in ("compiler", "target", "external_module", "package_hash"):
            found.add((words[0], words[1]))
        elif words[1] != "external_extra":
            found.add((words[0], f"variant:{words[1]}"))
    return found


def wrong_rows(group: dict[str, Any], table: Sequence[Difference]) -> list[object]:
    """Return where the rows between the kinds of a group are not Spack's."""
    expected = {
        (row["name"], row["attr"]): tuple(map(expected_cell, row["values"]))
        for row in group["rows"]
    }
    rows = [r for r in table if not (r.attribute == "patches" and r.follows == "version")]
    wrong: list[object] = list(keys(rows) ^ set(expected))
    wrong += [
        (row, expected.get((row.package, row.attribute)))
        for row in rows
        if row.attribute != "compiler"
        and len(row.packages) == 1
        and row.values != expected.get((row.package, row.attribute))
    ]
    causes = [row for row in rows if not row.follows and row.attribute != "present"]
    wrong += keys(causes) ^ keys_of_lines(group["between"])
    return wrong


@some_and_all(12)
def test_rows_and_lines_of_groups_are_those_of_spack(
    whole_catalogs: dict[str, Catalog], step: int
) -> None:
    for group in spack_answers("groups")[::step]:
        catalog = whole_catalogs[group["index"]]
        graph, ids = dag_of(catalog), ids_in(catalog)
        kinds = [[ids[hash_] for hash_ in kind] for kind in group["kinds"]]
        table = compare_specs(Walker(graph), [kind[0] for kind in kinds], run_only=True)
        assert wrong_rows(group, table) == [], group["id"]
        telling = [row.values for row in table if row.tells]
        told = {tuple(values[n] for values in telling) for n in range(len(kinds))}
        assert len(told) == len(kinds), "the rows that tell tell all apart"
        # What the hashes of a kind differ in.
        if len(kinds[0]) > 1:
            rows = compare_specs(Walker(graph), kinds[0])
            causes = [r for r in rows if not r.follows and r.attribute != "present"]
            assert keys(causes) == keys_of_lines(group["within"][0]), group["id"]


def app(hash_: str, *dependencies: Node, **fields: object) -> Node:
    return node(hash_, name="app", **{"dependencies": [*dependencies], **fields})


def table_of(graph: Dag, *hashes: str, run_only: bool = False) -> Sequence[Difference]:
    return compare_specs(Walker(graph), ids_of(graph, *hashes), run_only=run_only)


def lines(table: Sequence[Difference]) -> list[tuple[object, ...]]:
    return [(row.package, row.attribute, *row.values) for row in table if not row.follows]


def test_fewest_rows_that_tell_all_apart_come_first(tmp_path: Path) -> None:
    def builds(hash_: str, number: int, **variants: bool) -> list[Node]:
        lib = hash_of(100 + number)
        parameters = {"build_system": "generic", **variants, **FLAGS}
        return [
            app(hash_, edge("lib", lib, ["link"])),
            node(lib, name="lib", version=str(number), parameters=parameters, dependencies=...),
        ]

    graph = graph_of(
        tmp_path,
        *builds(A, 1, shared=True, pic=True),
        *builds(B, 2, shared=False, pic=True),
        *builds(C, 3, shared=True, pic=False),
    )
    table = table_of(graph, A, B, C)

    assert [(row.package, row.attribute) for row in table if row.tells] == [("lib", "version")]
    assert lines(table)[1:] == [
        ("lib", "variant:pic", ("+",), ("+",), ("~",)),
        ("lib", "variant:shared", ("+",), ("~",), ("+",)),
    ]
    assert {row.path for row in table} == {("lib",)}


def test_what_is_built_with_is_apart(tmp_path: Path) -> None:
    apps = [
        app(hash_, edge("lib", lib, ["build"]), edge("gcc", gcc, ["build"], ["c"]))
        for hash_, lib, gcc in ((A, LIB, GCC), (B, OTHER, GLIBC))
    ]
    versions = (LIB, "lib", "1"), (OTHER, "lib", "2"), (GCC, "gcc", "13"), (GLIBC, "gcc", "14")
    graph = graph_of(tmp_path, *apps, *(leaf(*each) for each in versions))
    rows = {(row.package, row.attribute): row for row in table_of(graph, A, B)}

    assert rows["app", "compiler"].part == "own"
    assert rows["app", "compiler"].values == (("gcc@13",), ("gcc@14",))
    assert rows["lib", "version"].part == "build"


def test_edges_are_compared_and_hashes_of_what_no_document_describes(tmp_path: Path) -> None:
    linked, run, other = (
        app(hash_, edge("lib", lib, [kind]))
        for hash_, lib, kind in ((A, LIB, "link"), (B, LIB, "run"), (B, OTHER, "link"))
    )
    by_edges = table_of(
        graph_of(tmp_path, linked, run, leaf(LIB, "lib", "1")), A, B, run_only=True
    )
    assert lines(by_edges) == [("app", "dependencies", ("lib (link)",), ("lib (run)",))]
    by_hashes = table_of(graph_of(tmp_path, linked, other), A, B)
    assert lines(by_hashes) == [("lib", "hash", (LIB[:7],), (OTHER[:7],))]


def test_what_pages_do_not_tell_is_no_difference(tmp_path: Path) -> None:
    own = node(A, name="zlib", dependencies=[edge("lib", LIB, ["link"])])
    path = write_index(tmp_path, own, leaf(LIB, "lib", "1"))
    write_page(tmp_path, [record(1, versions=["1.2"])])
    graph = dag_of(catalog_of(path, tmp_path / "develop"))
    ids = [id_ for id_ in range(graph.count) if graph.name(id_) == "zlib"]
    table = compare_specs(Walker(graph), ids)

    assert {row.attribute for row in table} == {"version"}
    write_page(tmp_path / "alike", [record(1), record(2)])
    assert compare_specs(Walker(graph_of(tmp_path / "alike")), [0, 1]) == ()


def test_the_modules_of_an_external_follow_its_version_as_between_two(tmp_path: Path) -> None:
    def external(hash_: str, version: str) -> Node:
        stated = {"path": None, "module": [f"lib/{version}"]}
        return node(hash_, name="lib", version=version, external=stated, dependencies=...)

    graph = graph_of(tmp_path, external(A, "1"), external(B, "2"))
    table = table_of(graph, A, B)

    assert [(row.attribute, row.follows) for row in table] == [
        ("version", ""),
        ("external_module", "version"),
    ]


def test_what_is_equal_is_added_once(tmp_path: Path) -> None:
    same = edge("same", LIB, ["link"])
    apps = app(A, same, edge("lib", MPICH, ["link"])), app(B, same, edge("lib", OTHER, ["link"]))
    leaves = (LIB, "same", "1"), (MPICH, "lib", "1"), (OTHER, "lib", "2")
    graph = graph_of(tmp_path, *apps, *(leaf(*each) for each in leaves))
    rows = compare_specs(Walker(graph), ids_of(graph, A, B), with_equal=True)

    assert [(row.package, row.values, row.path) for row in rows if row.is_equal] == [
        ("same", (("1",), ("1",)), ("same",))
    ]


def keys_of_causes(answer: dict[str, Any]) -> set[Key]:
    """Return the packages and attributes that cause a difference between two specs."""
    causes = [
        (cause["name"], difference)
        for cause in answer["causes"]
        for difference in cause["diff"]
        if not (cause.get("follows") or difference.get("follows"))
    ]
    return {
        (difference["virtuals"][0], "provider")
        if difference["attr"] == "provider"
        else (difference.get("dep", name), difference["attr"].replace("dependency", "present"))
        for name, difference in causes
    }


@some_and_all(8)
def test_the_causes_between_two_are_those_of_spack(
    whole_catalogs: dict[str, Catalog], step: int
) -> None:
    for answer in spack_answers("diff_pairs")[::step]:
        catalog = whole_catalogs[answer["index"]]
        graph, ids = dag_of(catalog), ids_in(catalog)
        two = [ids[answer[side][:7]] for side in "ab"]
        rows = [row for row in compare_specs(Walker(graph), two) if not row.follows]
        found, expected = keys(rows), keys_of_causes(answer)
        # A dependency follows from whatever else changed; the kinds of edges come last.
        missing = {attribute for _, attribute in expected - found}
        assert missing <= {"present", "deptypes"}, answer["id"]
        if not any(row.attribute == "compiler" for row in rows):
            # One spec may have a package twice, and runtimes come with their compilers.
            others = {name for package, name in found - expected if package != "gcc-runtime"}
            assert others <= {"version"}, answer["id"]
        assert any(row.part != "build" for row in rows) is not answer["run_equal"], answer["id"]


FLAGGED = {"build_system": "generic", "cflags": ["-O2", "-g"]}
PATCHES = ["a" * 64, "b" * 64]


@pytest.mark.parametrize(
    ("a", "b", "differences"),
    [
        (
            {"parameters": {"x": "80"}},
            {"parameters": {"x": ["80", "90"]}},
            [("variant:x", ("80",), ("80", "90"), "")],
        ),
        # Flags and patches differ in their order.
        (
            {"parameters": FLAGGED, "patches": PATCHES},
            {
                "parameters": FLAGGED | {"cflags": ["-g", "-O2"]},
                "patches": PATCHES[::-1],
                "package_hash": "other",
            },
            [
                ("cflags", ("-O2", "-g"), ("-g", "-O2"), ""),
                ("patches", tuple(PATCHES), tuple(PATCHES[::-1]), ""),
                ("package_hash", ("abc====",), ("other",), "patches"),
            ],
        ),
        (
            {"external": {"path": "/usr", "module": None, "extra_attributes": {}}},
            {"external": {"path": "/opt", "module": ["a", "b"], "extra_attributes": {"x": "y"}}},
            [
                ("external", ("/usr",), ("/opt",), ""),
                ("external_extra", (), ('{"x": "y"}',), "external"),
                ("external_module", (), ("a", "b"), ""),
            ],
        ),
        ({}, {"name": "zlib"}, [("package", ("app",), ("zlib",), "")]),
    ],
)
def test_own_attributes_differ(
    tmp_path: Path, a: dict[str, Any], b: dict[str, Any], differences: list[object]
) -> None:
    fields = {"name": "app", "dependencies": []}
    table = table_of(graph_of(tmp_path, node(A, **fields | a), node(B, **fields | b)), A, B)
    assert [(row.attribute, *row.values, row.follows) for row in table] == differences


def test_what_is_provided_differs_only_where_both_tell(tmp_path: Path) -> None:
    three, four, none, old = (leaf(hash_of(n), "mpich", "4.1") for n in range(4))
    new = in_format_6(three, "mpi@:3"), in_format_6(four, "mpi@:4"), in_format_6(none)
    (tmp_path / "new.json").write_bytes(database(installs(*new), "9"))
    graph = dag_of(catalog_of(tmp_path / "new.json", write_index(tmp_path / "old.json", old)))
    for other, difference in (
        (four, ("mpich", "provided_virtuals", ("mpi@:3",), ("mpi@:4",))),
        (none, ("mpich", "provided_virtuals", ("mpi@:3",), ("none",))),
        (old, ("mpich", "spec_format", ("6",), ("5",))),
    ):
        assert lines(table_of(graph, three["hash"], other["hash"])) == [difference]


def test_another_compiler_brings_another_runtime(tmp_path: Path) -> None:
    names = {GCC: "gcc", LIB: "gcc-runtime", OTHER: "zlib", GLIBC: "llvm"}
    gcc, llvm = (edge(names[h], h, ["build"], ["c", "cxx"]) for h in (GCC, GLIBC))
    runtime, zlib = (edge(names[h], h, ["link"]) for h in (LIB, OTHER))
    apps = app(A, gcc, runtime, zlib), app(B, llvm, zlib)
    table = table_of(graph_of(tmp_path, *apps, *(leaf(h, n, "1") for h, n in names.items())), A, B)

    assert lines(table) == [
        ("app", "compiler", ("gcc@1",), ("llvm@1",)),
        ("c", "provider", ("gcc@1",), ("llvm@1",)),
        ("cxx", "provider", ("gcc@1",), ("llvm@1",)),
    ]
    follows = {row.package: row.follows for row in table if row.follows}
    assert follows == {"gcc-runtime": "app", "gcc": "cxx", "llvm": "cxx"}


def test_what_both_have_is_not_compared_again(tmp_path: Path) -> None:
    shared = edge("lib", LIB, ["link"])
    apps = (
        app(A, shared, edge("tool", OTHER, ["build"])),
        app(B, shared, edge("tool", MPICH, ["build"])),
    )
    tools = (
        node(OTHER, name="tool", dependencies=[edge("lib", GCC, ["link"])]),
        node(MPICH, name="tool", dependencies=[edge("lib", GLIBC, ["link"])]),
    )
    libs = (leaf(h, "lib", version) for h, version in ((LIB, "1"), (GCC, "2"), (GLIBC, "3")))
    table = table_of(graph_of(tmp_path, *apps, *tools, *libs), A, B)

    assert lines(table) == [("lib", "version", ("2",), ("3",))]
    assert [row.path for row in table] == [("tool", "lib")]
