"""The command `show`: print everything about one spec."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence

from spackscope.model.analysis.needs import add_sizes, read_needs
from spackscope.model.analysis.session_fit import fit_of, host_phrase
from spackscope.model.core.frozen import replace
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.listing import Listing
from spackscope.model.index.rows import Row
from spackscope.model.index.tree import read_specs
from spackscope.model.index.view import View
from spackscope.model.query.ast import Query
from spackscope.model.report import detail, export
from spackscope.model.report.detail import dependency_text
from spackscope.model.report.needs import needs_line
from spackscope.model.sources.session import Session
from spackscope.tui.cli.arguments import Options
from spackscope.tui.cli.commands.common import print_lines, stdout_colours
from spackscope.tui.cli.commands.spec_argument import SpecArgument
from spackscope.tui.cli.signed import Signed
from spackscope.tui.cli.spec_report import SpecReport
from spackscope.tui.process import stdio
from spackscope.tui.process.exit_codes import ExitCode


def run(options: Options, sources: Sequence[str], session: Session) -> ExitCode:
    """Print each record of one hash, given by its prefix or by a query that only it matches."""
    argument = SpecArgument(options.words, session)

    def lines(catalog: Catalog) -> Iterator[str]:
        signed = Signed(catalog, session, sources)
        rows = []
        for row in catalog.by_hash(argument.find(catalog)):
            # The manifest that has the size is in the cache afterwards.
            signed.entries(row.spec)
            size = signed.size(row.spec)
            fit = fit_of(catalog, row.id)
            rows.append(replace(row, spec=replace(row.spec, size=size, fit=fit)))
        if options.format:
            return export.full_json_lines(map(catalog.full_record, rows), signed.json)
        is_flowed = stdio.is_terminal(sys.stdout)
        width = stdio.width() if is_flowed else None
        report = SpecReport(width, stdout_colours(options, session))
        return _describe(catalog, rows, session, sources, report, signed)

    return print_lines(options, sources, session, lines)


def _describe(
    catalog: Catalog,
    rows: Sequence[Row],
    session: Session,
    sources: Sequence[str],
    report: SpecReport,
    signed: Signed,
) -> Iterator[str]:
    listings: dict[str, Listing] = {}
    for number, row in enumerate(rows):
        if number:
            yield ""
        name, alike = row.spec.package, 1
        varying: Mapping[str, int] = {}
        # Dependency-only specs are not listed.
        if row.spec.in_cache:
            if name not in listings:
                listings[name] = catalog.listing(View(Query().with_package(name)))
            alike = listings[name].count_look_alikes(row.look_alike)
            varying = listings[name].values.varying_variants
        lines = detail.detail(
            catalog.with_compilers(row),
            varying=varying,
            alike=alike,
            shown=0,
            provenance=catalog.provenance(row.id),
            host_phrase=host_phrase(session),
        )
        yield from report.detail_lines(signed.added_to(lines, row.spec))
        if (needs := read_needs(catalog, row.id)) is not None:
            # Fetching all sizes may take long; `spackscope needs` does.
            needs = add_sizes(needs, catalog, session, sources, is_offline=True)
            yield report.labelled("needs to run", needs_line(needs))
        yield from _dependencies(catalog, row, report)


def _dependencies(catalog: Catalog, row: Row, report: SpecReport) -> Iterator[str]:
    """Yield the direct dependencies, with deptypes as in Spack's trees."""
    edges = catalog.edges.of(row.id)
    specs = read_specs(catalog, (edge.child for edge in edges))
    if edges:
        yield report.colours.dim("dependencies")
    for edge in edges:
        yield f"  {report.edge(dependency_text(edge, specs[edge.child]))}"
