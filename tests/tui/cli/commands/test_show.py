import json
import shutil

import pytest

from tests.builders.mirrors import signed_v3, write_files
from tests.builders.nodes import leaf
from tests.builders.pages import hash_of, record, write_page
from tests.builders.spack import INSTALL_TREE, SITE_KEY, write_index
from tests.program import Program, assert_golden


def test_a_spec_is_shown_line_by_line(program: Program) -> None:
    result = program("show", "-f", "sample", "pfqg2xi", "--host", "target=zen3 glibc=2.36", code=0)
    assert_golden("show", result.stdout)


@pytest.mark.parametrize(
    "spelling", ["pfqg2xi", "/pfqg2xi", "PFQG2XI", " pfqg2xienllgkr2rb23fugktb23zwwbr\n"]
)
def test_a_hash_may_be_spelled_in_several_ways(program: Program, spelling: str) -> None:
    (shown,) = program.rows("show", spelling)
    assert shown["hash"] == "pfqg2xienllgkr2rb23fugktb23zwwbr"


def test_every_record_of_the_hash_is_shown(program: Program) -> None:
    write_page(program.home / "a" / "develop.md", [record(9)])
    write_page(program.home / "a" / "v1.md", [record(9, os="rocky9")], tag="v1")
    write_page(program.home / "b" / "develop.md", [record(9)])
    sources = ("-f", "a", "-f", "b")
    rows = program.rows("show", *sources, hash_of(9))
    shown = [(spec["sources"], spec["tag"], spec["os"]) for spec in rows]
    assert sorted(shown) == [(["a"], "v1", "rocky9"), (["a", "b"], "develop", "ubuntu24.04")]
    text = program("show", *sources, hash_of(9)).stdout
    assert [part.splitlines()[0] for part in text.split("\n\n")] == ["zlib@1.3.1"] * 2


def test_builds_in_develop_alone_are_named_where_a_release_was_read_too(program: Program) -> None:
    write_page(program.home / "develop.md", [record(8), record(9)])
    write_page(program.home / "v1.md", [record(9)], tag="v2026.06.0")

    for number, sources, is_named in (
        (8, ("-f", "develop.md", "-f", "v1.md"), True),
        (9, ("-f", "develop.md", "-f", "v1.md"), False),
        (8, ("-f", "develop.md"), False),
    ):
        text = program("show", *sources, hash_of(number)).stdout
        assert ("kept          only in develop, of the tags read" in text) is is_named


def test_who_signed_a_spec_is_shown_and_that_its_archive_is_missing(program: Program) -> None:
    write_files(program.home / "m", signed_v3())
    bzip2 = program("show", "-f", "m", "bzip2").stdout.splitlines()
    ncurses = program("show", "-f", "m", "ncurses").stdout.splitlines()
    assert f"signed        by key {SITE_KEY}  2026-11-22  not verified" in bzip2
    assert "archive       present" in bzip2
    missing = "archive       listed, but the archive is missing  m/blobs/sha256/cd/"
    at = next(n for n, line in enumerate(ncurses) if line.startswith("install "))
    assert ncurses[at + 1].startswith(missing), "the line to install would fail"
    (row,) = program.rows("show", "-f", "m", "bzip2")
    (mirror,) = row["mirrors"]
    assert (mirror["source"], mirror["signed"], mirror["archive"]) == ("m", True, "present")
    (row,) = program.rows("show", "pfqg2xi")
    assert row["mirrors"] == []


def test_a_terminal_gets_colours_and_variants_that_flow(program: Program) -> None:
    same = [f"+option{number}" for number in range(9)]
    variants = [["+mpi", "~hl", *same], ["~mpi", "+hl", *same]]
    write_page(program.home / "zlib.md", [record(n, variants=v) for n, v in enumerate(variants)])
    words = "show", "-f", "zlib.md", hash_of(0)
    _, text = program.on_terminal(*words, columns=64)
    lines = text.splitlines()
    assert lines[:2] == ["\x1b[1mzlib@1.3.1\x1b[0m", f"\x1b[36m{hash_of(0)}\x1b[0m"]
    assert "\x1b[33m~hl\x1b[0m \x1b[33m+mpi\x1b[0m" in text
    assert "\x1b[32m+option8\x1b[0m" in text
    _, text = program.on_terminal(*words, "--no-color", columns=64)
    at = next(number for number, line in enumerate(text.splitlines()) if "variants" in line)
    assert text.splitlines()[at : at + 3] == [
        "variants      ~hl +mpi",
        "same in all   +option0 +option1 +option2 +option3 +option4",
        "              +option5 +option6 +option7 +option8",
    ]
    piped = program(*words).stdout
    assert "\x1b" not in piped
    assert f"same in all   {' '.join(same)}\n" in piped


def test_an_ambiguous_beginning_lists_some_candidates(program: Program) -> None:
    for number in (1, 2):
        write_page(program.home / "pages", [record(number)], title=f"zlib{number}")
    assert program.refused("show", "-f", "pages", "222", code=2).splitlines() == [
        "spackscope: Several hashes start with 222:",
        f"  {hash_of(1)}  zlib1@1.3.1  gcc@13.2.0  ubuntu24.04  x86_64_v3",
        f"  {hash_of(2)}  zlib2@1.3.1  gcc@13.2.0  ubuntu24.04  x86_64_v3",
    ]
    write_page(program.home / "zlib.md", [record(n) for n in range(30)])
    lines = program("show", "-f", "zlib.md", "2").stderr.splitlines()
    assert (len(lines), lines[-1]) == (22, "  and more")


def test_a_query_that_one_spec_matches_shows_it(program: Program) -> None:
    words = ("py-build@1.2.1", "os=ubuntu22.04", "target=neoverse_v1", "/pfqg")
    assert program("show", *words).stdout == program("show", "pfqg2xi").stdout


def test_a_word_is_a_hash_unless_a_package_has_the_name(program: Program) -> None:
    write_page(program.home / "zlib.md", [record(hash="zlib" + "a" * 28), record(1)])
    assert "Several hashes start" not in program("show", "-f", "zlib.md", "zliba").stderr
    assert "Several specs match" in program("show", "-f", "zlib.md", "zlib").stderr
    assert program("show", "-f", "zlib.md", "/zlib").returncode == 0


def test_all_facts_of_an_install_tree_are_shown(program: Program) -> None:
    tree = INSTALL_TREE.parents[1]
    installs = json.loads(INSTALL_TREE.read_bytes())["database"]["installs"]
    hash_, told = next((h, i) for h, i in installs.items() if i["spec"]["name"] == "curl")

    text = program("show", "-f", str(tree), hash_).stdout
    (shown,) = program.rows("show", "-f", str(tree), hash_)

    assert (shown["path"], shown["installed_at"]) == (told["path"], told["installation_time"])
    assert f"prefix        {told['path']}\n" in text
    assert " %c,cxx=gcc@12.2.0\n" in text
    for edge in told["spec"]["dependencies"]:
        assert f"{edge['name']}@" in text
        assert f" /{edge['hash'][:7]}\n" in text


def test_minutes_of_a_build_in_an_install_tree_are_shown(program: Program) -> None:
    tree = program.home / "tree"
    shutil.copytree(INSTALL_TREE.parents[1], tree)
    hash_ = program("find", "-f", "tree", "--hashes", "curl").stdout.strip()
    assert "build time" not in program("show", "-f", "tree", hash_).stdout
    (row,) = program.rows("show", "-f", "tree", hash_)
    times = f"tree/{'/'.join(row['path'].split('/')[-2:])}/.spack/install_times.json"
    program.write(times, '{"total": 725.4, "phases": []}')
    assert "build time    12 min\n" in program("show", "-f", "tree", hash_).stdout
    # It was fetched, not built.
    program.write(times, '{"total": 725.4, "phases": [], "cache": true}')
    assert "build time" not in program("show", "-f", "tree", hash_).stdout


def test_the_only_spec_of_a_file_needs_no_words(program: Program) -> None:
    nodes = [leaf("o" * 32, "zlib", "1.3"), leaf("p" * 32, "gmake", "4.4")]
    document = {"spec": {"_meta": {"version": 5}, "nodes": nodes[:1]}}
    program.write("spec.json", json.dumps(document))
    assert [row["hash"] for row in program.rows("show", "-f", "spec.json")] == ["o" * 32]
    write_index(program.home, *nodes)
    message = program.refused("show", "-f", "index.json", code=2)
    assert "show needs a hash, or a query that matches one spec" in message
