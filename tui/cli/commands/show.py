"""The command `show`: print everything about one spec."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from spackscope.model.analysis.environments.needs import add_sizes, read_needs
from spackscope.model.analysis.fit.session_fit import fit_of, host_phrase
from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.dependency_tree import read_specs
from spackscope.model.catalog.listing import Listing, View
from spackscope.model.catalog.rows import Row
from spackscope.model.presentation import detail, export
from spackscope.model.presentation.dependency_tree import dependency_text
from spackscope.model.presentation.needs import needs_line
from spackscope.model.query.ast import Query
from spackscope.model.sources.archive_size import archive_size
from spackscope.model.sources.session import Session
from spackscope.tui.cli import table
from spackscope.tui.cli.arguments import Options
from spackscope.tui.cli.commands.common import print_lines
from spackscope.tui.cli.commands.spec_argument import SpecArgument
from spackscope.tui.process.exit_codes import ExitCode


def run(options: Options, sources: Sequence[str], session: Session) -> ExitCode:
    """Print each record of one hash, given by its prefix or by a query that only it matches."""
    argument = SpecArgument(options.words)

    def lines(catalog: Catalog) -> Iterator[str]:
        rows = []
        for row in catalog.by_hash(argument.find(catalog)):
            size = archive_size(row.spec, catalog.sources, session, sources)
            fit = fit_of(catalog, row.id)
            rows.append(replace(row, spec=replace(row.spec, size=size, fit=fit)))
        if options.format:
            return export.full_json_lines(map(catalog.full_record, rows))
        return _describe(catalog, rows, session, sources)

    return print_lines(options, sources, session, lines)


def _describe(
    catalog: Catalog, rows: Sequence[Row], session: Session, sources: Sequence[str]
) -> Iterator[str]:
    listings: dict[str, Listing] = {}
    for number, row in enumerate(rows):
        if number:
            yield ""
        name, alike = row.spec.package, 1
        # Dependency-only specs are not listed.
        if row.spec.in_cache:
            if name not in listings:
                listings[name] = catalog.listing(View(Query().with_package(name)))
            alike = listings[name].count_look_alikes(row.look_alike)
        lines = detail.detail(
            catalog.with_compilers(row),
            varying={},
            alike=alike,
            shown=0,
            provenance=catalog.provenance(row.id),
            host_phrase=host_phrase(session),
        )
        yield from table.detail_lines(lines)
        if (needs := read_needs(catalog, row.id)) is not None:
            # Fetching all sizes may take long; `spackscope needs` does.
            needs = add_sizes(needs, catalog, session, sources, is_offline=True)
            yield f"needs to run  {needs_line(needs)}"
        yield from _dependencies(catalog, row)


def _dependencies(catalog: Catalog, row: Row) -> Iterator[str]:
    """Yield the direct dependencies, with deptypes as in Spack's trees."""
    edges = catalog.dependencies.of(row.id)
    specs = read_specs(catalog, (edge.child for edge in edges))
    if edges:
        yield "dependencies"
    for edge in edges:
        yield f"  {dependency_text(edge, specs[edge.child])}"
