"""The command `sources`: list the sources that are read, or verify them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from spackscope.model.core.text import clean
from spackscope.model.index.catalog import Catalog
from spackscope.model.report import export
from spackscope.model.report.report import Row, Section, section_lines, styled
from spackscope.model.report.sources import HEADS, source_cells
from spackscope.model.sources.session import Session
from spackscope.tui.cli.arguments import Options
from spackscope.tui.cli.commands.common import (
    MAX_PRINTED,
    build_progress,
    loaded,
    print_lines,
    print_problems,
    print_report,
    print_table,
    terminal_width,
)
from spackscope.tui.cli.signed import Signed
from spackscope.tui.process import stdio
from spackscope.tui.process.exit_codes import ExitCode


def run(options: Options, sources: Sequence[str], session: Session) -> ExitCode:
    """Print each source with its kind, specs, problems and age; or verify it."""
    if options.verify:
        return _verify(options, sources, session)
    with loaded(options, session, sources) as (catalog,):
        signed = Signed(catalog, session, sources)
        if options.format:
            for line in export.source_json_lines(catalog.sources, signed.source_json):
                stdio.print_line(line)
            return ExitCode.FOUND
        now = time.time()
        rows = [Row((*source_cells(each, now), signed.cell(each))) for each in catalog.sources]
        print_table([Row(HEADS), *rows], options, session)
        for section in _signers(catalog, signed) if terminal_width() is not None else ():
            print_lines(((), *section_lines(section)), options, session)
    return ExitCode.FOUND


def _signers(catalog: Catalog, signed: Signed) -> Iterator[Section]:
    """Yield who signed each source that is signed, and how to trust the keys."""
    for state in catalog.sources:
        lines = signed.source_lines(state)
        rows = [Row((styled(f"{label:<6}", "dim"), text)) for label, text in lines]
        if rows:
            yield Section(clean(state.name), rows)


def _verify(options: Options, sources: Sequence[str], session: Session) -> ExitCode:
    """Print how many records of each source are whole, and those that are not.

    Returns NOTHING if the content of a record gives another hash or a mirror does not have what
    its index lists, UNREADABLE if a source or a document cannot be read.
    """
    # Hardly anybody who lists sources verifies them.
    from spackscope.model.core.frozen import replace
    from spackscope.model.report import verification
    from spackscope.model.sources.discover import discover
    from spackscope.model.sources.verify import verify

    with build_progress(options) as progress:
        watched = replace(session, on_progress=progress)
        verified = [verify(source, watched) for source in discover(sources, watched)]
    problems = [
        text
        for source in verified
        for text in ([source.failure] if source.failure else map(str, source.problems))
    ]
    print_problems(problems, len(problems), MAX_PRINTED)
    if not options.format:
        cells = (verification.HEADS, *map(verification.verified_cells, verified))
        print_table([*map(Row, cells)], options, session)
    for source in verified:
        print_report(verification.verified_report(source), options, session)
    if not all(source.is_right for source in verified):
        return ExitCode.NOTHING
    is_unreadable = any(source.failure or source.problems for source in verified)
    return ExitCode.UNREADABLE if is_unreadable else ExitCode.FOUND
