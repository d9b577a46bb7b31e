"""Tests of the lines that say how two specs differ."""

from __future__ import annotations

import pytest

from spackscope.model.analysis.compare import Cause, Comparison, Difference
from spackscope.model.core.frozen import replace
from spackscope.model.report.differences import difference_lines, unexplained_text


def cause(*differences: Difference, path: str = "", run: bool = True, package: str = "") -> Cause:
    names = tuple(path.split())
    name = package or (names[-1] if names else "hdf5")
    own = tuple(replace(difference, package=name) for difference in differences)
    return Cause(name, names, 0, 1, run, deepest=True, above=1, differences=own)


def texts(*causes: Cause) -> list[str]:
    return [line.text for line in difference_lines(Comparison(causes))]


@pytest.mark.parametrize(
    ("difference", "text"),
    [
        (Difference("version", "1.17", "1.18"), "hdf5 1.17 ≠ 1.18"),
        (Difference("variant:mpi", True, False), "hdf5 +mpi ≠ ~mpi"),
        (Difference("variant:ipo", None, False), "hdf5 - ≠ ~ipo"),
        (Difference("variant:api", "v18", "v110"), "hdf5 api=v18 ≠ v110"),
        (Difference("variant:cuda_arch", None, ("80", "90")), "hdf5 - ≠ cuda_arch=80,90"),
        (Difference("variant:fabrics", ("rxm", "tcp"), ("tcp",)), "hdf5 fabrics +rxm ≠ ~rxm"),
        (Difference("variant:fabrics", ("rxm",), ("tcp",)), "hdf5 fabrics=rxm ≠ tcp"),
        (Difference("cflags", ("-O2", "-g"), None), "hdf5 cflags -O2 -g ≠ -"),
        (Difference("package_hash", "a" * 52, "b" * 52), "hdf5 recipe aaaaaaa ≠ bbbbbbb"),
        (Difference("patches", None, ("a" * 64,)), "hdf5 patches - ≠ aaaaaaa"),
        (Difference("external", "/usr", None), "hdf5 external /usr ≠ -"),
        (Difference("external_module", ("a", "b"), None), "hdf5 module a b ≠ -"),
        (Difference("os", "rhel8", "rhel9"), "os rhel8 ≠ rhel9"),
        (
            Difference("provider", "mpich@4", "openmpi@5", virtuals=("mpi",)),
            "mpi: mpich@4 ≠ openmpi@5",
        ),
        (
            Difference("dependency", "zlib@1.3", None, dependency="zlib", deptypes=("link",)),
            "hdf5 with zlib@1.3 ≠ without",
        ),
        (
            Difference("dependency", None, "zlib@1.3", dependency="zlib", deptypes=("link",)),
            "hdf5 without ≠ with zlib@1.3",
        ),
        (
            Difference("deptypes", ("build", "run"), ("run",), dependency="py-pip"),
            "hdf5 py-pip used to build,run ≠ run",
        ),
        (
            Difference("virtuals", ("c",), ("c", "cxx"), dependency="gcc"),
            "hdf5 gcc as c ≠ c,cxx",
        ),
        (Difference("version", "1\x1b[2J", "2"), "hdf5 1␛[2J ≠ 2"),
    ],
)
def test_a_difference_is_a_short_line(difference: Difference, text: str) -> None:
    assert texts(cause(difference)) == [text]


def test_a_line_has_the_path_to_what_is_not_a_direct_dependency() -> None:
    version = Difference("version", "1.17", "1.18")

    assert texts(cause(version, path="libiconv")) == ["libiconv 1.17 ≠ 1.18"]
    assert texts(cause(version, path="mpich libxml2 libiconv")) == [
        "libiconv 1.17 ≠ 1.18, through mpich › libxml2 › libiconv"
    ]
    assert texts(cause(Difference("os", "a", "b"), path="mpich")) == ["os a ≠ b at mpich"]


def test_a_long_path_is_cut_in_the_middle() -> None:
    names = " ".join(f"p{number}" for number in range(12))

    assert texts(cause(Difference("version", "1", "2"), path=names)) == [
        "p11 1 ≠ 2, through p0 › p1 › p2 › p3 › … › p8 › p9 › p10 › p11"
    ]


def test_equal_differences_are_one_line_and_what_follows_is_left_out() -> None:
    os, version = Difference("os", "rhel8", "rhel9"), Difference("version", "1", "2")
    recipe = Difference("package_hash", "a", "b", follows="version")
    causes = [cause(os), *(cause(os, version, recipe, path=name) for name in ("zlib", "mpich"))]

    assert texts(*causes[:2]) == ["os rhel8 ≠ rhel9 at hdf5, zlib", "zlib 1 ≠ 2"]
    assert texts(*causes) == ["os rhel8 ≠ rhel9 at 3 packages", "zlib 1 ≠ 2", "mpich 1 ≠ 2"]


def test_what_only_builds_comes_last() -> None:
    version = Difference("version", "1", "2")
    gnuconfig = Difference(
        "dependency", "gnuconfig@1", None, dependency="gnuconfig", deptypes=("build",)
    )
    causes = [
        cause(version, path="cmake", run=False),
        cause(gnuconfig, path="zlib"),
        cause(version, path="mpich"),
    ]
    lines = difference_lines(Comparison(tuple(causes)))

    assert [(line.subject, line.runs) for line in lines] == [
        ("mpich", True),
        ("cmake", False),
        ("zlib", False),
    ]


def test_the_json_of_an_external_is_told_by_its_prefix() -> None:
    prefix = Difference("external", "/usr", "/opt")
    more = Difference("external_extra", '{"a": 1}', None)

    assert texts(cause(prefix, more)) == ["hdf5 external /usr ≠ /opt"]
    assert texts(cause(more)) == ['hdf5 external attributes {"a": 1} ≠ -']


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
