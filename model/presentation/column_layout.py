"""Decide which columns fit into a width, and how wide each one is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from spackscope.model.catalog.view import USED_BY
from spackscope.model.core.frozen import Frozen
from spackscope.model.presentation.table_columns import DIFFERS_IN, TableColumn, TableColumns

GAP = 1
"""Blank cells between two columns."""

_MAX_FIELD_WIDTH = 24
"""Cells of a value up to which it is whole before variants get room."""
_SHORT_SLOT, _GOOD_DIFFERS, _UNBOUNDED = 10, 44, 1 << 16
_MIN_WITH_USERS = 56
"""Cells of a table from which on the users of its rows come before fields."""
_MIN_WITH_LONG_USERS = 100
"""Cells from which on the head of the users is more than one word."""
_MIN_DIFFERS, _MAX_DIFFERS = 12, 30
"""Cells that what rows differ in gets before variants do; a quarter of the table."""


class Placed(Frozen):
    """A column with its offset and its width in cells."""

    column: TableColumn
    at: int
    width: int

    @property
    def end(self) -> int:
        """The offset of the cell after the last."""
        return self.at + self.width


class Layout(NamedTuple):
    """The columns that fit, and the numbers of those scrolled out of view on each side."""

    placed: Sequence[Placed] = ()
    before: int = 0
    after: int = 0

    def at(self, x: int) -> Placed | None:
        """Return the column at a cell; None between columns."""
        return next((placed for placed in self.placed if placed.at <= x < placed.end), None)


def lay_out(
    columns: TableColumns,
    width: int,
    *,
    current: str = "",
    first: int = 0,
    floors: Mapping[str, int] | None = None,
) -> Layout:
    """Place columns side by side in `width` cells, each as wide as its content if possible.

    Frozen columns and the last ones stay, but for a second frozen one without room for the
    `current` one. Of the others those from number `first` on are shown, or others so that the
    `current` one is. Where there is little room, fields shrink first, then
    what rows differ in; variants get what is left. `floors` are widths that columns need.
    """
    width = max(width, 1)
    least = {column.name: column.min_width for column in columns.all}
    needed = [c for c in columns.all if c in columns.frozen or c.name in ("hash", current)]
    frozen = columns.frozen if _total(needed, least) <= width else columns.frozen[:1]
    scrolled = (*columns.frozen[len(frozen) :], *columns.scrolled)
    fixed = [*frozen, *columns.last]
    fields = [column for column in scrolled if column.field is not None]
    if width < _MIN_WITH_USERS and _total([*fixed, *fields], least) > width:
        fixed = [column for column in fixed if column.name != USED_BY]
    widths = _widths(columns.all, [*fixed, *fields], width, floors or {})
    room = width - _total(fixed, widths)
    if scrolled and room < widths[scrolled[0].name] + GAP:
        # Too narrow for the notes.
        fixed = [column for column in fixed if not column.is_note]
        room = width - _total(fixed, widths)
    first = _first(scrolled, widths, room, current, first)
    fitting = _fitting(scrolled[first:], widths, room)
    shown = [column for column in columns.all if column in fixed or column in fitting]
    rest = width - _total(shown, widths)
    for column, most in _growing(shown):
        more = max(0, min(rest, most - widths[column.name]))
        if column.name == USED_BY and width < _MIN_WITH_LONG_USERS:
            continue
        widths[column.name] += more
        rest -= more
    after = len(scrolled) - first - len(fitting)
    return Layout(_placed(shown, widths, width), first, after)


def _total(columns: Sequence[TableColumn], widths: Mapping[str, int]) -> int:
    return sum(widths[column.name] + GAP for column in columns) - (GAP if columns else 0)


def _widths(
    columns: Sequence[TableColumn],
    first: Sequence[TableColumn],
    width: int,
    floors: Mapping[str, int],
) -> dict[str, int]:
    """Return the widths before the room that is left is given away; `first` ones are to fit."""
    least = {c.name: max(c.min_width, floors.get(c.name, 0)) for c in columns}
    widths = dict(least)
    for column in first:
        if column.field is not None:
            widths[column.name] = max(least[column.name], min(column.width, _MAX_FIELD_WIDTH))
        elif column.name == DIFFERS_IN:
            widths[column.name] = max(_MIN_DIFFERS, min(width // 4, _MAX_DIFFERS))
    for stage in ([c for c in first if c.field is not None], first):
        while (excess := _total(first, widths) - width) > 0:
            shrinkable = [c.name for c in stage if widths[c.name] > least[c.name]]
            if not shrinkable:
                break
            widest = max(shrinkable, key=widths.__getitem__)
            widths[widest] -= max(
                1, min(excess // len(shrinkable), widths[widest] - least[widest])
            )
    return widths


def _first(
    columns: Sequence[TableColumn], widths: Mapping[str, int], room: int, current: str, first: int
) -> int:
    """Return the number of the first column to show, so that the current one is in view."""
    names = [column.name for column in columns]
    if len(_fitting(columns, widths, room)) == len(columns):
        return 0
    first = max(0, min(first, len(columns) - 1))
    if current not in names:
        return first
    number = names.index(current)
    first = min(first, number)
    while first < number and len(_fitting(columns[first:], widths, room)) <= number - first:
        first += 1
    return first


def _fitting(
    columns: Sequence[TableColumn], widths: Mapping[str, int], room: int
) -> Sequence[TableColumn]:
    """Return the columns from the first one on that fit, at their least width."""
    for number, column in enumerate(columns):
        room -= widths[column.name] + GAP
        if room < 0:
            return columns[:number]
    return columns


def _growing(shown: Sequence[TableColumn]) -> list[tuple[TableColumn, int]]:
    """Return the columns in the order in which they get more room, each with its width then."""
    differs = [column for column in shown if column.name == DIFFERS_IN]
    others = sorted((c for c in shown if c not in differs), key=lambda column: column.width)
    fields = [column for column in others if not column.variant]
    short = [column for column in others if column.variant and column.width <= _SHORT_SLOT]
    return [
        *((column, column.width) for column in (*fields, *short)),
        *((column, _GOOD_DIFFERS) for column in differs),
        *((column, column.width) for column in others),
        *((column, _UNBOUNDED) for column in differs),
    ]


def _placed(
    columns: Sequence[TableColumn], widths: Mapping[str, int], width: int
) -> Sequence[Placed]:
    placed, at = [], 0
    for column in columns:
        cells = min(widths[column.name], width - at)
        if cells <= 0:
            break
        placed.append(Placed(column, at, cells))
        at += cells + GAP
    return placed
