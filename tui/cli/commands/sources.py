"""The command `sources`: list the sources that are read."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from spackscope.model.core.text import clean
from spackscope.model.index.catalog import Catalog
from spackscope.model.report import export
from spackscope.model.report.sources import HEADS, source_cells
from spackscope.model.sources.session import Session
from spackscope.tui.cli.arguments import Options
from spackscope.tui.cli.commands.common import print_lines, stdout_colours, table_lines
from spackscope.tui.cli.signed import Signed
from spackscope.tui.process import stdio
from spackscope.tui.process.exit_codes import ExitCode

if TYPE_CHECKING:
    from spackscope.tui.cli.colours import Colours


def run(options: Options, sources: Sequence[str], session: Session) -> ExitCode:
    """Print each source with its kind, specs, problems and age; or verify it."""
    if options.verify:
        from spackscope.tui.cli.commands import verify_sources

        return verify_sources.run(options, sources, session)

    colours = stdout_colours(options, session)

    def lines(catalog: Catalog) -> Iterator[str]:
        signed = Signed(catalog, session, sources)
        if options.format:
            return export.source_json_lines(catalog.sources, signed.source_json)
        now = time.time()
        cells = ((*source_cells(each, now), signed.cell(each)) for each in catalog.sources)
        is_terminal = stdio.is_terminal(sys.stdout)
        signers = _signers(catalog, signed, colours) if is_terminal else ()
        return chain(table_lines([HEADS, *cells]), signers)

    return print_lines(options, sources, session, lines)


def _signers(catalog: Catalog, signed: Signed, colours: Colours) -> Iterator[str]:
    """Yield who signed each source that is signed, and how to trust the keys."""
    for state in catalog.sources:
        lines = list(signed.source_lines(state))
        if lines:
            yield ""
            yield colours.bold(clean(state.name))
        yield from (f"  {colours.dim(f'{label:<6}')}  {text}" for label, text in lines)
