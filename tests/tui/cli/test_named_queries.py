"""Queries that the configuration names, on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from spackscope.model.query.parser import MAX_NESTED
from spackscope.tui.process import ExitCode
from tests.program import Program

NAMED = """\
[views]
mine = "os=ubuntu24.04 ~virtualenv"
newest = "view=mine py-build@1.2.2"
wrong = "hdf5@"
inner = "view=wrong"
one = "view=two"
two = "view=one"
"a b" = "os=x"
"""


@pytest.fixture
def config(program: Program) -> Path:
    path = program.home / "config" / "spackscope" / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(NAMED)
    return path


def hashes(program: Program, *words: str) -> list[str]:
    result = program("find", "--hashes", *words)
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout.split()


def test_a_named_query_is_part_of_any_query(program: Program, config: Path) -> None:
    mine = hashes(program, "os=ubuntu24.04 ~virtualenv")
    assert hashes(program, "view=mine") == mine
    assert hashes(program, "view=newest") == hashes(program, "py-build@1.2.2", "view=mine")
    assert 0 < len(hashes(program, "view=newest")) < len(mine)
    others = hashes(program, "!view=mine")
    assert sorted([*mine, *others]) == sorted(hashes(program))
    result = program("stats", "--by", "os", "view=mine")
    assert result.stdout.count("ubuntu24.04") == 1
    assert program("show", "view=newest").returncode == ExitCode.USAGE
    assert "Several specs match" in program("show", "view=newest").stderr


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("view=mien", "^ Unknown view mien. Did you mean mine?"),
        ("view=wrong", "^ view=wrong (FILE:4): Expected a version after @"),
        ("view=inner", "^ view=inner (FILE:5): view=wrong (FILE:4): Expected a version after @"),
        ("view=one",
         "^ view=one (FILE:6): view=two (FILE:7): view=one needs itself: one → two → one"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_when_it_is_used(
    program: Program, config: Path, query: str, sentence: str
) -> None:
    result = program("find", "py-build", query)
    assert result.returncode == ExitCode.USAGE
    assert result.stderr == (
        "spackscope: the query has an error\n"
        f"  py-build {query}\n"
        f"           {sentence.replace('FILE', str(config))}\n"
    )


def test_the_check_names_each_mistake_once(program: Program, config: Path) -> None:
    result = program("config", "--check")
    assert result.returncode == ExitCode.USAGE
    assert result.stderr.replace("spackscope: ", "").splitlines() == [
        f"{config}:4: view=wrong: Expected a version after @",
        f"{config}:6: view=one: view=one needs itself: one → two → one",
        f"{config}:7: view=two: view=two needs itself: two → one → two",
        f"{config}:8: a view is named with letters, digits, _, - and .; not a b",
    ]


def test_the_check_names_all_that_are_nested_too_deeply(program: Program, config: Path) -> None:
    depth = MAX_NESTED + 5
    views = [*(f"v{n} = 'view=v{n + 1}'" for n in range(depth)), f"v{depth} = 'zlib'"]
    config.write_text("\n".join(["[views]", *views]))
    lines = program("config", "--check").stderr.splitlines()
    sentence = f"More than {MAX_NESTED} views are used in each other"
    assert lines[0] == f"spackscope: {config}:2: view=v0: {sentence}"


def test_the_help_lists_them(program: Program, config: Path) -> None:
    lines = program("help", "query").stdout.splitlines()
    named = lines[lines.index("Named in the configuration") + 1 :]
    assert named[-1].split() == ["view=wrong", "hdf5@"]
    assert any(line.split()[0] == "view=mine" for line in named)
    assert all(len(line) < 80 for line in lines)
    config.unlink()
    assert "Named" not in program("help", "query").stdout


def test_no_password_is_printed(program: Program, config: Path) -> None:
    config.write_text(
        "[views]\nours = \"source='https://ann:secret@host/m?token=secret'\"\n"
        '"ann:secret@h" = "+mpi"\n[keys]\nfold = "ann:secret@h/x"\n'
    )
    for words in (["help", "query"], ["find", "view=ours"], ["find", "view=our"], ["config"],
                  ["config", "--json"]):  # fmt: skip
        result = program(*words)
        assert "secret" not in result.stdout + result.stderr, words
    config.write_text("[views]\nours = \"source='https://ann:secret@host' os=\"\n")
    result = program("find", "view=ours")
    assert "Expected a value after os=" in result.stderr
    assert "secret" not in result.stderr
    assert "secret" not in program("config", "--check").stderr


def test_without_named_queries_it_is_said_where_they_belong(program: Program) -> None:
    result = program("find", "view=mine")
    assert result.returncode == ExitCode.NOTHING
    assert "There is no view mine: the configuration has no [views]" in result.stderr
