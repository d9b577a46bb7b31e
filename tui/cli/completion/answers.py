"""Answer what the word at the cursor of a command line can become."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property

from spackscope.model.assist.answers import MAX_CHOICES, Choice, bounded
from spackscope.model.core.errors import SpackscopeError
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.redaction import shown_url
from spackscope.model.core.text import is_clean
from spackscope.model.index.by_host import HOST
from spackscope.model.index.catalog import Catalog
from spackscope.model.query.ast import join_words
from spackscope.model.sources.session import Session
from spackscope.model.sources.source_name import PREFIX, PUBLIC
from spackscope.tui.cli.completion.index_at_hand import index_at_hand, session_of
from spackscope.tui.cli.completion.places import Kind, Place
from spackscope.tui.cli.help import BROWSE, COMMANDS, HELP
from spackscope.tui.settings import Settings, read_settings

_PATIENCE = 3.0
"""Seconds after which nothing is offered rather than later."""

_MIN_HASH = 2
"""Characters from which a word may be the prefix of a hash."""

_HOST_KEYS = ("target", "os", "platform", "glibc", "musl", "libc")
_SCHEMES = ("https://", "http://", "file://", "s3://", "gs://", "oci://")


class Answer(Frozen):
    """What a word can become, and whether it can become the path of a file as well."""

    choices: tuple[Choice, ...] = ()
    with_files: bool = False


def answer(place: Place, environ: Mapping[str, str], *, with_commands: bool = True) -> Answer:
    """Return what the word of a place can become; all choices begin with the whole word.

    Neither the network nor the sources are asked. Where a command can be and nothing is typed,
    only commands are offered; they are left out without `with_commands`, for a shell that knows
    them. Nothing is offered where that fails.
    """
    answers = _Answers(place, environ)
    try:
        found = [*answers.commands()] if with_commands else []
        if place.text or not place.may_be_command:
            found += answers.of(place.kind)
    except SpackscopeError:
        return Answer()
    choices = [
        Choice(place.head + choice.text, choice.note, choice.is_whole)
        for choice in found
        if choice.text.startswith(place.text) and is_clean(choice.text)
    ]
    with_files = place.kind in ("source", "environment") or (
        place.kind == "spec or source" and not place.fields.get("sources")
    )
    return Answer(tuple(bounded(choices)), with_files)


class _Answers:
    """The answers to one place."""

    def __init__(self, place: Place, environ: Mapping[str, str]) -> None:
        self._place, self._environ = place, environ
        self._deadline = time.monotonic() + _PATIENCE

    def of(self, kind: Kind) -> Iterable[Choice]:
        """Return the choices of a kind of word."""
        kinds: dict[Kind, Callable[[], Iterable[Choice]]] = {
            "query": self._query,
            "spec": self._spec,
            "spec or source": self._spec_or_source,
            "source": self._sources,
            "environment": self._environments,
            "package": self._packages,
            "axis": self._axes,
            "host": self._host,
            "topic": lambda: self._topics(with_commands=True),
            "manual": lambda: self._topics(with_commands=False),
            "shell": self._shells,
            "option": self._options,
        }
        return kinds[kind]() if kind else ()

    def commands(self) -> Iterator[Choice]:
        """Yield the commands, where none was named."""
        if self._place.may_be_command:
            from spackscope.tui.cli.option_help import command_sentences

            for name, sentence in {HELP: "print help", **command_sentences()}.items():
                yield Choice(name, sentence)

    @cached_property
    def _settings(self) -> Settings:
        return read_settings(self._environ)

    @cached_property
    def _session(self) -> Session:
        return session_of(self._place, self._environ, self._settings)

    @cached_property
    def _catalog(self) -> Catalog | None:
        catalog = index_at_hand(self._place, self._session, self._settings)
        if catalog is not None and HOST in " ".join([*self._place.words, self._place.text]):
            # What detects a host takes long to import.
            from spackscope.model.analysis.session_fit import attach_fit

            return attach_fit(catalog, self._session)
        return catalog

    def _query(self) -> list[Choice]:
        return self._word_of(join_words(self._place.words))

    def _word_of(self, before: str) -> list[Choice]:
        from spackscope.model.assist.completion import complete_word

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

    def _spec(self, before: str | None = None) -> Iterator[Choice]:
        """Yield hashes and the words of a query."""
        before = join_words(self._place.words) if before is None else before
        typed = self._place.text
        if (
            self._catalog is not None
            and not before
            and typed.isalnum()
            and len(typed) >= _MIN_HASH
        ):
            from spackscope.model.assist.completion import hashes_with_prefix

            yield from hashes_with_prefix(self._catalog, typed)
        yield from self._word_of(before)

    def _spec_or_source(self) -> Iterator[Choice]:
        yield from self._spec("")
        if self._place.text and not self._place.fields.get("sources"):
            yield from self._sources()

    def _sources(self) -> Iterator[Choice]:
        yield Choice(PUBLIC, "the public cache")
        yield Choice(f"{PUBLIC}:", "one tag of it", is_whole=False)
        spack = self._session.spack
        for mirror in spack.mirrors.values() if spack is not None else ():
            if mirror.binary and shown_url(mirror.name) == mirror.name:
                yield Choice(f"{PREFIX}{mirror.name}", "a mirror of your Spack")
        for scheme in _SCHEMES:
            yield Choice(scheme, "a URL", is_whole=False)

    def _environments(self) -> Iterator[Choice]:
        from spackscope.model.sources.resolve import environment_names

        for name in environment_names(self._session):
            yield Choice(name, "an environment of your Spack")

    def _packages(self) -> Iterator[Choice]:
        if self._catalog is not None:
            for name in self._catalog.texts("package"):
                yield Choice(name)

    def _axes(self) -> Iterator[Choice]:
        from spackscope.model.analysis.frequency import COUNTABLE, axis_names

        names = axis_names(self._catalog) if self._catalog is not None else [*COUNTABLE]
        # Among hundreds of variants nobody would find the columns.
        for name in names if self._place.text or len(names) <= MAX_CHOICES else COUNTABLE:
            yield Choice(name, "column" if name in COUNTABLE else "variant")

    def _host(self) -> Iterator[Choice]:
        """Yield the keys of a description of a host, and the values that specs have."""
        head, blank, word = self._place.text.rpartition(" ")
        key, is_value, _ = word.partition("=")
        if not is_value:
            for each in _HOST_KEYS:
                yield Choice(f"{head}{blank}{each}=", is_whole=False)
        elif self._catalog is not None and key in ("target", "os", "platform"):
            for value in sorted({*self._catalog.texts(key)}):
                yield Choice(f"{head}{blank}{key}={value}")

    def _shells(self) -> Iterator[Choice]:
        from spackscope.tui.cli.completion.shells import SHELLS

        return map(Choice, SHELLS)

    def _topics(self, *, with_commands: bool) -> Iterator[Choice]:
        from spackscope.tui.cli.help_topics import QUERY

        yield from map(Choice, sorted({*COMMANDS} - {BROWSE}) if with_commands else ())
        yield Choice(QUERY, "the query language")

    def _options(self) -> Iterator[Choice]:
        from spackscope.tui.cli.option_help import option_help

        for option in option_help(self._place.command):
            for name in option.names:
                yield Choice(name, option.sentence)
