"""The browser, which opens without a command and with `pick`."""

from __future__ import annotations

from collections.abc import Sequence

from spackscope.model.core.errors import SourceError
from spackscope.model.query.format import join_words
from spackscope.model.sources.discover import discover
from spackscope.model.sources.resolve import absolute_path, is_local_path
from spackscope.model.sources.session import Session
from spackscope.tui.cli.arguments import Options
from spackscope.tui.cli.commands.common import parse_query
from spackscope.tui.process import stdio
from spackscope.tui.process.exit_codes import ExitCode


def run(options: Options, sources: Sequence[str], session: Session) -> ExitCode:
    """Open the browser; with `pick` print the hashes that were picked."""
    parse_query(options.words)
    if all(map(_is_missing, sources)):
        raise SourceError("; ".join(source.failure for source in discover(sources, session)))
    with stdio.on_terminal():
        from spackscope.tui.app import browse

        hashes = browse(
            sources,
            join_words(options.words),
            session=session,
            pick=options.command == "pick",
            no_color=options.no_color,
        )
    for hash_ in hashes or ():
        stdio.print_line(hash_)
    return ExitCode.FOUND if hashes or options.command != "pick" else ExitCode.INTERRUPTED


def _is_missing(source: str) -> bool:
    if not is_local_path(source):
        return False
    path = absolute_path(source)
    return not (path.is_file() or path.is_dir())
