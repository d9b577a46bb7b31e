"""Run git in a directory that somebody else may have written."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import accumulate, groupby
from signal import SIGKILL
from subprocess import PIPE, Popen, TimeoutExpired

from spackscope.model.core.errors import Unreadable
from spackscope.model.core.file_access import SMALL_UNPACKED_SIZE
from spackscope.model.core.tasks import TICK, check_cancelled

GIT_TIMEOUT = 5
"""Seconds that a command of git may take."""

_MAX_ERROR = 2**12
"""Bytes of the first line of an error of git."""


class Git:
    """Runs git in a directory; nothing that the configuration there names is run or fetched."""

    def __init__(self, directory: str) -> None:
        # In a hook of git such variables name its own work tree.
        environ = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
        self._environ = environ | {"GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1"}
        safe = ("-c", "core.fsmonitor=false", "-c", "fetch.bundleURI=", "--literal-pathspecs")
        self._command = ("git", *safe, "-C", directory)

    def run(self, *words: str, data: bytes = b"") -> tuple[bytes, str]:
        """Return the output of a command, and why it may be incomplete. Raises Cancelled.

        A command that takes too long is killed: a file that git opens may be a FIFO.
        """
        with tempfile.TemporaryFile() as errors, tempfile.TemporaryFile() as given:
            given.write(data)
            given.seek(0)
            try:
                process = Popen(
                    [*self._command, *words],
                    stdin=given,
                    stdout=PIPE,
                    stderr=errors,
                    env=self._environ,
                    start_new_session=True,
                )
            except (OSError, ValueError):
                # A path from a configuration may have a NUL.
                return b"", "git cannot be run"
            with process:
                end = time.monotonic() + GIT_TIMEOUT
                try:
                    while True:
                        try:
                            printed, _ = process.communicate(timeout=TICK)
                            break
                        except TimeoutExpired as late:
                            check_cancelled()
                            if time.monotonic() > end:
                                why = f"git takes more than {GIT_TIMEOUT} s"
                                return late.stdout or b"", why
                finally:
                    if process.poll() is None:
                        # It may end at this moment.
                        with contextlib.suppress(OSError):
                            os.killpg(process.pid, SIGKILL)
            errors.seek(0)
            line = errors.readline(_MAX_ERROR).decode(errors="replace").strip()
        return printed, (line or "git failed") if process.returncode else ""

    def contents(self, blobs: Sequence[tuple[str, int]]) -> Iterator[bytes]:
        """Yield the contents of blobs by name and size; a blob without a name is empty.

        Raises Unreadable and Cancelled.
        """
        ends = accumulate(size for _, size in blobs)
        # Small blobs are read together.
        batches = groupby(blobs, lambda _: next(ends) // SMALL_UNPACKED_SIZE)
        for batch in (list(group) for _, group in batches):
            names = "".join(f"{name}\n" for name, _ in batch if name)
            answer, why = self.run("cat-file", "--batch", data=names.encode())
            end = 0
            for name, size in batch:
                start = (answer.find(b"\n", end) + 1 or len(answer) + 1) if name else end
                end = start + size
                if end > len(answer):
                    raise Unreadable(why or "git ended too early")
                yield answer[start:end]
                end += bool(name)
