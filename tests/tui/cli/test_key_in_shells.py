"""A key at the prompt of a real shell puts a choice of the browser into the line."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.builders.pages import hash_of, record, write_page
from tests.completing_shell import EACH_SHELL, INSTALLED, CompletingShell

pytestmark = pytest.mark.pty

KEY, LEFT = "\x1bi", "\x02"
NEWLINE = {"bash": "\x16\n", "zsh": "\x16\n", "fish": "\x1b\r"}
HASH = hash_of(1)
READY, ALL, STARTING = HASH[:7], "all packages", "starting"
"""What is shown with a query, without one, and before the browser has the terminal."""


@pytest.fixture(params=EACH_SHELL, scope="module")
def shell(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[CompletingShell]:
    home = tmp_path_factory.mktemp("home")
    write_page(home / "pages", [record(1), record(2, versions=["1.2"])])
    with open_shell(request.param, home) as started:
        yield started


@contextmanager
def open_shell(name: str, home: Path, **variables: str) -> Iterator[CompletingShell]:
    variables = {"SPACKSCOPE_FROM": "pages", **variables}
    with closing(CompletingShell(name, home, **variables)) as started:
        started.run(
            "spackscope completion fish --widget | source"
            if name == "fish"
            else f'eval "$(spackscope completion {name} --widget)"'
        )
        yield started


def test_a_choice_is_put_where_the_cursor_is(shell: CompletingShell) -> None:
    line = f"spackscope a 'é{NEWLINE[shell.name]}b' zlib@1.3 +shared c d{LEFT * 4}"
    shell.pick(line + KEY, READY, "\r")
    assert shell.words(" x") == ["a", "é\nb", f"zlib/{HASH}", "x", "c", "d"]


def test_marked_specs_become_words_of_the_line(shell: CompletingShell) -> None:
    shell.pick(f"spackscope zlib{KEY}", READY, "  \r")
    assert shell.words("") == [f"zlib/{HASH}", f"zlib/{hash_of(2)}"]
    # In an open quote they are a part of its word.
    shell.pick(f'spackscope "zlib{KEY}', READY, "  \r")
    assert shell.words('"') == [f"zlib/{HASH} zlib/{hash_of(2)}"]


def test_in_an_empty_line_the_choice_is_the_line(shell: CompletingShell) -> None:
    shell.pick(KEY, ALL, "/zlib@1.3\r\r")
    # To the beginning of the line.
    assert shell.words("\x01spackscope ") == [f"zlib/{HASH}"]


@pytest.mark.parametrize(
    ("shown", "keys"), [(READY, "q"), (READY, "\x03"), (STARTING, "\x03"), (READY, "\x1aq")]
)
def test_leaving_changes_nothing(shell: CompletingShell, shown: str, keys: str) -> None:
    shell.pick(f"spackscope zlib c{LEFT * 2}{KEY}", shown, keys)
    assert shell.words("x") == ["zlibx", "c"]


def test_text_that_is_no_spec_stays_and_is_not_run(shell: CompletingShell) -> None:
    typed = "a\\;b '$(touch x);`touch x`'"
    shell.pick(f"spackscope {typed}{KEY}", ALL, "/zlib@1.3\r\r")
    assert shell.words("") == ["a;b", "$(touch x);`touch x`", f"zlib/{HASH}"]
    assert not (shell.home / "x").exists()


@pytest.mark.parametrize("name", INSTALLED)
def test_after_a_failure_the_line_is_as_it_was(name: str, tmp_path: Path) -> None:
    with open_shell(name, tmp_path, SPACKSCOPE_FROM="nowhere") as shell:
        shell.pick(f"spackscope zlib c{LEFT * 2}{KEY}", "nowhere does not exist", "")
        assert shell.words("x") == ["zlibx", "c"]


@pytest.mark.parametrize("name", INSTALLED)
def test_key_and_form_are_those_of_the_user(name: str, tmp_path: Path) -> None:
    write_page(tmp_path / "pages", [record(1)])
    key = {"bash": "\\C-xp", "zsh": "^Xp", "fish": "\x18p"}[name]
    variables = {"SPACKSCOPE_KEY": key, "SPACKSCOPE_KEY_FORMAT": "--cache-only /{hash:7}"}
    with open_shell(name, tmp_path, **variables) as shell:
        shell.pick("spackscope zlib\x18p", READY, "\r")
        assert shell.words("") == ["--cache-only", f"/{HASH[:7]}"]


@pytest.mark.parametrize("name", INSTALLED)
def test_a_shell_of_strict_options_outlives_a_choice_that_is_left(
    name: str, tmp_path: Path
) -> None:
    write_page(tmp_path / "pages", [record(1)])
    strict = {
        "bash": "readonly line=1 code=1 modes=1 first=1 program=1; set -e",
        "zsh": "set -e",
        "fish": "true",
    }
    with open_shell(name, tmp_path) as shell:
        shell.run(strict[name])
        shell.pick(f"spackscope zlib c{LEFT * 2}{KEY}", READY, "q")
        assert shell.words("x") == ["zlibx", "c"]
