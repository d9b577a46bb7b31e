"""The real program under a limit of memory, with hostile documents."""

from __future__ import annotations

import gzip
import json
import os
import resource
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

from tests.builders import environment as lock_file
from tests.builders import hash_of, leaf, record, write_page
from tests.program import COMMAND, PATIENCE, Program, environment

MEMORY = 1 << 30
"""Bytes of address space, in which what these documents cost without bounds has no room."""

Result = subprocess.CompletedProcess[str]


def limited(program: Program, *words: str, memory: int = MEMORY) -> Result:
    """Run the program with no more than this much memory."""
    return subprocess.run(
        [*COMMAND, *words],
        env=environment(program.home),
        cwd=program.home,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (memory, memory)),
    )


def good_page(program: Program) -> None:
    write_page(program.home / "pages" / "zlib" / "specs.md", [record(1)])


def sparse(path: Path, size: int, head: bytes = b"---\nlayout: cache\nspec_details: [") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(head)
    os.truncate(path, size)
    return path


def packed(path: Path, part: bytes, times: int) -> Path:
    """Write gzip that unpacks to a part many times over."""
    path.parent.mkdir(parents=True, exist_ok=True)
    packer = zlib.compressobj(wbits=31)
    with path.open("wb") as file:
        for _ in range(times):
            file.write(packer.compress(part))
        file.write(packer.flush())
    return path


TOO_MANY_BYTES = "it has 60,000,000,000 bytes; at most 1,073,741,824 are read"


@pytest.mark.parametrize("way", ["file", "symlink", "hard link"])
def test_a_page_of_60_gb_loses_only_itself(way: str, program: Program) -> None:
    good_page(program)
    page = program.home / "pages" / "huge" / "specs.md"
    huge = sparse(page if way == "file" else program.home / "huge", 60_000_000_000)
    if way != "file":
        page.parent.mkdir()
        (page.symlink_to if way == "symlink" else page.hardlink_to)(huge)

    result = limited(program, "find", "-f", "pages")

    assert result.returncode == 0, result.stderr
    assert len(result.stdout.splitlines()) == 2
    assert f"pages/huge/specs.md: cannot be read: {TOO_MANY_BYTES}" in result.stderr


def test_a_database_of_60_gb_is_not_read(program: Program) -> None:
    good_page(program)
    sparse(program.home / "index.json", 60_000_000_000, b'{"database":')

    result = limited(program, "find", "-f", "pages", "-f", "index.json")

    assert len(result.stdout.splitlines()) == 2
    assert f"index.json cannot be read: {TOO_MANY_BYTES}" in result.stderr


# What small files unpack to


@pytest.mark.parametrize("part", [b'{"database": ' + b" " * 2**20, b"[]," * 2**19])
def test_what_unpacks_to_a_thousand_times_its_size_loses_only_itself(
    part: bytes, program: Program
) -> None:
    good_page(program)
    path = packed(program.home / "index.json.gz", part, 80)
    assert path.stat().st_size < 1_000_000

    result = limited(program, "find", "-f", "pages", "-f", "index.json.gz")

    assert len(result.stdout.splitlines()) == 2
    assert "index.json.gz" in result.stderr
    assert "it unpacks to more than" in result.stderr


def test_a_revision_that_git_unpacks_to_far_more_loses_only_itself(program: Program) -> None:
    lock = program.home / "spack.lock"
    git = ("git", "-C", str(program.home), "-c", "user.name=ann", "-c", "user.email=a@example.org")
    subprocess.run([*git, "init", "-q"], check=True)
    for content in (b"[" + b"[]," * 2**24 + b"0]", lock_file([leaf("o" * 32, "zlib", "1.2")])):
        lock.write_bytes(content)
        subprocess.run([*git, "add", "spack.lock"], check=True)
        subprocess.run([*git, "commit", "-qm", "Lock"], check=True)

    result = limited(program, "history", "zlib", "-f", "spack.lock")

    assert result.stdout.endswith("\t1 1\n"), result.stderr
    assert "spack.lock were read: it has 33,554,433 values; at most 10,000,000" in result.stderr


def test_a_snapshot_of_too_many_values_is_not_read(program: Program) -> None:
    good_page(program)
    limited(program, "snapshot", "-f", "pages")
    (kept,) = program.home.rglob("snapshots/*.gz")
    packed(kept, b"[" + b"[]," * 2**24 + b"0]", 1)

    result = limited(program, "history", "zlib", "-f", "pages")

    assert "zlib: 1 version\n" in result.stderr
    reason = "it has 33,554,433 values; at most 10,000,000 are read"
    assert f"the snapshots in {kept} cannot be read: {reason}" in result.stderr


def test_a_file_of_empty_gzip_members_is_given_up(program: Program) -> None:
    good_page(program)
    (program.home / "index.json.gz").write_bytes(gzip.compress(b"") * 1_000_000)

    result = limited(program, "find", "-f", "pages", "-f", "index.json.gz")

    assert len(result.stdout.splitlines()) == 2
    assert "index.json.gz: it has more than 65,536 parts" in result.stderr


# What few bytes make many values of


@pytest.mark.parametrize(
    ("before", "value", "count", "behind"),
    [
        (b"[", b"[],", 10_000_000, b"[]]"),
        (b'{"concrete_specs": {"a": [', b"1,", 10_000_000, b"1]}}"),
        (b'{"spec": {"nodes": [', b'{"":1},', 5_000_000, b"1]}}"),
        (b'{"name": [', b"{},", 10_000_000, b"1]}"),
    ],
    ids=["list", "lock", "spec", "other"],
)
def test_a_document_of_very_many_values_loses_only_itself(
    before: bytes, value: bytes, count: int, behind: bytes, program: Program
) -> None:
    good_page(program)
    (program.home / "many.json").write_bytes(before + value * count + behind)

    result = limited(program, "find", "-f", "pages", "-f", "many.json")

    assert len(result.stdout.splitlines()) == 2
    assert "values; at most 10,000,000 are read" in result.stderr


@pytest.mark.parametrize("value", [b"[],", b"1,", b'{"":1},'])
def test_a_record_of_very_many_values_ends_a_database(value: bytes, program: Program) -> None:
    many = b"[" + value * (10_000_000 // len(value)) + b"1]"
    good = json.dumps({"spec": {"name": "zlib", "hash": hash_of(1)}}).encode()
    (program.home / "index.json").write_bytes(
        b'{"database": {"version": "8", "installs": {"%s": %s, "%s": {"spec": %s}}}}'
        % (hash_of(1).encode(), good, hash_of(2).encode(), many)
    )

    result = limited(program, "find", "-f", "index.json")

    assert len(result.stdout.splitlines()) == 2
    assert "has more than 8,388,608 characters" in result.stderr
    assert "the records before it were read" in result.stderr


def test_a_page_of_very_many_values_is_read_record_by_record(program: Program) -> None:
    stacks = ["s"] * 600_000
    write_page(program.home / "specs.md", [record(n, stacks=stacks) for n in range(17)])

    result = limited(program, "find", "-f", "specs.md")

    assert result.returncode == 0
    assert len(result.stdout.splitlines()) == 18
    assert result.stderr == ""


def test_yaml_of_very_many_values_loses_only_itself(program: Program) -> None:
    good_page(program)
    (program.home / "spec.yaml").write_bytes(b"spec:\n" + b"- a: []\n" * 2_000_000)

    result = limited(program, "find", "-f", "pages", "-f", "spec.yaml")

    assert len(result.stdout.splitlines()) == 2
    assert "more than 100,000 values" in result.stderr


def test_a_document_of_very_many_problems_lists_some_and_counts_the_others(
    program: Program,
) -> None:
    node = {"name": "zlib", "hash": hash_of(1), "dependencies": [*range(200_000)]}
    (program.home / "index.json").write_text(
        json.dumps({"database": {"version": "8", "installs": {hash_of(1): {"spec": node}}}})
    )

    result = limited(program, "find", "-f", "index.json")
    sources = limited(program, "sources", "-f", "index.json", "--json")

    assert len(result.stdout.splitlines()) == 2
    assert json.loads(sources.stdout)[0]["problems"] == 10_001


# Standard input, and what takes time


def test_standard_input_without_an_end_is_given_up(program: Program, tmp_path: Path) -> None:
    spool = tmp_path / "spool"
    spool.mkdir()

    result = program("find", "-f", "-", stdin=Path("/dev/zero"), TMPDIR=str(spool))

    limit = "it is larger than the 1,073,741,824 bytes that are read"
    assert result.stderr == f"spackscope: standard input cannot be read: {limit}\n"
    assert (result.returncode, result.stdout) == (3, "")
    assert list(spool.iterdir()) == []


def test_a_killed_process_leaves_nothing_of_standard_input(
    program: Program, tmp_path: Path
) -> None:
    spool = tmp_path / "spool"
    spool.mkdir()
    process = subprocess.Popen(
        [*COMMAND, "find", "-f", "-"],
        env=environment(program.home, TMPDIR=str(spool)),
        bufsize=0,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
    )
    assert process.stdin is not None

    # More than a pipe holds, so that it is being copied.
    process.stdin.write(bytes(2**22))
    process.kill()
    process.wait()
    process.stdin.close()

    # Elsewhere a file needs a name.
    assert list(spool.iterdir()) == [] or sys.platform != "linux"


def test_a_file_of_60_gb_on_standard_input_is_not_copied(program: Program) -> None:
    huge = sparse(program.home / "huge", 60_000_000_000)

    result = program("find", "-f", "-", stdin=huge)

    assert TOO_MANY_BYTES in result.stderr
    assert result.returncode == 3


def test_many_records_of_one_hash_are_joined_in_no_time(program: Program) -> None:
    records = [record(1, stacks=[f"stack-{number}"]) for number in range(40_000)]
    write_page(program.home / "specs.md", records)

    result = program("find", "-f", "specs.md")

    assert result.returncode == 0
    assert len(result.stdout.splitlines()) == 2
