"""Report unexpected errors: one sentence on stderr, and a log without the data of the user.

Passwords and tokens get into local variables, messages of exceptions, and the code of a program
that calls this one. The log has none of these: it names types, error numbers, and the files, line
numbers and functions through which an error came.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping

from spackscope.model.core.errors import Unwritable
from spackscope.tui import VERSION
from spackscope.tui.process import ExitCode, signals, stdio

_MAX_CAUSES = 10
"""Causes of an error in a log, itself included."""
_MAX_FRAMES = 30
"""Frames of a traceback in a log, the innermost ones."""

_errors: list[BaseException] = []
_listeners: list[Callable[[BaseException], object]] = []


def run_guarded(command: Callable[[], int]) -> int:
    """Run a command and return its exit code; report every error that it does not catch."""
    _errors.clear()
    _set_hooks()
    try:
        code = command()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        # Python prints an exit code that is a text.
        if isinstance(error, SystemExit) and isinstance(error.code, int | None):
            raise
        # The exception of a signal may be replaced by another one, as in `__set_name__`.
        signals.raise_if_received()
        record(error)
    return report(os.environ) if _errors else code


def record(error: BaseException) -> None:
    """Record an unexpected error of any thread, and call the listeners."""
    if not _errors:
        _errors.append(error)
    for listener in tuple(_listeners):
        listener(error)


@contextlib.contextmanager
def on_error(listener: Callable[[BaseException], object]) -> Iterator[None]:
    """Call a function with each unexpected error, in the thread where it is recorded."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def report(environ: Mapping[str, str]) -> ExitCode:
    """Write the log, and print its path on stderr, after all data on stdout."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        stdio.discard_output()
    path = _write_log(environ)
    where = f"see {path} (it contains no data)" if path else "no log could be written"
    stdio.print_message(f"unexpected {_type(_errors[0])}: {where}")
    return ExitCode.UNEXPECTED


def _set_hooks() -> None:
    """Stop Python from printing the errors of threads and destructors, even at its exit."""

    def in_thread(thread: threading.ExceptHookArgs) -> None:
        if thread.exc_value is not None and not isinstance(thread.exc_value, SystemExit):
            record(thread.exc_value)

    def unraisable(ignored: sys.UnraisableHookArgs) -> None:
        # Python ignores other errors, so they do not end the program.
        if isinstance(ignored.exc_value, (KeyboardInterrupt, signals.Terminated)):
            signals.resend()

    sys.excepthook = lambda _type, error, _trace: record(error)
    threading.excepthook, sys.unraisablehook = in_thread, unraisable


def _write_log(environ: Mapping[str, str]) -> str:
    """Write the log of the last crash, for the user alone; return its path, or "" on failure."""
    # A crash is rare.
    from spackscope.model.core.file_access import write_private, xdg_path

    if (path := xdg_path(environ, "state", "crash.log")) is None:
        return ""
    try:
        write_private(path, "".join(_lines()).encode("utf-8", "backslashreplace"))
    except Unwritable:
        return ""
    return path


def _lines() -> Iterator[str]:
    """Describe the first error and its causes, the outermost first."""
    import platform
    import traceback

    yield f"spackscope {VERSION}, Python {platform.python_version()}, {platform.platform()}\n"
    link: BaseException | None = _errors[0]
    for _ in range(_MAX_CAUSES):
        if link is None:
            break
        number = link.errno if isinstance(link, OSError) else None
        yield f"{_type(link)} {number}\n" if isinstance(number, int) else f"{_type(link)}\n"
        for frame in traceback.extract_tb(link.__traceback__, -_MAX_FRAMES):
            yield f'  File "{frame.filename}", line {frame.lineno}, in {frame.name}\n'
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)


def _type(error: BaseException) -> str:
    return f"{type(error).__module__}.{type(error).__qualname__}".removeprefix("builtins.")
