"""Write data to stdout and messages to stderr, so that any text can be encoded.

Widgets and texts use signs as they are. Text for a terminal without UTF-8 is translated on its way
out, cell by cell, so that no layout changes. Text from outside with other letters is written as it
is.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import IO

from spackscope.model.core.redaction import without_secrets
from spackscope.model.core.text import clean, shorten
from spackscope.tui.process import ExitCode, Leave

_MAX_LINE_LENGTH = 500
_MAX_SIZES = {"COLUMNS": 1000, "LINES": 500}
"""The largest size of a terminal that the environment may ask for: all of it is drawn."""

_PAIRS = {
    # No letter or wildcard stands for a sign within data, where it would read as a part of it.
    "·": "|",
    "×": ":",
    "≠": "#",
    "✓✔": "+",
    "✗✘": "-",
    "▲△": "!",
    "●◉": "@",
    "○◌": ".",
    "◆": "&",
    "◇": "%",
    # As in other trees and lists of files: closed, open, and the cursor.
    "▸": ">",
    "▾": "v",
    "┃": "*",
    "▶›→»": ">",
    "◂◀‹←«⌫": "<",
    "▼↓": "\\",
    "▴↑⇧": "^",
    "⏎↵": "$",
    "⇥": ">",
    "█▉▊▋▌▇▆▅▀▄▐": "#",
    "▏▎▍": "-",
    "░▒▓": ":",
    "▁▂▃": "_",
    "▔": "-",
    "─━╌╍┄┅┈┉═╴╶–": "-",
    "’": "'",
    "│╎╏┆┇┊┋║▕": "|",
    "┌┐└┘├┤┬┴┼╭╮╰╯╞╡╪╔╗╚╝╠╣╦╩╬": "+",
    "\N{NO-BREAK SPACE}": " ",
    # The pictures of control characters.
    "".join(map(chr, range(0x2400, 0x2427))): "`",
}

SIGNS = {ord(sign): letter for signs, letter in _PAIRS.items() for sign in signs}
"""The letter for each sign, as `str.translate` takes them."""

PLAIN = "SPACKSCOPE_PLAIN"
"""The variable that asks for a screen without boxes and bars, for screen readers."""
_PLAIN_SIGNS = {**SIGNS, **dict.fromkeys(range(0x2500, 0x25A0), " "), ord("┃"): SIGNS[ord("┃")]}
"""The letters of a plain screen: lines and blocks are blank, but for the sign of the cursor."""

_KEY_NAMES = {
    "⇧": "shift-", "⏎": "enter", "⌫": "bksp", "⇥": "tab",
    "←": "left", "→": "right", "↑": "up", "↓": "down",
}  # fmt: skip


def prepare(environ: MutableMapping[str, str]) -> None:
    """Prepare the streams to encode every text, remove an empty NO_COLOR, and bound the size.

    A closed stream is replaced by the null device, or a file of ours would get its number and
    receive the output for the stream.
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
        # By no-color.org an empty variable means nothing; to some libraries it means no colour.
        environ.pop("NO_COLOR", None)
    for name, bound in _MAX_SIZES.items():
        with contextlib.suppress(ValueError):
            if int(environ.get(name, "")) > bound:
                environ[name] = str(bound)


def print_message(*lines: str) -> None:
    """Print lines on stderr after the name of the program, without secrets, cleaned and shortened.

    Any message may quote text that the user typed.
    """
    with contextlib.suppress(OSError):
        for number, line in enumerate(lines):
            name = "" if number else "spackscope: "
            text = shorten(clean(without_secrets(f"{name}{line}")), _MAX_LINE_LENGTH)
            print(_for(sys.stderr, text), file=sys.stderr, flush=True)


def print_line(line: str) -> None:
    """Print one line on stdout.

    Raises BrokenPipeError where the reader is gone, and Leave where stdout cannot be written.
    """
    _write(sys.stdout.write, f"{_for(sys.stdout, line)}\n")


def _for(stream: IO[str], text: str) -> str:
    """Return a text for a stream: a terminal without UTF-8 gets letters for signs."""
    if text.isascii() or supports_unicode() or not is_terminal(stream):
        return text
    return in_ascii(text)


class Stderr(io.TextIOBase):
    """The stream stderr for a library that draws: ASCII where the terminal shows nothing else."""

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """The encoding that the terminal shows."""
        return "utf-8" if supports_unicode() else "ascii"

    def isatty(self) -> bool:
        """Check whether stderr is a terminal."""
        return is_terminal(sys.stderr)

    def fileno(self) -> int:
        """Return its descriptor."""
        return sys.stderr.fileno()

    def write(self, text: str) -> int:
        """Write a text."""
        return sys.stderr.write(_for(sys.stderr, text))

    def flush(self) -> None:
        """Write all that is buffered."""
        sys.stderr.flush()


def flush() -> None:
    """Write the buffer of stdout; raises the errors of `print_line`."""
    _write(sys.stdout.flush)


def _write(write: Callable[..., object], *texts: str) -> None:
    try:
        write(*texts)
    except BrokenPipeError:
        raise
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise Leave(ExitCode.UNREADABLE, f"the output cannot be written: {reason}") from None


def flush_or_discard() -> None:
    """Write the buffer of stdout, or discard it if that fails."""
    try:
        flush()
    except (BrokenPipeError, Leave):
        discard_output()


def discard_output() -> None:
    """Send the buffer of stdout to the null device, or Python complains at its exit."""
    with contextlib.suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)


def is_terminal(stream: IO[str] | None) -> bool:
    """Check whether a stream is a terminal; a closed one is not."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False


def width() -> int:
    """Return the width of the terminal on stdout in cells; COLUMNS overrides it."""
    import shutil

    return shutil.get_terminal_size().columns


def supports_colour(environ: Mapping[str, str]) -> bool:
    """Check whether stdout is a terminal with colours, and NO_COLOR is not set."""
    plain = environ.get("NO_COLOR") or environ.get("TERM", "dumb") == "dumb"
    return not plain and is_terminal(sys.stdout)


def is_plain() -> bool:
    """Check whether a screen reader reads the terminal; the command line sets the variable too."""
    return os.environ.get(PLAIN, "").strip() not in ("", "0")


def supports_unicode() -> bool:
    """Check whether the locale and stdout are UTF-8, and the terminal has more than letters.

    In the locale C Python writes UTF-8 all the same, which the terminal may not read. The fonts of
    the Linux console have few signs.
    """
    import locale

    if os.environ.get("TERM") == "linux" or is_plain():
        return False

    # While Textual runs, stdout is a stream of its own without an encoding.
    stream = sys.stdout if hasattr(sys.stdout, "encoding") else sys.__stdout__
    encodings = (locale.nl_langinfo(locale.CODESET), getattr(stream, "encoding", ""))
    return all((name or "").lower().replace("-", "") == "utf8" for name in encodings)


@contextlib.contextmanager
def on_terminal() -> Iterator[None]:
    """Redirect all three streams to the terminal while the browser runs.

    Textual reads descriptor 0, draws on 2, and asks 1 for the size. Raises Leave where there is
    no terminal.
    """
    elsewhere = [number for number in (0, 1, 2) if not os.isatty(number)]
    copies: dict[int, int] = {}
    try:
        if elsewhere:
            terminal = _open_terminal()
            for number in elsewhere:
                copies[number] = os.dup(number)
                os.dup2(terminal, number)
            os.close(terminal)
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        for number, copy in copies.items():
            os.dup2(copy, number)
            os.close(copy)


def _open_terminal() -> int:
    try:
        return os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
    except OSError:
        message = "the browser needs a terminal; `spackscope find` works without one"
        raise Leave(ExitCode.USAGE, message) from None


_CUT = r"(\x1b\[[0-?]*[ -/]*[@-~])|([ -~]?)((?:\x1b\[[0-9;]*m)*)…( ?)"
"""A command for the terminal; or the sign of a cut, with the cells and styles around it."""


def in_ascii(text: str) -> str:
    """Replace signs by letters, each of one cell; a cut takes the cell before or after it, too.

    >>> in_ascii("▸ ×9  hdf5 · build…  +mpi … 2")
    '> :9  hdf5 | buil..  +mpi ..2'
    """

    def cut(match: re.Match[str]) -> str:
        command, before, styles, after = match.groups()
        if command:
            return command
        if after and before in ("", " "):
            return f"{before}{styles}.."
        return f"{'.' if before else ''}{styles}.{after}"

    text = text.translate(_PLAIN_SIGNS if is_plain() else SIGNS)
    return re.sub(_CUT, cut, text) if "…" in text else text


def key_word(shown: str) -> str:
    """Return the name of a key for a terminal without UTF-8.

    >>> key_word("⇧⇥")
    'shift-tab'
    """
    for sign, name in _KEY_NAMES.items():
        shown = shown.replace(sign, name)
    return shown
