"""Show the values of a column with their counts, and let the user choose among them."""

from __future__ import annotations

from dataclasses import dataclass

from textual import events, getters, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static
from textual.worker import get_current_worker

from spackscope.model.assist.value_choice import Choice, Count, Values, value_text
from spackscope.model.catalog.facets import Facet
from spackscope.model.core.columns import BY_NAME
from spackscope.model.core.errors import (
    Cancelled,
    IndexDamaged,
    Unanswerable,
)
from spackscope.model.core.fuzzy import matching
from spackscope.model.core.text import cell_width, clean
from spackscope.model.presentation.titles import counted, position
from spackscope.tui.dialogs.base import Dialog
from spackscope.tui.keymap import VALUES, bindings
from spackscope.tui.widgets.filter_input import FilterInput
from spackscope.tui.widgets.value_rows import BESIDE, ValueRows
from spackscope.tui.widgets.virtual_list import VirtualList

_AROUND, _ABOVE = 4, 3
"""Cells and rows of the box that its values leave: border and margin, border and filter."""
_NARROWEST, _WIDEST = 68, 100
"""Cells of the box: room for the keys, and no farther than an eye follows."""
_LOWEST = 4
"""Rows of the list at the least, so that a sentence fits in their place."""


class ValuesDialog(Dialog[Choice]):
    """Count in the background, show the values, and give back what was chosen.

    The cursor begins on the value `start`, else on the first that is marked. Enter takes the
    value under the cursor until a mark is changed here, and from then on all marks.
    """

    AUTO_FOCUS = "ValueRows"
    BINDINGS = bindings(VALUES)

    _filter = getters.query_one(FilterInput)
    _rows = getters.query_one(ValueRows)

    @dataclass
    class Counted(Message):
        """Hand over the values, or say in one sentence why there are none."""

        values: Values
        failure: str = ""

    def __init__(self, column: str, count: Count, start: str | None = None) -> None:
        super().__init__()
        self._column, self._count, self._start = column, count, start
        self._counted: ValuesDialog.Counted | None = None
        self._wanted: set[str] = set()
        self._excluded: set[str] = set()
        self._marked_here = False

    def compose(self) -> ComposeResult:
        """Put the filter and the place of the cursor above the values."""
        with Vertical(classes="dialog values"):
            with Horizontal(classes="value-line"):
                yield FilterInput("filter…", name="values")
                yield Static(classes="value-position")
            yield ValueRows(self._column, self._wanted, self._excluded)

    def on_mount(self) -> None:
        """Begin to count."""
        self._rows.show(0, empty="counting…\nesc stops it")
        self._show_title()
        self.run_worker(self._work, thread=True)

    def is_behind(self, event: events.Key | events.Paste) -> bool:
        """Tell whether what is typed next would meet values that are not there yet."""
        leaves = isinstance(event, events.Key) and event.key in ("escape", "q")
        return self._counted is None and not leaves

    # Counting

    def _work(self) -> None:
        worker = get_current_worker()
        answer = self.Counted(Values())
        try:
            answer.values = self._count(lambda: worker.is_cancelled)
        except Cancelled:
            return
        except Unanswerable as error:
            answer.failure = str(error)
        except IndexDamaged:
            answer.failure = "the index is damaged and is being rebuilt"
        self.post_message(answer)

    @on(Counted)
    def _show_counted(self, event: Counted) -> None:
        self._counted = event
        values = event.values
        self._wanted |= values.wanted
        self._excluded |= values.excluded
        self._fit(values)
        shown = [facet.value for facet in values.facets]
        marked = [value for value in shown if value in self._wanted | self._excluded]
        starts = [self._start] if self._start in shown else marked
        self._refill(starts[0] if starts else None)

    def _fit(self, values: Values) -> None:
        """Make the box as large as what is in it; the style sheet keeps it within the screen."""
        widest = max(
            (
                cell_width(value_text(self._column, facet.value)[:_WIDEST])
                + len(f"{facet.count:,}")
                for facet in values.facets
            ),
            default=0,
        )
        box = self.query_one(".dialog")
        box.styles.width = min(max(widest + BESIDE + _AROUND, _NARROWEST), _WIDEST)
        box.styles.height = max(len(values.facets), _LOWEST) + _ABOVE

    # What is shown

    def _refill(self, value: str | None) -> None:
        """Show the values that fit the filter, with the cursor on one of them or on the first."""
        if self._counted is None:
            return
        rows, text = self._rows, self._filter.value
        fitting = matching(text, self._counted.values.facets, self._text)
        words = [word for word in text.lower().split() if not word.startswith("!")]
        rows.facets, rows.needle = fitting, words[0] if words else ""
        cursor = next((n for n, facet in enumerate(fitting) if facet.value == value), 0)
        if self._counted.values.facets:
            empty = f"no value fits {clean(text)}\nesc takes the filter off"
        else:
            failure = self._counted.failure
            empty = f"{failure or 'no spec fulfils the other conditions'}\nesc closes"
        rows.show(len(fitting), cursor, empty=empty)
        self._show_title()

    def _text(self, facet: Facet) -> str:
        return value_text(self._column, facet.value)

    @on(VirtualList.Highlighted)
    def _show_position(self) -> None:
        text = position(self._rows.cursor, self._rows.length)
        self.query_one(".value-position", Static).update(Content(text))

    def _show_title(self) -> None:
        box, parts = self.query_one(".dialog"), [BY_NAME[self._column].label]
        if self._counted is not None and (facets := self._counted.values.facets):
            fitting = f"{self._rows.length:,} of " if self._filter.value else ""
            parts.append(f"{fitting}{counted(len(facets), 'value')}")
        box.border_title = Content(" · ".join(parts))
        self._show_position()
        self._show_hints()

    def _show_hints(self) -> None:
        """Name the keys that fit, and above all what Enter does now."""
        box = self.query_one(".dialog")
        room = min(int(box.styles.width.value) if box.styles.width else 0, self.size.width)
        hints = ["esc closes"]
        if self._filter.has_focus:
            hints = ["⏎ goes to the values", "esc closes the filter"]
        elif self._counted is not None and self._counted.values.facets:
            marks = len(self._wanted | self._excluded)
            take = f"⏎ takes {marks:,} marked" if marks else "⏎ takes conditions off"
            hints = [take if self._takes_marks else "⏎ takes this"]
            hints += ["space wants", "x excludes", "u unmarks", "/ filters"]
        while len(hints) > 1 and cell_width(" · ".join(hints)) > room - 6:
            hints.pop()
        box.border_subtitle = Content(" · ".join(hints))

    def on_resize(self) -> None:
        """Name as many keys as now fit."""
        self._show_hints()

    def on_descendant_focus(self) -> None:
        """Name the keys of the filter, or of the values."""
        self._show_hints()

    # Marks

    @property
    def _takes_marks(self) -> bool:
        has_any = bool(self._wanted or self._excluded)
        has_conditions = self._counted is not None and self._counted.values.has_conditions
        return self._marked_here and (has_any or has_conditions)

    def _mark(self, marks: set[str], others: set[str]) -> None:
        value = self._rows.value
        if value is None:
            return
        self._marked_here = True
        others.discard(value)
        marks ^= {value}
        self._rows.refresh_rows(self._rows.cursor)
        self._rows.action_move(1)
        self._show_hints()

    def action_mark(self) -> None:
        """Mark the value as wanted, or take that mark off, and go on to the next."""
        self._mark(self._wanted, self._excluded)

    def action_exclude(self) -> None:
        """Mark the value as excluded, or take that mark off, and go on to the next."""
        self._mark(self._excluded, self._wanted)

    def action_unmark(self) -> None:
        """Take all marks away."""
        self._marked_here = True
        self._wanted.clear()
        self._excluded.clear()
        self._rows.refresh()
        self._show_hints()

    # Leaving

    @on(VirtualList.Chosen)
    def action_take(self) -> None:
        """Give back the marks, or the value under the cursor."""
        if self._takes_marks:
            choice = Choice(self._column, frozenset(self._wanted), frozenset(self._excluded))
            self.dismiss(choice)
        elif (value := self._rows.value) is not None:
            self.dismiss(Choice(self._column, frozenset({value})))

    def action_focus_filter(self) -> None:
        """Let the user type what the values have to hold."""
        self._filter.focus()

    @on(FilterInput.Done)
    @on(FilterInput.CompletionAccepted)
    def _filter_done(self) -> None:
        self._rows.focus()

    @on(Input.Changed)
    def _filter_typed(self, event: Input.Changed) -> None:
        event.stop()
        # While a filter is typed the best match is what the user is after.
        self._refill(None if event.value else self._rows.value)

    @on(FilterInput.GivenUp)
    def action_close(self) -> None:
        """Close the filter; where none is open, go back with nothing chosen."""
        if not (self._filter.value or self._filter.has_focus):
            super().action_close()
            return
        value = self._rows.value
        self._filter.reflect("")
        self._rows.focus()
        self._refill(value)
