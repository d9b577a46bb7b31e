"""A popup of tmux over the pane of this process, as another terminal."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
import termios
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

_SCRIPT = """\
for signal in INT WINCH; do trap "kill -$signal $0" $signal; done
tty >"$1/tty"
cat "$1/end" &
while wait; [ $? -gt 128 ]; do :; done
"""
"""Write the name of the terminal, and pass signals on, until the other process ends."""
_POLL = 0.005


@contextlib.contextmanager
def tmux_popup(environ: Mapping[str, str]) -> Iterator[str]:
    """Open a popup, and yield the path of its terminal; an empty text without tmux 3.2 or later.

    This process draws there itself: what tmux starts would have the environment of the server.
    """
    if not environ.get("TMUX") or shutil.which("tmux") is None:
        yield ""
        return
    command = ("tmux", "display-popup", "-E", "-w", "95%", "-h", "90%", "sh", "-c", _SCRIPT)
    with tempfile.TemporaryDirectory(prefix="spackscope-") as folder:
        tty, end = Path(folder, "tty"), Path(folder, "end")
        tty.touch()
        os.mkfifo(end)
        # The script reads to the end of the pipe, which comes however this process ends. Then the
        # popup closes: this process has its terminal open.
        with open(os.open(end, os.O_RDWR), "wb"):
            null = subprocess.DEVNULL
            words = [*command, str(os.getpid()), folder]
            popup = subprocess.Popen(words, stdin=null, stdout=null, stderr=null)
            while popup.poll() is None and not tty.read_text():
                time.sleep(_POLL)
            if path := tty.read_text().strip():
                # What was typed for the browser meanwhile would become a part of the shell's line.
                with contextlib.suppress(OSError, termios.error), open("/dev/tty", "rb") as pane:
                    termios.tcflush(pane, termios.TCIFLUSH)
            yield path
