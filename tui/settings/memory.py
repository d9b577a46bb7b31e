"""Remember between runs whether look-alikes are one row."""

from __future__ import annotations

import json
from collections.abc import Mapping

from spackscope.model.core.file_access import read_private, write_private, xdg_path

_MAX_BYTES = 10_000


class FoldMemory:
    """Whether look-alikes are one row, as it was chosen in the browser, in the state directory.

    The choice counts until another value is `configured` than at the time of the choice, so that
    the user's last action has effect.

    >>> FoldMemory({"XDG_STATE_HOME": "/home/ann/.local/state"}, True).value
    False
    """

    def __init__(self, environ: Mapping[str, str], configured: bool) -> None:
        self.path = xdg_path(environ, "state", "fold.json")
        self._configured = configured

    @property
    def chosen(self) -> bool | None:
        """The value that was chosen and counts; None if there is none."""
        try:
            kept = json.loads(read_private(self.path, _MAX_BYTES)) if self.path is not None else {}
        except (OSError, ValueError, RecursionError):
            return None
        if not isinstance(kept, dict) or kept.get("configured") is not self._configured:
            return None
        value = kept.get("fold")
        return value if isinstance(value, bool) else None

    @property
    def value(self) -> bool:
        """The value to begin with."""
        chosen = self.chosen
        return self._configured if chosen is None else chosen

    def remember(self, value: bool) -> None:
        """Keep a choice: for a worker thread. Raises Unwritable."""
        if self.path is not None:
            content = {"fold": value, "configured": self._configured}
            write_private(self.path, f"{json.dumps(content)}\n".encode())
