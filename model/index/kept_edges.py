"""Copy the edges of kept records from an old index."""

from __future__ import annotations

import sqlite3
from array import array
from bisect import bisect_right
from collections.abc import Mapping
from itertools import compress

from spackscope.model.core.errors import IndexDamaged
from spackscope.model.index.codec import is_ascending
from spackscope.model.index.damage import class_reading_index, text
from spackscope.model.index.kept import Kept
from spackscope.model.index.pieces import Pieces

NO_SPEC = 0xFFFFFFFF

Node = tuple[int, str]
"""A dependency as a document names it: the code of the document, and the hash."""


@class_reading_index
class KeptEdges:
    """The edges of an old index, whose specs get the ids that they have in `pieces`.

    An edge leads where it did, unless its dependency was found in another document, or in none:
    then it has to be searched for again. `nodes` has these dependencies, with their names.
    """

    def __init__(self, connection: sqlite3.Connection, kept: Kept, pieces: Pieces) -> None:
        self._connection = connection
        self._kept = kept
        self.first = kept.column("edge_first") or array("I", [0])
        self._children = kept.column("edge_child")
        self.kinds = kept.column("edge_kind", len(self._children))
        self.nodes: dict[Node, str] = {}
        self._absent: dict[int, Node] = {}
        self._elsewhere: dict[int, Node] = {}
        self._ids = array("I")
        if not self._children:
            return
        count = kept.first[-1]
        absent = connection.execute("SELECT hash, name FROM old.absent ORDER BY id").fetchall()
        if (
            len(self.first) != count + 1
            or self.first[0]
            or not is_ascending(self.first)
            or self.first[-1] != len(self._children)
            or max(self._children) >= count + len(absent)
        ):
            raise IndexDamaged("the edges are damaged")
        self._ids = array("I", [NO_SPEC]) * (count + len(absent))
        for piece in pieces.kept:
            ids = range(piece.spec, piece.spec + piece.last - piece.first)
            self._ids[piece.first : piece.last] = array("I", ids)
        self._find_absent(absent)
        self._find_elsewhere(pieces)

    def _find_absent(self, absent: list[tuple[object, object]]) -> None:
        """Note the dependencies that no document described."""
        first = self._kept.column("up_first", len(self._ids) + 1)
        parents = self._kept.column("up_parent", len(self._children))
        count = self._kept.first[-1]
        for id_, (hash_, name) in enumerate(absent, count):
            for parent in parents[first[id_] : first[id_ + 1]]:
                if self._ids[parent] != NO_SPEC:
                    # Only one document names it by this id.
                    node = self._kept.document(parent)[1], text(hash_)
                    self.nodes[node] = text(name)
                    self._absent[id_] = node
                    break

    def _find_elsewhere(self, pieces: Pieces) -> None:
        """Note the dependencies in other documents that are gone, or may now be found in more."""
        count = self._kept.first[-1]
        is_uncertain = bytearray(id_ == NO_SPEC for id_ in self._ids[:count])
        is_uncertain += bytes(len(self._ids) - count)
        for piece in pieces.staged:
            for (id_,) in self._connection.execute(
                "SELECT old.spec.id FROM main.spec JOIN old.spec USING (hash)"
                " WHERE main.spec.id >= ? AND main.spec.id < ?",
                (piece.spec, piece.spec + piece.last - piece.first),
            ):
                is_uncertain[id_] = 1
        if not any(is_uncertain):
            return
        nodes: dict[int, tuple[str, str]] = {}
        for edge in compress(
            range(len(self._children)), map(is_uncertain.__getitem__, self._children)
        ):
            parent, child = bisect_right(self.first, edge) - 1, self._children[edge]
            old_document, document = self._kept.document(parent)
            if self._ids[parent] == NO_SPEC or self._kept.document(child)[0] == old_document:
                continue
            if child not in nodes:
                nodes[child] = self._kept.hash_and_package(child)
            hash_, package = nodes[child]
            self.nodes[document, hash_] = package
            self._elsewhere[edge] = document, hash_

    def children(self, ids: Mapping[Node, int]) -> array[int]:
        """Return the dependencies of all edges, given the ids of `nodes`.

        Those of edges of specs that are not kept mean nothing.
        """
        for id_, node in self._absent.items():
            self._ids[id_] = ids[node]
        children = array("I", map(self._ids.__getitem__, self._children))
        for edge, node in self._elsewhere.items():
            children[edge] = ids[node]
        return children

    def kind_rows(self) -> list[tuple[str, str]]:
        """Return the deptypes and virtuals of each kind of edges, by their codes."""
        if not self._children:
            return []
        rows = self._connection.execute(
            "SELECT deptypes, virtuals FROM old.edge_kind ORDER BY id"
        ).fetchall()
        if max(self.kinds) >= len(rows):
            raise IndexDamaged("the kinds of edges are damaged")
        return [(text(deptypes), text(virtuals)) for deptypes, virtuals in rows]
