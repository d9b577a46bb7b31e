"""`spackscope config` prints each setting with its origin, and mistakes end other commands."""

import json
from shlex import quote
from typing import Any

import pytest

from spackscope.tui.process import ExitCode
from spackscope.tui.settings.table import SETTINGS
from tests.program import Program

SAMPLE = "sample"


def table(program: Program, *words: str, **changes: Any) -> dict[str, tuple[str, str]]:
    result = program("config", *words, **changes, code=0, stderr="")
    head, *rows = (line.split("\t") for line in result.stdout.splitlines())
    assert head == ["setting", "value", "from"]
    return {name: (value, origin) for name, value, origin in rows}


def test_without_a_file_all_defaults_are_printed(program: Program) -> None:
    rows = table(program, SPACKSCOPE_FROM="")
    home = program.home
    assert rows["file"] == (f"{home}/config/spackscope/config.toml", "does not exist")
    assert rows["file for all users"] == (f"{home}/xdg/spackscope/config.toml", "does not exist")
    assert rows["sources"] == (SAMPLE, "default: no Spack found")
    assert rows["fold"] == ("true", "default")
    assert {*rows} == {"file", "file for all users", *(setting.name for setting in SETTINGS)}
    assert not (home / "config").exists(), "nothing is written"


def test_each_value_has_its_origin(program: Program) -> None:
    path = program.configure(
        'theme = "nord"\nhost = "target=zen3"\nsort = "-size"\nhidden = ["os", "used by"]\n'
        'sources = ["https://ann:secret@host/m?token=1", "tree"]\n',
    )
    text = 'copy = "site-copy"\nfold = false\nsort = "os"\n[keys]\nquit = "Q"\n'
    system = program.write("xdg/spackscope/config.toml", text)
    rows = table(
        program, "--host", "target=zen4", SPACKSCOPE_FROM="", SPACKSCOPE_COPY="curl -u ann:secret"
    )
    assert rows == {
        "file": (str(path), "read"),
        "file for all users": (str(system), "read"),
        "sources": (f"'https://host/m?…' {quote(f'{path.parent}/tree')}", str(path)),
        "public": ("that of cache.spack.io", "default"),
        "host": ("target=zen4", "command line"),
        "copy": ("curl …", "SPACKSCOPE_COPY"),
        "plain": ("false", "default"),
        "theme": ("nord", str(path)),
        "fold": ("false", str(system)),
        "sort": ("-size", str(path)),
        "hidden": ("os 'used by'", str(path)),
        "keys.quit": ("Q", str(system)),
    }


def test_sources_are_those_that_are_read(program: Program) -> None:
    program.configure('sources = "a"')
    assert table(program, "-f", "x")["sources"] == ("x", "command line")
    assert table(program, SPACKSCOPE_FROM="y z")["sources"] == ("y z", "SPACKSCOPE_FROM")
    defaults = table(program, SPACKSCOPE_CONFIG="/dev/null", SPACKSCOPE_FROM="")
    assert defaults["sources"][0] == SAMPLE


@pytest.mark.parametrize("words", [(), ("--check",), ("--json",), ("--keys",)])
def test_a_url_in_place_of_the_path_keeps_its_password(
    program: Program, words: tuple[str, ...]
) -> None:
    url = "https://ann:secret@host/config.toml?token=secret"
    run = program("config", *words, SPACKSCOPE_CONFIG=url, code=2, says="host/config.toml")
    assert "secret" not in run.stdout + run.stderr


def test_json_has_an_object_for_each_setting(program: Program) -> None:
    path = program.configure('sources = ["a b", "c"]\nfold = false')
    lines = program("config", "--json", SPACKSCOPE_FROM="").stdout.splitlines()
    by_name = {line.pop("setting"): line for line in map(json.loads, lines)}
    sources = [f"{path.parent}/a b", f"{path.parent}/c"]
    assert by_name["sources"] == {"value": sources, "from": str(path)}
    assert by_name["fold"] == {"value": False, "from": str(path)}
    assert by_name["sort"] == {"value": None, "from": "default"}


def test_a_check_lists_every_mistake_of_a_file(program: Program) -> None:
    path = program.configure('theme = "nrd"\nhost = "rhel8"\ncopy = "x \'y"\n')
    result = program("config", "--check", code=ExitCode.USAGE)
    assert result.stdout.splitlines()[0] == f"{path}: 3 mistakes"
    assert result.stderr.removeprefix("spackscope: ").splitlines() == [
        f"{path}: host: Expected platform, os, target, libc, glibc or musl, each with = and a "
        "value",
        f"{path}: copy: no closing quotation",
        f"{path}: there is no theme nrd. Did you mean nord?",
    ]
    assert program("config").returncode == ExitCode.USAGE


def test_keys_that_clash_are_listed_beside_other_mistakes(program: Program) -> None:
    program.configure('[keys]\ncopy = "Y"\nnokey = "x"\n')
    result = program("config", "--check", code=ExitCode.USAGE)
    wrong, clash = result.stderr.splitlines()
    assert "Y" in clash
    assert "nokey" in wrong


def test_a_right_file_passes_the_check(program: Program) -> None:
    path = program.configure('theme = "nord"')
    result = program("config", "--check", code=0, stderr="")
    assert result.stdout.splitlines() == [
        f"{path}: no mistakes",
        f"{program.home}/xdg/spackscope/config.toml: no such file",
    ]


@pytest.mark.parametrize("words", [["find", "py-build"], ["index"], ["py-build"]], ids=" ".join)
def test_a_command_ends_at_a_mistake(program: Program, words: list[str]) -> None:
    path = program.configure("\nfold = 1")
    assert (
        program.refused(*words, code=ExitCode.USAGE)
        == f"spackscope: {path}: fold must be true or false\n"
    )


def test_a_setting_of_a_newer_version_is_only_named(program: Program) -> None:
    path = program.configure("\nfolds = true\n[keys]\nteleport = 'x'\n")
    found = program("find", "py-build", "--hashes")
    assert (found.returncode, len(found.stdout.split())) == (ExitCode.FOUND, 24)
    unknown = f"{path}: unknown setting folds. Did you mean fold?\n"
    assert found.stderr == f"spackscope: {unknown}"
    check = program("config", "--check", code=ExitCode.USAGE)
    assert f"{path}: unknown key name teleport" in check.stderr.removeprefix(unknown)


@pytest.mark.parametrize(("count", "more"), [(10, 0), (11, 1), (30, 20)])
def test_only_some_of_many_mistakes_end_a_command(program: Program, count: int, more: int) -> None:
    program.configure("".join(f"x{number} = 1\n" for number in range(count - 1)) + "fold = 1")
    lines = program.refused("find", code=ExitCode.USAGE).splitlines()
    assert all(
        f": {'fold must be' if at == count else 'unknown setting x'}" in line
        for at, line in enumerate(lines[:10], 1)
    )
    rest = f"and {more} more; `spackscope config --check` lists all"
    assert lines[10:] == ([rest] if more else [])
    assert len(program("config", "--check").stderr.splitlines()) == count


@pytest.mark.parametrize("word", ["--help", "--version", "help"])
def test_the_help_reads_no_file(program: Program, word: str) -> None:
    program.configure("folds = true")
    assert program(word).returncode == 0


def test_sources_host_and_tag_list_of_the_file_are_used(program: Program) -> None:
    host = "target=zen3 os=rhel8"
    program.configure(f'sources = "nowhere"\nhost = "{host}"\npublic = "no-such-list.json"')
    folder = f"{program.home}/config/spackscope"
    for words, path in (((), "nowhere"), (("-f", "public"), "no-such-list.json")):
        result = program("find", *words, "py-build", SPACKSCOPE_FROM="", code=3)
        assert f"{folder}/{path}" in result.stderr
    asked = ("find", "-f", SAMPLE, "--json", "fits", "py-build")
    assert program(*asked).stdout == program(*asked, "--host", host).stdout


def test_a_wrong_host_is_shown_with_its_file(program: Program) -> None:
    path = program.configure('\nhost = "target=zen3 glbc=2"')
    result = program("find", "py-build", code=ExitCode.USAGE)
    first, text, caret = result.stderr.splitlines()
    assert first.startswith(
        f"spackscope: {path}: host: Expected platform, os, target, libc, glibc"
    )
    assert text.index("glbc") == caret.index("^")


def test_a_wrong_theme_ends_the_browser_before_it_opens(program: Program) -> None:
    path = program.configure('theme = "nrd"')
    code, output = program.on_terminal("py-build")
    assert code == ExitCode.USAGE
    assert f"{path}: there is no theme nrd. Did you mean nord?" in output.replace("\n", "")
    assert program("find", "py-build").returncode == 0, "only the browser has a theme"


def test_the_keys_are_listed_by_their_names(program: Program) -> None:
    program.configure('[keys]\nquit = "Q"')
    lines = program("config", "--keys").stdout.splitlines()
    assert [line.split()[2] for line in lines if line.startswith("quit ")] == ['"Q"']
    program.configure('[keys]\nquti = "X"')
    result = program("config", "--keys", code=ExitCode.USAGE)
    assert ": unknown key name quti. Did you mean quit?" in result.stderr
