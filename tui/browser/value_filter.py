"""Choose among the values of a column, and make the choice a filter."""

from __future__ import annotations

from functools import partial

from spackscope.model.assist.value_choice import Choice, Values, count_values, describe_choice
from spackscope.model.catalog.catalog import Catalog
from spackscope.model.core.columns import BY_NAME, COUNTED
from spackscope.model.core.errors import Unanswerable
from spackscope.model.core.progress import ShouldStop
from spackscope.model.query.ast import Query
from spackscope.model.query.conditions import exact_term
from spackscope.tui.browser.search import Search
from spackscope.tui.browser.state import Host
from spackscope.tui.dialogs.values import ValuesDialog

DAMAGED = "the index is damaged and is being rebuilt"


def under_cursor(host: Host) -> tuple[str, str | None]:
    """Return the column under the cursor, and the value there if it is one of the values."""
    where, state = host.where, host.state
    if where.pane == "packages":
        selected = state.results.selected if state.results is not None else None
        return "package", selected.name if selected is not None else None
    if where.pane != "detail":
        value = BY_NAME[where.column].value(where.row.spec) if where.row is not None else None
        return where.column, value if isinstance(value, str) else None
    if where.term is None or where.row is None:
        return "", None
    column, value = where.term.column, BY_NAME[where.term.column].value(where.row.spec)
    values = value if isinstance(value, tuple) else (str(value),)
    return column, next((v for v in values if exact_term(column, v) == where.term), None)


class ValueFilter:
    """Open the values of the column under the cursor, and ask for those that were chosen."""

    def __init__(self, host: Host, search: Search) -> None:
        self._host, self._search = host, search

    def open(self) -> None:
        """Count the values of the column, and show them."""
        catalog, query = self._host.state.catalog, self._host.state.view.query
        column, value = under_cursor(self._host)
        if catalog is None:
            self._host.say("there are no values to choose from yet", error=True)
        elif not column:
            self._host.say("Nothing to filter by on this line")
        elif column not in COUNTED:
            values = "Hashes" if column == "hash" else "Sizes"
            self._host.say(f"{values} have no value list. Press f to filter.")
        else:
            dialog = ValuesDialog(column, value)
            self._host.open(dialog, self._close)
            self._host.run(
                partial(_count, catalog, query, column),
                partial(_fill, dialog),
                group="values",
                failed=lambda _: dialog.show_failure(DAMAGED),
            )

    def _close(self, choice: Choice | None) -> None:
        self._host.cancel("values")
        if choice is None or self._host.state.catalog is None:
            return
        before = self._host.state.view.query
        query = choice.applied(before)
        self._search.choose(query, describe_choice(choice, before, query))


def _count(catalog: Catalog, query: Query, column: str, should_stop: ShouldStop) -> Values | str:
    """Count the values of a column, or return why the records cannot answer."""
    try:
        return count_values(catalog, query, column, should_stop)
    except Unanswerable as error:
        return str(error)


def _fill(dialog: ValuesDialog, values: Values | str) -> None:
    if isinstance(values, str):
        dialog.show_failure(values)
    else:
        dialog.show_values(values)
