"""The columns of notes on look-alikes, after those of the records."""

from __future__ import annotations

from typing import NamedTuple

from spackscope.model.presentation.column_layout import GAP
from spackscope.model.presentation.kinds import BUILD_TOOLS_ONLY, UNLISTED

_DIFFERS = (56, 40, 28, 20, 12)
"""Widths of what specs differ in; the first that leaves room for all other columns is taken."""
_USERS, _SHORT_USERS = len("used by"), len("used")
_MIN_WIDTH, _MIN_WIDTH_OF_LONG_USERS = 36, 90
"""Cells of the table from which on it has notes, and a whole word above the users."""


class NoteColumns(NamedTuple):
    """The widths of the columns of notes; 0 for one without room."""

    users: int = 0
    differs: int = 0

    @property
    def total(self) -> int:
        """The cells that they take with the gaps before them."""
        return sum(width + GAP for width in self if width)

    def widened(self, cells: int) -> NoteColumns:
        """Return the widths with cells that other columns do not need."""
        differs = self.differs + max(0, cells) if self.differs else 0
        if not self.users and differs >= _SHORT_USERS + GAP + len(BUILD_TOOLS_ONLY):
            return NoteColumns(_SHORT_USERS, differs - _SHORT_USERS - GAP)
        return self._replace(differs=differs)


def note_columns(width: int, *, is_told: bool, is_opened: bool) -> list[NoteColumns]:
    """Return the widths that notes may have in a table of some width, the widest first.

    The last is for tables without room for all columns; it has users only if a group `is_opened`.
    Unless anything `is_told` of dependencies there is one column at most, to say so.
    """
    if width < _MIN_WIDTH:
        return [NoteColumns()]
    if not is_told:
        return [NoteColumns(0, len(UNLISTED)), NoteColumns()]
    users = _USERS if width >= _MIN_WIDTH_OF_LONG_USERS else _SHORT_USERS
    widths = [NoteColumns(users, differs) for differs in _DIFFERS if 2 * differs <= width]
    return [*widths, NoteColumns(_SHORT_USERS if is_opened else 0, _DIFFERS[-1])]
