"""Tests of the lines that say how two specs differ, and in what kinds differ."""

from typing import Any

import pytest

from spackscope.model.analysis.differences import Cell, Difference
from spackscope.model.report.differences import changes_text, difference_lines, pair_text
from spackscope.model.report.row_notes import ONLY_BUILD_TOOLS, differing_lines, phrase


def row(package: str, attribute: str, *values: Cell, **fields: Any) -> Difference:
    fields = {"tells": True, "packages": (package,), **fields}
    return Difference("run", package, attribute, values, **fields)


@pytest.mark.parametrize(
    ("difference", "text"),
    [
        (("version", ("1.17",), ("1.18",)), "hdf5 1.17 ≠ 1.18"),
        (("variant:mpi", ("+",), ("~",)), "hdf5 +mpi ≠ ~mpi"),
        (("variant:ipo", (), ("~",)), "hdf5 without ≠ ~ipo"),
        (("variant:api", ("v18",), ("v110",)), "hdf5 api=v18 ≠ v110"),
        (("variant:cuda_arch", None, ("80", "90")), "hdf5 without ≠ cuda_arch=80,90"),
        (("variant:fabrics", ("rxm", "tcp"), ("tcp",)), "hdf5 fabrics +rxm ≠ ~rxm"),
        (("variant:fabrics", ("rxm",), ("tcp",)), "hdf5 fabrics=rxm ≠ tcp"),
        (("cflags", ("-O2", "-g"), ()), "hdf5 cflags -O2 -g ≠ without"),
        (("package_hash", ("a" * 52,), ("b" * 52,)), "hdf5 recipe aaaaaaa ≠ bbbbbbb"),
        (("patches", (), ("a" * 64,)), "hdf5 patches without ≠ aaaaaaa"),
        (("external", ("/usr",), ()), "hdf5 external /usr ≠ without"),
        (("external_module", ("a", "b"), ()), "hdf5 module a b ≠ without"),
        (("present", ("1",), None), "hdf5 1 ≠ without"),
        (("provider", ("mpich@4",), ("fmpi@1",)), "hdf5: mpich@4 ≠ fmpi@1"),
        (("version", ("1\x1b[2J",), ("2",)), "hdf5 1␛[2J ≠ 2"),
        (("version", ("1" * 999,), ("2",)), f"hdf5 {'1' * 29}…{'1' * 30} ≠ 2"),
    ],
)
def test_a_difference_is_a_short_line(difference: tuple[str, Cell, Cell], text: str) -> None:
    assert pair_text(row("hdf5", *difference)) == text


VERSION: tuple[str, Cell, Cell] = ("version", ("1",), ("2",))
OS: tuple[str, Cell, Cell] = ("os", ("rhel8",), ("rhel9",))


@pytest.mark.parametrize(
    ("difference", "line"),
    [
        # A package that is not a direct dependency has the path to it.
        (row("libiconv", *VERSION, path=("libiconv",)), "libiconv 1 ≠ 2"),
        (row("xz", *VERSION, path=("mpich", "xz")), "xz 1 ≠ 2, through mpich › xz"),
        (row("a", *OS)._replace(part="own"), "os rhel8 ≠ rhel9"),
        (row("a", *OS, packages=("a", "b")), "os rhel8 ≠ rhel9 at a, b"),
        (row("a", *OS, packages=("a", "b", "c")), "os rhel8 ≠ rhel9 at 3 packages"),
    ],
)
def test_lines_have_their_place(difference: Difference, line: str) -> None:
    assert [line.text for line in difference_lines([difference])] == [line]


def test_what_follows_is_left_out_and_what_only_builds_comes_last() -> None:
    lines = difference_lines(
        [
            row("cmake", *VERSION)._replace(part="build"),
            row("zlib", *VERSION),
            row("zlib", "package_hash", ("a",), ("b",), follows="version", tells=False),
        ]
    )
    assert [(line.text, line.runs) for line in lines] == [
        ("zlib 1 ≠ 2", True),
        ("cmake 1 ≠ 2", False),
    ]


def test_changes_of_a_package_are_named_together() -> None:
    changes = [row("zlib", *VERSION), row("zlib", *OS), row("xz", *VERSION)]
    assert changes_text(changes, "→") == "zlib 1 → 2, os rhel8 → rhel9 · xz 1 → 2"


def rows_of(*lines: str) -> list[Difference]:
    """Read rows: a package, an attribute, values, of which `-` is none, and what it follows."""
    rows = []
    for line in lines:
        text, _, follows = line.partition(" < ")
        package, attribute, *values = text.split()
        cells = [None if value == "-" else tuple(value.split(",")) for value in values]
        rows.append(row(package, attribute, *cells, tells=not follows, follows=follows))
    return rows


@pytest.mark.parametrize(
    ("rows", "counts", "lines"),
    [
        # The usual kind runs the same, and others differ from it.
        (
            rows_of(
                "libiconv version 1.18 1.17 1.18 1.18",
                "mpich variant:hwloc ~ ~ + +",
                "libfabric variant:rxm + + ~ ~",
                "pkgconf version 2.5.1 2.5.1 2.5.1 1.9.5",
                "hwloc present - - 2 2 < mpich",
            ),
            [9, 1, 1, 1],
            ["libiconv 1.17, others 1.18", "mpich +hwloc, libfabric ~rxm",
             "the same, and pkgconf 1.9.5"],
        ),
        # Values of one package are joined, and many are counted.
        (
            rows_of("mpich variant:hwloc ~ +", "mpich variant:fabrics tcp tcp,udp",
                    *(f"lib{n} version 1 2" for n in range(5))),
            [2, 1],
            ["mpich +hwloc fabrics +udp, lib0 2, lib1 2, lib2 2, 2 more"],
        ),
        (rows_of("curl present - 1", "zstd present - 1"), [2, 1], ["with curl 1, with zstd 1"]),
        # A provider is named once.
        (
            rows_of("mpi provider mpich@4 openmpi@5 openmpi@6 -", "openmpi version - 5 6 -"),
            [2, 1, 1, 1],
            ["openmpi 5", "openmpi 6", "no mpi"],
        ),
        (rows_of("zlib version 1 \x1b[31m"), [2, 1], ["zlib ␛[31m, others 1"]),
    ],
)  # fmt: skip
def test_each_kind_says_what_it_differs_in(
    rows: list[Difference], counts: list[int], lines: list[str]
) -> None:
    usual, *others = differing_lines(rows, counts)
    assert (usual, others) == (ONLY_BUILD_TOOLS, lines)


def test_a_single_usual_spec_says_what_tells_the_others_apart() -> None:
    told = differing_lines(rows_of("zstd version 1.5.7 1.5.2"), [1, 1])
    assert told == ["zstd 1.5.7", "zstd 1.5.2, others 1.5.7"]


@pytest.mark.parametrize(
    ("attribute", "cell", "text"),
    [
        ("version", ("1.2",), "zlib 1.2"),
        ("variant:pic", ("+",), "zlib +pic"),
        ("variant:pic", (), "zlib without pic"),
        ("variant:libs", ("shared", "static"), "zlib libs=shared,static"),
        ("present", ("1.2",), "with zlib 1.2"),
        ("present", None, "without zlib"),
        ("target", ("zen4",), "zlib target zen4"),
        ("external_module", ("zlib/1.2",), "zlib module zlib/1.2"),
        ("package_hash", ("abcdefghijkl",), "zlib recipe abcdefg"),
        ("patches", ("abcdefghijkl", "bcdefghijklm"), "zlib patches abcdefg bcdefgh"),
        ("hash", ("abcdefg",), "zlib hash abcdefg"),
        ("version", None, "no zlib"),
    ],
)
def test_phrases(attribute: str, cell: Cell, text: str) -> None:
    assert phrase(row("zlib", attribute, cell), 0) == text
