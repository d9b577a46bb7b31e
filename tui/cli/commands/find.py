"""The command `find`: print the records that match."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence

from spackscope.model.analysis.fit.session_fit import fit_of
from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.listing import Listing
from spackscope.model.catalog.view import View
from spackscope.model.core.frozen import replace
from spackscope.model.core.records import Spec
from spackscope.model.presentation import export
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
        # With a host every format says what fits it.
        catalog.by_host.fills_rows = bool(options.host)
        listing = catalog.listing(View(query))
        print_remarks(catalog, query)
        if not is_table:
            specs = catalog.specs(listing)
            if options.format in ("json", "jsonl"):
                specs = _with_fits(catalog, listing, specs)
            yield from _FORMATS[options.format or "tab"](specs)
        elif listing:
            colours = stdout_colours(options, session)
            from spackscope.tui.cli.table import Table

            named = query.columns | ({"fits"} if options.host else set())
            yield from Table(catalog, listing, named).lines(stdio.width(), colours)
        if not listing:
            raise no_match(catalog, query)

    return print_lines(options, sources, session, lines)


def _with_fits(catalog: Catalog, listing: Listing, specs: Iterable[Spec]) -> Iterator[Spec]:
    """Yield the records of a listing with whether they run on the host, and why not."""
    for id_, spec in zip(listing.ids, specs, strict=True):
        yield replace(spec, fit=fit_of(catalog, id_))
