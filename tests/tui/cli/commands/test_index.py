import os
from pathlib import Path

import pytest

from spackscope.model.index.index_file import HEADER
from tests.builders.pages import hash_of, record, write_page
from tests.program import Program


def parse_output(text: str) -> dict[str, str]:
    return dict(line.split(maxsplit=1) for line in text.splitlines())


def test_index_prints_what_it_contains_and_where_it_is(program: Program) -> None:
    result = program("index")
    index = parse_output(result.stdout)
    assert result.returncode == 0
    assert list(index) == ["specs", "packages", "tags", "problems", "index", "size"]
    assert (index["specs"], index["packages"], index["tags"]) == ("346", "4", "1")
    assert index["size"] == f"{Path(index['index']).stat().st_size} bytes"
    assert program.cache() == [Path(index["index"]).name]


def test_an_index_is_rebuilt_on_demand(program: Program) -> None:
    file = Path(parse_output(program("index").stdout)["index"])
    first = file.stat().st_ino
    for more, is_kept in ((), True), (("--rebuild",), False):
        program("index", *more)
        assert (file.stat().st_ino == first) is is_kept


def test_index_prints_all_problems_and_find_the_first_twenty(program: Program) -> None:
    records: list[object] = [record(hash="no hash") for _ in range(30)]
    write_page(program.home / "zlib.md", [*records, record(1)])
    result = program("index", "-f", "zlib.md")
    assert parse_output(result.stdout)["problems"] == "30"
    lines = result.stderr.splitlines()
    assert len(lines) == 30
    assert lines[4] == (
        "spackscope: zlib.md: record 5: hash is 'no hash', expected 32 characters of a-z2-7"
    )
    found = program("find", "-f", "zlib.md", "--hashes")
    assert found.stdout.split() == [hash_of(1)]
    assert found.stderr.splitlines() == [
        *lines[:20],
        "spackscope: and 10 more problems; `spackscope index` lists all",
    ]


def test_a_damaged_index_is_rebuilt(program: Program) -> None:
    before = program("find", "--json").stdout
    file = Path(parse_output(program("index").stdout)["index"])
    data = bytearray(file.read_bytes())
    data[HEADER:] = b"\xff" * (len(data) - HEADER)
    file.write_bytes(data)
    result = program("find", "--json")
    rebuilt = "spackscope: the index was damaged and has been rebuilt\n"
    assert (result.returncode, result.stderr) == (0, rebuilt)
    assert result.stdout == before
    assert file.read_bytes() != data


def test_an_unwritable_cache_is_reported(program: Program) -> None:
    (program.home / "file").write_text("")
    result = program("index", XDG_CACHE_HOME=str(program.home / "file"), code=0)
    assert list(parse_output(result.stdout)) == ["specs", "packages", "tags", "problems"]
    assert result.stderr.startswith("spackscope: the index is kept in memory: ")
    program("index", XDG_CACHE_HOME="", HOME="", says="there is no home directory")


def test_an_index_that_another_process_removes_is_left_out(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "replace", lambda source, target: os.unlink(source))
    printed = parse_output(program("index").stdout)
    assert list(printed) == ["specs", "packages", "tags", "problems"]
