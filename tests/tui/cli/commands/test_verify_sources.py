"""The command `sources --verify` names the records whose content does not give their hash."""

from __future__ import annotations

import json

from spackscope.model.readers.nodes import content_hash
from tests.builders import (
    BZIP2_ARCHIVE,
    INSTALL_TREE,
    SAMPLE_PAGES,
    SPACK_DATA,
    complete,
    database,
    files_in,
    hash_of,
    installs,
    leaf,
    node,
    serve_files,
    write_files,
)
from tests.program import Program

WRONG = leaf(hash_of(7), "zlib-ng", "2.3.2")


def write_index(program: Program, *nodes: dict[str, object]) -> None:
    (program.home / "index.json").write_bytes(database(installs(*nodes)))


def test_whole_sources_give_exit_code_0(program: Program) -> None:
    result = program("sources", "--verify", "-f", str(INSTALL_TREE), "-f", str(SAMPLE_PAGES))
    assert result.returncode == 0
    assert len(result.stdout.splitlines()) == 1
    assert result.stderr.splitlines() == [
        "spackscope: 2 sources: 22 intact, 346 unchecked",
        f"spackscope: {INSTALL_TREE}: file, 22 intact",
        f"spackscope: {SAMPLE_PAGES}: pages, 346 unchecked",
        f"spackscope: {SAMPLE_PAGES}: 346 records cannot be checked: "
        "pages do not contain what Spack hashes",
    ]


def test_a_wrong_record_is_named_and_gives_exit_code_1(program: Program) -> None:
    external = leaf(hash_of(8), "gcc", "\x1b[31m") | {"external": {"path": "/usr"}}
    write_index(program, WRONG, external)
    options = ("--no-color", "--verify", "-f", "index.json", "-f", "gone")
    code, text = program.on_terminal("sources", *options)
    assert code == 1
    assert "\x1b" not in text
    assert text.splitlines() == [
        "spackscope: the source gone does not exist",
        "2 sources: 1 wrong, 1 unchecked",
        "index.json: file, 1 wrong, 1 unchecked",
        "gone: unreadable",
        "index.json: 1 record cannot be checked: externals, which Spack may have changed after "
        "hashing",
        "",
        "package  version  hash     content hash",
        "",
        "index.json: 1 spec: the content does not match the hash (changed after Spack hashed it)",
        f"zlib-ng  2.3.2    {hash_of(7)[:7]}  {content_hash(WRONG)[:7]}",
    ]
    write_index(program, external)
    result = program("sources", "--verify", "-f", "index.json", "--json")
    assert (result.returncode, json.loads(result.stdout)) == (0, [])


def test_spack_sees_nothing_in_a_mirror_without_an_index(program: Program) -> None:
    files = files_in(SPACK_DATA / "mirror-v3")
    files |= {n: data for n, data in complete(files).items() if n.startswith("blobs/")}
    write_files(program.home / "m", {n: data for n, data in files.items() if "index" not in n})
    result = program("sources", "--verify", "-f", "m")
    assert result.returncode == 0
    assert "m: Spack sees no spec in it, since the mirror has no index" in result.stderr


def test_what_cannot_be_read_gives_exit_code_3(program: Program) -> None:
    made = node()
    good = made | {"hash": content_hash(made)}
    write_index(program, good)
    assert program("sources", "--verify", "-f", "index.json").returncode == 0
    assert program("sources", "--verify", "-f", "index.json", "-f", "gone").returncode == 3
    write_index(program, WRONG)
    assert program("sources", "--verify", "-f", "index.json", "-f", "gone").returncode == 1
    write_index(program, good)

    data = (program.home / "index.json").read_bytes()
    (program.home / "index.json").write_bytes(data[:-1])
    result = program("sources", "--verify", "-f", "index.json")
    assert result.returncode == 3
    assert "cut off" in result.stderr


def test_a_mirror_that_differs_from_its_index_gives_exit_code_1(program: Program) -> None:
    bzip2, ncurses = "xb7lgxuszfsvwe7mgdjsuqrntq3ejdcm", "vipihp75pz2ju5uhqfacbpmiqi7jjurb"
    mirror = write_files(program.home / "m", complete(files_in(SPACK_DATA / "mirror-v3")))
    assert program("sources", "--verify", "-f", "m").returncode == 0

    (mirror / "blobs/sha256/27" / BZIP2_ARCHIVE).unlink()
    (manifest,) = (mirror / "v3/manifests/spec/ncurses").iterdir()
    manifest.rename(manifest.with_name(f"ncurses-6.5-{hash_of(1)}.spec.manifest.json"))
    result = program("sources", "--verify", "-f", "m")

    assert result.returncode == 1
    assert result.stderr == "spackscope: m: mirror v3, 22 intact, 3 different from the index\n"
    assert [line.split("\t")[:6] for line in result.stdout.splitlines()[1:]] == [
        ["m", "the archive is missing", "bzip2", "1.0.8", bzip2, ""],
        ["m", "in the mirror, but not in its index", "ncurses", "6.5", hash_of(1), ""],
        ["m", "in the index, but not in its mirror", "ncurses", "6.5-20250705", ncurses, ""],
    ]


def test_a_mirror_that_cannot_be_listed_is_not_compared(program: Program) -> None:
    with serve_files(files_in(SPACK_DATA / "mirror-v3")) as server:
        result = program("sources", "--verify", "-f", server.url)
    assert result.returncode == 0
    why = f"its index is not compared with its files: {server.url} cannot be listed"
    assert f"{server.url}: {why}" in result.stderr


def test_the_archives_of_layout_v2_are_looked_for(program: Program) -> None:
    mirror = write_files(program.home / "m", complete(files_in(SPACK_DATA / "mirror-v2")))
    assert program("sources", "--verify", "-f", "m").returncode == 0
    next((mirror / "build_cache" / "x").glob("gmake-*.spack")).unlink()
    result = program("sources", "--verify", "-f", "m")
    assert result.returncode == 1
    assert "\tthe archive is missing\t" in result.stdout
