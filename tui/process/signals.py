"""Clean up before a signal ends the program."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType

_NOT_ENDING = {
    # Cannot be handled.
    *("SIGKILL", "SIGSTOP"),
    # Stop the program, or continue it.
    *("SIGTSTP", "SIGTTIN", "SIGTTOU", "SIGCONT"),
    # Do nothing.
    *("SIGCHLD", "SIGURG", "SIGWINCH", "SIGINFO"),
    # Faults: a handler in Python would return to the instruction that failed, endlessly.
    *("SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL"),
}
_AGAIN = 0.05
"""Seconds after which a signal is sent again if its exception was swallowed."""

_received: list[int] = []
_listeners: list[tuple[Callable[[int], object], Callable[[], object]]] = []
_is_giving_back = False


class Terminated(SystemExit):
    """Report a signal; the code is 128 and its number.

    It is a SystemExit, which asyncio passes on, and not a KeyboardInterrupt: if one passes through
    an `exec`, Python ends by SIGINT, even if the exception is handled.
    """


@contextlib.contextmanager
def handled() -> Iterator[None]:
    """Turn signals into Terminated, so that screens and files are cleaned up.

    An ignored signal stays ignored, as SIGHUP under nohup. During the cleanup any other signal
    ends the program at once, except that a command does not obey a second SIGINT.
    """
    _received.clear()
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = {name: getattr(signal, name, None) for name in _NOT_ENDING}
    ending = signal.valid_signals() - set(numbers.values())
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
def on_signal(end: Callable[[int], object], give_back: Callable[[], object]) -> Iterator[None]:
    """Call `end` with the first signal instead of raising.

    `give_back` is called at the end, and before a second signal ends the program at once.
    """
    _listeners.append((end, give_back))
    try:
        yield
    finally:
        _give_back()
        _listeners.pop()


def raise_if_received() -> None:
    """Raise Terminated if a signal was received."""
    if _received:
        raise Terminated(128 + _received[0])


def received() -> int:
    """Return the number of the first signal that was received, or 0."""
    return _received[0] if _received else 0


def resend() -> None:
    """Send the signal again whose exception was swallowed, as in a destructor."""
    number = _received[0] if _received else signal.SIGINT
    _received.clear()
    repeat = threading.Timer(_AGAIN, os.kill, (os.getpid(), number))
    repeat.daemon = True
    repeat.start()


def _give_back() -> None:
    """Call `give_back`, which a further signal does not interrupt."""
    global _is_giving_back
    _is_giving_back = True
    try:
        for _, give_back in _listeners:
            give_back()
    finally:
        _is_giving_back = False


def _handle(number: int, _frame: FrameType | None) -> None:
    is_first = not _received
    _received.append(number)
    if _is_giving_back:
        return
    if not is_first and (_listeners or number != signal.SIGINT):
        _give_back()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    elif is_first and not _listeners:
        raise Terminated(128 + number)
    elif is_first:
        for end, _ in _listeners:
            end(number)
