"""Find the specs whose dependencies are as asked, over the edges of a whole index."""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable
from functools import cached_property
from itertools import pairwise

from spackscope.model.code_columns import CodeColumns
from spackscope.model.compilers import LANGUAGES
from spackscope.model.dictionaries import Dictionaries
from spackscope.model.index.database import Database
from spackscope.model.query.match import split_variant
from spackscope.model.query.satisfies import compiler_fits, holds, stub, wanted_of_node
from spackscope.model.query.terms import Condition, Depends, Query, Term, query_of
from spackscope.model.ranges import Ranges
from spackscope.model.records import Dependency

Find = Callable[[Query], Ranges]
"""Finds the records that fulfil a query, those that are only dependencies among them."""

Mask = bytearray
"""A byte for each record, and behind them for each dependency that is absent: 1 where it fits."""


class Graph:
    """Hold the edges of an index; all masks go by the ids of records.

    The rules are those of `query.satisfies`, which tells the same of a single record.
    """

    def __init__(
        self, database: Database, columns: CodeColumns, dictionaries: Dictionaries
    ) -> None:
        self._database = database
        self._columns = columns
        self._dictionaries = dictionaries

    @cached_property
    def _count(self) -> int:
        return self._columns.first[-1]

    @cached_property
    def _kinds(self) -> list[tuple[frozenset[str], frozenset[str]]]:
        rows = self._database.execute("SELECT deptypes, virtuals FROM edge_kind ORDER BY id")
        return [(frozenset(json.loads(types)), frozenset(json.loads(v))) for types, v in rows]

    @cached_property
    def _links(self) -> list[bool]:
        """Tell of each kind of edge whether it is one to link or to run."""
        return [bool(types & {"link", "run"}) for types, _ in self._kinds]

    @cached_property
    def _absent(self) -> list[tuple[str, str]]:
        return self._database.execute("SELECT name, hash FROM absent ORDER BY id").fetchall()

    @cached_property
    def _edges(self) -> list[tuple[int, int, int]]:
        """Hold each edge: the spec, its dependency, and the code of the kind."""
        first = self._columns.column("edge_first")
        parents = array("I")
        for spec, (start, stop) in enumerate(pairwise(first)):
            parents.extend([spec] * (stop - start))
        children, kinds = self._columns.column("edge_child"), self._columns.column("edge_kind")
        return list(zip(parents, children, kinds, strict=True))

    @cached_property
    def _linking(self) -> dict[int, list[int]]:
        """Hold for each dependency the specs that link to it or run it."""
        above: dict[int, list[int]] = {}
        for parent, child, kind in self._edges:
            if self._links[kind]:
                above.setdefault(child, []).append(parent)
        return above

    @cached_property
    def _stating(self) -> Mask:
        """Mark the specs whose compiler is stated, of which `%` asks for nothing else."""
        mask = Mask(b"\1") * self._count
        languages = [bool(virtuals & set(LANGUAGES)) for _, virtuals in self._kinds]
        for parent, _, kind in self._edges:
            if languages[kind]:
                mask[parent] = 0
        arches, codes = self._dictionaries.arches, self._columns.column("arch")
        for look_alike, lists in enumerate(self._listing):
            start, stop = self._columns.specs(look_alike)
            if lists and arches[codes[look_alike]].compiler == "none":
                mask[start:stop] = bytes(stop - start)
        return mask

    @cached_property
    def _listing(self) -> list[bool]:
        """Tell of each look-alike whether its document lists dependencies."""
        rows = self._database.execute("SELECT id, dependencies FROM document")
        lists = {document: bool(dependencies) for document, dependencies in rows}
        return [lists[document] for document in self._columns.column("document")]

    def dependents(self, asked: Depends, find: Find) -> bytes:
        """Mark the specs that fulfil a condition on dependencies, negation left aside."""
        edges = self._fitting(asked, find)
        if not asked.direct:
            return bytes(self._above(edges))
        mask = Mask(self._count)
        for parent, _ in edges:
            mask[parent] = 1
        stating = self._stating
        fits: dict[int, bool] = {}
        for look_alike, arch in enumerate(self._columns.column("arch")):
            start, stop = self._columns.specs(look_alike)
            if stating.find(1, start, stop) >= 0:
                if arch not in fits:
                    compiler = self._dictionaries.arches[arch].compiler
                    fits[arch] = compiler_fits(asked, compiler, listed=True)
                for spec in range(start, stop):
                    if stating[spec]:
                        mask[spec] = fits[arch]
        return bytes(mask)

    def _fitting(self, asked: Depends, find: Find) -> list[tuple[int, bool]]:
        """Give the specs with an edge as asked, and whether it is one to link or to run."""
        named, unnamed = wanted_of_node(asked)
        fits = self._mask(named, find)
        is_virtual = any(asked.name in virtuals for _, virtuals in self._kinds)
        provider = self._mask(unnamed, find) if is_virtual else fits
        ways = []
        for (types, virtuals), links in zip(self._kinds, self._links, strict=True):
            is_wanted = not asked.virtuals or bool(virtuals & set(asked.virtuals))
            has_types = not asked.direct or types >= set(asked.deptypes)
            chosen = provider if asked.name in virtuals else fits
            ways.append((chosen if is_wanted and has_types else None, links))
        found = []
        for parent, child, kind in self._edges:
            mask, links = ways[kind]
            if mask is not None and mask[child]:
                found.append((parent, links))
        return found

    def _mask(self, terms: tuple[Condition, ...], find: Find) -> Mask:
        mask = Mask(self._count)
        _set(mask, find(query_of(*terms)), 1)
        for name, hash_ in self._absent:
            absent = stub(Dependency(hash_, name))
            mask.append(all(holds(term, absent) for term in terms))
        return mask

    def _above(self, edges: list[tuple[int, bool]]) -> Mask:
        """Mark who has such an edge itself, or below itself on edges to link or to run."""
        mask = Mask(self._count)
        waiting = []
        for parent, links in edges:
            mask[parent] |= 1
            if links:
                waiting.append(parent)
        seen = set(waiting)
        while waiting:
            for parent in self._linking.get(waiting.pop(), ()):
                mask[parent] = 1
                if parent not in seen:
                    seen.add(parent)
                    waiting.append(parent)
        return mask

    def propagated(self, term: Term, find: Find) -> bytes:
        """Mark the specs of which, and of all that is below, nobody has a variant otherwise."""
        name = split_variant(term.pattern)[0]
        has = find(query_of(Term("variants", f"{name}=*")))
        fits = find(query_of(Term("variants", _own(term.pattern))))
        other = Mask(self._count + len(self._absent))
        _set(other, has, 1)
        _set(other, fits, 0)
        edges = [
            (parent, self._links[kind]) for parent, child, kind in self._edges if other[child]
        ]
        above = self._above(edges)
        return bytes(not (mine or below) for mine, below in zip(other, above, strict=False))


def _set(mask: Mask, ids: Ranges, value: int) -> None:
    for start, stop in ids.pairs():
        mask[start:stop] = bytes([value]) * (stop - start)


def _own(pattern: str) -> str:
    """Give the pattern of the variant itself: `+x` for `++x`."""
    if pattern[:2] in ("++", "~~"):
        return pattern[1:]
    return pattern.replace("==", "=", 1)
