"""Change the query by what is chosen rather than typed: values, relaxations, older queries."""

from __future__ import annotations

from spackscope.model.assist.answers import Note, Relaxation
from spackscope.model.core.errors import QueryError
from spackscope.model.query.ast import Query, Term
from spackscope.model.query.parser import parse
from spackscope.tui.browser.search import Search
from spackscope.tui.browser.state import Host
from spackscope.tui.keymap.in_use import shown


class QueryChanges:
    """Request queries that were chosen, and show a message that names the change."""

    def __init__(self, host: Host, search: Search) -> None:
        self._host, self._search = host, search

    def add(self, term: Term | None) -> None:
        """Add the filter of a line of the detail."""
        query = self._host.state.view.query
        if term is None:
            self._host.say("Nothing to filter by on this line")
        elif (more := query.also(term)) is query:
            self._host.say(f"Already filtered by {term}")
        else:
            self._host.say(f"Added {term} ({shown('undo')} removes)")
            self._search.show(self._search.of_query(more), cursor_on=self._host.state.selected)

    def choose(self, query: Query, sentence: str) -> None:
        """Request a query that was built from chosen values, and show a sentence."""
        try:
            # What cannot be written as a query could not be shown, nor removed by hand.
            parse(str(query), packages=())
        except QueryError as error:
            self._host.say(f"no query can express this: {error}", error=True)
            return
        self._host.say(sentence)
        self._search.show_query(query, rewrite=True)

    def toggle(self, term: Term) -> None:
        """Add a condition as one more alternative on its column, or remove it."""
        self._search.show_query(self._host.state.view.query.toggled(term), rewrite=True)

    def clear(self) -> None:
        """Remove all filters, the package among them."""
        if self._host.state.view.query:
            self._host.say(f"Removed all filters ({shown('undo')} goes back)")
            self._search.show_query(Query(), rewrite=True)
        else:
            self._host.say("There are no filters to remove")

    def take_text(self, text: str) -> None:
        """Request the query that a text means; what is not one is returned to the query line."""
        parsed = self._search.parse(text)
        if parsed.query is None:
            self._search.edit(text, Note(str(parsed.error)))
            return
        self._host.say(f"Now {text} ({shown('undo')} goes back)")
        self._search.show_query(parsed.query, rewrite=True)
        self._host.focus("specs")

    def relax(self, relaxation: Relaxation) -> None:
        """Request a query that was offered in place of one without rows."""
        self._host.say(f"Now {relaxation.label} ({shown('undo')} goes back)")
        self._search.show_query(relaxation.query, rewrite=True)
