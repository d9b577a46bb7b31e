"""The themes of the browser, and the memory of the theme that was chosen in it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import replace

from textual.color import Color
from textual.theme import BUILTIN_THEMES

from spackscope.model.core.file_access import read_private, write_private, xdg_dir

_ANSI = BUILTIN_THEMES["ansi-dark"]
_OWN_VARIABLES = {
    "rule": "ansi_bright_black",
    "virtual": "ansi_magenta",
    "mark": "ansi_blue",
}
OWN = replace(
    _ANSI,
    name="spackscope",
    primary="ansi_cyan",
    accent="ansi_cyan",
    variables={**_ANSI.variables, **_OWN_VARIABLES},
)
"""The colours of the terminal itself, so that the program fits dark and light ones."""

_MAX_BYTES = 10_000
_RULE = 0.35
"""The part of the text's colour in the lines between panes; the rest is background."""


def theme_names() -> list[str]:
    """Return the names of all themes, our own first."""
    return [OWN.name, *sorted(BUILTIN_THEMES)]


def with_own_variables(variables: Mapping[str, str], *, is_ansi: bool) -> dict[str, str]:
    """Return the variables of a theme, and the variables that only our style sheet uses.

    `rule` is the colour of the lines between panes, `virtual` the colour of virtual packages, and
    `mark` the colour of the signs of marked specs.
    """
    if is_ansi:
        return {**_OWN_VARIABLES, **variables}
    background = Color.parse(variables["background"])
    rule = background.blend(Color.parse(variables["foreground"]), _RULE).hex
    # Several themes have one colour for warnings and accents.
    is_same = variables["text-accent"] == variables["text-warning"]
    virtual = variables["text-secondary" if is_same else "text-accent"]
    return {"rule": rule, "virtual": virtual, "mark": variables["text-primary"], **variables}


class ThemeMemory:
    """The theme that was chosen in the browser, kept in a file of the state directory.

    The choice counts until another theme is `configured` than at the time of the choice, so that
    the user's last action has effect.

    >>> ThemeMemory({"XDG_STATE_HOME": "/home/ann/.local/state"}, configured="nord").theme()
    'nord'
    """

    def __init__(self, environ: Mapping[str, str], configured: str = "") -> None:
        state = xdg_dir(environ, "state")
        self.path = os.path.join(state, "theme.json") if state is not None else None
        self.configured = configured or OWN.name

    def chosen(self) -> str:
        """Return the theme that was chosen and counts; "" if there is none."""
        try:
            kept = json.loads(read_private(self.path, _MAX_BYTES)) if self.path is not None else {}
        except (OSError, ValueError, RecursionError):
            return ""
        if not isinstance(kept, dict) or kept.get("configured") != self.configured:
            return ""
        name = kept.get("theme")
        return name if isinstance(name, str) and name in theme_names() else ""

    def theme(self) -> str:
        """Return the theme to begin with."""
        return self.chosen() or self.configured

    def remember(self, name: str) -> None:
        """Keep a choice: for a worker thread. Raises Unwritable."""
        if self.path is not None:
            content = {"theme": name, "configured": self.configured}
            write_private(self.path, f"{json.dumps(content)}\n".encode())
