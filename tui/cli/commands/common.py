"""Parse queries, load catalogs, find a spec and print lines for several commands."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from spackscope.model.analysis.session_fit import attach_fit, described_host, host_of
from spackscope.model.core.errors import QueryError, Unanswerable, Unreadable, reason
from spackscope.model.core.files import read_file
from spackscope.model.core.frozen import replace
from spackscope.model.core.records import HASH_LENGTH, Problem
from spackscope.model.core.redaction import without_secrets
from spackscope.model.core.text import cell_width, clean, counted, shorten
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.load import REBUILT, load
from spackscope.model.index.view import View
from spackscope.model.query.ast import Query, join_words
from spackscope.model.query.parser import parse
from spackscope.model.report.report import Line, Style, aligned, text_of
from spackscope.model.report.sources import stale_copies
from spackscope.model.sources.session import Session
from spackscope.tui.cli.arguments import Options
from spackscope.tui.cli.progress import BuildProgress
from spackscope.tui.process import stdio
from spackscope.tui.process.exit_codes import ExitCode, Leave
from spackscope.tui.settings import COMMAND_LINE, Origin

MAX_PRINTED = 20
"""Problems that are printed by commands other than `index`."""

LISTED_BY_INDEX = "; `spackscope index` lists all"

_MAX_QUERY_LENGTH = 500
"""Characters of a query that is printed with a caret under its error."""

_MAX_LABEL = 60
"""Cells of what would match instead of a query without a match."""

_MAX_CANDIDATES = 20
_HASH_PREFIX = rf"/?[a-z2-7]{{1,{HASH_LENGTH}}}"


_COLOURS: dict[Style, int] = {
    "bold": 1, "dim": 2, "error": 31, "good": 32, "differs": 33, "virtual": 35, "link": 36
}  # fmt: skip
"""The codes of the styles."""


def parse_query(words: Sequence[str], session: Session) -> Query:
    """Parse the words of a query, which may name queries of the session.

    Raises Leave, with a caret under the error.
    """
    text = join_words(words)
    _check_secrets("the query", text)
    for word in words:
        if os.path.isfile(word) and "." in word:
            import shlex

            name = clean(word)
            raise Leave(ExitCode.USAGE, f"{name} is a file: write {shlex.quote(f'./{name}')}")
    try:
        return parse(text, named=session.named_queries)
    except QueryError as error:
        raise _with_caret("the query has an error", text, error) from None


def check_host(session: Session, origin: Origin = COMMAND_LINE) -> None:
    """Check the description of the host, if there is one. Raises Leave, with a caret."""
    text = described_host(session)
    _check_secrets("the host", text)
    try:
        if text:
            host_of(session)
    except QueryError as error:
        place = "" if origin == COMMAND_LINE else f"{origin}: "
        raise _with_caret(f"{place}{error}", text, error) from None


def _check_secrets(what: str, text: str) -> None:
    """Raise Leave where a text has a URL with a secret, such as a source without its -f.

    Messages quote conditions, and a part of a URL does not look like one any more.
    """
    if without_secrets(text) != text:
        raise Leave(ExitCode.USAGE, f"{what} has a URL with a user or password")


def _with_caret(sentence: str, text: str, error: QueryError) -> Leave:
    """Return the exception that shows an error in a text; the sentence may say what is wrong."""
    reason = "" if str(error) in sentence else f" {error}"
    if len(text) > _MAX_QUERY_LENGTH:
        return Leave(ExitCode.USAGE, str(error))
    indent = " " * cell_width(clean(text[: error.offset]))
    return Leave(ExitCode.USAGE, sentence, f"  {clean(text)}", f"  {indent}^{reason}")


@contextlib.contextmanager
def loaded(
    options: Options, session: Session, *groups: Sequence[str]
) -> Iterator[Sequence[Catalog]]:
    """Load a catalog for each group of sources, and print problems of its sources to stderr.

    Raises Leave, also for what they cannot answer in the context.
    """
    try:
        yield load_catalogs(options, session, groups)
    except Unanswerable as error:
        raise Leave(ExitCode.USAGE, str(error)) from None


def load_catalogs(
    options: Options, session: Session, groups: Iterable[Sequence[str]]
) -> Sequence[Catalog]:
    """Load a catalog for each group of sources, and print problems of its sources to stderr.

    Raises SourceError, Cancelled.
    """
    catalogs = []
    for sources in groups:
        catalogs.append(catalog := load_catalog(options, sources, session))
        if catalog.was_damaged:
            stdio.print_message(REBUILT)
        if catalog.notice:
            stdio.print_message(catalog.notice)
        for sentence in stale_copies(catalog.sources, time.time()):
            stdio.print_message(sentence)
        limit = None if options.command == "index" else MAX_PRINTED
        print_problems(catalog.problems, limit, LISTED_BY_INDEX)
    return catalogs


def load_catalog(options: Options, sources: Sequence[str], session: Session) -> Catalog:
    """Load a catalog with its progress on stderr. Raises SourceError."""
    with build_progress(options) as progress:
        catalog = load(
            sources,
            replace(session, on_progress=progress),
            rebuild=options.rebuild,
            keep=options.command == "index",
        )
    return attach_fit(catalog, session)


def build_progress(options: Options) -> contextlib.closing[BuildProgress]:
    """Return what shows progress on stderr, if that is a terminal, until it is closed."""
    return contextlib.closing(new_progress(options))


def new_progress(options: Options) -> BuildProgress:
    """Return what shows progress on stderr, if that is a terminal; it is to be closed."""
    is_visible = stdio.is_terminal(sys.stderr)
    return BuildProgress(visible=is_visible, colour=not options.no_color)


def print_problems(problems: Sequence[object], limit: int | None, hint: str = "") -> None:
    """Print some problems to stderr, and how many there are beyond a limit, with a hint."""
    for problem in problems[:limit]:
        stdio.print_message(str(problem))
    if more := len(problems) - len(problems[:limit]):
        stdio.print_message(f"and {counted(more, 'more problem')}{hint}")


def read_hashes(path: str, shown: str) -> tuple[list[str], int] | None:
    """Read the hashes of a list, and the number of lines without one, which are printed.

    None if the file is a document. Raises Leave, with the file as it is `shown`.
    """
    # Few commands take a list.
    from spackscope.model.readers.formats import is_hash_list, read_hash_list

    try:
        data = read_file(path)
        items = list(read_hash_list(data, origin=shown)) if is_hash_list(data) else None
    except (OSError, Unreadable) as error:
        raise Leave(ExitCode.UNREADABLE, f"{shown} {reason(error)}") from None
    if items is None:
        return None
    problems = [item for item in items if isinstance(item, Problem)]
    print_problems(problems, MAX_PRINTED)
    return [item for item in items if isinstance(item, str)], len(problems)


def terminal_width() -> int | None:
    """Return the width of the terminal on stdout; None if it is not one."""
    return stdio.width() if stdio.is_terminal(sys.stdout) else None


def print_lines(lines: Iterable[Line], options: Options, session: Session) -> None:
    """Print lines, in the sixteen colours of the terminal if it has them."""
    has_colours = not options.no_color and stdio.supports_colour(session.environ)
    codes = {style: f"\x1b[{code}m" for style, code in _COLOURS.items()} if has_colours else {}
    for line in lines:
        parts = [
            f"{codes[style]}{text}\x1b[0m" if style in codes and text else text
            for text, style in line
        ]
        stdio.print_line("".join(parts))


def no_match(catalog: Catalog, query: Query, sentence: str = "") -> Leave:
    """Return the exception that ends a command without a match; it names queries that match.

    `sentence` comes before the reason.
    """
    # What most commands do not need would be a tenth of their start.
    from spackscope.model.assist.advice import explain_no_match, relaxations

    relaxed = [each for each in relaxations(catalog, query) if each.query]
    rows = [(shorten(each.label, _MAX_LABEL), f"{each.count:,}") for each in relaxed]
    lines = (f"  {text_of(line)}" for line in aligned(rows))
    reason = ". ".join(filter(None, [sentence, explain_no_match(catalog, query)]))
    return Leave(no_match_code(catalog), reason, *lines)


def no_match_code(catalog: Catalog) -> ExitCode:
    """Return the exit code for no match: another one if a source cannot be read."""
    failed = any(state.failure for state in catalog.sources)
    return ExitCode.UNREADABLE if failed else ExitCode.NOTHING


class SpecArgument:
    """A spec as a user names it: a hash prefix, or a query that only one hash matches.

    Raises Leave, with a caret under the error, where the query has one.

        hash_ = SpecArgument(["hdf5", "+mpi", "os=rocky9"], session).find(catalog)
    """

    def __init__(self, words: Sequence[str], session: Session) -> None:
        self._prefix = hash_prefix(words)
        is_hash = self._prefix.startswith("/")
        self._query = Query() if is_hash else parse_query(words, session)

    def find(self, catalog: Catalog) -> str:
        """Return the only hash that it names.

        Raises Leave where there is none, or with candidates where there are several.
        """
        prefix, query = self._prefix.removeprefix("/"), self._query
        limit = _MAX_CANDIDATES + 1
        hashes = catalog.hashes.first(prefix, limit=limit) if prefix else []
        several, none = f"Several hashes start with {prefix}:", f"No hash starts with {prefix}"
        if query and (not hashes or prefix in catalog.texts("package")):
            specs = catalog.records(catalog.listing(View(query)).ids)
            matches = list(islice(dict.fromkeys(spec.hash for spec in specs), limit))
            if not matches:
                raise no_match(catalog, query, none if prefix else "")
            hashes, several = matches, "Several specs match, give the hash of one:"
        if not hashes:
            raise Leave(no_match_code(catalog), none)
        if len(hashes) == 1:
            return hashes[0]
        candidates = [catalog.by_hash(hash_)[0].spec for hash_ in hashes[:_MAX_CANDIDATES]]
        # Most commands that are given a spec name one.
        from spackscope.model.report.spec_list import spec_rows

        lines = [several, *(f"  {text_of(line)}" for line in aligned(spec_rows(candidates)))]
        if len(hashes) > _MAX_CANDIDATES:
            lines.append("  and more")
        raise Leave(ExitCode.USAGE, *lines)


def hash_prefix(words: Sequence[str]) -> str:
    """Return the hash prefix that the words may be, or "".

    A prefix after a `/` keeps it, and cannot be anything else.
    """
    word = words[0].strip().lower() if len(words) == 1 else ""
    return word if re.fullmatch(_HASH_PREFIX, word) else ""
