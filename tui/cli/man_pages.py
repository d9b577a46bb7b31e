"""Build the manual pages from the tables that help and documentation are built from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from spackscope.model.core.suggestions import did_you_mean
from spackscope.tui import RELEASED, VERSION
from spackscope.tui.cli.help import BROWSE, COMMANDS
from spackscope.tui.cli.help_sections import command_help
from spackscope.tui.cli.help_topics import QUERY
from spackscope.tui.cli.option_help import OptionHelp, option_help
from spackscope.tui.cli.reference import EXIT_CODES, FILES, VARIABLES
from spackscope.tui.cli.roff import bold, entry, example, literal, marked, prose, synopsis
from spackscope.tui.keymap import HEADINGS, KEYS
from spackscope.tui.process.stdio import key_word
from spackscope.tui.query_reference import LANGUAGE
from spackscope.tui.settings.table import SETTINGS

PAGES = {BROWSE: "spackscope.1", QUERY: "spackscope-query.7"}
"""The names of the pages by their topics."""


def man_page(topic: str) -> str:
    """Return the manual page on a topic of PAGES, in the language of man(7).

    man_page("query").startswith(".TH SPACKSCOPE-QUERY 7")
    """
    name, _, section = PAGES[topic].rpartition(".")
    group = "User Commands" if section == "1" else "Miscellaneous Information"
    head = f'.TH {name.upper()} {section} {RELEASED} "spackscope {VERSION}" "{group}"'
    lines = [head, ".nh", ".ad l", *(_query_page() if topic == QUERY else _main_page())]
    return "\n".join(lines) + "\n"


def topic_of(words: Iterable[str]) -> str:
    """Return the topic that the words after `man` name. Raises ValueError for another one."""
    topic = " ".join(words) or BROWSE
    if topic not in PAGES:
        raise ValueError(f"no manual page on {topic}{did_you_mean(topic, [QUERY])}")
    return topic


def _main_page() -> Iterator[str]:
    help_ = command_help(BROWSE)
    first, *rest = help_.paragraphs
    sentence = " ".join(first.lines).rstrip(".")
    yield from (".SH NAME", f"spackscope \\- {prose(sentence[0].lower() + sentence[1:])}")
    yield ".SH SYNOPSIS"
    yield from _usages(help_.usages)
    yield ".SH DESCRIPTION"
    yield (
        "spackscope reads records of the binaries in Spack build caches, install trees and "
        "environments, and answers which prebuilt binaries of a package exist, which one fits, "
        "and how they differ. Without a command it opens a browser in the terminal."
    )
    for paragraph in rest:
        yield from (".PP", prose(" ".join(paragraph.lines)))
    query = " ".join(line.strip() for line in help_.sections["query"])
    yield from (".PP", marked(f"A query is {query}"))
    yield ".SH OPTIONS"
    common = option_help(BROWSE)
    yield from _options(common)
    yield ".SH COMMANDS"
    for command in COMMANDS:
        if command != BROWSE:
            yield from _command(command, common)
    yield from _keys()
    yield from _settings()
    yield from _surroundings()
    yield from (".SH EXAMPLES", "To begin with:")
    yield from example(help_.sections["examples"])
    yield from (".SH SEE ALSO", ".BR spackscope\\-query (7),", ".BR spack (1)")


def _usages(usages: Iterable[str]) -> Iterator[str]:
    for number, usage in enumerate(usages):
        yield from ([".br"] if number else [])
        yield synopsis(usage)


def _options(options: Iterable[OptionHelp]) -> Iterator[str]:
    for option in options:
        names = ", ".join(map(bold, option.names))
        value = f" \\fI{literal(option.metavar)}\\fR" if option.metavar else ""
        yield from entry(f"{names}{value}", prose(option.sentence))


def _command(command: str, common: list[OptionHelp]) -> Iterator[str]:
    """Yield what a command does, and the options that not all commands have."""
    help_ = command_help(command)
    yield f".SS spackscope {command}"
    yield from _usages(help_.usages)
    for paragraph in help_.paragraphs:
        if paragraph.is_literal:
            yield from example(paragraph.lines)
        else:
            yield from (".PP", marked(" ".join(paragraph.lines)))
    yield from _options(option for option in option_help(command) if option not in common)
    yield from example(help_.sections.get("examples", ()))


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
        "Both are TOML, and are only read."
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
