"""Set up the terminal for the browser, and restore it afterwards."""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import select
import selectors
import signal
import sys
import termios
import threading
import time
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator
from typing import Any, TextIO, cast

from textual import constants
from textual.app import App
from textual.drivers.linux_driver import LinuxDriver
from textual.events import Paste
from textual.message import Message

from spackscope.tui.process import crash, signals
from spackscope.tui.process.stdio import in_ascii, is_plain, supports_unicode
from spackscope.tui.process.textual_internals import (
    XTermParser,
    key_thread,
    size_from_start,
    write_to,
)

PATIENCE = 1.0
"""Seconds that the program waits, after a signal, for a terminal that accepts no output."""
_CHUNK = 4096
_MAX_CHUNKS = 256
"""Chunks of a pasted text that are kept; no input takes as much."""
_TICK = 0.1
_ESCAPE_DELAY = 0.05
"""Seconds after which Escape is a key and not the beginning of another key: as in Neovim."""

_PASTE_START, _PASTE_END = "\x1b[200~", "\x1b[201~"

_SHOW_CURSOR = "\x1b[?25h"
_LEAVE = (
    "\x1b[?2026l"  # synchronized output
    "\x1b[?2004l"  # bracketed paste
    "\x1b[?7h"  # line wrap
    "\x1b[?2048l"  # reports of the size
    "\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l\x1b[?1016l"  # mouse
    "\x1b[<u"  # Kitty keyboard
    "\x1b[?1049l"  # alternate screen
    f"{_SHOW_CURSOR}"
    "\x1b[?1004l"  # focus
    "\x1b[0m"
)

_HANDLED = (signal.SIGTSTP, signal.SIGCONT, signal.SIGWINCH, signal.SIGTTOU, signal.SIGTTIN)
"""Signals whose handlers Textual replaces and does not restore."""


class TerminalDriver(LinuxDriver):
    """Textual's driver, made to survive signals at any moment and the loss of the terminal.

    After a SIGCONT without a SIGTSTP Textual takes the terminal a second time, and then restores
    the raw mode at the end. Its signal handlers write to a queue that may be locked; here handlers
    only schedule.
    """

    def __init__(self, app: App[Any], **options: Any) -> None:
        self._handlers = {number: signal.getsignal(number) for number in _HANDLED}
        super().__init__(app, **options)
        self.app, self.event_loop = app, asyncio.get_running_loop()
        signal.signal(signal.SIGCONT, lambda *_: self._change_soon(self._go_on))
        is_ignored = self._handlers[signal.SIGTSTP] is signal.SIG_IGN
        stop = signal.SIG_IGN if is_ignored else lambda *_: self._change_soon(self._stop)
        signal.signal(signal.SIGTSTP, stop)
        self._output = _Output(cast(TextIO, sys.__stderr__), has_signs=supports_unicode())
        write_to(self, self._output)
        size_from_start(self)
        self._is_taken = False
        self._is_taking_again = False
        self._is_stopped = False
        self._change: Callable[[], None] | None = None
        self._original_mode = _attributes(self.fileno)

    def _change_soon(self, change: Callable[[], None]) -> None:
        """Stop or go on; of several signals at once the last one counts."""
        self._change = change
        self._soon(self._make_change)

    def _make_change(self) -> None:
        change, self._change = self._change, None
        if change is not None:
            change()

    def _soon(self, step: Callable[[], None]) -> None:
        with contextlib.suppress(RuntimeError):
            self.event_loop.call_soon_threadsafe(step)

    def _stop(self) -> None:
        if self._is_taken:
            self.suspend_application_mode()
        # Further SIGTSTPs change nothing, but a SIGCONT may have come meanwhile.
        handler = signal.signal(signal.SIGTSTP, signal.SIG_IGN)
        if self._change != self._go_on:
            self._change = None
            os.kill(os.getpid(), signal.SIGSTOP)
        signal.signal(signal.SIGTSTP, handler)

    def _go_on(self) -> None:
        """Set up the terminal again after SIGCONT; a SIGSTOP left no time to restore it."""
        self._wait_for_foreground()
        if signals.received() or self.app.return_code is not None:
            return
        original_mode = self.attrs_before if self._is_taken else None
        if self._is_taken:
            self._is_taking_again, self.attrs_before = True, None
            self.suspend_application_mode()
            self._is_taking_again = False
        self.start_application_mode()
        self.send_message(self.SignalResume())
        if original_mode is not None:
            self.attrs_before = original_mode

    def _wait_for_foreground(self) -> None:
        """Stop while the terminal belongs to others, unless a signal ends the program."""
        while not self._is_in_foreground() and not signals.received():
            os.kill(os.getpid(), signal.SIGSTOP)

    def _is_in_foreground(self) -> bool:
        try:
            return os.tcgetpgrp(self.fileno) == os.getpgrp()
        except OSError:
            # It is not a controlling terminal, or was closed.
            return True

    def start_application_mode(self) -> None:
        """Set up the terminal, once this process is in the foreground."""
        self._wait_for_foreground()
        if not self._is_in_foreground():
            signals.raise_if_received()
        if not self._is_taking_again:
            self._original_mode = _attributes(self.fileno)
        self._is_taken, self._is_stopped = True, False
        super().start_application_mode()  # type: ignore[no-untyped-call]
        if is_plain():
            self.write(_SHOW_CURSOR)

    def write(self, data: str) -> None:
        """Write to the terminal, unless it has been given back."""
        if self._is_taken:
            super().write(data)

    def stop_application_mode(self) -> None:
        """Restore the terminal; `close` waits until all output is written."""
        if not self._is_taken:
            return
        if not self._is_in_foreground():
            # Changing the mode of the terminal would stop the program.
            self.attrs_before = None
        super().stop_application_mode()
        self._is_stopped = True

    def disable_input(self) -> None:
        """Stop reading keys, and drop unread keys unless reading resumes at once."""
        if not self._is_taking_again:
            super().disable_input()
        elif (thread := key_thread(self)) is not None:
            self.exit_event.set()
            thread.join()
            self.exit_event.clear()

    def close(self) -> None:
        """Wait until all output is written."""
        super().close()
        self._is_taken = self._is_taken and not self._is_stopped

    def hurry(self) -> None:
        """Wait at most `PATIENCE` for the terminal from now on."""
        self._output.deadline = time.monotonic() + PATIENCE

    def give_back(self) -> None:
        """Restore the terminal unless that is done; safe in a signal handler.

        The signal may have come in a method of `exit_event`, whose lock this thread holds then.
        """
        if self._is_taken:
            self._is_taken = False
            self.hurry()
            self._output.leave()
            if self._original_mode is not None and self._is_in_foreground():
                with contextlib.suppress(termios.error):
                    termios.tcsetattr(self.fileno, termios.TCSANOW, self._original_mode)
                    termios.tcflush(self.fileno, termios.TCIFLUSH)
        for number, handler in self._handlers.items():
            signal.signal(number, handler)

    def run_input_thread(self) -> None:
        """Read keys; the program ends where that fails."""
        try:
            self._read_keys()
        except OSError:
            self._lose()
        except Exception as error:
            crash.record(error)

    def _read_keys(self) -> None:
        """Read keys until the program ends or the terminal is gone.

        Bytes that are not UTF-8 come from terminals set to Latin-1, and from terminals that report
        the mouse in the old way.
        """
        if "ESCDELAY" not in os.environ:
            # Textual waits 100 ms, and has no other setting than the variable.
            vars(constants)["ESCAPE_DELAY"] = _ESCAPE_DELAY
        parser, tick = _Parser(), _TICK
        decode = getincrementaldecoder("utf-8")("replace").decode
        with selectors.SelectSelector() as selector:
            selector.register(self.fileno, selectors.EVENT_READ)
            is_last = False
            while not is_last:
                is_last = self.exit_event.is_set() or not self._is_taken
                if not selector.select(0 if is_last else tick):
                    tick = _TICK
                else:
                    data = os.read(self.fileno, _CHUNK)
                    tick = _ESCAPE_DELAY if data.endswith(b"\x1b") else _TICK
                    if not data:
                        self._lose()
                        return
                    for event in parser.feed(decode(data)):
                        self.process_message(event)
                for event in parser.tick():
                    self.process_message(event)

    def _lose(self) -> None:
        """End the program after the loss of its terminal, even if SIGHUP is ignored."""
        self._output.is_gone = True
        self._soon(lambda: self.app.exit(None, 128 + signal.SIGHUP))


class _Parser(XTermParser):
    """Textual's parser of keys, which never reads pasted text as keys.

    Textual reads an escape character in a pasted text, and up to 32 characters after it, as keys,
    which would run commands. Here it gets the markers of a paste, and nothing between them.
    """

    def __init__(self) -> None:
        super().__init__()
        self._unsearched = ""
        self._pasted: list[str] | None = None

    def feed(self, data: str) -> Iterator[Message]:
        """Parse some text, and yield keys, pasted texts and other messages of the terminal."""
        while data:
            is_pasted = self._pasted is not None
            marker = _PASTE_END if is_pasted else _PASTE_START
            # The marker may begin in the text before.
            before = len(self._unsearched)
            at = (self._unsearched + data).find(marker)
            end = len(data) if at < 0 else at + len(marker) - before
            text, data = data[:end], data[end:]
            self._unsearched = (self._unsearched + text)[1 - len(marker) :] if at < 0 else ""
            if self._pasted is None:
                yield from super().feed(text)
                self._pasted = None if at < 0 else []
                continue
            if len(self._pasted) < _MAX_CHUNKS:
                self._pasted.append(text)
            if at >= 0:
                pasted = "".join(self._pasted)[: -len(marker)].replace("\0", "")
                self._pasted = None
                for event in super().feed(marker):
                    yield Paste(pasted) if isinstance(event, Paste) else event


class _Output:
    """The terminal as a file; output is dropped when the terminal is gone, or too slow.

    A terminal without signs gets letters instead.
    """

    def __init__(self, file: TextIO, *, has_signs: bool) -> None:
        self._terminal = file
        self._has_signs = has_signs
        self._own = _reopened(file.fileno())
        # The thread that gives the terminal back writes while it holds the lock.
        self._lock = threading.RLock()
        self.deadline = math.inf
        self.is_gone = False

    def fileno(self) -> int:
        return self._terminal.fileno()

    def flush(self) -> None:
        """Do nothing: nothing is buffered."""

    def write(self, text: str) -> None:
        text = text if self._has_signs else in_ascii(text)
        data = text.encode(self._terminal.encoding, "backslashreplace")
        while data:
            with self._lock:
                data = self._write_some(data)
            if data:
                select.select([], [self._own], [], _TICK)

    def _write_some(self, data: bytes) -> bytes:
        """Write the bytes that the terminal takes now, and return the rest; b"" if it is gone."""
        try:
            if not self.is_gone:
                return data[os.write(self._own, data[:_CHUNK]) :]
        except BlockingIOError:
            self.is_gone = time.monotonic() > self.deadline
            return data
        except OSError:
            self.is_gone = True
        return b""

    def leave(self) -> None:
        """Write the sequences that restore the terminal; later writes of threads are dropped."""
        with self._lock:
            self.write(_LEAVE)
            self.is_gone = True


def _reopened(descriptor: int) -> int:
    """Open the terminal again in non-blocking mode; its own descriptor is shared with others."""
    for name in (os.ttyname, lambda _: "/dev/tty"):
        with contextlib.suppress(OSError):
            return os.open(name(descriptor), os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)
    return descriptor


def _attributes(descriptor: int) -> list[Any] | None:
    try:
        return termios.tcgetattr(descriptor)
    except termios.error:
        return None
