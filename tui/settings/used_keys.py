"""Use the keys that the settings say."""

from __future__ import annotations

from spackscope.tui.keymap import DEFAULT, use_keys
from spackscope.tui.settings.settings import Settings


def use_keys_of(settings: Settings) -> None:
    """Use the keys of the settings from now on."""
    keymap = DEFAULT
    if settings.keys:
        # Few change keys.
        from spackscope.tui.settings.key_changes import changed_keys

        keymap = changed_keys(settings)
    use_keys(keymap)
