"""A view is written as a command line that means the same in any directory."""

from __future__ import annotations

from pathlib import Path

import pytest

from spackscope.model.presentation.paste import (
    FROM_STDIN,
    WITHOUT_SECRETS,
    ViewCommand,
    view_command,
)
from spackscope.model.query.parser import parse
from spackscope.model.sources.session import Session
from tests.tui.cli.test_secrets import SECRETS, URLS


def command(*sources: str, query: str = "", **options: object) -> ViewCommand:
    environ = {"SPACKSCOPE_HOST": str(options.pop("environ", ""))}
    session = Session(environ, **options)  # type: ignore[arg-type]
    return view_command(sources, parse(query, packages=()), session)


def test_paths_are_absolute_and_everything_odd_is_quoted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    here = f"""'{tmp_path}/it'"'"'s here'"""
    assert command("it's here", "public:v1,v2", "sample_data") == ViewCommand(
        f"spackscope find -f {here} -f public:v1,v2 -f sample_data --hashes"
    )
    text = command("-x", "cache_spack_io_index.json#v1", "spack:site", "file:///m").text
    paths = f"-f {tmp_path}/-x -f '{tmp_path}/cache_spack_io_index.json#v1'"
    assert text == f"spackscope find {paths} -f spack:site -f file:///m --hashes"


@pytest.mark.parametrize(
    ("query", "quoted"),
    [
        ("hdf5@1.14: +mpi", "'hdf5@1.14: +mpi'"),
        ("!os=a", "'!os=a'"),
        ("cflags='-O2 -g'", """'cflags='"'"'-O2 -g'"'"''"""),
        ("mpi", "any=mpi"),
        ("stack='a$b`c'", """'stack='"'"'a$b`c'"'"''"""),
    ],
)
def test_the_query_is_one_word(query: str, quoted: str) -> None:
    assert command("public", query=query).text == f"spackscope find -f public {quoted} --hashes"


def test_options_that_change_the_answer_are_written() -> None:
    text = command(
        "public", query="fits", include_dependency_only=True, host="target=zen3 glibc=2.35"
    ).text
    host = "--host 'target=zen3 glibc=2.35'"
    assert text == f"spackscope find -f public --all {host} fits --hashes"
    assert command("public", environ="zen4").text == (
        "spackscope find -f public --host zen4 --hashes"
    )


def test_secrets_are_left_out_and_the_remark_says_so() -> None:
    made = command("https://ann:secret@example.org/m?token=abc")
    assert made == ViewCommand(
        "spackscope find -f 'https://example.org/m?…' --hashes", WITHOUT_SECRETS
    )
    assert command("-") == ViewCommand("spackscope find -f - --hashes", FROM_STDIN)


@pytest.mark.parametrize("url", URLS)
def test_no_secret_of_a_mistyped_url_is_in_the_command_line(url: str) -> None:
    made = command(url)
    assert not [secret for secret in SECRETS if secret in made.text]
    assert made.remark == WITHOUT_SECRETS


def test_a_path_that_looks_like_a_url_stays_if_it_exists(tmp_path: Path) -> None:
    path = tmp_path / "a:b@c"
    path.touch()
    assert command(str(path)) == ViewCommand(f"spackscope find -f {path} --hashes")
