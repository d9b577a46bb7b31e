"""Count the facets of the rows in a worker thread, and write what is chosen into the query."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

from spackscope.model.core.columns import BY_NAME, COUNTED
from spackscope.model.core.errors import Unanswerable
from spackscope.model.core.frozen import replace
from spackscope.model.index.catalog import Catalog
from spackscope.model.query.ast import Query
from spackscope.tui.browser.search import Search
from spackscope.tui.browser.state import Facets, Host, Task
from spackscope.tui.keymap import shown

if TYPE_CHECKING:
    from spackscope.model.index.facets import FacetKey, FacetSection, FacetValue, Verb


_REST = 0.1
"""Seconds that rows rest before their facets are counted: a letter may follow."""
_REPORT = 0.1
"""Seconds after which the sections that are counted so far are shown."""


class FacetsController:
    """Count the facets once their pane is seen, and choose among their values."""

    def __init__(self, host: Host, search: Search) -> None:
        self._host, self._search = host, search
        self._wanted: FacetKey | None = None

    def open(self) -> None:
        """Go to the facet of the column under the cursor; from the facets go back to the rows."""
        host = self._host
        if host.where.pane == "facets":
            host.focus("specs")
            return
        if host.state.catalog is None:
            host.say("there are no values to choose from yet", error=True)
            return
        from spackscope.tui.browser.under_cursor import under_cursor

        key, value = under_cursor(host)
        if host.where.pane == "packages":
            # Its facet is the list of packages itself.
            key = None
        if key is not None and key.column not in COUNTED:
            values = "Hashes" if key.column == "hash" else f"{BY_NAME[key.column].label.title()}s"
            host.say(f"{values} have no facet. Press {shown('filter')} to filter.")
            return
        self._wanted = key
        if key is not None:
            old = host.state.facets or Facets()
            host.change(facets=replace(old, place=(key, value), is_awaited=True))
        host.focus("facets")
        self.count()

    def count(self) -> None:
        """Count the facets of the rows, unless that is done."""
        host, state = self._host, self._host.state
        catalog, results, shown = state.catalog, state.results, state.facets
        if catalog is None or results is None or results.catalog is not catalog:
            return
        query = results.listing.view.query
        is_new = shown is None or shown.catalog is not catalog or shown.query != query
        # A count of other rows, left again before it was done, must not be shown for these.
        is_other = host.is_running("facets")
        if not is_new and not is_other and not (shown is not None and shown.is_awaited):
            return
        is_first = shown is None or shown.catalog is not catalog or shown.is_awaited
        host.run(
            partial(self._read, catalog, query, self._wanted),
            self._take,
            group="facets",
            delay=0 if is_first else _REST,
        )

    def _read(self, catalog: Catalog, query: Query, wanted: FacetKey | None, task: Task) -> Facets:
        """Count section by section, and show some before all are counted."""
        # Imported here, after the first rows are shown.
        from spackscope.model.index.facets import facet_sections

        sections: list[FacetSection] = []
        reported = time.monotonic()
        try:
            for section in facet_sections(catalog, query, wanted=wanted, should_stop=task):
                sections.append(section)
                if time.monotonic() - reported > _REPORT:
                    reported = time.monotonic()
                    facets = Facets(catalog, query, tuple(sections))
                    task.report(partial(self._show_some, facets))
        except Unanswerable as error:
            return Facets(catalog, query, note=str(error))
        return Facets(catalog, query, tuple(sections), note="all rows are the same")

    def _show_some(self, facets: Facets) -> None:
        """Show the sections that are counted, and of the others those before."""
        shown = self._host.state.facets or Facets()
        if shown.catalog is facets.catalog:
            keys = {section.key for section in facets.sections}
            rest = [section for section in shown.sections if section.key not in keys]
            facets = replace(facets, sections=(*facets.sections, *rest))
        # They are still to be counted: the query stays that of the sections before.
        place, is_awaited = shown.place, shown.is_awaited
        self._host.change(
            facets=replace(facets, query=shown.query, place=place, is_awaited=is_awaited)
        )

    def _take(self, facets: Facets) -> None:
        shown = self._host.state.facets
        self._host.change(facets=replace(facets, place=shown.place if shown is not None else None))

    def choose(self, verb: Verb, section: FacetSection, value: FacetValue | None) -> None:
        """Include or exclude a value, include it alone, or clear its section."""
        # Imported here, after the first rows are shown.
        from spackscope.model.index.facets import choose

        query = self._host.state.view.query
        chosen = choose(query, section, value, verb)
        if chosen != query:
            self._search.choose(chosen, "")
