"""The command `challenge`: compare the archives of the same hashes in several mirrors."""

from __future__ import annotations

from collections.abc import Sequence

from spackscope.model.report.challenge import challenge_report
from spackscope.model.sources.challenge import challenge
from spackscope.model.sources.mirror_spec import Mirrors
from spackscope.model.sources.session import Session
from spackscope.tui.cli.arguments import Options
from spackscope.tui.cli.commands.common import build_progress, loaded, parse_query, print_report
from spackscope.tui.process.exit_codes import ExitCode


def run(options: Options, sources: Sequence[str], session: Session) -> ExitCode:
    """Print the hashes whose archives differ between mirrors; NOTHING if one is suspicious."""
    query = parse_query(options.words, session)
    with loaded(options, session, sources) as (catalog,), build_progress(options) as progress:
        ids = catalog.match(query, should_stop=session.should_stop).ids()
        mirrors = Mirrors(catalog.sources, session, sources)
        specs = list(catalog.records(ids))
        challenged = list(challenge(specs, mirrors, on_progress=progress))
    print_report(challenge_report(challenged, shows_all=options.all), options, session)
    is_suspicious = any(its.judgement == "suspicious" for its in challenged)
    return ExitCode.NOTHING if is_suspicious else ExitCode.FOUND
