"""Search: the view that is requested, and the text that it is typed as.

While a text is typed that has no rows yet, the rows of the last one that had some stay: its view
is refused. Once the input is left, the view is requested again, and explained if it has no rows.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from spackscope.model.assist.answers import Note
from spackscope.model.core.errors import QueryError
from spackscope.model.core.frozen import replace
from spackscope.model.core.text import clean
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.rows import Row
from spackscope.model.index.view import Sort, View
from spackscope.model.query.ast import Query, Term
from spackscope.model.query.parser import ParsedInput, parse, parse_input
from spackscope.tui.browser.chosen_package import typed_readings, without_chosen
from spackscope.tui.browser.input_assist import InputAssist
from spackscope.tui.browser.state import QUERY, Draft, Host, Refusal, Results, Task
from spackscope.tui.browser.views import LARGE, Entry, preferred_order, selects_otherwise

if TYPE_CHECKING:
    from spackscope.model.query.parser import NamedQueries

_PAUSE = 0.05
_FIRST_FRAME = 0.01
"""Seconds after which the first rows are read: the first frame is drawn before."""


def _read(*arguments: Any, **options: Any) -> Results | Refusal:
    """Call `read_results`, which is imported after the first frame."""
    from spackscope.tui.browser.read_results import read_results

    return read_results(*arguments, **options)


class Search:
    """Request views, and keep the rows while what is typed has none.

    `named` are the named queries that a text may use.
    `before_change` is called before the view changes, `on_shown` when the rows of one are shown.
    """

    def __init__(self, host: Host, assist: InputAssist, named: NamedQueries | None = None) -> None:
        self._host, self._assist, self._named = host, assist, named
        self._last_good = Query()
        self._cursor_on: Row | str | None = None
        self._entry: Entry | None = None
        self.given_up = ""
        self.before_change: Callable[[], None] = lambda: None
        self.on_shown: Callable[[], None] = lambda: None

    def show(
        self,
        view: View,
        *,
        rewrite: bool = False,
        typed: ParsedInput | None = None,
        instead: ParsedInput | None = None,
        cursor_on: Row | str | None = None,
    ) -> None:
        """Request another view; the last results stay on the screen until the new ones arrive.

        The input with the focus keeps its text, unless it is to be rewritten: more letters may
        have been typed. `cursor_on` is the row, or the hash, to put the cursor on; by default it
        is on the first row of another query or order, and else stays where it is. If nothing
        matches what is `typed`, the text `instead` is shown if that has matches.
        """
        host, state = self._host, self._host.state
        draft = state.draft
        if typed is None and draft is None:
            self.before_change()
        if typed is None and (rewrite or draft is None or not draft.is_wrong):
            draft = None
            host.cancel("completions")
        if cursor_on is not None or selects_otherwise(view, state.view):
            self._cursor_on = cursor_on
        host.change(view=view, refused=None, draft=draft)
        host.show_query(rewrite=rewrite)
        if (summary := state.summary) is None:
            return
        reading = self._reading(summary.catalog, view, typed, instead)
        is_slow = typed is not None and summary.total > LARGE
        delay = _FIRST_FRAME if state.results is None else _PAUSE if is_slow else 0
        host.run(reading, self._take, group="view", delay=delay)

    def _reading(
        self, catalog: Catalog, view: View, typed: ParsedInput | None, instead: ParsedInput | None
    ) -> Callable[[Task], Results | Refusal]:
        """Return the job that reads the results of a view."""
        state = self._host.state
        return partial(
            _read,
            catalog,
            view,
            typed,
            target=self._target(view),
            may_refuse=state.results is not None and state.results.catalog is catalog,
            completes=typed is not None and not self._assist.is_chosen(typed.text),
            instead=None if instead is None else (self.of_query(instead.query), instead),
        )

    def _target(self, view: View) -> Row | str | None:
        """Return what to put the cursor on; None for the first row."""
        state = self._host.state
        if self._cursor_on is not None:
            return self._cursor_on
        if state.listing is None or selects_otherwise(view, state.listing.view):
            return None
        return self._host.where.row or state.selected

    def _take(self, answer: Results | Refusal) -> None:
        if isinstance(answer, Refusal):
            self._refuse(answer)
            return
        if answer.listing.view is not self._host.state.view:
            self._drop_chosen_package(answer.listing.view)
        state = self._host.state
        self._last_good, self._cursor_on = state.view.query, None
        is_query = state.draft is None or state.draft.parsed.query is not None
        self._host.change(results=answer, stale="" if is_query else "?")
        if answer.virtuals:
            self._host.say(answer.virtuals)
        if state.draft is not None and state.draft.completions is None:
            self._assist.complete(state.draft.parsed)
        self.on_shown()

    def _drop_chosen_package(self, view: View) -> None:
        """Show in the query line that a name which was typed replaced the chosen package."""
        state, draft = self._host.state, self._host.state.draft
        rest = without_chosen(draft.parsed, self._chosen) if draft is not None else None
        if draft is not None and rest is not None:
            draft = Draft(rest, completions=None, replaces=draft.parsed.text)
        self._host.change(view=view, draft=draft)
        self._host.show_query()
        self._host.say(f"All packages: {state.view.query.package_term} has no match")

    @property
    def _chosen(self) -> Term | None:
        """The package that was chosen when the input was entered."""
        return self._entry.view.query.package_term if self._entry is not None else None

    def _refuse(self, refusal: Refusal) -> None:
        state, draft = self._host.state, self._host.state.draft
        has_rows = state.results is not None and state.results.catalog is state.catalog
        if draft is not None and draft.parsed.query is None and has_rows:
            # The refusal is of what was typed before this text, which is no query yet.
            self._host.change(refused=state.view)
        elif draft is not None and has_rows:
            draft = replace(draft, note=refusal.note, is_wrong=refusal.is_unanswerable)
            stale = "?" if refusal.is_unanswerable else "0"
            self._host.change(refused=state.view, draft=draft, stale=stale)
            if refusal.completions is not None:
                self._assist.take(draft.parsed, refusal.completions)
            elif draft.completions is None:
                self._assist.complete(draft.parsed)
        elif refusal.is_unanswerable:
            self._return_to_user(refusal.note)
        else:
            self.show(state.view)

    def _return_to_user(self, note: Note | None) -> None:
        """Return to the input of a query without an answer, above the last good rows."""
        view = self._host.state.view
        query = self._last_good if self._last_good != view.query else Query()
        self.edit(str(view.query), note)
        self.show(replace(view, query=query))

    def edit(self, text: str, note: Note | None) -> None:
        """Put a text that is not a query into the query line, with a note on it."""
        text = clean(text)
        self._host.change(draft=Draft(self.parse(text), note, is_wrong=True))
        self._host.focus(QUERY)

    def start(self, text: str) -> Query | None:
        """Return the query of the command line; None if it is not one, which is then edited."""
        try:
            return parse(text, named=self._named)
        except QueryError as error:
            # Shown cleaned, a text may be longer.
            self.edit(text, Note(str(error), len(clean(text[: error.offset]))))
            return None

    def parse(self, text: str) -> ParsedInput:
        """Parse a text of the query line."""
        packages = self._host.state.package_names
        return parse_input(text, len(text), packages=packages, named=self._named)

    def reread(self) -> Query:
        """Return the query of the line, in which words may name packages that have come."""
        state, line = self._host.state, self._host.where.line
        parsed = replace(self.parse(line.text), cursor=line.cursor)
        if state.draft is not None and state.draft.input == QUERY:
            self._host.change(draft=replace(state.draft, parsed=parsed))
        return state.view.query if parsed.query is None else parsed.query

    def enter(self, name: str, text: str) -> None:
        """Remember what an input shows when it gets the focus."""
        state = self._host.state
        # A window that comes back to the front is not entered anew.
        if state.draft is None or state.draft.input != name:
            self._entry = Entry(name, text, state.view, self._host.where.row)

    def type(self, parsed: ParsedInput) -> None:
        """Request the view of what was typed in an input."""
        host, draft, name = self._host, self._host.state.draft, parsed.column or QUERY
        if draft is None or draft.input != name:
            self.leave()
            self.before_change()
            if self._entry is None or self._entry.input != name:
                self.enter(name, str(host.state.view.query) if name == QUERY else "")
        self._assist.note_text(parsed.text)
        host.say("")
        text = parsed.text
        parsed, instead = typed_readings(parsed, self._chosen, host.state.package_names)
        note = Note(str(parsed.error), parsed.error.offset) if parsed.error is not None else None
        replaces = text if text != parsed.text else ""
        host.change(draft=Draft(parsed, note, parsed.query is None, None, replaces=replaces))
        if parsed.query is None:
            host.change(stale="?" if host.state.results is not None else "")
            self._assist.complete(parsed)
        elif parsed.query == host.state.view.query and host.state.is_shown:
            host.change(stale="")
            self._assist.complete(parsed)
        else:
            self.show(self.of_query(parsed.query), typed=parsed, instead=instead)
        if host.where.input != name:
            # It was left before this came to be known.
            self.leave()

    def give_up(self, name: str) -> str | None:
        """Show again what was shown when an input was entered; return its text then."""
        entry, draft = self._entry, self._host.state.draft
        if entry is None or entry.input != name:
            return None
        text = entry.text.rstrip()
        if draft is not None and name == QUERY and draft.parsed.text.strip() != text:
            self.given_up = draft.parsed.text
        self._assist.stop()
        self._show_again(entry.view, entry.row)
        return text

    def leave(self) -> None:
        """Show what was typed even if it has no rows, once its input is left."""
        host, state, draft = self._host, self._host.state, self._host.state.draft
        if draft is None:
            return
        if self._entry is not None and self._entry.input == draft.input:
            self._entry = None
        if draft.is_wrong:
            self._go_back(draft)
            if draft.note is not None:
                host.say(f"Back to the last query: {draft.note.sentence}", error=True)
        elif state.is_refused:
            self.show(state.view)
        self._assist.stop()
        if host.state.is_shown:
            self.on_shown()

    def _go_back(self, draft: Draft) -> None:
        """Show the last query in place of a text that is not one."""
        state = self._host.state
        if draft.input == QUERY:
            self.given_up = draft.parsed.text
        query = self._last_good if state.is_refused else state.view.query
        self._show_again(replace(state.view, query=query))

    def _show_again(self, view: View, row: Row | None = None) -> None:
        """Show a view from before the input was changed, at once if its rows are there."""
        host, results = self._host, self._host.state.results
        # Those of a catalog that was replaced are just being read again.
        is_there = results is not None and results.catalog is host.state.catalog
        if results is not None and is_there and results.listing.view == view:
            host.cancel("view", "completions")
            host.change(view=results.listing.view, refused=None, draft=None, stale="")
            host.show_query(rewrite=True)
        else:
            self.show(view, rewrite=True, cursor_on=row)

    def show_query(self, query: Query, *, rewrite: bool = False) -> None:
        """Request the view of another query."""
        self.show(self.of_query(query), rewrite=rewrite)

    def of_query(self, query: Query | None) -> View:
        """Return the view of another query, ordered by all that is known by now."""
        state = self._host.state
        order = state.view.order if state.summary is None else preferred_order(state.summary)
        return replace(state.view, query=query or Query(), order=order)

    def select_package(self, name: str | None) -> None:
        """Show the specs of a package, or with None those of all."""
        old = self._host.state.view.query
        query = old.with_package(name)
        if query != old:
            self.show(self.of_query(query).closed())

    def sort(self, sort: Sort | None) -> None:
        """Order the rows by a column, or as they are in the index."""
        self.show(replace(self._host.state.view, sort=sort))

    def fold(self) -> None:
        """Fold look-alikes into one row, or unfold them all."""
        view = self._host.state.view
        self.show(replace(view, folded=not view.folded).closed())
