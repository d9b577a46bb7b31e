"""Unfolding a whole tree, searching it, hiding build tools, and trees of folded rows."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given

from spackscope.model.core.errors import Cancelled
from spackscope.model.index import tree as tree_search
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.tree import (
    SECTIONS,
    Tree,
    TreeSection,
    read_all_unfolded,
    read_matching,
    read_tree,
)
from tests.builders import catalog_of
from tests.examples import examples
from tests.model.index.test_dependency_tree import Graph, catalog_with, graphs, reached, tree_of
from tests.tui.browser.hdf5_index import write_hdf5_index
from tests.tui.browser.look_alike_index import A, B, C, D, write_look_alikes


def shown(tree: Tree, section: TreeSection = "dependencies") -> list[str]:
    return [
        f"{guide}{line.spec.name}"
        for guide, line in zip(tree.guides, tree.lines, strict=True)
        if line.spec is not None and line.section == section
    ]


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    path = tmp_path / "index.json"
    write_hdf5_index(path)
    return catalog_of(path)


def hdf5_tree(catalog: Catalog, *, run_only: bool = False) -> Tree:
    (row,) = (row for row in catalog.rows(range(6)) if row.spec.package == "hdf5")
    tree = read_tree(catalog, row.id, ["dependencies"], run_only=run_only)
    assert tree is not None
    return tree


def test_all_is_unfolded_each_spec_where_it_is_nearest(catalog: Catalog) -> None:
    tree = read_all_unfolded(catalog, hdf5_tree(catalog), "dependencies")
    assert shown(tree) == [
        "├ gcc", "├ gone", "├ openmpi", "│ ├ hwloc", "│ │ └ zlib", "│ └ zlib", "└ zlib",
    ]  # fmt: skip
    assert [tree.is_repeated(row) for row in range(5, 8)] == [True, True, False]


def test_a_search_shows_a_shortest_path_to_each_name(catalog: Catalog) -> None:
    tree = hdf5_tree(catalog)
    assert shown(read_matching(catalog, tree, "HWL")) == ["└ openmpi", "  └ hwloc"]
    assert shown(read_matching(catalog, tree, "zlib")) == ["└ zlib"]
    found = read_matching(catalog, tree, "nothing of that name")
    assert (shown(found), found.search) == ([], "nothing of that name")
    again = read_matching(catalog, found, "gcc")
    assert shown(again) == ["└ gcc"]
    with pytest.raises(Cancelled):
        read_matching(catalog, tree, "z", lambda: True)


def test_what_is_only_built_with_is_left_out(catalog: Catalog) -> None:
    tree = hdf5_tree(catalog, run_only=True)
    assert shown(tree) == ["├ gone", "├ openmpi", "└ zlib"]
    assert tree.lines[0].count == 3
    assert shown(read_all_unfolded(catalog, tree, "dependencies"))[0] == "├ gone"


@given(graphs)
@examples(60)
def test_all_that_is_reached_is_unfolded_and_found(graph: Graph) -> None:
    catalog, ids = catalog_with(graph)
    for number in graph:
        tree = read_all_unfolded(catalog, tree_of(catalog, ids[number]), "dependencies")
        lines = [line for line in tree.lines if line.section == "dependencies" and line.spec]
        assert {line.id for line in lines} == {ids[other] for other in reached(number, graph)}
        assert not any(map(tree.can_unfold, range(1, len(lines) + 1)))
        for row, line in enumerate(tree.lines):
            assert line.is_unfolded == (tree.end(row) > row + 1)
        found = read_matching(catalog, tree_of(catalog, ids[number]), "p1")
        names = {line.spec.name for line in found.lines if line.spec is not None}
        wanted = {f"p{other}" for other in reached(number, graph) - {number}}
        assert {name for name in names if "p1" in name} - {f"p{number}"} == {
            name for name in wanted if "p1" in name
        }


def test_a_tree_is_bounded(catalog: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_search, "MAX_LINES", 5)
    tree = read_all_unfolded(catalog, hdf5_tree(catalog), "dependencies")
    assert len(shown(tree)) == 4
    assert tree.can_unfold(3)


def test_the_tree_of_look_alikes_joins_what_they_need_and_who_uses_them(tmp_path: Path) -> None:
    path = tmp_path / "index.json"
    write_look_alikes(path)
    catalog = catalog_of(path)
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
    assert len(tree.path_ends(1)) == 4
