"""The command `weather`: print how much of environments or stacks the caches cover."""

from __future__ import annotations

from collections.abc import Sequence

from spackscope.model.analysis.cover import cover
from spackscope.model.analysis.history import read_snapshots
from spackscope.model.analysis.host import parse_host
from spackscope.model.analysis.session_fit import host_of
from spackscope.model.analysis.weather import most_wanted, read_weather
from spackscope.model.core.errors import QueryError
from spackscope.model.core.text import clean
from spackscope.model.report.weather import weather_report
from spackscope.model.sources.resolve import find_environment
from spackscope.model.sources.session import Session
from spackscope.tui.cli.arguments import Options
from spackscope.tui.cli.commands.common import loaded, print_report
from spackscope.tui.process import stdio
from spackscope.tui.process.exit_codes import ExitCode, Leave


def run(options: Options, sources: Sequence[str], session: Session) -> ExitCode:
    """Print a row for each environment or stack; NOTHING if one is under --fail-under."""
    limit = _limit(options.fail_under)
    try:
        hosts = [parse_host(text) for text in options.hosts] or [host_of(session)]
    except QueryError as error:
        raise Leave(ExitCode.USAGE, f"a host has an error: {error}") from None
    names = [find_environment(name, session) for name in options.words]
    with loaded(options, session, sources, *([name] for name in names)) as (caches, *environments):
        if not (names or caches.total):
            raise Leave(ExitCode.NOTHING, "the sources have no specs")
        coverages = {
            name: cover(environment, caches)
            for name, environment in zip(options.words, environments, strict=True)
        }
        names_of_caches = [source.name for source in caches.sources]
        snapshots, failures = read_snapshots(names_of_caches, session.environ)
        for failure in failures:
            stdio.print_message(failure)
        rows = read_weather(caches, hosts, coverages, snapshots)
        wanted = most_wanted(coverages.values())
        print_report(weather_report(rows, hosts, wanted, shows_all=options.all), options, session)
    # What is asked for is to be there; where hosts are named, to run on each.
    worst = min(
        row.percent(count)
        for row in rows
        for count in (row.runs if options.hosts else (row.there,))
    )
    return ExitCode.NOTHING if worst < limit else ExitCode.FOUND


def _limit(text: str) -> float:
    try:
        limit = float(text or 0)
    except ValueError:
        limit = -1.0
    if not 0 <= limit <= 100:
        message = f"--fail-under takes a percentage from 0 to 100, not {clean(text)}"
        raise Leave(ExitCode.USAGE, message)
    return limit
