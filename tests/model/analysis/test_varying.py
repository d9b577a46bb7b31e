"""Tests of `varying`, whose rows are those by which Spack's own strings differ."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from spackscope.model.analysis.compare import Pairs
from spackscope.model.analysis.dag import Dag, dag_of
from spackscope.model.analysis.varying import Cell, ComparedRow, follows, varying
from spackscope.model.index.catalog import Catalog
from tests.builders.catalogs import catalog_of
from tests.builders.nodes import FLAGS, GCC, GLIBC, Node, edge, leaf, node
from tests.builders.pages import hash_of, record, write_page
from tests.builders.spack import write_index
from tests.examples import some_and_all
from tests.model.analysis.cases import graph_of, ids_in, ids_of, spack_answers

A, B, C, LIB, OTHER, MPICH = (hash_of(number) for number in range(11, 17))

Key = tuple[str, str]


def keys(rows: list[ComparedRow]) -> set[Key]:
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


def wrong_rows(group: dict[str, Any], table: Sequence[ComparedRow]) -> list[object]:
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
        table = varying(graph, kinds, run_only=True)
        assert wrong_rows(group, table) == [], group["id"]
        telling = [row.values for row in table if row.tells]
        told = {tuple(values[n] for values in telling) for n in range(len(kinds))}
        assert len(told) == len(kinds), "the rows that tell tell all apart"
        # What the hashes of a kind differ in.
        if len(kinds[0]) > 1:
            rows = varying(graph, [[id_] for id_ in kinds[0]])
            causes = [r for r in rows if not r.follows and r.attribute != "present"]
            assert keys(causes) == keys_of_lines(group["within"][0]), group["id"]


def app(hash_: str, *dependencies: Node, **fields: object) -> Node:
    return node(hash_, name="app", **{"dependencies": [*dependencies], **fields})


def table_of(graph: Dag, *hashes: str, run_only: bool = False) -> Sequence[ComparedRow]:
    return varying(graph, [[id_] for id_ in ids_of(graph, *hashes)], run_only=run_only)


def lines(table: Sequence[ComparedRow]) -> list[tuple[object, ...]]:
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
    table = varying(graph, [[id_] for id_ in ids])

    assert {row.attribute for row in table} == {"version"}
    write_page(tmp_path / "alike", [record(1), record(2)])
    assert varying(graph_of(tmp_path / "alike"), [[0], [1]]) == ()


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
    compared = Pairs(graph).compare(*ids_of(graph, A, B))
    assert {d.attribute: d.follows for d in compared.causes[0].differences} == {
        row.attribute: row.follows for row in table
    }


def test_what_is_equal_is_added_once(tmp_path: Path) -> None:
    same = edge("same", LIB, ["link"])
    apps = app(A, same, edge("lib", MPICH, ["link"])), app(B, same, edge("lib", OTHER, ["link"]))
    leaves = (LIB, "same", "1"), (MPICH, "lib", "1"), (OTHER, "lib", "2")
    graph = graph_of(tmp_path, *apps, *(leaf(*each) for each in leaves))
    rows = varying(graph, [[id_] for id_ in ids_of(graph, A, B)], with_equal=True)

    assert [(row.package, row.values, row.path) for row in rows if row.is_equal] == [
        ("same", (("1",), ("1",)), ("same",))
    ]


@pytest.mark.parametrize(
    ("dependency", "virtuals", "differing", "leader"),
    [
        ("zlib", (), ["package_hash", "variant:shared", "os"], "variant:shared"),
        ("zlib", (), ["platform", "spec_format"], ""),
        ("gcc", ("c",), ["version", "spec_format", "provider"], "spec_format"),
        ("gcc", ("c",), ["provider", "version"], "version"),
        ("gcc-runtime", (), ["version", "provider"], "provider"),
        ("own-libc", ("libc",), ["version", "compiler", "platform"], "platform"),
    ],
)
def test_a_dependency_follows_what_brings_it(
    dependency: str, virtuals: tuple[str, ...], differing: list[str], leader: str
) -> None:
    for attribute in ("dependency", "deptypes"):
        assert follows(attribute, differing, dependency=dependency, virtuals=virtuals) == leader
