"""Parse the command line by the entries of the commands.

The command is the first word that is not an option; without one the browser opens. Options may be
anywhere, words that can only be sources need no -f, and after `--` all words belong to the query.

The rules are like the rules of argparse, which is not used, since it would need changes for each:
which word is the command, abbreviations, unknown options and suggestions for them, and the form of
errors; and completion parses lines that are not finished.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any

from spackscope.model.core.commands import (
    BROWSE,
    COMMON,
    COMPLETE,
    HELP,
    SHEET,
    VERSION_OPTION,
    WITH_FILES,
    Command,
    Option,
)
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.suggestions import near
from spackscope.model.core.text import clean
from spackscope.model.sources.source_name import SITE
from spackscope.tui.cli.command_table import COMMANDS
from spackscope.tui.process import ExitCode, Leave

_EITHER = ("spec or source", "spec or environment")
_QUERIES = ("query", "spec", *_EITHER)
"""The kinds of words of a command among which a query may be."""

_AFTER_SOURCES = (*_QUERIES, "environment", "")
"""The kinds of words of a command among which its sources may be."""

_CLOSE = 0.74
"""The least similarity of a misspelled command: `shwo` has it, the package `diffutils` not."""

_TRIED = {
    **dict.fromkeys(("list", "ls", "search", "query"), "find"),
    **dict.fromkeys(("info", "spec", "describe"), "show"),
    **dict.fromkeys(("deps", "dependencies"), "needs"),
    **dict.fromkeys(("contents", "ls-files"), "files"),
    **dict.fromkeys(("mirror", "mirrors"), "sources"),
    **dict.fromkeys(("update", "refresh", "rebuild"), "index"),
    "compare": "diff",
    "count": "stats",
}
"""Names that people try, as in other programs, and the commands that they mean."""

_SHARED = {name: option for option in (*COMMON, *SHEET) for name in option.names}
"""The options that several commands have, by their names."""


class Options(Frozen):
    """The parsed command line; `command` is BROWSE where it names none.

    `words` are the words of the query. `format` is the name of an export format, or None for the
    format that suits stdout; `template`, `columns`, `sort` and `limit` say how the rows of an
    answer are printed, and `given` has the values of all options, also of options that only one
    answer has, by their fields. `dependency_only` lists dependency-only specs too. `host`
    describes the machine that specs are to run on, and with `config` "none" Spack's rules for
    reuse are ignored. `help` prints the help of the command. `near` is the command that the first
    word may be a misspelling of. `notes` are sentences on addresses of cache.spack.io.
    """

    command: str
    words: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    format: str | None = None
    template: str | None = None
    columns: str = ""
    sort: str = ""
    limit: str = ""
    given: Mapping[str, Any] = {}
    dependency_only: bool = False
    host: str = ""
    config: str = ""
    rebuild: bool = False
    plain: bool = False
    no_color: bool = False
    help: bool = False
    version: bool = False
    near: str = ""
    notes: tuple[str, ...] = ()


def parse_arguments(argv: Sequence[str]) -> Options:
    """Parse the words after the name of the program.

    Raises Leave, with a sentence that names the help, where they are wrong.

        parse_arguments(["find", "-f", "public", "hdf5", "--json"]).format  # json
    """
    command, before, after = split_command(argv)
    name = command.name
    try:
        parsed, words = split_options(before, options_of(command))
        for word in words:
            if word.startswith("-") and not (word == "-" and command.words in WITH_FILES):
                # Its value may be a URL with a password.
                raise ValueError(f"unknown option {word.partition('=')[0]}{_hint(word, command)}")
        is_help = parsed.pop("help", False) or name == HELP
        urls = _read_site_urls(command, words, parsed.get("sources", ()))
        words, given_sources, queries, parsed["notes"] = urls
        parsed["sources"], words = split_sources(command, words, given_sources)
        after = [*queries, *after]
        if command.first_word and command.first_word not in parsed:
            is_name = bool(words) and words[0].replace("-", "_").isidentifier()
            parsed[command.first_word], words = words[:is_name], words[is_name:]
        words += after
        _check_sources(command, words, parsed.get("sources", ()), parsed.get("config", ""))
        limit = parsed.get("limit", "0")
        if not (limit.isdecimal() and limit.isascii()):
            raise ValueError(f"--limit takes a number of rows, not {clean(limit)}")
        if not (is_help or "version" in parsed):
            _check_words(command, words)
    except ValueError as error:
        raise Leave(ExitCode.USAGE, f"{error}; see `{command.called} --help`") from None
    given: dict[str, Any] = {
        field: tuple(value) if type(value) is list else value for field, value in parsed.items()
    }
    own = {field: value for field, value in given.items() if field in Options.__fields__}
    nearest = _near_command(words[: len(words) - len(after)]) if name == BROWSE else ""
    return Options(name, tuple(words), given=given, help=is_help, near=nearest, **own)


def split_command(argv: Sequence[str]) -> tuple[Command, list[str], list[str]]:
    """Return the command of a command line, and its other words before and after `--`."""
    before, after = list(argv), list[str]()
    if "--" in before:
        cut = before.index("--")
        before, after = before[:cut], before[cut + 1 :]
    is_value = False
    for index, word in enumerate(before):
        if is_value:
            is_value = False
        elif word.startswith("-") and _has_value(word):
            is_value = True
        elif not word.startswith("-"):
            if word in COMMANDS and word != BROWSE:
                return COMMANDS[before.pop(index)], before, after
            break
    return COMMANDS[BROWSE], before, after


def _has_value(name: str) -> bool:
    """Check whether a value follows an option, of whichever command it is."""
    if name in _SHARED:
        return _SHARED[name].has_value
    if "=" in name or name[:2] in _SHARED:
        # The value is in the word, as in --from=a and -fa.
        return False
    # Few lines have such an option before the command, which alone would say what it is.
    every = (option for command in COMMANDS.values() for option in command.options)
    return any(option.has_value and name in option.names for option in every)


def options_of(command: Command) -> tuple[Option, ...]:
    """Return the options that a command takes."""
    return (*command.options, VERSION_OPTION)


def split_options(
    words: Sequence[str], options: Iterable[Option]
) -> tuple[dict[str, Any], list[str]]:
    """Return the values of the fields that options set, and the words that are not options.

    Unknown options are among these words. Raises ValueError where an option lacks its value, has
    a value that it does not take, or excludes another option.

        split_options(["-fa", "zlib"], COMMANDS["find"].options)  # {"sources": ["a"]}, ["zlib"]
    """
    names = {name: option for option in options for name in option.names}
    values, rest = dict[str, Any](), list[str]()
    pending = [*reversed(words)]
    while pending:
        word = pending.pop()
        name, has_text, text = word.partition("=")
        short = names.get(word[:2]) if name not in names else None
        if short is not None and (short.takes != "number" or word[2:].isdecimal()):
            # -fa is -f a, -n5 is -n 5, and -hf is -h -f; -netcdf is a variant by mistake.
            name, text = word[:2], word[2:]
            has_text = "" if not short.has_value and f"-{text[0]}" in names else "="
            pending += [f"-{text}"] if not has_text else []
        option = names.get(name)
        if option is None:
            rest.append(word)
        elif option.has_value:
            if not has_text:
                if not pending or _is_option(pending[-1], option, names):
                    raise _refused(option, "expected one argument")
                text = pending.pop()
            is_list = option.kind == "values"
            values[option.field] = [*values.get(option.field, ()), text] if is_list else text
        elif has_text:
            raise _refused(option, f"ignored explicit argument {text!r}")
        elif option.kind == "flag":
            values[option.field] = True
        else:
            choice = name.lstrip("-")
            if (other := values.setdefault(option.field, choice)) != choice:
                raise _refused(option, f"not allowed with argument --{other}")
    return values, rest


def split_sources(
    command: Command, words: Sequence[str], given: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Return the sources given with -f and among the words of a command, and all other words.

    Words of a command that takes sources itself stay: two of `diff`, and one of `why`. Some of
    several environments may be caches, of the words or else of the sources given.

        split_sources(COMMANDS["find"], ["~/mirror", "hdf5"], [])  # ["~/mirror"], ["hdf5"]
    """
    is_environment = command.words == "environment"
    several = words or given if is_environment else words
    if not (command.reads_sources and command.words in _AFTER_SOURCES and any(several)):
        return [*given], [*words]
    # A command without words needs none of these functions.
    from spackscope.model.sources.resolve import is_source_word, names_environment, names_source

    if is_environment:
        may_be_cache = [n for n in several if not words or (n != "-" and names_source(n))]
        sources = [name for name in may_be_cache if not names_environment(name)]
        if not 0 < len(sources) < len(several):
            return [*given], [*words]
        given = given if words else ()
    elif command.words in _EITHER and all(map(names_source, words)):
        return [*given], [*words]
    else:
        sources = [word for word in words if is_source_word(word)]
    return [*given, *sources], [word for word in several if word not in sources]


def _read_site_urls(
    command: Command, words: Sequence[str], sources: Sequence[str]
) -> tuple[list[str], list[str], list[str], list[str]]:
    """Replace addresses of cache.spack.io in words and sources by their sources.

    Returns words and sources, the queries of the addresses, and notes on them. A word with a query
    becomes a source. Raises ValueError.
    """
    rest, found, queries, notes = list[str](), list[str](), list[str](), list[str]()
    for number, word in enumerate((*sources, *words)):
        view = None
        if SITE in word.lower() and command.reads_sources:
            # Few lines have an address of it.
            from spackscope.model.sources.site_url import parse_site_url

            view = parse_site_url(word)
        query = view.query if view is not None else ""
        if view is not None:
            if query and command.words not in _QUERIES:
                raise ValueError(f"{command.name} takes no query: write {view.source}")
            word, notes = view.source, [*notes, *view.notes]
        if query:
            queries.append(query)
        (found if query or number < len(sources) else rest).append(word)
    return rest, found, queries, notes


def _is_option(word: str, option: Option, names: Container[str]) -> bool:
    """Check whether a word cannot be the value of an option.

    A number below zero can, and so can a word with a blank, or the name of a column after `-`.
    """
    if option.takes == "column" and not word.startswith("--") and word not in names:
        return False
    whole, point, digits = word[1:].partition(".")
    is_number = f"{whole}{digits}".isdecimal() and bool(digits) == bool(point)
    return word.startswith("-") and len(word) > 1 and not (" " in word or is_number)


def _refused(option: Option, why: str) -> ValueError:
    return ValueError(f"argument {'/'.join(option.names)}: {why}")


def _check_sources(
    command: Command, words: Sequence[str], sources: Sequence[str], config: str
) -> None:
    """Check the names of sources, and the value of --config. Raises ValueError."""
    if command.words == "environment" and "-" in words and "-" in sources:
        raise ValueError("- is standard input: the environment or a cache, not both")
    if config not in ("", "none"):
        raise ValueError("--config takes only none; Spack's own configuration is found without it")
    if not all(sources):
        raise ValueError("-f needs a source, but its value is empty")


def _near_command(words: Sequence[str]) -> str:
    """Return the command that the first word of a query looks like, or an empty text."""
    if not words or not words[0].isalpha():
        return ""
    names = [name for name in COMMANDS if name not in (BROWSE, COMPLETE)]
    close = near(words[0], names, closeness=_CLOSE)
    return _TRIED.get(words[0]) or next(iter(close), "")


def _hint(word: str, command: Command) -> str:
    """Return a hint on the option or command meant, or on writing a variant such as `-mpi`."""
    name = word.lstrip("-")
    if word == "-":
        return ": -f - reads standard input"
    if word == "--rebuild":
        return ", which `spackscope index` has"
    if word in _SHARED and _SHARED[word].field == "format":
        return ", which `spackscope find` has"
    if word.startswith("--"):
        names = (n[2:] for option in options_of(command) for n in option.names if n[:2] == "--")
        close = near(name.partition("=")[0], names)
        return f" (did you mean --{close[0]}?)" if close else ""
    is_variant = name.replace("_", "").replace("-", "").isalnum()
    return f" (a variant is written ~{name}, or after --)" if is_variant else ""


def _check_words(command: Command, words: Sequence[str]) -> None:
    """Check the number of words of a command by the table. Raises ValueError."""
    if command.name != COMPLETE and not all(words):
        raise ValueError("a word of the query is empty")
    most = command.most if command.words else 0
    most = len(words) if most is None else most
    if not command.least <= len(words) <= most:
        first = words[most] if len(words) > most else ""
        fault = command.wrong_count.format(count=len(words), first=first)
        raise ValueError(f"{command.name} {fault}")
