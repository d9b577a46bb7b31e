"""Parse the command line.

The command is the first word that is not an option; without one the browser opens. Options may be
anywhere, and after `--` all words belong to the query.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spackscope.model.core.frozen import Frozen
from spackscope.tui.cli.help import BROWSE, COMMANDS, ESSENTIAL, HELP
from spackscope.tui.cli.options import Option, split_options
from spackscope.tui.cli.setup_help import SETUP_COMMANDS
from spackscope.tui.process.exit_codes import ExitCode, Leave

MAX_COMPARED = 20
"""Specs that `diff` compares at once."""

WITH_HOST = (BROWSE, "find", "show", "pick", "stats")
"""Commands whose answers depend on the host."""

COMPLETE = "complete"
"""The command that completion scripts call: no help lists it."""

WITHOUT_SOURCES = (*SETUP_COMMANDS, COMPLETE)
"""Commands that read no source, or look for those of another command line."""

_HIDDEN = (COMPLETE,)
_COMMANDS = {*COMMANDS, HELP, *_HIDDEN} - {BROWSE}
_WITH_SOURCES = tuple({BROWSE, *_COMMANDS}.difference(WITHOUT_SOURCES))

_CLOSE = 0.74
"""How similar a misspelled command is at least: `shwo` is, and the package `diffutils` is not."""

_WITH_STDIN = ("cover", "diff", "doubles")
"""Commands that take standard input for one of their words."""

_FORMATS = {
    "find": ("json", "jsonl", "csv", "hashes", "keep-list"),
    "show": ("json",),
    "needs": ("json",),
    "doubles": ("json",),
    "cover": ("json", "hashes"),
    "diff": ("json",),
    "sources": ("json",),
    "stats": ("json", "csv"),
    "config": ("check", "keys", "json"),
}

_OPTIONS = (
    Option(("-f", "--from"), "sources", "values", (*_WITH_SOURCES, "config")),
    Option(("--all",), "all", commands=_WITH_SOURCES),
    Option(("--no-color",), "no_color", commands=_WITH_SOURCES),
    Option(("-h", "--help"), "help"),
    Option(("--version",), "version"),
    *(
        Option((f"--{name}",), "format", "format", (command,))
        for command, names in _FORMATS.items()
        for name in names
    ),
    Option(("--host",), "host", "value", (*WITH_HOST, "config")),
    Option(("--rebuild",), "rebuild", commands=("index",)),
    Option(("--ignore",), "ignored", "values", ("doubles",)),
    Option(("--missing",), "missing", commands=("cover",)),
    Option(("--build",), "build", commands=("diff",)),
    Option(("--by",), "by", "values", ("stats",)),
    Option(("--verify",), "verify", commands=("sources",)),
    Option(("--install",), "registration", "format", ("extension",)),
    Option(("--remove",), "registration", "format", ("extension",)),
)
_WITH_VALUE = frozenset(name for option in _OPTIONS if option.has_value for name in option.names)


class Options(Frozen):
    """The parsed command line; `command` is BROWSE where it names none.

    `words` are those of the query. `format` is the name of an export format, or None for the one
    that suits stdout. `all` lists dependency-only specs too; with `diff` it prints all differences
    and `build` those of what only builds. `by` names what `stats` counts by, and `ignored` the
    packages that `doubles` leaves out. `missing` leaves out what `cover` finds in caches, which
    `all` lists. `host` describes the machine that specs are to run on. `registration` is what
    `extension` changes in Spack's configuration: install or remove. `help` is the topic of the
    help to print, if any. `near` is the command that the first word may be a misspelling of.
    """

    command: str
    words: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    format: str | None = None
    by: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    missing: bool = False
    all: bool = False
    host: str = ""
    build: bool = False
    rebuild: bool = False
    verify: bool = False
    no_color: bool = False
    help: str = ""
    registration: str = ""
    version: bool = False
    near: str = ""


def parse_arguments(argv: Sequence[str]) -> Options:
    """Parse the words after the name of the program.

    Raises Leave, with a sentence that names the help, where they are wrong.

        parse_arguments(["find", "-f", "public", "hdf5", "--json"]).format  # json
    """
    before, after = list(argv), []
    if "--" in before:
        cut = before.index("--")
        before, after = before[:cut], before[cut + 1 :]
    index = command_index(before)
    command = BROWSE if index is None else before.pop(index)
    try:
        parsed, words = split_options(before, options_of(command))
        for word in words:
            if word.startswith("-") and not (word == "-" and command in _WITH_STDIN):
                # Its value may be a URL with a password.
                raise ValueError(f"unknown option {word.partition('=')[0]}{_hint(word, command)}")
        is_help_asked = parsed.pop("help", False)
        if command == "stats" and "by" not in parsed:
            is_name = bool(words) and words[0].replace("-", "_").isidentifier()
            parsed["by"], words = words[:is_name], words[is_name:]
        if command == "stats" and not is_help_asked and not 1 <= len(parsed["by"]) <= 2:
            raise ValueError("stats needs a column or a variant to count by, or two with --by")
        words += after
        if command == "doubles":
            parsed["sources"], words = [*parsed.get("sources", ()), *words], []
        _check_sources(command, words, parsed.get("sources", ()))
        help_ = _topic(command, words, is_asked=is_help_asked)
        if not (help_ or "version" in parsed):
            _check_words(command, words)
    except ValueError as error:
        name = "" if command == BROWSE else f" {command}"
        message = f"{error}; see `spackscope{name} --help`"
        raise Leave(ExitCode.USAGE, message) from None
    values: dict[str, Any] = {
        name: tuple(value) if type(value) is list else value for name, value in parsed.items()
    }
    nearest = _near_command(words[: len(words) - len(after)]) if command == BROWSE else ""
    return Options(command, tuple(words), help=help_, near=nearest, **values)


def _check_sources(command: str, words: Sequence[str], sources: Sequence[str]) -> None:
    """Check that each source has a name, and reads what nothing else reads. Raises ValueError."""
    if command == "cover" and "-" in words and "-" in sources:
        raise ValueError("- is standard input: either the environment or a cache")
    if not all(sources):
        raise ValueError("-f needs a source, and was given an empty text")


def _topic(command: str, words: Sequence[str], *, is_asked: bool) -> str:
    """Return the topic of the help to print, or an empty text. Raises ValueError."""
    if command == HELP:
        from spackscope.tui.cli.help_topics import topic_of

        return topic_of(words)
    topic = ESSENTIAL if command in (BROWSE, *_HIDDEN) else command
    return topic if is_asked else ""


def _near_command(words: Sequence[str]) -> str:
    """Return the command that the first word of a query looks like, or an empty text."""
    if not words or not words[0].isalpha():
        return ""
    # Few queries begin with what may be a command.
    from spackscope.model.core.suggestions import near

    close = near(words[0], _COMMANDS.difference(_HIDDEN), closeness=_CLOSE)
    return close[0] if close else ""


def command_index(words: Sequence[str]) -> int | None:
    """Return the index of the command, if the first word that is not an option is a command."""
    is_value = False
    for index, word in enumerate(words):
        if is_value:
            is_value = False
        elif word in _WITH_VALUE:
            is_value = True
        elif not word.startswith("-"):
            return index if word in _COMMANDS else None
    return None


def options_of(command: str) -> list[Option]:
    """Return the options that a command has."""
    return [option for option in _OPTIONS if command in (option.commands or (command,))]


def _hint(word: str, command: str) -> str:
    """Return which option or command is meant, or how a variant such as `-mpi` is written."""
    name = word.lstrip("-")
    if word == "--rebuild":
        return ", which `spackscope index` has"
    if word == f"--{name}" and name in _FORMATS["find"]:
        return ", which `spackscope find` has"
    if word.startswith("--"):
        # Few command lines have a mistake.
        from spackscope.model.core.suggestions import near

        names = (n[2:] for each in options_of(command) for n in each.names if n[:2] == "--")
        close = near(name.partition("=")[0], names)
        return f" (did you mean --{close[0]}?)" if close else ""
    is_variant = name.replace("_", "").replace("-", "").isalnum()
    return f" (a variant is written ~{name}, or after --)" if is_variant else ""


def _check_words(command: str, words: Sequence[str]) -> None:
    if command != COMPLETE and not all(words):
        raise ValueError("a word of the query is empty")
    if command == "diff" and not 2 <= len(words) <= MAX_COMPARED:
        raise ValueError(
            f"diff needs 2 to {MAX_COMPARED} specs, but got {len(words):,}; "
            "put each query of several words in quotes"
        )
    if command == "cover" and len(words) > 1:
        raise ValueError(f"cover takes one environment, and caches with -f: {words[1]}")
    if command in ("show", "needs") and not words:
        raise ValueError(f"{command} needs a hash, or a query that matches one spec")
    if command in ("index", "sources", "config") and words:
        raise ValueError(f"{command} takes no query: {words[0]}")
    if command == "man":
        from spackscope.tui.cli.man_pages import topic_of

        topic_of(words)
    if command == "extension" and words:
        raise ValueError(f"{command} takes no words: {words[0]}")
