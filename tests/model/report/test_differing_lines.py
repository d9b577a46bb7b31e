"""Tests of the lines that say what kinds differ in."""

from typing import Any

import pytest

from spackscope.model.analysis.varying import Cell, ComparedRow
from spackscope.model.report.row_notes import ONLY_BUILD_TOOLS, differing_lines, phrase


def row(package: str, attribute: str, *values: Cell, **fields: Any) -> ComparedRow:
    fields = {"tells": True, "packages": (package,), **fields}
    return ComparedRow("run", package, attribute, values, **fields)


def rows_of(*lines: str) -> list[ComparedRow]:
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
    rows: list[ComparedRow], counts: list[int], lines: list[str]
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
        ("external_module", ("zlib/1.2",), "zlib external module zlib/1.2"),
        ("package_hash", ("abcdefghijkl",), "zlib recipe abcdefg"),
        ("patches", ("abcdefghijkl", "bcdefghijklm"), "zlib patches abcdefg,bcdefgh"),
        ("hash", ("abcdefg",), "zlib hash abcdefg"),
        ("version", None, "no zlib"),
    ],
)
def test_phrases(attribute: str, cell: Cell, text: str) -> None:
    assert phrase(row("zlib", attribute, cell), 0) == text
