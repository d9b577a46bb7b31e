"""Search: the requested view, and the text being typed for it.

While a typed text has no rows, its view is refused, and the last rows stay. Once the input is
left, the view is requested again, and a text explains why it has no rows.

The query line begins with the package that was chosen in the list. A second package name after
that means the other package: no spec has both names.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import NamedTuple

from spackscope.model.assist.advice import check_input, explain_no_match, note_on, relaxations
from spackscope.model.assist.completion import complete
from spackscope.model.assist.offers import Completion, Completions, Note, Relaxation
from spackscope.model.core.errors import QueryError, Unanswerable
from spackscope.model.core.frozen import replace
from spackscope.model.core.text import clean
from spackscope.model.index.catalog import Catalog, Listing, Row
from spackscope.model.index.order import View
from spackscope.model.index.rows import PackageCount
from spackscope.model.query.ast import Query, Term, query_of
from spackscope.model.query.column_filter import parse_filter_input
from spackscope.model.query.matchers import ANY
from spackscope.model.query.parser import ParsedInput, parse, parse_input
from spackscope.model.report.row_notes import row_notes
from spackscope.model.report.titles import hidden_by_host, shared_texts
from spackscope.tui.browser import jobs
from spackscope.tui.browser.browser_host import BrowserHost
from spackscope.tui.browser.state import NO_COMPLETIONS, QUERY, SPECS, Draft, Refusal, Results
from spackscope.tui.keymap import shown
from spackscope.tui.widgets.table_rows import read_windows, window_starts

_NEAR = 45
"""Rows around the cursor that are read with the listing."""


def read_results(
    catalog: Catalog,
    view: View,
    typed: ParsedInput | None,
    *,
    target: Row | str | None = None,
    may_refuse: bool = True,
    completes: bool = True,
    can_undo: bool = True,
    instead: tuple[View, ParsedInput] | None = None,
) -> Results | Refusal:
    """Read the packages and rows of a view, with the cursor on the row or hash `target`.

    A `typed` view without a match is refused if `may_refuse`; but if the view `instead` has a
    match, its results are returned. Raises Cancelled.
    """
    selected = catalog.selected_package(view.query)
    others = view.query.with_package(None) if selected is not None else view.query
    try:
        packages = catalog.packages(others)
        partition = row_notes(catalog).partition
        listing = catalog.listing(view, partition=partition)
    except Unanswerable as error:
        parsed = typed or parse_input(str(view.query), 0)
        return Refusal(note_on(error.condition, str(error), parsed), is_unanswerable=True)
    if instead is not None and not listing.shown:
        other = read_results(catalog, *instead)
        if isinstance(other, Results) and other.listing.shown:
            return other
    if typed is not None and may_refuse and not listing.shown:
        return _refuse(catalog, view, typed, completes=completes)
    return _results(catalog, listing, packages, target, can_undo=can_undo)


def _results(
    catalog: Catalog,
    listing: Listing,
    packages: Sequence[PackageCount],
    target: Row | str | None,
    *,
    can_undo: bool,
) -> Results:
    view, selected = listing.view, catalog.selected_package(listing.view.query)
    elsewhere = 0 if listing.shown else sum(package.shown for package in packages)
    listing.precompute()
    cursor = _cursor(catalog, listing, target)
    starts = window_starts(cursor - _NEAR, cursor + _NEAR, len(listing))
    return Results(
        listing,
        _with_selected(packages, selected),
        selected,
        shared_texts(listing),
        _explanation(catalog, listing, elsewhere, can_undo=can_undo),
        () if listing.shown else relaxations(catalog, view.query),
        catalog.virtuals.sentence(view.query),
        hidden_by_host(catalog, view.query),
        cursor,
        read_windows(listing, starts),
    )


def _refuse(catalog: Catalog, view: View, typed: ParsedInput, *, completes: bool) -> Refusal:
    """Refuse a text without a match, with completions of an unfinished word, or with a note."""
    word = complete(catalog, typed) if completes else NO_COMPLETIONS
    if word.items:
        return Refusal(None, completions=word)
    note = check_input(catalog, typed)
    if note is None:
        note = Note(explain_no_match(catalog, view.query), None)
    return Refusal(note, completions=word)


def _with_selected(
    packages: Sequence[PackageCount], selected: PackageCount | None
) -> Sequence[PackageCount]:
    """Add the selected package to the list if nothing of it matches."""
    if selected is None or any(package.id == selected.id for package in packages):
        return packages
    return sorted([*packages, selected._replace(shown=0)], key=lambda package: package.id)


def _cursor(catalog: Catalog, listing: Listing, target: Row | str | None) -> int:
    if isinstance(target, Row) and target.catalog is not catalog:
        target = target.spec.hash
    rows = catalog.by_hash(target) if isinstance(target, str) else [target] if target else []
    numbers = map(listing.row_of, rows)
    return next((number for number in numbers if number is not None), 0)


def _explanation(catalog: Catalog, listing: Listing, elsewhere: int, *, can_undo: bool) -> str:
    """Explain why there are no rows, and which key helps."""
    if listing.shown:
        return ""
    query = listing.view.query
    sentence = explain_no_match(catalog, query)
    if elsewhere:
        return f"{sentence}\n{elsewhere:,} of other packages match"
    if not query:
        return sentence
    ways = [f"{shown('undo')} goes back"] if can_undo else []
    ways.append(f"{shown('clear')} removes all filters")
    of_spec = (each for each in query.conditions if isinstance(each, Term))
    words = (term.pattern for term in of_spec if term.column in ("package", ANY))
    if catalog.virtuals.unlisted(query_of(*(Term("package", word) for word in words))):
        ways.append(f"{shown('dependency-only')} shows dependency-only specs")
    return f"{sentence}\n{' · '.join(ways)}"


MANY = 200_000
"""Records from which on a search waits a moment for the next letter."""


class EnteredInput(NamedTuple):
    """The text of an input, the view, and the row with the cursor when the input was entered."""

    input: str
    text: str
    view: View
    row: Row | None


class Replacement(NamedTuple):
    """A text in place of the characters from `start` to `end` of an input."""

    text: str
    start: int
    end: int


class Completer:
    """Look for completions of the text that is typed, and insert one that is accepted.

    `chosen_text` is a text that was chosen, not typed: its last word is not completed further.
    """

    def __init__(self, host: BrowserHost) -> None:
        self._host = host
        self.chosen_text: str | None = None

    def is_typed(self, parsed: ParsedInput) -> bool:
        """Check whether a text is one whose words are completed while it is typed.

        A filter is not: the box would cover the rows that match.
        """
        return not parsed.column and parsed.text != self.chosen_text

    def look(self, parsed: ParsedInput, *, always: bool = False) -> None:
        """Look for completions of a draft; with `always` also of a word that is not begun."""
        host, state = self._host, self._host.state
        catalog = state.newest
        draft = state.draft if state.draft is not None else Draft(parsed)
        if catalog is None or not (always or self.is_typed(parsed)):
            host.change(draft=replace(draft, parsed=parsed, completions=NO_COMPLETIONS))
            return
        host.change(draft=replace(draft, parsed=parsed, completions=None))

        def job(_: object) -> Completions:
            return complete(catalog, parsed, always=always)

        host.run(job, partial(self.take, parsed), jobs.COMPLETIONS)

    def take(self, parsed: ParsedInput, completions: Completions) -> None:
        """Show the completions of a text, if the text is still the draft."""
        draft = self._host.state.draft
        if draft is not None and draft.parsed is parsed:
            self._host.change(draft=replace(draft, completions=completions))

    def move_cursor(self, name: str, text: str, cursor: int) -> None:
        """Complete the word that the cursor of an input came to."""
        draft = self._draft_of(name, text)
        if draft is not None and draft.parsed.cursor != cursor:
            self.look(replace(draft.parsed, cursor=cursor))

    def request(self, parsed: ParsedInput) -> None:
        """Show completions of a text although none were shown."""
        draft = self._host.state.draft
        if draft is not None and draft.input != (parsed.column or QUERY):
            self._host.change(draft=Draft(parsed))
        self.look(parsed, always=True)

    def accept(self, item: Completion | None, name: str, text: str) -> Replacement | None:
        """Return the replacement for a completion; None if the input has another text now."""
        draft = self._draft_of(name, text)
        if item is None or draft is None:
            return None
        word = draft.completions or NO_COMPLETIONS
        start, end = word.start, word.end
        # A version or a variant that is typed next is a word of its own, as in a spec.
        ends_word = name == QUERY and end == len(text) and item.text.startswith("package=")
        inserted = item.text + " " * ends_word
        if not item.text.endswith("="):
            self.chosen_text = text[:start] + inserted + text[end:]
        if inserted == text[start:end]:
            # The text stays, so nothing else hides its completions.
            self._host.change(draft=replace(draft, completions=NO_COMPLETIONS))
        return Replacement(inserted, start, end)

    def _draft_of(self, name: str, text: str) -> Draft | None:
        """Return the draft if it is of this text of an input."""
        draft = self._host.state.draft
        is_it = draft is not None and draft.input == name and draft.parsed.text == text
        return draft if is_it else None


class Search:
    """Request views, and keep the last rows while the typed text has none.

    `before_change` is called before the view changes, `on_catalog` before the rows of another
    catalog are shown, and `on_shown` when the rows of a view are shown.
    """

    def __init__(self, host: BrowserHost) -> None:
        self._host = host
        self._last_good = Query()
        self._cursor_on: Row | str | None = None
        self._entry: EnteredInput | None = None
        self.completer = Completer(host)
        self.given_up = ""
        self.before_change: Callable[[], None] = lambda: None
        self.on_shown: Callable[[], None] = lambda: None
        self.on_catalog: Callable[[], None] = lambda: None

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

        The input with the focus keeps its text unless `rewrite`: more letters may have been typed.
        `cursor_on` is the row or the hash to put the cursor on; by default the cursor is on the
        first row of another query or order, and else stays where it is. If the `typed` text has no
        matches, the text `instead` is shown if it has matches.
        """
        host, state = self._host, self._host.state
        draft = state.draft
        if typed is None and draft is None:
            self.before_change()
        if typed is None and (rewrite or draft is None or not draft.is_wrong):
            draft = None
            host.cancel(jobs.COMPLETIONS)
        if cursor_on is not None or selects_otherwise(view, state.view):
            self._cursor_on = cursor_on
        if state.newest is not state.catalog:
            # The groups of the view have other numbers in the newest catalog.
            view = view.closed()
        table = state.table
        if view.query != state.view.query:
            table = SPECS
            host.cancel(jobs.SHEET)
        host.change(view=view, refused=None, draft=draft, table=table)
        host.show_query(rewrite=rewrite)
        if (summary := state.summary) is None:
            if typed is not None:
                self.completer.look(typed)
            return
        results = state.results
        reading = partial(
            read_results,
            summary.catalog,
            view,
            typed,
            target=self._target(view),
            may_refuse=results is not None and results.catalog is summary.catalog,
            completes=typed is not None and self.completer.is_typed(typed),
            can_undo=state.can_undo_next,
            instead=None if instead is None else (self.of_query(instead.query), instead),
        )
        is_slow = typed is not None and summary.total > MANY
        host.run(lambda _: reading(), self._take, jobs.VIEW_OF_MANY if is_slow else jobs.VIEW)

    def _target(self, view: View) -> Row | str | None:
        """Return the row or the hash to put the cursor on; None for the first row."""
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
        if answer.catalog is not state.catalog:
            if self._entry is not None:
                self._entry = self._entry._replace(view=self._entry.view.closed())
            self.on_catalog()
        self._last_good, self._cursor_on = state.view.query, None
        is_query = state.draft is None or state.draft.parsed.query is not None
        self._host.change(results=answer, stale="" if is_query else "?")
        if answer.virtuals:
            self._host.say(answer.virtuals)
        if state.draft is not None and state.draft.completions is None:
            self.completer.look(state.draft.parsed)
        self.on_shown()

    def _drop_chosen_package(self, view: View) -> None:
        """Remove the chosen package from the query line: a typed name has replaced it."""
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
        has_rows = state.results is not None and state.results.catalog is state.newest
        if draft is not None and draft.parsed.query is None and has_rows:
            # The refusal is of an earlier text; the present text is not a query yet.
            self._host.change(refused=state.view)
        elif draft is not None and has_rows:
            draft = replace(draft, note=refusal.note, is_wrong=refusal.is_unanswerable)
            stale = "?" if refusal.is_unanswerable else "0"
            self._host.change(refused=state.view, draft=draft, stale=stale)
            if refusal.completions is not None:
                self.completer.take(draft.parsed, refusal.completions)
            elif draft.completions is None:
                self.completer.look(draft.parsed)
        elif refusal.is_unanswerable:
            self._edit_unanswerable(refusal.note)
        else:
            self.show(state.view)

    def _edit_unanswerable(self, note: Note | None) -> None:
        """Edit a query without an answer in the query line, above the last good rows."""
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
            return parse(text)
        except QueryError as error:
            # Shown cleaned, a text may be longer.
            self.edit(text, Note(str(error), len(clean(text[: error.offset]))))
            return None

    def parse(self, text: str) -> ParsedInput:
        """Parse a text of the query line."""
        packages = self._host.state.package_names
        return parse_input(text, len(text), packages=packages)

    def reread(self) -> Query:
        """Return the query of the line, parsed again: words may name packages loaded meanwhile."""
        state, line = self._host.state, self._host.where.line
        parsed = replace(self.parse(line.text), cursor=line.cursor)
        if state.draft is not None and state.draft.input == QUERY:
            self._host.change(draft=replace(state.draft, parsed=parsed))
        return state.view.query if parsed.query is None else parsed.query

    def enter(self, name: str, text: str) -> None:
        """Remember the text of an input, the view and the row when the input gets the focus."""
        state = self._host.state
        # The input of a window that comes back to the front is not entered anew.
        if state.draft is None or state.draft.input != name:
            self._entry = EnteredInput(name, text, state.view, self._host.where.row)

    def type(self, parsed: ParsedInput) -> None:
        """Request the view of the text typed in an input."""
        host, draft, name = self._host, self._host.state.draft, parsed.column or QUERY
        if draft is None or draft.input != name:
            self.leave()
            self.before_change()
            if self._entry is None or self._entry.input != name:
                self.enter(name, str(host.state.view.query) if name == QUERY else "")
        if parsed.text != self.completer.chosen_text:
            self.completer.chosen_text = None
        host.say("")
        text = parsed.text
        parsed, instead = typed_readings(parsed, self._chosen, host.state.package_names)
        note = Note(str(parsed.error), parsed.error.offset) if parsed.error is not None else None
        replaces = text if text != parsed.text else ""
        host.change(draft=Draft(parsed, note, parsed.query is None, None, replaces=replaces))
        if parsed.query is None:
            host.change(stale="?" if host.state.results is not None else "")
            self.completer.look(parsed)
        elif parsed.query == host.state.view.query and host.state.is_shown:
            host.change(stale="")
            self.completer.look(parsed)
        else:
            self.show(self.of_query(parsed.query), typed=parsed, instead=instead)

    def type_again(self, typed: ParsedInput) -> None:
        """Request the view of a text again: it may mean something else in a newer catalog."""
        if typed.column:
            query = self._host.state.view.query
            self.type(parse_filter_input(typed.text, typed.cursor, typed.column, query))
        else:
            self.type(replace(self.parse(typed.text), cursor=typed.cursor))

    def give_up(self, name: str) -> str | None:
        """Show the view from when an input was entered; return the text of the input then."""
        entry, draft = self._entry, self._host.state.draft
        if entry is None or entry.input != name:
            return None
        text = entry.text.rstrip()
        if draft is not None and name == QUERY and draft.parsed.text.strip() != text:
            self.given_up = draft.parsed.text
        # A message was about the text.
        self._host.say("")
        self._stop_typing()
        self._show_again(entry.view, entry.row)
        return text

    def leave(self) -> None:
        """Show the view of the typed text even if it has no rows, once its input is left."""
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
        self._stop_typing()
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
        # Rows of a replaced catalog are being read again.
        is_there = results is not None and results.catalog is host.state.newest
        if results is not None and is_there and results.listing.view == view:
            host.cancel(jobs.VIEW, jobs.COMPLETIONS)
            host.change(view=results.listing.view, refused=None, draft=None, stale="")
            host.show_query(rewrite=True)
        else:
            self.show(view, rewrite=True, cursor_on=row)

    def of_query(self, query: Query | None) -> View:
        """Return the view of another query."""
        return replace(self._host.state.view, query=query or Query())

    def select_package(self, name: str | None) -> None:
        """Show the specs of a package, or with None of all packages."""
        old = self._host.state.view.query
        query = old.with_package(name)
        if query != old:
            self.show(self.of_query(query).closed())

    def fold(self) -> None:
        """Fold look-alikes into one row, or unfold them all."""
        view = self._host.state.view
        self.show(replace(view, folded=not view.folded).closed())

    # Chosen, not typed: values, relaxations, older queries

    def add(self, term: Term | None) -> None:
        """Add the filter of a line of the detail."""
        query = self._host.state.view.query
        if term is None:
            self._host.say("Nothing to filter by on this line")
        elif (more := query.also(term)) is query:
            self._host.say(f"Already filtered by {term}")
        else:
            self._host.say(f"Added {term} ({shown('undo')} removes)")
            self.show(self.of_query(more), cursor_on=self._host.state.selected)

    def choose(self, query: Query, sentence: str) -> None:
        """Request a query that was built from chosen values, and show a sentence."""
        try:
            # A query that cannot be written could not be shown, nor removed by hand.
            parse(str(query), packages=())
        except QueryError as error:
            self._host.say(f"no query can express this: {error}", error=True)
            return
        self._rewrite(query, sentence)

    def toggle(self, term: Term) -> None:
        """Add a condition as one more alternative on its column, or remove it."""
        self.show(self.of_query(self._host.state.view.query.toggled(term)), rewrite=True)

    def clear(self) -> None:
        """Remove all filters, the package among them."""
        if self._host.state.view.query:
            self._rewrite(Query(), f"Removed all filters ({shown('undo')} goes back)")
        else:
            self._host.say("There are no filters to remove")

    def take_text(self, text: str) -> None:
        """Request the query that a text means; a text with an error goes to the query line."""
        parsed = self.parse(text)
        if parsed.query is None:
            self.edit(text, Note(str(parsed.error)))
            return
        self._rewrite(parsed.query, f"Now {text} ({shown('undo')} goes back)")
        self._host.focus("specs")

    def relax(self, relaxation: Relaxation) -> None:
        """Request a query that was offered in place of a query without rows."""
        self._rewrite(relaxation.query, f"Now {relaxation.label} ({shown('undo')} goes back)")

    def _rewrite(self, query: Query | None, sentence: str) -> None:
        self._host.say(sentence)
        self.show(self.of_query(query), rewrite=True)

    def may_leave(self, name: str) -> bool:
        """Check whether Tab may leave an input: its text must be a query with rows."""
        state, draft = self._host.state, self._host.state.draft
        if draft is None or draft.input != name or not (draft.is_wrong or state.is_refused):
            return True
        self._host.say(
            f"no completions; {shown('filters-back')} restores the query from before",
            error=True,
        )
        return False

    def reject(self) -> None:
        """Refuse to leave a text that is no query, even if a completion would finish its word."""
        if (draft := self._host.state.draft) is not None:
            self._host.change(draft=replace(draft, insists=True))
        self._host.say(
            f"not a query yet; {shown('filters-back')} restores the one from before", error=True
        )

    def _stop_typing(self) -> None:
        """Forget the draft."""
        self.completer.chosen_text = None
        self._host.cancel(jobs.COMPLETIONS)
        self._host.change(draft=None)


def selects_otherwise(view: View, other: View) -> bool:
    """Check whether two views differ in their rows or the order of these, not only in groups."""
    return (view.query, view.sort) != (other.query, other.sort)


def without_chosen(parsed: ParsedInput, chosen: Term | None) -> ParsedInput | None:
    """Return the text of the query line without the chosen package at its beginning.

    None if the text has no such beginning, or the rest is not a query.
    """
    prefix = f"{chosen} "
    if chosen is None or parsed.column or not parsed.text.startswith(prefix):
        return None
    cursor = max(0, parsed.cursor - len(prefix))
    rest = parse_input(parsed.text[len(prefix) :], cursor, packages=parsed.packages)
    return rest if rest.query is not None else None


def typed_readings(
    parsed: ParsedInput, chosen: Term | None, packages: Collection[str]
) -> tuple[ParsedInput, ParsedInput | None]:
    """Return the reading of a text, and a second reading for the case that it has no matches.

    The chosen package is left out if the rest names another package. If a word of the rest only
    begins the name of a package, the second reading leaves the chosen package out.
    """
    rest = without_chosen(parsed, chosen)
    if rest is None or rest.query is None:
        return parsed, None
    if rest.query.package in packages:
        return rest, None
    words = tuple(rest.query.words)
    begins_name = bool(words) and any(name.startswith(words) for name in packages)
    return parsed, rest if begins_name else None
