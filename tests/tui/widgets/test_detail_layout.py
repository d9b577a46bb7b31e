"""The values of a spec in rows, and the lines of trees: what comes first, flows, and is cut."""

from pathlib import Path
from typing import Any

import pytest

from spackscope.model.index.index_file import Columns
from spackscope.model.index.tree import Tree, read_specs
from spackscope.model.report.detail import (
    BUILDS,
    COMPARE_HINTS,
    DIFFER_IN,
    INSTALL,
    NEEDS,
    NEXT_TO,
    TREE_HINTS,
    USED_BY,
    USERS_HINTS,
    VARIANTS,
    DetailLine,
    dependency_line,
)
from spackscope.model.report.report import part_at, text_of
from spackscope.tui.widgets.detail_layout import LayoutRow, layout, rule_texts, tree_pieces
from tests.builders.catalogs import catalog_of
from tests.builders.nodes import edge, node
from tests.builders.pages import hash_of
from tests.builders.spack import database, installs, write_index
from tests.hostile import HOSTILE_TEXT
from tests.model.index.test_dependency_tree import catalog_with, everyone, tree_of

HASH = "uehz56wshngztk47qm2f2fw4zqaoxohy"
TITLE = [
    DetailLine("hdf5@1.14.6", style="title"),
    DetailLine(HASH, style="hash"),
]
STATE = DetailLine("cached", "state", style="good", at_end=True)
COMMAND = DetailLine(f"spack install --cache-only /{HASH}", INSTALL, hints=(("copy", "hash"),))
VARIANT_LINES = [
    DetailLine("+hl", VARIANTS, style="differs"),
    DetailLine("+mpi", style="differs"),
    DetailLine("~cxx", style="same"),
]
DIFFERENCE = [
    DetailLine("wuqgt3p", NEXT_TO, style="link", id=1, hints=COMPARE_HINTS),
    DetailLine("libiconv 1.18 ≠ 1.17", style="differs"),
    DetailLine("(mpich › libxml2 › libiconv)", style="dim", lead=" "),
]
NEEDED = [
    DetailLine("mpich@4.3.2", NEEDS, style="link", id=2, hints=TREE_HINTS, total=11),
    DetailLine("(mpi)", style="virtual", lead=" "),
    *(DetailLine(f"zlib{n}@1.3", style="link", id=n) for n in range(10)),
]
USERS = [
    DetailLine("vtk", USED_BY, style="link", id=3, suffix="@9.2.6", hints=USERS_HINTS, total=2),
    DetailLine("visit", style="link", id=4, suffix="@3.4.1"),
]
REST = [
    DetailLine("gcc@11.4.0", "compiler"),
    DetailLine("linux", "platform"),
    DetailLine("ubuntu22.04", "os"),
    DetailLine("-", "size"),
]
LINES = [*TITLE, COMMAND, *VARIANT_LINES, STATE, *REST, *DIFFERENCE, *NEEDED, *USERS]


def drawn(rows: list[LayoutRow]) -> list[str]:
    texts = ([text_of(tuple(part.pieces)) for part in row] for row in rows)
    return ["".join(text).rstrip() for text in texts]


def values(row: LayoutRow) -> list[DetailLine]:
    return [part.target for part in row if not isinstance(part.target, str)]


def test_the_command_comes_first_then_the_variants_and_what_it_needs() -> None:
    assert drawn(layout(LINES, 78, 4)) == [
        HASH,
        f"spack install --cache-only /{HASH}",
        "next to    wuqgt3p libiconv 1.18 ≠ 1.17 (mpich › libxml2 › libiconv)    d diff",
        "variants   +hl +mpi ~cxx",
        "built for  ubuntu22.04, linux, with gcc@11.4.0",
        "needs      mpich@4.3.2 (mpi) zlib0@1.3 zlib1@1.3 zlib2@1.3 and 7 more    t tree".replace(
            "    t", "   t"
        ),
        "used by    vtk@9.2.6 visit@3.4.1                                       u users",
        "size       -",
    ]
    (without_compiler,) = drawn(layout([DetailLine("no compiler", "compiler")], 78, 4))
    assert without_compiler == "built for  no compiler"
    facts = [DetailLine("zen3", "target"), DetailLine("no compiler", "compiler")]
    assert drawn(layout(facts, 78, 4)) == ["built for  zen3, no compiler"], "without `with`"


def test_a_narrow_pane_has_the_hash_in_the_command() -> None:
    rows = drawn(layout(LINES, 52, 4))
    assert rows[0] == f"spack install /{HASH}"
    assert rows[3] == "built for  ubuntu22.04 linux, gcc@11.4.0"
    external = DetailLine("nothing to install: external at /usr", INSTALL, style="dim")
    assert drawn(layout([*TITLE, external], 52, 4)) == [HASH, external.text]


def test_builds_of_a_row_differ_in_packages() -> None:
    builds = DetailLine("2 builds look the same, but run differently", BUILDS)
    telling = DetailLine("zlib-ng", DIFFER_IN, style="differs")
    assert drawn(layout([*TITLE, builds, telling], 78, 4))[1:] == [f"{builds.text}: zlib-ng"]


def test_variants_are_left_out_only_where_no_row_is_blank() -> None:
    many = [*VARIANT_LINES, *(DetailLine(f"~variant{n}", style="same") for n in range(30))]
    for height, rows in (1, 1), (3, 3), (30, 6):
        shown = drawn(layout(many, 78, height))
        assert len(shown) == rows
        assert shown[-1].endswith(" more" if rows < 6 else "~variant29")
    assert drawn(layout(many, 78, 1)) == [
        "variants   +hl +mpi ~cxx ~variant0 ~variant1 ~variant2 ~variant3 … 26 more"
    ]


VERDICT = DetailLine("✓ runs here", "runs here", at_end=True)


@pytest.mark.parametrize(
    ("name", "width", "texts"),
    [
        ("hdf5@1.14.6", 33, ["hdf5@1.14.6", "cached  ✓ runs here"]),
        ("hdf5@1.14.6", 29, ["hdf5@1.14.6", "cached  ✓ runs h…"]),
        ("py-very-long-name@1", 33, ["py-ver…-name@1", "cached  ✓ runs here"]),
    ],
)
def test_the_rule_has_the_name_and_the_state(name: str, width: int, texts: list[str]) -> None:
    lines = [DetailLine(name, style="title"), STATE, VERDICT]
    assert [
        "".join(text for part in parts for text, _ in part.pieces)
        for parts in rule_texts(lines, width)
    ] == texts


def test_where_there_is_room_lists_are_longer() -> None:
    rows = drawn(layout(LINES, 78, 4))
    rows = drawn(layout(LINES, 78, 30))
    assert rows[6].split()[-2:] == ["zlib8@1.3", "zlib9@1.3"]


@pytest.mark.parametrize("width", [8, 20, 38, 58, 78, 128])
@pytest.mark.parametrize("height", [1, 4, 6, 10, 30])
def test_rows_fit_every_size(width: int, height: int) -> None:
    for row in layout(LINES, width, height):
        assert sum(part.width for part in row) <= width


def test_where_it_is_narrow_versions_of_users_go_first_and_texts_are_cut_between_words() -> None:
    users = [DetailLine(f"package{n}", style="link", id=n, suffix="@1.0")
             for n in range(6)]  # fmt: skip
    rows = drawn(layout([*TITLE, *USERS[:1], *users, *DIFFERENCE], 78, 2))
    assert rows[2].startswith("used by    vtk package0 package1")
    rows = drawn(layout(LINES, 58, 4))
    assert "next to    wuqgt3p libiconv 1.18 ≠ 1.17 …           d diff" in rows


def test_every_value_is_a_stop_and_keys_are_at_the_ends() -> None:
    rows = layout(LINES, 78, 4)
    assert [value.text for value in values(rows[0])] == [HASH]
    assert [value.text for value in values(rows[4])] == ["ubuntu22.04", "linux", "gcc@11.4.0"]
    assert [value.text for value in values(rows[6])] == ["vtk", "visit"]
    assert part_at(rows[6], len("used by    vtk@9.2.6 v")).target.text == "visit"
    assert part_at(rows[6], 77).target == "u"
    assert part_at(rows[6], 500).target == ""
    (more,) = (value for value in values(rows[5]) if value.text == "and 7 more")
    assert more.hints == TREE_HINTS, "choosing it shows the tree"


def test_long_values_are_wrapped_below_themselves() -> None:
    long = DetailLine("a value that is too long for a line", "spec")
    assert drawn(layout([*TITLE, long], 34, 10))[1:] == [
        "spec       a value that is too",
        "           long for a line",
    ]


def test_a_key_is_named_where_the_terminal_has_no_sign_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("spackscope.tui.keymap.supports_unicode", lambda: False)
    kinds = DetailLine("4 kinds", BUILDS, suffix=": ⏎ opens")
    assert drawn(layout([TITLE[0], kinds], 60, 4)) == ["4 kinds: enter opens"]


WIDTH = 40


def drawn_tree(tree: Tree) -> list[str]:
    lines = (tree_pieces(tree, row, WIDTH) for row in range(len(tree.lines)))
    return ["".join(text for text, _ in line).rstrip() for line in lines]


def test_thousands_are_drawn_without_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    catalog, ids = catalog_with(
        {0: [*range(1, 2_001)], **{number: [] for number in range(1, 2_001)}}
    )
    tree = tree_of(catalog, ids[0], "dependencies")
    assert len(tree.lines) == 2_002
    monkeypatch.delattr(Columns, "raw")
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

    assert drawn_tree(tree) == [
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
    assert drawn_tree(upwards) == [
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
