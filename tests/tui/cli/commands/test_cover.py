"""`cover` says what caches have of an environment, what is missing, and how much of several."""

import json
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from spackscope.model.sources.source_name import SAMPLE
from tests.builders.manifests import ARCHIVE_TYPE, blob, entry, manifest
from tests.builders.mirrors import mirror_v3, serve_files, write_files
from tests.builders.nodes import edge, in_format, leaf, node
from tests.builders.pages import hash_of
from tests.builders.spack import (
    SPACK_DATA,
    SpackRoot,
    database,
    environment,
    installs,
    write_index,
    write_tree,
)
from tests.model.analysis.lock_files import made
from tests.program import Program
from tests.tui.cli.commands.test_files import LARGE, LIST, PREFIX, archive, listed, member

RHEL = {"platform": "linux", "platform_os": "rhel8", "target": "x86_64_v3"}


OF_GCC = made("gcc", "13.2.0", external={"path": "/usr"})
OF_ZLIB, OF_OLD_ZLIB = made("zlib", "1.3.1", builds=[OF_GCC]), made("zlib", "1.2")
OF_CMAKE = made("cmake", "3.31", builds=[OF_GCC])
OF_HDF5, OF_OLD_HDF5 = (
    made("hdf5", "1.14", builds=[OF_GCC, OF_CMAKE], links=[zlib], **arch)
    for zlib, arch in ((OF_ZLIB, {}), (OF_OLD_ZLIB, {"arch": RHEL}))
)
GCC, ZLIB, CMAKE, HDF5, OLD_ZLIB, OLD_HDF5 = (
    each.hash for each in (OF_GCC, OF_ZLIB, OF_CMAKE, OF_HDF5, OF_OLD_ZLIB, OF_OLD_HDF5)
)
WANTED = [each.node for each in (OF_GCC, OF_ZLIB, OF_CMAKE, OF_HDF5)]
"""The environment: hdf5, which links zlib and is built with cmake."""


def write_lock(path: Path, nodes: Sequence[dict[str, Any]], *roots: str, version: int = 6) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(environment(nodes, *roots, version=version))


@pytest.fixture
def home(program: Program) -> Path:
    """Write the environment, and a cache that has zlib, and hdf5 with another one for rhel8."""
    write_lock(program.home / "spack.lock", WANTED, HDF5)
    cached = installs(OF_ZLIB.node, OF_OLD_ZLIB.node, OF_OLD_HDF5.node)
    records = installs(*WANTED, in_buildcache=False) | cached
    (program.home / "index.json").write_bytes(database(records))
    return program.home


COVER = ("cover", "spack.lock", "-f", "index.json")


def titles(result: subprocess.CompletedProcess[str]) -> list[str]:
    """Return the title and the notes of an answer, which are messages where it is piped."""
    return [line.removeprefix("spackscope: ") for line in result.stderr.splitlines()]


def test_a_terminal_shows_what_is_missing_by_its_reason(program: Program, home: Path) -> None:
    code, text = program.on_terminal(*COVER, columns=120, changes={"NO_COLOR": "1"})

    assert code == 1
    lines = [re.sub(" {2,}", "  ", line) for line in text.splitlines()]
    assert lines == [
        "1 of 3 cached · 2 missing (1 needed by others) · 1 to fetch, 2 to build · 1 external",
        "2 missing: an index lists them, but no cache has the archives",
        "",
        "package  version  hash  role  differs in  nearest  needed by  where",
        "",
        "1 of 2 missing: no build of the package",
        f"cmake  3.31  {CMAKE[:7]}  build  1",
        "",
        "1 of 2 missing: os: ubuntu24.04 ≠ rhel8, and dependencies differ",
        f"hdf5  1.14  {HDF5[:7]}  root  os ubuntu24.04 ≠ rhel8 · zlib 1.3.1 ≠ 1.2  {OLD_HDF5[:7]}",
        "",
        "cached",
        f"zlib  1.3.1  {ZLIB[:7]}  index.json",
        "",
        "external",
        f"gcc  13.2.0  {GCC[:7]}  /usr",
    ]


def test_hashes_are_of_what_is_there_or_missing(program: Program, home: Path) -> None:
    missing = program(*COVER, "--missing", "--format", "{hash} {order}").stdout.splitlines()
    assert missing == [f"{CMAKE} 0", f"{HDF5} 1"]
    assert program(*COVER, "--missing", "--hashes").stdout.split() == [CMAKE, HDF5]
    result = program(*COVER, "--hashes")
    assert (result.returncode, result.stdout.split()) == (1, [ZLIB])


def test_scripts_get_everything(program: Program, home: Path) -> None:
    cmake, hdf5, zlib, gcc = program.rows(*COVER)
    for row, expected in (
        (zlib, {"hash": ZLIB, "state": "cached", "to": "fetch", "where": ["index.json"]}),
        (gcc, {"hash": GCC, "state": "external", "to": None, "where": ["/usr"]}),
        (cmake, {"hash": CMAKE, "nearest": None, "differs_in": [], "role": "build",
                 "needed_by": 1, "to": "build", "reason": "no build of the package"}),
        (hdf5, {"role": "root", "recorded": True, "nearest": OLD_HDF5,
                "differs_in": ["os ubuntu24.04 ≠ rhel8", "zlib 1.3.1 ≠ 1.2"],
                "reason": "os: ubuntu24.04 ≠ rhel8, and dependencies differ"}),
    ):  # fmt: skip
        assert row.items() >= expected.items()


def test_a_whole_or_empty_environment_is_a_success(program: Program, home: Path) -> None:
    write_index(home, *WANTED)
    result = program(*COVER)
    title = "3 of 3 cached · 2 to fetch, 0 to build · 1 external"
    assert (result.returncode, titles(result)) == (0, [title])
    assert program(*COVER, "--missing", "--hashes").stdout == ""
    write_lock(home / "spack.lock", [])
    for words in (COVER, ("cover", "-", "-f", "index.json")):
        result = program(*words)
        title = "0 of 0 cached · 0 to fetch, 0 to build"
        assert (result.returncode, titles(result)) == (0, [title])


def test_what_is_cached_and_what_is_installed_are_told_apart(program: Program, home: Path) -> None:
    write_tree(home / "tree", *WANTED[2:])
    result = program(*COVER, "-f", "tree", code=0)
    assert titles(result)[1:] == [
        "1 of 3 cached · 2 installed · 1 to fetch, 0 to build · 1 external",
        "2 in tree",
        "1 in index.json",
    ]
    only_tree = program("cover", "spack.lock", "-f", "tree").stderr
    assert "\nspackscope: 2 of 3 installed · 1 missing · " in only_tree


def test_an_environment_has_a_name(program: Program, home: Path, spack: SpackRoot) -> None:
    directory = spack.root / "var/spack/environments/climate"
    write_lock(directory / "spack.lock", WANTED, HDF5)
    root = str(spack.root)

    named = program("cover", "climate", "-f", "index.json", SPACK_ROOT=root)
    assert named.stdout == program(*COVER).stdout
    program("cover", "-f", "index.json", SPACK_ENV=str(directory), code=1, stdout=named.stdout)


def test_hashes_or_a_document_may_come_on_standard_input(program: Program, home: Path) -> None:
    hashes = home / "hashes"
    hashes.write_text(f"/{HDF5}\nhdf5\n\nzlib@1.3.1/{ZLIB}\n{hash_of(99)}\n{GCC}\n")

    result = program("cover", "-", "-f", "index.json", stdin=hashes, code=1)
    problem, doubt, title, *_ = titles(result)
    assert problem == "standard input: line 2: 'hdf5' is not a full hash"
    assert doubt == "The dependencies of 1 spec are unknown: no source lists them"
    assert title.startswith("1 of 3 cached · 2 missing · ")
    assert f"\t\t{hash_of(99)}\tmissing\tno source describes it\troot" in result.stdout
    listed = program("cover", "-", "-f", "index.json", "--missing", "--hashes", stdin=hashes)
    assert set(listed.stdout.split()) == {HDF5, hash_of(99)}
    piped = program("cover", "-", "-f", "index.json", stdin=home / "spack.lock")
    assert piped.stdout == program(*COVER).stdout
    hashes.write_text("hdf5\n")
    message = program.refused("cover", "-", "-f", "index.json", stdin=hashes, code=3)
    assert message.endswith("spackscope: standard input has no hashes\n")


def test_lock_files_of_other_formats_are_compared_as_far_as_possible(
    program: Program, home: Path
) -> None:
    old = [in_format(4, each) for each in WANTED if each["name"] != "gcc"]
    write_lock(home / "spack.lock", old, HDF5, version=5)
    doubt, title, *_ = titles(program(*COVER))
    assert doubt == ("Not all dependencies are compared: the sources list different types of them")
    assert title.startswith("1 of 3 cached · 2 missing (1 needed by others) · ")


def test_a_cache_that_cannot_be_read_may_have_the_rest(program: Program, home: Path) -> None:
    result = program(*COVER, "-f", "gone", code=3, says="the source gone does not exist")
    assert result.stdout == program(*COVER).stdout


def test_a_cache_has_to_be_named(program: Program, home: Path) -> None:
    message = program.refused("cover", "spack.lock", code=2, SPACKSCOPE_FROM="sample")
    assert "cover needs a cache to compare with, such as public" in message


def test_what_pages_do_not_list_is_not_told(program: Program) -> None:
    hashes = program("find", "-f", SAMPLE, "--hashes", "py-build").stdout.split()[:2]
    path = program.home / "hashes"
    path.write_text("\n".join(hashes))
    result = program("cover", "-", "-f", SAMPLE, stdin=path)

    assert titles(result) == [
        "The dependencies of 2 specs are unknown: no source lists them",
        "2 of 2 cached · 2 to fetch, 0 to build",
    ]


def write_built(program: Program, times: dict[str, Any], *built: dict[str, Any]) -> None:
    """Write an install tree with the times of builds, by hash."""
    records: dict[str, Any] = {}
    for each in built:
        prefix = f"tree/linux/{each['name']}-{each['hash']}"
        records |= installs(each, installed=True, path=f"{program.home}/{prefix}")
        program.write(f"{prefix}/.spack/install_times.json", json.dumps(times[each["hash"]]))
    program.write("tree/.spack-db/index.json", database(records).decode())


def test_minutes_come_from_the_nearest_builds_in_install_trees(
    program: Program, home: Path
) -> None:
    # The time of a spec that was fetched is not that of a build.
    times = {OLD_HDF5: {"total": 3000}, ZLIB: {"total": 5.0, "cache": True}}
    write_built(program, times, OF_ZLIB.node, OF_OLD_HDF5.node)
    words = ("cover", "spack.lock", "-f", "index.json", "-f", "tree")
    lines = titles(program(*words))
    assert "1 of 2 specs to build took 50 min before, by the nearest builds" in lines
    chain = "The longest chain of builds takes 50 min: cmake › hdf5 (1 of unknown time)"
    assert chain in lines
    rows = program.rows(*words, "--missing")
    assert {row["hash"]: row["build_seconds"] for row in rows} == {CMAKE: None, HDF5: 3000.0}
    # Nobody else expands the tilde of a source that a variable names.
    assert chain in titles(program("cover", "spack.lock", SPACKSCOPE_FROM="index.json ~/tree"))


@pytest.mark.parametrize("is_remote", [False, True])
def test_minutes_come_from_the_archives_of_the_nearest_builds(
    is_remote: bool, program: Program, home: Path
) -> None:
    # As `Timer.write_json` of lib/spack/spack/util/timer.py writes it.
    times = json.dumps({"total": 3000.0, "cache": False, "phases": []}).encode()
    own = member(f"{PREFIX}/.spack/install_times.json", times)
    data = archive(member(LIST, listed()), own, LARGE)
    name = f"v3/manifests/spec/hdf5/hdf5-1.14-{OLD_HDF5}.spec.manifest.json"
    files = {
        **mirror_v3((home / "index.json").read_bytes()),
        **blob(data),
        name: manifest(entry(ARCHIVE_TYPE, data)),
    }
    write_files(home / "cache", files)
    with serve_files(files) as server:
        source = server.url if is_remote else "cache"
        for _ in range(2):
            message = program("cover", "spack.lock", "-f", source).stderr
            assert "specs to build took 50 min before, by the nearest builds" in message
        # The second time the copies are used.
        asked = [path for path in server.paths() if path.lstrip("/") in (name, *blob(data))]
        assert len(asked) == (2 if is_remote else 0)


def test_the_longest_chain_goes_through_what_is_there(program: Program, home: Path) -> None:
    lib, app = hash_of(11), hash_of(12)
    nodes = [
        leaf(ZLIB, "zlib", "1.3"),
        node(lib, name="lib", dependencies=[edge("zlib", ZLIB, ["link"])]),
        node(app, name="app", dependencies=[edge("lib", lib, ["link"])]),
    ]
    write_lock(home / "spack.lock", nodes, app)
    # The library is installed, and what it links is not.
    others = [leaf(hash_of(21), "zlib", "1.2"), leaf(hash_of(22), "app", "2")]
    times = {hash_: {"total": 600} for hash_ in (lib, hash_of(21), hash_of(22))}
    write_built(program, times, nodes[1], *others)
    lines = titles(program("cover", "spack.lock", "-f", "tree"))
    assert "The longest chain of builds takes 20 min: zlib › app" in lines


def test_what_a_mirror_filters_out_is_told(program: Program, home: Path) -> None:
    mirror = f"{{url: {home}/index.json, exclude_binary: [zlib]}}"
    program.write(".spack/mirrors.yaml", f"mirrors:\n  site:\n    {mirror}\n")
    words = ("cover", "spack.lock", "-f", f"{home}/index.json")
    lines = titles(program(*words))
    assert lines[1] == "1 cached, but its mirror excludes zlib (~/.spack/mirrors.yaml:3)"
    assert titles(program(*words, "--config", "none")) == [lines[0], *lines[2:]]


VTK, BZIP2 = (letter * 32 for letter in "vb")
ZEN3 = {"platform": "linux", "platform_os": "rocky9", "target": "zen3"}
ZEN4 = {**ZEN3, "target": "zen4"}
ON_ZEN3 = (*COVER, "--host", "zen3")


@pytest.fixture
def zen4(program: Program) -> Path:
    """Write an environment, and a cache that has two of its three specs, one for zen4."""
    nodes = [
        {**leaf(ZLIB, "zlib", "1.3"), "arch": ZEN3},
        node(HDF5, name="hdf5", arch=ZEN4, dependencies=[edge("zlib", ZLIB, ["link"])]),
        node(VTK, name="vtk", arch=ZEN3, dependencies=[edge("hdf5", HDF5, ["link"])]),
    ]
    (program.home / "spack.lock").write_bytes(environment(nodes, VTK))
    write_index(program.home, *nodes[:2])
    return program.home


def test_each_environment_and_each_host_have_a_row(program: Program, zen4: Path) -> None:
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
    ],
)
def test_what_runs_on_a_host_is_compared_with_a_limit(
    words: list[str], code: int, program: Program, zen4: Path
) -> None:
    assert program(*ON_ZEN3, *words).returncode == code


@pytest.mark.parametrize("form", [[], ["--missing"], ["--hashes"], ["--missing", "--hashes"]])
def test_the_worst_environment_decides(form: list[str], program: Program, zen4: Path) -> None:
    (zen4 / "whole.lock").write_bytes(environment([leaf(ZLIB, "zlib", "1.3")], ZLIB))
    for names in (["spack.lock"], ["whole.lock", "spack.lock"], ["spack.lock", "whole.lock"]):
        words = ("cover", *names, "-f", "index.json", *form)
        assert program(*words).returncode == 1
        codes = [program(*words, "--fail-under", limit).returncode for limit in ("66", "67")]
        assert codes == [0, 1]


def test_only_environments_that_lack_something_are_missing(program: Program, zen4: Path) -> None:
    (zen4 / "whole.lock").write_bytes(environment([leaf(ZLIB, "zlib", "1.3")], ZLIB))
    (zen4 / "other.lock").write_bytes(environment([leaf(BZIP2, "bzip2", "1.0")], BZIP2))
    words = (*COVER, "whole.lock", "other.lock")
    missing = [row["environment"] for row in program.rows(*words, "--missing")]
    assert missing == ["spack.lock", "other.lock"]
    assert program(*words, "--hashes").stdout.split() == [ZLIB, HDF5]
    assert program(*words, "--hashes", "--missing").stdout.split() == [VTK, BZIP2]


def test_what_most_others_need_is_named_first(program: Program, zen4: Path) -> None:
    below = [edge("bzip2", BZIP2, ["link"]), edge("hdf5", HDF5, ["link"])]
    nodes = [
        leaf(BZIP2, "bzip2", "1.0"),
        leaf(ZLIB, "zlib", "1.3"),
        node(HDF5, name="hdf5", dependencies=[edge("zlib", ZLIB, ["link"])]),
        node(VTK, name="vtk", dependencies=below),
    ]
    (zen4 / "spack.lock").write_bytes(environment(nodes, VTK))
    write_index(zen4, leaf("o" * 32, "other", "1"))
    (row,) = program.rows(*ON_ZEN3)
    assert row["most_needed"] == ["zlib@1.3 (2)", "bzip2@1.0 (1)", "hdf5@1.3.1", "vtk@1.3.1"]


def test_without_an_environment_there_is_a_row_for_each_stack_or_cache(program: Program) -> None:
    rows = program.rows("cover", "--host", "zen3")
    assert ("data-vis-sdk", 7, 100.0) in [
        (row["stack"], row["specs"], row["percent"]) for row in rows
    ]
    (row,) = program.rows("cover", "-f", str(SPACK_DATA / "mirror-v3"), "--host", "zen3")
    assert (round(row["archives"], -2), row["unknown_sizes"]) == (16_000, 18)
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
