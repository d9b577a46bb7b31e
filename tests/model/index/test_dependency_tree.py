"""The tree of dependencies: what it unfolds, what it repeats, and what its lines say."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spackscope.model.index import tree as model
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.tree import Tree, TreeSection, read_tree, read_unfolded
from spackscope.model.report import detail
from spackscope.model.report.detail import fold_sign, head_text
from tests.builders import (
    catalog_of,
    database,
    edge,
    hash_of,
    installs,
    leaf,
    node,
    record,
    write_page,
)
from tests.examples import examples
from tests.model.index.test_dependency_graph import assert_leads

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
        tree = read_unfolded(catalog, tree, rows[-1])
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
    assert read_tree(catalog_of(write_page(tmp_path, [record(1)])), 0) is None


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
            unfolded = [tree.lines[row].id for row in rows if tree.lines[row].is_unfolded]
            assert len(unfolded) == len(set(unfolded))
            shown = {tree.lines[row].id for row in rows if tree.lines[row].edge is not None}
            assert shown == {ids[other] for other in reached(number, edges)}
            for row in rows:
                children = [r for r in range(row + 1, tree.end(row)) if tree.parent(r) == row]
                assert len(children) in (0, tree.lines[row].count)
                same = [r for r in rows if tree.lines[r].id == tree.lines[row].id]
                unfolded_at = [r for r in same if tree.lines[r].is_unfolded]
                least_deep = min(same, key=lambda r: tree.lines[r].depth)
                assert tree.original(row) == next(iter(unfolded_at), least_deep)
                assert tree.is_repeated(row) == (tree.original(row) != row)
        for row, line in enumerate(tree.lines):
            (ends,) = tree.path_ends(row)
            assert set(ends) == {id_, line.id}
            assert_leads(catalog.edges.path(*ends) or [], *ends)


def test_users_of_one_package_are_one_line_that_unfolds_to_them(tmp_path: Path) -> None:
    zlib, xz, tool = (hash_of(number) for number in (1, 2, 3))
    apps = [
        node(hash_of(number), name="app", dependencies=[edge("zlib", zlib, ["link"])])
        for number in (4, 5)
    ]
    user = node(tool, name="tool", dependencies=[edge("app", hash_of(4), ["run"])])
    path = tmp_path / "index.json"
    path.write_bytes(
        database(installs(leaf(zlib, "zlib", "1.3"), leaf(xz, "xz", "5"), *apps, user))
    )
    catalog = catalog_of(path)
    (row,) = catalog.by_hash(zlib)
    tree = tree_of(catalog, row.id, "dependents")
    (line,) = [line for line in tree.lines if line.depth]
    assert (line.is_package, line.builds, line.count) == (True, 2, 2)
    assert line.spec is not None
    assert (line.spec.name, line.spec.hash) == ("app", "")
    at = tree.lines.index(line)
    ((user_id, _),) = tree.path_ends(at)
    assert catalog.rows([user_id])[0].spec.package == "app"
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
        tree = read_unfolded(catalog, tree, row)
        if tree is before and tree.lines[row].is_unfolded:
            tree = tree.fold(row)
        assert tree.head("dependencies") == 0
        for line, after in zip(tree.lines, tree.lines[1:], strict=False):
            assert after.depth <= line.depth + 1
        for row, line in enumerate(tree.lines):
            assert not (line.is_unfolded and tree.is_repeated(row))
            assert (tree.parent(row) is None) == (line.depth == 0)
            assert line.is_unfolded == (tree.end(row) > row + 1)


def test_folding_is_the_reverse_of_unfolding() -> None:
    catalog, ids = catalog_with({0: [1, 2], 1: [2], 2: [3], 3: []})
    tree = tree_of(catalog, ids[0])
    unfolded = read_unfolded(catalog, tree, tree.head("dependencies"))
    assert unfolded.unfolded_sections == {"dependencies"}
    assert unfolded.fold(0) == tree
    assert read_unfolded(catalog, unfolded, 0) is unfolded, "it is unfolded already"


def rows_of(tree: Tree, name: str) -> list[int]:
    return [
        row
        for row, line in enumerate(tree.lines)
        if line.spec is not None and line.spec.name == name
    ]


def names(tree: Tree, section: TreeSection) -> list[str]:
    return [
        f"{'  ' * (line.depth - 1)}{line.spec.name}"
        for line in tree.lines
        if line.section == section and line.spec is not None
    ]


def test_a_spec_that_is_nearer_is_not_hidden_deeper_down() -> None:
    catalog, ids = catalog_with({0: [1, 2], 1: [2], 2: [3], 3: []})
    tree = tree_of(catalog, ids[0], "dependencies")
    tree = read_unfolded(catalog, tree, *rows_of(tree, "p1"))

    assert names(tree, "dependencies") == ["p1", "  p2", "p2"]
    deeper, nearer = rows_of(tree, "p2")
    assert tree.is_repeated(deeper)
    assert not tree.can_unfold(deeper)
    assert tree.can_unfold(nearer)
    tree = read_unfolded(catalog, tree, nearer)
    tree = tree.fold(*rows_of(tree, "p1"))
    assert names(tree, "dependencies") == ["p1", "p2", "  p3"]


def test_what_is_unfolded_stays_where_it_is_when_it_comes_up_nearer_by() -> None:
    catalog, ids = catalog_with({0: [1, 4], 1: [2], 2: [3], 3: [5], 4: [3], 5: []})
    tree = tree_of(catalog, ids[0], "dependencies")
    for name in ("p1", "p2", "p3", "p4"):
        (row,) = rows_of(tree, name)
        tree = read_unfolded(catalog, tree, row)

    deep, near = rows_of(tree, "p3")
    assert tree.lines[deep].is_unfolded
    assert tree.is_repeated(near)
    tree = tree.fold(deep)
    assert tree.can_unfold(rows_of(tree, "p3")[-1])


def test_a_spec_that_needs_itself_is_shown_and_leads_no_further() -> None:
    catalog, ids = catalog_with({0: [0, 1], 1: [0]})
    tree = unfold_all(catalog, tree_of(catalog, ids[0]))

    heads = [line for line in tree.lines if line.edge is None]
    assert [head_text(head) for head in heads] == ["depends on 2", "used by 2"]
    assert names(tree, "dependencies") == ["p0", "p1", "  p0"]
    assert {fold_sign(tree, row) for row in rows_of(tree, "p0")} == {"↑"}


def test_a_line_unfolds_to_a_bounded_number_of_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (model, detail):
        monkeypatch.setattr(module, "MAX_CHILDREN", 2)
    catalog, ids = catalog_with({0: [1, 2, 3], 1: [], 2: [], 3: []})
    tree = tree_of(catalog, ids[0])
    assert head_text(tree.lines[0]) == "depends on 3"
    tree = read_unfolded(catalog, tree, 0)
    assert names(tree, "dependencies") == ["p1", "p2"]
    assert head_text(tree.lines[0]) == "depends on 3, first 2 shown"
