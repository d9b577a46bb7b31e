"""The list of all columns: to bring back a hidden one, and to go to any."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from textual import on

from spackscope.model.core.suggestions import matching
from spackscope.model.core.text import cell_width, clean, pad
from spackscope.model.report.table_columns import TableColumns
from spackscope.tui.dialogs.search import SearchDialog
from spackscope.tui.widgets.drawing import Piece
from spackscope.tui.widgets.highlight import filter_needles, highlight
from spackscope.tui.widgets.search_list import ItemList
from spackscope.tui.widgets.virtual_list import VirtualList

Entry = tuple[str, str]
"""The name of a column, and a remark on it."""

_HIDDEN = "hidden"
_MAX_NAME_WIDTH = 30


def column_entries(columns: TableColumns, hidden: Collection[str]) -> list[Entry]:
    """Return all columns: the hidden ones, those of the table, and what all rows share."""
    return [
        *((name, _HIDDEN) for name in sorted(hidden)),
        *((name, "in the table") for name in columns.names),
        *((head.column, f"same in all: {head.text}") for head in columns.head),
    ]


class ColumnRows(ItemList[Entry]):
    """The columns that fit the search."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        super().__init__(entries)
        widths = (cell_width(_label(name)) for name, _ in entries)
        self._width = min(max(widths, default=0), _MAX_NAME_WIDTH)

    def refill(self) -> None:
        """Show the columns whose names fit the search."""
        self.shown = matching(self.search, self.items, lambda entry: _label(entry[0]))
        self.show(len(self.shown), empty="no such column")

    def pieces(self, row: int, width: int) -> list[Piece]:
        """Return the name of a column, and the remark on it."""
        name, remark = self.shown[row]
        label = highlight(pad(_label(name), self._width), filter_needles(self.search))
        return [
            (" ", ""),
            *label,
            ("  ", ""),
            (remark, "differs" if remark == "hidden" else "dim"),
        ]


class ColumnsDialog(SearchDialog[str]):
    """Choose a column; the result is its name."""

    CHOOSE = "bring back, go to it"
    rows: ColumnRows

    def __init__(self, entries: Sequence[Entry]) -> None:
        super().__init__("columns", ColumnRows(entries))

    @on(VirtualList.Chosen)
    def action_choose(self) -> None:
        """Return the column under the cursor."""
        if (entry := self.rows.item) is not None:
            self.dismiss(entry[0])


def _label(name: str) -> str:
    return clean(name.removeprefix("+"))
