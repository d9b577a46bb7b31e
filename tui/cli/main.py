"""Start the program from the command line.

Nothing of the program but its version is imported before `main` runs, so that Ctrl-C at any moment
ends without a traceback.
"""

from __future__ import annotations

import gc
import os
import sys

from spackscope.tui import VERSION

# As in `typing`, which is not imported before `main` either.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line, by default the words of the process; return the exit code.

    Data goes to stdout and messages to stderr. Every error is a message, and no traceback.

        main(["find", "--hashes", "hdf5"])
    """
    try:
        if argv is None and _print_version():
            return 0
        if argv is None:
            # Until a command runs: `interpreter.resume_collector`.
            gc.disable()
        from spackscope.tui.process import crash, interpreter

        if argv is not None:
            return crash.run_guarded(lambda: _run(argv))
        code = 130
        try:
            code = crash.run_guarded(lambda: _run(sys.argv[1:]))
        except SystemExit as end:
            code = int(end.code or 0)
        finally:
            # At its end Python looks for garbage among all imported objects: 7 % of the
            # instructions of a `find` (valgrind --tool=callgrind).
            gc.freeze()
            interpreter.end(code)
        return code
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        # The error report fails itself, as in a broken installation.
        reason = f"unexpected {type(error).__qualname__}: no log could be written"
        print(f"spackscope: {reason}", file=sys.stderr)
        return 70


def _print_version() -> bool:
    """Print the version if the command line asks for nothing else; return whether that worked.

    Where it does not, as with a full disk, the usual way tries again, and reports the error.
    """
    if sys.argv[1:] != ["--version"]:
        return False
    try:
        os.write(1, f"spackscope {VERSION}\n".encode())
    except OSError:
        return False
    return True


def _run(words: Sequence[str]) -> int:
    # An error of an import is reported as well.
    from spackscope.tui.cli.run import run_line

    return run_line(words)


if __name__ == "__main__":
    raise SystemExit(main())
