"""The command `doubles`: print packages with several hashes in an environment."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from spackscope.model.analysis.dag import dag_of
from spackscope.model.analysis.doubles import find_doubles
from spackscope.model.report.environments import doubles_report
from spackscope.model.sources.resolve import find_environment
from spackscope.model.sources.session import Session
from spackscope.tui.cli.arguments import Options
from spackscope.tui.cli.commands.common import build_progress, loaded, print_report
from spackscope.tui.process.exit_codes import ExitCode


def run(options: Options, sources: Sequence[str], session: Session) -> ExitCode:
    """Print the packages with several hashes by their causes; DOUBLES if there are some."""
    named = [find_environment(name, session) for name in sources]
    with loaded(options, session, named) as (catalog,):
        with build_progress(options) as progress:
            doubles = find_doubles(
                catalog,
                is_ignored=lambda name: any(fnmatchcase(name, each) for each in options.ignored),
                should_stop=session.should_stop,
                on_progress=progress,
            )
        report = doubles_report(dag_of(catalog), doubles, shows_all=options.all)
        print_report(report, options, session)
    return ExitCode.DOUBLES if doubles.builds else ExitCode.FOUND
