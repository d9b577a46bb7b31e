"""The themes of the browser."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from textual.color import Color
from textual.theme import BUILTIN_THEMES

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
