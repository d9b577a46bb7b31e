"""Save the query that is shown under a name, as a view of the user's configuration file."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from spackscope.model.core.errors import Unwritable, reason
from spackscope.model.core.files import make_directories, read_file
from spackscope.model.core.redaction import without_secrets
from spackscope.model.core.text import clean
from spackscope.tui.browser.export import find_output, write_lines
from spackscope.tui.browser.query_history import can_be_kept
from spackscope.tui.dialogs.pick import Pick, PickDialog, best_first
from spackscope.tui.settings import user_path
from spackscope.tui.settings.config_file import MAX_BYTES, text_of, view_line, with_view
from spackscope.tui.settings.table import BY_NAME

if TYPE_CHECKING:
    from spackscope.tui.browser.screen import BrowserScreen

_NOT_IN_NAMES = r"[^A-Za-z0-9_-]+"
"""What TOML needs quotes for."""


def name_query(screen: BrowserScreen) -> None:
    """Ask for a name, and save the query that is shown as the view of that name."""
    host, named, text = screen.host, screen.named_queries, str(screen.host.state.view.query)
    path = user_path(host.session.environ)
    if not can_be_kept(text):
        host.say("Nothing to save: the query is empty, too long, or has a password")
        return

    def find_all(search: str, picks: Sequence[Pick]) -> Sequence[Pick]:
        name = re.sub(_NOT_IN_NAMES, "-", search).strip("-")
        is_new = name and name not in named.texts and name not in BY_NAME
        typed = [Pick(name, name, "a new name", reading=text)] if is_new else []
        # Enter alone replaces nothing.
        first = typed if search else [Pick(None, "type a name", reading=text)]
        return [*first, *best_first(search, picks)]

    def take(name: str | None) -> None:
        if name is None:
            return
        old = without_secrets(named.texts.get(name, ""))
        named.define(name, text, clean(path))

        def show(failure: str) -> None:
            if failure:
                line = view_line(name, text)
                host.say(f"To keep it, put {line} below [views]: {failure}", error=True)
            else:
                instead = f", in place of {old}" * bool(old)
                host.say(f"Saved as view={name} in {clean(path)}{instead}")

        host.run(lambda _: _write(path, name, text), show, group="view-file")

    picks = [
        Pick(name, name, f"replace {without_secrets(old)}", "differs", text)
        for name, old in sorted(named.texts.items())
    ]
    noun = "name that a view can have"
    dialog = PickDialog("save the query", noun, picks, choose="save", find_all=find_all)
    host.open(dialog, take)


def _write(path: str, name: str, text: str) -> str:
    """Write a view into a configuration file; return why that cannot be, or an empty text."""
    if not path:
        return "There is no home directory for a configuration file"
    try:
        make_directories(os.path.dirname(path))
        file = find_output(path)
        data = b"" if file.size is None else read_file(file.path, MAX_BYTES)
        changed = with_view(text_of(data), name, text)
        changed = changed.replace("\n", "\r\n") if b"\r\n" in data else changed
        write_lines(file, iter([changed[:-1]]))
    except Unwritable as error:
        return str(error)
    except (OSError, ValueError) as error:
        return clean(f"{path} cannot be changed: {reason(error)}")
    return ""
