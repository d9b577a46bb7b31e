"""The command `needs`: print what a spec needs to run."""

from __future__ import annotations

from collections.abc import Sequence

from spackscope.model.analysis.needs import add_sizes, read_needs
from spackscope.model.report.needs import needs_report
from spackscope.model.sources.session import Session
from spackscope.tui.cli.arguments import Options
from spackscope.tui.cli.commands.common import SpecArgument, listing_row, loaded, print_report
from spackscope.tui.process.exit_codes import ExitCode


def run(options: Options, sources: Sequence[str], session: Session) -> ExitCode:
    """Print the link/run closure of one spec, with states and sizes, and what else it needs."""
    argument = SpecArgument(options.words, session)
    with loaded(options, session, sources) as (catalog,):
        row = listing_row(catalog, argument.find(catalog))
        needs = read_needs(catalog, row.id)
        if needs is not None:
            needs = add_sizes(needs, catalog, session, sources)
        print_report(needs_report(row.spec, needs), options, session)
    return ExitCode.FOUND
