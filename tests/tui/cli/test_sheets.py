"""All answers print their rows in the same forms, and each can be taken out as a leaf."""

import csv
import io
import json
import os
import re
import subprocess
import sys
from collections import Counter
from itertools import chain
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from spackscope.model.core.text import cell_width
from spackscope.tui.cli.command_table import ANSWERS, COMMANDS
from tests.builders.nodes import edge, leaf, node
from tests.builders.pages import hash_of
from tests.builders.spack import environment, write_index, write_tree
from tests.documents import ROOT
from tests.examples import cases
from tests.program import Program, link_program

ZLIB, OLD, M4 = (letter * 32 for letter in "zom")
FILES = {"lib/libz.so": {"mode": 0o120777, "dest": "libz.so.1"}}
ASKED = {
    "find": (),
    "cover": ("spack.lock",),
    "diff": (f"/{ZLIB}", f"/{OLD}"),
    "show": (f"/{ZLIB}",),
    "needs": (f"/{ZLIB}",),
    "files": (f"/{ZLIB}", "-f", "tree"),
    "duplicates": (),
    "why": ("zlib", "--host", "zen3"),
    "stats": ("version",),
    "sources": (),
}


TYPES = {
    str: "text",
    int: "number",
    float: "number",
    bool: "true, false",
    list: "list",
}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    """Return the program with two caches of the same specs, and an environment with one more."""
    home = tmp_path_factory.mktemp("home")
    m4 = node(M4, name="m4", version="1.4", dependencies=[edge("zlib", ZLIB, ["link"])])
    nodes = (leaf(ZLIB, "zlib", "1.3"), leaf(OLD, "zlib", "1.2"), m4)
    for name in ("index.json", "copy.json"):
        write_index(home / name, *nodes)
    write_tree(home / "tree", leaf(ZLIB, "zlib", "1.3"), files=FILES)
    (home / "spack.lock").write_bytes(environment([*nodes, leaf(hash_of(9), "xz", "5")]))
    program = Program(home)
    program("index", "-f", "index.json")
    return program


def test_each_answer_is_asked() -> None:
    assert {*ASKED} == ANSWERS
    assert {name: command.name for name, command in COMMANDS.items()} == {n: n for n in COMMANDS}


@pytest.mark.parametrize("command", ASKED)
def test_all_forms_have_the_same_rows(command: str, program: Program) -> None:
    words = (command, *ASKED[command], "-f", "index.json")
    rows = program.rows(*words)
    lines = program(*words, "--jsonl").stdout.splitlines()
    assert rows == [json.loads(line) for line in lines]
    in_csv = list(csv.DictReader(io.StringIO(program(*words, "--csv").stdout)))
    assert len(in_csv) == len(rows)
    for row, cells in zip(rows, in_csv, strict=True):
        assert list(cells) == list(row)
        for name, value in row.items():
            if isinstance(value, str | int) and not isinstance(value, bool):
                assert cells[name].removeprefix("'") == str(value)
    tokens = MarkdownIt("gfm-like").parse(program(*words, "--markdown").stdout)
    kinds = Counter(token.type for token in tokens)
    # A row that is alone has a line for each column.
    assert len(rows) == 1 or kinds["tr_open"] - kinds["thead_open"] == len(rows)
    hashes = program(*words, "--hashes").stdout.split()
    assert len(hashes) == len({*hashes})
    if command != "stats":
        page = (ROOT / "docs/reference/output.md").read_text("utf-8")
        rows_of_page = re.findall(r"^\|.*?\| `(\w+)` \| ([^|]+) \|", page, re.MULTILINE)
        documented = dict[str, str]()
        for name, types in rows_of_page:
            documented[name] = f"{documented.get(name, '')} {types}"
        for name, value in chain.from_iterable(row.items() for row in rows):
            name = re.sub("^[a-z2-7]{32}$", "HASH", name)
            assert value is None or TYPES[type(value)] in documented[name], name
    # With a limit, and the columns in another order.
    names = list(rows[0])[:2][::-1] if rows else []
    first = program.rows(*words, "--limit", "1", f"--columns={','.join(names)}")
    assert [list(row) for row in first] == [names] * len(rows[:1]) or not rows
    for columns in (80, 120) if command != "show" else ():
        _, text = program.on_terminal(*words, columns=columns, changes={"NO_COLOR": "1"})
        assert max(map(cell_width, text.splitlines())) <= columns


def test_what_the_heading_says_is_a_column_in_a_pipe_and_where_it_is_asked_for(
    program: Program,
) -> None:
    words = ("needs", f"/{M4}", "-f", "index.json")
    assert program(*words).stdout.startswith("needed_to\thash\t")
    plain = {"NO_COLOR": "1"}
    _, text = program.on_terminal(*words, changes=plain)
    assert "\nhash " in text.replace("\r", "")
    _, text = program.on_terminal(*words, "--columns", "needed_to,package", changes=plain)
    assert "\nneeded to " in text.replace("\r", "")


def test_rows_are_sorted_by_value_and_what_is_unknown_comes_last(program: Program) -> None:
    def found(*words: str) -> list[str]:
        return program(
            "find", "-f", "index.json", "--format", "{name}@{version}", *words
        ).stdout.split()

    assert found("--sort", "version") == ["zlib@1.2", "zlib@1.3", "m4@1.4"]
    assert found("--sort=-version", "--limit", "2") == ["m4@1.4", "zlib@1.3"]
    # An option with the first letter is not meant.
    assert found("--sort", "-hash", "-n", "1") == found("--sort=-hash", "-n1")
    assert found("--sort", "-version", "-n2") == ["m4@1.4", "zlib@1.3"]
    assert found("--sort", "size") == found()


def test_a_format_has_values_or_their_beginning(program: Program) -> None:
    words = ("find", "-f", "index.json", "m4", "--format")
    assert program(*words, "{package}/{hash:7} {tag}|").stdout == "m4/mmmmmmm |\n"
    assert program(*words, "").stdout == "\n"


def test_a_comment_has_the_first_rows_and_says_how_many_more(program: Program) -> None:
    many = [leaf(hash_of(number), "zlib", f"1.{number}") for number in range(120)]
    write_index(program.home / "long.json", *many)
    for more, rows, end in (
        ((), 100, "and 20 more"),
        (("-n", "2"), 2, "and 118 more"),
        (("-n0",), 120, None),
    ):
        lines = program("find", "-f", "long.json", "--markdown", *more).stdout.splitlines()
        assert sum(line.startswith("| zlib |") for line in lines) == rows
        assert (lines[-1] if end else None) == end


def test_of_a_long_answer_a_terminal_shows_the_first_rows_of_each_group(program: Program) -> None:
    words = ("why", "-f", "many.json", "zlib")
    many = [leaf(hash_of(number), "zlib", f"1.{number}") for number in range(60)]
    write_index(program.home / "many.json", *many)
    for more, count in ((), 40), (("--limit", "0"), 60):
        _, text = program.on_terminal(*words, *more, changes={"NO_COLOR": "1"})
        assert text.count("  zlib ") == count
        assert ("and 20 more; --limit 0 prints all\n" in text) is (count == 40)
    assert len(program(*words).stdout.splitlines()) == 61


@cases("command", ["duplicates"], more=[name for name in ASKED if name != "duplicates"])
def test_an_answer_is_a_leaf(command: str, tmp_path: Path, program: Program) -> None:
    """Without its module nothing else changes."""
    copy = link_program(tmp_path)
    (copy / "model" / "answers" / f"{command}.py").unlink()

    def run(*words: str) -> str:
        environ = {**os.environ, "PYTHONPATH": str(tmp_path), "HOME": str(program.home)}
        line = [sys.executable, *words]
        return subprocess.check_output(line, cwd=program.home, env=environ, encoding="utf-8")

    main = ("-m", "spackscope.tui.cli.main")
    assert f"\n  {command} " not in run(*main, "--help")
    other = "find" if command != "find" else "show"
    assert run(*main, other, "-f", "index.json", "--hashes", "m4") == f"{M4}\n"
    run("-c", "import spackscope.tui.app, spackscope.tui.browser.sheets")
