"""Gather the edges to dependencies, and write them as columns."""

from __future__ import annotations

import json
import sqlite3
from array import array
from itertools import accumulate

from spackscope.model.code_columns import packed
from spackscope.model.records import Spec

_NOBODY = 0xFFFFFFFF


class Edges:
    """Hold edges by the order in which records were staged, until the specs have their ids."""

    def __init__(self) -> None:
        self._parents, self._children, self._kinds = array("I"), array("I"), array("I")
        self._kind_codes: dict[tuple[tuple[str, ...], tuple[str, ...]], int] = {}
        # A dependency is looked for in its own document only.
        self._nodes: dict[tuple[int, str], int] = {}
        self._names: list[tuple[str, str]] = []
        self._staged: dict[tuple[int, str], int] = {}
        self._ids = array("I")

    def add(self, nth: int, document: int, spec: Spec) -> None:
        """Take the edges of a record, which is the nth one staged."""
        self._staged.setdefault((document, spec.hash), nth)
        for edge in spec.dependencies or ():
            node = self._nodes.setdefault((document, edge.hash), len(self._nodes))
            if node == len(self._names):
                self._names.append((edge.name, edge.hash))
            kind = edge.deptypes, edge.virtuals
            self._parents.append(nth)
            self._children.append(node)
            self._kinds.append(self._kind_codes.setdefault(kind, len(self._kind_codes)))

    def number(self, connection: sqlite3.Connection) -> None:
        """Learn the ids of the specs from the table `numbered`."""
        if not self._parents:
            return
        (last,) = connection.execute("SELECT max(nth) FROM numbered").fetchone()
        self._ids = array("I", [_NOBODY]) * ((last or 0) + 1)
        for nth, spec in connection.execute("SELECT nth, spec FROM numbered"):
            self._ids[nth] = spec

    def write(self, connection: sqlite3.Connection) -> None:
        """Write the edges, their kinds, and the dependencies that no document holds."""
        connection.executemany(
            "INSERT INTO edge_kind VALUES (?, ?, ?)",
            [
                (code, json.dumps(deptypes), json.dumps(virtuals))
                for (deptypes, virtuals), code in self._kind_codes.items()
            ],
        )
        (count,) = connection.execute("SELECT count(*) FROM spec").fetchone()
        absent: list[tuple[int, str, str]] = []
        child_ids = array("I")
        for key, node in self._nodes.items():
            nth = self._staged.get(key)
            id_ = self._ids[nth] if nth is not None and nth < len(self._ids) else _NOBODY
            if id_ == _NOBODY:
                id_ = count + len(absent)
                absent.append((len(absent), *self._names[node]))
            child_ids.append(id_)
        connection.executemany("INSERT INTO absent VALUES (?, ?, ?)", absent)
        parents = array("I", (self._ids[nth] for nth in self._parents))
        order = sorted(range(len(parents)), key=parents.__getitem__)
        numbers = array("I", bytes(4 * count))
        for parent in parents:
            if parent != _NOBODY:
                numbers[parent] += 1
        kept = [edge for edge in order if parents[edge] != _NOBODY]
        connection.executemany(
            "INSERT INTO codes VALUES (?, ?)",
            [
                ("edge_first", packed(array("I", accumulate(numbers, initial=0)))),
                ("edge_child", packed(array("I", (child_ids[self._children[e]] for e in kept)))),
                ("edge_kind", packed(array("I", (self._kinds[edge] for edge in kept)))),
            ],
        )
