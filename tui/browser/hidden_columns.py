"""Hide columns and bring them back, and remember this between runs."""

from __future__ import annotations

import json

from spackscope.model.core.file_access import read_private, write_private, xdg_path
from spackscope.model.core.text import clean, is_clean
from spackscope.tui.browser import jobs
from spackscope.tui.browser.browser_host import BrowserHost, remember
from spackscope.tui.settings.checks import KEPT, hidden_columns

MAX_COLUMNS = 500
"""Most hidden columns that the file keeps."""
_MAX_NAME, _MAX_BYTES = 100, 200_000

Hidden = frozenset[str]
"""The names of the columns that are hidden."""


def load(host: BrowserHost) -> None:
    """Read the columns that earlier runs hid or showed; a message names an unreadable file."""
    configured, path = hidden_columns(host.settings), _path(host)
    if configured:
        host.change(hidden_columns=configured)

    def read() -> Hidden | str:
        try:
            data = b"{}" if path is None else read_private(path, _MAX_BYTES)
            return parse_hidden(data, configured)
        except FileNotFoundError:
            return configured
        except (OSError, ValueError) as error:
            return clean(f"Ignored {path}: {error}")

    def take(read: Hidden | str) -> None:
        if isinstance(read, str):
            host.say(read, error=True)
        else:
            host.change(hidden_columns=read | (host.state.hidden_columns - configured))

    host.run(lambda _: read(), take, jobs.COLUMNS)


def cannot_be_hidden(column: str) -> str:
    """Return the message on a column that names the rows."""
    return f"The column {column or 'of names'} cannot be hidden: it names the rows"


def change_hidden(host: BrowserHost, hidden: Hidden) -> None:
    """Set the hidden columns, and save their difference from the configuration."""
    if hidden == host.state.hidden_columns:
        return
    host.change(hidden_columns=hidden)
    configured, path = hidden_columns(host.settings), _path(host)
    besides, shown = sorted(hidden - configured), sorted(configured - hidden)
    content = json.dumps({"hidden": besides[:MAX_COLUMNS], "shown": shown}, indent=1)

    def write() -> None:
        if path is not None:
            write_private(path, f"{content}\n".encode())

    remember(host, write, "columns", jobs.COLUMNS)


def _path(host: BrowserHost) -> str | None:
    return xdg_path(host.session.environ, "state", "columns.json")


def parse_hidden(data: bytes, configured: Hidden = frozenset()) -> Hidden:
    """Return the hidden columns that the content of the file names, without invalid names.

    Raises ValueError where the content is not of that form.
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
    """Return the name of a column in messages."""
    return clean(column.removeprefix("+"))
