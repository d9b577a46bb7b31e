"""Let the user choose among the values of a column, and make that a part of the query."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace

from textual import on
from textual.message import Message
from textual.worker import get_current_worker

from spackscope.model.assist.value_choice import Choice, Values, count_values, describe_choice
from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.listing import View
from spackscope.model.core.columns import BY_NAME, FACETED
from spackscope.model.core.errors import (
    Cancelled,
    IndexDamaged,
    QueryError,
    Unanswerable,
)
from spackscope.model.query.ast import Query
from spackscope.model.query.conditions import exact_term
from spackscope.model.query.parser import (
    parse,
)
from spackscope.tui.browser.loading_screen import ReadingScreen
from spackscope.tui.browser.messages import Damaged
from spackscope.tui.dialogs.values import ValuesDialog


@dataclass
class ValuesCounted(Message):
    """Hand over the values of a column, or the reason why there are none."""

    dialog: ValuesDialog
    values: Values
    failure: str = ""


class ChoosingScreen(ReadingScreen):
    """Open the values of a column, and ask for those that were chosen."""

    _view: View

    @abstractmethod
    def _set_view(self, view: View, *, rewrite: bool = False) -> None:
        """Ask for another view; with `rewrite` also the filter that is typed in shows it."""

    def action_values(self) -> None:
        """Count the values of the column, and show them."""
        catalog, view = self._catalog, self._view
        column, value = self._pointed_at()
        if catalog is None:
            self._status.say("there are no values to choose from yet", error=True)
        elif not column:
            self._status.say("this line is no condition: choose a value")
        elif column not in FACETED:
            label = BY_NAME[column].label
            self._status.say(f"a {label} is not chosen from a list; f types a filter for it")
        else:
            self._open_values(catalog, view.query, column, value)

    def _open_values(self, catalog: Catalog, query: Query, column: str, start: str | None) -> None:
        dialog = ValuesDialog(column, start)

        def work() -> None:
            worker = get_current_worker()
            try:
                values = count_values(catalog, query, column, lambda: worker.is_cancelled)
            except Cancelled:
                return
            except Unanswerable as error:
                self.post_message(ValuesCounted(dialog, Values(), str(error)))
            except IndexDamaged as error:
                self.post_message(Damaged(catalog, str(error)))
                reason = "the index is damaged and is being rebuilt"
                self.post_message(ValuesCounted(dialog, Values(), reason))
            else:
                self.post_message(ValuesCounted(dialog, values))

        def close(choice: Choice | None) -> None:
            self.workers.cancel_group(self, "values")
            self._choose(choice)

        self.app.push_screen(dialog, close)
        self.run_worker(work, group="values", exclusive=True, thread=True)

    @on(ValuesCounted)
    def _values_counted(self, event: ValuesCounted) -> None:
        if event.failure:
            event.dialog.show_failure(event.failure)
        else:
            event.dialog.show_values(event.values)

    def _pointed_at(self) -> tuple[str, str | None]:
        """Name the column that the cursor is in, and the value it is on where that is one."""
        row = self._specs.highlighted
        if self._pane == "packages":
            names: dict[int | None, str] = {
                package.id: package.name for package in self._names.packages
            }
            return "package", names.get(self._names.selected)
        if self._pane != "detail":
            column = self._specs.column
            value = BY_NAME[column].value(row.spec) if row is not None else None
            return column, value if isinstance(value, str) else None
        term = self._detail.term
        if term is None or row is None:
            return "", None
        value = BY_NAME[term.column].value(row.spec)
        values = value if isinstance(value, tuple) else (str(value),)
        return term.column, next((v for v in values if exact_term(term.column, v) == term), None)

    def _choose(self, choice: Choice | None) -> None:
        if choice is None or self._catalog is None:
            return
        view = self._view
        query = choice.applied(view.query)
        try:
            # What no query can spell cannot be shown, nor taken off by hand.
            parse(str(query), bare="any")
        except QueryError as error:
            self._status.say(f"no query can ask for this: {error}", error=True)
            return
        self._status.say(describe_choice(choice, view.query, query))
        self._set_view(replace(view, query=query), rewrite=True)
