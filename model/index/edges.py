"""Collect the edges to dependencies, and write them as columns in CSR form."""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections.abc import Mapping
from itertools import accumulate
from operator import sub

from spackscope.model.core.records import Dependency
from spackscope.model.index.codec import reverse_edges, translate, write_codes
from spackscope.model.index.kept import Kept
from spackscope.model.index.kept_edges import NO_SPEC, KeptEdges, Node
from spackscope.model.index.pieces import Pieces

_COLUMNS = ("edge_first", "edge_child", "edge_kind", "up_first", "up_parent", "up_kind")


class EdgeWriter:
    """Collects edges by the number of their record, until the specs have their ids."""

    def __init__(self) -> None:
        # Record i owns the edges first[i]:first[i + 1].
        self._first = array("I", [0])
        self._children, self._kinds = array("I"), array("I")
        self._kind_codes: dict[tuple[tuple[str, ...], tuple[str, ...]], int] = {}
        self._nodes: dict[Node, int] = {}
        self._names: list[str] = []
        self._records: dict[Node, int] = {}
        # Readers make one object of equal edges of a document; comparing them takes longer.
        self._document = -1
        self._known: dict[int, tuple[int, int, Dependency]] = {}

    def add(self, nth: int, document: int, hash_: str, edges: tuple[Dependency, ...]) -> None:
        """Add the edges of the nth record; records come in the order of their numbers."""
        self._records.setdefault((document, hash_), nth)
        self._first.extend([len(self._children)] * (nth + 1 - len(self._first)))
        if document != self._document:
            self._document, self._known = document, {}
        for edge in edges:
            known = self._known.get(id(edge))
            if known is None:
                known = self._known[id(edge)] = self._add_edge(document, edge)
            self._children.append(known[0])
            self._kinds.append(known[1])

    def _add_edge(self, document: int, edge: Dependency) -> tuple[int, int, Dependency]:
        """Return the codes of an edge: of its node, and of its kind."""
        node = self._nodes.setdefault((document, edge.hash), len(self._nodes))
        if node == len(self._names):
            self._names.append(edge.name)
        kind = edge.deptypes, edge.virtuals
        # The object is kept with its codes, so that no other one gets its id.
        return node, self._kind_codes.setdefault(kind, len(self._kind_codes)), edge

    def write(
        self,
        connection: sqlite3.Connection,
        records: array[int],
        merged: Mapping[int, int],
        pieces: Pieces,
        kept: Kept,
    ) -> tuple[array[int], set[int]]:
        """Write the edges, their kinds, and the dependencies that no document describes.

        `records` has the staged record of each spec that was read. The edges of records `merged`
        into others are dropped; edges to them lead to the others. The specs are written before.

        Returns where the edges to each spec begin, and the documents that name a dependency
        otherwise than the document that describes it; the index does not keep that name.
        """
        old = KeptEdges(connection, kept, pieces)
        if not self._children and not old.kinds:
            # Pages list no dependencies.
            first = array("I", bytes(4 * (pieces.spec_count + 1)))
            names = dict.fromkeys(_COLUMNS, array("I"))
            write_codes(connection, names | {"edge_first": first, "up_first": first})
            return first, set()
        first, nodes, kinds = self._in_order_of(records)
        child_ids, unknown = self._child_ids(records, merged, pieces, nodes)
        search = _Search(connection, {**unknown, **old.nodes}, pieces.spec_count)
        for node in unknown:
            child_ids[self._nodes[node]] = search.ids[node]
        children = array("I", map(child_ids.__getitem__, nodes))
        old_kinds, kinds = self._write_kinds(connection, old, pieces, first, kinds)
        counts = pieces.specs(counts_of(old.first), counts_of(first))
        down = (
            array("I", accumulate(counts, initial=0)),
            pieces.edges(old.first, old.children(search.ids), first, children),
            pieces.edges(old.first, old_kinds, first, kinds),
        )
        up = reverse_edges(*down, pieces.spec_count + search.absent)
        write_codes(connection, dict(zip(_COLUMNS, (*down, *up), strict=True)))
        return up[0], search.named_otherwise

    def _in_order_of(self, records: array[int]) -> tuple[array[int], array[int], array[int]]:
        """Return the edges of some records in CSR form: first, nodes and kinds."""
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
        self, records: array[int], merged: Mapping[int, int], pieces: Pieces, nodes: array[int]
    ) -> tuple[array[int], dict[Node, str]]:
        """Return the id of each node that is a record of its own document.

        Also returns the names of the others, as far as they are among the `nodes` of edges.
        """
        ids = array("I", [NO_SPEC]) * (max(records, default=-1) + 1)
        for spec, number in pieces.staged_specs(records):
            ids[number] = spec
        used = set(nodes)
        child_ids = array("I")
        unknown: dict[Node, str] = {}
        for number, node in enumerate(self._nodes):
            nth = self._records.get(node, -1)
            nth = merged.get(nth, nth)
            child_ids.append(ids[nth] if 0 <= nth < len(ids) else NO_SPEC)
            if child_ids[-1] == NO_SPEC and number in used:
                unknown[node] = self._names[number]
        return child_ids, unknown

    def _write_kinds(
        self,
        connection: sqlite3.Connection,
        old: KeptEdges,
        pieces: Pieces,
        first: array[int],
        kinds: array[int],
    ) -> tuple[array[int], array[int]]:
        """Write the kinds of edges that there are; return the new codes of old and new edges."""
        rows = [
            (json.dumps(deptypes), json.dumps(virtuals)) for deptypes, virtuals in self._kind_codes
        ]
        staged = {code: rows[code] for code in set(kinds)}
        nothing = array("I", [0]) * len(first)
        used = set(pieces.edges(old.first, old.kinds, nothing, array("I")))
        rows = old.kind_rows()
        kept = {code: rows[code] for code in used}
        codes = {row: code for code, row in enumerate(sorted({*staged.values(), *kept.values()}))}
        connection.executemany(
            "INSERT INTO edge_kind VALUES (?, ?, ?)", ((code, *row) for row, code in codes.items())
        )
        return (
            translate(old.kinds, {code: codes[row] for code, row in kept.items()}),
            translate(kinds, {code: codes[row] for code, row in staged.items()}),
        )


class _Search:
    """Searches for dependencies that their own document does not describe in all others.

    `ids` has the ids of those that are found, the first spec with the hash, and of the `absent`
    ones, which come after all specs. `named_otherwise` has the documents that give a dependency
    which is found another name.
    """

    def __init__(
        self, connection: sqlite3.Connection, nodes: Mapping[Node, str], count: int
    ) -> None:
        connection.execute("CREATE TEMP TABLE wanted (hash TEXT PRIMARY KEY)")
        connection.executemany(
            "INSERT OR IGNORE INTO temp.wanted VALUES (?)", ((hash_,) for _, hash_ in nodes)
        )
        # With min() the other columns are those of the smallest id (sqlite.org/lang_select.html).
        found = connection.execute(
            "SELECT spec.hash, min(spec.id), package.package FROM temp.wanted"
            " CROSS JOIN spec ON spec.hash = wanted.hash"
            " JOIN look_alike ON look_alike.id = look_alike"
            " JOIN package ON package.id = look_alike.package GROUP BY spec.hash"
        ).fetchall()
        specs = {hash_: spec for hash_, spec, _ in found}
        packages = {hash_: package for hash_, _, package in found}
        self.named_otherwise = {
            document
            for (document, hash_), name in nodes.items()
            if packages.get(hash_, name) != name
        }
        absent = sorted(node for node in nodes if node[1] not in specs)
        self.absent = len(absent)
        self.ids = {node: id_ for id_, node in enumerate(absent, count)}
        self.ids |= {node: specs[node[1]] for node in nodes if node[1] in specs}
        connection.executemany(
            "INSERT INTO absent VALUES (?, ?, ?)",
            ((id_, nodes[node], node[1]) for id_, node in enumerate(absent)),
        )


def counts_of(first: array[int]) -> array[int]:
    """Return how many each has of which `first` says where they begin, and where the last end."""
    return array("I", map(sub, first[1:], first))
