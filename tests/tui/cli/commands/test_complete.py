"""`spackscope complete` tells a shell what a word can become, from the index at hand."""

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spackscope.model.core.commands import BROWSE, Command
from spackscope.tui.cli.command_table import COMMANDS, listed
from spackscope.tui.cli.commands.complete import find_place
from spackscope.tui.cli.commands.completion import SHELLS
from tests.builders.pages import record, write_page
from tests.documents import ROOT
from tests.program import Program

URL = "https://user:secret@mirror.example.org/builds"


def in_bash(line: str) -> tuple[str, ...]:
    """Return the words that the script of bash calls the program with."""
    *_, replaced = re.split(" '" if "'" in line else "[ =:]", line)
    return ("complete", "bash", "--", f"spackscope {line}", replaced)


def offered(
    program: Program, line: str, config: str = "/dev/null", sources: str = "sample"
) -> list[str]:
    result = program(*in_bash(line), SPACKSCOPE_CONFIG=config, SPACKSCOPE_FROM=sources)
    assert (result.returncode, result.stderr) == (0, "")
    first, *choices = result.stdout.splitlines()
    assert first.startswith("spackscope")
    return choices


@pytest.fixture
def pages(program: Program) -> Path:
    """Write pages with many packages, and index them."""
    folder = program.home / "pages"
    names = [f"pkg-{letter}{number}" for letter in "abc" for number in range(50)]
    for number, name in enumerate(names):
        write_page(folder, [record(number)], title=name)
    program("index", "-f", str(folder))
    return folder


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("find -f {pages} pkg-a1", ["pkg-a1", *(f"pkg-a1{number}" for number in range(10))]),
        ("find --all -f {pages} pkg-b49", ["pkg-b49"]),
        # More than a hundred are offered as what they begin with.
        ("find -f {pages} ", ["pkg-a", "pkg-b", "pkg-c"]),
        # A source needs no option, and may be a path, in which a variable has its value.
        ("{pages} pkg-b49", ["pkg-b49"]),
        ("~/pages pkg-b49", ["pkg-b49"]),
        ("find ./pag", ["./pages/"]),
        ("find {pages} /zz", []),
        ("find -f $HOME/pages pkg-b49", ["pkg-b49"]),
        ("find -f $NOT_SET/pages pkg-b49", []),
        # Of several sources one that was read serves.
        ("find -f /no-such -f {pages} pkg-b49", ["pkg-b49"]),
    ],
)
def test_words_come_from_the_index_of_the_sources(
    program: Program, pages: Path, line: str, expected: list[str]
) -> None:
    typed = re.sub(r"([^\w/.-])", r"\\\1", str(pages))
    assert offered(program, line.format(pages=typed)) == expected


def test_sources_that_were_never_read_are_not_read_now(program: Program, tmp_path: Path) -> None:
    write_page(tmp_path, [record()])

    assert offered(program, f"find -f {tmp_path} zl") == []
    assert offered(program, f"find -f {tmp_path} zlib os") == ["os="]
    assert program.cache() == []


def test_the_configured_sources_are_used(program: Program, pages: Path) -> None:
    config = program.configure(f'sources = ["{pages}"]\nnonsense = 1\n')
    assert offered(program, "find pkg-c49", str(config), sources="") == ["pkg-c49"]


def test_mirrors_and_environments_of_spack_are_completed(program: Program) -> None:
    root = f"{program.home}/spack"
    mirrors = "mirrors: {site-a: /none, site-b: /none, odd\\e: /none}\n"
    program.write("spack/etc/spack/mirrors.yaml", mirrors)
    program.write("spack/var/spack/environments/climate/spack.lock", "")

    def with_spack(line: str) -> list[str]:
        result = program(*in_bash(line), SPACK_ROOT=root, SPACKSCOPE_CONFIG="/dev/null")
        return result.stdout.splitlines()[1:]

    assert with_spack("-f spack:s") == ["site-a", "site-b"]
    assert with_spack("-f 'spack:s") == ["spack:site-a", "spack:site-b"]
    assert with_spack("find --from=spack:site-b") == ["site-b"]
    assert with_spack("cover cl") == ["climate"]
    assert with_spack("cover spack.lock cl") == ["climate"]
    assert with_spack("diff spack:s x") == []
    assert with_spack("diff spack:s") == ["site-a", "site-b"]


def test_a_damaged_index_offers_nothing(program: Program, pages: Path) -> None:
    (index,) = (program.home / "cache" / "spackscope").glob("*.index")
    index.write_bytes(index.read_bytes()[:4096])

    assert offered(program, f"find -f {pages} pkg-a1") == []


def test_nothing_of_a_secret_is_printed(program: Program) -> None:
    assert not [text for text in offered(program, f"find -f {URL} ") if "secret" in text]
    assert offered(program, f"find -f {URL}") == []


def test_a_file_with_odd_characters_is_quoted(program: Program) -> None:
    (program.home / "a b'$x.json").touch()
    (program.home / "a\x1b[31m").touch()

    assert offered(program, "find -f a") == [r"a\ b\'\$x.json"]
    assert offered(program, "find -f 'a") == [r"a b'\''$x.json"]
    assert offered(program, "find hdf5 > a") == [r"a\ b\'\$x.json"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("fin", ["find"]),
        ("sources --pro", ["--problems"]),
        ("find -f https:", ["//"]),
        ("find -f publ", ["public", "public:"]),
        ("find -f public:", ["", "releases/", "uo/"]),
        ("completion ", ["bash", "zsh", "fish"]),
        ("help que", ["query"]),
        ("stats --by fi", ["fits"]),
        ("stats fi", ["fits"]),
        ("stats fits py-saf", ["py-safetensors"]),
        ("stats --by virtual", ["virtualenv"]),
        ("find --host 'target=zen3 gl", ["target=zen3 glibc=", "target=zen3 glibc= "]),
        ("duplicates --ignore py-saf", ["py-safetensors"]),
        ("index x", []),
        ("py-saf", ["py-safetensors"]),
    ],
)
def test_a_word_is_completed_by_what_it_is(
    program: Program, line: str, expected: list[str]
) -> None:
    assert offered(program, line) == expected


def test_commands_come_before_packages(program: Program) -> None:
    assert offered(program, "") == sorted(command.name for command in listed())
    assert offered(program, "f")[:2] == ["files", "find"]


def test_notes_tell_what_a_choice_is(program: Program) -> None:
    result = program("complete", "zsh", "--", "find", "-f", "sample", "py-build", "os=ubuntu24")
    assert result.stdout == "spackscope\n+os=ubuntu24.04\t13 specs\n"
    result = program("complete", "fish", "--", "find", "-f", "sample", "'py-build os=ubuntu24")
    assert result.stdout == "spackscope\npy-build os=ubuntu24.04\t13 specs\n"
    result = program("complete", "zsh", "--", "find", "-f", "no-such-")
    assert result.stdout == "spackscope files\n"
    result = program("complete", "fish", "--", "find", "--from=pub")
    assert "\n--from=public\tthe public cache\n" in result.stdout
    result = program("complete", "zsh", "--", "find", "--ho")
    assert result.stdout == "spackscope\n+--host\tcheck what runs on this host\n"


def test_it_is_in_no_help(program: Program) -> None:
    assert " complete " not in program("help").stdout
    assert program("complete", "--help").stdout == program("--help").stdout


@pytest.mark.parametrize(
    ("before", "current", "kind", "head"),
    [
        ("find -f", "spack:", "source", ""),
        ("find -f -f", "x", "query", ""),
        ("-f a find hdf5", "os=", "query", ""),
        ("find", "--from=spack:", "source", "--from="),
        ("find", "-fspack:", "source", "-f"),
        ("find", "--js", "option", ""),
        ("find", "--json=", "option", ""),
        ("help", "--", "option", ""),
        ("find --", "--js", "query", ""),
        ("find -- -f", "x", "query", ""),
        ("show", "abc", "spec", ""),
        ("diff abc", "d", "spec or source", ""),
        ("stats --by os", "h", "query", ""),
        ("stats --by os --by", "t", "axis", ""),
        ("duplicates", "s", "spec or environment", ""),
        ("cover a", "b", "environment", ""),
        ("hdf5", "find", "query", ""),
    ],
)
def test_a_word_is_known_by_those_before_it(
    before: str, current: str, kind: str, head: str
) -> None:
    place = find_place(before.split(), current)
    assert (place.kind, place.head, place.head + place.text) == (kind, head, current)


def test_a_place_has_the_words_and_options_before_it() -> None:
    place = find_place(["-f", "a", "find", "hdf5", "--all", "-fb", "+mpi"], "os=")
    assert (place.command, place.words) == ("find", ("hdf5", "+mpi"))
    assert place.fields == {"sources": ["a", "b"], "dependency_only": True}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=lambda command: command.name)
def test_only_an_option_with_a_value_has_a_word_for_it(command: Command) -> None:
    for option in command.options:
        assert option.has_value == bool(option.metavar) == bool(option.takes)
        if option.has_value:
            words = [] if command.name == BROWSE else [command.name]
            assert find_place([*words, option.names[0]], "").kind == option.takes


@given(st.lists(st.sampled_from(["find", "-f", "--", "-", "a", "--json", "--csv", "-h=1", ""])))
def test_no_line_is_too_odd(words: list[str]) -> None:
    place = find_place(words, "x")
    assert place.head + place.text == "x"


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_is_printed_and_the_shell_can_read_it(shell: str, program: Program) -> None:
    result = program("completion", shell, code=0, stderr="")
    assert result.stdout == (ROOT / "tui" / "cli" / "scripts" / SHELLS[shell]).read_text("utf-8")
    if (path := shutil.which(shell)) is None:
        pytest.skip(f"{shell} is not installed")
    check = subprocess.run(
        [path, "-n"], input=result.stdout, capture_output=True, encoding="utf-8"
    )
    assert (check.returncode, check.stderr) == (0, "")


@pytest.mark.parametrize("typed", ["$", '"$', '"a $', '"\\\\$', '"$(', '"`', '"a $(', "'$(", "'`"])
def test_a_name_is_not_inserted_as_a_command(program: Program, typed: str) -> None:
    quote = typed[0].replace("$", "")
    (program.home / f"{typed.lstrip(quote)}(touch it)`touch it`".replace("\\\\", "\\")).touch()
    words = ("complete", "bash", "--", f"spackscope cover {typed}", typed.lstrip(quote))
    _, *inserted = program(*words).stdout.splitlines()
    assert bool(inserted) == (quote != '"')
    for text in inserted:
        assert shlex.split(f"{quote}{text}{quote}")[0].endswith("(touch it)`touch it`")
