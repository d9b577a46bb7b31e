"""Take the terminal for the browser, and give it back as it was found."""

from __future__ import annotations

import contextlib
import math
import os
import select
import selectors
import signal
import termios
import time
from codecs import getincrementaldecoder
from collections.abc import Callable
from typing import Any, TextIO, cast

from textual._xterm_parser import XTermParser
from textual.app import App
from textual.drivers.linux_driver import LinuxDriver

from spackscope.tui.process import crash, signals

PATIENCE = 1.0
"""Seconds that a program waits, after a signal, for a terminal that takes no output."""
_CHUNK = 4096
_TICK = 0.1

_LEAVE = (
    "\x1b[?2026l"  # synchronized output
    "\x1b[?2004l"  # bracketed paste
    "\x1b[?7h"  # line wrap
    "\x1b[?2048l"  # reports of the size
    "\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l\x1b[?1016l"  # mouse
    "\x1b[<u"  # Kitty keyboard
    "\x1b[?1049l"  # alternate screen
    "\x1b[?25h"  # cursor
    "\x1b[?1004l"  # focus
    "\x1b[0m"
)

_HANDLED = (
    signal.SIGTSTP,
    signal.SIGCONT,
    signal.SIGWINCH,
    signal.SIGTTOU,
    signal.SIGTTIN,
)
"""Signals whose handlers Textual replaces, and leaves so."""


class TerminalDriver(LinuxDriver):
    """Textual's driver, which also survives signals at any moment and a terminal that is gone.

    Textual takes the terminal a second time after a SIGCONT without a SIGTSTP, and believes the
    raw mode to be how the terminal was found. It works in signal handlers, where the queue that it
    writes to may be locked; here handlers only schedule.
    """

    def __init__(self, app: App[Any], **options: Any) -> None:
        self._handlers = {number: signal.getsignal(number) for number in _HANDLED}
        super().__init__(app, **options)
        if self._handlers[signal.SIGTSTP] is signal.SIG_IGN:
            signal.signal(signal.SIGTSTP, signal.SIG_IGN)
        self._output = _Output(cast(TextIO, self._file))
        vars(self)["_file"] = self._output
        self._is_taken = False
        self._is_taking_again = False
        self._is_stopped = False
        self._found_as = _attributes(self.fileno)

    # Signals

    def _sigtstp_application(self, *_: object) -> None:
        self._soon(self._stop)

    def _sigcont_application(self, *_: object) -> None:
        self._soon(self._go_on)

    def _soon(self, step: Callable[[], None]) -> None:
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(step)

    def _stop(self) -> None:
        if self._is_taken:
            self.suspend_application_mode()
        os.kill(os.getpid(), signal.SIGSTOP)

    def _go_on(self) -> None:
        """Take the terminal again after SIGCONT; a SIGSTOP left no time to give it back."""
        self._wait_for_foreground()
        if signals.received() or self._app._exit:
            return
        found_as = self.attrs_before if self._is_taken else None
        if self._is_taken:
            self._is_taking_again, self.attrs_before = True, None
            self.suspend_application_mode()
            self._is_taking_again = False
        self._must_signal_resume = True
        self.start_application_mode()
        if found_as is not None:
            self.attrs_before = found_as

    def _wait_for_foreground(self) -> None:
        """Stop for as long as the terminal belongs to others, unless a signal ends the program."""
        while not self._is_in_foreground() and not signals.received():
            os.kill(os.getpid(), signal.SIGSTOP)

    def _is_in_foreground(self) -> bool:
        try:
            return os.tcgetpgrp(self.fileno) == os.getpgrp()
        except OSError:
            # It controls nobody, or is gone.
            return True

    # Application mode

    def start_application_mode(self) -> None:
        """Take the terminal, as soon as it may be taken."""
        self._wait_for_foreground()
        if not self._is_in_foreground():
            signals.obey()
        self._found_as = self._found_as if self._is_taking_again else _attributes(self.fileno)
        self._is_taken, self._is_stopped = True, False
        super().start_application_mode()  # type: ignore[no-untyped-call]

    def write(self, data: str) -> None:
        """Write to the terminal; what others are shown meanwhile is not overwritten."""
        if self._is_taken:
            super().write(data)

    def stop_application_mode(self) -> None:
        """Give the terminal back; `close` waits until it has taken the last of the output."""
        if not self._is_taken:
            return
        if not self._is_in_foreground():
            # Changing the mode of the terminal would stop the program.
            self.attrs_before = None
        super().stop_application_mode()
        self._is_stopped = True

    def disable_input(self) -> None:
        """Stop reading keys; those that wait are dropped unless it begins again at once."""
        if not self._is_taking_again:
            super().disable_input()
        elif self._key_thread is not None:
            self.exit_event.set()
            self._key_thread.join()
            self.exit_event.clear()

    def close(self) -> None:
        """Wait until all output is written."""
        super().close()
        self._is_taken = self._is_taken and not self._is_stopped

    def hurry(self) -> None:
        """Do not wait longer than a moment for the terminal from now on."""
        self._output.deadline = time.monotonic() + PATIENCE

    def give_back(self) -> None:
        """Give the terminal back where that is not done yet; safe in a signal handler."""
        self.exit_event.set()
        if self._is_taken:
            self._is_taken = False
            self.hurry()
            self._output.write(_LEAVE)
            if self._found_as is not None and self._is_in_foreground():
                with contextlib.suppress(termios.error):
                    termios.tcsetattr(self.fileno, termios.TCSANOW, self._found_as)
                    termios.tcflush(self.fileno, termios.TCIFLUSH)
        self._output.close()
        for number, handler in self._handlers.items():
            signal.signal(number, handler)

    # The keyboard

    def _run_input_thread(self) -> None:
        try:
            self.run_input_thread()
        except OSError:
            self._lose()
        except Exception as error:
            crash.note(error)

    def run_input_thread(self) -> None:
        """Read keys until the program ends or the terminal is gone.

        Bytes that are no UTF-8 come from terminals set to Latin-1, and from those that report the
        mouse the old way.
        """
        parser = XTermParser(self._debug)
        decode = getincrementaldecoder("utf-8")("replace").decode
        with selectors.SelectSelector() as selector:
            selector.register(self.fileno, selectors.EVENT_READ)
            is_last = False
            while not is_last:
                is_last = self.exit_event.is_set()
                if selector.select(0 if is_last else _TICK):
                    data = os.read(self.fileno, _CHUNK)
                    if not data:
                        self._lose()
                        return
                    for event in parser.feed(decode(data)):
                        self.process_message(event)
                for event in parser.tick():
                    self.process_message(event)

    def _lose(self) -> None:
        """End the program, whose terminal is gone, though SIGHUP may be ignored."""
        self._output.is_gone = True
        self._soon(lambda: self._app.exit(None, 128 + signal.SIGHUP))


class _Output:
    """The terminal as a file: what it cannot take is dropped when it is gone, or too slow."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._own = _reopened(file.fileno())
        self.deadline = math.inf
        self.is_gone = False

    def fileno(self) -> int:
        return self._file.fileno()

    def flush(self) -> None:
        """Do nothing: nothing is kept back."""

    def write(self, text: str) -> None:
        data = text.encode(self._file.encoding, "backslashreplace")
        descriptor = self.fileno() if self._own is None else self._own
        while data and not self.is_gone:
            try:
                data = data[os.write(descriptor, data[:_CHUNK]) :]
            except BlockingIOError:
                select.select([], [descriptor], [], _TICK)
                self.is_gone = time.monotonic() > self.deadline
            except OSError:
                self.is_gone = True

    def close(self) -> None:
        self.is_gone = True
        if self._own is not None:
            os.close(self._own)
            self._own = None


def _reopened(descriptor: int) -> int | None:
    """Open a terminal another time, to write without waiting; others share the descriptor."""
    for name in (os.ttyname, lambda _: "/dev/tty"):
        with contextlib.suppress(OSError):
            return os.open(name(descriptor), os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)
    return None


def _attributes(descriptor: int) -> list[Any] | None:
    try:
        return termios.tcgetattr(descriptor)
    except termios.error:
        return None
