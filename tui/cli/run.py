"""Run a command line."""

from __future__ import annotations

import os
from collections.abc import Sequence

from spackscope.model.core.commands import HELP
from spackscope.model.core.errors import (
    Cancelled,
    SourceError,
    Unanswerable,
    Unreadable,
    WrongQuestion,
)
from spackscope.tui import VERSION
from spackscope.tui.cli.arguments import Options, parse_arguments
from spackscope.tui.cli.command_table import ANSWERS, COMMANDS, module_of
from spackscope.tui.process import ExitCode, Leave, interpreter, signals, stdio


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
    name, code = options.command, ExitCode.FOUND
    if options.help:
        code = module_of(HELP).run(options, os.environ)
    elif options.version:
        stdio.print_line(f"spackscope {VERSION}")
    elif not COMMANDS[name].reads_sources:
        code = module_of(name).run(options, os.environ)
    else:
        # A command without sources needs none of these modules.
        from spackscope.tui.cli.command_line import open_command_line, print_answer

        module = module_of(name)
        with open_command_line(options) as line:
            # The process began without: what it has imported is never garbage.
            interpreter.resume_collector()
            code = print_answer(module.answer, line) if name in ANSWERS else module.run(line)
    return code
