"""The real program under a limit of memory, with hostile documents."""

import gzip
import json
import os
import resource
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.builders.pages import hash_of, record, write_page
from tests.examples import cases
from tests.program import COMMAND, Program, environment

MEMORY = 1 << 30
"""Bytes of address space, in which what these documents cost without bounds has no room."""

VERY_MANY = b"[" + b"[]," * 2**24 + b"0]"
TOO_MANY_BYTES = "cannot be read: it has 60,000,000,000 bytes; at most 1,073,741,824 are read"
TOO_LONG, UNPACKED = "has more than 8,388,608 characters", "it unpacks to more than"
TOO_MANY_VALUES = "values; at most 10,000,000 are read"


def limited(program: Program, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the program with no more than so much memory."""
    limit = (resource.RLIMIT_AS, (MEMORY, MEMORY))
    return program.run(*COMMAND, *words, preexec_fn=lambda: resource.setrlimit(*limit))


def sparse(path: Path, head: bytes = b"---\nlayout: cache\nspec_details: [") -> Path:
    """Write a file of 60 GB of which a disk has but the head."""
    path.write_bytes(head)
    os.truncate(path, 60_000_000_000)
    return path


def packed(part: bytes, times: int = 1) -> bytes:
    """Return gzip that unpacks to a part many times over."""
    packer = zlib.compressobj(wbits=31)
    return b"".join([*(packer.compress(part) for _ in range(times)), packer.flush()])


def database(value: bytes) -> bytes:
    """Return a database with a good record, and one that has very many values."""
    good = json.dumps({"spec": {"name": "zlib", "hash": hash_of(2)}}).encode()
    many = b'{"spec": [%s1]}' % (value * (10_000_000 // len(value)))
    records = b'"%s": %s, "%s": %s' % (hash_of(2).encode(), good, hash_of(3).encode(), many)
    return b'{"database": {"version": "8", "installs": {%s}}}' % records


Make = Callable[[Path], object]


def of(content: Callable[[], bytes]) -> Make:
    return lambda path: path.write_bytes(content())


HARMFUL: dict[str, tuple[Make, str]] = {
    "pages/huge.md": (sparse, TOO_MANY_BYTES),
    "pages/symlink.md": (lambda path: path.symlink_to("huge.md"), TOO_MANY_BYTES),
    "pages/link.md": (lambda path: path.hardlink_to(path.with_stem("huge")), TOO_MANY_BYTES),
    "huge.json": (lambda path: sparse(path, b'{"database":'), TOO_MANY_BYTES),
    "list.json": (of(lambda: VERY_MANY), TOO_MANY_VALUES),
    "parts.gz": (of(lambda: gzip.compress(b"") * 100_000), "it has more than 65,536 parts"),
    "many.yaml": (of(lambda: b"spec:\n" + b"- a: []\n" * 200_000), "more than 100,000 values"),
    "values.json": (of(lambda: database(b"[],")), TOO_LONG),
}
MORE: dict[str, tuple[Make, str]] = {
    "spec.json": (of(lambda: b'{"spec": {"nodes": [%s1]}}' % (b'{"":1},' * 5_000_000)),
                  TOO_MANY_VALUES),
    "lock.json": (of(lambda: b'{"concrete_specs": {"a": [%s1]}}' % (b"1," * 10_000_000)),
                  TOO_MANY_VALUES),
    "name.json": (of(lambda: b'{"name": [%s1]}' % (b"{}," * 10_000_000)), TOO_MANY_VALUES),
    "numbers.json": (of(lambda: database(b"1,")), TOO_LONG),
    "objects.json": (of(lambda: database(b'{"":1},')), TOO_LONG),
    "spaces.gz": (of(lambda: packed(b'{"database": ' + b" " * 2**20, 80)), UNPACKED),
    "lists.gz": (of(lambda: packed(b"[]," * 2**19, 80)), UNPACKED),
}  # fmt: skip


@cases("harmful", [HARMFUL], more=[MORE])
def test_a_document_that_does_harm_loses_only_itself(
    harmful: dict[str, tuple[Make, str]], program: Program
) -> None:
    write_page(program.home / "pages" / "zlib.md", [record(1)])
    for name, (make, _) in harmful.items():
        make(program.home / name)

    files = [word for name in harmful if "pages" not in name for word in ("-f", f"./{name}")]
    result = limited(program, "find", "-f", "pages", *files, "--hashes")

    # Of a database what comes before is read.
    assert sorted(result.stdout.split()) == [hash_of(1), hash_of(2)], result.stderr
    for name, (_, sentence) in harmful.items():
        lines = [line for line in result.stderr.splitlines() if name in line]
        assert any(sentence in line for line in lines), name


@pytest.mark.exhaustive
def test_a_page_of_very_many_values_is_read_record_by_record(program: Program) -> None:
    stacks = ["s"] * 600_000
    write_page(program.home / "specs.md", [record(n, stacks=stacks) for n in range(17)])

    result = limited(program, "find", "-f", "specs.md")

    assert result.returncode == 0
    assert len(result.stdout.splitlines()) == 18
    assert result.stderr == ""


def test_a_document_of_very_many_problems_lists_some_and_counts_the_others(
    program: Program,
) -> None:
    node = {"name": "zlib", "hash": hash_of(1), "dependencies": [*range(20_000)]}
    (program.home / "index.json").write_text(
        json.dumps({"database": {"version": "8", "installs": {hash_of(1): {"spec": node}}}})
    )

    assert len(program("find", "-f", "index.json").stdout.splitlines()) == 2
    (source,) = program.rows("sources", "-f", "index.json")
    assert source["problems"] == 10_001


@pytest.mark.exhaustive
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
    program("find", "-f", "-", stdin=sparse(program.home / "huge"), says=TOO_MANY_BYTES, code=3)


def test_many_records_of_one_hash_are_joined_in_no_time(program: Program) -> None:
    records = [record(1, stacks=[f"stack-{number}"]) for number in range(20_000)]
    write_page(program.home / "specs.md", records)

    assert len(program("find", "-f", "specs.md", "--hashes").stdout.splitlines()) == 1
