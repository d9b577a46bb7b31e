"""Report unexpected errors: one sentence on stderr, and a log without the data of the user.

Passwords and tokens get into local variables and the messages of exceptions. Neither is ever
written: the log contains types, files, lines and functions only, all of which come from code.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from types import TracebackType

from spackscope.tui import VERSION
from spackscope.tui.process import signals
from spackscope.tui.process.exit_codes import ExitCode

MAX_LOGS = 10
"""Logs that are kept; older ones are removed."""
_MAX_ERRORS = 10
"""Errors, and causes of one error, in a log."""
_MAX_FRAMES = 30
"""Frames of a traceback in a log, at either end."""

_errors: list[BaseException] = []
_ignored: list[BaseException] = []
_listeners: list[Callable[[BaseException], object]] = []


def run_guarded(command: Callable[[], int]) -> int:
    """Run a command and return its exit code; report every error that it does not catch."""
    _errors.clear()
    _ignored.clear()
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
    if len(_errors) < _MAX_ERRORS and all(error is not known for known in _errors):
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
    """Write the log, and print on stderr where it is, after all data on stdout."""
    from spackscope.tui.process import stdio

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
        if isinstance(ignored.exc_value, (KeyboardInterrupt, signals.Terminated)):
            signals.resend()
        # Python ignores it, so it does not end the program.
        elif ignored.exc_value is not None and len(_ignored) < _MAX_ERRORS:
            _ignored.append(ignored.exc_value)

    sys.excepthook = lambda _type, error, _trace: record(error)
    threading.excepthook, sys.unraisablehook = in_thread, unraisable


def _write_log(environ: Mapping[str, str]) -> str:
    """Write a log that only the user can read; return its path, or "" on failure."""
    import tempfile
    import time

    from spackscope.model.core.files import private_directory, xdg_dir

    text = "\n".join(_lines())
    for directory in (xdg_dir(environ, "state"), xdg_dir(environ, "cache")):
        if directory is None:
            continue
        with contextlib.suppress(OSError, ValueError):
            private_directory(directory)
            prefix = time.strftime("crash-%Y%m%d-%H%M%S-")
            descriptor, path = tempfile.mkstemp(".log", prefix, directory)
            with open(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
                file.write(text + "\n")
            _remove_old(directory)
            return path
    return ""


def _remove_old(directory: str) -> None:
    logs = [name for name in os.listdir(directory) if name.startswith("crash-")]
    for name in sorted(logs)[:-MAX_LOGS]:
        with contextlib.suppress(OSError):
            os.unlink(os.path.join(directory, name))


def _lines() -> Iterator[str]:
    import platform

    python, system = platform.python_version(), platform.platform()
    yield f"spackscope {VERSION}, Python {python}, {system}"
    for name in ("textual", "rich"):
        if name in sys.modules:
            yield f"{name} {_version_of(name)}"
    for error in (*_errors, *_ignored):
        yield ""
        yield from _chain(error)


def _chain(error: BaseException) -> Iterator[str]:
    """Describe an error and its causes, the outermost first."""
    link: BaseException | None = error
    for number in range(_MAX_ERRORS):
        if link is None:
            return
        yield f"{'from ' if number else ''}{_type(link)}{_code(link)}"
        yield from _frames(link.__traceback__)
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)


def _frames(trace: TracebackType | None) -> Iterator[str]:
    from traceback import walk_tb

    frames = []
    for frame, line in walk_tb(trace):
        code = frame.f_code
        name = getattr(code, "co_qualname", code.co_name)
        frames.append(f"  {code.co_filename}:{line} {name}")
    if len(frames) > 2 * _MAX_FRAMES:
        left_out = len(frames) - 2 * _MAX_FRAMES
        frames[_MAX_FRAMES:-_MAX_FRAMES] = [f"  and {left_out:,} frames more"]
    yield from frames


def _type(error: BaseException) -> str:
    return f"{type(error).__module__}.{type(error).__qualname__}".removeprefix("builtins.")


def _code(error: BaseException) -> str:
    """Return the number of a system error."""
    if isinstance(error, OSError) and isinstance(error.errno, int):
        return f" {error.errno}"
    return ""


def _version_of(distribution: str) -> str:
    """Return the version of an installed package, or "of unknown version"."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(distribution)
    except PackageNotFoundError:
        return "of unknown version"
