"""The command `history`: print since when specs are in a source, and when they went."""

from __future__ import annotations

from collections.abc import Sequence

from spackscope.model.analysis.history import Observation, Timeline, observations_of, timelines
from spackscope.model.core.errors import Unreadable
from spackscope.model.core.text import clean
from spackscope.model.query.ast import Term, join_words
from spackscope.model.report.history import history_report
from spackscope.model.sources.session import Session
from spackscope.tui.cli.arguments import Options
from spackscope.tui.cli.commands.common import loaded, parse_query, print_report
from spackscope.tui.process import stdio
from spackscope.tui.process.exit_codes import ExitCode, Leave

_KNOWN = ("package", "version", "hash")
"""Columns that snapshots, revisions and tags have in common."""


def run(options: Options, sources: Sequence[str], session: Session) -> ExitCode:
    """Print the lines of time of a package or a hash; NOTHING if it was never there."""
    query = parse_query(options.words, session)
    if query.specs or any(
        not (isinstance(condition, Term) and condition.column in _KNOWN)
        for condition in query.conditions
    ):
        raise Leave(ExitCode.USAGE, "history knows a package, versions and hashes only")

    def is_wanted(hash_: str, text: str) -> bool:
        package, _, version = text.partition("@")
        values = {"package": package, "version": version, "hash": hash_}
        return all(
            any(
                isinstance(c, Term) and c.fits(c.column, values[c.column]) is not c.negated
                for c in group
            )
            for group in query.groups
        )

    histories: dict[str, tuple[Sequence[Observation], Sequence[Timeline]]] = {}
    with loaded(options, session, sources) as (catalog,):
        for source in catalog.sources:
            try:
                observations = observations_of(catalog, source.name, session.environ)
            except Unreadable as error:
                stdio.print_message(str(error))
                observations = observations_of(catalog, source.name, {})
            lines = timelines(observations, is_wanted, by_hash="hash" in query.columns)
            histories[source.name] = observations, lines
    what = clean(join_words(options.words))
    print_report(history_report(what, histories, shows_all=options.all), options, session)
    return ExitCode.FOUND if any(lines for _, lines in histories.values()) else ExitCode.NOTHING
