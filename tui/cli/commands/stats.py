"""The command `stats`: count the records that match by one or two columns or variants."""

from __future__ import annotations

from collections.abc import Sequence

from spackscope.model.analysis.frequency import Axis, axis_names, find_axis, frequency
from spackscope.model.core.columns import ALIASES
from spackscope.model.core.suggestions import did_you_mean
from spackscope.model.core.text import clean
from spackscope.model.index.catalog import Catalog
from spackscope.model.report.frequency import csv_lines, frequency_report, json_lines, tab_lines
from spackscope.model.sources.session import Session
from spackscope.tui.cli.arguments import Options
from spackscope.tui.cli.commands.common import (
    loaded,
    no_match,
    parse_query,
    print_remarks,
    print_report,
    terminal_width,
)
from spackscope.tui.process import stdio
from spackscope.tui.process.exit_codes import ExitCode, Leave

_PER_RECORD = ("hash", "size")
_LINES = {"json": json_lines, "csv": csv_lines, None: tab_lines}


def run(options: Options, sources: Sequence[str], session: Session) -> ExitCode:
    """Print the values of matching records, each with its number of records."""
    query = parse_query(options.words, session)
    width = terminal_width()
    with loaded(options, session, sources) as (catalog,):
        counts = frequency(catalog, query, [_axis(catalog, name) for name in options.by])
        print_remarks(catalog, query)
        if options.format or width is None:
            for line in _LINES[options.format](counts):
                stdio.print_line(line)
        elif counts.total:
            print_report(frequency_report(counts, width), options, session)
        if not counts.total:
            raise no_match(catalog, query)
    return ExitCode.FOUND


def _axis(catalog: Catalog, name: str) -> Axis:
    """Return the column or variant of a name. Raises Leave if neither exists."""
    if ALIASES.get(name, name) in _PER_RECORD:
        raise Leave(ExitCode.USAGE, f"Each spec has a {name} of its own: count by another column")
    axis = find_axis(catalog, name)
    if axis is None:
        guess = did_you_mean(name, axis_names(catalog))
        raise Leave(ExitCode.USAGE, f"Unknown column or variant {clean(name)}{guess}")
    return axis
