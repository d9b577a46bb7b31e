"""The command `find`: print the records that match."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from spackscope.model.index.catalog import Catalog
from spackscope.model.index.view import View
from spackscope.model.report import export
from spackscope.model.report.export import NO_DEPENDENCIES
from spackscope.model.sources.session import Session
from spackscope.tui.cli.arguments import Options
from spackscope.tui.cli.commands.common import (
    no_match,
    parse_query,
    print_lines,
    print_remarks,
    stdout_colours,
)
from spackscope.tui.process import stdio
from spackscope.tui.process.exit_codes import ExitCode


def run(options: Options, sources: Sequence[str], session: Session) -> ExitCode:
    """Print matching records in the format of the options: without one as a table or with tabs."""
    query = parse_query(options.words, session)
    is_table = options.format is None and stdio.is_terminal(sys.stdout)

    def lines(catalog: Catalog) -> Iterator[str]:
        # With a host every format says what fits it.
        catalog.by_host.fills_rows = bool(options.host)
        listing = catalog.listing(View(query))
        print_remarks(catalog, query)
        if not is_table:
            format_ = export.BY_NAME[options.format or "tab"]
            if format_.name == "keep-list" and listing and not listing.lists_dependencies:
                stdio.print_message(NO_DEPENDENCIES)
            yield from format_.lines(catalog, listing.ids)
        elif listing:
            colours = stdout_colours(options, session)
            from spackscope.tui.cli.table import Table

            named = query.columns | ({"fits"} if options.host else set())
            yield from Table(catalog, listing, named).lines(stdio.width(), colours)
        if not listing:
            raise no_match(catalog, query)

    return print_lines(options, sources, session, lines)
