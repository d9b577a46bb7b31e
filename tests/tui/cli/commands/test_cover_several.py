"""`cover` says how much of several environments or stacks the caches have, by host."""

from pathlib import Path

import pytest

from tests.builders.nodes import edge, leaf, node
from tests.builders.pages import hash_of
from tests.builders.spack import SPACK_DATA, database, environment, write_index
from tests.program import Program

ZLIB, HDF5, VTK, BZIP2 = (letter * 32 for letter in "zhvb")
ZEN3 = {"platform": "linux", "platform_os": "rocky9", "target": "zen3"}
ZEN4 = {**ZEN3, "target": "zen4"}
COVER = ("cover", "spack.lock", "-f", "index.json")
ON_ZEN3 = (*COVER, "--host", "zen3")


@pytest.fixture
def home(program: Program) -> Path:
    """Write an environment, and a cache that has two of its three specs, one for zen4."""
    nodes = [
        {**leaf(ZLIB, "zlib", "1.3"), "arch": ZEN3},
        node(HDF5, name="hdf5", arch=ZEN4, dependencies=[edge("zlib", ZLIB, ["link"])]),
        node(VTK, name="vtk", arch=ZEN3, dependencies=[edge("hdf5", HDF5, ["link"])]),
    ]
    (program.home / "spack.lock").write_bytes(environment(nodes, VTK))
    write_index(program.home, *nodes[:2])
    return program.home


def test_each_environment_and_each_host_have_a_row(program: Program, home: Path) -> None:
    row, other = program.rows(*ON_ZEN3, "--host", "zen4")
    assert (row["environment"], row["specs"], row["cached"]) == ("spack.lock", 3, 2)
    assert [(each["host"], each["runs"]) for each in (row, other)] == [
        ("zen3, linux", 33.33),
        ("zen4, linux", 66.67),
    ]
    assert (row["percent"], row["unknown_sizes"], row["most_needed"]) == (66.67, 2, ["vtk@1.3.1"])
    _, text = program.on_terminal(*ON_ZEN3, changes={"NO_COLOR": "1"})
    cells = ["spack.lock", "3", "66", "%", "zen3,", "linux", "33", "%"]
    assert text.splitlines()[-1].split()[:8] == cells
    _, text = program.on_terminal(*COVER, "--host", "platform=linux", changes={"NO_COLOR": "1"})
    cells = ["spack.lock", "3", "66", "%", "linux", "unknown", "2"]
    assert text.splitlines()[-1].split()[:7] == cells


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ([], 1),
        (["--fail-under", "34"], 1),
        (["--fail-under", "33"], 0),
        (["--host", "zen4", "--fail-under", "34"], 1),
        (["--fail-under", "much"], 2),
        (["--fail-under", "101"], 2),
        (["--host", "nosuch=1"], 2),
    ],
)
def test_what_runs_on_a_host_is_compared_with_a_limit(
    words: list[str], code: int, program: Program, home: Path
) -> None:
    assert program(*ON_ZEN3, *words).returncode == code


@pytest.mark.parametrize("form", [[], ["--missing"], ["--hashes"], ["--missing", "--hashes"]])
def test_the_worst_environment_decides(form: list[str], program: Program, home: Path) -> None:
    (home / "whole.lock").write_bytes(environment([leaf(ZLIB, "zlib", "1.3")], ZLIB))
    for names in (["spack.lock"], ["whole.lock", "spack.lock"], ["spack.lock", "whole.lock"]):
        words = ("cover", *names, "-f", "index.json", *form)
        assert program(*words).returncode == 1
        codes = [program(*words, "--fail-under", limit).returncode for limit in ("66", "67")]
        assert codes == [0, 1]


def test_hashes_are_those_of_all_environments(program: Program, home: Path) -> None:
    (home / "other.lock").write_bytes(environment([leaf(BZIP2, "bzip2", "1.0")], BZIP2))
    words = (*COVER, "other.lock", "--hashes")
    assert program(*words).stdout.split() == [ZLIB, HDF5]
    assert program(*words, "--missing").stdout.split() == [VTK, BZIP2]


def test_only_environments_that_lack_something_are_missing(program: Program, home: Path) -> None:
    (home / "whole.lock").write_bytes(environment([leaf(ZLIB, "zlib", "1.3")], ZLIB))
    rows = program.rows(*COVER, "whole.lock", "--missing")
    assert [row["environment"] for row in rows] == ["spack.lock"]


def test_what_most_others_need_is_named_first(program: Program, home: Path) -> None:
    below = [edge("bzip2", BZIP2, ["link"]), edge("hdf5", HDF5, ["link"])]
    nodes = [
        leaf(BZIP2, "bzip2", "1.0"),
        leaf(ZLIB, "zlib", "1.3"),
        node(HDF5, name="hdf5", dependencies=[edge("zlib", ZLIB, ["link"])]),
        node(VTK, name="vtk", dependencies=below),
    ]
    (home / "spack.lock").write_bytes(environment(nodes, VTK))
    write_index(home, leaf("o" * 32, "other", "1"))
    (row,) = program.rows(*ON_ZEN3)
    assert row["most_needed"] == ["zlib@1.3 (2)", "bzip2@1.0 (1)", "hdf5@1.3.1", "vtk@1.3.1"]


def test_without_an_environment_there_is_a_row_for_each_stack(program: Program) -> None:
    rows = program.rows("cover", "--host", "zen3")
    assert ("data-vis-sdk", 7, 100.0) in [
        (row["stack"], row["specs"], row["percent"]) for row in rows
    ]


def test_bytes_are_summed_as_far_as_they_are_told(program: Program) -> None:
    (row,) = program.rows("cover", "-f", str(SPACK_DATA / "mirror-v3"), "--host", "zen3")
    assert (round(row["archives"], -2), row["unknown_sizes"]) == (16_000, 18)


def test_a_cache_without_specs_covers_nothing(program: Program) -> None:
    (program.home / "empty.json").write_bytes(database({}))
    program("cover", "-f", "empty.json", "--fail-under", "100", code=1, stdout="")


@pytest.mark.parametrize(
    ("cached", "drawn"), [(0, "0 %"), (1, "<1 %"), (2, "1 %"), (199, "99 %"), (200, "100 %")]
)
def test_only_nothing_is_0_percent_and_only_all_is_100(
    cached: int, drawn: str, program: Program
) -> None:
    nodes = [leaf(hash_of(number), f"p{number}", "1") for number in range(200)]
    lock = environment(nodes, *(node["hash"] for node in nodes))
    (program.home / "spack.lock").write_bytes(lock)
    write_index(program.home, *nodes[:cached], leaf(hash_of(999), "other", "1"))
    _, text = program.on_terminal(*ON_ZEN3, changes={"NO_COLOR": "1"})
    assert text.splitlines()[-1].split(maxsplit=2)[2].startswith(drawn)
