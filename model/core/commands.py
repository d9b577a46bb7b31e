"""What a command of the shell says of itself, and the options that several commands have.

Parser, help, completion and reference are made from the `COMMAND` of each module of a command.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from spackscope.model.core.frozen import Frozen

WordKind = Literal[
    "query",
    "spec",
    "spec or source",
    "spec or environment",
    "source",
    "environment",
    "package",
    "axis",
    "host",
    "topic",
    "shell",
    "config",
    "number",
    "column",
    "template",
    "pattern",
    "option",
    "",
]
"""The kind of a word, or of the value of an option; an empty text for an unknown kind."""

WITH_FILES: tuple[WordKind, ...] = (
    *("source", "environment", "spec or source", "spec or environment"),
)
"""Words that may be the path of a file, or - for standard input."""

BROWSE = "browse"
"""The command where none is given; it is not a word of the command line."""

HELP, COMPLETE = "help", "complete"

QUERY = "query"
"""The topic of `help` that is not a command: the query language."""


class Option(Frozen):
    """An option: its names, its text in the help, and the field of `Options` that it sets.

    A `flag` sets True, a `choice` its own name, which excludes other choices of its field, a
    `value` the text that follows it, and `values` collect these texts. The help calls this text
    `metavar`, and `takes` is its kind.
    """

    names: tuple[str, ...]
    text: str
    field: str
    kind: Literal["flag", "choice", "value", "values"] = "flag"
    metavar: str = ""
    takes: WordKind = ""

    @property
    def has_value(self) -> bool:
        """Whether a text follows the option."""
        return self.kind in ("value", "values")

    @property
    def sentence(self) -> str:
        """The text in the help, on one line."""
        return self.text.replace("\n", " ")


def flag(name: str, text: str, field: str = "") -> Option:
    """Return an option that is on or off; its field has its name, if none is given."""
    return Option((f"--{name}",), text, field or name.replace("-", "_"))


def choice(name: str, text: str) -> Option:
    """Return an option for one of several forms of the output."""
    return Option((f"--{name}",), text, "format", "choice")


def value(name: str, text: str, metavar: str, takes: WordKind, field: str = "") -> Option:
    """Return an option with one value; its field has its name, if none is given."""
    return Option((f"--{name}",), text, field or name.replace("-", "_"), "value", metavar, takes)


def values(name: str, text: str, metavar: str, takes: WordKind, field: str) -> Option:
    """Return an option that may be repeated, with a value each time."""
    return Option((f"--{name}",), text, field, "values", metavar, takes)


def sources_option(text: str) -> Option:
    """Return the option -f, whose text says what a source is there."""
    return Option(("-f", "--from"), text, "sources", "values", "SOURCE", "source")


HOST = value(
    "host",
    "check what runs on this host: 'target=zen3 glibc=2.34',\nor zen3; also os=, platform=, "
    "musl= and libc=glibc@2.34:/opt/sysroot. Default: SPACKSCOPE_HOST, else the configured host, "
    "else this machine",
    "HOST",
    "host",
)
CONFIG = value(
    "config",
    "none: ignore your Spack configuration (concretizer:reuse, filters of mirrors, "
    "requirements), which `reusable` considers otherwise",
    "none",
    "config",
)
FIT = (HOST, CONFIG)
FROM = sources_option(
    "read this source; may be repeated: a page, index.json, spack.lock or spec file; a directory "
    "of pages, an install tree, an environment or a mirror; a URL of https, http, file, s3, gs or "
    "oci; spack:NAME, a mirror of your Spack; public, public:TAG or public:* (all releases), the "
    "public cache, also as public:releases/v2026.10, public:TAG:VIEW and public:e4s/25.11; - for "
    "stdin; sample, the bundled one.\nDefault: SPACKSCOPE_FROM, else those configured, else "
    "the mirrors and install trees of your Spack; without a Spack the sample"
)
ALL = flag("all", "also list dependency-only specs", "dependency_only")
NO_COLOR = flag("no-color", "use no colour, like NO_COLOR in the environment")
PLAIN = flag(
    "plain",
    "write for a screen reader: no boxes and bars, each row as lines 'label: value', like "
    "SPACKSCOPE_PLAIN in the environment",
)
HELP_OPTION = Option(("-h", "--help"), "print this help", "help")
TEMPLATE = value(
    "format",
    "print each row in a form such as '{package}/{hash:7}', with the values of its columns",
    "TEXT",
    "template",
    "template",
)
SHEET = (
    choice("json", "print a JSON array of objects, one for each row"),
    choice("jsonl", "print one JSON object per line"),
    choice("csv", "print comma-separated values with a header line"),
    choice("markdown", "print a table for a comment or an issue on GitHub"),
    choice("hashes", "print the full hashes of the rows, one per line, each once"),
    TEMPLATE,
    value("columns", "print these columns, separated by commas", "NAMES", "column"),
    value("sort", "sort by a column; -NAME: descending", "NAME", "column"),
    Option(
        ("-n", "--limit"),
        "print at most N rows; 0: all. Default: all, but on a terminal and in Markdown only the "
        "first rows of a long answer",
        "limit",
        "value",
        "N",
        "number",
    ),
)
"""The options of an answer, for the form, the columns and the order of its rows."""

SOURCES = (FROM, ALL, PLAIN, NO_COLOR, HELP_OPTION)
SOURCES_WITHOUT_ALL = (FROM, PLAIN, NO_COLOR, HELP_OPTION)
ANSWER = (*SHEET, *SOURCES_WITHOUT_ALL)

VERSION_OPTION = flag("version", "print the version")
"""The option that each command takes, though only the help of all commands lists it."""

COMMON = (*FIT, *SOURCES, VERSION_OPTION)
"""The options without a command, most of which commands have as well."""

GROUPS = FINDING, CACHES, PROGRAM = "to find a build", "to run a cache", "spackscope itself"
"""The groups of commands, as the help names them."""


class Command(Frozen):
    """A command: its help, its options and its words."""

    name: str
    summary: str
    """Its line in the list of commands; a command without one is in no help."""
    usages: tuple[str, ...] = ()
    """What follows its name."""
    description: str = ""
    options: tuple[Option, ...] = SOURCES
    words: WordKind = ""
    """The kind of its words, if it takes any."""
    least: int = 0
    most: int | None = None
    """The number of words that it takes; None: any."""
    wrong_count: str = "takes no query: {first}"
    """Printed for another number: `count` is their number, `first` the one that is too much."""
    first_word: str = ""
    """The field of an option whose value the first word is, if the option is not given."""
    codes: Mapping[int, str] = {}
    """The exit codes with a meaning of their own."""
    examples: str = ""
    reads_sources: bool = True
    """Whether it is run with sources, else with the environment."""
    group: str = FINDING
    """Whom it serves: one of GROUPS."""

    @property
    def called(self) -> str:
        """The words to type for the command."""
        return "spackscope" if self.name == BROWSE else f"spackscope {self.name}"


NEEDS_SPEC = "needs a hash, or a query that matches one spec"
"""What is wrong with a command line whose words are to name one spec."""
