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


class Order(IntEnum):
    """The order of rows that are not sorted by a column."""

    INDEX = 0
    """By name, version and all other columns: the order of ids."""
    PREFERRED = 1
    """By name; in a package the newest version first, then the specs with the most dependents."""
    PREFERRED_HERE = 2
    """The same, but in each version specs that run on the host come first."""


class View(Frozen):
    """The query and the settings that decide which rows are shown, and how.

    `opened` has the look-alikes that are shown row by row although the others are `folded`;
    `opened_kinds` has one spec of each of their kinds that is shown row by row.
    """

    query: Query = Query()
    sort: Sort | None = None
    order: Order = Order.INDEX
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
