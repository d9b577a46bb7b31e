"""Find the specs whose dependencies match, over the edges of a whole index."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import NamedTuple

from spackscope.model.catalog.arrays import ColumnArrays, Span, mask_of, spans_of
from spackscope.model.catalog.dependency_graph import Adjacency, EdgeArrays
from spackscope.model.catalog.dictionaries import Dictionaries
from spackscope.model.catalog.id_ranges import IdRanges
from spackscope.model.core.bounded_cache import BoundedCache
from spackscope.model.core.frozen import replace
from spackscope.model.core.records import LANGUAGES
from spackscope.model.core.variants import split_variant
from spackscope.model.query.ast import (
    REACHABLE_DEPTYPES,
    Condition,
    Depends,
    Query,
    Term,
    compiler_fits,
    fits_missing,
    node_conditions,
    provides,
    query_of,
)
from spackscope.model.query.matchers import ANY

_MIN_MASK_SHARE = 100
"""A mask of all records is faster than spans if at least one of so many records is in it."""

Mask = bytearray
"""A byte for each record by its id: 1 if it matches."""


class EdgeOwners(NamedTuple):
    """The dependents on edges that match: on edges to link or to run, and on others.

    A dependent with edges of both sorts is in both sets.
    """

    by_link: set[int]
    by_others: set[int]


class DependencyFilter:
    """Match conditions on dependencies against all records at once; masks are by their ids.

    The rules are those of `query.conditions`. `find` returns the records that match a query,
    dependency-only specs included.
    """

    def __init__(
        self,
        arrays: ColumnArrays,
        edges: EdgeArrays,
        dictionaries: Dictionaries,
        find: Callable[[Query], IdRanges],
    ) -> None:
        self._arrays, self._edges, self._dictionaries = arrays, edges, dictionaries
        self._find = find
        self._dependents: BoundedCache[Depends, bytes] = BoundedCache(len)

    def dependents(self, condition: Depends) -> bytes:
        """Mark the specs that match a condition on dependencies, regardless of negation."""
        match = self._direct_dependents if condition.direct else self._transitive_dependents
        return self._dependents.get(condition, lambda: bytes(match(condition)))

    @cached_property
    def _is_link(self) -> list[bool]:
        """Whether each kind of edge is one to link or to run."""
        return [not {"link", "run"}.isdisjoint(kind.deptypes) for kind in self._edges.kinds]

    @cached_property
    def _link_dependents(self) -> Adjacency:
        """The edges from dependencies to the specs that link to them or run them."""
        return self._edges.up.restricted(self._is_link)

    @cached_property
    def _stating_compiler(self) -> list[tuple[int, array[int]]]:
        """The specs with a stated compiler, by the codes of their architectures.

        For such a spec `%` asks for nothing but this compiler.
        """
        is_language = [not set(LANGUAGES).isdisjoint(kind.virtuals) for kind in self._edges.kinds]
        all_nodes = [(0, self._edges.count + len(self._edges.absent))]
        compiled = self._edges.up.neighbours(all_nodes, is_language)
        compilers = self._dictionaries.texts("compiler")
        codes = self._arrays.column("arch")
        stating: dict[int, array[int]] = {}
        for look_alike, are_listed in enumerate(self._edges.are_listed):
            arch = codes[look_alike]
            if not are_listed or compilers[arch] != "none":
                specs = range(*self._arrays.specs(look_alike))
                stating.setdefault(arch, array("I")).extend(s for s in specs if s not in compiled)
        return [(arch, specs) for arch, specs in stating.items() if specs]

    def states_compilers(self) -> bool:
        """Check whether some record states its compiler, and does not depend on it."""
        return bool(self._stating_compiler)

    def _direct_dependents(self, condition: Depends) -> Mask:
        """Mark the specs that match a condition written with `%`."""
        owners = self._owners(condition)
        mask = mask_of(owners.by_link | owners.by_others, self._edges.count)
        for arch, specs in self._stating_compiler:
            compiler = self._dictionaries.texts("compiler")[arch]
            is_match = compiler_fits(condition, compiler, listed=True)
            for spec in specs:
                mask[spec] = is_match
        return mask

    def _transitive_dependents(self, condition: Depends) -> Mask:
        """Mark the specs that match a condition written with `^`.

        Each virtual of a named dependency may be provided on another edge to it.
        """
        parts = [condition]
        if condition.name and condition.virtuals:
            names = tuple(t for t in condition.terms if t.column == "package")
            virtuals = (replace(condition, terms=names, virtuals=(v,)) for v in condition.virtuals)
            parts = [replace(condition, virtuals=()), *virtuals]
        masks = []
        for part in parts:
            owners = self._owners(part)
            above = self._with_dependents(owners.by_link, self._link_dependents)
            masks.append(mask_of(owners.by_others | above, self._edges.count))
        return Mask(map(min, *masks)) if len(masks) > 1 else masks[0]

    def _owners(self, condition: Depends) -> EdgeOwners:
        """Return the specs with an edge that matches."""
        by_name, by_virtual = node_conditions(condition)
        is_virtual = [condition.name in kind.virtuals for kind in self._edges.kinds]
        matches = [
            provides(condition, kind.virtuals)
            and (
                set(kind.deptypes).issuperset(condition.deptypes)
                if condition.direct
                else not REACHABLE_DEPTYPES.isdisjoint(kind.deptypes)
            )
            for kind in self._edges.kinds
        ]
        owners = EdgeOwners(set(), set())
        for terms, names_virtual in ((by_name, False), (by_virtual, True)):
            kinds = [m and v == names_virtual for m, v in zip(matches, is_virtual, strict=True)]
            if any(kinds):
                spans = self._spans(terms)
                for ids, is_link in ((owners.by_link, True), (owners.by_others, False)):
                    pairs = zip(kinds, self._is_link, strict=True)
                    of_kind = [is_match and link == is_link for is_match, link in pairs]
                    ids |= self._edges.up.neighbours(spans, of_kind)
        return owners

    def _spans(self, terms: tuple[Condition, ...]) -> list[Span]:
        """Return the records and the absent dependencies that match all terms."""
        spans = list(self._find(query_of(*terms)).pairs())
        by_hash = any(term.column in ("hash", ANY) for term in terms)
        matches: dict[tuple[str, str], bool] = {}
        for id_, absent in enumerate(self._edges.absent, self._edges.count):
            key = absent.name, absent.hash * by_hash
            if key not in matches:
                matches[key] = all(fits_missing(term, absent) for term in terms)
            if matches[key]:
                spans.append((id_, id_ + 1))
        return spans

    def _with_dependents(self, specs: set[int], up: Adjacency) -> set[int]:
        """Return specs and all their transitive dependents on some edges."""
        visited, newest = set(specs), specs
        while newest:
            newest = up.neighbours(self._spans_of(newest)) - visited
            visited |= newest
        return visited

    def _spans_of(self, specs: set[int]) -> Iterable[Span]:
        """Return the spans of specs; look-alikes, which are adjacent, share one.

        A mask of all records costs more than a few spans, above all once a level of a deep tree.
        """
        if len(specs) < self._edges.count // _MIN_MASK_SHARE:
            return ((spec, spec + 1) for spec in specs)
        return spans_of(mask_of(specs, self._edges.count))

    def providers(self, virtual: str) -> frozenset[str]:
        """Return the names of the packages that some edge uses as provider of a virtual."""
        of_kind = [virtual in kind.virtuals for kind in self._edges.kinds]
        if not any(of_kind):
            return frozenset()
        nodes = self._edges.down.neighbours([(0, self._edges.count)], of_kind)
        codes, names = self._arrays.column("package"), self._dictionaries.texts("package")
        return frozenset(
            names[codes[self._arrays.look_alike(spec)]]
            for spec in nodes
            if spec < self._edges.count
        )

    def propagated(self, term: Term) -> bytes:
        """Mark the specs that have no other value of a variant, nor has any dependency.

        All edges count, also those to the tools that tools were built with.
        """
        name = split_variant(term.pattern)[0]
        other = Mask(self._edges.count)
        _set(other, self._find(query_of(Term("variants", f"{name}=*"))), 1)
        _set(other, self._find(query_of(Term("variants", _own_pattern(term.pattern)))), 0)
        dependents = self._edges.up.neighbours(spans_of(other))
        above = mask_of(self._with_dependents(dependents, self._edges.up), self._edges.count)
        return bytes(not (itself or below) for itself, below in zip(other, above, strict=True))


def _set(mask: Mask, ids: IdRanges, value: int) -> None:
    for start, stop in ids.pairs():
        mask[start:stop] = bytes([value]) * (stop - start)


def _own_pattern(pattern: str) -> str:
    """Return the pattern of the variant itself: `+x` for `++x`."""
    if pattern[:2] in ("++", "~~"):
        return pattern[1:]
    return pattern.replace("==", "=", 1)
