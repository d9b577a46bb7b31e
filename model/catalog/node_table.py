"""Read what nodes state beside the columns: few of them one by one, many at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from spackscope.model.core.records import NodeFacts
from spackscope.model.index.connection import Database
from spackscope.model.index.damage import natural, text, texts

_MAX_SINGLE = 256
"""Nodes that are read one by one; to read all of 60,000 takes as long as 10,000 single ones."""

_EMPTY = "[]"
"""What nearly all lists are: they need not be parsed."""

_SELECT = f"SELECT {', '.join(NodeFacts._fields)} FROM node"


class NodeTable:
    """The facts by the codes of specs; safe to use from several threads.

    Most commands need few of the nodes, and those that need many need them all.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._few: dict[int, NodeFacts] = {}
        self._all: list[NodeFacts] | None = None

    def __getitem__(self, code: int) -> NodeFacts:
        if self._all is not None or len(self._few) == _MAX_SINGLE:
            return self._read_all()[code]
        facts = self._few.get(code)
        if facts is None:
            row = self._database.execute(f"{_SELECT} WHERE id = ?", (code,)).fetchone()
            if row is None:
                raise IndexError(code)
            facts = self._few[code] = _facts(row)
        return facts

    def __iter__(self) -> Iterator[NodeFacts]:
        return iter(self._read_all())

    def _read_all(self) -> list[NodeFacts]:
        if self._all is None:
            self._all = list(map(_facts, self._database.execute(f"{_SELECT} ORDER BY id")))
        return self._all


def _facts(row: Sequence[Any]) -> NodeFacts:
    recipe, external, modules, more, patches, format_ = row
    lists = (() if value == _EMPTY else texts(value) for value in (modules, patches))
    return NodeFacts(
        text(recipe), text(external), next(lists), text(more), next(lists), natural(format_)
    )
