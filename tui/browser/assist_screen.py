"""Say under an input what is wrong with its text, and what its word can become."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace

from textual import events, getters, on
from textual.app import ComposeResult
from textual.worker import get_current_worker

from spackscope.model.assist.completion import Completions, complete
from spackscope.model.assist.diagnostics import Note, is_unfinished
from spackscope.model.catalog.listing import View
from spackscope.model.core.errors import (
    Cancelled,
)
from spackscope.model.core.text import cell_width
from spackscope.model.query.parsed_input import ParsedInput, parse_filter_input
from spackscope.model.sources.session import Session
from spackscope.tui.browser.loading_screen import ReadingScreen
from spackscope.tui.browser.messages import Offered
from spackscope.tui.widgets.completion_popup import CompletionPopup
from spackscope.tui.widgets.filter_bar import FilterBar
from spackscope.tui.widgets.filter_input import FilterInput
from spackscope.tui.widgets.query_bar import QueryBar
from spackscope.tui.widgets.query_input import QueryInput

NO_COMPLETIONS = Completions(0, 0)
NEED_COMPLETIONS = frozenset({"tab", "ctrl+n", "ctrl+p"})
"""Keys that wait for the completions of what was typed before them."""


class OfferingScreen(ReadingScreen):
    """Hold the view and what is being typed, look for completions, and show them in a box."""

    # Else Textual puts the focus into the query line first, and takes it out again.
    AUTO_FOCUS = ""

    _popup = getters.query_one(CompletionPopup)

    def __init__(self, sources: Sequence[str], session: Session) -> None:
        super().__init__(sources, session)
        self._view = View()
        self._typed_in: FilterInput | None = None
        self._typed: ParsedInput | None = None
        self._note: Note | None = None
        self._found = NO_COMPLETIONS
        self._awaits_completions = False
        # A text that was chosen, not typed: its last word is not to be completed further.
        self._chosen_text: str | None = None

    def compose(self) -> ComposeResult:
        """Put the box of suggestions over everything, by its layer."""
        # Last in the order of widgets it would move all others in it whenever it comes or goes,
        # and Textual draws anew what has moved.
        yield CompletionPopup(id="completion-popup")
        yield from super().compose()

    @on(FilterInput.CursorMoved)
    def _cursor_moved(self, event: FilterInput.CursorMoved) -> None:
        typed, cursor = self._typed, event.input.cursor_position
        if event.input is not self._typed_in or typed is None or event.input.value != typed.text:
            return
        if cursor != typed.cursor:
            self._complete(replace(typed, cursor=cursor))

    def _complete(self, typed: ParsedInput, *, always: bool = False) -> None:
        """Look for completions of a text that asks for nothing new."""
        self._typed = typed
        catalog = self._catalog
        if catalog is None:
            self._found = NO_COMPLETIONS
            self._offer_soon()
            return
        if typed.text == self._chosen_text and not always:
            self._found, self._awaits_completions = NO_COMPLETIONS, False
            self._offer_soon()
            return
        self._awaits_completions = True

        def work() -> None:
            worker = get_current_worker()
            with self.mending(catalog), contextlib.suppress(Cancelled):
                found = complete(
                    catalog, typed, always=always, should_stop=lambda: worker.is_cancelled
                )
                self.post_message(Offered(typed, found))

        self.run_worker(work, group="offer", exclusive=True, thread=True)

    @on(Offered)
    def _take_completions(self, event: Offered) -> None:
        if event.typed is self._typed:
            self._found, self._awaits_completions = event.completions, False
            self._offer_soon()

    def _offer_soon(self) -> None:
        """Show what there is to say once all stands in its place."""
        if self._typed_in is not None and not self._awaits_completions:
            self.call_after_refresh(self._offer)

    def _offer(self, *, insist: bool = False) -> None:
        input_, typed, note = self._typed_in, self._typed, self._note
        if input_ is None or typed is None or not input_.has_focus:
            self._popup.hide()
            return
        if input_.value != typed.text:
            return
        if not insist and is_unfinished(note, self._found):
            note = None
        inside = input_.content_region
        begin = inside.x - input_.scroll_offset.x

        def column(offset: int) -> int:
            at = begin + cell_width(typed.text[:offset])
            return max(inside.x, min(at, inside.right - 1))

        self._popup.show(
            inside.y,
            column(self._found.start),
            self._found.items,
            note.sentence if note else "",
            column(note.offset) if note and note.offset is not None else None,
        )

    def _stop_offering(self) -> None:
        self.workers.cancel_group(self, "offer")
        self._typed, self._note, self._found = None, None, NO_COMPLETIONS
        self._awaits_completions = False
        self._popup.hide()

    def on_resize(self) -> None:
        """Keep the box under its input."""
        self._offer_soon()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Show the box of an input that was given the focus with its text."""
        self._offer_soon()

    def on_screen_resume(self) -> None:
        """Show the box again after a dialog."""
        self._offer_soon()

    def on_screen_suspend(self) -> None:
        """Show nothing over a dialog."""
        self._popup.hide()

    @on(FilterInput.CompletionAccepted)
    def _take_marked(self, event: FilterInput.CompletionAccepted) -> None:
        if self._popup.marked is None or event.input is not self._typed_in:
            if self._may_leave(event.input):
                self.action_next_pane()
        else:
            self._take_completion()

    def _may_leave(self, input_: FilterInput) -> bool:
        """Tell whether Tab may go on from an input that has nothing to complete."""
        return True

    @on(CompletionPopup.Clicked)
    def _take_completion(self) -> None:
        item, input_, typed = self._popup.marked, self._typed_in, self._typed
        if item is None or input_ is None or typed is None or input_.value != typed.text:
            return
        start, end = self._found.start, self._found.end
        if not item.text.endswith("="):
            self._chosen_text = typed.text[:start] + item.text + typed.text[end:]
        input_.replace(item.text, start, end)

    @on(FilterInput.CompletionMoved)
    def _mark_completion(self, event: FilterInput.CompletionMoved) -> None:
        if self._popup.mark(event.step):
            return
        if isinstance(event.input.parent, QueryBar | FilterBar):
            self._typed_in = event.input
            self._complete(self._parse(event.input), always=True)

    def _parse(self, input_: FilterInput) -> ParsedInput:
        """Return what is in an input now, parsed; the query line has parsed it already."""
        if isinstance(input_, QueryInput):
            return input_.parsed
        column = input_.name or ""
        return parse_filter_input(input_.value, input_.cursor_position, column, self._view.query)
