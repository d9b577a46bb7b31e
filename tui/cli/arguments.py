"""Read the command line.

The command is the first word that is no option; without one the browser is meant. Options may
stand anywhere, and after `--` all words belong to the query.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from spackscope.tui.cli.help import BROWSE, COMMANDS
from spackscope.tui.process.exit_codes import ExitCode, Leave

_FORMATS = {
    "find": ("json", "jsonl", "csv", "hashes"),
    "show": ("json",),
    "sources": ("json",),
}


@dataclass(frozen=True, slots=True)
class Arguments:
    """Hold what the command line says; `command` is BROWSE where it names none.

    `format` is the name of an export format, or None for the one that suits stdout.
    """

    command: str
    words: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    format: str | None = None
    all: bool = False
    rebuild: bool = False
    no_color: bool = False
    help: bool = False
    version: bool = False


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ValueError(message)


def parse(argv: Sequence[str]) -> Arguments:
    """Read the words behind the program's name.

    Raises Leave, with a sentence that names the help, where they are not right.
    """
    given = list(argv)
    cut = given.index("--") if "--" in given else len(given)
    options, literal = given[:cut], given[cut + 1 :]
    at = _command_at(options)
    command = BROWSE if at is None else options.pop(at)
    try:
        parsed, words = build_parser(command).parse_known_args(options)
        for word in words:
            if word.startswith("-"):
                raise ValueError(f"there is no option {word}{_whose(word)}{_perhaps(word)}")
        if not all(parsed.sources):
            raise ValueError("-f wants the name of a source, and has an empty text")
        words += literal
        if not (parsed.help or parsed.version):
            _check(command, words)
    except ValueError as error:
        name = "" if command == BROWSE else f" {command}"
        hint = f"`spackscope{name} --help` shows what there is"
        raise Leave(ExitCode.USAGE, f"{error}; {hint}") from None
    return Arguments(command, tuple(words), **vars(parsed) | {"sources": tuple(parsed.sources)})


def _command_at(options: Sequence[str]) -> int | None:
    """Find the command word: the first word, unless it is an option's value or no command."""
    passed = False
    for at, option in enumerate(options):
        if passed:
            passed = False
        elif option in ("-f", "--from"):
            passed = True
        elif not option.startswith("-"):
            return at if option in COMMANDS and option != BROWSE else None
    return None


def build_parser(command: str) -> argparse.ArgumentParser:
    """Build the parser of a command's options."""
    parser = _Parser("spackscope", add_help=False, allow_abbrev=False)
    parser.add_argument("-f", "--from", dest="sources", action="append", default=[])
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--no-color", action="store_true")
    parser.add_argument("-h", "--help", action="store_true")
    parser.add_argument("--version", action="store_true")
    if command in _FORMATS:
        exclusive = parser.add_mutually_exclusive_group()
        for name in _FORMATS[command]:
            exclusive.add_argument(f"--{name}", dest="format", action="store_const", const=name)
    if command == "index":
        parser.add_argument("--rebuild", action="store_true")
    return parser


def _whose(option: str) -> str:
    """Name the command that an option belongs to, for it was given to another."""
    owners = {
        "--json": "find",
        "--jsonl": "find",
        "--csv": "find",
        "--hashes": "find",
        "--rebuild": "index",
    }
    return f" here, but `spackscope {owners[option]}` has it" if option in owners else ""


def _perhaps(word: str) -> str:
    """Tell how a variant is written that has the form of an option, as `-mpi` has."""
    name = word.lstrip("-")
    is_variant = name.replace("_", "").replace("-", "").isalnum() and not word.startswith("--")
    return f" (a variant is written ~{name}, or behind --)" if is_variant else ""


def _check(command: str, words: Sequence[str]) -> None:
    if not all(words):
        raise ValueError("a word of the query is empty")
    if command == "show" and not words:
        raise ValueError("show wants a hash, or a query that one spec matches")
    if command in ("index", "sources") and words:
        raise ValueError(f"{command} takes no query, and has {words[0]}")
