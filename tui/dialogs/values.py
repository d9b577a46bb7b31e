"""Show the values of a column with their counts, and let the user choose among them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from textual import events, getters, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Input, Static

from spackscope.model.assist.value_choice import Choice, Values
from spackscope.model.catalog.facets import Facet
from spackscope.model.core.columns import BY_NAME
from spackscope.model.core.fuzzy import matching
from spackscope.model.core.text import cell_width, clean, shorten
from spackscope.model.presentation.titles import counted, position
from spackscope.tui.dialogs.base import HINT_GAP, Dialog
from spackscope.tui.keymap import VALUES, bindings
from spackscope.tui.widgets.drawing import Piece
from spackscope.tui.widgets.filter_input import FilterInput
from spackscope.tui.widgets.highlight import filter_needles, highlight
from spackscope.tui.widgets.virtual_list import VirtualList

_FRAME_WIDTH, _FRAME_HEIGHT = 4, 3
"""Cells and rows of the box around the values: border and margin, border and filter."""
_MIN_WIDTH, _MAX_WIDTH = 68, 100
"""Cells of the box: room for the keys, and no farther than an eye follows."""
_MIN_ROWS = 4
"""Rows of the list at the least, so that a sentence fits in their place."""
_SIGNS = {None: (" ", ""), True: ("+", "strong"), False: ("!", "dim")}
"""Sign and style of a value without a mark, of an included one, and of an excluded one."""

_MARGIN = 6
"""Cells of a row besides value and count: cursor and mark, and the blanks around."""


class ValueMarks(dict[str, bool]):
    """The marked values of a column: True for those to include, False for those to exclude.

    They begin as the query has them. Enter takes the value under the cursor until the user
    changes a mark, and from then on all marks.
    """

    def __init__(self, column: str) -> None:
        super().__init__()
        self._column = column
        self._is_changed = False
        self._has_filters = False

    def load(self, values: Values) -> None:
        """Mark what the query includes and excludes."""
        self._has_filters = values.has_conditions
        self.update(dict.fromkeys(values.wanted, True) | dict.fromkeys(values.excluded, False))

    def toggle(self, value: str, *, include: bool) -> None:
        """Include or exclude a value, or clear that mark if it has it."""
        self._is_changed = True
        if self.get(value) is include:
            del self[value]
        else:
            self[value] = include

    def clear(self) -> None:
        """Clear all marks."""
        self._is_changed = True
        super().clear()

    @property
    def _are_taken(self) -> bool:
        return self._is_changed and (bool(self) or self._has_filters)

    def choice(self, value: str | None) -> Choice | None:
        """Return what Enter chooses with the cursor on a value; None if nothing."""
        if self._are_taken:
            included = frozenset(name for name, include in self.items() if include)
            return Choice(self._column, included, frozenset(self) - included)
        return Choice(self._column, frozenset({value})) if value is not None else None

    @property
    def hints(self) -> list[str]:
        """The keys of the values with what they do, the most useful first."""
        enter = "⏎ apply"
        if self._are_taken:
            enter = f"⏎ apply {len(self):,} marked" if self else "⏎ remove filters"
        return [enter, "space include", "x exclude", "u clear", "/ filter"]


class ValueRows(VirtualList):
    """A list of values; the owner sets facets and needles, and changes the marks."""

    def __init__(self, column: str, marks: Mapping[str, bool]) -> None:
        super().__init__()
        self._column, self._marks = column, marks
        self.facets: Sequence[Facet] = ()
        self.needles: Sequence[str] = ()

    @property
    def value(self) -> str | None:
        """The value under the cursor, or None if there is none."""
        return self.facets[self.cursor].value if self.length else None

    def pieces(self, row: int, width: int) -> list[Piece]:
        """Return the cursor, the mark, the value and its count."""
        facet = self.facets[row]
        sign, style = _SIGNS[self._marks.get(facet.value)]
        count = f"{facet.count:,}"
        room = max(0, width - _MARGIN - len(count))
        text = shorten(BY_NAME[self._column].cell(facet.value), room)
        return [
            ("▸" if row == self.cursor else " ", "accent"),
            (f"{sign} ", "strong"),
            *highlight(text, self.needles, style),
            (" " * (room - cell_width(text) + 2), ""),
            (count, "dim"),
            (" ", ""),
        ]


class ValuesDialog(Dialog[Choice]):
    """A dialog that is filled once the values are counted, and returns what was chosen.

    The cursor begins on the value `start`, else on the first that is marked.
    """

    AUTO_FOCUS = "ValueRows"
    BINDINGS = bindings(VALUES)

    _filter = getters.query_one(FilterInput)
    _rows = getters.query_one(ValueRows)

    def __init__(self, column: str, start: str | None = None) -> None:
        super().__init__()
        self._column, self._start = column, start
        self._values: Values | None = None
        self._failure = ""
        self._is_composed = False
        self._marks = ValueMarks(column)

    def compose(self) -> ComposeResult:
        """Lay out the filter and the position of the cursor above the values."""
        with Vertical(classes="dialog values"):
            with Horizontal(classes="value-line"):
                yield FilterInput("filter…", name="values")
                yield Static(classes="value-position")
            yield ValueRows(self._column, self._marks)

    def on_mount(self) -> None:
        """Show the values, or that they are being counted."""
        self._is_composed = True
        self._rows.show(0, empty="counting…\nesc stops it")
        self._show_title()
        if self._values is not None:
            self._show(self._values)

    def is_behind(self, event: events.Key | events.Paste) -> bool:
        """Check whether what is typed next must wait until the values are there."""
        leaves = isinstance(event, events.Key) and event.key in ("escape", "q")
        return self._values is None and not leaves

    def show_values(self, values: Values) -> None:
        """Show the counted values."""
        self._values = values
        self._marks.load(values)
        if self._is_composed:
            self._show(values)

    def show_failure(self, sentence: str) -> None:
        """Show why there are no values."""
        self._failure = sentence
        self.show_values(Values())

    def _show(self, values: Values) -> None:
        self._fit(values)
        shown = [facet.value for facet in values.facets]
        first_marked = next((value for value in shown if value in self._marks), None)
        self._refill(self._start if self._start in shown else first_marked)

    def _fit(self, values: Values) -> None:
        """Size the box for its content; the style sheet keeps it within the screen."""
        widths = (
            cell_width(self._text(facet)[:_MAX_WIDTH]) + len(f"{facet.count:,}")
            for facet in values.facets
        )
        width = max(widths, default=0) + _MARGIN + _FRAME_WIDTH
        box = self.query_one(".dialog")
        box.styles.width = min(max(width, _MIN_WIDTH), _MAX_WIDTH)
        box.styles.height = max(len(values.facets), _MIN_ROWS) + _FRAME_HEIGHT

    def _refill(self, value: str | None) -> None:
        """Show the values that fit the filter, with the cursor on one of them or on the first."""
        if self._values is None:
            return
        rows, text = self._rows, self._filter.value
        rows.facets = matching(text, self._values.facets, self._text)
        rows.needles = filter_needles(text)
        cursor = next((n for n, facet in enumerate(rows.facets) if facet.value == value), 0)
        if self._values.facets:
            empty = f"no value matches {clean(text)}\nesc removes the filter"
        else:
            empty = f"{self._failure or 'no spec matches the other filters'}\nesc closes"
        rows.show(len(rows.facets), cursor, empty=empty)
        self._show_title()

    def _text(self, facet: Facet) -> str:
        return BY_NAME[self._column].cell(facet.value)

    @on(VirtualList.Highlighted)
    def _show_position(self) -> None:
        text = position(self._rows.cursor, self._rows.length)
        self.query_one(".value-position", Static).update(Content(text))

    def _show_title(self) -> None:
        parts = [BY_NAME[self._column].label]
        if self._values is not None and self._values.facets:
            fitting = f"{self._rows.length:,} of " if self._filter.value else ""
            parts.append(f"{fitting}{counted(len(self._values.facets), 'value')}")
        self.query_one(".dialog").border_title = Content(" · ".join(parts))
        self._show_position()
        self._show_hints()

    def on_resize(self) -> None:
        """Show as many hints as now fit."""
        self._show_hints()

    @on(events.DescendantFocus)
    def _show_hints(self) -> None:
        """Show the keys of the filter, or of the values, as far as there is room."""
        box = self.query_one(".dialog")
        room = min(int(box.styles.width.value) if box.styles.width else 0, self.size.width)
        if self._filter.has_focus:
            hints = ["⏎ to the values", "esc close filter"]
        elif self._values is not None and self._values.facets:
            hints = self._marks.hints
        else:
            hints = ["esc close"]
        while len(hints) > 1 and cell_width(HINT_GAP.join(hints)) > room - 6:
            hints.pop()
        box.border_subtitle = Content(HINT_GAP.join(hints))

    def action_mark(self) -> None:
        """Include the value, or clear that mark, and go on to the next."""
        self._mark(include=True)

    def action_exclude(self) -> None:
        """Exclude the value, or clear that mark, and go on to the next."""
        self._mark(include=False)

    def _mark(self, *, include: bool) -> None:
        if (value := self._rows.value) is not None:
            self._marks.toggle(value, include=include)
            self._rows.refresh_rows(self._rows.cursor)
            self._rows.action_move(1)
            self._show_hints()

    def action_unmark(self) -> None:
        """Clear all marks."""
        self._marks.clear()
        self._rows.refresh()
        self._show_hints()

    @on(VirtualList.Chosen)
    def action_take(self) -> None:
        """Return the marks, or the value under the cursor."""
        if (choice := self._marks.choice(self._rows.value)) is not None:
            self.dismiss(choice)

    def action_focus_filter(self) -> None:
        """Go to the filter."""
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
        """Close the filter; if none is open, close the dialog with nothing chosen."""
        if not (self._filter.value or self._filter.has_focus):
            super().action_close()
            return
        value = self._rows.value
        self._filter.reflect("")
        self._rows.focus()
        self._refill(value)
