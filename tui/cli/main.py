"""Start the program from the command line.

Nothing is imported before `main` runs, so that Ctrl-C at any moment ends without a traceback.
"""

from __future__ import annotations

# As in `typing`, which is among what is not imported.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_ALLOCATIONS = 50_000
"""Objects that are allocated, and not freed, between two searches for garbage."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command of a command line, by default that of the process; return the exit code.

    Data goes to stdout and messages to stderr. Every error is a message, and no traceback.

        main(["find", "--hashes", "hdf5"])
    """
    try:
        if argv is None and _print_version():
            return 0
        import gc

        from spackscope.tui.process.crash import run_guarded

        if argv is not None:
            return run_guarded(lambda: _run(argv))
        # Little of a command is garbage. Looking for it among all that is imported, last before
        # the process ends, takes a tenth of the time.
        gc.set_threshold(_ALLOCATIONS)
        try:
            return run_guarded(lambda: _run(None))
        finally:
            gc.freeze()
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        # The error report fails itself, as in a broken installation.
        import sys

        reason = f"unexpected {type(error).__qualname__}: no log could be written"
        print(f"spackscope: {reason}", file=sys.stderr)
        return 70


def _print_version() -> bool:
    """Print the version if the command line asks for nothing else; return whether that worked.

    Where it does not, as with a full disk, it is tried again by what reports errors.
    """
    import os
    import sys

    if sys.argv[1:] != ["--version"]:
        return False
    from spackscope.tui import VERSION

    try:
        os.write(1, f"spackscope {VERSION}\n".encode())
    except OSError:
        return False
    return True


def _run(argv: Sequence[str] | None) -> int:
    """Run a command, and turn expected errors into messages and exit codes."""
    import os
    import sys

    from spackscope.model.core.errors import Cancelled, SourceError
    from spackscope.tui.cli.arguments import parse_arguments
    from spackscope.tui.cli.commands import run_command
    from spackscope.tui.process import signals, stdio
    from spackscope.tui.process.exit_codes import ExitCode, Leave

    stdio.prepare(os.environ)
    try:
        with signals.handled():
            code = run_command(parse_arguments(sys.argv[1:] if argv is None else argv))
            stdio.flush()
            signals.raise_if_received()
            return code
    except Leave as leave:
        stdio.flush_or_discard()
        stdio.print_message(*leave.lines)
        return leave.code
    except SourceError as error:
        stdio.print_message(str(error))
        return ExitCode.UNREADABLE
    except (signals.Terminated, Cancelled):
        stdio.discard_output()
        signals.raise_if_received()
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        # The reader has seen enough, as `head` does; that is not a failure.
        stdio.discard_output()
        return ExitCode.FOUND


if __name__ == "__main__":
    raise SystemExit(main())
