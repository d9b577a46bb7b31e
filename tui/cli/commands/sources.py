"""The command `sources`: list the sources that are read, or verify them."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from functools import partial

from spackscope.model.core.frozen import asdict, replace
from spackscope.model.report.sources import (
    source_table,
    tag_table,
    verified_report,
    verified_table,
)
from spackscope.model.sources.session import Session
from spackscope.tui.cli.arguments import Options
from spackscope.tui.cli.commands.common import (
    LISTED_BY_INDEX,
    MAX_PRINTED,
    build_progress,
    loaded,
    print_problems,
    print_report,
    print_table,
)
from spackscope.tui.process import stdio
from spackscope.tui.process.exit_codes import ExitCode


def run(options: Options, sources: Sequence[str], session: Session) -> ExitCode:
    """Print each source with its kind, specs, problems and age; or verify it."""
    if options.verify:
        return _verify(options, sources, session)
    if options.tags:
        return _list_tags(options, sources, session)
    with loaded(options, session, sources) as (catalog,):
        if options.format:
            for source in catalog.sources:
                stdio.print_line(json.dumps(asdict(source)))
        else:
            print_table(source_table(catalog.sources, time.time()), options, session)
    return ExitCode.FOUND


def _list_tags(options: Options, sources: Sequence[str], session: Session) -> ExitCode:
    """Print the tags of the public cache, or of the tag list among the sources."""
    # Hardly anybody who lists sources lists tags.
    from spackscope.model.sources.mirror import read_tag_list
    from spackscope.model.sources.source_name import PUBLIC, parse_public_cache

    parse = partial(parse_public_cache, environ=session.environ, tag_list=session.tag_list)
    public = next(filter(None, map(parse, (*sources, PUBLIC))))
    tags, _ = read_tag_list(public, session)
    if options.format:
        stdio.print_line(json.dumps(tags))
    else:
        print_table(tag_table(tags, time.time()), options, session)
    return ExitCode.FOUND


def _verify(options: Options, sources: Sequence[str], session: Session) -> ExitCode:
    """Print how many records of each source are whole, and those that are not.

    Returns NOTHING if the content of a record gives another hash or a mirror differs from its
    index, UNREADABLE if a source or a document cannot be read.
    """
    # Hardly anybody who lists sources verifies them.
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
    print_problems(problems, MAX_PRINTED, LISTED_BY_INDEX)
    if not options.format:
        print_table(verified_table(verified), options, session)
    for source in verified:
        print_report(verified_report(source), options, session)
    if not all(source.is_right for source in verified):
        return ExitCode.NOTHING
    is_unreadable = any(source.failure or source.problems for source in verified)
    return ExitCode.UNREADABLE if is_unreadable else ExitCode.FOUND
