"""The base of the dialogs in which a path is typed: it is completed, and then read or written."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

from textual import events, on
from textual.widgets import Input

from spackscope.tui.browser import jobs
from spackscope.tui.browser.browser_host import BrowserHost
from spackscope.tui.dialogs.dialog import Pick, PickDialog
from spackscope.tui.keymap import PATHS, Hint, bindings, first_key, hint, key_names


class PathDialog(PickDialog):
    """Pick a path or type one; each value is a list of names, of which a path is the only one.

    A subclass looks with `find`, in a worker thread, for what a text may name, and returns the
    picks for it with `fitting`. It sets `is_working` while it reads or writes what was chosen, so
    that this can be stopped, or another name be typed.
    """

    PANE = PATHS
    BINDINGS = bindings(PATHS)
    adds = False
    """Whether a key adds the source under the cursor to the open ones."""

    def __init__(
        self, host: BrowserHost, title: str, noun: str, picks: Sequence[Pick], *, choose: str
    ) -> None:
        self._host = host
        self.searched: str | None = None
        """The text for which `find` was called last."""
        self.found: Any = None
        """What `find` has returned; None until then."""
        super().__init__(title, noun, picks, choose=choose, find_all=self._find_all_paths)

    @abstractmethod
    def find(self, text: str) -> Any:
        """Return what a text may name: for a worker thread."""

    @abstractmethod
    def fitting(self, text: str, picks: Sequence[Pick]) -> Sequence[Pick]:
        """Return the picks for a text."""

    @abstractmethod
    def stop(self) -> None:
        """Stop reading or writing what was chosen."""

    def _find_all_paths(self, text: str, picks: Sequence[Pick]) -> Sequence[Pick]:
        if text != self.searched:
            self.searched, self.found = text, None
            self._host.run(lambda _: self.find(text), self._take_found, jobs.PATHS)
        return self.fitting(text, picks)

    def _take_found(self, found: Any) -> None:
        self.found = found
        self.show_picks(self._picks)

    @on(Input.Changed)
    def _forget_error(self) -> None:
        """Hide a message about a path that was typed before."""
        self.say("")

    def type(self, text: str) -> None:
        """Put a text into the line, with the cursor at its end."""
        self.input.value = text
        self.input.cursor_position = len(self.input.value)

    def work(self, *, is_working: bool) -> None:
        """Begin to wait for what was chosen, or let another path be chosen."""
        self.is_working = is_working
        self.status.refresh()

    def key_hints(self) -> Iterable[Hint]:
        """Return the keys, of which only one works while something is read or written."""
        if self.is_working:
            return hint("dialogs-close", "stop", is_letter_typed=True)
        left_out = () if self.adds else key_names("paths-add")
        return [each for each in super().key_hints() if each.key not in left_out]

    def must_wait(self, event: events.Key | events.Paste) -> bool:
        """Check whether a key must wait for paths, or until all is read or written."""
        key = event.key if isinstance(event, events.Key) else ""
        if self.is_working:
            return key != first_key("dialogs-close", is_letter_typed=True)
        on_paths = key_names("paths-complete", "paths-add", "dialogs-choose")
        return self.found is None and key in on_paths

    def action_close(self) -> None:
        """Stop reading or writing, or remove the text, or close the dialog."""
        if self.is_working:
            self.stop()
        else:
            super().action_close()

    def action_complete(self) -> None:
        """Complete the typed path as far as matches agree, or take the row under the cursor."""
        names = [pick.value[0] for pick in self.list.picks if len(pick.value) == 1]
        longer = [name for name in names if name.startswith(self.search) and name != self.search]
        chosen = self.list.pick.value[0] if self.list.pick is not None else ""
        if chosen == self.search and longer:
            # Letter by letter, as a shell does.
            common = os.path.commonprefix(longer)  # noqa: RUF071
            chosen = common if common != self.search else longer[0]
        self.type(chosen)
