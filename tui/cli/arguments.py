"""Parse the command line.

The command is the first word that is not an option; without one the browser opens. Options may be
anywhere, and after `--` all words belong to the query.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import NoReturn

from spackscope.model.core.frozen import Frozen
from spackscope.model.core.suggestions import near
from spackscope.tui.cli.help import BROWSE, COMMANDS
from spackscope.tui.cli.help_topics import ESSENTIAL, HELP, topic_of
from spackscope.tui.process.exit_codes import ExitCode, Leave

_WITH_VALUE = ("-f", "--from", "--host", "--by", "--ignore")
"""Options that are followed by a value."""

MAX_COMPARED = 20
"""Specs that `diff` compares at once."""

WITH_HOST = (BROWSE, "find", "show", "pick", "stats")
"""Commands whose answers depend on the host."""

_COMMANDS = {*COMMANDS, HELP} - {BROWSE}

_CLOSE = 0.74
"""How similar a misspelled command is at least: `shwo` is, and the package `diffutils` is not."""

_WITH_STDIN = ("cover", "diff", "doubles")
"""Commands that take standard input for one of their words."""

_FORMATS = {
    "find": ("json", "jsonl", "csv", "hashes"),
    "show": ("json",),
    "needs": ("json",),
    "doubles": ("json",),
    "cover": ("json", "hashes"),
    "diff": ("json",),
    "sources": ("json",),
    "stats": ("json", "csv"),
}


class Options(Frozen):
    """The parsed command line; `command` is BROWSE where it names none.

    `words` are those of the query. `format` is the name of an export format, or None for the one
    that suits stdout. `all` lists dependency-only specs too; with `diff` it prints all differences
    and `build` those of what only builds. `by` names what `stats` counts by, and `ignored` the
    packages that `doubles` leaves out. `missing` leaves out what `cover` finds in caches, which
    `all` lists. `host` describes the machine that specs are to run on. `help` is the topic of the
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
    version: bool = False
    near: str = ""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ValueError(message)


def parse_arguments(argv: Sequence[str]) -> Options:
    """Parse the words after the name of the program.

    Raises Leave, with a sentence that names the help, where they are wrong.

        parse_arguments(["find", "-f", "public", "hdf5", "--json"]).format  # json
    """
    before, after = list(argv), []
    if "--" in before:
        cut = before.index("--")
        before, after = before[:cut], before[cut + 1 :]
    index = _command_index(before)
    command = BROWSE if index is None else before.pop(index)
    try:
        parsed, words = build_parser(command).parse_known_args(before)
        for word in words:
            if word.startswith("-") and not (word == "-" and command in _WITH_STDIN):
                # Its value may be a URL with a password.
                raise ValueError(f"unknown option {word.partition('=')[0]}{_hint(word)}")
        if command == "stats" and not parsed.help and not 1 <= len(parsed.by) <= 2:
            raise ValueError("stats needs --by with a column or a variant, once or twice")
        words += after
        if command == "doubles":
            parsed.sources, words = parsed.sources + words, []
        if command == "cover" and "-" in words and "-" in parsed.sources:
            raise ValueError("- is standard input: either the environment or a cache")
        if not all(parsed.sources):
            raise ValueError("-f needs a source, and was given an empty text")
        parsed.help = _topic(command, words, is_asked=parsed.help)
        if not (parsed.help or parsed.version):
            _check_words(command, words)
    except ValueError as error:
        name = "" if command == BROWSE else f" {command}"
        message = f"{error}; see `spackscope{name} --help`"
        raise Leave(ExitCode.USAGE, message) from None
    lists = {name: tuple(value) for name, value in vars(parsed).items() if type(value) is list}
    nearest = _near_command(words[: len(words) - len(after)]) if command == BROWSE else ""
    return Options(command, tuple(words), **vars(parsed) | lists, near=nearest)


def _topic(command: str, words: Sequence[str], *, is_asked: bool) -> str:
    """Return the topic of the help to print, or an empty text. Raises ValueError."""
    if command == HELP:
        return topic_of(words)
    return (ESSENTIAL if command == BROWSE else command) if is_asked else ""


def _near_command(words: Sequence[str]) -> str:
    """Return the command that the first word of a query looks like, or an empty text."""
    if not words or not words[0].isalpha():
        return ""
    close = near(words[0], [*_COMMANDS], closeness=_CLOSE)
    return close[0] if close else ""


def _command_index(words: Sequence[str]) -> int | None:
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


def build_parser(command: str) -> argparse.ArgumentParser:
    """Build the parser for the options of a command; it raises ValueError for wrong ones."""
    parser = _Parser("spackscope", add_help=False, allow_abbrev=False)
    parser.add_argument("-f", "--from", dest="sources", action="append", default=[])
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--no-color", action="store_true")
    parser.add_argument("-h", "--help", action="store_true")
    parser.add_argument("--version", action="store_true")
    if command in _FORMATS:
        formats = parser.add_mutually_exclusive_group()
        for name in _FORMATS[command]:
            formats.add_argument(f"--{name}", dest="format", action="store_const", const=name)
    if command in WITH_HOST:
        parser.add_argument("--host", default="")
    if command == "index":
        parser.add_argument("--rebuild", action="store_true")
    if command == "doubles":
        parser.add_argument("--ignore", dest="ignored", action="append", default=[])
    if command == "cover":
        parser.add_argument("--missing", action="store_true")
    if command == "diff":
        parser.add_argument("--build", action="store_true")
    if command == "stats":
        parser.add_argument("--by", action="append", default=[])
    if command == "sources":
        parser.add_argument("--verify", action="store_true")
    return parser


def _hint(word: str) -> str:
    """Return which command has an option, or how a variant such as `-mpi` is written."""
    name = word.lstrip("-")
    if word == "--rebuild":
        return ", which `spackscope index` has"
    if word == f"--{name}" and name in _FORMATS["find"]:
        return ", which `spackscope find` has"
    is_variant = name.replace("_", "").replace("-", "").isalnum() and not word.startswith("--")
    return f" (a variant is written ~{name}, or after --)" if is_variant else ""


def _check_words(command: str, words: Sequence[str]) -> None:
    if not all(words):
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
    if command in ("index", "sources") and words:
        raise ValueError(f"{command} takes no query: {words[0]}")
