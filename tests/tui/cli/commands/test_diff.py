import json
import subprocess
from pathlib import Path

import pytest

from tests.builders.nodes import edge, leaf, node
from tests.builders.pages import hash_of, record, write_page
from tests.builders.spack import SPACK_DATA, write_index
from tests.model.analysis.lock_files import Made, made, write_lock
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
    return write_index(program.home, *nodes)


def lines_of(program: Program, *words: object, columns: int = 100) -> list[str]:
    """Return what a terminal shows, without blank lines."""
    arguments = ("diff", *map(str, words), "--no-color")
    _, text = program.on_terminal(*arguments, columns=columns)
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def test_what_only_builds_is_added_or_shown_where_nothing_else_differs(
    program: Program, index: Path
) -> None:
    same = lines_of(program, "-f", index, HDF5, OTHER_CMAKE)
    assert same[0] == "hdf5@1.14.6 · only build tools differ: both run the same"
    assert same[2:] == ["build dependencies", "cmake    3        4", "used by  0        0"]
    words = ("-f", index, OTHER_ZLIB, OTHER_CMAKE)
    assert not any("cmake" in line for line in lines_of(program, *words))
    assert any("cmake    3        4" in line for line in lines_of(program, *words, "--build"))


def test_all_lists_what_follows_and_what_is_equal_too(program: Program, index: Path) -> None:
    words = ("-f", index, "hdf5 ~mpi", HDF5)
    causes = lines_of(program, *words)
    assert "--all adds 2 that follow from these" in causes[1]
    assert [line.split()[0] for line in causes[4:]] == ["the", "mpi", "used"]
    every = lines_of(program, *words, "--all")
    assert any(line.split()[:3] == ["mpich", "without", "1.3.1"] for line in every)
    assert any(line.split()[:3] == ["version", "1.14.6", "1.14.6"] for line in every)
    markdown = program("diff", *map(str, words), "--markdown").stdout
    assert markdown.startswith("**`hdf5@1.14.6`")
    assert "adds" not in markdown, "a text for others names no option"


def test_scripts_get_a_row_for_each_difference(program: Program, index: Path) -> None:
    result = program("diff", "-f", str(index), HDF5, OTHER_ZLIB, "--json", code=1)
    zlib, users = json.loads(result.stdout)
    assert zlib == {
        "package": "zlib",
        "attribute": "version",
        "part": "run",
        "what": "zlib",
        HDF5: "1",
        OTHER_ZLIB: "2",
        "follows": None,
        "path": ["mpich", "zlib"],
        "where": "mpich › zlib",
    }
    assert (users["what"], users[OTHER_ZLIB], users["where"]) == ("used by", "1", "vtk")
    words = ("diff", "-f", str(index), HDF5, OTHER_ZLIB, NO_MPI)
    form = f"{{package}} {{attribute}} {{{NO_MPI}}}"
    assert "hdf5 variant:mpi ~" in program(*words, "--format", form).stdout.splitlines()
    assert set(program(*words, "--hashes").stdout.split()) == {HDF5, OTHER_ZLIB, NO_MPI}


def test_those_that_run_the_same_have_one_column(program: Program, index: Path) -> None:
    words = ("-f", index, HDF5, OTHER_ZLIB, OTHER_CMAKE, NO_MPI)
    lines = lines_of(program, *words)
    assert lines[0] == "hdf5@1.14.6 · 4 builds, 3 ways to run · 1 more build like one of these"
    assert [" ".join(line.split()) for line in lines[-5:]] == [
        "the specs themselves",
        "mpi + + ~",
        "run-time dependencies",
        "zlib 1 2 without mpich › zlib",
        "used by 0 1 0 vtk",
    ]
    assert any(len(line.split()) == 5 for line in lines_of(program, *words, "--each")[2:4])
    same = lines_of(program, "-f", index, HDF5, OTHER_CMAKE, SAME_CMAKE)
    assert same[0] == "hdf5@1.14.6 · only build tools differ: all 3 run the same"
    assert [" ".join(line.split()) for line in same[2:]] == [
        "build dependencies",
        "cmake 3 4",
        "used by 0 0",
    ]


def test_columns_that_do_not_fit_are_named(program: Program, index: Path) -> None:
    lines = lines_of(program, "-f", index, HDF5, OTHER_ZLIB, NO_MPI, columns=24)
    assert all(len(line) <= 24 for line in lines)
    assert NO_MPI in "".join(lines)


def test_the_same_spec_is_alike(program: Program, index: Path) -> None:
    result = program("diff", "-f", str(index), HDF5, "hdf5 ^zlib@1 ^cmake@3", code=0)
    assert "These are the same spec" in result.stderr
    assert program.rows("diff", "-f", str(index), HDF5, HDF5, "--sort", "attribute") == []


def test_a_page_tells_its_own_values_only(program: Program) -> None:
    write_page(program.home / "develop.md", [record(1), record(2, os="rocky9"), record(3)])
    words = ("-f", "develop.md", hash_of(1))
    untold = "Dependencies are not listed, so not compared"
    title, remark, _, part, row = lines_of(program, *words, hash_of(2))
    assert (title, remark, part) == ("zlib@1.3.1 · 2 builds", untold, "the specs themselves")
    assert row.split() == ["os", "ubuntu24.04", "rocky9"]
    title = "zlib@1.3.1 · 2 builds · no known difference"
    assert lines_of(program, *words, hash_of(3)) == [title, untold]


def test_splices_of_the_same_and_of_other_specs_are_told_apart(program: Program) -> None:
    built, other, *spliced = map(hash_of, range(61, 65))
    one, two, three = [
        node(hash_, name="hdf5", dependencies=..., build_spec={"name": "hdf5", "hash": of})
        for hash_, of in zip([*spliced, other], (built, built, hash_of(65)), strict=True)
    ]
    write_index(program.home, one, two, three, node(built, name="hdf5", dependencies=...))

    def first(*hashes: str) -> list[str]:
        words = (f"/{each}" for each in hashes)
        lines = lines_of(program, "-f", "index.json", *words)
        return [line for line in lines if "splice" in line]

    names = [each[:7] for each in spliced]
    assert first(*spliced) == [
        f"{names[0]} and {names[1]} are both {built[:7]}, spliced with other dependencies"
    ]
    sentence = f"{names[0]} is {built[:7]}, spliced with other dependencies"
    assert first(spliced[0], built) == first(built, spliced[0]) == [sentence]
    assert first(spliced[0], other) == [
        f"{names[0]} is spliced: it was built as {built[:7]}",
        f"{other[:7]} is spliced: it was built as {hash_of(65)[:7]}",
    ]


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
    write_index(program.home, *nodes)

    found = program.rows("find", "-f", "index.json", "spliced")
    lines = lines_of(program, "-f", "index.json", f"/{HDF5}", f"/{SAME_CMAKE}")

    assert [(spec["hash"], spec["build_spec"]) for spec in found] == [(SAME_CMAKE, HDF5)]
    assert lines[1:3] == [
        f"{SAME_CMAKE[:7]} is {HDF5[:7]}, spliced with other dependencies",
        f"zlib {ZLIBS[0][:7]} ≠ {ZLIBS[1][:7]}",
    ]
    assert any(line.split() == ["zlib", "1", "2"] for line in lines)


def test_the_first_two_packages_are_in_the_title(program: Program) -> None:
    nodes = [leaf(hash_of(number), name, "1") for number, name in enumerate("abc")]
    path = str(write_index(program.home, *nodes))
    for names, title in (("ab", "a, b · 2 builds"), ("abc", "a, b, … · 3 builds")):
        assert program("diff", "-f", path, *names).stderr.startswith(f"spackscope: {title}")


@pytest.mark.parametrize("place", ["", "./"])
def test_two_files_beside_a_source_are_answered_with_a_way_that_works(
    program: Program, place: str
) -> None:
    for name in ("a.json", "b.json"):
        write_index(program.home / name, leaf("z" * 32, "zlib", "1.3"))
    files = [f"{place}a.json", f"{place}b.json"]
    message = program.refused("diff", "-f", "a.json", *files, code=2)
    assert f"{files[0]} is a file: without -f, diff compares two sources" in message
    assert program("diff", *files).returncode == 0


OLD, NEW = made("zlib", "1.2"), made("zlib", "1.3")


def roots(zlib: Made, *more: Made) -> list[Made]:
    hdf5 = made("hdf5", links=[zlib])
    return [hdf5, made("app", links=[hdf5]), *more]


def write_locks(program: Program) -> tuple[str, str]:
    write_lock(program.home / "old" / "spack.lock", *roots(OLD, made("bzip2")))
    write_lock(program.home / "new" / "spack.lock", *roots(NEW, made("xz", "5.4")))
    return "old/spack.lock", "new/spack.lock"


def rows_of(result: subprocess.CompletedProcess[str]) -> list[tuple[str, ...]]:
    """Return kind, text and number of specs of the rows, which are tabs in a pipe."""
    return [tuple(line.split("\t")[:3]) for line in result.stdout.splitlines()[1:]]


def test_two_lock_files_are_compared(program: Program) -> None:
    result = program("diff", *write_locks(program), code=1)
    assert result.stderr == "spackscope: 4 → 4 specs: 3 changed, 1 added, 1 removed\n"
    others = "changed because of dependencies"
    assert rows_of(result) == [
        ("roots", "+ xz@5.4", "1"),
        ("roots", "- bzip2@1.0", "1"),
        (others, "only because of zlib 1.2 → 1.3", "2"),
        ("changed", "zlib 1.2 → 1.3", "1"),
        ("added: 1 package", "xz@5.4", "1"),
        ("removed: 1 package", "bzip2@1.0", "1"),
        ("changed specs", "app@1.0", "1"),
        ("changed specs", "hdf5@1.0", "1"),
        ("changed specs", "zlib@1.2 → 1.3", "1"),
    ]


def test_equal_sources_are_alike(program: Program) -> None:
    old, _ = write_locks(program)
    for other in (old, "old"):
        result = program("diff", old, other)
        assert (result.returncode, rows_of(result)) == (0, [])
        assert result.stderr.endswith("spackscope: 4 specs unchanged\n")


def test_a_source_may_be_standard_input(program: Program) -> None:
    old, new = write_locks(program)
    result = program("diff", "-", new, stdin=program.home / old, code=1)
    assert result.stderr.endswith(" 4 → 4 specs: 3 changed, 1 added, 1 removed\n")


def test_json_has_the_hashes_before_and_after(program: Program) -> None:
    rows = program.rows("diff", *write_locks(program))
    by_what = {row["what"]: row for row in rows}
    assert by_what["zlib 1.2 → 1.3"]["through"] == 2
    changed = by_what["zlib@1.2 → 1.3"]
    assert (changed["old_hash"], changed["hash"]) == (OLD.hash, NEW.hash)
    assert by_what["xz@5.4"]["hashes"] == [made("xz", "5.4").hash]


def test_a_source_that_cannot_be_read_is_named(program: Program) -> None:
    old, _ = write_locks(program)
    (program.home / "empty").mkdir()
    for name in ("empty", "none.lock", "ftp://site.org/mirror"):
        assert name in program.refused("diff", old, name, code=3)


def test_pages_are_compared_by_what_they_tell(program: Program) -> None:
    for name, version in (("v1", "1.2"), ("v2", "1.3")):
        records = [record(int(name[1]), versions=[version]), record(int(name[1]) + 4)]
        write_page(program.home / f"{name}.md", records, tag=name)
    rows = rows_of(program("diff", "v1.md", "v2.md"))
    assert rows[:2] == [
        ("changed because of dependencies", "for reasons that the sources do not list", "1"),
        ("changed", "zlib 1.2 → 1.3", "1"),
    ]
