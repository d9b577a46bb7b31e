"""Tests of the lines that say how two specs differ, and in what kinds differ."""

from typing import Any

import pytest

from spackscope.model.analysis.compare import Cause, Comparison, Difference
from spackscope.model.analysis.varying import Cell, ComparedRow
from spackscope.model.report.differences import difference_lines, unexplained_text
from spackscope.model.report.row_notes import ONLY_BUILD_TOOLS, differing_lines, phrase


def cause(*differences: Difference, path: str = "", run: bool = True, package: str = "") -> Cause:
    names = tuple(path.split())
    name = package or (names[-1] if names else "hdf5")
    own = tuple(difference._replace(package=name) for difference in differences)
    return Cause(name, names, 0, 1, run, above=1, differences=own)


def texts(*causes: Cause) -> list[str]:
    return [line.text for line in difference_lines(Comparison(causes))]


ZLIB: dict[str, Any] = {"dependency": "zlib", "deptypes": ("link",)}


@pytest.mark.parametrize(
    ("difference", "text"),
    [
        (Difference("version", "1.17", "1.18"), "hdf5 1.17 ≠ 1.18"),
        (Difference("variant:mpi", True, False), "hdf5 +mpi ≠ ~mpi"),
        (Difference("variant:ipo", None, False), "hdf5 without ≠ ~ipo"),
        (Difference("variant:api", "v18", "v110"), "hdf5 api=v18 ≠ v110"),
        (Difference("variant:cuda_arch", None, ("80", "90")), "hdf5 without ≠ cuda_arch=80,90"),
        (Difference("variant:fabrics", ("rxm", "tcp"), ("tcp",)), "hdf5 fabrics +rxm ≠ ~rxm"),
        (Difference("variant:fabrics", ("rxm",), ("tcp",)), "hdf5 fabrics=rxm ≠ tcp"),
        (Difference("cflags", ("-O2", "-g"), None), "hdf5 cflags -O2 -g ≠ without"),
        (Difference("package_hash", "a" * 52, "b" * 52), "hdf5 recipe aaaaaaa ≠ bbbbbbb"),
        (Difference("patches", None, ("a" * 64,)), "hdf5 patches without ≠ aaaaaaa"),
        (Difference("external", "/usr", None), "hdf5 external /usr ≠ without"),
        (Difference("external_module", ("a", "b"), None), "hdf5 module a b ≠ without"),
        (Difference("os", "rhel8", "rhel9"), "os rhel8 ≠ rhel9"),
        (Difference("provider", "mpich", "fmpi", virtuals=("mpi",)), "mpi: mpich ≠ fmpi"),
        (Difference("dependency", "zlib@1", None, **ZLIB), "hdf5 with zlib@1 ≠ without"),
        (Difference("dependency", None, "zlib@1", **ZLIB), "hdf5 without ≠ with zlib@1"),
        (
            Difference("deptypes", ("build", "run"), ("run",), dependency="py-pip"),
            "hdf5 py-pip used to build,run ≠ run",
        ),
        (Difference("virtuals", ("c",), ("c", "f"), dependency="gcc"), "hdf5 gcc as c ≠ c,f"),
        (Difference("version", "1\x1b[2J", "2"), "hdf5 1␛[2J ≠ 2"),
    ],
)
def test_a_difference_is_a_short_line(difference: Difference, text: str) -> None:
    assert texts(cause(difference)) == [text]


VERSION, OS = Difference("version", "1", "2"), Difference("os", "rhel8", "rhel9")
MORE = Difference("external_extra", '{"a": 1}', None)


@pytest.mark.parametrize(
    ("causes", "lines"),
    [
        # What is not a direct dependency has the path to it.
        ([cause(VERSION, path="libiconv")], ["libiconv 1 ≠ 2"]),
        ([cause(VERSION, path="mpich xz zlib")], ["zlib 1 ≠ 2, through mpich › xz › zlib"]),
        ([cause(OS, path="mpich")], ["os rhel8 ≠ rhel9 at mpich"]),
        # Attributes of an external are told by its prefix, if that differs.
        ([cause(Difference("external", "/a", "/b"), MORE)], ["hdf5 external /a ≠ /b"]),
        ([cause(MORE)], ['hdf5 external attributes {"a": 1} ≠ without']),
    ],
)
def test_causes_are_told_with_their_place(causes: list[Cause], lines: list[str]) -> None:
    assert texts(*causes) == lines


def test_equal_differences_are_one_line_and_what_follows_is_left_out() -> None:
    recipe = Difference("package_hash", "a", "b", follows="version")
    causes = [cause(OS), *(cause(OS, VERSION, recipe, path=name) for name in ("zlib", "mpich"))]

    assert texts(*causes[:2]) == ["os rhel8 ≠ rhel9 at hdf5, zlib", "zlib 1 ≠ 2"]
    assert texts(*causes) == ["os rhel8 ≠ rhel9 at 3 packages", "zlib 1 ≠ 2", "mpich 1 ≠ 2"]


def test_what_only_builds_comes_last() -> None:
    gnuconfig = Difference(
        "dependency", "gnuconfig@1", None, dependency="gnuconfig", deptypes=("build",)
    )
    built_with = cause(VERSION, path="cmake", run=False)
    causes = built_with, cause(gnuconfig, path="zlib"), cause(VERSION, path="mpich")
    lines = difference_lines(Comparison(causes))

    assert [(line.subject, line.runs) for line in lines] == [
        *(("mpich", True), ("cmake", False), ("zlib", False))
    ]


def test_long_values_are_shortened() -> None:
    (line,) = difference_lines(Comparison((cause(Difference("version", "1" * 999, "2")),)))
    assert len(line.a) == 60


def test_what_is_not_told_is_a_sentence() -> None:
    assert unexplained_text(Comparison()) == ""
    assert unexplained_text(Comparison(lists_dependencies=False)) == (
        "Dependencies are not listed, so not compared"
    )
    assert unexplained_text(Comparison(unexplained=("zlib", "gcc", "bzip2"))) == (
        "The sources do not list why zlib, gcc, 1 more differ"
    )
    assert "too many" in unexplained_text(Comparison(is_cut=True))


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
