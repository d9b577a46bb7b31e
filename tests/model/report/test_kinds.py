"""Tests of the lines that say what kinds differ in."""

from __future__ import annotations

import pytest

from spackscope.model.analysis.varying import Cell, ComparedRow
from spackscope.model.report.kinds import ONLY_BUILD_DIFFERS, differing_lines, phrase


def row(
    package: str, attribute: str, *values: Cell, tells: bool = True, follows: str = ""
) -> ComparedRow:
    return ComparedRow(
        "run", package, attribute, values, tells=tells, follows=follows, packages=(package,)
    )


@pytest.mark.parametrize(
    ("rows", "counts", "lines"),
    [
        # The usual kind runs the same, and others differ from it.
        (
            [
                row("libiconv", "version", ("1.18",), ("1.17",), ("1.18",), ("1.18",)),
                row("mpich", "variant:hwloc", ("~",), ("~",), ("+",), ("+",)),
                row("libfabric", "variant:rxm", ("+",), ("+",), ("~",), ("~",), tells=False),
                row("pkgconf", "version", ("2.5.1",), ("2.5.1",), ("2.5.1",), ("1.9.5",)),
                row("hwloc", "present", None, None, ("2",), ("2",), tells=False, follows="mpich"),
            ],
            [9, 1, 1, 1],
            [
                ONLY_BUILD_DIFFERS,
                "libiconv 1.17, others 1.18",
                "mpich +hwloc, libfabric ~rxm",
                "the same, and pkgconf 1.9.5",
            ],
        ),
        # A single usual spec says what tells the others apart.
        (
            [row("zstd", "version", ("1.5.7",), ("1.5.2",))],
            [1, 1],
            ["zstd 1.5.7", "zstd 1.5.2, others 1.5.7"],
        ),
        # Values of one package are joined, and many are counted.
        (
            [
                row("mpich", "variant:hwloc", ("~",), ("+",)),
                row("mpich", "variant:fabrics", ("tcp",), ("tcp", "udp"), tells=False),
                *(row(f"lib{n}", "version", ("1",), ("2",), tells=False) for n in range(5)),
            ],
            [2, 1],
            [
                ONLY_BUILD_DIFFERS,
                "mpich +hwloc fabrics +udp, lib0 2, lib1 2, lib2 2, 2 more",
            ],
        ),
        (
            [row(name, "present", None, ("1",)) for name in ("curl", "zstd")],
            [2, 1],
            [ONLY_BUILD_DIFFERS, "with curl 1, with zstd 1"],
        ),
        # A provider is named once.
        (
            [
                row("mpi", "provider", ("mpich@4",), ("openmpi@5",), ("openmpi@6",), None),
                row("openmpi", "version", None, ("5",), ("6",), None, tells=False),
            ],
            [2, 1, 1, 1],
            [ONLY_BUILD_DIFFERS, "openmpi 5", "openmpi 6", "no mpi"],
        ),
        (
            [row("zlib", "version", ("1",), ("\x1b[31m",))],
            [2, 1],
            [ONLY_BUILD_DIFFERS, "zlib ␛[31m, others 1"],
        ),
    ],
)
def test_each_kind_says_what_it_differs_in(
    rows: list[ComparedRow], counts: list[int], lines: list[str]
) -> None:
    assert differing_lines(rows, counts) == lines


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
