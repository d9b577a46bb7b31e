"""The command `sources`: list the sources that are read."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.core.text import aligned
from spackscope.model.presentation import export
from spackscope.model.presentation.sources import HEADS, source_cells
from spackscope.model.sources.session import Session
from spackscope.tui.cli.arguments import Options
from spackscope.tui.cli.commands.common import print_lines
from spackscope.tui.process import stdio
from spackscope.tui.process.exit_codes import ExitCode


def run(options: Options, sources: Sequence[str], session: Session) -> ExitCode:
    """Print each source with its kind, specs, problems and age; or verify it."""
    if options.verify:
        from spackscope.tui.cli.commands import verify_sources

        return verify_sources.run(options, sources, session)

    def lines(catalog: Catalog) -> Iterator[str]:
        if options.format:
            return export.source_json_lines(catalog.sources)
        now = time.time()
        rows = [HEADS, *(source_cells(state, now) for state in catalog.sources)]
        if stdio.is_terminal(sys.stdout):
            return aligned(rows)
        return ("\t".join(row) for row in rows)

    return print_lines(options, sources, session, lines)
