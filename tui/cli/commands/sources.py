"""The command `sources`: list the sources that are read, or verify them."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from spackscope.model.core.text import clean
from spackscope.model.index.catalog import Catalog
from spackscope.model.report import export
from spackscope.model.report.report import Report, Row, Section, styled
from spackscope.model.report.sources import HEADS, source_cells
from spackscope.model.sources.session import Session
from spackscope.tui.cli.arguments import Options
from spackscope.tui.cli.commands.common import (
    MAX_PRINTED,
    build_progress,
    loaded,
    print_problems,
    print_report,
    print_table,
    terminal_width,
)
from spackscope.tui.process import stdio
from spackscope.tui.process.exit_codes import ExitCode

if TYPE_CHECKING:
    from spackscope.model.analysis.signing import SourceSigning


def run(options: Options, sources: Sequence[str], session: Session) -> ExitCode:
    """Print each source with its kind, specs, problems and age; or verify it."""
    if options.verify:
        return _verify(options, sources, session)
    with loaded(options, session, sources) as (catalog,):
        signing = _signing(catalog, sources, session)
        if options.format:
            for line in export.source_json_lines(catalog.sources, _signing_data(signing)):
                stdio.print_line(line)
            return ExitCode.FOUND
        now = time.time()
        cells = (source_cells(each, now, signing.get(each.name)) for each in catalog.sources)
        print_table([Row(HEADS), *map(Row, cells)], options, session)
        if terminal_width() is not None:
            # Who signed what is signed, and how to trust the keys.
            sections = [
                Section(clean(name), _signers(each), is_apart=True)
                for name, each in signing.items()
                if each.signed
            ]
            print_report(Report("", sections), options, session)
    return ExitCode.FOUND


def _signing(
    catalog: Catalog, sources: Sequence[str], session: Session
) -> dict[str, SourceSigning]:
    """Read who signed the sources that are mirrors, by their names."""
    mirrors = [state for state in catalog.sources if state.may_be_mirror]
    if not mirrors:
        return {}
    # Only mirrors need it.
    from spackscope.model.analysis.signing import source_signing
    from spackscope.model.sources.mirror_spec import Mirrors

    asked = Mirrors(catalog.sources, session, sources)
    signing = {state.name: source_signing(catalog, state, asked) for state in mirrors}
    return {name: each for name, each in signing.items() if each is not None}


def _signing_data(signing: Mapping[str, SourceSigning]) -> dict[str, object]:
    if not signing:
        return {}
    from spackscope.model.report.signing import source_signing_json

    return {name: source_signing_json(each) for name, each in signing.items()}


def _signers(signing: SourceSigning) -> list[Row]:
    from spackscope.model.report.signing import source_signing_lines

    lines = source_signing_lines(signing)
    return [Row((styled(f"{label:<6}", "dim"), text)) for label, text in lines]


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
