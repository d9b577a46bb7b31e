"""Show the values of a column with their counts, and let the user choose among them."""

from __future__ import annotations

from collections.abc import Mapping

from spackscope.model.assist.value_choice import Choice, Values
from spackscope.model.catalog.facets import Facet
from spackscope.model.core.columns import BY_NAME
from spackscope.model.core.text import cell_width, shorten
from spackscope.tui.dialogs.filtered import FRAME_WIDTH, MAX_WIDTH, FilteredDialog, ItemRows
from spackscope.tui.keymap import VALUES, bindings
from spackscope.tui.widgets.drawing import Piece
from spackscope.tui.widgets.highlight import highlight

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


class ValueRows(ItemRows[Facet]):
    """A list of values; the owner sets facets and needles, and changes the marks."""

    def __init__(self, column: str, marks: Mapping[str, bool]) -> None:
        super().__init__()
        self._column, self._marks = column, marks

    @property
    def value(self) -> str | None:
        """The value under the cursor, or None if there is none."""
        return self.item.value if self.item is not None else None

    def pieces(self, row: int, width: int) -> list[Piece]:
        """Return the cursor, the mark, the value and its count."""
        facet = self.items[row]
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


class ValuesDialog(FilteredDialog[Choice, Facet]):
    """A dialog that is filled once the values are counted, and returns what was chosen.

    The cursor begins on the value `start`, else on the first that is marked.
    """

    BINDINGS = bindings(VALUES)

    def __init__(self, column: str, start: str | None = None) -> None:
        self._column, self._start = column, start
        self._marks = ValueMarks(column)
        rows = ValueRows(column, self._marks)
        super().__init__(rows, BY_NAME[column].label, "value")
        self._values = rows

    def show_values(self, values: Values) -> None:
        """Show the counted values."""
        self._marks.load(values)
        self.show_items(values.facets, "no spec matches the other filters")

    def first(self) -> Facet | None:
        """Return the facet that the cursor begins on."""
        by_value = {facet.value: facet for facet in self._items or ()}
        marked = (facet for value, facet in by_value.items() if value in self._marks)
        start = by_value.get(self._start) if self._start is not None else None
        return start or next(marked, None)

    def width(self) -> int:
        """Return the cells that the widest value takes with its count."""
        widths = (
            cell_width(self.text(facet)[:MAX_WIDTH]) + len(f"{facet.count:,}")
            for facet in self._items or ()
        )
        return min(max(widths, default=0) + _MARGIN, MAX_WIDTH - FRAME_WIDTH)

    def text(self, item: Facet) -> str:
        """Return a value as it is shown."""
        return BY_NAME[self._column].cell(item.value)

    def hints(self) -> list[str]:
        """Return the keys of the values."""
        return self._marks.hints

    def action_mark(self) -> None:
        """Include the value, or clear that mark, and go on to the next."""
        self._mark(include=True)

    def action_exclude(self) -> None:
        """Exclude the value, or clear that mark, and go on to the next."""
        self._mark(include=False)

    def _mark(self, *, include: bool) -> None:
        if (value := self._values.value) is not None:
            self._marks.toggle(value, include=include)
            self._rows.refresh_rows(self._rows.cursor)
            self._rows.action_move(1)
            self.show_hints()

    def action_unmark(self) -> None:
        """Clear all marks."""
        self._marks.clear()
        self._rows.refresh()
        self.show_hints()

    def take(self) -> None:
        """Return the marks, or the value under the cursor."""
        if (choice := self._marks.choice(self._values.value)) is not None:
            self.dismiss(choice)
