import re
from pathlib import Path

import pytest

from spackscope.model.core.commands import BROWSE, GROUPS, QUERY
from spackscope.tui.cli.arguments import parse_arguments
from spackscope.tui.cli.command_table import COMMANDS, listed, with_help
from spackscope.tui.cli.commands.help import command_help
from spackscope.tui.process import ExitCode
from tests.program import Program, assert_golden


@pytest.mark.parametrize("topic", [*with_help(), QUERY])
def test_each_topic_has_help(program: Program, topic: str) -> None:
    result = program("help", *([] if topic == BROWSE else [topic]), code=0, stderr="")
    assert_golden(f"help-{topic}", result.stdout)
    assert max(map(len, result.stdout.splitlines())) < 80
    if topic not in (BROWSE, QUERY):
        assert program(topic, "--help").stdout == result.stdout


def test_the_help_is_one_screen_of_essentials(program: Program) -> None:
    result = program("--help", code=0, stderr="")
    assert_golden("help-essentials", result.stdout)
    lines = result.stdout.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) < 80
    for group in GROUPS:
        names = result.stdout.partition(f"{group}: ")[2].partition("\n")[0].split()
        assert names == [command.name for command in listed() if command.group == group]


@pytest.mark.parametrize("word", ["fnd", "fidn", "fin"])
def test_a_misspelled_command_is_not_a_query(program: Program, word: str) -> None:
    assert program.refused(
        "--no-color", word, "py-build os=ubuntu24.04", code=ExitCode.USAGE
    ).splitlines() == [
        f"spackscope: unknown command or package {word}. Did you mean find?",
        "  spackscope find 'py-build os=ubuntu24.04'",
    ]


@pytest.mark.parametrize(
    ("words", "command"),
    [
        (["fnd"], "find"),
        (["-f", "fnd", "dif", "a", "b"], "diff"),
        (["search", "hdf5"], "find"),
        (["deps"], "needs"),
        (["hdf5"], ""),
        (["diffutils"], ""),
        (["+mpi", "fnd"], ""),
        (["--", "fnd"], ""),
        (["pick", "fnd"], ""),
    ],
)
def test_a_word_may_look_like_a_command(words: list[str], command: str) -> None:
    assert parse_arguments(words).near == command


@pytest.mark.parametrize("command", with_help())
def test_the_help_of_a_command_names_no_option_of_another(command: str) -> None:
    text = command_help(COMMANDS[command])
    named = {*re.findall(r"(?<![\w-])--?[a-z][a-z-]*", text.split("query:")[0])}
    options = {name for option in COMMANDS[command].options for name in option.names}
    assert named - options <= {"--cache-only"}


def test_the_version_is_printed(program: Program) -> None:
    result = program("--version", code=0)
    assert re.fullmatch(r"spackscope( of unknown version| \d+\.\d+.*)\n", result.stdout)


def test_the_command_is_the_first_word_and_options_may_precede_it() -> None:
    assert parse_arguments(["-f", "find", "show", "abc"]).command == "show"
    assert parse_arguments(["-ffind", "--no-color", "find", "x"]).command == "find"
    assert parse_arguments(["--from", "a", "index", "--from=b"]).sources == ("a", "b")
    assert parse_arguments(["zlib", "find"]).words == ("zlib", "find")
    assert parse_arguments(["browse"]).words == ("browse",)
    assert parse_arguments([]).command == BROWSE


@pytest.mark.parametrize(
    ("words", "sources", "rest"),
    [
        (["~/m", "hdf5", "/abc", "public"], ("~/m", "public"), ("hdf5", "/abc")),
        (["find", "-f", "a", "x.json", "hdf5"], ("a", "x.json"), ("hdf5",)),
        (["find", "--", "x.json"], (), ("x.json",)),
        (["sources", "https://a.org/m"], ("https://a.org/m",), ()),
        (["stats", "x.json", "target", "hdf5"], ("x.json",), ("hdf5",)),
        (["diff", "x.json", "abc", "abd"], ("x.json",), ("abc", "abd")),
        (["diff", "a.json", "b.json"], (), ("a.json", "b.json")),
        (["cover", "a/spack.lock", "-f", "m"], ("m",), ("a/spack.lock",)),
        (["cover", "a/index.json", "a/spack.lock"], ("a/index.json",), ("a/spack.lock",)),
        (["cover", "climate", "public"], ("public",), ("climate",)),
        (["cover", "-", "a.json", "-f", "m"], ("m", "a.json"), ("-",)),
        (["cover", "-f", "m", "-f", "a/spack.lock"], ("m",), ("a/spack.lock",)),
        (["cover", "-f", "a/spack.lock"], ("a/spack.lock",), ()),
        (["cover", "a/index.json"], (), ("a/index.json",)),
        (["cover", "public", "a.lock", "b.lock"], ("public",), ("a.lock", "b.lock")),
    ],
)
def test_a_word_that_can_only_be_a_source_needs_no_option(
    words: list[str], sources: tuple[str, ...], rest: tuple[str, ...]
) -> None:
    options = parse_arguments(words)
    assert (options.sources, options.words) == (sources, rest)


@pytest.mark.parametrize("source", ["-", "-2", "-1.5", "-.5", "-a b"])
def test_a_source_may_begin_with_a_dash(source: str) -> None:
    assert parse_arguments(["find", "-f", source, "zlib"]).sources == (source,)


def test_after_two_dashes_everything_is_a_query() -> None:
    arguments = parse_arguments(["--", "find", "--json"])
    assert (arguments.command, arguments.words) == (BROWSE, ("find", "--json"))
    arguments = parse_arguments(["find", "+mpi", "--", "find", "--"])
    assert (arguments.command, arguments.words) == ("find", ("+mpi", "find", "--"))


@pytest.mark.parametrize(
    ("words", "line", "caret"),
    [
        (["os=", "+mpi"], "  os= +mpi", "    ^ Expected a value after os="),
        (["os='日本'", "!"], "  os='日本' !", "            ^ Expected a condition after !"),
        (["zlib-é"], "  zlib-é", '       ^ Unexpected "é". Quote it in a value.'),
    ],
)
@pytest.mark.parametrize("command", ["find", "pick"])
def test_an_error_in_a_query_is_pointed_at(
    program: Program, command: str, words: list[str], line: str, caret: str
) -> None:
    assert program.refused(command, *words, code=ExitCode.USAGE).splitlines() == [
        "spackscope: the query has an error",
        line,
        caret,
    ]


@pytest.mark.parametrize(
    ("option", "printed"),
    [("--json", "[]\n"), ("--jsonl", ""), ("--hashes", ""), ("--csv", "os,count,share\n")],
)
def test_nothing_found_is_valid_data_all_the_same(
    program: Program, option: str, printed: str
) -> None:
    for words in (["find"], ["stats", "os"])[option == "--csv" :]:
        program(*words, option, "os=nosuch", code=ExitCode.NOTHING, stdout=printed)


@pytest.mark.parametrize("command", ["pick", "--no-color"])
def test_the_browser_does_not_open_for_a_source_that_is_not_there(
    program: Program, command: str
) -> None:
    code, text = program.on_terminal(command, "-f", "nowhere")
    assert (code, text) == (3, "spackscope: the source nowhere does not exist\n")


def test_a_variable_that_cannot_be_split_is_named(program: Program) -> None:
    result = program("find", SPACKSCOPE_FROM="'open", code=ExitCode.UNREADABLE)
    assert result.stderr.startswith("spackscope: SPACKSCOPE_FROM cannot be split")


@pytest.mark.parametrize("word", ["find", "--version"])
def test_a_full_disk_under_stdout_is_reported(program: Program, word: str) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full")
    with (
        open("/dev/full", "w") as full,
        program.in_terminal(word, streams={"stdout": full}) as terminal,
    ):
        assert terminal.wait() == ExitCode.UNREADABLE
        assert terminal.text == (
            "spackscope: the output cannot be written: no space left on device\r\n"
        )
