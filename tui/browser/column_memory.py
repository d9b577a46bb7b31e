"""Remember the user's choices for columns between runs, in a file of the state directory."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping

from spackscope.model.core.files import read_private, write_private, xdg_dir
from spackscope.model.core.text import is_clean
from spackscope.model.report.table_columns import ColumnChoices
from spackscope.tui.settings.checks import KEPT

MAX_COLUMNS = 500
"""Columns that are kept of each choice, the newest."""
_MAX_NAME, _MAX_WIDTH = 100, 200
_MAX_BYTES = 200_000


class ColumnMemory:
    """Reads and writes the choices: for a worker thread.

    The file has what differs from the columns that are `configured` to be hidden: those hidden
    besides, and those of them that are shown again.

    >>> ColumnMemory({"XDG_STATE_HOME": "/home/ann/.local/state"}).read()
    ColumnChoices(hidden=frozenset({'os'}), widths={'compiler': 12})
    """

    def __init__(self, environ: Mapping[str, str], configured: Collection[str] = ()) -> None:
        state = xdg_dir(environ, "state")
        self.path = os.path.join(state, "columns.json") if state is not None else None
        self.configured = frozenset(configured)

    def read(self) -> ColumnChoices:
        """Return the choices of earlier runs. Raises OSError and ValueError."""
        if self.path is None:
            return ColumnChoices(self.configured)
        try:
            data = read_private(self.path, _MAX_BYTES)
        except FileNotFoundError:
            return ColumnChoices(self.configured)
        return parse_choices(data, self.configured)

    def write(self, choices: ColumnChoices) -> None:
        """Keep some choices. Raises Unwritable."""
        if self.path is None:
            return
        content = {
            "hidden": sorted(choices.hidden - self.configured),
            "shown": sorted(self.configured - choices.hidden),
            "widths": dict(choices.widths),
        }
        write_private(self.path, f"{json.dumps(content, indent=1)}\n".encode())


def parse_choices(data: bytes, configured: frozenset[str] = frozenset()) -> ColumnChoices:
    """Parse the content of the file; invalid names and widths are left out.

    Raises ValueError where it is not one.
    """
    try:
        content = json.loads(data)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(content, dict):
        raise ValueError("it is not an object")
    hidden, shown = content.get("hidden", []), content.get("shown", [])
    widths = content.get("widths", {})
    if not (isinstance(hidden, list) and isinstance(shown, list) and isinstance(widths, dict)):
        raise ValueError("hidden or shown is not a list, or widths is not an object")
    known = {name: width for name, width in widths.items() if _is_name(name) and _is_width(width)}
    names = configured.difference(filter(_is_name, shown)).union(filter(_is_name, hidden))
    return bounded(ColumnChoices(names.difference(KEPT), known))


def bounded(choices: ColumnChoices) -> ColumnChoices:
    """Return choices without those that are too many."""
    hidden = frozenset(sorted(choices.hidden)[:MAX_COLUMNS])
    return ColumnChoices(hidden, dict(list(choices.widths.items())[-MAX_COLUMNS:]))


def _is_name(name: object) -> bool:
    return isinstance(name, str) and 0 < len(name) <= _MAX_NAME and is_clean(name)


def _is_width(width: object) -> bool:
    return type(width) is int and 0 < width <= _MAX_WIDTH
