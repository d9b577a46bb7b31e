"""Gather the edges to dependencies, and write them as columns."""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections.abc import Mapping
from itertools import accumulate

from spackscope.model.core.records import Dependency
from spackscope.model.index.codec import (
    pack_codes,
    reverse_edges,
)

_NOBODY = 0xFFFFFFFF


class Edges:
    """Hold edges by the order in which records were staged, until the specs have their ids."""

    def __init__(self) -> None:
        self._children, self._kinds = array("I"), array("I")
        # Where the edges of each record begin; those of one record stand together.
        self._first = array("I", [0])
        self._kind_codes: dict[tuple[tuple[str, ...], tuple[str, ...]], int] = {}
        # A dependency is looked for in its own document first.
        self._nodes: dict[tuple[int, str], int] = {}
        self._names: list[tuple[str, str]] = []
        self._staged: dict[tuple[int, str], int] = {}

    def add(self, nth: int, document: int, hash_: str, edges: tuple[Dependency, ...]) -> None:
        """Take the edges of the nth record; they come in the order of the records."""
        self._staged.setdefault((document, hash_), nth)
        self._first.extend([len(self._children)] * (nth + 1 - len(self._first)))
        for edge in edges:
            node = self._nodes.setdefault((document, edge.hash), len(self._nodes))
            if node == len(self._names):
                self._names.append((edge.name, edge.hash))
            kind = edge.deptypes, edge.virtuals
            self._children.append(node)
            self._kinds.append(self._kind_codes.setdefault(kind, len(self._kind_codes)))

    def write(self, connection: sqlite3.Connection, merged: Mapping[int, int]) -> None:
        """Write the edges, their kinds, and the dependencies that no document holds.

        The table `numbered` tells which staged record became which spec; of those `merged` into
        another one the edges are left out, and it takes those that led to them.
        """
        connection.executemany(
            "INSERT INTO edge_kind VALUES (?, ?, ?)",
            [
                (code, json.dumps(deptypes), json.dumps(virtuals))
                for (deptypes, virtuals), code in self._kind_codes.items()
            ],
        )
        count, last = connection.execute("SELECT count(*), max(nth) FROM numbered").fetchone()
        staged = array("I", bytes(4 * count))
        ids = array("I", [_NOBODY]) * ((last or 0) + 1)
        for nth, spec in connection.execute("SELECT nth, spec FROM numbered"):
            ids[nth], staged[spec] = spec, nth
        child_ids = self._child_ids(connection, ids, merged, count)
        first, behind = self._first, len(self._children)
        first.extend([behind] * (len(ids) + 1 - len(first)))
        numbers, children, kinds = array("I"), array("I"), array("I")
        for nth in staged:
            start, stop = first[nth], first[nth + 1]
            numbers.append(stop - start)
            children.extend(self._children[start:stop])
            kinds.extend(self._kinds[start:stop])
        begins = array("I", accumulate(numbers, initial=0))
        children = array("I", map(child_ids.__getitem__, children))
        (absent,) = connection.execute("SELECT count(*) FROM absent").fetchone()
        up_first, up_parent, up_kind = reverse_edges(begins, children, kinds, count + absent)
        connection.executemany(
            "INSERT INTO codes VALUES (?, ?)",
            [
                ("edge_first", pack_codes(begins)),
                ("edge_child", pack_codes(children)),
                ("edge_kind", pack_codes(kinds)),
                ("up_first", pack_codes(up_first)),
                ("up_parent", pack_codes(up_parent)),
                ("up_kind", pack_codes(up_kind)),
            ],
        )

    def _child_ids(
        self,
        connection: sqlite3.Connection,
        ids: array[int],
        merged: Mapping[int, int],
        count: int,
    ) -> array[int]:
        """Give the id of each node; those of absent ones stand behind all specs."""
        unknown: dict[int, str] = {}
        found = array("I")
        for node, key in enumerate(self._nodes):
            nth = self._staged.get(key)
            nth = merged.get(nth, nth) if nth is not None else None
            found.append(ids[nth] if nth is not None and nth < len(ids) else _NOBODY)
            if found[-1] == _NOBODY:
                unknown[node] = key[1]
        elsewhere: dict[str, int] = {}
        if unknown:
            wanted = set(unknown.values())
            elsewhere = {
                hash_: spec
                for hash_, spec in connection.execute(
                    "SELECT hash, spec FROM numbered ORDER BY spec DESC"
                )
                if hash_ in wanted
            }
        absent: list[tuple[int, str, str]] = []
        for node, hash_ in unknown.items():
            found[node] = elsewhere.get(hash_, count + len(absent))
            if hash_ not in elsewhere:
                absent.append((len(absent), *self._names[node]))
        connection.executemany("INSERT INTO absent VALUES (?, ?, ?)", absent)
        return found
