"""Make the manual pages from the tables that help and documentation are made from.

The last functions write the language of man(7).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator

from spackscope.tui import VERSION
from spackscope.tui.cli.command_table import (
    BROWSE,
    COMMANDS,
    COMMON,
    LISTED,
    QUERY,
    WITH_HELP,
    Command,
    Option,
)
from spackscope.tui.cli.commands.help import QUERY_SECTION
from spackscope.tui.cli.commands.man import PAGES
from spackscope.tui.keymap import HEADINGS, KEYS
from spackscope.tui.process.stdio import key_word
from spackscope.tui.query_reference import LANGUAGE
from spackscope.tui.settings.table import SETTINGS

EXIT_CODES = (
    (
        "0",
        "something matched; specs are equal, everything is cached, all records are intact",
    ),
    (
        "1",
        "nothing matched; specs differ, something is missing, a package has several hashes, "
        "a record is wrong",
    ),
    ("2", "the command line or the query is wrong"),
    ("3", "no source can be read; or nothing matched, and a source cannot be read"),
    (
        "70",
        "an unexpected error, which is a bug; it leaves a log without your data in "
        "`~/.local/state/spackscope`",
    ),
    ("130", "interrupted, or left `pick` without a choice"),
    ("128 + n", "ended by signal n"),
)
"""Exit codes and what they mean."""

VARIABLES = (
    ("SPACKSCOPE_CONFIG", "the configuration file to read instead of your own"),
    (
        "SPACKSCOPE_FROM",
        "the sources, separated by blanks, instead of those of your Spack",
    ),
    *(
        (setting.variable, f"{setting.sentence[:1].lower()}{setting.sentence[1:-1]}")
        for setting in SETTINGS
        if setting.variable and setting.kind != "texts"
    ),
    (
        "SPACKSCOPE_PYTHON",
        "the Python that spackscope.pyz runs with; by default `python3`, if that is new enough",
    ),
    (
        "SPACKSCOPE_KEY, SPACKSCOPE_KEY_FORMAT",
        "the key that `completion --widget` binds, and the form of its choice",
    ),
    ("NO_COLOR", "no colours"),
    ("SPACK_ROOT, SPACK_ENV", "the Spack and the active environment, as Spack sets them"),
    (
        "https_proxy, no_proxy, SSL_CERT_FILE",
        "proxies, and the certificates to trust",
    ),
    (
        "XDG_CACHE_HOME, XDG_CONFIG_HOME, XDG_DATA_HOME, XDG_STATE_HOME",
        "where files are, as below",
    ),
    ("XDG_CONFIG_DIRS", "where the configuration for all users is, as below"),
)
"""Variables of the environment, several as `A, B`, and what they do."""

FILES = (
    (
        "$XDG_CONFIG_HOME/spackscope",
        "~/.config/spackscope",
        "`config.toml`; only read",
    ),
    (
        "$XDG_CONFIG_DIRS/spackscope",
        "/etc/xdg/spackscope",
        "`config.toml` for all users; only read",
    ),
    (
        "$XDG_CACHE_HOME/spackscope",
        "~/.cache/spackscope",
        "indexes, the names of files in large directories, copies of remote files, and the"
        " unpacked spackscope.pyz; you may remove it at "
        "any time",
    ),
    (
        "$XDG_DATA_HOME/spackscope",
        "~/.local/share/spackscope",
        "the Spack extension that `spackscope extension --install` registers; "
        "without it no command of Spack starts",
    ),
    (
        "$XDG_STATE_HOME/spackscope",
        "~/.local/state/spackscope",
        "what the program remembers: theme, hidden columns, earlier queries, crash logs",
    ),
)
"""Directories, each with its place where the variable is not set, and what they have."""

_SPECIAL = {
    "\\": r"\e", "-": r"\-", "'": r"\(aq", "`": r"\(ga", "^": r"\(ha", "~": r"\(ti",
    "’": r"\(cq", "–": r"\(en", "…": r"\&...",
}  # fmt: skip
"""Letters that roff would show as others, or take for a request."""

_WORD = re.compile(r"(--?[a-z][a-z-]*|[A-Z][A-Z-]+\b)")


def man_page(topic: str) -> str:
    """Return the manual page on a topic of PAGES, in the language of man(7).

    man_page("query").startswith(".TH SPACKSCOPE-QUERY 7")
    """
    name, _, section = PAGES[topic].rpartition(".")
    group = "User Commands" if section == "1" else "Miscellaneous Information"
    head = f'.TH {name.upper()} {section} 2026-11-27 "spackscope {VERSION}" "{group}"'
    lines = [head, ".nh", ".ad l", *(_query_page() if topic == QUERY else _main_page())]
    return "\n".join(lines) + "\n"


def _main_page() -> Iterator[str]:
    browse = COMMANDS[BROWSE]
    sentence = browse.description.rstrip(".")
    yield from (".SH NAME", f"spackscope \\- {prose(sentence[0].lower() + sentence[1:])}")
    yield ".SH SYNOPSIS"
    yield from _usages(browse)
    yield ".SH DESCRIPTION"
    yield (
        "spackscope reads records of the binaries in Spack build caches, install trees and "
        "environments, and answers which prebuilt binaries of a package exist, which one fits, "
        "and how they differ. Without a command it opens a browser in the terminal."
    )
    yield from (".PP", marked(f"A query is {QUERY_SECTION}".replace("\n", " ")))
    yield ".SH OPTIONS"
    yield from _options(COMMON)
    yield ".SH COMMANDS"
    for command in LISTED:
        if command.name in WITH_HELP:
            yield from _command(command)
    yield from _keys()
    yield from _settings()
    yield from _surroundings()
    yield from (".SH EXAMPLES", "To begin with:")
    yield from example(browse.examples.split("\n"))
    yield from (".SH SEE ALSO", ".BR spackscope\\-query (7),", ".BR spack (1)")


def _usages(command: Command) -> Iterator[str]:
    for number, usage in enumerate(command.usages):
        yield from ([".br"] if number else [])
        yield synopsis(f"{command.called} {usage}")


def _options(options: Iterable[Option]) -> Iterator[str]:
    for option in options:
        names = ", ".join(map(bold, option.names))
        value = f" \\fI{literal(option.metavar)}\\fR" if option.metavar else ""
        yield from entry(f"{names}{value}", prose(option.sentence))


def _command(command: Command) -> Iterator[str]:
    """Yield what a command does, and the options that not all commands have."""
    yield f".SS spackscope {command.name}"
    yield from _usages(command)
    for block in command.description.split("\n\n"):
        # What is indented is shown as it is.
        for is_shown, lines in itertools.groupby(block.split("\n"), lambda x: x[:2] == "  "):
            if is_shown:
                yield from example(line.removeprefix("  ") for line in lines)
            else:
                yield from (".PP", marked(" ".join(lines)))
    yield from _options(option for option in command.options if option not in COMMON)
    if command.examples:
        yield from example(command.examples.split("\n"))


def _keys() -> Iterator[str]:
    yield ".SH KEYS"
    yield marked(
        "What the keys of the browser do, with the names by which `[keys]` of the configuration "
        "gives other keys; `?` shows those in use."
    )
    for where, heading in HEADINGS.items():
        yield from (f".SS {prose(heading)}", ".PD 0")
        for key in KEYS:
            if key.where == where:
                shown = [bold(key_word(part)) for part in key.shown.split(" ")]
                name = f"(\\fI{literal(key.name)}\\fR)"
                yield from entry(", ".join(shown), f"{marked(key.sentence)} {name}")
        yield ".PD"


def _settings() -> Iterator[str]:
    yield ".SH CONFIGURATION"
    yield marked(
        "The command line comes before the environment, that before the user's configuration "
        "file, and that before the file for all users, `/etc/xdg/spackscope/config.toml`. "
        "Both are TOML."
    )
    for setting in SETTINGS:
        also = ", ".join(bold(name) for name in (setting.variable, setting.option) if name)
        default = f"By default {prose(setting.shown_default)}"
        ways = f"{default}; also set by {also}." if also else f"{default}."
        yield from entry(
            f"{bold(setting.name)} = {literal(setting.example)}",
            f"{prose(setting.sentence)}\n{ways}",
        )


def _surroundings() -> Iterator[str]:
    yield ".SH ENVIRONMENT"
    for names, sentence in VARIABLES:
        yield from entry(", ".join(map(bold, names.split(", "))), marked(sentence))
    yield ".SH FILES"
    for directory, default, sentence in FILES:
        yield from entry(f"{bold(directory)}, else {bold(default)}", marked(sentence))
    yield ".SH EXIT STATUS"
    for code, sentence in EXIT_CODES:
        yield from entry(bold(code), marked(sentence))


def _query_page() -> Iterator[str]:
    yield from (".SH NAME", "spackscope\\-query \\- the query language of spackscope")
    yield ".SH DESCRIPTION"
    yield marked(
        "A query is a Spack spec, and means what Spack means by it. In addition there are the "
        "columns of a build cache, wildcards, not (`!`) and or (`|`)."
    )
    yield ".PP"
    yield marked(
        "Quote what your shell would interpret, such as `!`, `|`, `*`, and `~` at the start of a "
        "word. Write `--` before a word that begins with a hyphen."
    )
    for heading, forms in LANGUAGE.items():
        yield f".SH {prose(heading.upper())}"
        for form in forms:
            shown = f"\nExample: {bold(form.example)}" if form.example else ""
            yield from entry(bold(form.written), f"{prose(form.sentence)}{shown}")
    yield from (
        ".SH EXAMPLES",
        "Builds of hdf5 that a zen3 can run, with MPI, by any GCC from 12:",
    )
    yield from example(["spackscope find 'hdf5 +mpi %gcc@12: target=:zen3'"])
    yield from (".SH SEE ALSO", ".BR spackscope (1)")


def literal(text: str) -> str:
    """Return a text so that it is shown letter by letter."""
    text = "".join([_SPECIAL.get(letter, letter) for letter in text])
    return f"\\&{text}" if text.startswith(".") else text


def bold(text: str) -> str:
    """Return a text in bold."""
    return f"\\fB{literal(text)}\\fR"


def marked(text: str) -> str:
    """Return a sentence with what stands between backquotes in bold.

    >>> marked("as `--host` does")
    'as \\\\fB\\\\-\\\\-host\\\\fR does'
    """
    parts = text.split("`")
    return "".join(bold(part) if n % 2 else prose(part) for n, part in enumerate(parts))


def prose(text: str) -> str:
    """Return a part of a sentence; hyphens within words stay hyphens."""
    text = re.sub(r"(?<=[A-Za-z])-(?=[A-Za-z])", "\0", text)
    return literal(text).replace("\0", "-")


def synopsis(usage: str) -> str:
    """Return a form of a command line: names in bold, and what stands for something in italics."""
    name = re.match("[a-z ]*[a-z]", usage)
    end = name.end() if name else 0
    return bold(usage[:end]) + "".join(map(_synopsis_word, _WORD.split(usage[end:])))


def _synopsis_word(word: str) -> str:
    if not _WORD.fullmatch(word):
        return literal(word)
    return bold(word) if word.startswith("-") else f"\\fI{literal(word)}\\fR"


def entry(head: str, text: str) -> list[str]:
    """Return the lines of a definition, whose two parts are written already."""
    return [".TP", head, text]


def example(lines: Iterable[str]) -> list[str]:
    """Return lines that are shown as they are."""
    return [".PP", ".EX", *map(literal, lines), ".EE"]
