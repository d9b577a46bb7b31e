"""Count the rows by the column under the cursor, and filter by what is chosen of it."""

from __future__ import annotations

from functools import partial

from spackscope.model.analysis.frequency import Frequency, find_axis, frequency
from spackscope.model.core.columns import BY_NAME, COUNTED, FIELDS
from spackscope.model.core.errors import Unanswerable
from spackscope.model.core.tasks import ShouldStop
from spackscope.model.index.catalog import Catalog
from spackscope.model.query.ast import Query, Term
from spackscope.tui.browser.facets import under_cursor
from spackscope.tui.browser.search import Search
from spackscope.tui.browser.state import Host
from spackscope.tui.dialogs.frequency import Chosen, FrequencyDialog
from spackscope.tui.dialogs.report import NamesDialog
from spackscope.tui.keymap import shown


class FrequencyController:
    """Open the frequency of the values of the column under the cursor."""

    def __init__(self, host: Host, search: Search) -> None:
        self._host, self._search = host, search

    def open(self) -> None:
        """Count the rows by the column, and show the counts."""
        catalog = self._host.state.catalog
        key, value = under_cursor(self._host)
        if catalog is None:
            self._host.say("there is nothing to count yet", error=True)
        elif key is None and self._host.where.pane == "detail":
            self._host.say("Nothing to count by on this line")
        elif key is None or key.column not in COUNTED:
            dialog = NamesDialog("count by")
            self._host.open(
                dialog, self._open_named, ask=lambda: dialog.show_names(self._other_names())
            )
        else:
            self._open_named(key.variant or key.column, value)

    def _open_named(self, name: str | None, start: str | None = None) -> None:
        """Count the rows by a column or variant; the cursor starts at a value."""
        if name is None or self._host.state.catalog is None:
            return
        label = BY_NAME[name].label if name in BY_NAME else name
        dialog = FrequencyDialog(name, label, self._other_names, self.count, start)
        self._host.open(dialog, self._close, ask=lambda: self.count(dialog), group="values")

    def count(self, dialog: FrequencyDialog) -> None:
        """Count the rows by the columns and variants of a dialog, and show the counts in it."""
        if (catalog := self._host.state.catalog) is not None:
            self._host.run(
                partial(_count, catalog, self._host.state.view.query, dialog.names),
                partial(_fill, dialog),
                group="values",
            )

    def _other_names(self) -> list[str]:
        """Return the columns and variants in which the rows differ, those that tell most first."""
        if (results := self._host.state.results) is None:
            return []
        values = results.listing.values
        names = [name for name in COUNTED if name not in values.constants]
        if not results.catalog.by_host.is_connected:
            names = [name for name in names if not FIELDS[name].is_by_host]
        ranks = values.varying_variants
        return [*names, *sorted(ranks, key=ranks.__getitem__)]

    def _close(self, chosen: tuple[Chosen, ...] | None) -> None:
        self._host.cancel("values")
        if not chosen or self._host.state.catalog is None:
            return
        query = self._host.state.view.query
        terms = [each.axis.term(each.value) for each in chosen]
        for term in terms:
            query = with_value(query, term)
        sentence = f"Added {' '.join(map(str, terms))} ({shown('undo')} goes back)"
        self._search.choose(query, sentence)


def with_value(query: Query, term: Term) -> Query:
    """Return a query with a condition on a value that its records have.

    It takes the place of other conditions on the column, unless that is a list of values.
    """
    if FIELDS[term.column].is_list:
        return query.also(term)
    return query.without_column(term.column).also(term)


def _count(
    catalog: Catalog, query: Query, names: tuple[str, ...], should_stop: ShouldStop
) -> Frequency | str:
    """Count the records of a query, or return why the records cannot answer."""
    try:
        axes = [find_axis(catalog, name, should_stop=should_stop) for name in names]
        known = [axis for axis in axes if axis is not None]
        return frequency(catalog, query, known, should_stop=should_stop)
    except Unanswerable as error:
        return str(error)


def _fill(dialog: FrequencyDialog, counts: Frequency | str) -> None:
    if isinstance(counts, str):
        dialog.show_failure(counts)
    else:
        dialog.show_counts(counts)
