"""The browser, which opens without a command and with `pick`."""

from __future__ import annotations

import gc
import os
import shlex
from collections.abc import Sequence

from spackscope.model.core.errors import SourceError
from spackscope.model.query.ast import join_words
from spackscope.model.sources.session import Session
from spackscope.model.sources.source_name import PREFIX, SAMPLE, absolute_path, is_local_path
from spackscope.tui.cli.arguments import Options
from spackscope.tui.cli.command_table import BROWSE
from spackscope.tui.cli.commands.common import load_catalog, parse_query
from spackscope.tui.process import stdio
from spackscope.tui.process.exit_codes import ExitCode, Leave
from spackscope.tui.settings import Settings, WrongSettings


def run(
    options: Options, sources: Sequence[str], session: Session, settings: Settings
) -> ExitCode:
    """Open the browser; with `pick` print the hashes that were picked."""
    parse_query(options.words, session)
    if options.command == BROWSE and sources == (PREFIX,) and not options.sources:
        # The browser can be tried on the sample beside a Spack without binaries.
        sources = (PREFIX, SAMPLE)
    if all(map(_is_missing, sources)):
        from spackscope.model.sources.discover import discover

        raise SourceError("; ".join(source.failure for source in discover(sources, session)))
    _check_command(options, sources, session)
    _check_settings(settings)
    # What is imported and built at a start is hardly ever garbage, but is looked at again and
    # again: that takes a tenth of the start. The application collects from its first frame on.
    gc.disable()
    try:
        with stdio.on_terminal():
            from spackscope.tui.app import browse

            hashes = browse(
                sources,
                join_words(options.words),
                session=session,
                settings=settings,
                pick=options.command == "pick",
                no_color=options.no_color,
            )
    finally:
        gc.enable()
    for hash_ in hashes or ():
        stdio.print_line(hash_)
    return ExitCode.FOUND if hashes or options.command != "pick" else ExitCode.INTERRUPTED


def _check_settings(settings: Settings) -> None:
    """Raise Leave where a setting that only the browser uses is wrong."""
    if not settings.origins:
        return
    from spackscope.tui.settings.checks import browser_mistakes

    if mistakes := browser_mistakes(settings):
        raise WrongSettings(mistakes)


def _check_command(options: Options, sources: Sequence[str], session: Session) -> None:
    """Raise Leave where the first word looks like a command, and no package has that name."""
    if not options.near:
        return
    catalog = load_catalog(options, sources, session)
    word, *others = options.words
    if word not in catalog.texts("package"):
        raise Leave(
            ExitCode.USAGE,
            f"unknown command or package {word}. Did you mean {options.near}?",
            f"  spackscope {shlex.join([options.near, *others])}",
        )


def _is_missing(source: str) -> bool:
    if not is_local_path(source):
        return source == PREFIX
    path = absolute_path(source)
    return not (os.path.isfile(path) or os.path.isdir(path))
