"""Remember settings that were chosen in the browser, between its runs."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Generic, TypeVar

from spackscope.model.core.file_access import read_private, write_private, xdg_path
from spackscope.tui.settings import Settings

_MAX_BYTES = 10_000

Value = TypeVar("Value", str, bool)


class ChoiceMemory(Generic[Value]):
    """The value of a setting that was chosen in the browser, kept in the state directory.

    The choice counts until another value is `configured` than at the time of the choice, so that
    the user's last action has effect.

    >>> ChoiceMemory({"XDG_STATE_HOME": "/home/ann/.local/state"}, "theme", "nord", names).value
    'nord'
    """

    def __init__(
        self,
        environ: Mapping[str, str],
        setting: str,
        configured: Value,
        values: Collection[Value],
    ) -> None:
        self.path = xdg_path(environ, "state", f"{setting}.json")
        self.configured: Value = configured
        self._setting = setting
        self._values: Collection[Value] = values

    @property
    def chosen(self) -> Value | None:
        """The value that was chosen and counts; None if there is none."""
        try:
            kept = json.loads(read_private(self.path, _MAX_BYTES)) if self.path is not None else {}
        except (OSError, ValueError, RecursionError):
            return None
        if not isinstance(kept, dict) or kept.get("configured") != self.configured:
            return None
        value = kept.get(self._setting)
        return value if type(value) is type(self.configured) and value in self._values else None

    @property
    def value(self) -> Value:
        """The value to begin with."""
        chosen = self.chosen
        return self.configured if chosen is None else chosen

    def remember(self, value: Value) -> None:
        """Keep a choice: for a worker thread. Raises Unwritable."""
        if self.path is not None:
            content = {self._setting: value, "configured": self.configured}
            write_private(self.path, f"{json.dumps(content)}\n".encode())


def fold_memory(environ: Mapping[str, str], settings: Settings) -> ChoiceMemory[bool]:
    """Return the memory of whether look-alikes are one row."""
    return ChoiceMemory(environ, "fold", settings.fold, (True, False))
