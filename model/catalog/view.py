"""A view, and what its rows stand for: order, folding, and the rows of opened groups."""

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


class OpenedRow(Frozen):
    """One row of an opened group: its first spec, its role, and all specs that it stands for."""

    id: int
    role: RowRole
    members: Sequence[int]

    @property
    def count(self) -> int:
        """The number of specs; a spec of an opened kind is counted for itself."""
        return len(self.members)


def opened_rows(
    ids: Sequence[int], kinds: Sequence[Sequence[int]], opened: frozenset[int]
) -> list[OpenedRow]:
    """Return the rows of opened look-alikes; kinds with an id in `opened` are opened too.

    Without kinds there are the single specs. One kind needs no row besides the head.
    """
    if not kinds:
        return [OpenedRow(id_, RowRole.SPEC, (id_,)) for id_ in ids]
    rows = [OpenedRow(ids[0], RowRole.GROUP, ids)]
    for kind in kinds:
        is_open = len(kind) > 1 and not opened.isdisjoint(kind)
        role = RowRole.OPEN_KIND if is_open else RowRole.KIND
        if len(kinds) > 1:
            rows.append(OpenedRow(kind[0], role, kind))
        if is_open or len(kinds) == 1:
            rows += (OpenedRow(id_, RowRole.MEMBER, (id_,)) for id_ in kind)
    return rows


def find_row(rows: Sequence[OpenedRow], id_: int, role: RowRole) -> int | None:
    """Return the number of the row of a spec: that with the role, else the smallest with it."""
    numbers = [number for number, row in enumerate(rows) if id_ in row.members]
    return min(
        numbers,
        key=lambda number: (
            (rows[number].id, rows[number].role) != (id_, role),
            rows[number].role != role,
            -rows[number].role,
        ),
        default=None,
    )
