"""The command `complete`, which completion scripts call: print what a word can become.

It is called as one of these, with an empty word after a blank:

    spackscope complete bash -- 'spackscope find hdf5 os=ub' "$COMP_WORDBREAKS"
    spackscope complete zsh -- find hdf5 os=ub
    spackscope complete fish -- find hdf5 os=ub

The first line is `spackscope`, and `files` where paths fit too, which zsh lists by itself, and
`nospace` where more has to follow. Then each line has one choice: for bash the text to insert; for
zsh `+`, or `-` where more has to follow, the word, a tab and a note; for fish the same without
the sign.

What a word is follows from the words before it and the table of commands: an option, its value,
or a word of the command. What it can become is asked of the index at hand; nothing is built, and
neither the network nor the sources are asked. A line of bash is split at the cursor as bash does.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from spackscope.model.analysis.frequency import COUNTABLE, axis_names
from spackscope.model.analysis.session_fit import attach_fit
from spackscope.model.assist.answers import MAX_CHOICES, Completion, bounded
from spackscope.model.assist.completion import complete_word, hashes_with_prefix
from spackscope.model.assist.paths import complete_path
from spackscope.model.core.errors import SourceError, SpackscopeError
from spackscope.model.core.frozen import Frozen, field, replace
from spackscope.model.core.redaction import shown_url
from spackscope.model.core.text import is_clean
from spackscope.model.index.by_host import HOST
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.load import load, open_cached, open_cached_part
from spackscope.model.query.ast import join_words
from spackscope.model.sources.resolve import environment_names, resolve_sources
from spackscope.model.sources.session import Session
from spackscope.model.sources.source_name import PREFIX, PUBLIC, SAMPLES
from spackscope.tui.cli.arguments import (
    Options,
    options_of,
    split_command,
    split_options,
    split_sources,
)
from spackscope.tui.cli.command_table import (
    BROWSE,
    COMMANDS,
    LISTED,
    QUERY,
    WITH_FILES,
    WITH_HELP,
    Option,
    WordKind,
)
from spackscope.tui.cli.commands.completion import SHELLS
from spackscope.tui.process import stdio
from spackscope.tui.process.exit_codes import ExitCode, Leave
from spackscope.tui.settings import Settings, read_settings

_ONE_WORD = ("environment", "topic", "manual", "shell")
"""What a command has one word of."""

_PATIENCE = 3.0
"""Seconds after which nothing is offered rather than later."""

_MIN_HASH = 2
"""Characters from which a word may be the prefix of a hash."""


_HOST_KEYS = ("target", "os", "platform", "glibc", "musl", "libc")
_SCHEMES = ("https://", "http://", "file://", "s3://", "gs://", "oci://")


class Place(Frozen):
    """What the word at the cursor is, and what comes before it on the command line.

    `text` is the part of the word to complete, and `head` what is before it, such as `--from=`.
    `words` are those of the query before it. `may_be_command` where no command was named yet.
    `fields` has the values of the fields that the options before it set.
    """

    kind: WordKind
    text: str
    head: str = ""
    command: str = BROWSE
    words: tuple[str, ...] = ()
    may_be_command: bool = False
    fields: Mapping[str, Any] = field(default_factory=dict)


class Answer(Frozen):
    """What a word can become, and whether it can become the path of a file as well."""

    choices: tuple[Completion, ...] = ()
    with_files: bool = False


def run(options: Options, environ: Mapping[str, str]) -> ExitCode:
    """Print the choices for a shell. Raises Leave where the command line is none of the above."""
    shell, *words = options.words or ("",)
    if shell not in SHELLS or not words:
        sentence = "complete is for completion scripts; a package of this name comes after --"
        raise Leave(ExitCode.USAGE, f"{sentence}; see `spackscope completion --help`")
    if shell == "bash":
        lines = _for_bash(words[0], words[1] if len(words) > 1 else WORD_BREAKS, environ)
    else:
        lines = _for_words(shell, words[:-1], words[-1], environ)
    stdio.print_line("\n".join(lines))
    return ExitCode.FOUND


def _for_bash(line: str, breaks: str, environ: Mapping[str, str]) -> list[str]:
    words = split_line(line, breaks)
    if words.is_command:
        return [_first_line(with_files=False, nospace=True)]
    place = find_place(words.before, words.current)
    found = Answer(with_files=True)
    if not words.is_redirection:
        found = answer(place, environ)
    choices = [*found.choices, *(_paths(place, environ) if found.with_files else ())]
    if words.quote and len(choices) == 1 and not choices[0].is_whole:
        # Bash would close the quote after the only choice.
        choices.append(Completion(f"{choices[0].text} ", is_whole=False))
    first = _first_line(with_files=False, nospace=not all(choice.is_whole for choice in choices))
    return [first, *(words.insertion(choice.text) for choice in choices)]


def _for_words(
    shell: str, before: Sequence[str], current: str, environ: Mapping[str, str]
) -> list[str]:
    if shell == "fish":
        current, _ = unquoted(current)
    place = find_place(before, current)
    found = answer(place, environ)
    first = _first_line(with_files=found.with_files, nospace=False)
    if shell == "zsh":
        signs = {True: "+", False: "-"}
        return [first, *(f"{signs[c.is_whole]}{c.text}\t{c.note or ''}" for c in found.choices)]
    choices = [*found.choices, *(_paths(place, environ) if found.with_files else ())]
    return [first, *(f"{choice.text}\t{choice.note or ''}" for choice in choices)]


def _first_line(*, with_files: bool, nospace: bool) -> str:
    return "spackscope" + " files" * with_files + " nospace" * nospace


def find_place(before: Sequence[str], current: str) -> Place:
    """Return what the word after some words of a command line is. Never raises.

    find_place(["find", "-f"], "spack:").kind  # source
    """
    is_after_dashes = "--" in before
    command, words, after = split_command(before)
    options = options_of(command)
    names = {name: option for option in options for name in option.names}
    pending = None if is_after_dashes else _pending(words, names)
    if pending is not None:
        words.pop()
    try:
        fields, rest = split_options(words, options)
    except ValueError:
        fields, rest = {}, words
    rest = [word for word in rest if not word.startswith("-")]
    may_be_command = command.name == BROWSE and not (rest or after or is_after_dashes)
    fields["sources"], rest = split_sources(command, rest, fields.get("sources", ()))
    query = (*rest, *after)

    def place(kind: WordKind, text: str, head: str = "", *, may_be_command: bool = False) -> Place:
        return Place(kind, text, head, command.name, query, may_be_command, fields)

    if pending is not None:
        return place(pending.takes, current)
    if not is_after_dashes and current.startswith("-"):
        option, head = _with_value(current, names)
        if option is None:
            return place("option", current)
        return place(option.takes, current[len(head) :], head)
    is_over = bool(query) and command.words in _ONE_WORD
    return place("" if is_over else command.words, current, may_be_command=may_be_command)


def _pending(words: Sequence[str], names: Mapping[str, Option]) -> Option | None:
    """Return the option at the end of some words whose value comes next."""
    pending = None
    for word in words:
        option = names.get(word) if pending is None else None
        pending = option if option is not None and option.has_value else None
    return pending


def _with_value(word: str, names: Mapping[str, Option]) -> tuple[Option | None, str]:
    """Return the option whose value is in the same word, and what is before the value."""
    name, is_joined, _ = word.partition("=")
    head = f"{name}=" if is_joined else ""
    if name not in names and len(word) > 2 and word[:2] in names:
        name = head = word[:2]
    option = names.get(name) if head else None
    return (option, head) if option is not None and option.has_value else (None, "")


def answer(place: Place, environ: Mapping[str, str]) -> Answer:
    """Return what the word of a place can become; all choices begin with the whole word.

    Where a command can be and nothing is typed, only commands are offered. Nothing is offered
    where that fails.
    """
    answers = _Answers(place, environ)
    try:
        found = [*answers.commands()]
        if place.text or not place.may_be_command:
            found += answers.of(place.kind)
    except SpackscopeError:
        return Answer()
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
    return Answer(tuple(bounded(choices)), with_files)


class _Answers:
    """The answers to one place."""

    def __init__(self, place: Place, environ: Mapping[str, str]) -> None:
        self._place, self._environ = place, environ
        self._deadline = time.monotonic() + _PATIENCE

    def of(self, kind: WordKind) -> Iterable[Completion]:
        """Return the choices of a kind of word."""
        kinds: dict[WordKind, Callable[[], Iterable[Completion]]] = {
            "query": lambda: self._word_of(join_words(self._place.words)),
            "spec": self._spec,
            "spec or source": self._spec_or_source,
            "spec or environment": self._spec,
            "query or file": lambda: self._word_of(join_words(self._place.words)),
            "config": lambda: [Completion("none")],
            "number": lambda: (),
            "source": self._sources,
            "environment": self._environments,
            "package": lambda: map(
                Completion, self._catalog.texts("package") if self._catalog else ()
            ),
            "axis": self._axes,
            "host": self._host,
            "topic": lambda: self._topics(WITH_HELP),
            "manual": lambda: self._topics(()),
            "shell": lambda: map(Completion, SHELLS),
            "option": self._options,
        }
        return kinds[kind]() if kind else ()

    def commands(self) -> Iterator[Completion]:
        """Yield the commands, where none was named."""
        for command in LISTED if self._place.may_be_command else ():
            yield Completion(command.name, note=command.summary)

    @cached_property
    def _settings(self) -> Settings:
        return read_settings(self._environ, {"host": str(self._place.fields.get("host", ""))})

    @cached_property
    def _session(self) -> Session:
        """The session that the command line would have."""
        return self._settings.session(
            self._environ, everything="dependency_only" in self._place.fields
        )

    @cached_property
    def _catalog(self) -> Catalog | None:
        catalog = self._index_at_hand()
        if catalog is not None and HOST in " ".join([*self._place.words, self._place.text]):
            return attach_fit(catalog, self._session)
        return catalog

    def _index_at_hand(self) -> Catalog | None:
        """Return the index of the sources of the command line, or of one of them, as it is.

        An index with dependency-only specs serves where one without is not there, and the other
        way round. Only the bundled sample is read where it has none, since it takes no longer.
        """
        place, session = self._place, self._session
        words = place.words if place.command == "doubles" else ()
        names = (*place.fields.get("sources", ()), *words)
        with contextlib.suppress(SourceError):
            sources = resolve_sources(
                [_expanded(name, self._environ) for name in names], session, self._settings.sources
            )
            if SAMPLES.keys() >= {*sources}:
                return load(sources, session)
            other = replace(session, include_dependency_only=not session.include_dependency_only)
            for opened in (open_cached, open_cached_part):
                for each in (session, other):
                    if (catalog := opened(sources, each)) is not None:
                        return catalog
        return None

    def _word_of(self, before: str) -> list[Completion]:
        def is_late() -> bool:
            return time.monotonic() > self._deadline

        named = self._session.named_queries
        return complete_word(
            self._catalog,
            before,
            self._place.text,
            named=named,
            should_stop=is_late,
        )

    def _spec(self, before: str | None = None) -> Iterator[Completion]:
        """Yield hashes and the words of a query."""
        before = join_words(self._place.words) if before is None else before
        typed = self._place.text
        if (
            self._catalog is not None
            and not before
            and typed.isalnum()
            and len(typed) >= _MIN_HASH
        ):
            yield from hashes_with_prefix(self._catalog, typed)
        yield from self._word_of(before)

    def _spec_or_source(self) -> Iterator[Completion]:
        yield from self._spec("")
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

    def _topics(self, commands: Iterable[str]) -> Iterator[Completion]:
        yield from map(Completion, sorted({*commands} - {BROWSE}))
        yield Completion(QUERY, note="the query language")

    def _options(self) -> Iterator[Completion]:
        for option in COMMANDS[self._place.command].options:
            # The first clause fits beside the name.
            note = re.split(r"[;:(]|\. | Default", option.sentence)[0].strip()
            for name in option.names:
                yield Completion(name, note=note)


def _paths(place: Place, environ: Mapping[str, str]) -> list[Completion]:
    """Return the paths that the word of a place can become."""
    found = complete_path(place.text, lambda word: _expanded(word, environ))
    return [replace(each, text=place.head + each.text) for each in found]


def _expanded(word: str, environ: Mapping[str, str]) -> str:
    """Return a word with the home directory and the variables that a shell would put there."""

    def value(match: re.Match[str]) -> str:
        return environ.get(match[1] or match[2], "")

    return re.sub(r"\$(?:(\w+)|\{(\w+)\})", value, os.path.expanduser(word))


_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=.*", re.DOTALL)
_IN_DOUBLE_QUOTES = '$`"\\'
_SPECIAL = re.compile(r"""[\s\\'"$`&|;<>()*?\[\]{}#!~]""")
_COMMAND = re.compile(r"(?:[^\\]|\\.)*?(?:`|\$\()", re.DOTALL)
"""A command whose output a shell puts into double quotes."""
_PIECE = r"""[^ \t\n\\'"|&;()<>]|\\(.?)|'([^']*)('?)|"((?:[^"\\]|\\.?)*)("?)"""
"""A character of a word of bash, or a quoted part of it; only the last quote may be open."""
_PIECES = re.compile(_PIECE, re.DOTALL)
_TOKEN = re.compile(
    rf"(?P<redirection>(?:&|[0-9]+)?[<>])|(?P<separator>[|&;()])|(?P<word>(?!\\\n)(?:{_PIECE})+)",
    re.DOTALL,
)
"""What a line of bash consists of, besides blanks."""
_DOLLAR_AT_END = re.compile(r"(?<!\\)(?:\\\\)*\$$")
_KEPT = "@$"
"""Word breaks that are part of the word after them: rl_special_prefixes of bash."""

WORD_BREAKS = " \t\n\"'@><=;|&(:"
"""What readline ends words at, unless COMP_WORDBREAKS says otherwise."""


class ShellWords(Frozen):
    """The words of a command line before the cursor, without quotes.

    `before` are those after the name of the program, and `current` is the one at the cursor,
    empty after a blank. `quote` is the quote that is open there. `replaced` is the text, as it is
    typed, in place of which a shell inserts a completion; in bash it is less than the word after a
    word break. `is_redirection` where the word is the target of one, and `is_command` where a
    command is typed in the quotes, whose words are not known.
    """

    before: tuple[str, ...]
    current: str
    quote: str = ""
    replaced: str = ""
    is_redirection: bool = False
    is_command: bool = False

    def insertion(self, text: str) -> str:
        """Return what bash inserts in place of `replaced` for a text that begins with the word."""
        rest = text[len(self.current) :]
        if self.quote == '"' and rest.startswith("(") and _DOLLAR_AT_END.search(self.replaced):
            # Bash would run a name that begins with $( as a command.
            return f"{self.replaced[:-1]}\\${_quoted(rest, self.quote)}"
        return self.replaced + _quoted(rest, self.quote)


def split_line(line: str, breaks: str = WORD_BREAKS) -> ShellWords:
    """Split a command line of bash that ends at the cursor; `breaks` are its word breaks.

    Only the last command of the line counts, without assignments before it.

        split_line("spackscope find 'hdf5 os=ub").current  # hdf5 os=ub
    """
    words: list[str] = []
    is_redirection, typed = False, ""
    for token in _TOKEN.finditer(line):
        if token["word"] and token.end() == len(line):
            typed = token["word"]
        elif token["separator"]:
            words = []
        elif token["word"] and not is_redirection:
            words.append(_PIECES.sub(_bare, token["word"]))
        is_redirection = bool(token["redirection"]) or (is_redirection and bool(typed))
    while words and _ASSIGNMENT.fullmatch(words[0]):
        words.pop(0)
    quote = in_quote = ""
    for piece in _PIECES.finditer(typed):
        if piece[2] is not None and not piece[3]:
            quote, in_quote = "'", piece[2]
        elif piece[4] is not None and not piece[5]:
            quote, in_quote = '"', piece[4]
    # What readline ends words at does not count in quotes, nor do the quotes.
    bare = _PIECES.sub(
        lambda piece: piece[0] if len(piece[0]) == 1 else "x" * len(piece[0]), typed
    )
    cut = max(
        (bare.rfind(each) + (each not in _KEPT) for each in breaks if each in bare), default=0
    )
    return ShellWords(
        tuple(words[1:]),
        _PIECES.sub(_bare, typed),
        quote,
        in_quote if quote else typed[cut:],
        is_redirection,
        quote == '"' and _COMMAND.match(in_quote) is not None,
    )


def _bare(piece: re.Match[str]) -> str:
    """Return a part of a word without its quotes, or a character that is escaped."""
    escaped, single, _, double, _ = piece.groups()
    if double is not None:
        return re.sub(r'\\([$`"\\]|\Z)', r"\1", double)
    if escaped is not None:
        # A line that goes on after its end.
        return "" if escaped == "\n" else escaped
    return piece[0] if single is None else single


def unquoted(word: str) -> tuple[str, str]:
    """Return a word without its quotes, and the quote that is open at its end, if any."""
    words = split_line(f"program {word}")
    return words.current, words.quote


def _quoted(text: str, quote: str) -> str:
    """Return a text as it is typed in bash inside a quote, or without one."""
    if quote == "'":
        return text.replace("'", "'\\''")
    if quote == '"':
        return "".join(f"\\{c}" if c in _IN_DOUBLE_QUOTES else c for c in text)
    return _SPECIAL.sub(r"\\\g<0>", text)
