"""The command `stats`: count the records that match by one or two columns or variants."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from spackscope.model.analysis.frequency import Axis, axis_names, find_axis, frequency
from spackscope.model.core.columns import ALIASES
from spackscope.model.core.suggestions import did_you_mean
from spackscope.model.core.text import clean
from spackscope.model.index.catalog import Catalog
from spackscope.model.sources.session import Session
from spackscope.tui.cli import frequency_table
from spackscope.tui.cli.arguments import Options
from spackscope.tui.cli.commands.common import no_match, parse_query, print_lines, print_remarks
from spackscope.tui.process import stdio
from spackscope.tui.process.exit_codes import ExitCode, Leave

_PER_RECORD = ("hash", "size")


def run(options: Options, sources: Sequence[str], session: Session) -> ExitCode:
    """Print the values of matching records, each with its number of records."""
    query = parse_query(options.words, session)
    is_drawn = options.format is None and stdio.is_terminal(sys.stdout)

    def lines(catalog: Catalog) -> Iterator[str]:
        axes = [_axis(catalog, name) for name in options.by]
        counts = frequency(catalog, query, axes)
        print_remarks(catalog, query, options.by)
        if options.format == "json":
            yield from frequency_table.json_lines(counts)
        elif options.format == "csv":
            yield from frequency_table.csv_lines(counts)
        elif not is_drawn:
            yield from frequency_table.tab_lines(counts)
        elif counts.total:
            draw = frequency_table.bar_lines if len(axes) == 1 else frequency_table.matrix_lines
            bold = not options.no_color and stdio.supports_colour(session.environ)
            yield from draw(counts, stdio.width(), bold=bold)
        if not counts.total:
            raise no_match(catalog, query)

    return print_lines(options, sources, session, lines)


def _axis(catalog: Catalog, name: str) -> Axis:
    """Return the column or variant of a name. Raises Leave if neither exists."""
    if ALIASES.get(name, name) in _PER_RECORD:
        raise Leave(ExitCode.USAGE, f"Each spec has a {name} of its own: count by another column")
    axis = find_axis(catalog, name)
    if axis is None:
        guess = did_you_mean(name, axis_names(catalog))
        raise Leave(ExitCode.USAGE, f"Unknown column or variant {clean(name)}{guess}")
    return axis
