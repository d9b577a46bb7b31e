"""The command `history`: print since when specs are in a source, and when they went."""

from __future__ import annotations

from collections.abc import Sequence

from spackscope.model.analysis.history import HASH, KNOWN, VERSION, read_history
from spackscope.model.core.columns import ALIASES, FIELDS
from spackscope.model.core.text import clean
from spackscope.model.query.ast import Term, join_words
from spackscope.model.report.history import history_report
from spackscope.model.sources.session import Session
from spackscope.tui.cli.arguments import Options
from spackscope.tui.cli.commands.common import (
    build_progress,
    loaded,
    no_match,
    parse_query,
    print_report,
)
from spackscope.tui.process import stdio
from spackscope.tui.process.exit_codes import ExitCode, Leave


def run(options: Options, sources: Sequence[str], session: Session) -> ExitCode:
    """Print the lines of time of specs; NOTHING if it was never there."""
    query = parse_query(options.words, session)
    if query.specs or any(
        not (isinstance(condition, Term) and condition.column in KNOWN)
        for condition in query.conditions
    ):
        raise Leave(ExitCode.USAGE, "history knows packages, versions, variants and hashes only")
    by = (options.by or (HASH if "hash" in query.columns else VERSION,))[-1]
    if by not in (VERSION, HASH) and ALIASES.get(by, by) in FIELDS:
        raise Leave(ExitCode.USAGE, f"--by takes version, hash or a variant, not {clean(by)}")
    with loaded(options, session, sources) as (catalog,), build_progress(options) as progress:
        histories, failures = read_history(
            catalog,
            query,
            session.environ,
            session.should_stop,
            by,
            given=sources,
            on_progress=progress,
        )
    packages = {line.query.package for _, lines in histories.values() for line in lines}
    unknown = [term for term in catalog.virtuals.unknown(query) if term.pattern not in packages]
    if packages and unknown:
        raise no_match(catalog, query)
    for failure in failures:
        stdio.print_message(failure)
    what = clean(join_words(options.words))
    print_report(history_report(what, histories, shows_all=options.all), options, session)
    return ExitCode.FOUND if any(lines for _, lines in histories.values()) else ExitCode.NOTHING
