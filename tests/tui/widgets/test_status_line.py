"""The hints of the last line."""

from __future__ import annotations

import pytest

from spackscope.tui import keymap
from spackscope.tui.widgets.frame import fitting_hints

HINTS = [hint for name in ("packages-open", "copy", "help", "quit") for hint in keymap.hint(name)]


@pytest.mark.parametrize(
    ("width", "keys"), [(40, "⏎y?q"), (32, "⏎y?q"), (26, "⏎y?"), (17, "⏎?"), (10, "?"), (3, "?")]
)
def test_the_last_hints_are_left_out_but_never_the_help(width: int, keys: str) -> None:
    assert "".join(key.shown for key in fitting_hints(HINTS, width)) == keys
