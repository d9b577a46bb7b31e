"""What depends on what: edges, dependents, ways, and the tree that unfolds them."""

from __future__ import annotations

import gzip
import json
import tempfile
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.dependency_graph import Edge
from spackscope.model.catalog.dependency_tree import Node, Section, Tree
from spackscope.model.presentation.dependency_tree import (
    head_text,
    line_said,
    tree_line,
    way_steps,
)
from tests.builders import (
    SPACK_DATA,
    catalog_of,
    database,
    edge,
    hash_of,
    installs,
    node,
    record,
    write_page,
)
from tests.hostile import HOSTILE_TEXT

INDEXES = ("spack0", "spack1")


@pytest.fixture(scope="module", params=INDEXES)
def catalog(request: pytest.FixtureRequest) -> Catalog:
    return catalog_of(SPACK_DATA / f"{request.param}.index.json.gz")


@pytest.fixture(scope="module")
def documents() -> dict[str, dict[str, Any]]:
    """Read the indexes without any code of the program."""
    read = {}
    for name in INDEXES:
        text = gzip.decompress((SPACK_DATA / f"{name}.index.json.gz").read_bytes())
        read[f"{name}.index.json.gz"] = json.loads(text)["database"]["installs"]
    return read


def edges_of(spec: Mapping[str, Any]) -> Counter[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """Give the edges of a node as the document has them: hash, deptypes, virtuals."""
    return Counter(
        (
            one["hash"],
            tuple(sorted(one["parameters"]["deptypes"])),
            tuple(sorted(one["parameters"]["virtuals"])),
        )
        for one in spec.get("dependencies", ())
    )


def hash_in(catalog: Catalog, id_: int) -> str:
    absent = catalog.dependencies.absent(id_)
    return absent[1] if absent else catalog.rows([id_])[0].spec.hash


def everyone(catalog: Catalog) -> range:
    """Give the ids of all records, those that have no row among them."""
    return range(catalog.code_columns.first[-1])


def test_every_edge_of_an_index_is_there_and_no_other(
    catalog: Catalog, documents: dict[str, dict[str, Any]]
) -> None:
    known = catalog.dependencies
    ids = everyone(catalog)
    rows = catalog.rows(ids)
    document = documents[Path(rows[0].spec.origin).name]
    hashes = {row.id: row.spec.hash for row in rows}
    assert set(hashes.values()) == set(document)
    for id_ in ids:
        found = Counter(
            (
                hashes[one.child] if one.child in hashes else hash_in(catalog, one.child),
                tuple(sorted(one.deptypes)),
                tuple(sorted(one.virtuals)),
            )
            for one in known.of(id_)
        )
        assert found == edges_of(document[hashes[id_]]["spec"])
        assert known.count(id_) == found.total()


def test_dependents_are_the_edges_the_other_way(catalog: Catalog) -> None:
    known = catalog.dependencies
    downwards = [one for id_ in everyone(catalog) for one in known.of(id_)]
    nodes = {one.child for one in downwards} | set(everyone(catalog))
    upwards = [one for id_ in sorted(nodes) for one in known.dependents(id_)]

    assert Counter(upwards) == Counter(downwards)
    for id_ in nodes:
        parents = [one.parent for one in known.dependents(id_)]
        assert parents == sorted(parents)
        assert known.dependents_count(id_) == len(parents)


def test_a_way_leads_from_one_end_to_the_other_and_none_is_shorter(catalog: Catalog) -> None:
    known = catalog.dependencies
    start = max(everyone(catalog), key=known.count)
    steps = {start: 0}
    waiting = deque([start])
    while waiting:
        id_ = waiting.popleft()
        for one in known.of(id_):
            if one.child not in steps:
                steps[one.child] = steps[id_] + 1
                waiting.append(one.child)

    assert max(steps.values()) > 1
    for end, count in steps.items():
        way = known.path(start, end)
        assert way is not None
        assert len(way) == count
        assert_leads(way, start, end)
    for other in [id_ for id_ in everyone(catalog) if id_ not in steps][:50]:
        assert known.path(start, other) is None


def assert_leads(way: Sequence[Edge], start: int, end: int) -> None:
    for one in way:
        assert one.parent == start
        start = one.child
    assert start == end


def test_pages_list_no_dependencies(tmp_path: Path) -> None:
    catalog = catalog_of(write_page(tmp_path, [record(1), record(2)]))

    assert not catalog.dependencies.lists(0)
    assert catalog.dependencies.of(0) == catalog.dependencies.dependents(0) == []
    assert catalog.dependencies.path(0, 1) is None


# Graphs


Graph = dict[int, list[int]]

graphs = st.dictionaries(
    st.integers(0, 11), st.lists(st.integers(0, 14), max_size=6, unique=True), min_size=1
)
"""Edges by the numbers of hashes: with cycles, self-edges, and ends that no document holds."""


def index_of(graph: Graph, **fields: Any) -> bytes:
    """Write the index of a build cache with these edges."""
    return database(
        installs(
            *(
                node(
                    hash_of(parent),
                    name=f"p{parent}",
                    dependencies=[
                        edge(f"p{child}", hash_of(child), ["build", "link"]) for child in children
                    ],
                    **fields,
                )
                for parent, children in graph.items()
            )
        )
    )


def catalog_with(graph: Graph) -> tuple[Catalog, dict[int, int]]:
    """Index a graph; give also the ids of its numbers."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "index.json"
        path.write_bytes(index_of(graph))
        catalog = catalog_of(path)
    ids = {number: catalog.by_hash(hash_of(number))[0].id for number in graph}
    for id_ in list(ids.values()):
        for one in catalog.dependencies.of(id_):
            absent = catalog.dependencies.absent(one.child)
            if absent:
                ids[int(absent[0][1:])] = one.child
    return catalog, ids


def tree_of(catalog: Catalog, id_: int, *opened: Section) -> Tree:
    return Tree(catalog.dependencies, catalog.rows, catalog.provenance, id_, opened)


def unfold_all(tree: Tree) -> None:
    while sum(tree.unfold(line) for line in tree.lines):
        pass


def reached(start: int, graph: Graph) -> set[int]:
    seen: set[int] = set()
    waiting = [start]
    while waiting:
        for child in graph.get(waiting.pop(), ()):
            if child not in seen:
                seen.add(child)
                waiting.append(child)
    return seen


@given(graphs)
@settings(max_examples=80)
def test_a_tree_unfolds_each_spec_once_and_shows_all_that_is_reached(graph: Graph) -> None:
    catalog, ids = catalog_with(graph)
    upwards: Graph = {}
    for parent, children in graph.items():
        for child in children:
            upwards.setdefault(child, []).append(parent)
    for number, id_ in ids.items():
        if number not in graph:
            continue
        tree = tree_of(catalog, id_)
        unfold_all(tree)
        for section, edges in (("dependencies", graph), ("dependents", upwards)):
            lines = [line for line in tree.lines if line.section == section]
            unfolded = [line.id for line in lines if line.below is not None]
            assert len(unfolded) == len(set(unfolded))
            shown = {line.id for line in lines if line.edge is not None}
            assert shown == {ids[other] for other in reached(number, edges)}
            for line in lines:
                assert len(line.below or ()) in (0, line.count)
                assert tree.place(line).id == line.id
                assert not tree.is_repeated(tree.place(line))
        for line in tree.lines:
            way = tree.way(line)
            ends = (id_, line.id) if line.section == "dependencies" else (line.id, id_)
            assert_leads(way, *ends)


@given(graphs, st.data())
@settings(max_examples=80)
def test_whatever_is_unfolded_and_folded_the_tree_holds_together(
    graph: Graph, data: st.DataObject
) -> None:
    catalog, ids = catalog_with(graph)
    tree = tree_of(catalog, ids[data.draw(st.sampled_from(sorted(graph)))])
    for _ in range(12):
        line = tree.lines[data.draw(st.integers(0, len(tree.lines) - 1))]
        if not tree.unfold(line):
            tree.fold(line)
        assert tree.lines[0] is tree.heads["dependencies"]
        for before, after in zip(tree.lines, tree.lines[1:], strict=False):
            assert after.depth <= before.depth + 1
            assert after.above is None or after.above in tree.lines
        for line in tree.lines:
            assert not (line.below is not None and tree.is_repeated(line))


def names(tree: Tree, section: Section) -> list[str]:
    lines = [line for line in tree.lines if line.section == section and line.edge is not None]
    return [f"{'  ' * (line.depth - 1)}{tree_line(tree, line).name}" for line in lines]


def line_of(tree: Tree, name: str) -> Node:
    return next(
        line
        for line in tree.lines
        if line.edge is not None and tree_line(tree, line).name.startswith(f"{name}@")
    )


def test_a_spec_that_stands_nearer_by_is_not_hidden_deeper_down() -> None:
    catalog, ids = catalog_with({0: [1, 2], 1: [2], 2: [3], 3: []})
    tree = tree_of(catalog, ids[0], "dependencies")
    tree.unfold(line_of(tree, "p1"))

    assert names(tree, "dependencies") == ["p1@1.3.1", "  p2@1.3.1", "p2@1.3.1"]
    deeper, nearer = (line for line in tree.lines if line.id == ids[2])
    assert tree.is_repeated(deeper)
    assert not tree.unfold(deeper)
    assert tree.unfold(nearer)
    tree.fold(line_of(tree, "p1"))
    assert names(tree, "dependencies") == ["p1@1.3.1", "p2@1.3.1", "  p3@1.3.1"]


def test_what_is_unfolded_stays_where_it_is_when_it_comes_up_nearer_by() -> None:
    catalog, ids = catalog_with({0: [1, 4], 1: [2], 2: [3], 3: [5], 4: [3], 5: []})
    tree = tree_of(catalog, ids[0], "dependencies")
    for name in ("p1", "p2", "p3", "p4"):
        assert tree.unfold(line_of(tree, name))

    deep, near = (line for line in tree.lines if line.id == ids[3])
    assert deep.below
    assert tree.is_repeated(near)
    tree.fold(deep)
    assert tree.unfold(near)


def test_a_spec_that_needs_itself_is_shown_and_leads_no_further() -> None:
    catalog, ids = catalog_with({0: [0, 1], 1: [0]})
    tree = tree_of(catalog, ids[0])
    unfold_all(tree)

    assert [head_text(head) for head in tree.heads.values()] == ["depends on 2", "used by 2"]
    assert names(tree, "dependencies") == ["p0@1.3.1", "p1@1.3.1", "  p0@1.3.1"]
    signs = {tree_line(tree, line).fold for line in tree.lines if line.edge and line.id == ids[0]}
    assert signs == {"↑"}


def test_ten_thousand_are_read_only_where_they_are_looked_at() -> None:
    catalog, ids = catalog_with(
        {0: list(range(1, 10_001)), **{number: [] for number in range(1, 10_001)}}
    )
    fetched: list[int] = []

    def fetch(wanted: Sequence[int]) -> list[Any]:
        fetched.extend(wanted)
        return catalog.rows(wanted)

    tree = Tree(catalog.dependencies, fetch, catalog.provenance, ids[0], ["dependencies"])
    assert len(tree.lines) == 10_002
    assert not fetched
    for line in tree.lines[5_000:5_040]:
        assert tree_line(tree, line).hash
    assert len(fetched) <= 128


# What the lines say

TYPES = ["build", "link", "run", "test"]


def test_lines_say_what_spack_says_in_its_letters_and_signs(tmp_path: Path) -> None:
    hashes = [hash_of(number) for number in range(4)]
    dependencies = [
        edge("openmpi", hashes[1], ["build", "link"], ["mpi"]),
        edge("gcc", hashes[2], ["build"], ["c", "cxx"]),
        edge("zlib", hashes[3], ["run", "test"]),
    ]
    given_nodes = installs(
        node(hashes[0], name="hdf5", version="1.14", dependencies=dependencies),
        node(hashes[1], name="openmpi", version="5.0.3", dependencies=...),
    )
    external: dict[str, Any] = {"path": "/usr", "module": None, "extra_attributes": {}}
    gcc = node(hashes[2], name="gcc", version="13", dependencies=..., external=external)
    given_nodes |= installs(gcc, in_buildcache=False)
    path = tmp_path / "index.json"
    path.write_bytes(database(given_nodes))
    catalog = catalog_of(path)
    (hdf5,), (openmpi,) = (catalog.by_hash(hash_) for hash_ in hashes[:2])
    tree = tree_of(catalog, hdf5.id, "dependencies")

    gcc_line, openmpi_line, zlib_line = (line for line in tree.lines if line.edge)
    said = [tree_line(tree, line) for line in (gcc_line, openmpi_line, zlib_line)]
    assert [line.deptypes for line in said] == ["[b   ]", "[bl  ]", "[  rt]"]
    assert [line.virtuals for line in said] == ["c,cxx=", "mpi=", ""]
    assert [line.name for line in said] == ["gcc@13", "openmpi@5.0.3", "zlib"]
    assert [line.sign for line in said] == ["e", " ", "?"]
    assert [line.hash for line in said] == [
        hash_[:7] for hash_ in (hashes[2], hashes[1], hashes[3])
    ]
    assert line_said(tree, gcc_line) == "build · provides c, cxx · external"
    assert line_said(tree, zlib_line) == "run, test · not in this index"

    upwards = tree_of(catalog, openmpi.id, "dependents")
    line = upwards.lines[-1]
    assert head_text(upwards.heads["dependencies"]) == "depends on nothing"
    assert tree_line(upwards, line).virtuals == " as mpi"
    assert line_said(upwards, line) == "build, link · takes it as mpi"

    way = upwards.way(line)
    steps = way_steps(way, [hdf5, openmpi], [None, None])
    assert [(step.deptypes, step.virtuals, step.name) for step in steps] == [
        ("", "", "hdf5@1.14"),
        ("[bl  ]", "mpi", "openmpi@5.0.3"),
    ]


@pytest.mark.parametrize("text", [text for _, text in HOSTILE_TEXT])
def test_names_and_virtuals_are_never_escape_sequences(tmp_path: Path, text: str) -> None:
    path = tmp_path / "index.json"
    dependencies = [edge(text, hash_of(1), [text], [text]), edge("x", hash_of(2), ["build"])]
    path.write_bytes(database(installs(node(hash_of(0), dependencies=dependencies))))
    catalog = catalog_of(path)
    for row in catalog.rows(everyone(catalog)):
        tree = tree_of(catalog, row.id, "dependencies", "dependents")
        for line in tree.lines:
            if line.edge is not None:
                said = tree_line(tree, line)
                texts = (said.deptypes, said.virtuals, said.name, said.hash, line_said(tree, line))
                assert all(part.isprintable() for part in texts)
