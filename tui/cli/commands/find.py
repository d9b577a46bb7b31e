"""The command `find`: print the records that match."""

from __future__ import annotations

from collections.abc import Sequence

from spackscope.model.index.view import Order, View
from spackscope.model.report import export
from spackscope.model.sources.session import Session
from spackscope.tui.cli.arguments import Options
from spackscope.tui.cli.commands.common import (
    loaded,
    no_match,
    parse_query,
    print_lines,
    print_remarks,
    terminal_width,
)
from spackscope.tui.process import stdio
from spackscope.tui.process.exit_codes import ExitCode


def run(options: Options, sources: Sequence[str], session: Session) -> ExitCode:
    """Print matching records in the format of the options: without one as a table or with tabs."""
    query = parse_query(options.words, session)
    width = terminal_width()
    with loaded(options, session, sources) as (catalog,):
        # With a host every format says what fits it.
        catalog.by_host.fills_rows = bool(options.host)
        is_table = not options.format and width is not None
        folds = is_table and not options.flat
        newest_first = Order.PREFERRED_HERE if options.host else Order.PREFERRED
        order = newest_first if folds else Order.INDEX
        listing = catalog.listing(View(query, order=order, folded=folds))
        print_remarks(catalog, query)
        if width is None or not is_table:
            format_ = export.BY_NAME[options.format or "tab"]
            if format_.name == "keep-list" and listing and not listing.lists_dependencies:
                stdio.print_message(export.NO_DEPENDENCIES)
            for line in format_.lines(catalog, listing.ids):
                stdio.print_line(line)
        elif listing:
            from spackscope.model.report.spec_list import spec_report

            named = query.columns | ({"fits"} if options.host else set())
            report = spec_report(catalog, listing, width, named)
            print_lines(report.lines(width), options, session)
        if not listing:
            raise no_match(catalog, query)
    return ExitCode.FOUND
