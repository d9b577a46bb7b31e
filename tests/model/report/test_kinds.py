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


def test_the_usual_kind_runs_the_same_and_others_differ() -> None:
    rows = [
        row("libiconv", "version", ("1.18",), ("1.17",), ("1.18",), ("1.18",)),
        row("mpich", "variant:hwloc", ("~",), ("~",), ("+",), ("+",)),
        row("libfabric", "variant:rxm", ("+",), ("+",), ("~",), ("~",), tells=False),
        row("pkgconf", "version", ("2.5.1",), ("2.5.1",), ("2.5.1",), ("1.9.5",)),
        row("hwloc", "present", None, None, ("2",), ("2",), tells=False, follows="mpich"),
    ]

    assert differing_lines(rows, [9, 1, 1, 1]) == [
        ONLY_BUILD_DIFFERS,
        "libiconv 1.17, others 1.18",
        "mpich +hwloc, libfabric ~rxm",
        "the same, and pkgconf 1.9.5",
    ]


def test_a_single_usual_spec_says_what_tells_the_others_apart() -> None:
    rows = [row("zstd", "version", ("1.5.7",), ("1.5.2",))]

    assert differing_lines(rows, [1, 1]) == ["zstd 1.5.7", "zstd 1.5.2, others 1.5.7"]


def test_values_of_one_package_are_joined_and_many_are_counted() -> None:
    rows = [
        row("mpich", "variant:hwloc", ("~",), ("+",)),
        row("mpich", "variant:fabrics", ("tcp",), ("tcp", "udp"), tells=False),
        *(row(f"lib{n}", "version", ("1",), ("2",), tells=False) for n in range(5)),
    ]

    assert differing_lines(rows, [2, 1])[1] == (
        "mpich +hwloc fabrics +udp, lib0 2, lib1 2, lib2 2, 2 more"
    )


def test_packages_that_are_there_or_not_are_not_joined() -> None:
    rows = [row(name, "present", None, ("1",)) for name in ("curl", "zstd")]

    assert differing_lines(rows, [2, 1])[1] == "with curl 1, with zstd 1"


def test_a_provider_is_named_once() -> None:
    rows = [
        row("mpi", "provider", ("mpich@4.3.2",), ("openmpi@5.0.9",), ("openmpi@5.0.8",), None),
        row("openmpi", "version", None, ("5.0.9",), ("5.0.8",), None, tells=False),
    ]

    assert differing_lines(rows, [2, 1, 1, 1]) == [
        ONLY_BUILD_DIFFERS,
        "openmpi 5.0.9",
        "openmpi 5.0.8",
        "no mpi",
    ]


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


def test_text_from_outside_is_cleaned() -> None:
    rows = [row("zlib", "version", ("1",), ("\x1b[31m",))]

    assert differing_lines(rows, [2, 1])[1] == "zlib ␛[31m, others 1"
