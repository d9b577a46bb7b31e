"""End the program in order on every signal that would end it."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType

_NOT_ENDING = {
    # Cannot be handled.
    "SIGKILL",
    "SIGSTOP",
    # Stop the program, or let it go on.
    "SIGTSTP",
    "SIGTTIN",
    "SIGTTOU",
    "SIGCONT",
    # Do nothing.
    "SIGCHLD",
    "SIGURG",
    "SIGWINCH",
    "SIGINFO",
    # Faults of the machine: a handler in Python returns to the instruction that failed, for ever.
    "SIGSEGV",
    "SIGBUS",
    "SIGFPE",
    "SIGILL",
}
_AGAIN = 0.05
"""Seconds after which a signal is sent again whose exception was swallowed."""

_received: list[int] = []
_listeners: list[tuple[Callable[[int], object], Callable[[], object]]] = []


class Terminated(SystemExit):
    """Report a signal; the code is 128 and its number.

    A SystemExit, because asyncio passes it on, and not KeyboardInterrupt: Python would end by
    SIGINT where that passes through an `exec`, however it is handled.
    """


@contextlib.contextmanager
def orderly() -> Iterator[None]:
    """Let signals unwind the program: screens and files are put in order.

    A signal that is ignored stays so, as SIGHUP under nohup. While the program unwinds, only a
    repeated signal other than SIGINT ends it at once.
    """
    _received.clear()
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    named = {name: getattr(signal, name, None) for name in _NOT_ENDING}
    ending = signal.valid_signals() - set(named.values())
    before = {number: signal.getsignal(number) for number in ending}
    try:
        for number, handler in before.items():
            if handler in (signal.SIG_DFL, signal.default_int_handler):
                signal.signal(number, _handle)
        yield
    finally:
        for number, handler in before.items():
            if signal.getsignal(number) is _handle:
                signal.signal(number, handler)


@contextlib.contextmanager
def listening(end: Callable[[int], object], give_back: Callable[[], object]) -> Iterator[None]:
    """Call `end` with the first signal instead of raising; `give_back` before a repeated one."""
    _listeners.append((end, give_back))
    try:
        yield
    finally:
        _listeners.pop()


def obey() -> None:
    """Raise Terminated if a signal has come."""
    if _received:
        raise Terminated(128 + _received[0])


def received() -> int:
    """Return the number of the first signal that came, or 0."""
    return _received[0] if _received else 0


def send_again() -> None:
    """Repeat the signal whose exception was swallowed, as it is in destructors."""
    number = _received[0] if _received else signal.SIGINT
    _received.clear()
    repeat = threading.Timer(_AGAIN, os.kill, (os.getpid(), number))
    repeat.daemon = True
    repeat.start()


def _handle(number: int, _frame: FrameType | None) -> None:
    is_first, is_repeated = not _received, number in _received
    _received.append(number)
    if is_repeated and (_listeners or number != signal.SIGINT):
        for _, give_back in _listeners:
            give_back()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    elif is_first and not _listeners:
        raise Terminated(128 + number)
    elif is_first:
        for end, _ in _listeners:
            end(number)
