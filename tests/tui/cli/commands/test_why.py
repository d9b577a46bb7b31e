"""`why` says what keeps Spack from taking a spec from the caches."""

import gzip
import json
import shutil
from pathlib import Path
from shlex import quote

import pytest

from tests.builders.manifests import DATABASE_TYPE, MANIFEST, blob, entry, manifest
from tests.builders.mirrors import complete, files_in, mirror_v2, mirror_v3, write_files
from tests.builders.nodes import ZLIB, edge, in_format, leaf, node
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
from tests.program import Program

LLVM, HDF5, OLD, OTHER, WANTED = (letter * 32 for letter in "lhoxw")
ZEN4 = {"platform": "linux", "platform_os": "rocky9", "target": "zen4"}
ZEN3 = {**ZEN4, "target": "zen3"}
WHY = ("why", "-f", "index.json", "--host", "target=zen3 glibc=2.34 os=rocky9")


def reuse(program: Program, value: str) -> Path:
    """Write the value of concretizer:reuse, and return the path of the file."""
    return program.write(".spack/concretizer.yaml", f"concretizer:\n  reuse: {value}\n")


@pytest.fixture
def home(program: Program) -> Path:
    """Write a cache with three builds of hdf5, and a Spack that wants no hdf5 1.12."""
    by_llvm = edge("llvm", LLVM, ["build"], ["c"])

    def hdf5(hash_: str, version: str, arch: dict[str, str]) -> dict[str, object]:
        links = [by_llvm, edge("zlib", ZLIB, ["link"])]
        return node(hash_, name="hdf5", version=version, arch=arch, dependencies=links)

    nodes = [
        leaf(LLVM, "llvm", "18.1"),
        node(ZLIB, arch=ZEN3, dependencies=[by_llvm]),
        hdf5(HDF5, "1.14", ZEN3),
        hdf5(OLD, "1.12", ZEN3),
        hdf5(OTHER, "1.14", ZEN4),
    ]
    write_index(program.home, *nodes)
    wanted = [*nodes[:2], hdf5(WANTED, "1.12", ZEN3)]
    (program.home / "spack.lock").write_bytes(environment(wanted, WANTED))
    reuse(program, "\n    exclude:\n    - hdf5@1.12")
    program.write(
        ".spack/packages.yaml",
        "packages:\n  hdf5:\n    buildable: false\n    externals:\n"
        "    - {spec: hdf5@1.10, prefix: /usr}\n",
    )
    return program.home


PLACE = "~/.spack/concretizer.yaml:4"


def drawn(program: Program, *words: str) -> tuple[int, list[str]]:
    """Return the exit code, and the lines on a wide terminal that are not blank."""
    code, text = program.on_terminal(*words, columns=160, changes={"NO_COLOR": "1"})
    lines = text.replace("\r", "\n").splitlines()
    return code, [line for line in lines if line.strip() and "Ctrl-C" not in line]


def test_each_candidate_has_its_first_reason(program: Program, home: Path) -> None:
    program("index", *WHY[1:3])
    assert drawn(program, *WHY, "hdf5", "%llvm") == (
        0,
        [
            "hdf5 %llvm: Spack can reuse 1 of 3 builds on zen3",
            "~/.spack/packages.yaml:3: hdf5 is not buildable: Spack only uses existing builds",
            "The solver may use the external hdf5@1.10 at /usr instead",
            "hash     package  version  built with",
            "1 of 3: can be reused",
            f"{HDF5[:7]}  hdf5     1.14     llvm@18.1 rocky9 zen3",
            f"1 of 3: concretizer:reuse excludes hdf5@1.12; change {PLACE}",
            f"{OLD[:7]}  hdf5     1.12     llvm@18.1 rocky9 zen3",
            "1 of 3: target too new; use another machine or target",
            f"{OTHER[:7]}  hdf5     1.14     llvm@18.1 rocky9 zen4",
        ],
    )
    # A pipe has the reason in each row.
    rows = program(*WHY, "hdf5", "%llvm").stdout.splitlines()
    assert [f"change {PLACE}" in row for row in rows] == [False, False, True, False]
    assert "target too new\t\tuse another machine or target" in rows[3]


@pytest.mark.parametrize(
    ("hashes", "title"),
    [
        ((HDF5,), f"hdf5@1.14 /{HDF5[:7]}: Spack can reuse it"),
        ((HDF5, OTHER), "hdf5@1.14: Spack can reuse 1 of 2 builds"),
        ((HDF5, OLD), "hdf5: Spack can reuse 1 of 2 builds"),
        ((HDF5, ZLIB), "2 packages: Spack can reuse 2 of 2 builds"),
    ],
)
def test_hashes_are_titled_by_what_they_have_in_common(
    program: Program, home: Path, hashes: tuple[str, ...], title: str
) -> None:
    query = " | ".join(f"hash={hash_}" for hash_ in hashes)
    _, (first, *_) = drawn(program, *WHY, query)
    assert first.startswith(title)


def test_a_build_whose_c_library_is_not_listed_may_not_run(program: Program, home: Path) -> None:
    host = "target=zen3 glibc=2.34 os=ubuntu24.04"
    (row,) = program.rows("why", HDF5, "-f", "index.json", "--host", host)
    change = "can be reused, but may not run: C library not listed"
    assert (row["reason"], row["change"]) == (None, change)


def test_a_preference_passes_over_what_can_be_reused(program: Program, home: Path) -> None:
    text = "packages:\n  hdf5:\n    prefer: ['@1.12']\n    variants: ~shared\n"
    program.write(".spack/packages.yaml", text)
    (row,) = program.rows(*WHY, HDF5)
    place = "~/.spack/packages.yaml:3"
    assert (row["reason"], row["place"]) == (None, place)
    assert row["change"] == (
        "can be reused, but packages.yaml prefers @1.12:"
        " Spack takes or builds such a one first, if it can"
    )
    (spec,) = program.rows("find", *WHY[1:], f"/{HDF5}", "reusable")
    assert [(r["rule"], r["sentence"]) for r in spec["reasons"]] == [
        ("preference", f"packages.yaml prefers @1.12, {place}")
    ]
    shown = program("show", *WHY[1:], f"/{HDF5}").stdout
    assert (
        f"Spack reuses it if it can have no other: packages.yaml prefers @1.12, {place}" in shown
    )


def test_what_is_asked_for_comes_first_and_none_is_a_failure(program: Program, home: Path) -> None:
    result = program(*WHY, "hdf5@1.12", "--json")
    rows = json.loads(result.stdout)
    assert [(each["hash"], each["reason"], each["place"]) for each in rows] == [
        (OLD, "concretizer:reuse excludes hdf5@1.12", PLACE),
        (OTHER, "does not match @1.12", None),
        (HDF5, "does not match @1.12", None),
    ]
    assert result.returncode == 1
    assert program(*WHY, "hdf5@1.12", "--config", "none").returncode == 0


def test_a_lock_file_is_judged_by_what_comes_nearest(program: Program, home: Path) -> None:
    result = program(*WHY, "spack.lock", "--json")
    (row,) = json.loads(result.stdout)
    reason = "concretizer:reuse excludes hdf5@1.12"
    assert (row["hash"], row["missing"]) == (WANTED, "no cache has it")
    assert (row["nearest"], row["reason"], row["place"]) == (OLD, reason, PLACE)
    assert (row["change"], row["differs_in"]) == (f"change {PLACE}", ["only dependencies differ"])
    assert result.returncode == 1
    _, lines = drawn(program, *WHY, "spack.lock")
    assert "spack.lock, 1 of 3 missing: no cache has it" in lines
    # What is concretized is not asked for anew.
    reuse(program, "dependencies")
    (row,) = program.rows(*WHY, "spack.lock")
    assert (row["nearest"], row["reason"]) == (OLD, None)


def test_a_spec_of_a_lock_file_is_missing_whatever_its_nearest_is(
    program: Program, home: Path
) -> None:
    """`why /HASH` said that another build may be taken."""
    result = program(*WHY, "-f", "spack.lock", f"/{WANTED}", "--config", "none")
    assert f"spackscope: hdf5@1.12 /{WANTED[:7]}: no cache has it\n" in result.stderr
    _, line = result.stdout.splitlines()
    assert line.split("\t")[:5] == [WANTED, "hdf5", "1.12", "no cache has it", OLD]
    assert result.returncode == 1


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("false", "concretizer:reuse is false"),
        ("dependencies", "concretizer:reuse allows only dependencies of the requested specs"),
        ("{from: [{type: local}]}", "concretizer:reuse takes nothing from there"),
        ("{include: [zlib]}", "concretizer:reuse includes only zlib"),
    ],
)
def test_each_form_of_reuse_is_named_with_its_line(
    value: str, text: str, program: Program, home: Path
) -> None:
    reuse(program, value)
    (row,) = program.rows(*WHY, HDF5)
    assert (row["reason"], row["change"]) == (text, "change ~/.spack/concretizer.yaml:2")


def test_find_asks_the_same_rules(program: Program, home: Path) -> None:
    query = ("find", "--hashes", *WHY[1:], "hdf5", "reusable")
    assert program(*query).stdout.split() == [HDF5]
    assert set(program(*query, "--config", "none").stdout.split()) == {HDF5, OLD}


def test_where_nothing_is_ruled_out_there_is_no_reason(program: Program, home: Path) -> None:
    result = program(*WHY, f"/{LLVM}", "--config", "none")
    assert "spackscope: Your Spack configuration is ignored\n" in result.stderr
    (home / "spack.lock").write_bytes(environment([leaf(LLVM, "llvm", "18.1")], LLVM))
    result = program(*WHY, "spack.lock", "--config", "none")
    assert "spackscope: spack.lock, 0 of 1 missing\n" in result.stderr
    assert (result.returncode, len(result.stdout.splitlines())) == (0, 1)


@pytest.mark.parametrize(("number", "version"), [(5, "0.23.1"), (6, "1.2.0")])
def test_an_old_spack_cannot_read_new_builds(
    number: int, version: str, program: Program, home: Path, tmp_path: Path
) -> None:
    spack = SpackRoot(tmp_path / "old", version)
    its = in_format(number, node(name="tiny", dependencies=[]))
    path = home / "index.json"
    path.write_bytes(database(installs(its), str(number + 3)))
    words = ("why", "-f", str(path), "tiny", "--host", "zen3")
    (row, *_) = program.rows(*words, SPACK_ROOT=str(spack.root))
    why = f"its database is v{number + 3}, which Spack {version} cannot read, {quote(str(path))}"
    assert (row["reason"], row["change"]) == (why, "use a newer Spack")


@pytest.mark.parametrize(
    ("version", "is_read"), [("0.20.3", True), ("0.23.1", False), ("1.2.0", False)]
)
def test_a_new_spack_cannot_read_the_oldest_database(
    version: str, is_read: bool, program: Program, home: Path, tmp_path: Path
) -> None:
    """As `_REINDEX_NOT_NEEDED_ON_READ` of lib/spack/spack/database.py has no pair with 5 and 8."""
    spack = SpackRoot(tmp_path / "new", version)
    tree, mirror = home / "tree" / ".spack-db" / "index.json", home / "mirror"
    for path in (tree, mirror / "build_cache" / "index.json"):
        path.parent.mkdir(parents=True)
        path.write_bytes(database(installs(node(name="tiny", dependencies=[])), "5"))
    for source, label, change in (
        (home / "tree", "its database is", "convert it: spack reindex"),
        (
            mirror,
            "its index is of database",
            "create it with Spack 0.17 to 0.23: "
            f"spack buildcache update-index {quote(str(mirror))}",
        ),
    ):
        words = ("why", "-f", str(source), "tiny", "--host", "zen3")
        rows = program.rows(*words, SPACK_ROOT=str(spack.root))
        why = f"{label} v5, which Spack {version} cannot read, {quote(str(source))}"
        assert ((why, change) in [(row["reason"], row["change"]) for row in rows]) is not is_read


@pytest.mark.parametrize("is_reversed", [False, True])
def test_spack_sees_the_index_of_its_own_database_alone(
    program: Program, home: Path, is_reversed: bool
) -> None:
    """As `get_blob_records` of lib/spack/spack/url_buildcache.py selects the media type."""
    tiny, both, new = (
        node(hash_of(n), name=name, dependencies=[])
        for n, name in enumerate(("tiny", "both", "new"), 1)
    )
    v8, v9 = database(installs(tiny, both)), database(installs(both, new), "9")
    of_9 = entry(DATABASE_TYPE.replace("8", "9"), v9)
    entries = [entry(DATABASE_TYPE, v8), of_9]
    two = blob(v8) | blob(v9) | {MANIFEST: manifest(*entries[:: -1 if is_reversed else 1])}
    mirrors = {
        "two": two,
        "only9": two | {MANIFEST: manifest(of_9)},
        "only8": mirror_v3(v8),
        "old": mirror_v2(database(installs(tiny), "7")),
        "v2": mirror_v2(v9),
        "views": mirror_v3(v8, "v3/manifests/index/all/index.manifest.json"),
    }
    for name, files in mirrors.items():
        write_files(home / name, files)
    write_tree(home / "tree", new)
    lacks = "its mirror has no index of"
    in_9, in_8 = (f"its mirror lists it in database v{n}, not v{m}" for n, m in ((9, 8), (8, 9)))
    no_8, no_9 = (f"{lacks} database v{n}, only v{m}" for n, m in ((8, 9), (9, 8)))
    v2, new_v2 = f"{lacks} layout v2", "its index is of database v9"
    views = "its mirror has no index but those of views"
    for version, names, why in (
        ("1.2.0", ["two"], {"new": in_9}),
        ("1.3.0", ["two"], {"tiny": in_8}),
        ("1.2.0", ["only9"], {"both": no_8, "new": no_8}),
        ("1.3.0", ["only8"], {"tiny": no_9, "both": no_9}),
        ("1.2.0", ["only8"], {}),
        ("0.23.1", ["only8"], {"tiny": v2, "both": v2}),
        ("0.23.1", ["old"], {}),
        ("1.2.0", ["old"], {}),
        ("1.2.0", ["v2"], {"both": new_v2, "new": new_v2}),
        ("1.2.0", ["views"], {"tiny": views, "both": views}),
        ("1.2.0", ["views/v3/manifests/index/all/index.manifest.json"], {}),
        ("1.2.0", ["only9", "only8"], {"new": no_8}),
        ("1.2.0", ["only9", "tree"], {"both": no_8}),
    ):
        spack = SpackRoot(home / f"{version} {' '.join(names)}".replace("/", "-"), version)
        sources = [word for name in names for word in ("-f", name)]
        words = ("find", *sources, "--host", "zen3")
        specs = program.rows(*words, SPACK_ROOT=str(spack.root))
        # Before 1.0 other reasons come after it.
        seen = {
            spec["package"]: spec["reasons"][0]["label"]
            for spec in specs
            if spec["reasons"] and spec["reasons"][0]["rule"].endswith("-index")
        }
        assert seen == why, (version, names)


def test_a_mirror_without_an_index_is_the_first_reason_with_the_line_that_makes_it(
    program: Program,
) -> None:
    line = f"spack buildcache update-index {quote(f'{program.home}/m')}"
    for layout, label, change in (
        ("v3", "its mirror has no index", f"create it: {line}"),
        (
            "v2",
            "its mirror has no index of layout v2",
            f"create it with a Spack before 1.0: {line}",
        ),
    ):
        files = files_in(SPACK_DATA / f"mirror-{layout}")
        files |= {n: data for n, data in complete(files).items() if n.startswith("blobs/")}
        files |= {
            n.replace(".spec.json", ".spack"): b"" for n in files if n.endswith(".spec.json")
        }
        shutil.rmtree(program.home / "m", ignore_errors=True)
        write_files(program.home / "m", {n: d for n, d in files.items() if "index" not in n})
        package = {"v3": "bzip2", "v2": "gmake"}[layout]
        build, *_ = program.rows("why", "-f", "m", package)
        assert (build["reason"], build["change"]) == (label, change)
        (spec,) = program.rows("find", "-f", "m", package, "--host", "zen3")
        assert (spec["reusable"], spec["states"]) == (False, ["cached"])
        assert spec["reasons"][0]["sentence"].startswith(label)
        shown = program("show", "-f", "m", package).stdout
        assert "spack install --cache-only" not in shown
        assert label in shown
    shutil.copytree(SPACK_DATA / "mirror-v2", program.home / "indexed")
    both = program("why", "-f", "m", "-f", "indexed", "gmake", "--json")
    assert label not in both.stdout


@pytest.mark.parametrize(
    ("media_type", "compression", "why"),
    [
        (DATABASE_TYPE, "none", None),
        (DATABASE_TYPE, "gzip", "its mirror has only an index packed with gzip"),
        ("application/vnd.spack.db.new", "none", "database v8, only one of another type"),
    ],
)
def test_spack_reads_no_index_that_is_packed_or_of_another_type(
    media_type: str, compression: str, why: str | None, program: Program, home: Path
) -> None:
    spack = SpackRoot(home / "real", "1.2.0")
    data = database(installs(node(name="tiny", dependencies=[])))
    data = gzip.compress(data) if compression == "gzip" else data
    named = entry(media_type, data, compression=compression)
    write_files(home / "m", {**blob(data), MANIFEST: manifest(named)})
    words = ("why", "-f", "m", "tiny", "--host", "zen3")
    reasons = [row["reason"] for row in program.rows(*words, **spack.environ)]
    assert any(why in (reason or "") for reason in reasons) if why else reasons == [None]
