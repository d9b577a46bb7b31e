"""Parse queries, load catalogs and print lines for several commands."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from itertools import islice
from typing import TYPE_CHECKING

from spackscope.model.analysis.session_fit import attach_fit, described_host, host_of
from spackscope.model.core.columns import HOST_COLUMNS
from spackscope.model.core.errors import QueryError, Unanswerable
from spackscope.model.core.frozen import replace
from spackscope.model.core.redaction import without_secrets
from spackscope.model.core.text import aligned, cell_width, clean, counted, pad
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.load import REBUILT, load
from spackscope.model.query.ast import Query, join_words
from spackscope.model.query.parser import parse
from spackscope.model.report.sources import stale_copies
from spackscope.model.sources.session import Session
from spackscope.tui.cli.arguments import Options
from spackscope.tui.cli.progress import BuildProgress
from spackscope.tui.process import stdio
from spackscope.tui.process.exit_codes import ExitCode, Leave
from spackscope.tui.settings import COMMAND_LINE, Origin

if TYPE_CHECKING:
    from spackscope.model.report.report import Report
    from spackscope.tui.cli.colours import Colours

MAX_PRINTED = 20
"""Problems that are printed by commands other than `index`."""

_MAX_QUERY_LENGTH = 500
"""Characters of a query that is printed with a caret under its error."""

_MAX_LABEL = 60
"""Cells of what would match instead of a query without a match."""


def parse_query(words: Sequence[str], session: Session) -> Query:
    """Parse the words of a query, which may name queries of the session.

    Raises Leave, with a caret under the error.
    """
    text = join_words(words)
    _check_secrets("the query", text)
    for word in words:
        if "." in word and os.path.isfile(word):
            import shlex

            name = clean(word)
            raise Leave(ExitCode.USAGE, f"{name} is a file: name it with -f {shlex.quote(name)}")
    try:
        return parse(text, named=session.named_queries)
    except QueryError as error:
        raise _with_caret("the query has an error", text, error) from None


def check_host(session: Session, origin: Origin = COMMAND_LINE) -> None:
    """Check the description of the host, if there is one. Raises Leave, with a caret."""
    _check_secrets("the host", described_host(session))
    try:
        if described_host(session):
            host_of(session)
    except QueryError as error:
        place = "" if origin == COMMAND_LINE else f"{origin}: "
        raise _with_caret(
            f"{place}the host has an error", described_host(session), error
        ) from None


def _check_secrets(what: str, text: str) -> None:
    """Raise Leave where a text has a URL with a secret, such as a source without its -f.

    Messages quote conditions, and a part of a URL does not look like one any more.
    """
    if without_secrets(text) != text:
        raise Leave(ExitCode.USAGE, f"{what} has a URL with a user or password")


def _with_caret(sentence: str, text: str, error: QueryError) -> Leave:
    if len(text) > _MAX_QUERY_LENGTH:
        return Leave(ExitCode.USAGE, str(error))
    indent = " " * cell_width(clean(text[: error.offset]))
    lines = (f"  {clean(text)}", f"  {indent}^ {error}")
    return Leave(ExitCode.USAGE, sentence, *lines)


def print_remarks(catalog: Catalog, query: Query, columns: Iterable[str] = ()) -> None:
    """Print which virtuals a query names, and what its conditions on the host hide.

    If the query or the given columns depend on the host, print also what is left out.
    """
    if sentence := catalog.virtuals.sentence(query):
        stdio.print_message(sentence)
    if query.columns & HOST_COLUMNS:
        from spackscope.model.report.fit import hidden_by_host

        if sentence := hidden_by_host(catalog, query):
            stdio.print_message(sentence)
    if HOST_COLUMNS.intersection({*query.columns, *columns}):
        from spackscope.model.report.fit import LEFT_OUT

        stdio.print_message(LEFT_OUT)


def print_lines(
    options: Options,
    sources: Sequence[str],
    session: Session,
    lines_of: Callable[[Catalog], Iterator[str]],
) -> ExitCode:
    """Load a catalog, print problems of its sources to stderr, and lines of it to stdout.

    Returns FOUND. Raises Leave.
    """
    return print_lines_of_catalogs(
        options, [sources], session, lambda catalogs: lines_of(*catalogs)
    )


def print_lines_of_catalogs(
    options: Options,
    groups: Sequence[Sequence[str]],
    session: Session,
    lines_of: Callable[[Sequence[Catalog]], Iterator[str]],
) -> ExitCode:
    """Load a catalog for each group of sources, and print lines of all as `print_lines` does."""
    catalogs = []
    for sources in groups:
        catalogs.append(catalog := load_catalog(options, sources, session))
        if catalog.was_damaged:
            stdio.print_message(REBUILT)
        _print_problems(catalog, None if options.command == "index" else MAX_PRINTED)
    try:
        for line in lines_of(catalogs):
            stdio.print_line(line)
    except Unanswerable as error:
        raise Leave(ExitCode.USAGE, str(error)) from None
    return ExitCode.FOUND


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


def build_progress(options: Options) -> closing[BuildProgress]:
    """Return what shows progress on stderr, if that is a terminal, until it is closed."""
    is_visible = stdio.is_terminal(sys.stderr)
    return closing(BuildProgress(visible=is_visible, colour=not options.no_color))


def print_problems(problems: Iterable[object], count: int, limit: int | None) -> None:
    """Print some problems to stderr, up to a limit, and how many there are beyond that."""
    for problem in islice(problems, limit):
        stdio.print_message(str(problem))
    if limit is not None and count > limit:
        more = counted(count - limit, "more problem")
        stdio.print_message(f"and {more}; `spackscope index` lists all")


def _print_problems(catalog: Catalog, limit: int | None) -> None:
    if catalog.notice:
        stdio.print_message(catalog.notice)
    for sentence in stale_copies(catalog.sources, time.time()):
        stdio.print_message(sentence)
    print_problems(catalog.problems, len(catalog.problems), limit)


def stdout_colours(options: Options, session: Session) -> Colours:
    """Return the colours of stdout."""
    from spackscope.tui.cli.colours import Colours

    return Colours(not options.no_color and stdio.supports_colour(session.environ))


def report_lines(report: Report, options: Options, session: Session) -> Iterator[str]:
    """Return an answer as JSON if the options ask for it, else as text with its headings."""
    if options.format:
        return iter([report.json()])
    return stdout_colours(options, session).headings(report.lines())


def table_lines(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Return rows of clean texts: in columns on a terminal, else with tabs."""
    return aligned(rows) if stdio.is_terminal(sys.stdout) else map("\t".join, rows)


def no_match(catalog: Catalog, query: Query, sentence: str = "") -> Leave:
    """Return the exception that ends a command without a match; it names queries that match.

    `sentence` comes before the reason.
    """
    # What most commands do not need would be a tenth of their start.
    from spackscope.model.assist.advice import explain_no_match, relaxations

    relaxed = [each for each in relaxations(catalog, query) if each.query]
    counts = [f"{each.count:,}" for each in relaxed]
    width = min(_MAX_LABEL, max((cell_width(each.label) for each in relaxed), default=0))
    lines = (
        f"  {pad(each.label, width)}  {count:>{max(map(len, counts))}}"
        for each, count in zip(relaxed, counts, strict=True)
    )
    reason = ". ".join(filter(None, [sentence, explain_no_match(catalog, query)]))
    return Leave(no_match_code(catalog), reason, *lines)


def no_match_code(catalog: Catalog) -> ExitCode:
    """Return the exit code for no match: another one if a source cannot be read."""
    failed = any(state.failure for state in catalog.sources)
    return ExitCode.UNREADABLE if failed else ExitCode.NOTHING
