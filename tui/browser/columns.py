"""Hide columns and bring them back, and remember this between runs."""

from __future__ import annotations

import json
import os
from collections.abc import Collection

from spackscope.model.core.errors import Unwritable
from spackscope.model.core.files import read_private, write_private, xdg_dir
from spackscope.model.core.text import clean, is_clean
from spackscope.tui.browser.state import Host
from spackscope.tui.settings.checks import KEPT

MAX_COLUMNS = 500
"""Hidden columns that are kept."""
_MAX_NAME, _MAX_BYTES = 100, 200_000

Hidden = frozenset[str]
"""The names of the columns that are hidden."""


class ColumnsController:
    """Change which columns are hidden, and keep that in a file of the state directory.

    The file has what differs from the columns that are `configured` to be hidden: those hidden
    besides, and those of them that are shown again.
    """

    def __init__(self, host: Host, configured: Collection[str] = ()) -> None:
        state = xdg_dir(host.session.environ, "state")
        self._host, self._configured = host, frozenset(configured)
        self._path = os.path.join(state, "columns.json") if state is not None else None

    def load(self) -> None:
        """Read what earlier runs kept; a file that cannot be read is named, and left."""
        if self._configured:
            self._host.change(hidden_columns=self._configured)

        def read() -> Hidden | str:
            try:
                data = b"{}" if self._path is None else read_private(self._path, _MAX_BYTES)
                return parse_hidden(data, self._configured)
            except FileNotFoundError:
                return self._configured
            except (OSError, ValueError) as error:
                return clean(f"Ignored {self._path}: {error}")

        self._host.run(lambda _: read(), self._take, group="columns")

    def _take(self, read: Hidden | str) -> None:
        if isinstance(read, str):
            self._host.say(read, error=True)
            return
        hidden = self._host.state.hidden_columns - self._configured
        self._host.change(hidden_columns=read | hidden)

    def hide(self, column: str) -> None:
        """Hide a column."""
        if column in KEPT:
            self._host.say(f"The {column} stays: rows are known by it")
            return
        self._change(self._host.state.hidden_columns | {column})
        self._host.say(f"Hid {column_word(column)} (c brings it back)")

    def bring_back(self, column: str) -> None:
        """Show a hidden column again."""
        self._change(self._host.state.hidden_columns - {column})

    def _change(self, hidden: Hidden) -> None:
        if hidden == self._host.state.hidden_columns:
            return
        self._host.change(hidden_columns=hidden)
        besides, shown = sorted(hidden - self._configured), sorted(self._configured - hidden)
        content = json.dumps({"hidden": besides[:MAX_COLUMNS], "shown": shown}, indent=1)

        def write() -> str:
            try:
                if self._path is not None:
                    write_private(self._path, f"{content}\n".encode())
            except Unwritable as error:
                return clean(f"The columns will not be remembered: {error}")
            return ""

        self._host.run(lambda _: write(), self._written, group="columns")

    def _written(self, failure: str) -> None:
        if failure:
            self._host.say(failure, error=True)


def parse_hidden(data: bytes, configured: Hidden = frozenset()) -> Hidden:
    """Return the hidden columns that the content of the file names, without invalid names.

    Raises ValueError where it is not such a file.
    """
    try:
        content = json.loads(data)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(content, dict):
        raise ValueError("it is not an object")
    hidden, shown = content.get("hidden", []), content.get("shown", [])
    if not (isinstance(hidden, list) and isinstance(shown, list)):
        raise ValueError("hidden or shown is not a list")
    names = list(filter(_is_name, hidden))[:MAX_COLUMNS]
    return configured.difference(filter(_is_name, shown)).union(names).difference(KEPT)


def _is_name(name: object) -> bool:
    return isinstance(name, str) and 0 < len(name) <= _MAX_NAME and is_clean(name)


def column_word(column: str) -> str:
    """Return what a column is called in a message."""
    return clean(column.removeprefix("+"))
