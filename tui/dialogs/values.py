"""Show the values of a column with their counts, and let the user choose among them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from textual import events, on
from textual.app import ComposeResult

from spackscope.model.assist.value_choice import Choice, Values
from spackscope.model.catalog.facets import Facet
from spackscope.model.core.columns import BY_NAME
from spackscope.model.core.text import cell_width, shorten
from spackscope.tui import keymap
from spackscope.tui.dialogs.base import Dialog
from spackscope.tui.dialogs.filtered import MAX_WIDTH, FilteredBox, ItemRows, Listed
from spackscope.tui.keymap import VALUES, Hint, bindings
from spackscope.tui.widgets.drawing import Piece
from spackscope.tui.widgets.filter_input import FilterInput
from spackscope.tui.widgets.highlight import highlight
from spackscope.tui.widgets.virtual_list import VirtualList

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
    def hints(self) -> list[Hint]:
        """The keys of the values with what they do, the most useful first."""
        enter = ("⏎", "apply")
        if self._are_taken:
            enter = ("⏎", f"apply {len(self):,} marked" if self else "remove filters")
        return [enter, *list(keymap.hints(VALUES))[1:]]


class ValuesDialog(Dialog[Choice]):
    """A dialog that is filled once the values are counted, and returns what was chosen.

    The cursor begins on the value `start`, else on the first that is marked.
    """

    AUTO_FOCUS = "ItemRows"
    PANE = VALUES
    BINDINGS = bindings(VALUES)

    def __init__(self, column: str, start: str | None = None) -> None:
        super().__init__()
        self._column, self._start = column, start
        self.marks = ValueMarks(column)
        listed = Listed(
            "value", self._text, partial(value_pieces, column, self.marks), self._hints
        )
        self.box = FilteredBox(BY_NAME[column].label, listed)

    def compose(self) -> ComposeResult:
        """Lay out the box."""
        yield self.box

    def is_behind(self, event: events.Key | events.Paste) -> bool:
        """Check whether what is typed next must wait until the values are there."""
        return self.box.is_behind(event)

    def show_values(self, values: Values) -> None:
        """Show the counted values."""
        self.marks.load(values)
        by_value = {facet.value: facet for facet in values.facets}
        marked = (facet for value, facet in by_value.items() if value in self.marks)
        start = by_value.get(self._start) if self._start is not None else None
        widths = (
            cell_width(self._text(facet)[:MAX_WIDTH]) + len(f"{facet.count:,}")
            for facet in values.facets
        )
        self.box.show_items(
            values.facets,
            start or next(marked, None),
            no_items="no spec matches the other filters",
            width=max(widths, default=0) + _MARGIN,
        )

    def show_failure(self, sentence: str) -> None:
        """Show why there are no values."""
        self.box.show_items((), no_items=sentence)

    def _text(self, facet: Facet) -> str:
        return BY_NAME[self._column].cell(facet.value)

    def _hints(self) -> list[Hint]:
        return self.marks.hints

    @property
    def _value(self) -> str | None:
        facet = self.box.rows.item
        return facet.value if facet is not None else None

    def action_mark(self) -> None:
        """Include the value, or clear that mark, and go on to the next."""
        self._mark(include=True)

    def action_exclude(self) -> None:
        """Exclude the value, or clear that mark, and go on to the next."""
        self._mark(include=False)

    def _mark(self, *, include: bool) -> None:
        if (value := self._value) is not None:
            self.marks.toggle(value, include=include)
            self.box.rows.refresh_rows(self.box.rows.cursor)
            self.box.rows.action_move(1)
            self.box.show_hints()

    def action_unmark(self) -> None:
        """Clear all marks."""
        self.marks.clear()
        self.box.rows.refresh()
        self.box.show_hints()

    @on(VirtualList.Chosen)
    def action_take(self) -> None:
        """Return the marks, or the value under the cursor."""
        if (choice := self.marks.choice(self._value)) is not None:
            self.dismiss(choice)

    def action_focus_filter(self) -> None:
        """Go to the filter."""
        self.box.focus_filter()

    @on(FilterInput.GivenUp)
    def action_close(self) -> None:
        """Close the filter; if none is open, close the dialog with nothing chosen."""
        if not self.box.close_filter():
            super().action_close()


def value_pieces(
    column: str, marks: Mapping[str, bool], rows: ItemRows[Facet], row: int, width: int
) -> list[Piece]:
    """Return the pieces of a row: the cursor, the mark, the value and its count."""
    facet = rows.items[row]
    sign, style = _SIGNS[marks.get(facet.value)]
    count = f"{facet.count:,}"
    room = max(0, width - _MARGIN - len(count))
    text = shorten(BY_NAME[column].cell(facet.value), room)
    return [
        ("▸" if row == rows.cursor else " ", "accent"),
        (f"{sign} ", "strong"),
        *highlight(text, rows.needles, style),
        (" " * (room - cell_width(text) + 2), ""),
        (count, "dim"),
        (" ", ""),
    ]
