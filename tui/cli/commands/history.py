"""The command `history`: print since when specs are in a source, and when they went."""

from __future__ import annotations

import time
from collections.abc import Sequence

from spackscope.model.analysis.history import (
    Observation,
    Snapshots,
    Timeline,
    of_revisions,
    of_source,
    of_tags,
    timelines,
)
from spackscope.model.core.errors import Unreadable
from spackscope.model.core.text import clean
from spackscope.model.index.catalog import Catalog
from spackscope.model.query.ast import Term, join_words
from spackscope.model.report.history import history_report
from spackscope.model.sources.session import Session
from spackscope.model.sources.source_name import is_local_path
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
            observations = _observations(catalog, source.name, session)
            lines = timelines(observations, is_wanted, by_hash="hash" in query.columns)
            histories[source.name] = observations, lines
    what = clean(join_words(options.words))
    print_report(history_report(what, histories, shows_all=options.all), options, session)
    return ExitCode.FOUND if any(lines for _, lines in histories.values()) else ExitCode.NOTHING


def _observations(catalog: Catalog, source: str, session: Session) -> list[Observation]:
    """Return what is known of a source, oldest first, and what it has now."""
    try:
        observations = Snapshots(source, session.environ).read()
    except Unreadable as error:
        stdio.print_message(str(error))
        observations = []
    if is_local_path(source):
        observations += of_revisions(source, session.should_stop)
    # What dated tags have is not all there now.
    if not (tags := of_tags(catalog, source)):
        now = time.strftime("%Y-%m-%dT%H:%MZ", time.gmtime())
        tags = [Observation(now, "now", of_source(catalog, source))]
    observations += tags
    return sorted(observations, key=lambda each: each.when)
