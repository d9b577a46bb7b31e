"""A view: the query, the order and the folding of rows, and the roles of rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum

from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.query.ast import Query

USED_BY = "used by"
"""The column with the number of dependents of a row, which no record states."""


class Sort(Frozen):
    """The column by which rows are ordered, and the direction."""

    column: str
    descending: bool = False


class View(Frozen):
    """The query and the settings that decide which rows are shown, and how.

    Rows that are not sorted by a column are in the order of ids: by name, version and all other
    columns. With `best_first` the newest version of each package comes first, and in a version
    specs that run on the host, if it is known, and then those with the most dependents.

    `opened` has the look-alikes that are shown row by row although the others are `folded`;
    `opened_kinds` has one spec of each of their kinds that is shown row by row.
    """

    query: Query = Query()
    sort: Sort | None = None
    best_first: bool = False
    folded: bool = False
    opened: frozenset[int] = frozenset()
    opened_kinds: frozenset[int] = frozenset()

    def closed(self) -> View:
        """Return the view with all groups closed."""
        return replace(self, opened=frozenset(), opened_kinds=frozenset())


Partition = Callable[[Sequence[int]], Sequence[Sequence[int]]]
"""Partitions look-alikes into run-time kinds, the best spec of each first; empty if unknown."""


class RowRole(IntEnum):
    """The role of a row: by default it stands for one spec, or for folded look-alikes."""

    SPEC = 0
    GROUP = 1
    """The head of opened look-alikes."""
    KIND = 2
    """The specs of one kind, folded if there are several."""
    OPEN_KIND = 3
    """The head of the specs of one kind."""
    MEMBER = 4
    """One spec of an opened group or kind."""
