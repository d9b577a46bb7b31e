"""The file that the user names for an export: found, and written completely or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Callable, Iterator

from spackscope.model.core.errors import Cancelled, Unwritable, reason
from spackscope.model.core.files import temporary_file
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.tasks import ShouldStop, never
from spackscope.model.core.text import clean

_NOT_WRITTEN = "cannot be written"
_STEM = "spackscope"
"""Begins the temporary name: a long name with more at its end might be too long."""
_NEW_MODE = 0o666
"""The mode of a new file, from which the umask takes rights."""
_STEP = 500
"""Lines after which progress is shown."""


class OutputFile(Frozen):
    """Where a text is written: the path behind all links, and the size of the file there.

    `size` is None where there is no file yet.
    """

    path: str
    size: int | None


def find_output(name: str) -> OutputFile:
    """Return the file that a name means here, with `~` for the home directory.

    Raises Unwritable where no regular file can be written there.
    """
    if not name.strip():
        raise Unwritable("The file needs a name")
    status = None
    try:
        path = os.path.realpath(os.path.expanduser(name))
        with contextlib.suppress(FileNotFoundError):
            status = os.stat(path)
    except (OSError, ValueError) as error:
        raise Unwritable(f"{clean(name)} {reason(error, _NOT_WRITTEN)}") from None
    directory = path if name.endswith("/") else os.path.dirname(path)
    if status is None:
        if name.endswith("/") or not os.path.isdir(directory):
            raise Unwritable(f"There is no directory {clean(directory)}")
        return OutputFile(path, None)
    if stat.S_ISDIR(status.st_mode) or name.endswith("/"):
        raise Unwritable(f"{clean(name)} is a directory: add the name of a file")
    if not stat.S_ISREG(status.st_mode):
        raise Unwritable(f"{clean(name)} is not a regular file")
    return OutputFile(path, status.st_size)


def write_lines(
    output: OutputFile,
    lines: Iterator[str],
    *,
    on_lines: Callable[[int], object] = lambda count: None,
    should_stop: ShouldStop = never,
) -> int:
    """Write lines in UTF-8, each with a line end; return how many.

    `on_lines` is called with the number of those that are written. Until all are, the file stays
    as it was; it keeps its mode. Raises Unwritable, for a full disk too, or where a file has come
    to be there meanwhile; and Cancelled, and whatever yields the lines raises.
    """
    count = 0
    try:
        mode = _NEW_MODE if output.size is None else stat.S_IMODE(os.stat(output.path).st_mode)
        with temporary_file(os.path.dirname(output.path), _STEM, mode=mode) as file:
            if output.size is not None:
                os.fchmod(file.fileno(), mode)
            for line in lines:
                if count % _STEP == 0:
                    on_lines(count)
                    if should_stop():
                        raise Cancelled
                file.write(f"{line}\n".encode())
                count += 1
            file.flush()
            # A full disk is often noticed only here.
            os.fsync(file.fileno())
            if should_stop():
                raise Cancelled
            if output.size is None and os.path.lexists(output.path):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
            os.replace(file.name, output.path)
    except OSError as error:
        raise Unwritable(f"{clean(output.path)} {reason(error, _NOT_WRITTEN)}") from None
    return count
