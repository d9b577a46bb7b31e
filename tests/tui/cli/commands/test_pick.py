"""`spackscope pick` prints the specs that are chosen, alone or in a command line."""

import shutil
from pathlib import Path

import pytest

from tests.builders.pages import hash_of, record, write_page
from tests.program import Program

pytestmark = pytest.mark.pty

FIRST, SECOND = hash_of(1), hash_of(2)
HOSTILE = "$(touch x) `touch x`;touch x '\"!!\\{a,b}"


@pytest.fixture
def pages(program: Program) -> Path:
    write_page(program.home / "pages", [record(1), record(2, versions=["1.2"])])
    write_page(program.home / "pages" / "hostile.md", [record(3, os="sles15")], title=HOSTILE)
    return program.home / "pages"


def picked(program: Program, *words: str, line: str = "", keys: str = "\r") -> str:
    """Pick in the browser, for a command line; return what is printed."""
    out, typed = program.home / "out", program.home / "typed"
    typed.write_text(line, encoding="utf-8")
    with (
        out.open("w") as stdout,
        typed.open() as stdin,
        program.in_terminal(
            *("pick", "-f", "pages", *words),
            streams={"stdin": stdin, "stdout": stdout},
        ) as terminal,
    ):
        terminal.read_until("choose for: " + (line.splitlines() or words)[-1].strip()[:20])
        terminal.read_until(FIRST[:7])
        terminal.read_to_rest()
        terminal.end(keys)
    return out.read_text()


@pytest.mark.parametrize(
    ("line", "printed"),
    [
        ("spack install zlib", f"spack install zlib/{FIRST}"),
        ("spack install zlib@1.3 +shared", f"spack install zlib/{FIRST}"),
        ("cd é\nspack install 'zlib os=ubuntu24.04", f"cd é\nspack install 'zlib/{FIRST}"),
    ],
)
@pytest.mark.usefixtures("pages")
def test_a_choice_takes_the_place_of_the_spec(program: Program, line: str, printed: str) -> None:
    assert picked(program, "--line", line=line) == f"{printed}\n"


@pytest.mark.usefixtures("pages")
def test_after_a_command_the_choice_is_added(program: Program) -> None:
    for line in ("spack install", "spack install "):
        printed = picked(program, "--line", "zlib@1.3.1", line=line)
        assert printed == f"spack install zlib/{FIRST}\n"


@pytest.mark.usefixtures("pages")
def test_choices_have_the_form_that_is_asked_for(program: Program) -> None:
    form = "--cache-only /{hash:7}"
    printed = picked(program, "--line", "--format", form, line="spack install zlib", keys="  \r")
    first, second = (f"--cache-only /{hash_[:7]}" for hash_ in (FIRST, SECOND))
    assert printed == f"spack install {first} {second}\n"
    assert picked(program, "--format", "{package}@{version}", "zlib@1.2") == "zlib@1.2\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize("quote", ["", "'", '"'])
@pytest.mark.usefixtures("pages")
def test_a_hostile_name_is_a_word_and_is_not_run(program: Program, quote: str, shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    line = picked(program, "--line", line=f"printf %s -- {quote}os=sles15")
    echoed = program.run(shell, "-c", f"{line.rstrip()}{quote}")
    # In the double quotes of fish a backslash before a backquote stays.
    shown = echoed.stdout.replace("\\`", "`") if shell == "fish" else echoed.stdout
    assert (shown, echoed.stderr) == (f"--{HOSTILE}/{hash_of(3)}", "")
    assert not (program.home / "x").exists()


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (b"spack install \xff", "the command line is not UTF-8"),
        (b"x" * (1 << 21), "the command line is longer than 1 MiB"),
    ],
)
def test_a_line_that_cannot_be_read_is_told_before_the_choice(
    program: Program, line: bytes, sentence: str
) -> None:
    (program.home / "typed").write_bytes(line)
    program.refused("pick", "--line", code=2, stdin=program.home / "typed", says=sentence)
