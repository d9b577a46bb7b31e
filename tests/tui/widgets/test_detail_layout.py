"""The detail of a spec, wrapped to a width, with the dependency tree before its first head."""

from __future__ import annotations

from spackscope.model.catalog.dependency_graph import Edge
from spackscope.model.catalog.dependency_tree import GraphSpec, Node, Tree
from spackscope.model.presentation.detail import DetailLine
from spackscope.tui.widgets.detail_layout import LayoutRow, layout, tree_pieces

LINES = [
    DetailLine("zlib@1.3", kind="title"),
    DetailLine("gcc", "compiler"),
    DetailLine("e4s", "stacks"),
    DetailLine("radiuss", is_continued=True),
    DetailLine("variants (2)", kind="head"),
    DetailLine("+shared", kind="differs"),
    DetailLine("a value that is too long for a line", kind="same"),
]
TREE = Tree((Node(0, "dependencies", 1), Node(0, "dependents", 2)))


def drawn(rows: list[LayoutRow]) -> list[str]:
    return ["".join(text for text, _ in row.pieces) for row in rows]


def test_values_follow_their_labels_and_long_ones_are_wrapped() -> None:
    assert drawn(layout(LINES, None, 30)) == [
        "zlib@1.3",
        "compiler  gcc",
        "stacks    e4s",
        "          radiuss",
        "",
        "variants (2)",
        "≠ +shared",
        "  a value that is too long for",
        "  a line",
    ]


def test_the_tree_comes_before_the_first_head() -> None:
    rows = layout(LINES, TREE, 30)
    assert [row.tree_row for row in rows[4:7]] == [None, 0, 1]
    assert rows[7].line is LINES[4]
    assert layout(LINES[:2], TREE, 30)[-1].tree_row == 1, "without a head it comes last"


def test_lines_of_the_tree_keep_the_hash_however_deep_they_are() -> None:
    nodes = [Node(0, "dependencies", 1, is_unfolded=True)]
    for depth in range(1, 30):
        edge = Edge(depth - 1, depth, ("build", "link"), ("mpi",))
        spec = GraphSpec("openmpi", "5.0.3", f"{depth:07}" + "x" * 25)
        nodes.append(Node(depth, "dependencies", 1, depth, edge, spec, is_unfolded=True))
    tree = Tree(tuple(nodes))
    for width in (36, 60):
        lines = [
            "".join(text for text, _ in tree_pieces(tree, row, width)) for row in range(1, 30)
        ]
        assert {len(line) for line in lines} == {width}
        assert all(line.endswith(f"{depth:07}") for depth, line in enumerate(lines, 1))
        assert "29·" in lines[-1], "what is too deep says how deep it is"
    assert lines[0].startswith("[bl  ] ▾ mpi=openmpi@5.0.3 ")


def test_a_label_longer_than_its_margin_takes_room_of_the_first_row_only() -> None:
    rows = layout([DetailLine("mpich zlib-ng gcc-runtime", "needs to run")], None, 30)
    assert drawn(rows) == ["needs to run mpich zlib-ng", "          gcc-runtime"]
