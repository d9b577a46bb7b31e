"""The browser, which opens without a command, or for `pick`."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence

from spackscope.model.core.commands import BROWSE, COMMON, Command
from spackscope.model.core.tasks import run_briefly
from spackscope.model.index.catalog import Catalog
from spackscope.model.query.ast import join_words
from spackscope.model.sources.source_name import PREFIX, SAMPLE, absolute_path, is_local_path
from spackscope.tui.cli.command_line import CommandLine
from spackscope.tui.process import ExitCode, Leave, interpreter, stdio
from spackscope.tui.settings import check_mistakes
from spackscope.tui.settings.checks import browser_mistakes

COMMAND = Command(
    BROWSE,
    "browse, and pick the one that fits",
    ("[SOURCE]... [QUERY...]", "COMMAND [--help] ...", "help [COMMAND | query]"),
    "Browse the binaries in Spack build caches, and pick the one that fits.",
    COMMON,
    words="query",
    examples="""\
spackscope
spackscope hdf5 +mpi target=:zen3
spackscope public ~/spack/opt/spack 'cached !installed'
spackscope -- find""",
)


def run(line: CommandLine) -> ExitCode:
    """Open the browser."""
    open_browser(line, line.words)
    return ExitCode.FOUND


def open_browser(
    line: CommandLine, words: Sequence[str], purpose: str = ""
) -> tuple[Catalog | None, Sequence[str]]:
    """Open the browser with a query, for a purpose that `pick` shows: by default the query.

    Return the catalog that was shown last, and the hashes that `pick` has picked.
    """
    options, sources = line.parsed, line.sources
    line.query(words)
    if options.command == BROWSE and sources == (PREFIX,) and not options.sources:
        # The browser can be tried on the sample beside a Spack without binaries.
        sources = (PREFIX, SAMPLE)
    if run_briefly(lambda: all(map(_is_missing, sources)), False):
        # The error says why no source can be read, and the terminal stays as it is.
        line.load_quietly(sources)
    if options.near:
        _check_command(line, sources)
    if line.settings.origins:
        check_mistakes(browser_mistakes(line.settings))
    # The application looks for garbage from its first frame on.
    interpreter.pause_collector()
    try:
        with stdio.on_terminal():
            # A line with a mistake has ended before.
            from spackscope.tui.app import SpackscopeApp, browse

            app = SpackscopeApp(
                sources,
                join_words(words),
                session=line.session,
                settings=line.settings,
                pick=options.command == "pick",
                purpose=purpose or join_words(words),
                no_color=options.no_color,
                note=". ".join(options.notes),
            )
            hashes = browse(app) or ()
            return app.catalog, hashes
    finally:
        interpreter.resume_collector()


def _check_command(line: CommandLine, sources: Sequence[str]) -> None:
    """Raise Leave where the first word, which looks like a command, is not a package either."""
    word, *others = line.words
    if word not in line.load_quietly(sources).texts("package"):
        raise Leave(
            ExitCode.USAGE,
            f"unknown command or package {word}. Did you mean {line.parsed.near}?",
            f"  spackscope {shlex.join([line.parsed.near, *others])}",
        )


def _is_missing(source: str) -> bool:
    if not is_local_path(source):
        return source == PREFIX
    path = absolute_path(source)
    return not (os.path.isfile(path) or os.path.isdir(path))
