"""Start the program from the command line.

Nothing is imported before `main` runs, so that a Ctrl-C at any moment ends without a traceback.
"""

from __future__ import annotations

from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Do what the command line says, and return the exit code."""

    def command() -> int:
        from spackscope.tui.cli.dispatch import run

        return run(argv)

    try:
        from spackscope.tui.process.crash import guarded

        return guarded(command)
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        # What reports errors fails itself, as in a broken installation.
        import sys

        reason = f"unexpected {type(error).__qualname__}: no log could be written"
        print(f"spackscope: {reason}", file=sys.stderr)
        return 70


if __name__ == "__main__":
    raise SystemExit(main())
