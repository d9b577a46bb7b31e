"""Look after stdin, stdout and stderr: data on the one, talk on the other, never a traceback."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Mapping, MutableMapping
from typing import IO

from spackscope.model.core.text import clean, shorten
from spackscope.tui.process.exit_codes import ExitCode, Leave

_LONGEST_LINE = 500


def prepare(environ: MutableMapping[str, str]) -> None:
    """Make the streams take every text, and the environment mean what it says.

    A closed stream is replaced by the null device, lest a file of ours take its number and
    receive what was meant for the stream.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        stream = getattr(sys, name)
        if stream is None:
            with contextlib.suppress(OSError):
                descriptor = os.open(os.devnull, os.O_RDWR)
                if descriptor != number:
                    os.dup2(descriptor, number)
                    os.close(descriptor)
                stream = open(number, "w" if number else "r", closefd=False)  # noqa: SIM115
                setattr(sys, name, stream)
                setattr(sys, f"__{name}__", stream)
        elif number and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    if not environ.get("NO_COLOR"):
        # Set and empty means nothing by no-color.org, but "no colour" to others.
        environ.pop("NO_COLOR", None)


def say(*lines: str) -> None:
    """Say lines on stderr under the name of the program, cleaned and not endless."""
    with contextlib.suppress(OSError):
        for number, line in enumerate(lines):
            name = "" if number else "spackscope: "
            print(shorten(clean(f"{name}{line}"), _LONGEST_LINE), file=sys.stderr, flush=True)


def write(line: str) -> None:
    """Write one line to stdout.

    Raises BrokenPipeError where nobody reads any more, and Leave where it cannot be written.
    """
    try:
        sys.stdout.write(f"{line}\n")
    except OSError as error:
        raise _unwritable(error) from None


def flush() -> None:
    """Hand over what is still in the buffer of stdout; raises as `write` does."""
    try:
        sys.stdout.flush()
    except OSError as error:
        raise _unwritable(error) from None


def flush_or_discard() -> None:
    """Hand over what is still in the buffer of stdout, or discard it where that fails."""
    try:
        flush()
    except (BrokenPipeError, Leave):
        forget_output()


def forget_output() -> None:
    """Let what nobody takes any more end in the null device, or Python complains at its exit."""
    with contextlib.suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)


def _unwritable(error: OSError) -> Exception:
    if isinstance(error, BrokenPipeError):
        return error
    reason = (error.strerror or str(error)).lower()
    return Leave(ExitCode.UNREADABLE, f"the output cannot be written: {reason}")


def is_terminal(stream: IO[str] | None) -> bool:
    """Tell whether a stream is a terminal; a closed one is none."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False


def width(environ: Mapping[str, str]) -> int:
    """Give the columns of the terminal on stdout; COLUMNS stands above it."""
    columns = environ.get("COLUMNS", "")
    if columns.isascii() and columns.isdigit() and int(columns[:6]) > 0:
        return int(columns[:6])
    with contextlib.suppress(OSError, ValueError):
        return os.get_terminal_size(sys.stdout.fileno()).columns or 80
    return 80


def may_colour(environ: Mapping[str, str]) -> bool:
    """Tell whether stdout takes SGR: a terminal that is not dumb, and no wish against it."""
    plain = environ.get("NO_COLOR") or environ.get("TERM", "dumb") == "dumb"
    return not plain and is_terminal(sys.stdout)


@contextlib.contextmanager
def on_terminal() -> Iterator[None]:
    """Stand all three streams on the terminal for as long as the browser draws.

    Textual reads descriptor 0, draws on 2, and asks 1 for the size. Raises Leave where there is
    no terminal.
    """
    elsewhere = [number for number in (0, 1, 2) if not os.isatty(number)]
    kept: dict[int, int] = {}
    try:
        if elsewhere:
            terminal = _open_terminal()
            for number in elsewhere:
                kept[number] = os.dup(number)
                os.dup2(terminal, number)
            os.close(terminal)
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        for number, copy in kept.items():
            os.dup2(copy, number)
            os.close(copy)


def _open_terminal() -> int:
    try:
        return os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
    except OSError:
        message = "the browser needs a terminal; `spackscope find` does without"
        raise Leave(ExitCode.USAGE, message) from None
