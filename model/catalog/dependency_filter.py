"""Find the specs whose dependencies are as asked, over the edges of a whole index."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cached_property

from spackscope.model.catalog.adjacency import Adjacency, EdgeArrays, Span, mask_of, spans_of
from spackscope.model.catalog.column_arrays import ColumnArrays
from spackscope.model.catalog.dictionaries import Dictionaries
from spackscope.model.catalog.id_ranges import IdRanges
from spackscope.model.core.compilers import LANGUAGES
from spackscope.model.core.records import Dependency
from spackscope.model.core.variants import split_variant
from spackscope.model.index.connection import Database
from spackscope.model.query.ast import Query, query_of
from spackscope.model.query.conditions import Condition, Depends, Term
from spackscope.model.query.dependency_rules import (
    REACHABLE_DEPTYPES,
    compiler_fits,
    fits_missing,
    node_conditions,
    provides,
)
from spackscope.model.query.matchers import ANY

Find = Callable[[Query], IdRanges]
"""Finds the records that fulfil a query, those that are only dependencies among them."""

_SPECS_A_MASK_IS_WORTH = 100

Mask = bytearray
"""A byte for each record: 1 where it fits."""


class DependencyFilter:
    """Ask the edges of an index; all masks go by the ids of records.

    The rules are those of `query.dependency_rules`, and of tests/evaluator.py for one record.
    """

    def __init__(
        self,
        database: Database,
        columns: ColumnArrays,
        edges: EdgeArrays,
        dictionaries: Dictionaries,
    ) -> None:
        self._database = database
        self._columns = columns
        self._dictionaries = dictionaries
        self._edges = edges

    @cached_property
    def _links(self) -> list[bool]:
        """Tell of each kind of edge whether it is one to link or to run."""
        return [bool(types & {"link", "run"}) for types, _ in self._edges.kinds]

    @cached_property
    def _linking(self) -> Adjacency:
        """Hold for each dependency the specs that link to it or run it."""
        return self._edges.up.only(self._links)

    @cached_property
    def _stating(self) -> list[tuple[int, list[int]]]:
        """Hold the specs whose compiler is stated, by the code of their architecture.

        Of such a spec `%` asks for nothing else.
        """
        languages = [bool(virtuals & set(LANGUAGES)) for _, virtuals in self._edges.kinds]
        everything = [(0, self._edges.count + len(self._edges.absent))]
        others = self._edges.up.along(everything, languages)
        compilers = self._dictionaries.texts("compiler")
        codes = self._columns.column("arch")
        stating: dict[int, list[int]] = {}
        for look_alike, lists in enumerate(self._listing):
            arch = codes[look_alike]
            if not lists or compilers[arch] != "none":
                specs = range(*self._columns.specs(look_alike))
                stating.setdefault(arch, []).extend(s for s in specs if s not in others)
        return [(arch, specs) for arch, specs in stating.items() if specs]

    @cached_property
    def _listing(self) -> list[bool]:
        """Tell of each look-alike whether its document lists dependencies."""
        rows = self._database.execute("SELECT id, dependencies FROM document")
        lists = {document: bool(dependencies) for document, dependencies in rows}
        return [lists[document] for document in self._columns.column("document")]

    def dependents(self, asked: Depends, find: Find) -> bytes:
        """Mark the specs that fulfil a condition on dependencies, negation left aside."""
        if not asked.direct:
            return bytes(self._in_reach(asked, find))
        linked, others = self._fitting(asked, find)
        mask = mask_of(linked | others, self._edges.count)
        for arch, specs in self._stating:
            compiler = self._dictionaries.texts("compiler")[arch]
            fits = compiler_fits(asked, compiler, listed=True)
            for spec in specs:
                mask[spec] = fits
        return bytes(mask)

    def _in_reach(self, asked: Depends, find: Find) -> Mask:
        """Mark the specs that fulfil a condition written with `^`.

        Of a named dependency each virtual may be provided on another edge to it.
        """
        apart = [asked]
        if asked.name and asked.virtuals:
            bare = tuple(t for t in asked.terms if t.column == "package")
            one_each = (replace(asked, terms=bare, virtuals=(v,)) for v in asked.virtuals)
            apart = [replace(asked, virtuals=()), *one_each]
        masks = []
        for part in apart:
            linked, others = self._fitting(part, find)
            above = self._above(linked, self._linking)
            masks.append(mask_of(others | above, self._edges.count))
        return Mask(map(min, *masks)) if len(masks) > 1 else masks[0]

    def _fitting(self, asked: Depends, find: Find) -> tuple[set[int], set[int]]:
        """Give the specs with an edge as asked: those where it is to link or to run, and others.

        A spec with edges of both sorts is among both.
        """
        named, unnamed = node_conditions(asked)
        is_name = [asked.name in virtuals for _, virtuals in self._edges.kinds]
        wanted = [
            provides(asked, virtuals)
            and (
                types >= set(asked.deptypes) if asked.direct else bool(types & REACHABLE_DEPTYPES)
            )
            for types, virtuals in self._edges.kinds
        ]
        linked: set[int] = set()
        others: set[int] = set()
        for terms, by_virtual in ((named, False), (unnamed, True)):
            chosen = [w and n == by_virtual for w, n in zip(wanted, is_name, strict=True)]
            if any(chosen):
                spans = self._spans(terms, find)
                for found, to_link in ((linked, True), (others, False)):
                    ways = zip(chosen, self._links, strict=True)
                    kinds = [is_chosen and links == to_link for is_chosen, links in ways]
                    found |= self._edges.up.along(spans, kinds)
        return linked, others

    def _spans(self, terms: tuple[Condition, ...], find: Find) -> list[Span]:
        """Give the records, and behind them what is absent, of which all terms hold."""
        spans = list(find(query_of(*terms)).pairs())
        by_hash = any(term.column in ("hash", ANY) for term in terms)
        known: dict[tuple[str, str], bool] = {}
        for number, (name, hash_) in enumerate(self._edges.absent, self._edges.count):
            key = name, hash_ * by_hash
            if key not in known:
                missing = Dependency(hash_, name)
                known[key] = all(fits_missing(term, missing) for term in terms)
            if known[key]:
                spans.append((number, number + 1))
        return spans

    def _above(self, specs: set[int], up: Adjacency) -> set[int]:
        """Return the specs, and all that have one of them below them on some edges."""
        found, newest = set(specs), specs
        while newest:
            newest = up.along(self._grouped(newest)) - found
            found |= newest
        return found

    def _grouped(self, specs: set[int]) -> Iterable[Span]:
        """Return the spans of some specs; look-alikes, which are neighbours, share one.

        A mask of all records costs more than a few spans, above all once a level of a deep tree.
        """
        if len(specs) < self._edges.count // _SPECS_A_MASK_IS_WORTH:
            return ((spec, spec + 1) for spec in specs)
        return spans_of(mask_of(specs, self._edges.count))

    def providers(self, virtual: str) -> frozenset[str]:
        """Return the names of the packages that some edge uses as provider of a virtual."""
        wanted = [virtual in virtuals for _, virtuals in self._edges.kinds]
        if not any(wanted):
            return frozenset()
        everything = [(0, self._edges.count)]
        specs = (n for n in self._edges.down.along(everything, wanted) if n < self._edges.count)
        codes = self._columns.column("package")
        names = self._dictionaries.texts("package")
        return frozenset(names[codes[self._columns.look_alike(spec)]] for spec in specs)

    def propagated(self, term: Term, find: Find) -> bytes:
        """Mark the specs of which, and of all that is below, nobody has a variant otherwise.

        All edges count, those to the tools that tools were built with among them.
        """
        name = split_variant(term.pattern)[0]
        has = find(query_of(Term("variants", f"{name}=*")))
        fits = find(query_of(Term("variants", _own(term.pattern))))
        other = Mask(self._edges.count)
        _set(other, has, 1)
        _set(other, fits, 0)
        start = self._edges.up.along(spans_of(other))
        above = mask_of(self._above(start, self._edges.up), self._edges.count)
        return bytes(not (mine or below) for mine, below in zip(other, above, strict=True))


def _set(mask: Mask, ids: IdRanges, value: int) -> None:
    for start, stop in ids.pairs():
        mask[start:stop] = bytes([value]) * (stop - start)


def _own(pattern: str) -> str:
    """Give the pattern of the variant itself: `+x` for `++x`."""
    if pattern[:2] in ("++", "~~"):
        return pattern[1:]
    return pattern.replace("==", "=", 1)
