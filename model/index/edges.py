"""Collect the edges to dependencies, and write them as columns in CSR form."""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections.abc import Mapping
from itertools import accumulate

from spackscope.model.core.records import Dependency
from spackscope.model.index.codec import reverse_edges, write_codes
from spackscope.model.index.staged import Staged

_NO_SPEC = 0xFFFFFFFF


_Node = tuple[int, str]
"""A dependency as a document names it: the code of the document, and the hash."""


class EdgeWriter:
    """Collects edges by the number of their record, until the specs have their ids."""

    def __init__(self) -> None:
        # Record i owns the edges first[i]:first[i + 1].
        self._first = array("I", [0])
        self._children, self._kinds = array("I"), array("I")
        self._kind_codes: dict[tuple[tuple[str, ...], tuple[str, ...]], int] = {}
        self._nodes: dict[_Node, int] = {}
        self._names: list[str] = []
        self._records: dict[_Node, int] = {}

    def add(self, nth: int, document: int, hash_: str, edges: tuple[Dependency, ...]) -> None:
        """Add the edges of the nth record; records come in the order of their numbers."""
        self._records.setdefault((document, hash_), nth)
        self._first.extend([len(self._children)] * (nth + 1 - len(self._first)))
        for edge in edges:
            node = self._nodes.setdefault((document, edge.hash), len(self._nodes))
            if node == len(self._names):
                self._names.append(edge.name)
            kind = edge.deptypes, edge.virtuals
            self._children.append(node)
            self._kinds.append(self._kind_codes.setdefault(kind, len(self._kind_codes)))

    def write(
        self,
        connection: sqlite3.Connection,
        staged: Staged,
        records: array[int],
        merged: Mapping[int, int],
    ) -> array[int]:
        """Write the edges, their kinds, and the dependencies that no document describes.

        `records` has the staged record of each spec. The edges of records `merged` into others are
        dropped; edges to them lead to the others. Returns where the edges to each spec begin.
        """
        connection.executemany(
            "INSERT INTO edge_kind VALUES (?, ?, ?)",
            [
                (code, json.dumps(deptypes), json.dumps(virtuals))
                for (deptypes, virtuals), code in self._kind_codes.items()
            ],
        )
        count = len(records)
        ids = array("I", [_NO_SPEC]) * len(staged)
        for spec, number in enumerate(records):
            ids[number] = spec
        child_ids, absent = self._child_ids(connection, staged, records, ids, merged)
        first, children, kinds = self._in_order_of(records)
        children = array("I", map(child_ids.__getitem__, children))
        up = reverse_edges(first, children, kinds, count + absent)
        columns = {"edge_first": first, "edge_child": children, "edge_kind": kinds}
        columns |= zip(("up_first", "up_parent", "up_kind"), up, strict=True)
        write_codes(connection, columns)
        return columns["up_first"]

    def _in_order_of(self, records: array[int]) -> tuple[array[int], array[int], array[int]]:
        """Return the edges of some records in CSR form: first, children and kinds."""
        missing = max(records, default=0) + 2 - len(self._first)
        self._first.extend([len(self._children)] * missing)
        counts, children, kinds = array("I"), array("I"), array("I")
        for nth in records:
            start, stop = self._first[nth], self._first[nth + 1]
            counts.append(stop - start)
            children.extend(self._children[start:stop])
            kinds.extend(self._kinds[start:stop])
        return array("I", accumulate(counts, initial=0)), children, kinds

    def _child_ids(
        self,
        connection: sqlite3.Connection,
        staged: Staged,
        records: array[int],
        ids: array[int],
        merged: Mapping[int, int],
    ) -> tuple[array[int], int]:
        """Return the id of each node, and the number of absent ones, which come after all specs.

        A node is searched for in its own document, then in all others.
        """
        node_ids = array("I")
        unknown: dict[int, str] = {}
        for number, node in enumerate(self._nodes):
            nth = self._records.get(node, -1)
            nth = merged.get(nth, nth)
            node_ids.append(ids[nth] if 0 <= nth < len(ids) else _NO_SPEC)
            if node_ids[-1] == _NO_SPEC:
                unknown[number] = node[1]
        hashes = set(unknown.values())
        elsewhere: dict[str, int] = {}
        if hashes:
            for spec, number in enumerate(records):
                if (hash_ := staged.hash_at(number)) in hashes:
                    elsewhere.setdefault(hash_, spec)
        absent: list[tuple[int, str, str]] = []
        for number, hash_ in unknown.items():
            node_ids[number] = elsewhere.get(hash_, len(records) + len(absent))
            if hash_ not in elsewhere:
                absent.append((len(absent), self._names[number], hash_))
        connection.executemany("INSERT INTO absent VALUES (?, ?, ?)", absent)
        return node_ids, len(absent)
