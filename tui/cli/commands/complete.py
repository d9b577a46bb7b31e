"""The command `complete`, which completion scripts call: print the completions of a word.

Scripts call it in one of these ways, with an empty word after a blank. Bash passes the command up
to the cursor, and the part of its last word that a choice replaces:

    spackscope complete bash -- 'spackscope find hdf5 os=ub' ub
    spackscope complete zsh -- find hdf5 os=ub
    spackscope complete fish -- find hdf5 os=ub

The first line is `spackscope`, and `files` where paths fit too, which zsh lists by itself, and
`nospace` where more has to follow. Then each line has one choice: for bash the text to insert; for
zsh `+`, or `-` where more has to follow, the word, a tab and a note; for fish the same without
the sign.

The words before a word and the entry of the command decide whether it is an option, its value, or
a word of the command. Completions come from the existing index; nothing is built, and neither the
network nor the sources are asked.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from spackscope.model.analysis.session_fit import attach_fit
from spackscope.model.assist.completion import (
    COUNTABLE,
    axis_names,
    complete_word,
    hashes_with_prefix,
)
from spackscope.model.assist.offers import MAX_CHOICES, Completion, bounded, complete_path
from spackscope.model.core.commands import (
    BROWSE,
    COMPLETE,
    HELP_OPTION,
    QUERY,
    WITH_FILES,
    Command,
    WordKind,
)
from spackscope.model.core.errors import SourceError, SpackscopeError
from spackscope.model.core.frozen import Frozen, field, replace
from spackscope.model.core.redaction import shown_url
from spackscope.model.core.tasks import cancelled_when
from spackscope.model.core.text import is_clean
from spackscope.model.index.by_host import HOST
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.load import load, open_cached, open_cached_part
from spackscope.model.query.ast import join_words
from spackscope.model.sources.resolve import environment_names, resolve_sources
from spackscope.model.sources.source_name import PREFIX, PUBLIC, SAMPLE
from spackscope.tui.cli.arguments import (
    Options,
    options_of,
    split_command,
    split_options,
    split_sources,
)
from spackscope.tui.cli.command_table import COMMANDS, with_help
from spackscope.tui.cli.commands.completion import SHELLS
from spackscope.tui.cli.shell_words import shell_quoted, split_line
from spackscope.tui.process import ExitCode, Leave, stdio
from spackscope.tui.settings import read_settings

COMMAND = Command(COMPLETE, "", options=(HELP_OPTION,), words="shell", reads_sources=False)


_ONE_WORD = ("topic", "shell")
"""The kinds of words of which a command has one."""

_PATIENCE = 3.0
"""Seconds after which nothing is offered rather than later."""

_MIN_HASH = 2
"""Characters from which a word may be the prefix of a hash."""

_COMMAND = r"`|\$\(|\$$"
"""Text that runs a command in double quotes, or would with a `(` after it."""

_CURSOR = " \0"
"""Marks the word at the cursor among others; with a blank it may be the value of an option."""

_HOST_KEYS = ("target", "os", "platform", "glibc", "musl", "libc")
_SCHEMES = ("https://", "http://", "file://", "s3://", "gs://", "oci://")


class Place(Frozen):
    """The word at the cursor with its kind, and the command line before it.

    `text` is the part of the word to complete, and `head` the part before it, such as `--from=`.
    `words` are the words of the query before it. `may_be_command` is True where no command was
    named yet. `fields` has the values of the fields that the options before it set.
    """

    kind: WordKind
    text: str
    head: str = ""
    command: str = BROWSE
    words: tuple[str, ...] = ()
    may_be_command: bool = False
    fields: Mapping[str, Any] = field(default_factory=dict)


def run(options: Options, environ: Mapping[str, str]) -> ExitCode:
    """Print the choices for a shell. Raises Leave where the command line is none of the above."""
    shell, *words = options.words or ("",)
    if shell not in SHELLS or len(words) < (2 if shell == "bash" else 1):
        sentence = "complete is for completion scripts; a package of this name comes after --"
        raise Leave(ExitCode.USAGE, f"{sentence}; see `spackscope completion --help`")
    if shell == "bash":
        lines = _for_bash(words[0], words[1], environ)
    else:
        lines = _for_words(shell, words[:-1], words[-1], environ)
    stdio.print_line("\n".join(lines))
    return ExitCode.FOUND


def _for_bash(line: str, replaced: str, environ: Mapping[str, str]) -> list[str]:
    before, current, quote, is_target = split_line(line)
    if quote == '"' and re.search(_COMMAND, replaced):
        return ["spackscope nospace"]
    place = find_place(before, current)
    choices, with_files = ([], True) if is_target else choices_of(place, environ)
    choices += _paths(place, environ) if with_files else []
    if quote and len(choices) == 1 and not choices[0].is_whole:
        # Bash would close the quote after the only choice.
        choices.append(Completion(f"{choices[0].text} ", is_whole=False))
    is_whole = all(choice.is_whole for choice in choices)
    texts = [replaced + shell_quoted(choice.text[len(current) :], quote) for choice in choices]
    return ["spackscope" if is_whole else "spackscope nospace", *texts]


def _for_words(
    shell: str, before: Sequence[str], current: str, environ: Mapping[str, str]
) -> list[str]:
    if shell == "fish":
        _, current, *_ = split_line(f"program {current}")
    place = find_place(before, current)
    choices, with_files = choices_of(place, environ)
    choices += _paths(place, environ) if with_files and shell == "fish" else []
    signs = {True: "+", False: "-"} if shell == "zsh" else {True: "", False: ""}
    lines = [f"{signs[each.is_whole]}{each.text}\t{each.note or ''}" for each in choices]
    return ["spackscope files" if with_files else "spackscope", *lines]


def find_place(before: Sequence[str], current: str) -> Place:
    """Return the place of the word after some words of a command line. Never raises.

    find_place(["find", "-f"], "spack:").kind  # source
    """
    command, words, after = split_command(before)
    is_after_dashes = "--" in before
    options, kind, text = options_of(command), command.words, current
    words += [] if is_after_dashes else [current + _CURSOR]
    try:
        fields, rest = split_options(words, options)
    except ValueError:
        fields, rest = {}, words
    if not is_after_dashes and current.startswith("-"):
        kind = "option"
    for option in options if not is_after_dashes else ():
        value = fields.get(option.field, "") if option.has_value else ""
        *others, last = value if isinstance(value, list) else [value]
        if last.endswith(_CURSOR):
            kind, text = option.takes, last.removesuffix(_CURSOR)
            if others:
                fields[option.field] = others
            else:
                del fields[option.field]
    is_word = any(word.endswith(_CURSOR) for word in rest[-1:])
    rest = [word for word in rest if not word.endswith(_CURSOR) and not word.startswith("-")]
    may_be_command = command.name == BROWSE and is_word and not (rest or kind == "option")
    fields["sources"], rest = split_sources(command, rest, fields.get("sources", ()))
    query = (*rest, *after)
    if command.first_word and command.first_word not in fields and not query:
        # The first word is the value of an option.
        takes = (option.takes for option in options if option.field == command.first_word)
        kind = next(takes) if kind == command.words else kind
    if query and kind == command.words and command.words in _ONE_WORD:
        kind = ""
    head = current[: len(current) - len(text)]
    return Place(kind, text, head, command.name, query, may_be_command, fields)


def choices_of(place: Place, environ: Mapping[str, str]) -> tuple[list[Completion], bool]:
    """Return the choices for the word of a place, and whether it can become a path as well.

    All choices begin with the whole word. Where a command can be and nothing is typed, only
    commands are offered. After an error there are no choices.
    """
    found: list[Completion] = []
    if place.may_be_command:
        names = [name for name in COMMANDS if name.startswith(place.text)]
        names = [name for name in names if name not in (BROWSE, COMPLETE)]
        found += [Completion(name, note=COMMANDS[name].summary) for name in names]
    try:
        if place.text or not place.may_be_command:
            found += _Completer(place, environ).choices()
    except SpackscopeError:
        return [], False
    choices = [
        replace(choice, text=place.head + choice.text)
        for choice in found
        if choice.text.startswith(place.text) and is_clean(choice.text)
    ]
    # Where -f is given, the words of `diff` are no sources.
    is_spec = place.kind == "spec or source" and place.fields.get("sources")
    with_files = place.kind in WITH_FILES and not is_spec
    if place.kind in ("query", "spec"):
        with_files = bool(place.text) and ("/" in place.text or not choices)
    return bounded(choices), with_files


class _Completer:
    """The completion of one place, with the settings and sources that the line would have."""

    def __init__(self, place: Place, environ: Mapping[str, str]) -> None:
        self._place, self._environ = place, environ
        self._deadline = time.monotonic() + _PATIENCE
        self._settings = read_settings(environ, {"host": str(place.fields.get("host", ""))})
        dependency_only = "dependency_only" in place.fields
        self._session = self._settings.session(environ, dependency_only=dependency_only)

    def choices(self) -> Iterable[Completion]:
        """Return the choices; none for an unknown kind of word."""
        kinds: dict[WordKind, Callable[[], Iterable[Completion]]] = {
            "query": self._words,
            "spec": self._specs,
            "spec or environment": self._specs,
            "spec or source": self._specs_and_sources,
            "source": self._sources,
            "environment": self._environments,
            "package": lambda: map(
                Completion, self._catalog.texts("package") if self._catalog else ()
            ),
            "axis": self._axes,
            "host": self._host,
            "config": lambda: [Completion("none")],
            "topic": lambda: [
                *map(Completion, (name for name in with_help() if name != BROWSE)),
                Completion(QUERY, note="the query language"),
            ],
            "shell": lambda: map(Completion, SHELLS),
            "option": self._options,
        }
        return kinds[self._place.kind]() if self._place.kind in kinds else ()

    @cached_property
    def _catalog(self) -> Catalog | None:
        """The existing index of the sources of the command line, or of one of them.

        An index with dependency-only specs is used in place of a missing one without, and the
        other way round. Only the bundled sample is read if it has no index: it takes no longer.
        """
        place, session = self._place, self._session
        names = place.fields.get("sources", ())
        other = replace(session, include_dependency_only=not session.include_dependency_only)
        with contextlib.suppress(SourceError):
            sources = resolve_sources(
                [_expanded(name, self._environ) for name in names], session, self._settings.sources
            )
            catalog = load(sources, session) if sources == (SAMPLE,) else None
            for opened in (open_cached, open_cached_part):
                for each in (session, other):
                    catalog = catalog or opened(sources, each)
            is_of_host = HOST in " ".join([*place.words, place.text])
            # To detect a host takes long.
            return attach_fit(catalog, session) if catalog and is_of_host else catalog
        return None

    def _words(self) -> list[Completion]:
        # Each word of `diff` is a spec by itself.
        is_alone = self._place.kind == "spec or source"
        with cancelled_when(lambda: time.monotonic() > self._deadline):
            return complete_word(
                self._catalog,
                "" if is_alone else join_words(self._place.words),
                self._place.text,
            )

    def _specs(self) -> Iterator[Completion]:
        """Yield hashes and the words of a query."""
        typed, is_first = self._place.text, not self._place.words
        is_prefix = typed.isalnum() and len(typed) >= _MIN_HASH
        if is_prefix and (is_first or self._place.kind == "spec or source") and self._catalog:
            yield from hashes_with_prefix(self._catalog, typed)
        yield from self._words()

    def _specs_and_sources(self) -> Iterator[Completion]:
        yield from self._specs()
        if self._place.text and not self._place.fields.get("sources"):
            yield from self._sources()

    def _sources(self) -> Iterator[Completion]:
        yield Completion(PUBLIC, note="the public cache")
        yield Completion(f"{PUBLIC}:", note="one tag of it", is_whole=False)
        if self._place.text.startswith(f"{PUBLIC}:"):
            yield Completion(f"{PUBLIC}:releases/", note="its releases", is_whole=False)
            yield Completion(f"{PUBLIC}:uo/", note="its copy in Oregon", is_whole=False)
        spack = self._session.spack
        for mirror in spack.mirrors.values() if spack is not None else ():
            if mirror.binary and shown_url(mirror.name) == mirror.name:
                yield Completion(f"{PREFIX}{mirror.name}", note="a mirror of your Spack")
        for scheme in _SCHEMES:
            yield Completion(scheme, note="a URL", is_whole=False)

    def _environments(self) -> Iterator[Completion]:
        for name in environment_names(self._session):
            yield Completion(name, note="an environment of your Spack")

    def _axes(self) -> Iterator[Completion]:
        names = axis_names(self._catalog) if self._catalog is not None else [*COUNTABLE]
        # Among hundreds of variants nobody would find the columns.
        for name in names if self._place.text or len(names) <= MAX_CHOICES else COUNTABLE:
            yield Completion(name, note="column" if name in COUNTABLE else "variant")

    def _host(self) -> Iterator[Completion]:
        """Yield the keys of a description of a host, and the values that specs have."""
        head, blank, word = self._place.text.rpartition(" ")
        key, is_value, _ = word.partition("=")
        if not is_value:
            for each in _HOST_KEYS:
                yield Completion(f"{head}{blank}{each}=", is_whole=False)
        elif self._catalog is not None and key in ("target", "os", "platform"):
            for value in sorted({*self._catalog.texts(key)}):
                yield Completion(f"{head}{blank}{key}={value}")

    def _options(self) -> Iterator[Completion]:
        for option in COMMANDS[self._place.command].options:
            # The first clause fits beside the name.
            note = re.split(r"[;:(]|\. | Default", option.sentence)[0].strip()
            for name in option.names:
                yield Completion(name, note=note)


def _paths(place: Place, environ: Mapping[str, str]) -> list[Completion]:
    found = complete_path(place.text, lambda word: _expanded(word, environ))
    return [replace(each, text=place.head + each.text) for each in found]


def _expanded(word: str, environ: Mapping[str, str]) -> str:
    """Return a word with the home directory and variables expanded, as a shell does."""

    def value(match: re.Match[str]) -> str:
        return environ.get(match[1] or match[2], "")

    return re.sub(r"\$(?:(\w+)|\{(\w+)\})", value, os.path.expanduser(word))
