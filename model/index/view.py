"""A view: the query, the order and the folding of rows, and what a row stands for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum

from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.query.ast import Query

USED_BY = "used by"
"""The column of how many specs depend on those of a row, which no record states."""


class Sort(Frozen):
    """The column by which rows are ordered, and the direction."""

    column: str
    descending: bool = False


class Order(IntEnum):
    """The order of rows that no column decides."""

    INDEX = 0
    """By name, version and all other columns: the order of ids."""
    PREFERRED = 1
    """By name; of a package the newest version first, then what most specs depend on."""
    PREFERRED_HERE = 2
    """The same, but of a version first what runs on the host."""


class View(Frozen):
    """All that decides which rows are shown, and how.

    `opened` has the look-alikes that are shown row by row although the others are `folded`, and
    `opened_kinds` a spec of each of their kinds that is shown so. A package whose whole name is a
    word of the query comes first, unless the order is that of the index.
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
"""Partitions look-alikes into kinds, the first spec of each the one to take; empty if unknown."""


class RowRole(IntEnum):
    """What a row stands for: by default one spec, or folded look-alikes."""

    SPEC = 0
    GROUP = 1
    """The head of opened look-alikes."""
    KIND = 2
    """The specs of one kind, folded if there are several."""
    OPEN_KIND = 3
    """The head of the specs of one kind."""
    MEMBER = 4
    """One spec of an opened group or kind."""
