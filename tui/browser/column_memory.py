"""Remember the user's choices for columns between runs, in a file of the state directory."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping

from spackscope.model.core.files import make_directories, write_atomically, xdg_dir
from spackscope.model.core.text import is_clean
from spackscope.model.presentation.table_columns import ColumnChoices

KEPT = ("hash", "package")
"""The columns that stay: a row is known by them."""
MAX_COLUMNS = 500
"""Columns that are kept of each choice, the newest."""
_MAX_NAME, _MAX_WIDTH = 100, 200
_MAX_BYTES = 200_000


class ColumnMemory:
    """Reads and writes the choices: for a worker thread.

    >>> ColumnMemory({"XDG_STATE_HOME": "/home/ann/.local/state"}).read()
    ColumnChoices(hidden=frozenset({'os'}), widths={'compiler': 12})
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        state = xdg_dir(environ, "state")
        self.path = os.path.join(state, "columns.json") if state is not None else None

    def read(self) -> ColumnChoices:
        """Return the choices of earlier runs. Raises OSError and ValueError."""
        if self.path is None:
            return ColumnChoices()
        try:
            # A pipe in the place of the file is not waited for.
            descriptor = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)
        except FileNotFoundError:
            return ColumnChoices()
        with open(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode) or status.st_size > _MAX_BYTES:
                raise ValueError("it is not a file of columns")
            return parse_choices(file.read(_MAX_BYTES))

    def write(self, choices: ColumnChoices) -> None:
        """Keep some choices. Raises OSError and ValueError."""
        if self.path is None:
            return
        # The target of a link is replaced, not the link, and never a device or a pipe.
        path = os.path.realpath(self.path)
        if os.path.exists(path) and not os.path.isfile(path):
            raise ValueError(f"{path} is not a file")
        make_directories(os.path.dirname(path))
        hidden, widths = sorted(choices.hidden), dict(choices.widths)
        text = json.dumps({"hidden": hidden, "widths": widths}, indent=1)
        write_atomically(path, f"{text}\n".encode())


def parse_choices(data: bytes) -> ColumnChoices:
    """Parse the content of the file; invalid names and widths are left out.

    Raises ValueError where it is not one.
    """
    try:
        content = json.loads(data)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(content, dict):
        raise ValueError("it is not an object")
    hidden, widths = content.get("hidden", []), content.get("widths", {})
    if not isinstance(hidden, list) or not isinstance(widths, dict):
        raise ValueError("hidden is not a list, or widths is not an object")
    known = {name: width for name, width in widths.items() if _is_name(name) and _is_width(width)}
    names = frozenset(filter(_is_name, hidden)).difference(KEPT)
    return bounded(ColumnChoices(names, known))


def bounded(choices: ColumnChoices) -> ColumnChoices:
    """Return choices without those that are too many."""
    hidden = frozenset(sorted(choices.hidden)[:MAX_COLUMNS])
    return ColumnChoices(hidden, dict(list(choices.widths.items())[-MAX_COLUMNS:]))


def _is_name(name: object) -> bool:
    return isinstance(name, str) and 0 < len(name) <= _MAX_NAME and is_clean(name)


def _is_width(width: object) -> bool:
    return type(width) is int and 0 < width <= _MAX_WIDTH
