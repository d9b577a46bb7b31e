"""Report unexpected errors: one sentence on stderr, and a log that holds no data.

Passwords and tokens reach local variables, and through them the messages of exceptions. Neither is
ever written: the log names types, files, lines and functions, all of which come from code.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from types import TracebackType

from spackscope.tui.process import signals
from spackscope.tui.process.exit_codes import ExitCode

MOST_LOGS = 10
"""Logs that are kept; the oldest are removed."""
_MOST_ERRORS = 10
"""Errors, and causes of one error, that a log tells."""
_MOST_FRAMES = 30
"""Frames that a log tells at either end of a traceback."""

_errors: list[BaseException] = []
_ignored: list[BaseException] = []
_listeners: list[Callable[[BaseException], object]] = []


def guarded(command: Callable[[], int]) -> int:
    """Run a command and return its exit code, or report what nothing else has caught."""
    _errors.clear()
    _ignored.clear()
    _set_hooks()
    try:
        code = command()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        # Python would print a code that is a text.
        if isinstance(error, SystemExit) and isinstance(error.code, int | None):
            raise
        # What a signal raises may come out as something else, as it does of `__set_name__`.
        signals.obey()
        note(error)
    return report(os.environ) if _errors else code


def note(error: BaseException) -> None:
    """Take down an unexpected error, from any thread, and tell who listens."""
    if len(_errors) < _MOST_ERRORS and all(error is not known for known in _errors):
        _errors.append(error)
    for listener in tuple(_listeners):
        listener(error)


@contextlib.contextmanager
def listening(listener: Callable[[BaseException], object]) -> Iterator[None]:
    """Call a function with each unexpected error, in the thread that it is found in."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def report(environ: Mapping[str, str]) -> ExitCode:
    """Write the log, and say on stderr where it is, after the data that was written before."""
    from spackscope.tui.process import stdio

    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        stdio.forget_output()
    path = _write_log(environ)
    where = f"see {path} (it holds no data)" if path else "no log could be written"
    stdio.say(f"unexpected {_type(_errors[0])}: {where}")
    return ExitCode.UNEXPECTED


def _set_hooks() -> None:
    """Keep Python from printing the errors of threads and destructors, to its very end."""

    def in_thread(thread: threading.ExceptHookArgs) -> None:
        if thread.exc_value is not None and not isinstance(thread.exc_value, SystemExit):
            note(thread.exc_value)

    def unraisable(ignored: sys.UnraisableHookArgs) -> None:
        if isinstance(ignored.exc_value, (KeyboardInterrupt, signals.Terminated)):
            signals.send_again()
        # Python goes on as if nothing had happened, so it is no reason to end.
        elif ignored.exc_value is not None and len(_ignored) < _MOST_ERRORS:
            _ignored.append(ignored.exc_value)

    sys.excepthook = lambda _type, error, _trace: note(error)
    threading.excepthook, sys.unraisablehook = in_thread, unraisable


def _write_log(environ: Mapping[str, str]) -> str:
    """Write a log that only the user can read, and return its path; empty where none can be."""
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
    for name in sorted(logs)[:-MOST_LOGS]:
        with contextlib.suppress(OSError):
            os.unlink(os.path.join(directory, name))


def _lines() -> Iterator[str]:
    import platform

    python, system = platform.python_version(), platform.platform()
    yield f"spackscope {_version('spackscope')}, Python {python}, {system}"
    for name in ("textual", "rich"):
        if name in sys.modules:
            yield f"{name} {_version(name)}"
    for error in (*_errors, *_ignored):
        yield ""
        yield from _chain(error)


def _chain(error: BaseException) -> Iterator[str]:
    """Describe an error and what it was raised from, the outermost first."""
    link: BaseException | None = error
    for number in range(_MOST_ERRORS):
        if link is None:
            return
        yield f"{'from ' if number else ''}{_type(link)}{_code(link)}"
        yield from _frames(link.__traceback__)
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)


def _frames(trace: TracebackType | None) -> Iterator[str]:
    frames = []
    while trace is not None:
        code = trace.tb_frame.f_code
        name = getattr(code, "co_qualname", code.co_name)
        frames.append(f"  {code.co_filename}:{trace.tb_lineno} {name}")
        trace = trace.tb_next
    if len(frames) > 2 * _MOST_FRAMES:
        left_out = len(frames) - 2 * _MOST_FRAMES
        frames[_MOST_FRAMES:-_MOST_FRAMES] = [f"  and {left_out:,} frames more"]
    yield from frames


def _type(error: BaseException) -> str:
    kind = type(error)
    return kind.__qualname__ if kind.__module__ == "builtins" else _qualified(kind)


def _qualified(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _code(error: BaseException) -> str:
    """Tell the number of an error of the system, or of SQLite, which no data can be in."""
    if isinstance(error, OSError) and isinstance(error.errno, int):
        return f" {error.errno}"
    name = getattr(error, "sqlite_errorname", None)
    return f" {name}" if isinstance(name, str) else ""


def _version(distribution: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(distribution)
    except PackageNotFoundError:
        return "of unknown version"
