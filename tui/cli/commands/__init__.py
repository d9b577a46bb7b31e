"""Run a command line; each command is a module with a function `run`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from spackscope.model.core.errors import (
    Cancelled,
    SourceError,
    Unanswerable,
    Unreadable,
    WrongQuestion,
)
from spackscope.tui import VERSION
from spackscope.tui.cli.arguments import Options, parse_arguments
from spackscope.tui.cli.command_table import COMMANDS, HELP
from spackscope.tui.process import ExitCode, Leave, signals, stdio, tuning


def run_line(words: Sequence[str]) -> int:
    """Run a command line, and turn expected errors into messages and exit codes."""
    stdio.prepare(os.environ)
    try:
        with signals.handled():
            code = _run_command(parse_arguments(words))
            stdio.flush()
            signals.raise_if_received()
            return code
    except Leave as leave:
        return _leave(leave)
    except (SourceError, Unreadable) as error:
        return _leave(Leave(ExitCode.UNREADABLE, str(error)))
    except (Unanswerable, WrongQuestion) as error:
        return _leave(Leave(ExitCode.USAGE, str(error)))
    except (signals.Terminated, Cancelled):
        stdio.discard_output()
        signals.raise_if_received()
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        # A reader such as `head` has read enough; this is not a failure.
        stdio.discard_output()
        return ExitCode.FOUND


def _leave(leave: Leave) -> ExitCode:
    stdio.flush_or_discard()
    stdio.print_message(*leave.lines)
    return leave.code


def _run_command(options: Options) -> ExitCode:
    command, code = COMMANDS[options.command], ExitCode.FOUND
    if options.help:
        code = _module(HELP).run(options, os.environ)
    elif options.version:
        stdio.print_line(f"spackscope {VERSION}")
    elif not command.reads_sources:
        code = _module(command.runner).run(options, os.environ)
    else:
        with _module("command_line").open_command_line(options) as line:
            run = _module(command.runner).run
            # The process began without: what it has imported is never garbage.
            tuning.resume_collector()
            code = run(line)
    return code


def _module(name: str) -> Any:
    """Import a module of this package: no command needs the imports of another."""
    return import_module(f"{__name__}.{name}")
