"""`prune --preview` says what pruning a cache would take away, and what would break."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.builders import database, edge, installs, leaf, node, record, write_index, write_page
from tests.program import Program

ZLIB, OLD_ZLIB, HDF5, VTK, CMAKE = (letter * 32 for letter in "zohvc")


@pytest.fixture
def home(program: Program) -> Path:
    """Write a cache: vtk needs hdf5 and that an old zlib; cmake only builds it."""
    nodes = [
        leaf(ZLIB, "zlib", "1.3"),
        leaf(OLD_ZLIB, "zlib", "1.2"),
        leaf(CMAKE, "cmake", "3.31"),
        node(
            HDF5,
            name="hdf5",
            version="1.14",
            dependencies=[edge("zlib", OLD_ZLIB, ["link"]), edge("cmake", CMAKE, ["build"])],
        ),
        node(VTK, name="vtk", version="9.2", dependencies=[edge("hdf5", HDF5, ["link"])]),
    ]
    write_index(program.home, *nodes)
    return program.home


PRUNE = ("prune", "--preview", "-f", "index.json")


def title(program: Program, *words: str) -> str:
    """Return the sentence above the table, which a pipe has on stderr."""
    return program(*PRUNE, *words).stderr.splitlines()[0].removeprefix("spackscope: ")


def test_what_stays_breaks_through_what_it_links(program: Program, home: Path) -> None:
    _, text = program.on_terminal(*PRUNE, "zlib@1.2", changes={"NO_COLOR": "1"})
    lines = [line for line in text.splitlines() if line and not line.startswith("\r")]
    assert " ".join(lines[-8:-6]) == (
        "Spack keeps what was modified after the index of the mirror; of the rest it also deletes "
        "specs that the index does not list, which are not counted here"
    )
    assert [lines[-9], *lines[-6:]] == [
        "Prune preview: removes 1 of 5 specs, size unknown; 2 others would break",
        "hash     package  version  needs     needs hash  still needed by",
        "would break",
        f"{HDF5[:7]}  hdf5     1.14     zlib@1.2  {OLD_ZLIB[:7]}",
        f"{VTK[:7]}  vtk      9.2      zlib@1.2  {OLD_ZLIB[:7]}",
        "would be removed",
        f"{OLD_ZLIB[:7]}  zlib     1.2                                          1",
    ]


def test_the_sentence_says_how_many_break_and_whether_that_is_known(
    program: Program, home: Path
) -> None:
    assert title(program, "hdf5").endswith("; 1 other would break")
    # It builds hdf5.
    assert title(program, "cmake").endswith("; nothing else needs them to run")
    write_page(home / "pages", [record(hash=ZLIB), record(hash=OLD_ZLIB)])
    told = program("prune", "--preview", "-f", "pages", f"/{ZLIB}").stderr.splitlines()
    assert told[0].endswith("; nothing else needs them to run, as far as dependencies are listed")
    assert told[1] == "spackscope: No source lists the dependencies of 1 spec that would stay"


def test_what_only_builds_breaks_nothing(program: Program, home: Path) -> None:
    words = ("prune", "--preview", "--json", "-f", "index.json", "cmake", "zlib@1.3")
    result = program(*words)
    rows = json.loads(result.stdout)
    assert {(row["hash"], row["state"], row["size"]) for row in rows} == {
        (CMAKE, "removed", None),
        (ZLIB, "removed", None),
    }
    assert result.returncode == 0


def test_a_keep_list_names_what_stays(program: Program, home: Path) -> None:
    (home / "keep").write_text(f"{HDF5}\n# a remark\n{VTK}\n")
    result = program("prune", "--preview", "keep", "-f", "index.json", "--json")
    rows = json.loads(result.stdout)
    removed = {row["hash"] for row in rows if row["state"] == "removed"}
    assert removed == {ZLIB, OLD_ZLIB, CMAKE}
    broken = [(row["hash"], row["needs_hash"]) for row in rows if row["state"] == "broken"]
    assert broken == [(HDF5, OLD_ZLIB), (VTK, OLD_ZLIB)]
    assert result.returncode == 1
    everything = "\n".join((HDF5, VTK, ZLIB, OLD_ZLIB, CMAKE))
    (home / "keep").write_text(everything)
    nothing = "Prune preview: removes 0 of 5 specs, 0 B; nothing else needs them to run"
    assert title(program, "keep") == nothing
    result = program("prune", "--preview", "-", "-f", "index.json", stdin=home / "keep")
    assert result.returncode == 0


def test_only_what_is_cached_can_go(program: Program) -> None:
    nodes = installs(leaf(CMAKE, "cmake", "3.31"), in_buildcache=False, installed=True)
    nodes |= installs(leaf(ZLIB, "zlib", "1.3"))
    (program.home / "index.json").write_bytes(database(nodes))
    assert title(program, "zlib").startswith("Prune preview: removes 1 of 1 spec")


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["prune", "hdf5"], 2, "prune deletes nothing: add --preview"),
        (["prune", "--preview"], 2, "prune needs a keep-list or a query; see"),
        (
            ["prune", "--preview", "wrong"],
            3,
            "wrong is not a keep-list: it needs a full hash on each line",
        ),
        (["prune", "--preview", "keep"], 1, "keep"),
        (["prune", "--preview", "./none"], 3, "./none cannot be read: no such file"),
    ],
)
def test_mistakes_end_in_a_sentence(
    words: list[str], code: int, message: str, program: Program, home: Path
) -> None:
    (home / "wrong").write_text(f"{HDF5}\nhdf5\n")
    result = program(*words, "-f", "index.json")
    assert result.returncode == code
    assert message in result.stderr
    assert not result.stdout


def test_wrong_lines_of_a_keep_list_have_no_hint_at_the_index(
    program: Program, home: Path
) -> None:
    (home / "wrong").write_text("hdf5\n" * 25)
    result = program("prune", "--preview", "wrong", "-f", "index.json")
    assert result.stderr.splitlines()[-2:] == [
        "spackscope: and 5 more problems",
        "spackscope: wrong is not a keep-list: it needs a full hash on each line",
    ]


def test_the_largest_are_removed_first(program: Program) -> None:
    sizes = ["5 MB", "-", "7 MB", "1 MB", "12 MB"]
    write_page(program.home / "pages", [record(n, size=size) for n, size in enumerate(sizes)])
    removed = program("prune", "--preview", "--jsonl", "-f", "pages", "zlib").stdout.splitlines()
    assert [json.loads(line)["size"] for line in removed] == [
        *(size * 10**6 for size in (12, 7, 5, 1)),
        None,
    ]
