"""Start the program from the command line.

Nothing is imported before `main` runs, so that a Ctrl-C at any moment ends without a traceback.
"""

from __future__ import annotations

from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Do what the command line says, and return the exit code."""
    try:
        from spackscope.tui.dispatch import run

        return run(argv)
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    raise SystemExit(main())
