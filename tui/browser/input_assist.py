"""Help with the text that is being typed: its completions, and the note on what is wrong."""

from __future__ import annotations

from typing import NamedTuple

from spackscope.model.assist.answers import Completion, Completions
from spackscope.model.core.frozen import replace
from spackscope.model.query.parser import ParsedInput
from spackscope.tui.browser.state import NO_COMPLETIONS, QUERY, Draft, Host, Task
from spackscope.tui.keymap.in_use import shown


class Replacement(NamedTuple):
    """A text in place of the characters from `start` to `end` of an input."""

    text: str
    start: int
    end: int


class InputAssist:
    """Complete the draft of the state."""

    def __init__(self, host: Host) -> None:
        self._host = host
        # A text that was chosen, not typed: its last word is not completed further.
        self._chosen: str | None = None

    def note_text(self, text: str) -> None:
        """Remember the text of the input."""
        if text != self._chosen:
            self._chosen = None

    def choose(self, text: str) -> None:
        """Offer no completions of a text that is about to be put into the input."""
        self._chosen = text

    def is_chosen(self, text: str) -> bool:
        """Check whether a text was chosen rather than typed."""
        return text == self._chosen

    def complete(self, parsed: ParsedInput, *, always: bool = False) -> None:
        """Look for completions of a draft; with `always` also of a word that is not begun."""
        host, state = self._host, self._host.state
        catalog = state.catalog
        draft = state.draft if state.draft is not None else Draft(parsed)
        if catalog is None or (self.is_chosen(parsed.text) and not always):
            host.change(draft=replace(draft, parsed=parsed, completions=NO_COMPLETIONS))
            return
        host.change(draft=replace(draft, parsed=parsed, completions=None))

        def job(task: Task) -> Completions:
            # Imported here, after the first rows are shown.
            from spackscope.model.assist.completion import complete

            return complete(catalog, parsed, always=always, should_stop=task)

        host.run(job, lambda completions: self.take(parsed, completions), group="completions")

    def take(self, parsed: ParsedInput, completions: Completions) -> None:
        """Show the completions of a text, if that is still the draft."""
        draft = self._host.state.draft
        if draft is not None and draft.parsed is parsed:
            self._host.change(draft=replace(draft, completions=completions))

    def move_cursor(self, name: str, text: str, cursor: int) -> None:
        """Complete the word that the cursor of an input came to."""
        draft = self._host.state.draft
        if draft is None or draft.input != name or draft.parsed.text != text:
            return
        if draft.parsed.cursor != cursor:
            self.complete(replace(draft.parsed, cursor=cursor))

    def request(self, parsed: ParsedInput) -> None:
        """Show completions of a text although none were shown."""
        draft = self._host.state.draft
        if draft is not None and draft.input != (parsed.column or QUERY):
            self._host.change(draft=Draft(parsed))
        self.complete(parsed, always=True)

    def accept(self, item: Completion | None, name: str, text: str) -> Replacement | None:
        """Return what to put into an input for a completion; None if the text is another now."""
        draft = self._host.state.draft
        if item is None or draft is None or draft.input != name or draft.parsed.text != text:
            return None
        word = draft.completions or NO_COMPLETIONS
        start, end = word.start, word.end
        # A version or a variant that is typed next is a word of its own, as of a spec.
        ends_word = name == QUERY and end == len(text) and item.text.startswith("package=")
        inserted = item.text + " " * ends_word
        if not item.text.endswith("="):
            self._chosen = text[:start] + inserted + text[end:]
        if inserted == text[start:end]:
            # The text stays, so nothing else hides its completions.
            self._host.change(draft=replace(draft, completions=NO_COMPLETIONS))
        return Replacement(inserted, start, end)

    def may_leave(self, name: str) -> bool:
        """Check whether Tab may leave an input: not if its text is not a query, or has no rows."""
        state, draft = self._host.state, self._host.state.draft
        if draft is None or draft.input != name or not (draft.is_wrong or state.is_refused):
            return True
        self._host.say(
            f"nothing completes this; {shown('filters-back')} goes back to the last query",
            error=True,
        )
        return False

    def reject(self) -> None:
        """Refuse to leave a text that is no query, even if a completion would finish its word."""
        if (draft := self._host.state.draft) is not None:
            self._host.change(draft=replace(draft, insists=True))
        self._host.say(
            f"not a query yet; {shown('filters-back')} goes back to the last one", error=True
        )

    def stop(self) -> None:
        """Forget the draft."""
        self._chosen = None
        self._host.cancel("completions")
        self._host.change(draft=None)
