"""The lines of the dependency tree and of a path, in Spack's letters and signs."""

from pathlib import Path
from typing import Any

import pytest

from spackscope.model.index.index_file import Columns
from spackscope.model.index.tree import Tree, read_specs
from spackscope.model.report.detail import dependency_line
from spackscope.model.report.report import text_of
from spackscope.tui.widgets.detail_layout import tree_pieces
from tests.builders.catalogs import catalog_of
from tests.builders.nodes import edge, node
from tests.builders.pages import hash_of
from tests.builders.spack import database, installs, write_index
from tests.hostile import HOSTILE_TEXT
from tests.model.index.test_dependency_tree import catalog_with, everyone, tree_of

WIDTH = 40


def drawn(tree: Tree) -> list[str]:
    lines = (tree_pieces(tree, row, WIDTH) for row in range(len(tree.lines)))
    return ["".join(text for text, _ in line).rstrip() for line in lines]


def test_thousands_are_drawn_without_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    catalog, ids = catalog_with(
        {0: [*range(1, 2_001)], **{number: [] for number in range(1, 2_001)}}
    )
    tree = tree_of(catalog, ids[0], "dependencies")
    assert len(tree.lines) == 2_002
    monkeypatch.delattr(Columns, "view")
    lines = {"".join(text for text, _ in tree_pieces(tree, row, 50)) for row in range(1, 2_001)}
    assert {line[-7:] for line in lines} == {hash_of(number)[:7] for number in range(1, 2_001)}


def test_lines_have_the_letters_and_signs_of_spack(tmp_path: Path) -> None:
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

    assert drawn(tree) == [
        "▾ depends on 3",
        f"b    ├   c,cxx=gcc@13  external  {hashes[2][:7]}",
        f"bl   ├   mpi=openmpi@5.0.3       {hashes[1][:7]}",
        f"  rt └   zlib  ?                 {hashes[3][:7]}",
        "  used by nothing",
    ]
    edges = catalog.edges.of(hdf5.id)
    specs = read_specs(catalog, [edge.child for edge in edges])
    assert sorted(text_of(dependency_line(edge, specs[edge.child])) for edge in edges) == [
        f"[  rt] zlib /{hashes[3][:7]} (not in this index)",
        f"[b   ] c,cxx=gcc@13 /{hashes[2][:7]} (dependency only)",
        f"[bl  ] mpi=openmpi@5.0.3 /{hashes[1][:7]}",
    ]

    upwards = tree_of(catalog, openmpi.id, "dependents")
    assert drawn(upwards) == [
        "  depends on nothing",
        "▾ used by 1",
        f"bl   └   hdf5@1.14 as mpi        {hashes[0][:7]}",
    ]


@pytest.mark.parametrize("text", [text for _, text in HOSTILE_TEXT])
def test_names_and_virtuals_are_never_escape_sequences(tmp_path: Path, text: str) -> None:
    dependencies = [edge(text, hash_of(1), [text], [text]), edge("x", hash_of(2), ["build"])]
    path = write_index(tmp_path, node(hash_of(0), dependencies=dependencies))
    catalog = catalog_of(path)
    for row in catalog.rows(everyone(catalog)):
        tree = tree_of(catalog, row.id, "dependencies", "dependents")
        for number in range(len(tree.lines)):
            pieces = [*tree_pieces(tree, number, WIDTH), *tree_pieces(tree, number, 500)]
            assert all(text.isprintable() for text, _ in pieces)
