"""Do what a command line says, and turn whatever happens into an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import replace

from spackscope.model.core.errors import (
    Cancelled,
    QueryError,
    SourceError,
)
from spackscope.model.core.text import cell_width, clean
from spackscope.model.query.ast import Query
from spackscope.model.query.format import join_words
from spackscope.model.query.parser import parse as parse_query
from spackscope.model.sources.discover import discover
from spackscope.model.sources.resolve import (
    STANDARD_INPUT,
    absolute_path,
    is_local_path,
    resolve_sources,
)
from spackscope.model.sources.session import Session
from spackscope.tui.cli.arguments import Arguments, parse
from spackscope.tui.cli.help import BROWSE, COMMANDS
from spackscope.tui.cli.stdin import spooled
from spackscope.tui.process import signals, stdio
from spackscope.tui.process.exit_codes import ExitCode, Leave

_LONGEST_SHOWN = 500
"""Characters of a query that is shown with a caret under its error."""


def run(argv: Sequence[str] | None = None) -> ExitCode:
    """Run a command.

    Data go to stdout and all talk to stderr; nothing that a user can do ends in a traceback.
    """
    stdio.prepare(os.environ)
    try:
        with signals.orderly():
            code = _command(parse(sys.argv[1:] if argv is None else argv))
            stdio.flush()
            signals.obey()
            return code
    except Leave as leave:
        return _leave(leave)
    except SourceError as error:
        stdio.say(str(error))
        return ExitCode.UNREADABLE
    except (signals.Terminated, Cancelled):
        stdio.forget_output()
        signals.obey()
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        # Whoever read had enough, as `head` does: that is no failure.
        stdio.forget_output()
        return ExitCode.FOUND


def _command(arguments: Arguments) -> ExitCode:
    if arguments.help or arguments.version:
        return _tell(arguments)
    if arguments.no_color:
        os.environ["NO_COLOR"] = "1"
    session = Session(os.environ, include_dependency_only=arguments.all)
    sources = resolve_sources(arguments.sources, session)
    with spooled(STANDARD_INPUT in sources) as stdin_path:
        return _ask(sources, arguments, replace(session, stdin_path=stdin_path))


def _ask(sources: Sequence[str], arguments: Arguments, session: Session) -> ExitCode:
    if arguments.command in (BROWSE, "pick"):
        return _browse(sources, arguments, session)
    from spackscope.tui.cli import commands

    if arguments.command == "find":
        return commands.find(sources, _query(arguments.words), arguments.format, session)
    if arguments.command == "show":
        begin = commands.hash_beginning(arguments.words)
        query = Query() if begin.startswith("/") else _query(arguments.words)
        as_json = bool(arguments.format)
        return commands.show(sources, begin, query, json=as_json, session=session)
    if arguments.command == "sources":
        return commands.sources(sources, json=bool(arguments.format), session=session)
    return commands.index(sources, rebuild=arguments.rebuild, session=session)


def _tell(arguments: Arguments) -> ExitCode:
    if arguments.help:
        stdio.write(COMMANDS[arguments.command].rstrip("\n"))
        return ExitCode.FOUND
    from importlib.metadata import PackageNotFoundError, version

    try:
        stdio.write(f"spackscope {version('spackscope')}")
    except PackageNotFoundError:
        stdio.write("spackscope, not installed")
    return ExitCode.FOUND


def _query(words: Sequence[str]) -> Query:
    """Parse the words of a query. Raises Leave, with a caret under the place that is none."""
    text = join_words(words)
    try:
        return parse_query(text)
    except QueryError as error:
        if len(text) > _LONGEST_SHOWN:
            raise Leave(ExitCode.USAGE, str(error)) from None
        at = cell_width(clean(text[: error.offset]))
        lines = (f"  {clean(text)}", f"  {' ' * at}^ {error}")
        raise Leave(ExitCode.USAGE, "the query has an error", *lines) from None


def _browse(sources: Sequence[str], arguments: Arguments, session: Session) -> ExitCode:
    _query(arguments.words)
    if all(is_local_path(source) and not _is_there(source) for source in sources):
        raise SourceError("; ".join(one.failure for one in discover(sources, session)))
    pick = arguments.command == "pick"
    with stdio.on_terminal():
        from spackscope.tui.app import browse

        chosen_hashes = browse(sources, join_words(arguments.words), session=session, pick=pick)
    for hash_ in chosen_hashes or ():
        stdio.write(hash_)
    return ExitCode.FOUND if chosen_hashes or not pick else ExitCode.INTERRUPTED


def _is_there(source: str) -> bool:
    return absolute_path(source).is_file() or absolute_path(source).is_dir()


def _leave(leave: Leave) -> ExitCode:
    """Say why a command ends early, after the data that it wrote before."""
    try:
        stdio.flush()
    except (BrokenPipeError, Leave):
        stdio.forget_output()
    stdio.say(*leave.lines)
    return leave.code
