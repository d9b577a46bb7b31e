"""Run git in a directory that somebody else may have written."""

from __future__ import annotations

import contextlib
import os
import tempfile
from functools import partial
from signal import SIGKILL
from subprocess import PIPE, Popen, TimeoutExpired

from spackscope.model.core.tasks import ShouldStop, run_cancellable

GIT_TIMEOUT = 5
"""Seconds that a command of git may take."""

_MAX_ERROR = 2**12
"""Bytes of the first line of an error of git."""


class Git:
    """Runs git in a directory; nothing that the configuration there names is run or fetched."""

    def __init__(self, directory: str, should_stop: ShouldStop) -> None:
        self._should_stop = should_stop
        # A hook of git names its own work tree there.
        environ = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
        self._environ = environ | {"GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1"}
        safe = ("-c", "core.fsmonitor=false", "-c", "fetch.bundleURI=", "--literal-pathspecs")
        self._command = ("git", *safe, "-C", directory)

    def run(self, *words: str, data: bytes = b"") -> tuple[bytes, str]:
        """Return the output of a command, and why it may be incomplete. Raises Cancelled.

        A command that takes too long is killed: a file that git opens may be a FIFO.
        """
        with tempfile.TemporaryFile() as errors:
            try:
                process = Popen(
                    [*self._command, *words],
                    stdin=PIPE,
                    stdout=PIPE,
                    stderr=errors,
                    env=self._environ,
                    start_new_session=True,
                )
            except OSError:
                return b"", "git cannot be run"
            with process:
                answer = partial(process.communicate, data, GIT_TIMEOUT)
                try:
                    printed, _ = run_cancellable(answer, self._should_stop)
                except TimeoutExpired as late:
                    return late.stdout or b"", f"git takes more than {GIT_TIMEOUT} s"
                finally:
                    if process.poll() is None:
                        # It may end at this moment.
                        with contextlib.suppress(OSError):
                            os.killpg(process.pid, SIGKILL)
            errors.seek(0)
            line = errors.readline(_MAX_ERROR).decode(errors="replace").strip()
        return printed, (line or "git failed") if process.returncode else ""
