"""The command `needs`: print what a spec needs to run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from spackscope.model.analysis.needs import add_sizes, read_needs
from spackscope.model.index.catalog import Catalog
from spackscope.model.report.needs import needs_report
from spackscope.model.sources.session import Session
from spackscope.tui.cli.arguments import Options
from spackscope.tui.cli.commands.common import print_lines, report_lines
from spackscope.tui.cli.commands.spec_argument import SpecArgument, listing_row
from spackscope.tui.process.exit_codes import ExitCode


def run(options: Options, sources: Sequence[str], session: Session) -> ExitCode:
    """Print the link/run closure of one spec, with states and sizes, and what else it needs."""
    argument = SpecArgument(options.words, session)

    def lines(catalog: Catalog) -> Iterator[str]:
        row = listing_row(catalog, argument.find(catalog))
        needs = read_needs(catalog, row.id)
        if needs is not None:
            needs = add_sizes(needs, catalog, session, sources)
        return report_lines(needs_report(row.spec, needs), options, session)

    return print_lines(options, sources, session, lines)
