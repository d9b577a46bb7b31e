"""A dialog over the whole screen."""

from __future__ import annotations

from typing import Generic

from spackscope.tui.dialogs.base import Dialog, Result


class FullScreen(Dialog[Result], Generic[Result]):
    """A dialog that fills the screen."""

    _is_composed = False
