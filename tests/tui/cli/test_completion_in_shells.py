"""Tab completes command lines of the program in real shells, and a key puts a choice into one."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from spackscope.model.query.lexer import in_quotes
from spackscope.tui.cli.commands.completion import SHELLS
from tests.builders.pages import hash_of, record, write_page
from tests.completing_shell import EACH_SHELL, INSTALLED, CompletingShell
from tests.examples import cases, some_and_all
from tests.program import Program

pytestmark = pytest.mark.pty

ODD = r"a $b `c` \d *é; (x) "
HASH = "pfqg2xienllgkr2rb23fugktb23zwwbr"


IN_EVERY_SHELL = {
    "fin\t x": ["find", "x"],
    "find --hash\t": ["find", "--hashes"],
    "find py-saf\t": ["find", "py-safetensors"],
    "find py-build os=ubuntu24\t": ["find", "py-build", "os=ubuntu24.04"],
    "find py-build os=ubuntu2\t4\t": ["find", "py-build", "os=ubuntu24.04"],
    "find py-build@1.2.1\t": ["find", "py-build@1.2.1"],
    "find py-build~v\t": ["find", "py-build~virtualenv"],
    "find 'py-build'~v\t": ["find", "py-build~virtualenv"],
    "find py-build\\ os=ubuntu24\t": ["find", "py-build os=ubuntu24.04"],
    "find 'py-build os=ubuntu24\t": ["find", "py-build os=ubuntu24.04"],
    'find "py-build os=ubuntu24\t': ["find", "py-build os=ubuntu24.04"],
    "find '!os=seq\t": ["find", "!os=sequoia"],
    "find build_system=x,py\t": ["find", "build_system=x,python_pip"],
    "find %appl\t": ["find", "%apple-clang"],
    "find py-build build_sys\tpyt\t": ["find", "py-build", "build_system=python_pip"],
    "find /pfqg2xi\t": ["find", f"/{HASH}"],
    "find -f mirr\t": ["find", "-f", "mirror.json"],
    "find -f old\tspack\t": ["find", "-f", "old tree/spack.lock"],
    "cover 'old tree/spack.l\t": ["cover", "old tree/spack.lock"],
    "find --from=publ\t": ["find", "--from=public"],
    "find --from=mirr\t": ["find", "--from=mirror.json"],
}
ORDINARY = {
    "py-saf\t": ["py-safetensors"],
    "find py-build target=neov\t": ["find", "py-build", "target=neoverse_v1"],
    "show pfqg2xi\t": ["show", HASH],
    "diff pfqg2xi\t pfqg2xi\t": ["diff", HASH, HASH],
    "stats --by compi\t": ["stats", "--by", "compiler"],
    "find --host 'os=seq\t": ["find", "--host", "os=sequoia"],
    "help sho\t": ["help", "show"],
    "-f mirr\t": ["-f", "mirror.json"],
    "find -- py-saf\t": ["find", "--", "py-safetensors"],
}
"""What is nothing special to a shell: each of them tries some."""


@pytest.fixture(params=EACH_SHELL, scope="module")
def shell(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[CompletingShell]:
    home = tmp_path_factory.mktemp("home")
    folder = home / "old tree"
    folder.mkdir()
    (folder / "spack.lock").touch()
    (home / "mirror.json").touch()
    write_page(home / "pages", [record(stacks=[ODD])])
    Program(home)("index", "-f", "pages")
    with closing(CompletingShell(request.param, home)) as started:
        yield started


@some_and_all(2 * len(SHELLS))
def test_tab_completes_a_word(shell: CompletingShell, step: int) -> None:
    # Each shell tries its share.
    every = [*IN_EVERY_SHELL.items(), *ORDINARY.items()]
    for typed, words in every[[*SHELLS].index(shell.name) % step :: step]:
        assert shell.words(f"spackscope {typed}") == words, typed


def test_a_value_with_odd_characters_reaches_the_program(shell: CompletingShell) -> None:
    *_, word = shell.words("spackscope find -f pages stack=\t")
    assert word == f"stack={in_quotes(ODD)}"
    found = Program(shell.home)("find", "-f", "pages", "--csv", word)
    assert (found.returncode, found.stderr) == (0, "")


def test_spack_scope_is_completed_in_bash_where_the_user_wants_it(tmp_path: Path) -> None:
    if "bash" not in INSTALLED:
        pytest.skip("bash is not installed")
    with closing(CompletingShell("bash", tmp_path)) as shell:
        (tmp_path / "bin" / "spack").symlink_to(tmp_path / "bin" / "spackscope")
        shell.run("_bash_completion_spack() { COMPREPLY=(own-word); }")
        shell.run("complete -o bashdefault -o default -F _spackscope_of_spack spack")

        assert shell.words("spack scope fin\t x") == ["scope", "find", "x"]
        assert shell.words("spack scope find --hash\t") == ["scope", "find", "--hashes"]
        assert shell.words("spack -d -e env scope find py-build os=ubuntu24\t") == [
            *("-d", "-e", "env", "scope", "find", "py-build", "os=ubuntu24.04")
        ]
        assert shell.words("spack install own\t") == ["install", "own-word"]


@cases("name", INSTALLED[:1], more=INSTALLED[1:])
def test_the_program_is_asked_that_is_typed(name: str, tmp_path: Path) -> None:
    with closing(CompletingShell(name, tmp_path)) as shell:
        (tmp_path / "bin").rename(tmp_path / "other")
        for program_name in ("~/other/spackscope", "other/spackscope"):
            assert shell.words(f"{program_name} find py-saf\t") == ["find", "py-safetensors"]


@pytest.mark.skipif("zsh" not in INSTALLED, reason="zsh is not installed")
@pytest.mark.parametrize("widget", ["", " --widget"])
def test_zsh_may_source_the_script(widget: str, tmp_path: Path) -> None:
    """As `source <(fzf --zsh)` and `source <(kubectl completion zsh)`."""
    with closing(CompletingShell("zsh", tmp_path)) as shell:
        shell.run("unset '_comps[spackscope]'; unfunction _spackscope")
        shell.run(f"source <(spackscope completion zsh{widget})")
        assert shell.words("spackscope find py-saf\t") == ["find", "py-safetensors"]


KEY, LEFT = "\x1bi", "\x02"
NEWLINE = {"bash": "\x16\n", "zsh": "\x16\n", "fish": "\x1b\r"}
CHOSEN = hash_of(1)
READY, ALL, STARTING = CHOSEN[:7], "all packages", "starting"
"""What is shown with a query, without one, and before the browser has the terminal."""


@pytest.fixture(params=EACH_SHELL, scope="module")
def choosing(
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


def test_a_choice_is_put_where_the_cursor_is(choosing: CompletingShell) -> None:
    line = f"spackscope a 'é{NEWLINE[choosing.name]}b' zlib@1.3 +shared c d{LEFT * 4}"
    choosing.pick(line + KEY, READY, "\r")
    assert choosing.words(" x") == ["a", "é\nb", f"zlib/{CHOSEN}", "x", "c", "d"]


def test_marked_specs_become_words_of_the_line(choosing: CompletingShell) -> None:
    choosing.pick(f"spackscope zlib{KEY}", READY, "  \r")
    assert choosing.words("") == [f"zlib/{CHOSEN}", f"zlib/{hash_of(2)}"]
    # In an open quote they are a part of its word.
    choosing.pick(f'spackscope "zlib{KEY}', READY, "  \r")
    assert choosing.words('"') == [f"zlib/{CHOSEN} zlib/{hash_of(2)}"]


def test_in_an_empty_line_the_choice_is_the_line(choosing: CompletingShell) -> None:
    choosing.pick(KEY, ALL, "/zlib@1.3\r\r")
    # To the beginning of the line.
    assert choosing.words("\x01spackscope ") == [f"zlib/{CHOSEN}"]


@pytest.mark.parametrize(
    ("shown", "keys"), [(READY, "q"), (READY, "\x03"), (STARTING, "\x03"), (READY, "\x1aq")]
)
def test_leaving_changes_nothing(choosing: CompletingShell, shown: str, keys: str) -> None:
    choosing.pick(f"spackscope zlib c{LEFT * 2}{KEY}", shown, keys)
    assert choosing.words("x") == ["zlibx", "c"]


def test_text_that_is_no_spec_stays_and_is_not_run(choosing: CompletingShell) -> None:
    typed = "a\\;b '$(touch x);`touch x`'"
    choosing.pick(f"spackscope {typed}{KEY}", ALL, "/zlib@1.3\r\r")
    assert choosing.words("") == ["a;b", "$(touch x);`touch x`", f"zlib/{CHOSEN}"]
    assert not (choosing.home / "x").exists()


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
        assert shell.words("") == ["--cache-only", f"/{CHOSEN[:7]}"]


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
