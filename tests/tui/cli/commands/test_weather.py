"""`weather` says how much of environments or stacks the caches cover, by host."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.builders import SPACK_DATA, database, edge, environment, leaf, node, write_index
from tests.program import Program

ZLIB, HDF5, VTK, BZIP2 = (letter * 32 for letter in "zhvb")
ZEN3 = {"platform": "linux", "platform_os": "rocky9", "target": "zen3"}
ZEN4 = {**ZEN3, "target": "zen4"}
WEATHER = ("weather", "spack.lock", "-f", "index.json", "--host", "zen3")


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


def test_each_environment_has_a_row_and_each_host_a_column(program: Program, home: Path) -> None:
    result = program(*WEATHER, "--host", "zen4", "--json")
    (row,) = json.loads(result.stdout)
    assert (row["environment"], row["specs"], row["cached"]) == ("spack.lock", 3, 2)
    assert (row["runs_on_zen3_linux"], row["runs_on_zen4_linux"]) == (33.33, 66.67)
    assert (row["percent"], row["unknown_sizes"], row["most_needed"]) == (66.67, 2, ["vtk@1.3.1"])
    assert (result.returncode, result.stderr) == (0, "")
    _, text = program.on_terminal(*WEATHER, changes={"NO_COLOR": "1"})
    assert text.splitlines()[-1].split()[:6] == ["spack.lock", "3", "66", "%", "33", "%"]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ([], 0),
        (["--fail-under", "66"], 1),
        (["--fail-under", "33"], 0),
        (["--fail-under", "34"], 1),
        (["--fail-under", "much"], 2),
        (["--fail-under", "101"], 2),
        (["--host", "nosuch=1"], 2),
    ],
)
def test_a_limit_is_an_exit_code(
    words: list[str], code: int, program: Program, home: Path
) -> None:
    assert program(*WEATHER, *words).returncode == code
    # Without a host that is named, what counts is what is there.
    limit = ("weather", "spack.lock", "-f", "index.json", "--fail-under")
    assert program(*limit, "66").returncode == 0
    assert program(*limit, "67").returncode == 1


def test_the_worst_of_several_rows_decides(program: Program, home: Path) -> None:
    whole = environment([leaf(ZLIB, "zlib", "1.3")], ZLIB)
    (home / "whole.lock").write_bytes(whole)
    for names in (("whole.lock", "spack.lock"), ("spack.lock", "whole.lock")):
        words = ("weather", *names, "-f", "index.json", "--fail-under")
        assert [program(*words, limit).returncode for limit in ("66", "67")] == [0, 1]


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
    (row,) = json.loads(program("weather", "spack.lock", "-f", "index.json", "--json").stdout)
    assert row["most_needed"] == ["zlib@1.3 (2)", "bzip2@1.0 (1)", "hdf5@1.3.1", "vtk@1.3.1"]


def test_snapshots_make_a_trend(program: Program, home: Path) -> None:
    whole = (home / "index.json").read_bytes()
    write_index(home, leaf(ZLIB, "zlib", "1.3"))
    program("snapshot", "-f", "index.json")
    (home / "index.json").write_bytes(whole)
    program("snapshot", "-f", "index.json")
    (row,) = json.loads(program(*WEATHER, "--json").stdout)
    assert row["trend"] == [33.33, 66.67]
    assert "33 → 66 % ▃▆" in program.on_terminal(*WEATHER)[1]


def test_without_an_environment_there_is_a_row_for_each_stack(program: Program) -> None:
    rows = json.loads(program("weather", "--host", "zen3", "--json").stdout)
    assert ("data-vis-sdk", 7, 100.0) in [
        (row["stack"], row["specs"], row["percent"]) for row in rows
    ]


def test_bytes_are_summed_as_far_as_they_are_told(program: Program) -> None:
    words = ("weather", "-f", str(SPACK_DATA / "mirror-v3"), "--host", "zen3", "--json")
    (row,) = json.loads(program(*words).stdout)
    assert (round(row["archives"], -2), row["unknown_sizes"]) == (16_000, 18)


def test_of_nothing_there_is_no_weather(program: Program) -> None:
    (program.home / "empty.json").write_bytes(database({}))
    result = program("weather", "-f", "empty.json", "--fail-under", "100")
    assert (result.returncode, result.stdout) == (1, "")
