import json
import os
import shutil
from datetime import datetime, timedelta, timezone
from pathlib import Path
from threading import Thread

import pytest

from tests.builders.mirrors import mirror_v2, mirror_v3, write_files
from tests.builders.nodes import leaf, node
from tests.builders.pages import SAMPLE_PAGES, hash_of, record, write_page
from tests.builders.spack import INDEX_OF_1_2, INSTALL_TREE, database, installs, write_index
from tests.program import COMMAND, Program

TREE = INSTALL_TREE.parents[1]


def test_the_sources_are_listed_with_what_they_are(program: Program) -> None:
    write_page(program.home / "site" / "specs.md", [record(1), record(hash="no hash")])
    shutil.copytree(TREE, program.home / "tree")

    result = program("sources", "-f", "site", "-f", "tree", "-f", "gone", says="does not exist")
    assert result.returncode == 3, "one cannot be read"
    assert [line.split("\t") for line in result.stdout.splitlines()] == [
        ["source", "kind", "layout", "specs", "problems", "remark", "failure", "checked"],
        ["site", "pages", "", "1", "1", "", "", ""],
        ["tree", "install tree", "", "22", "0", "", "", ""],
        ["gone", "unreadable", "", "0", "1", "", "does not exist", ""],
    ]


def test_an_unreadable_source_does_not_hide_others_but_may_have_what_they_lack(
    program: Program,
) -> None:
    sources = ("-f", "gone", "-f", str(SAMPLE_PAGES))
    result = program("find", *sources, "--hashes", "py-build")
    assert (result.returncode, len(result.stdout.split())) == (0, 24)
    assert result.stderr == "spackscope: the source gone does not exist\n"
    assert program("find", "py-build@99").returncode == 1
    assert program("find", *sources, "py-build@99").returncode == 3
    assert program("show", *sources, "zzzzzz").returncode == 3


def test_all_lists_dependency_only_specs(program: Program) -> None:
    records = installs(node()) | installs(leaf(hash_of(9), "gcc", "13"), in_buildcache=False)
    program.write("index.json", database(records).decode())
    find = ("find", "-f", "index.json", "--hashes", "gcc")
    assert program(*find).returncode == 1
    assert program(*find, "--all").stdout.split() == [hash_of(9)]
    assert program(*find).returncode == 1
    shown = program("show", "-f", "index.json", hash_of(9)).stdout
    assert "state         needed" in shown


@pytest.mark.parametrize("document", [INDEX_OF_1_2, INSTALL_TREE], ids=["mirror", "tree"])
def test_a_document_may_come_on_standard_input(program: Program, document: Path) -> None:
    words = ("--format", "{hash} {sources}")
    piped = program("find", "-f", "-", *words, stdin=document).stdout
    assert piped == program("find", "-f", str(document), *words).stdout.replace(f"{document}", "-")


def test_earlier_standard_input_is_not_reused(program: Program, tmp_path: Path) -> None:
    for number in (1, 2):
        path = tmp_path / f"{number}.json"
        write_index(path, node(hash_of(number)))
        result = program("find", "-f", "-", "--hashes", stdin=path)
        assert result.stdout.split() == [hash_of(number)]
    assert program.cache() == []


def test_a_pipe_that_is_named_is_read_as_standard_input_is(
    program: Program, tmp_path: Path
) -> None:
    write_index(tmp_path / "1.json", node(hash_of(1)))
    fifo = program.home / "fifo"
    os.mkfifo(fifo)
    document = (tmp_path / "1.json").read_bytes()
    Thread(target=fifo.write_bytes, args=(document,), daemon=True).start()
    assert program("find", "-f", "fifo", "--hashes").stdout.split() == [hash_of(1)]
    read, write = os.pipe()
    with os.fdopen(read, "rb") as reader, os.fdopen(write, "wb") as writer:
        writer.write(f"{hash_of(1)}\n".encode())
        writer.close()
        words = ("cover", f"/dev/fd/{read}", "-f", "1.json", "--hashes")
        covered = program.run(*COMMAND, *words, cwd=tmp_path, pass_fds=(reader.fileno(),))
    assert covered.stdout.split() == [hash_of(1)]
    assert program.cache() == []


def test_empty_standard_input_is_reported(program: Program) -> None:
    program.refused("find", "-f", "-", code=3, says="standard input")
    code, text = program.on_terminal("find", "-f", "-")
    assert code == 2
    assert "the source - reads standard input: spackscope -f - < index.json" in text


def test_a_spec_of_several_indexes_of_a_mirror_counts_once(program: Program) -> None:
    index = database(installs(leaf(hash_of(1), "zlib", "1.3"), leaf(hash_of(2), "zlib", "1.2")))
    write_files(program.home / "mirror", mirror_v3(index) | mirror_v2(index))
    lines = program("sources", "-f", "mirror").stdout.splitlines()
    assert lines[1].split("\t") == ["mirror", "mirror", "v3 and v2", "2", "0", "", "", ""]


def test_the_age_of_a_tag_comes_from_its_name_or_the_dates_of_others(program: Program) -> None:
    today = datetime.now(timezone.utc)

    def dated(name: str, days: int) -> str:
        return f"{name}-{today - timedelta(days=days):%Y-%m-%d}"

    def since(year: int, month: int) -> int:
        return (today - datetime(year, month, 1, tzinfo=timezone.utc)).days

    ages = {
        "v2025.07.1": (since(2025, 7), False),
        "releases/v2026.10": (since(2026, 10), False),
        "e4s/25.06": (since(2025, 6), False),
        "e4s/25.11": (since(2025, 11), False),
        **dict.fromkeys(("v2026.13.0", "v1.0.0", "odd-2026-99-99"), (None, False)),
        dated("develop", 20): (20, False),
        dated("develop", 13): (13, False),
        "develop": (13, False),
        dated("other", 99): (99, False),
        "other": (99, True),
    }
    entries = [{"label": "root", "url": "x"}]
    tags = json.dumps(dict.fromkeys(ages, entries))
    public = str(program.write("cache_spack_io_index.json", tags))

    rows = program.rows("sources", "--tags", SPACKSCOPE_PUBLIC=public)
    assert {row["tag"]: (row["days"], row["stale"]) for row in rows} == ages
    (develop,) = (row for row in rows if row["tag"] == "develop")
    assert (develop["indexes"], develop["labels"], develop["urls"]) == (1, ["root"], ["x"])
    changes = {"SPACKSCOPE_PUBLIC": public, "NO_COLOR": "1"}
    _, text = program.on_terminal("sources", "--tags", changes=changes)
    shown = [line.split()[0] for line in text.splitlines()]
    assert shown.index("develop") < shown.index("odd-2026-99-99") < shown.index("other")
    assert "  99 days   stale\n" in text

    words = ("sources", "--tags", "-f")
    e4s = program(*words, "public:e4s", SPACKSCOPE_PUBLIC=public).stdout.splitlines()
    assert [line.split("\t")[0] for line in e4s[1:]] == ["e4s/25.11", "e4s/25.06"]
    refusal = program("find", "-f", "public:e4s", SPACKSCOPE_PUBLIC=public).stderr
    assert "has no tag e4s: there are e4s/25.11, e4s/25.06" in refusal
    others = program(*words, "public:uo", SPACKSCOPE_PUBLIC=public)
    assert others.stderr.strip().endswith("no tags of uo: name one, as public:uo/TAG")
    assert len(others.stdout.splitlines()) == 1 + len(ages)
