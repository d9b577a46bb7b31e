"""The command `sources --verify`: check that records have the hashes that their content gives."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, islice

from spackscope.model.core.frozen import replace
from spackscope.model.report.verification import HEADS, verified_cells, verified_report
from spackscope.model.sources.discover import discover
from spackscope.model.sources.session import Session
from spackscope.model.sources.verify import verify
from spackscope.tui.cli.arguments import Options
from spackscope.tui.cli.commands.common import (
    MAX_PRINTED,
    build_progress,
    print_problems,
    table_lines,
)
from spackscope.tui.process import stdio
from spackscope.tui.process.exit_codes import ExitCode


def run(options: Options, sources: Sequence[str], session: Session) -> ExitCode:
    """Print how many records of each source are whole, and those that are not.

    Returns NOTHING if the content of a record gives another hash or a mirror does not have what
    its index lists, UNREADABLE if a source or a document cannot be read.
    """
    with build_progress(options) as progress:
        session = replace(session, on_progress=progress)
        verified = [verify(source, session) for source in discover(sources, session)]
    problems = [
        text
        for source in verified
        for text in ([source.failure] if source.failure else map(str, source.problems))
    ]
    print_problems(problems, len(problems), MAX_PRINTED)
    reports = map(verified_report, verified)
    lines = (
        (report.json() for report in reports)
        if options.format
        else chain(
            table_lines([HEADS, *map(verified_cells, verified)]),
            # The table has their titles.
            *(islice(report.lines(), 1, None) for report in reports),
        )
    )
    for line in lines:
        stdio.print_line(line)
    if not all(source.is_right for source in verified):
        return ExitCode.NOTHING
    is_unreadable = any(source.failure or source.problems for source in verified)
    return ExitCode.UNREADABLE if is_unreadable else ExitCode.FOUND
