"""Ask the catalog for the view that is shown, and help with what is being typed.

While a text is typed that has no rows yet, the rows of the last one that had some stay: such a
view is refused. Whoever leaves the input asks for it in earnest, and is told why it has none.
"""

from __future__ import annotations

import contextlib
import time
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace

from textual import events, on
from textual.worker import get_current_worker

from spackscope.model.assist.diagnostics import Note
from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.listing import Listing, View
from spackscope.model.core.errors import (
    Cancelled,
    QueryError,
)
from spackscope.model.core.text import clean
from spackscope.model.query.ast import Query
from spackscope.model.query.parsed_input import ParsedInput
from spackscope.model.query.parser import (
    parse,
)
from spackscope.model.sources.session import Session
from spackscope.tui.browser.answers import answers
from spackscope.tui.browser.assist_screen import (
    NEED_COMPLETIONS,
    NO_COMPLETIONS,
    OfferingScreen,
)
from spackscope.tui.browser.messages import Answered, Refused
from spackscope.tui.browser.query_history import History, Walk
from spackscope.tui.widgets.filter_bar import FilterBar
from spackscope.tui.widgets.filter_input import FilterInput
from spackscope.tui.widgets.query_bar import QueryBar
from spackscope.tui.widgets.query_input import QueryInput

_LARGE = 20_000
"""Records from which on a letter waits a moment for the next one before it is answered."""
_PAUSE = 0.05


class AskingScreen(OfferingScreen):
    """Ask for the view, and keep the rows as they are while what is typed has none."""

    def __init__(self, sources: Sequence[str], query: str, session: Session) -> None:
        super().__init__(sources, session)
        self._start_query: str | None = query
        self._view_generation = 0
        self._listing: Listing | None = None
        self._refused: View | None = None
        self._good = Query()
        # The catalog that the rows are of: those of another one cannot stay.
        self._shown_catalog: Catalog | None = None
        self._history = History(session.environ)
        self._walk: Walk | None = None
        # What was typed last and left with Escape comes first when going back.
        self._given_up = ""

    # The view and its answer

    def _set_view(
        self, view: View, *, rewrite: bool = False, typed: ParsedInput | None = None
    ) -> None:
        """Ask for another view; the last answer stays on the screen until the new one is there.

        The filter that has the focus keeps its text unless it is to be rewritten: whoever types
        may be letters ahead of what is known here.
        """
        self._view, self._refused = view, None
        if typed is None and (rewrite or not (self._typed_in and self._typed_in.is_wrong)):
            self._stop_offering()
        self._reflect(rewrite)
        catalog = self._catalog
        if catalog is None:
            return
        self._view_generation += 1
        generation, may_refuse = self._view_generation, self._shown_catalog is catalog
        completes = typed is not None and typed.text != self._chosen_text
        if typed is not None:
            self.workers.cancel_group(self, "offer")
            self._awaits_completions = True

        def work() -> None:
            worker = get_current_worker()

            def should_stop() -> bool:
                return worker.is_cancelled

            if typed is not None and catalog.total > _LARGE:
                # The next letter may be under way, and is to be seen first.
                time.sleep(_PAUSE)
            if should_stop():
                return
            with self.mending(catalog), contextlib.suppress(Cancelled):
                for answer in answers(
                    catalog,
                    view,
                    generation,
                    typed,
                    should_stop,
                    may_refuse=may_refuse,
                    completes=completes,
                ):
                    self.post_message(answer)

        self.run_worker(work, group="view", exclusive=True, thread=True)

    def _reflect(self, rewrite: bool) -> None:
        """Show the query in the line and the filters."""
        if rewrite and self._typed_in is not None:
            self._typed_in.is_wrong = False
        left_alone = None if rewrite else self._typed_in or self.focused
        self._query_bar.reflect(self._view.query, left_alone)
        self._specs.reflect(self._view.query, left_alone)

    @abstractmethod
    def _show_answer(self, event: Answered) -> None:
        """Show the rows of a view, unless it is asked for no more."""

    @on(Answered)
    def _take_answer(self, event: Answered) -> None:
        if event.generation == self._view_generation:
            self._good, self._shown_catalog = self._view.query, self._catalog
            self._show_answer(event)
            # Columns may stand elsewhere now.
            self._offer_soon()

    @on(Refused)
    def _refuse(self, event: Refused) -> None:
        if event.generation != self._view_generation:
            return
        if self._typed_in is not None and self._shown_catalog is self._catalog:
            self._refused, self._note = self._view, event.note
            self._typed = self._typed or self._parse(self._typed_in)
            self._typed_in.is_wrong = event.unanswerable
            if not self._awaits_completions:
                self._offer_soon()
        elif event.unanswerable:
            self._put_back(event.note)
        else:
            self._set_view(self._view)

    def _put_back(self, note: Note | None) -> None:
        """Give a query that cannot be asked back to the user, and show the last one that can."""
        good = self._good if self._good != self._view.query else Query()
        self._draft(str(self._view.query), note)
        self._set_view(replace(self._view, query=good))

    def _draft(self, text: str, note: Note | None) -> None:
        """Let the user mend a text that is no query."""
        input_ = self._query_bar.input
        input_.reflect(text)
        input_.is_wrong = True
        self._start_query = None
        self._typed_in, self._note = input_, note
        self._typed, self._found = self._parse(input_), NO_COMPLETIONS
        self._focus_soon(input_.focus)

    @property
    def _is_shown(self) -> bool:
        return self._listing is not None and self._listing.view is self._view

    @property
    def _is_answered(self) -> bool:
        return self._is_shown or self._refused is self._view

    def _is_typing_behind(self, event: events.Key | events.Paste) -> bool:
        """Tell whether a key in an input waits for what is known of the text before it."""
        key = getattr(event, "key", "")
        if key in NEED_COMPLETIONS:
            return self._awaits_completions
        return key == "escape" and self._typed_in is not None and not self._is_answered

    # What is typed

    @on(QueryBar.Changed)
    def _query_typed(self) -> None:
        self._type(self._query_bar.input)

    @on(FilterBar.Changed)
    def _filter_typed(self, event: FilterBar.Changed) -> None:
        self._type(event.input)

    def _type(self, input_: FilterInput) -> None:
        """Ask for what stands in an input now."""
        if self._typed_in is not input_:
            self._leave_input()
        text = input_.value
        if self._walk is not None and text != self._walk.text:
            self._walk = None
        if text != self._chosen_text:
            self._chosen_text = None
        typed = self._parse(input_)
        if self._status.message:
            self._status.hush()
        self._typed_in, self._typed, self._note = input_, typed, None
        if not input_.has_focus:
            # It was left before this came to be known.
            self.call_later(self._leave_input)
        query = typed.query
        if query is None:
            if typed.error is not None:
                self._note = Note(str(typed.error), typed.error.offset)
            input_.is_wrong = True
            self._complete(typed)
            return
        input_.is_wrong = False
        if query == self._view.query and self._is_shown:
            self._complete(typed)
        else:
            self._set_view(replace(self._view, query=query), typed=typed)

    # The history

    @on(QueryInput.Recalled)
    def _recall(self, event: QueryInput.Recalled) -> None:
        input_ = event.input
        if self._walk is None:
            given_up = (self._given_up,) if self._given_up.strip() else ()
            self._walk = Walk((*self._history.queries, *given_up), input_.value)
        if self._walk.go(event.step):
            self._chosen_text = self._walk.text
            input_.recall(self._walk.text)
        elif event.step > 0:
            input_.action_done()

    def _remember(self) -> None:
        """Keep the query for another time."""
        if self._view.query and not self._query_bar.input.is_wrong:
            self._history.remember(self._query_bar.input.value)

    # The ways out of an input

    @on(FilterInput.Done)
    def _done(self, event: FilterInput.Done) -> None:
        if not event.given_up:
            self._remember()

    @on(FilterInput.Rejected)
    def _stuck(self) -> None:
        self._offer(insist=True)
        self._status.say("this is no query yet; esc goes back to the last one", error=True)

    def _may_leave(self, input_: FilterInput) -> bool:
        """Stay where the text is no query yet, or has no rows."""
        unfinished = input_.is_wrong or self._refused is self._view
        if unfinished and input_ is self._typed_in:
            self._status.say("nothing completes this; esc goes back to the last query", error=True)
            return False
        return True

    @on(FilterInput.GivenUp)
    def _give_up(self, event: FilterInput.GivenUp) -> None:
        if event.input is self._typed_in:
            self._go_back_to_rows()
        event.input.finish(given_up=True)

    def _go_back_to_rows(self) -> bool:
        """Go from a text that has no rows to the last query that had some."""
        input_ = self._typed_in
        refused = self._refused is self._view
        if input_ is None or not (refused or input_.is_wrong):
            return False
        if input_ is self._query_bar.input:
            self._given_up = input_.value
        query = self._good if refused else self._view.query
        if self._is_answered and self._listing is not None and self._listing.view.query == query:
            # Its rows are there.
            self._view, self._refused = self._listing.view, None
            self._reflect(rewrite=True)
            self._stop_offering()
        else:
            self._set_view(replace(self._view, query=query), rewrite=True)
        return True

    def on_descendant_blur(self, event: events.DescendantBlur) -> None:
        """Ask in earnest for what was typed, once its input is left."""
        left = event.widget is self._typed_in and event.widget is not self.focused
        # Another window that comes to the front is no way out.
        if left and self.app.app_focus and not self.is_moving:
            self._leave_input()

    def _leave_input(self) -> None:
        input_, note = self._typed_in, self._note
        if input_ is None:
            return
        if input_.is_wrong:
            if self._go_back_to_rows() and note is not None:
                self._status.say(f"Back to the last query: {note.sentence}", error=True)
        elif self._refused is self._view:
            self._set_view(self._view)
        self._typed_in = self._walk = self._chosen_text = None
        self._stop_offering()

    def _parsed_start(self) -> Query | None:
        """Parse the query of the command line; where it is none the user is to mend it."""
        assert self._start_query is not None
        try:
            return parse(self._start_query, bare="package")
        except QueryError as error:
            # Shown cleaned, a text may be longer.
            offset = len(clean(self._start_query[: error.offset]))
            self._draft(self._start_query, Note(str(error), offset))
            return None
