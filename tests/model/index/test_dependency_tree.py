"""Dependencies: their edges, and the tree, unfolded, searched, and joined for look-alikes."""

import gzip
import json
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spackscope.model.index import tree as model
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.tree import SECTIONS, Tree, TreeSection, read_tree
from spackscope.model.report import detail
from spackscope.model.report.detail import fold_sign, head_text
from tests.builders.catalogs import catalog_of
from tests.builders.nodes import edge, leaf, node
from tests.builders.pages import hash_of, record, write_page
from tests.builders.spack import write_index
from tests.examples import examples
from tests.tui.browser.hdf5_index import write_hdf5_index
from tests.tui.browser.look_alike_index import A, B, C, D, write_look_alikes

Graph = dict[int, list[int]]

graphs = st.dictionaries(
    st.integers(0, 11), st.lists(st.integers(0, 14), max_size=6, unique=True), min_size=1
)
"""Edges by the numbers of hashes: with cycles, self-edges, and ends that no document holds."""


def catalog_with(graph: Graph) -> tuple[Catalog, dict[int, int]]:
    """Index a build cache with these edges; give also the ids of its numbers."""
    nodes = []
    for parent, children in graph.items():
        edges = [edge(f"p{child}", hash_of(child), ["build", "link"]) for child in children]
        nodes.append(node(hash_of(parent), name=f"p{parent}", dependencies=edges))
    with tempfile.TemporaryDirectory() as directory:
        catalog = catalog_of(write_index(Path(directory), *nodes))
    ids = {number: catalog.by_hash(hash_of(number))[0].id for number in graph}
    for id_ in list(ids.values()):
        for dependency in catalog.edges.of(id_):
            absent = catalog.edges.absent_at(dependency.child)
            if absent:
                ids[int(absent.name[1:])] = dependency.child
    return catalog, ids


def tree_of(catalog: Catalog, id_: int, *unfolded: TreeSection) -> Tree:
    tree = read_tree(catalog, id_, unfolded)
    assert tree is not None
    return tree


def unfold_all(catalog: Catalog, tree: Tree) -> Tree:
    while rows := list(filter(tree.can_unfold, range(len(tree.lines)))):
        tree = tree.read_unfolded(rows[-1])
    return tree


def reached(start: int, graph: Graph) -> set[int]:
    seen: set[int] = set()
    waiting = [start]
    while waiting:
        for child in graph.get(waiting.pop(), ()):
            if child not in seen:
                seen.add(child)
                waiting.append(child)
    return seen


def test_pages_have_no_tree(tmp_path: Path) -> None:
    catalog = catalog_of(write_page(tmp_path, [record(1)]))
    assert read_tree(catalog, 0) is None
    assert not catalog.edges.lists(0)
    assert catalog.edges.of(0) == catalog.edges.dependents(0) == []


def assert_each_has_one_place(tree: Tree) -> None:
    """Check that a spec can be unfolded where it is unfolded, else at its least deep line."""
    for section in SECTIONS:
        rows = [row for row, line in enumerate(tree.lines) if line.section == section]
        unfolded = [tree.lines[row].id for row in rows if tree.lines[row].is_unfolded]
        assert len(unfolded) == len(set(unfolded))
        for row in rows:
            same = [r for r in rows if tree.lines[r].id == tree.lines[row].id]
            unfolded_at = [r for r in same if tree.lines[r].is_unfolded]
            least_deep = min(same, key=lambda r: tree.lines[r].depth)
            assert tree.original(row) == next(iter(unfolded_at), least_deep)
            assert tree.is_repeated(row) == (tree.original(row) != row)


@given(graphs)
@examples(80)
def test_a_tree_unfolds_each_spec_once_and_shows_all_that_is_reached(graph: Graph) -> None:
    catalog, ids = catalog_with(graph)
    upwards: Graph = {}
    for parent, children in graph.items():
        for child in children:
            upwards.setdefault(child, []).append(parent)
    for number, id_ in ids.items():
        if number not in graph:
            continue
        tree = unfold_all(catalog, tree_of(catalog, id_))
        for section, edges in (("dependencies", graph), ("dependents", upwards)):
            rows = [row for row, line in enumerate(tree.lines) if line.section == section]
            shown = {tree.lines[row].id for row in rows if tree.lines[row].edge is not None}
            assert shown == {ids[other] for other in reached(number, edges)}
            for row in rows:
                children = [r for r in range(row + 1, tree.end(row)) if tree.parent(r) == row]
                assert len(children) in (0, tree.lines[row].count)
        assert_each_has_one_place(tree)


def test_users_of_one_package_are_one_line_that_unfolds_to_them(tmp_path: Path) -> None:
    zlib, xz, tool = (hash_of(number) for number in (1, 2, 3))
    apps = [
        node(hash_of(number), name="app", dependencies=[edge("zlib", zlib, ["link"])])
        for number in (4, 5)
    ]
    user = node(tool, name="tool", dependencies=[edge("app", hash_of(4), ["run"])])
    leaves = leaf(zlib, "zlib", "1.3"), leaf(xz, "xz", "5")
    catalog = catalog_of(write_index(tmp_path, *leaves, *apps, user))
    (row,) = catalog.by_hash(zlib)
    tree = tree_of(catalog, row.id, "dependents")
    (line,) = [line for line in tree.lines if line.depth]
    assert (line.is_package, line.builds, line.count) == (True, 2, 2)
    assert line.spec is not None
    assert (line.spec.name, line.spec.hash) == ("app", "")
    assert line.edge is not None
    assert catalog.rows([line.edge.parent])[0].spec.package == "app"
    tree = unfold_all(catalog, tree)
    names = [line.spec.name for line in tree.lines if line.spec is not None]
    assert names == ["app", "app", "tool", "app"]
    assert not any(map(tree.is_repeated, range(len(tree.lines))))


@given(graphs, st.data())
@examples(80)
def test_whatever_is_unfolded_and_folded_the_tree_holds_together(
    graph: Graph, data: st.DataObject
) -> None:
    catalog, ids = catalog_with(graph)
    tree = tree_of(catalog, ids[data.draw(st.sampled_from(sorted(graph)))])
    for _ in range(12):
        row = data.draw(st.integers(0, len(tree.lines) - 1))
        before = tree
        tree = tree.read_unfolded(row)
        if tree is not before:
            assert tree.fold(row) == before
        elif tree.lines[row].is_unfolded:
            tree = tree.fold(row)
        assert_each_has_one_place(tree)
        assert tree.head("dependencies") == 0
        for line, after in zip(tree.lines, tree.lines[1:], strict=False):
            assert after.depth <= line.depth + 1
        for row, line in enumerate(tree.lines):
            assert (tree.parent(row) is None) == (line.depth == 0)
            assert line.is_unfolded == (tree.end(row) > row + 1)


def shown(tree: Tree, section: TreeSection = "dependencies") -> list[str]:
    return [
        f"{guide}{line.spec.name}"
        for guide, line in zip(tree.guides, tree.lines, strict=True)
        if line.spec is not None and line.section == section
    ]


def test_a_spec_that_needs_itself_is_shown_and_leads_no_further() -> None:
    catalog, ids = catalog_with({0: [0, 1], 1: [0]})
    tree = unfold_all(catalog, tree_of(catalog, ids[0]))

    heads = [line for line in tree.lines if line.edge is None]
    assert [head_text(head) for head in heads] == ["depends on 2", "used by 2"]
    assert shown(tree) == ["├ p0", "└ p1", "  └ p0"]
    specs = {row: line.spec for row, line in enumerate(tree.lines) if line.spec is not None}
    assert {fold_sign(tree, row) for row, spec in specs.items() if spec.name == "p0"} == {"↑"}


def test_a_line_unfolds_to_a_bounded_number_of_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (model, detail):
        monkeypatch.setattr(module, "MAX_CHILDREN", 2)
    catalog, ids = catalog_with({0: [1, 2, 3], 1: [], 2: [], 3: []})
    tree = tree_of(catalog, ids[0])
    assert head_text(tree.lines[0]) == "depends on 3"
    tree = tree.read_unfolded(0)
    assert shown(tree) == ["├ p1", "└ p2"]
    assert head_text(tree.lines[0]) == "depends on 3, first 2 shown"


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    return catalog_of(write_hdf5_index(tmp_path / "index.json"))


def hdf5_tree(catalog: Catalog, *, run_only: bool = False) -> Tree:
    (row,) = (row for row in catalog.rows(range(6)) if row.spec.package == "hdf5")
    tree = read_tree(catalog, row.id, ["dependencies"], run_only=run_only)
    assert tree is not None
    return tree


def test_all_is_unfolded_each_spec_where_it_is_nearest(catalog: Catalog) -> None:
    tree = hdf5_tree(catalog).read_all_unfolded("dependencies")
    assert shown(tree) == [
        "├ gcc", "├ gone", "├ openmpi", "│ ├ hwloc", "│ │ └ zlib", "│ └ zlib", "└ zlib",
    ]  # fmt: skip
    assert [tree.is_repeated(row) for row in range(5, 8)] == [True, True, False]


def test_a_search_shows_a_shortest_path_to_each_name(catalog: Catalog) -> None:
    tree = hdf5_tree(catalog)
    assert shown(tree.read_matching("HWL")) == ["└ openmpi", "  └ hwloc"]
    assert shown(tree.read_matching("zlib")) == ["└ zlib"]
    found = tree.read_matching("nothing of that name")
    assert (shown(found), found.search) == ([], "nothing of that name")
    again = found.read_matching("gcc")
    assert shown(again) == ["└ gcc"]


def test_what_is_only_built_with_is_left_out(catalog: Catalog) -> None:
    tree = hdf5_tree(catalog, run_only=True)
    assert shown(tree) == ["├ gone", "├ openmpi", "└ zlib"]
    assert tree.lines[0].count == 3
    assert shown(tree.read_all_unfolded("dependencies"))[0] == "├ gone"


@given(graphs)
@examples(60)
def test_all_that_is_reached_is_unfolded_and_found(graph: Graph) -> None:
    catalog, ids = catalog_with(graph)
    for number in graph:
        tree = tree_of(catalog, ids[number]).read_all_unfolded("dependencies")
        lines = [line for line in tree.lines if line.section == "dependencies" and line.spec]
        assert {line.id for line in lines} == {ids[other] for other in reached(number, graph)}
        assert not any(map(tree.can_unfold, range(1, len(lines) + 1)))
        for row, line in enumerate(tree.lines):
            assert line.is_unfolded == (tree.end(row) > row + 1)
        found = tree_of(catalog, ids[number]).read_matching("p1")
        names = {line.spec.name for line in found.lines if line.spec is not None}
        wanted = {f"p{other}" for other in reached(number, graph) - {number}}
        assert {name for name in names if "p1" in name} - {f"p{number}"} == {
            name for name in wanted if "p1" in name
        }


def test_a_tree_is_bounded(catalog: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model, "MAX_LINES", 5)
    tree = hdf5_tree(catalog).read_all_unfolded("dependencies")
    assert len(shown(tree)) == 4
    assert tree.can_unfold(3)


def test_the_tree_of_look_alikes_joins_what_they_need_and_who_uses_them(tmp_path: Path) -> None:
    catalog = catalog_of(write_look_alikes(tmp_path / "index.json"))
    ids = [catalog.by_hash(hash_)[0].id for hash_ in (A, B, C, D)]
    tree = read_tree(catalog, ids[0], SECTIONS, members=ids)
    assert tree is not None
    lines = [
        (line.spec.name, line.spec.version, line.share, line.builds)
        for line in tree.lines
        if line.spec is not None
    ]
    assert lines == [
        ("gmake", "4.3", 2, 1),
        ("gmake", "4.4", 2, 1),
        ("mpich", "4.3", 0, 2),
        ("vtk", "9", 0, 1),
    ]


@pytest.fixture(scope="module", params=["spack0", "spack1"])
def indexed(request: pytest.FixtureRequest, small_catalogs: dict[str, Catalog]) -> Catalog:
    return small_catalogs[request.param]


def edges_of(spec: Mapping[str, Any]) -> Counter[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """Return the edges of a node as the document has them: hash, deptypes, virtuals."""
    return Counter(
        (
            dependency["hash"],
            tuple(sorted(dependency["parameters"]["deptypes"])),
            tuple(sorted(dependency["parameters"]["virtuals"])),
        )
        for dependency in spec.get("dependencies", ())
    )


def everyone(catalog: Catalog) -> range:
    """Return the ids of all records, those that have no row among them."""
    return range(catalog.first[-1])


def test_every_edge_of_an_index_is_there_and_no_other(indexed: Catalog) -> None:
    known, rows = indexed.edges, indexed.rows(everyone(indexed))
    text = gzip.decompress(Path(rows[0].spec.origin).read_bytes())
    document = json.loads(text)["database"]["installs"]
    assert {row.spec.hash for row in rows} == set(document)
    for row in rows:
        edges = known.of(row.id)
        absent = [known.absent_at(edge.child) for edge in edges]
        hashes = [
            a.hash if a else rows[e.child].spec.hash for a, e in zip(absent, edges, strict=True)
        ]
        kinds = [(tuple(sorted(edge.deptypes)), tuple(sorted(edge.virtuals))) for edge in edges]
        found = Counter((hash_, *kind) for hash_, kind in zip(hashes, kinds, strict=True))
        assert found == edges_of(document[row.spec.hash]["spec"])


def test_dependents_are_the_edges_the_other_way(indexed: Catalog) -> None:
    known = indexed.edges
    downwards = [dependency for id_ in everyone(indexed) for dependency in known.of(id_)]
    nodes = {dependency.child for dependency in downwards} | set(everyone(indexed))
    upwards = [dependency for id_ in sorted(nodes) for dependency in known.dependents(id_)]

    assert Counter(upwards) == Counter(downwards)
    for id_ in nodes:
        parents = [dependency.parent for dependency in known.dependents(id_)]
        assert parents == sorted(parents)
