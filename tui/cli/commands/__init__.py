"""Run a command of the command line, each of which is a module with a function `run`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING

from spackscope.tui.cli.arguments import Options
from spackscope.tui.cli.help import BROWSE, COMMANDS
from spackscope.tui.cli.stdin import copy_stdin
from spackscope.tui.process import stdio
from spackscope.tui.process.exit_codes import ExitCode

if TYPE_CHECKING:
    from spackscope.model.sources.session import Session


def run_command(options: Options) -> ExitCode:
    """Run a command. Raises Leave, SourceError, Cancelled, BrokenPipeError."""
    if options.help:
        stdio.print_line(COMMANDS[options.command].rstrip("\n"))
        return ExitCode.FOUND
    if options.version:
        stdio.print_line(_version())
        return ExitCode.FOUND
    # Imported here, since the help needs no source.
    from spackscope.model.sources.resolve import STANDARD_INPUT, resolve_sources
    from spackscope.model.sources.session import Session

    session = Session(os.environ, include_dependency_only=options.all)
    sources = resolve_sources(options.sources, session)
    if STANDARD_INPUT not in sources:
        return _run(options, sources, session)
    with copy_stdin() as path:
        return _run(options, sources, replace(session, stdin_path=path))


def _run(options: Options, sources: Sequence[str], session: Session) -> ExitCode:
    # Only that module is imported: no command needs what another does, least of all the browser.
    name = "browse" if options.command in (BROWSE, "pick") else options.command
    command = import_module(f"spackscope.tui.cli.commands.{name}")
    code: ExitCode = command.run(options, sources, session)
    return code


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return f"spackscope {version('spackscope')}"
    except PackageNotFoundError:
        return "spackscope, not installed"
