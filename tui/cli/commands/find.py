"""The command `find`: print the records that match."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.listing import View
from spackscope.model.presentation import export
from spackscope.model.sources.session import Session
from spackscope.tui.cli.arguments import Options
from spackscope.tui.cli.commands.common import no_match, parse_query, print_lines
from spackscope.tui.cli.table import Table
from spackscope.tui.process import stdio
from spackscope.tui.process.exit_codes import ExitCode

_FORMATS: Mapping[str, export.Export] = {
    "json": export.json_array,
    "jsonl": export.json_lines,
    "csv": export.csv_lines,
    "hashes": export.hashes,
    "tab": export.tab_lines,
}


def run(options: Options, sources: Sequence[str], session: Session) -> ExitCode:
    """Print matching records in the format of the options: without one as a table or with tabs."""
    query = parse_query(options.words)
    is_table = options.format is None and stdio.is_terminal(sys.stdout)

    def lines(catalog: Catalog) -> Iterator[str]:
        listing = catalog.listing(View(query))
        if virtuals := catalog.virtuals.sentence(query):
            stdio.print_message(virtuals)
        if not is_table:
            yield from _FORMATS[options.format or "tab"](catalog.specs(listing))
        elif listing:
            bold = not options.no_color and stdio.supports_colour(session.environ)
            yield from Table(catalog, listing).lines(stdio.width(), bold=bold)
        if not listing:
            raise no_match(catalog, query)

    return print_lines(options, sources, session, lines)
