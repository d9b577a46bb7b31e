"""The command `prune`: print what pruning a build cache would remove and break."""

from __future__ import annotations

from collections.abc import Sequence

from spackscope.model.analysis.prune import preview
from spackscope.model.core.redaction import shown_url
from spackscope.model.report.prune import prune_report
from spackscope.model.sources.resolve import names_source
from spackscope.model.sources.session import Session
from spackscope.model.sources.source_name import STANDARD_INPUT
from spackscope.tui.cli.arguments import Options
from spackscope.tui.cli.commands.common import (
    loaded,
    no_match,
    parse_query,
    print_report,
    read_hashes,
)
from spackscope.tui.process.exit_codes import ExitCode, Leave


def run(options: Options, sources: Sequence[str], session: Session) -> ExitCode:
    """Print what would be removed, and what would break; NOTHING if something breaks."""
    if not options.preview:
        raise Leave(ExitCode.USAGE, "prune deletes nothing: it only takes --preview")
    is_list = len(options.words) == 1 and names_source(options.words[0])
    hashes = _read_keep_list(options.words[0], session) if is_list else []
    query = None if is_list else parse_query(options.words, session)
    with loaded(options, session, sources) as (catalog,):
        if query is not None:
            chosen = catalog.match(query, should_stop=session.should_stop).ids()
            if not chosen:
                raise no_match(catalog, query)
        else:
            chosen = [row.id for hash_ in hashes for row in catalog.by_hash(hash_)]
        pruning = preview(catalog, chosen, are_kept=query is None, should_stop=session.should_stop)
        print_report(prune_report(pruning, catalog, shows_all=options.all), options, session)
    return ExitCode.NOTHING if pruning.broken else ExitCode.FOUND


def _read_keep_list(name: str, session: Session) -> list[str]:
    """Return the hashes of a keep-list. Raises Leave where it has none, or a line without one."""
    path = session.stdin_path if name == STANDARD_INPUT else name
    shown = "standard input" if name == STANDARD_INPUT else shown_url(name)
    hashes, wrong = read_hashes(path, shown) or ([], 0)
    if not hashes or wrong:
        # `spack buildcache prune` stops there, too.
        raise Leave(
            ExitCode.UNREADABLE, f"{shown} is not a keep-list, with a full hash on each line"
        )
    return hashes
