"""What several commands share: parsing the query, loading the catalog, printing lines."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.core.errors import IndexDamaged, QueryError, Unanswerable
from spackscope.model.core.text import cell_width, clean
from spackscope.model.loader.load import REBUILT, STILL_DAMAGED, load
from spackscope.model.presentation.sources import stale_copies
from spackscope.model.query.ast import Query
from spackscope.model.query.format import join_words
from spackscope.model.query.parser import parse
from spackscope.model.sources.session import Session
from spackscope.tui.cli.arguments import Options
from spackscope.tui.cli.progress import BuildProgress
from spackscope.tui.process import stdio
from spackscope.tui.process.exit_codes import ExitCode, Leave

MAX_PROBLEMS = 20
"""Problems that are printed by commands other than `index`."""

_MAX_QUERY_LENGTH = 500
"""Characters of a query that is printed with a caret under its error."""


def parse_query(words: Sequence[str]) -> Query:
    """Parse the words of a query. Raises Leave, with a caret under the error."""
    text = join_words(words)
    try:
        return parse(text)
    except QueryError as error:
        if len(text) > _MAX_QUERY_LENGTH:
            raise Leave(ExitCode.USAGE, str(error)) from None
        indent = " " * cell_width(clean(text[: error.offset]))
        lines = (f"  {clean(text)}", f"  {indent}^ {error}")
        raise Leave(ExitCode.USAGE, "the query has an error", *lines) from None


class CatalogPrinter:
    """Load the catalog of some sources, and print lines of it.

    `keep` and `max_problems` are for `index`: to keep even a small index in a file, and how many
    problems are printed; None is all.
    """

    def __init__(
        self,
        options: Options,
        sources: Sequence[str],
        session: Session,
        *,
        keep: bool = False,
        max_problems: int | None = MAX_PROBLEMS,
    ) -> None:
        self._options, self._sources, self._session = options, sources, session
        self._keep, self._max_problems = keep, max_problems
        self._printed_lines = 0
        self._printed_problems = False

    def print(self, lines_of: Callable[[Catalog], Iterator[str]]) -> None:
        """Print the problems of the sources to stderr and lines of the catalog to stdout.

        An index that turns out to be damaged is rebuilt, once; lines that have been printed are
        skipped then, since the new index yields them again. Raises Leave.
        """
        try:
            self._print(self._load(), lines_of)
        except Unanswerable as error:
            raise Leave(ExitCode.USAGE, str(error)) from None
        except IndexDamaged:
            try:
                self._print(self._load(was_damaged=True), lines_of)
            except IndexDamaged as error:
                raise Leave(ExitCode.UNREADABLE, f"{STILL_DAMAGED}: {error}") from None

    def _load(self, *, was_damaged: bool = False) -> Catalog:
        is_visible = stdio.is_terminal(sys.stderr)
        with BuildProgress(visible=is_visible, colour=not self._options.no_color) as progress:
            return load(
                self._sources,
                replace(self._session, on_progress=progress),
                rebuild=self._options.rebuild,
                was_damaged=was_damaged,
                keep=self._keep,
            )

    def _print(self, catalog: Catalog, lines_of: Callable[[Catalog], Iterator[str]]) -> None:
        if catalog.was_damaged:
            stdio.print_message(REBUILT)
        if not self._printed_problems:
            self._print_problems(catalog)
            self._printed_problems = True
        for line in islice(lines_of(catalog), self._printed_lines, None):
            stdio.print_line(line)
            self._printed_lines += 1

    def _print_problems(self, catalog: Catalog) -> None:
        if catalog.notice:
            stdio.print_message(catalog.notice)
        for sentence in stale_copies(catalog.sources, time.time()):
            stdio.print_message(sentence)
        for problem in catalog.problems[: self._max_problems]:
            stdio.print_message(str(problem))
        if self._max_problems is not None and catalog.problem_count > self._max_problems:
            rest = catalog.problem_count - self._max_problems
            stdio.print_message(f"and {rest:,} more problems; `spackscope index` lists all")


def no_match_code(catalog: Catalog) -> ExitCode:
    """Return the exit code where nothing matches: it may be in a source that cannot be read."""
    failed = any(state.failure for state in catalog.sources)
    return ExitCode.UNREADABLE if failed else ExitCode.NOTHING
