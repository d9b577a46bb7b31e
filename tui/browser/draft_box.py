"""Show errors, notes and completions of the text that is being typed, in a box under its input."""

from __future__ import annotations

from textual.screen import Screen

from spackscope.model.assist.answers import is_unfinished
from spackscope.model.core.text import cell_width
from spackscope.tui.browser.frame import Frame
from spackscope.tui.browser.state import NO_COMPLETIONS, Draft


class DraftBox:
    """The draft of a state in its input, with its note and completions in a box."""

    def __init__(self, screen: Screen[None], frame: Frame) -> None:
        self._screen, self._frame = screen, frame
        self._draft: Draft | None = None
        self.is_late = False
        """Whether completions that are known are still to be shown, after the next drawing."""

    def show(self, draft: Draft | None) -> None:
        """Show another draft, or none."""
        old, self._draft = self._draft, draft
        if old is not None and (draft is None or draft.input != old.input):
            self._frame.input(old.input).is_wrong = False
        if draft is None:
            self.is_late = False
            self._frame.popup.hide()
            return
        input_ = self._frame.input(draft.input)
        input_.is_wrong = draft.is_wrong
        is_replaced = draft.replaces and input_.value == draft.replaces
        if is_replaced or (old is None and input_ is not self._screen.focused):
            input_.reflect(draft.parsed.text)
        self.show_soon()

    def show_soon(self) -> None:
        """Show the note and the completions of the draft once everything is in place."""
        draft = self._draft
        if draft is not None and draft.completions is not None:
            self.is_late = True
            self._screen.call_after_refresh(self._show)

    def _show(self) -> None:
        self.is_late = False
        draft = self._draft
        if draft is None or not (input_ := self._frame.input(draft.input)).has_focus:
            self._frame.popup.hide()
            return
        text, note = draft.parsed.text, draft.note
        if input_.value != text:
            return
        completions = draft.completions or NO_COMPLETIONS
        if not draft.insists and is_unfinished(note, completions):
            note = None
        inside = input_.content_region
        begin = inside.x - input_.scroll_offset.x

        def column(offset: int) -> int:
            at = begin + cell_width(text[:offset])
            return max(inside.x, min(at, inside.right - 1))

        self._frame.popup.show(
            inside.y,
            column(completions.start),
            completions.items,
            note.sentence if note else "",
            column(note.offset) if note and note.offset is not None else None,
        )
