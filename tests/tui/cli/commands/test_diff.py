from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.builders import (
    SPACK_DATA,
    database,
    edge,
    hash_of,
    installs,
    leaf,
    node,
    record,
    write_page,
)
from tests.program import Program

MIRROR = str(SPACK_DATA / "mirror-v3")

HDF5, OTHER_ZLIB, OTHER_CMAKE, NO_MPI, SAME_CMAKE = map(hash_of, range(11, 16))
ZLIBS, MPICHS, CMAKES = ([hash_of(n) for n in pair] for pair in ((21, 22), (31, 32), (41, 42)))


@pytest.fixture
def index(program: Program) -> Path:
    """Builds of hdf5: through mpich with another zlib, with another cmake, without mpich."""

    def hdf5(hash_: str, zlib: int, cmake: int, mpi: bool = True) -> dict[str, object]:
        return node(
            hash_,
            name="hdf5",
            version="1.14.6",
            parameters={"mpi": mpi},
            dependencies=[
                edge("cmake", CMAKES[cmake], ["build"]),
                *([edge("mpich", MPICHS[zlib], ["build", "link"], ["mpi"])] if mpi else []),
            ],
        )

    mpichs = [
        node(MPICHS[i], name="mpich", dependencies=[edge("zlib", ZLIBS[i], ["link"])])
        for i in (0, 1)
    ]
    nodes = [
        hdf5(HDF5, 0, 0),
        hdf5(OTHER_ZLIB, 1, 0),
        hdf5(OTHER_CMAKE, 0, 1),
        hdf5(SAME_CMAKE, 0, 1),
        hdf5(NO_MPI, 0, 0, mpi=False),
        node(hash_of(51), name="vtk", dependencies=[edge("hdf5", OTHER_ZLIB, ["link"])]),
        *mpichs,
        *(leaf(hash_, "zlib", version) for hash_, version in zip(ZLIBS, "12", strict=True)),
        *(leaf(hash_, "cmake", version) for hash_, version in zip(CMAKES, "34", strict=True)),
    ]
    path = program.home / "index.json"
    path.write_bytes(database(installs(*nodes)))
    return path


def heads(*hashes: str) -> list[str]:
    return [f"{hash_[:7]}  hdf5@1.14.6  none  ubuntu24.04  x86_64_v3" for hash_ in hashes]


def test_the_causes_are_listed_with_their_path(program: Program, index: Path) -> None:
    result = program("diff", "-f", str(index), HDF5, f"/{OTHER_ZLIB}")
    assert result.returncode == 1
    assert result.stdout.splitlines() == [
        *heads(HDF5, OTHER_ZLIB),
        "",
        "run-time dependencies",
        "  zlib 1 ≠ 2, through mpich › zlib",
    ]


def test_what_only_builds_is_counted_or_listed(program: Program, index: Path) -> None:
    same = program("diff", "-f", str(index), HDF5, OTHER_CMAKE)
    assert same.returncode == 1
    assert same.stdout.splitlines()[3:] == [
        "only build dependencies differ: both run the same",
        "  cmake 3 ≠ 4",
    ]

    words = ("diff", "-f", str(index), OTHER_ZLIB, OTHER_CMAKE)
    assert program(*words).stdout.splitlines()[-1] == (
        "build dependencies: 1 package differs; --build shows it"
    )
    assert program(*words, "--build").stdout.splitlines()[-2:] == [
        "build dependencies",
        "  cmake 3 ≠ 4",
    ]


def test_all_lists_what_follows_too(program: Program, index: Path) -> None:
    words = ("diff", "-f", str(index), "hdf5 ~mpi", HDF5)
    assert program(*words).stdout.splitlines()[3:] == [
        "run-time dependencies",
        "  hdf5 ~mpi ≠ +mpi",
    ]
    assert program(*words, "--all").stdout.splitlines()[3:] == [
        "hdf5",
        "  ~mpi ≠ +mpi",
        "  without ≠ with mpich@1.3.1, comes with mpi",
    ]


def test_scripts_get_a_row_for_each_difference(program: Program, index: Path) -> None:
    result = program("diff", "-f", str(index), "--json", HDF5, OTHER_ZLIB)
    assert result.returncode == 1
    assert json.loads(result.stdout) == [
        {
            "package": "zlib",
            "attribute": "version",
            HDF5: "1",
            OTHER_ZLIB: "2",
            "run": True,
            "follows": None,
            "path": ["mpich", "zlib"],
        }
    ]
    words = ("diff", "-f", str(index), HDF5, OTHER_ZLIB, NO_MPI, "--format")
    lines = program(*words, f"{{package}} {{attribute}} {{{NO_MPI}}}").stdout.splitlines()
    assert "hdf5 variant:mpi ~" in lines


def test_more_specs_are_a_table_of_what_varies(program: Program, index: Path) -> None:
    result = program("diff", "-f", str(index), HDF5, OTHER_ZLIB, OTHER_CMAKE, NO_MPI)
    assert result.returncode == 1
    lines = result.stdout.splitlines()
    assert [line[0] for line in lines[:4]] == ["a", "a", "b", "c"]
    assert lines[4:] == [
        "",
        "4 specs, 3 ways to run: those with one letter run the same",
        "         a  b  c",
        "the specs themselves",
        "  mpi    +  +  ~",
        "run-time dependencies",
        "  zlib   1  2  -  mpich › zlib",
        "used by  -  1  -  vtk",
    ]


def test_specs_that_run_the_same_show_what_builds_them(program: Program, index: Path) -> None:
    result = program("diff", "-f", str(index), HDF5, OTHER_CMAKE, SAME_CMAKE)
    assert result.stdout.splitlines()[4:] == [
        "only build dependencies differ: all 3 run the same",
        "         a  b  c",
        "build dependencies",
        "  cmake  3  4  4",
    ]


def test_a_table_fits_the_terminal(program: Program, index: Path) -> None:
    words = ("diff", "-f", str(index), HDF5, OTHER_ZLIB, NO_MPI, "--build")
    with program.in_terminal(*words, "--no-color", columns=14) as terminal:
        terminal.wait()
    lines = terminal.text.splitlines()
    assert "         a  b" in lines
    assert "  mpi    +  +" in lines
    assert "         c" in lines


def test_the_same_spec_is_alike(program: Program, index: Path) -> None:
    result = program("diff", "-f", str(index), HDF5, "hdf5 ^zlib@1 ^cmake@3")
    assert (result.returncode, result.stdout.splitlines()[-1]) == (
        0,
        "One and the same spec: nothing differs",
    )
    assert json.loads(program("diff", "-f", str(index), "--json", HDF5, HDF5).stdout) == []


def test_values_that_differ_have_a_colour_on_a_terminal(program: Program, index: Path) -> None:
    words = ("diff", "-f", str(index), HDF5, OTHER_ZLIB)
    with program.in_terminal(*words) as terminal:
        assert terminal.wait() == 1
    assert f"\x1b[36m{HDF5[:7]}\x1b[0m  hdf5@1.14.6" in terminal.text
    assert "  zlib \x1b[33m1\x1b[0m ≠ \x1b[33m2\x1b[0m" in terminal.text

    with program.in_terminal(*words, "--no-color") as terminal:
        terminal.wait()
    assert "\x1b[" not in terminal.text


def test_a_page_tells_its_own_values_only(program: Program) -> None:
    write_page(
        program.home / "develop.md", [record(1), record(2, os="rocky9"), record(3), record(4)]
    )
    result = program("diff", "-f", "develop.md", hash_of(1), hash_of(2))
    assert result.returncode == 1
    assert result.stdout.splitlines()[3:] == [
        "  os ubuntu24.04 ≠ rocky9",
        "Dependencies not listed: not compared",
    ]
    alike = program("diff", "-f", "develop.md", hash_of(1), hash_of(3))
    assert alike.stdout.splitlines()[3:] == [
        "Nothing that is listed differs",
        "Dependencies not listed: not compared",
    ]
    more = program("diff", "-f", "develop.md", *map(hash_of, (1, 2, 3)))
    assert more.stdout.splitlines()[4:] == [
        "Dependencies not listed: not compared",
        "      a            b       c",
        "the specs themselves",
        "  os  ubuntu24.04  rocky9  ubuntu24.04",
    ]
    none = program("diff", "-f", "develop.md", *map(hash_of, (1, 3, 4)))
    assert none.stdout.splitlines() == [
        *(f"{hash_of(1)[:7]}  zlib@1.3.1  gcc@13.2.0  ubuntu24.04  x86_64_v3" for _ in range(3)),
        "",
        "Dependencies not listed: not compared",
        "Nothing that is listed differs",
    ]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ([], 2, "diff needs 2 to 20 specs"),
        (["hdf5"], 2, "diff needs 2 to 20 specs"),
        ([HDF5, "hdf5"], 2, "hdf5: Several specs match, give the hash of one:"),
        ([HDF5, "zzz"], 2, "zzz: No hash starts with zzz"),
        (["hdf5", "~mpi", HDF5], 2, "Each word is a spec; quote a query: 'hdf5 ~mpi'"),
        ([HDF5, "hdf5 ^["], 2, "the query has an error"),
        ([HDF5, "nosuch@1"], 2, "nosuch@1: "),
        (["-f", "nowhere", HDF5, "hdf5"], 3, "nowhere"),
    ],
    ids=str,
)
def test_every_word_names_one_spec(
    program: Program, index: Path, words: list[str], code: int, message: str
) -> None:
    sources = [] if "-f" in words else ["-f", str(index)]
    result = program("diff", *sources, *words)
    assert result.returncode == code
    assert re.search(re.escape(message), result.stderr)


def test_a_splice_is_named_first_with_what_it_replaces(program: Program) -> None:
    edges = [edge("cmake", CMAKES[0], ["build"]), edge("zlib", ZLIBS[0], ["build", "link"])]
    built = node(HDF5, name="hdf5", dependencies=edges)
    spliced = node(
        SAME_CMAKE,
        name="hdf5",
        dependencies=[edge("zlib", ZLIBS[1], ["link"])],
        build_spec={"name": "hdf5", "hash": HDF5},
    )
    zlibs = (leaf(hash_, "zlib", version) for hash_, version in zip(ZLIBS, "12", strict=True))
    nodes = (built, spliced, leaf(CMAKES[0], "cmake", "3"), *zlibs)
    (program.home / "index.json").write_bytes(database(installs(*nodes)))

    found = program("find", "-f", "index.json", "--json", "spliced").stdout
    lines = program("diff", "-f", "index.json", f"/{HDF5}", f"/{SAME_CMAKE}").stdout.splitlines()

    assert [(spec["hash"], spec["build_spec"]) for spec in json.loads(found)] == [
        (SAME_CMAKE, HDF5)
    ]
    assert lines[2:] == [
        f"{SAME_CMAKE[:7]} is {HDF5[:7]}, spliced with other dependencies",
        f"  zlib {ZLIBS[0][:7]} ≠ {ZLIBS[1][:7]}",
        "",
        "run-time dependencies",
        "  zlib 1 ≠ 2",
    ]
