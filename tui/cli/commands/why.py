"""The command `why`: print what keeps Spack from taking a spec from the caches."""

from __future__ import annotations

from collections.abc import Sequence

from spackscope.model.analysis.cover import cover, find_nearest
from spackscope.model.analysis.why import names_specs
from spackscope.model.core.text import clean
from spackscope.model.query.ast import join_words
from spackscope.model.report.why import judge_missing, judge_query, why_report
from spackscope.model.sources.resolve import find_environment, names_source
from spackscope.model.sources.session import Session
from spackscope.tui.cli.arguments import Options
from spackscope.tui.cli.commands.common import (
    build_progress,
    hash_prefix,
    loaded,
    no_match,
    parse_query,
    print_report,
)
from spackscope.tui.process.exit_codes import ExitCode, Leave


def run(options: Options, sources: Sequence[str], session: Session) -> ExitCode:
    """Print why Spack does not reuse builds that a query names, or those of an environment.

    NOTHING if none may be taken.
    """
    if len(options.words) == 1 and names_source(options.words[0]):
        return _explain_environment(options, sources, session)
    query, what = parse_query(options.words, session), clean(join_words(options.words))
    if not names_specs(query):
        raise Leave(ExitCode.USAGE, f"why needs a package, a hash or a lock file: {what}")
    with loaded(options, session, sources) as (catalog,):
        rules, should_stop = session.reuse_rules, session.should_stop
        judged = judge_query(catalog, query, rules, should_stop=should_stop)
        if not judged and hash_prefix(options.words):
            by_hash = parse_query([f"/{hash_prefix(options.words).lstrip('/')}"], session)
            judged = judge_query(catalog, by_hash, rules, should_stop=should_stop)
        if not judged:
            raise no_match(catalog, query)
        report = why_report(what, judged, session, catalog, shows_all=options.all)
        print_report(report, options, session)
    may_be_reused = any(not each.verdict.reason and not each.missing for each in judged)
    return ExitCode.FOUND if may_be_reused else ExitCode.NOTHING


def _explain_environment(options: Options, sources: Sequence[str], session: Session) -> ExitCode:
    name = find_environment(options.words[0], session)
    with loaded(options, session, [name], sources) as (environment, caches):
        with build_progress(options) as progress:
            coverage = find_nearest(
                cover(environment, caches), on_progress=progress, should_stop=session.should_stop
            )
        judged = list(judge_missing(coverage, caches, session.reuse_rules))
        what = f"{clean(options.words[0])}, {len(judged):,} of {coverage.total:,} missing"
        report = why_report(what, judged, session, caches, shows_all=options.all)
        print_report(report, options, session)
    return ExitCode.NOTHING if judged else ExitCode.FOUND
