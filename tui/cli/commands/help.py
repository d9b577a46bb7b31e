"""The command `help`: one screen of essentials, a command, or the whole query language."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby

from spackscope.model.core.commands import BROWSE, HELP, PROGRAM, QUERY, Command
from spackscope.model.core.suggestions import did_you_mean
from spackscope.model.core.text import wrap
from spackscope.tui.cli.arguments import Options
from spackscope.tui.cli.command_table import COMMANDS, listed, with_help
from spackscope.tui.process import ExitCode, Leave, stdio
from spackscope.tui.query_reference import LANGUAGE

COMMAND = Command(
    HELP,
    "print this help, or that on a command or on `query`",
    words="topic",
    group=PROGRAM,
)


QUERY_SECTION = """\
a Spack spec, such as 'hdf5@1.14: +mpi target=:zen3'; quote what your shell
would interpret. `spackscope help query` lists all forms.
A word is a source, without -f, if it is a URL, spack:NAME or public, ends in
.json .lock .sig .yaml .md .gz .zst, or has a slash; but /HASH and NAME/HASH
are specs unless such a file is there. After -- all words are the query."""

_ESSENTIALS = """\
usage: spackscope [COMMAND] [SOURCE]... [QUERY...]

Browse the binaries in Spack build caches, and pick the one that fits.

  spackscope                             browse what your Spack can fetch
  spackscope hdf5 +mpi target=:zen3      builds that a zen3 can run
  spackscope find 'hdf5 ^zlib-ng@2.2:'   a table, or --json --csv --hashes
  spackscope find 'cached !installed'    what an install could fetch
  spackscope public ~/spack/ mpich       two sources as one
  spackscope show uehz56w                one build, and how to install it
  spackscope diff uehz56w wuqgt3p        how two look-alikes differ

{commands}

  -f, --from SOURCE  a file, directory or URL; spack:NAME; public; - for stdin;
                     a word with a slash, ending or scheme needs no -f
  --host HOST        check what runs there: 'target=zen3 glibc=2.34'
  --all              also list dependency-only specs
  --plain, --no-color, --version, -h, --help

spackscope help           everything    spackscope help query  how to query
spackscope help COMMAND   one command   spackscope -- find     the package find
"""
"""The most important help, on one screen: at most 24 lines of 80 cells."""

_CODES = {2: "wrong usage", 70: "unexpected error", 130: "interrupted"}
_SOURCE_CODES = {0: "found", 1: "nothing matched", 3: "a source cannot be read"}

_WIDTH = 79
_OPTION_COLUMN = 21
_FORM_COLUMN = 36


def run(options: Options, environ: Mapping[str, str]) -> ExitCode:
    """Print the help on the words after `help` or on a command, else the most important one.

    Raises Leave.
    """
    topic = " ".join(options.words) or BROWSE if options.command == HELP else options.command
    if topic == QUERY:
        text = _query_help()
    elif topic in COMMANDS and COMMANDS[topic].description and options.command != BROWSE:
        text = command_help(COMMANDS[topic])
    elif options.command == HELP and options.words:
        hint = did_you_mean(topic, [*with_help(), QUERY])
        raise Leave(ExitCode.USAGE, f"no help on {topic}{hint}; see `spackscope help --help`")
    else:
        groups = {group: " ".join(c.name for c in its) for group, its in _by_group().items()}
        width = max(map(len, groups))
        lines = (_hanging(f"{group:>{width}}: ", text, _WIDTH) for group, text in groups.items())
        text = _ESSENTIALS.format(commands="\n".join(lines))
    stdio.print_line(text.rstrip("\n"))
    return ExitCode.FOUND


def _by_group() -> dict[str, list[Command]]:
    return {group: list(its) for group, its in groupby(listed(), lambda each: each.group)}


def command_help(command: Command) -> str:
    """Return the help of a command."""
    return "\n".join(_command_lines(command))


def _command_lines(command: Command) -> Iterator[str]:
    for number, usage in enumerate(command.usages):
        head = " " * len("usage: ") if number else "usage: "
        yield _hanging(f"{head}{command.called} ", usage, _WIDTH)
    yield f"\n{command.description}\n"
    if command.name == BROWSE:
        for group, commands in _by_group().items():
            yield f"{group}:"
            for each in commands:
                yield from _entry(each.name, each.summary, _OPTION_COLUMN)
        yield "  Without a command the browser opens. Put -- before a query that begins with"
        yield "  one of these words, as where a package has such a name.\n"
    yield "options:"
    for option in command.options:
        names = " ".join(filter(None, [", ".join(option.names), option.metavar]))
        yield from _entry(names, option.text, _OPTION_COLUMN)
    for heading, text in _sections_of(command).items():
        if text:
            yield f"\n{heading}:"
            yield from (f"  {line}" for line in text.split("\n"))


def _sections_of(command: Command) -> dict[str, str]:
    """Return the sections after the options of a command, by their headings."""
    sections = {"query": QUERY_SECTION} if command.words == "query" else {}
    return {**sections, "exit codes": _exit_codes(command), "examples": command.examples}


def _exit_codes(command: Command) -> str:
    """Return the exit codes of a command, on lines that fit the help."""
    codes = {**_CODES, **(_SOURCE_CODES if command.reads_sources else {}), **command.codes}
    lines = [""]
    for code, meaning in sorted(codes.items()):
        line = f"{lines[-1]}   {code} {meaning}".lstrip()
        fits = len(line) <= _WIDTH - len("  ")
        lines[-1:] = [line] if fits else [lines[-1], f"{code} {meaning}"]
    return "\n".join(lines)


def _entry(head: str, text: str, column: int) -> list[str]:
    """Return the lines of a text in a column beside its head."""
    first, *more = (line for part in text.split("\n") for line in wrap(part, _WIDTH - column))
    return [f"  {head:<{column - 3}} {first}", *(" " * column + line for line in more)]


def _hanging(head: str, text: str, width: int) -> str:
    """Return a text after a head, under which it goes on."""
    return head + f"\n{' ' * len(head)}".join(wrap(text, width - len(head)))


def _query_help() -> str:
    """Return the table of the query language."""
    lines = ["A query is a Spack spec. Quote what your shell would interpret."]
    for heading, forms in LANGUAGE.items():
        lines += ["", heading]
        for form in forms:
            lines += _entry(form.written, form.sentence, _FORM_COLUMN)
    return "\n".join(lines)
