"""The command `diff` with two sources: print what was added, removed and changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from spackscope.model.analysis.source_differences import compare_sources
from spackscope.model.core.frozen import replace
from spackscope.model.core.redaction import shown_url
from spackscope.model.index.catalog import Catalog
from spackscope.model.report.environments import source_differences_report
from spackscope.model.sources.session import Session
from spackscope.tui.cli.arguments import Options
from spackscope.tui.cli.commands.common import print_lines_of_catalogs, report_lines
from spackscope.tui.process.exit_codes import ExitCode


def run(options: Options, old: str, new: str, session: Session) -> ExitCode:
    """Compare two sources, each in a catalog of its own; DIFFERENT unless they are alike."""
    code = ExitCode.FOUND

    def lines(catalogs: Sequence[Catalog]) -> Iterator[str]:
        nonlocal code
        comparison = compare_sources(*catalogs, should_stop=session.should_stop)
        code = ExitCode.FOUND if comparison.are_alike else ExitCode.DIFFERENT
        names = shown_url(old), shown_url(new)
        report = source_differences_report(comparison, names, shows_all=options.all)
        return report_lines(report, options, session)

    listed = replace(session, include_dependency_only=False)
    print_lines_of_catalogs(options, [[old], [new]], listed, lines)
    return code
