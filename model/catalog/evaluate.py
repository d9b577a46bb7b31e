"""Find the records that match queries: masks of conditions, joined by AND and OR."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, reduce
from itertools import chain, compress, repeat
from operator import or_
from typing import TypeVar

from spackscope.model.catalog.arrays import ColumnArrays, edges_of, gathered
from spackscope.model.catalog.by_host import ByHost
from spackscope.model.catalog.dependency_filter import DependencyFilter
from spackscope.model.catalog.dependency_graph import EdgeArrays
from spackscope.model.catalog.dictionaries import Dictionaries
from spackscope.model.catalog.id_ranges import IdRanges
from spackscope.model.catalog.packages import Packages
from spackscope.model.catalog.source_names import with_full_name
from spackscope.model.catalog.virtuals import Virtuals
from spackscope.model.core.bounded_cache import BoundedCache
from spackscope.model.core.columns import FIELDS, Value
from spackscope.model.core.errors import Cancelled, Unanswerable
from spackscope.model.core.records import compiler_name, is_compiler
from spackscope.model.core.tasks import ShouldStop, never
from spackscope.model.core.variants import is_propagated
from spackscope.model.index.columns import union
from spackscope.model.query.ast import Condition, Depends, Group, Query, Term, compiler_fits
from spackscope.model.query.matchers import (
    ANY,
    is_glob,
    matcher,
    size_range,
    target_ranges,
    unknown_target,
)

_BEFORE_TARGET = frozenset(("package", "hash", "namespace", "version", "platform", "os"))
"""What `Spec._satisfies` of Spack compares before the target."""

_ENTRY_SIZE = 100
"""Approximate bytes of an entry of a dict of numbers."""

_MIN_MASK_SHARE = 50
"""A mask of all records is faster than their ids if at least one of so many is among them."""

_T = TypeVar("_T")


class Evaluation:
    """Evaluates queries on one index; answers are cached.

    `virtuals` resolves the virtuals in queries.
    """

    def __init__(
        self,
        arrays: ColumnArrays,
        edges: EdgeArrays,
        dictionaries: Dictionaries,
        packages: Packages,
        by_host: ByHost,
    ) -> None:
        self._arrays, self._dictionaries = arrays, dictionaries
        self._packages, self._by_host = packages, by_host
        self._dependencies = DependencyFilter(arrays, edges, dictionaries, self._find)
        self.virtuals = Virtuals(
            dictionaries, self._dependencies.providers, self._dependencies.states_compilers
        )
        self._matches: BoundedCache[Query, IdRanges] = BoundedCache(lambda specs: specs.nbytes)
        self._code_counts: BoundedCache[tuple[Query, str], dict[int, int]] = BoundedCache(
            lambda counts: _ENTRY_SIZE * len(counts)
        )

    def match(self, query: Query, should_stop: ShouldStop) -> IdRanges:
        """Return the ids of the listed records that match.

        Raises Cancelled if `should_stop` returns True, and Unanswerable.
        """
        package = self._packages.selected(query)
        if package is not None and query.package is not None:
            rest = query.with_package(None)
            if not rest or rest in self._matches:
                # The specs of a package are adjacent.
                return self.match(rest, should_stop).within(*package.span)

        def find() -> IdRanges:
            resolved = self._resolved(query, should_stop)
            self._check_targets(resolved)
            return self._find(resolved, should_stop).within(0, self._packages.total)

        return self._matches.get(query, find)

    def count_codes(self, query: Query, storage: str, should_stop: ShouldStop) -> dict[int, int]:
        """Count the matching records that are listed by their codes of a dictionary.

        Raises Cancelled if `should_stop` returns True, and Unanswerable.
        """

        def count() -> dict[int, int]:
            return self._arrays.counts(storage, self.match(query, should_stop))

        # While a word is typed, the conditions under which its values are counted stay the same.
        return self._code_counts.get((query, storage), count)

    def count_by_host(self, query: Query, column: str, should_stop: ShouldStop) -> Counter[Value]:
        """Count the matching records that are listed by their values of a column by host.

        Raises Cancelled if `should_stop` returns True, and Unanswerable.
        """
        return self._by_host.counts(column, self.match(query, should_stop), should_stop)

    def _resolved(self, query: Query, should_stop: ShouldStop) -> Query:
        """Return a query without virtuals and parts of the host, once the rest is computed."""
        if should_stop():
            raise Cancelled
        self._by_host.prepare(query, should_stop)
        return self._by_host.resolved(self.virtuals.resolved(query))

    def _check_targets(self, query: Query) -> None:
        """Check that the ends of ranges of targets are known. Raises Unanswerable.

        As in Spack only where the target of a record is compared with them.
        """
        for spec in query.specs or ((),):
            groups = (*query.groups, *spec)
            before = tuple(g for g in groups if all(c.column in _BEFORE_TARGET for c in g))
            for term in (c for g in groups for c in g if isinstance(c, Term)):
                for low, high in target_ranges(term.pattern) if term.column == "target" else ():
                    above_low = (*before, (Term("target", f"{low}:"),))
                    for name, compared in ((low, before), (high, above_low)):
                        is_known = name in ("", *self._dictionaries.texts("target"))
                        sentence = "" if is_known else unknown_target(name)
                        if sentence and self._find(Query(compared)):
                            raise Unanswerable(sentence, term)

    def _find(self, query: Query, should_stop: ShouldStop = never) -> IdRanges:
        """Return the ids of all records that match, dependency-only specs included.

        Look-alikes are matched first, as if no hash had a prefix that is asked for, and then the
        specs whose hash has one. So a bare word, which may be the prefix of a hash, needs no look
        at every spec. Raises Unanswerable.
        """
        conditions = list(query.conditions)
        if any(map(self._is_of_specs, conditions)):
            # What look-alikes have in common narrows the specs that are looked at.
            shared = tuple(g for g in query.groups if not any(map(self._is_of_specs, g)))
            specs = self._matching(Query(shared), should_stop)
            own = tuple(g for g in query.groups if g not in shared)
            specs = self._matching(Query(own, query.specs), should_stop, specs)
        else:
            specs = self._matching(query, should_stop)
        prefixes = {prefix for condition in conditions if (prefix := _hash_prefix(condition))}
        ids: set[int] = set()
        ids.update(*map(self._dictionaries.with_prefix, prefixes))
        if not ids:
            return specs
        with_prefix = IdRanges.of(sorted(ids))
        matching = self._matching(query, should_stop, with_prefix, has_prefix=True)
        changes = [(id_, id_ in matching) for id_ in with_prefix]
        return specs.changed(change for change in changes if change[1] != (change[0] in specs))

    def _is_of_specs(self, condition: Condition) -> bool:
        """Check whether specs that look alike may differ in a condition, beside its prefix."""
        if isinstance(condition, Depends):
            return self._dictionaries.lists_dependencies
        if condition.column == "hash":
            return is_glob(condition.pattern)
        if _is_propagated(condition) or condition.column == "size":
            return True
        return condition.column != ANY and FIELDS[condition.column].is_by_host

    def _matching(
        self,
        query: Query,
        should_stop: ShouldStop,
        among: IdRanges | None = None,
        *,
        has_prefix: bool = False,
    ) -> IdRanges:
        """Return the ids of the records that match, of all or only of some.

        No hash has a prefix that is asked for, unless `has_prefix`.
        """
        masks = _Masks(
            self._arrays,
            self._dictionaries,
            self._dependencies,
            self._by_host,
            among,
            has_prefix,
            should_stop,
        )
        mask = masks.all_of(query)
        if among is None:
            first = self._arrays.first
            return IdRanges(edges=[first[edge] for edge in edges_of(mask)])
        if len(among) < self._dictionaries.spec_count // _MIN_MASK_SHARE:
            return IdRanges.of(compress(among, mask))
        of_all, done = bytearray(self._dictionaries.spec_count), 0
        for start, stop in among.pairs():
            of_all[start:stop] = mask[done : done + stop - start]
            done += stop - start
        return IdRanges(edges=edges_of(of_all))


class _Masks:
    """Masks of conditions: of all look-alikes, or with `among` of some specs.

    A mask has a byte for each: 1 if it matches. While they are joined they are one number, the
    lowest byte for the first: & and | of long numbers are quick.
    """

    def __init__(
        self,
        arrays: ColumnArrays,
        dictionaries: Dictionaries,
        dependencies: DependencyFilter,
        by_host: ByHost,
        among: IdRanges | None,
        has_prefix: bool,
        should_stop: ShouldStop,
    ) -> None:
        self._arrays, self._dictionaries = arrays, dictionaries
        self._dependencies, self._by_host = dependencies, by_host
        self._specs, self._has_prefix = among, has_prefix
        self._should_stop = should_stop
        self._count = arrays.count if among is None else len(among)
        self._everything = int.from_bytes(b"\1" * self._count, "little")

    def all_of(self, query: Query) -> bytes:
        """Return the mask of a query. Raises Unanswerable and Cancelled."""
        mask = self._all_groups(query.groups, self._everything)
        if query.specs:
            of_specs = (self._all_groups(groups, self._everything) for groups in query.specs)
            mask &= reduce(or_, of_specs)
        return mask.to_bytes(self._count, "little")

    def _all_groups(self, groups: Iterable[Group], mask: int) -> int:
        for group in groups:
            # Hundreds of pasted words would each be looked for in every column, to no end.
            if mask or any(condition.column != ANY for condition in group):
                mask &= reduce(or_, map(self._condition, group))
        return mask

    def _condition(self, condition: Condition) -> int:
        if self._should_stop():
            raise Cancelled
        if isinstance(condition, Depends):
            mask = self._depends(condition)
        elif _is_propagated(condition):
            mask = self._propagated(condition)
        else:
            mask = self._term(condition)
        number = int.from_bytes(mask, "little")
        return self._everything ^ number if condition.negated else number

    def _of_look_alikes(self, mask: bytes) -> bytes:
        return mask if self._specs is None else bytes(map(mask.__getitem__, self._look_alikes))

    @cached_property
    def _look_alikes(self) -> array[int]:
        """The look-alike of each of the specs."""
        assert self._specs is not None
        numbers = chain.from_iterable(range(*span) for span in self._arrays.spans(self._specs))
        sizes = self._arrays.sizes(self._specs)
        return array("I", chain.from_iterable(map(repeat, numbers, sizes)))

    def _of_specs(self, mask: Sequence[_T]) -> Iterator[_T]:
        """Return the items of some specs from a sequence for all."""
        assert self._specs is not None
        return chain.from_iterable(mask[start:stop] for start, stop in self._specs.pairs())

    def _depends(self, condition: Depends) -> bytes:
        """Return the mask of a condition on dependencies; of pages only those on the compiler."""
        if self._dictionaries.lists_dependencies:
            return bytes(self._of_specs(self._dependencies.dependents(condition)))
        if not condition.direct:
            raise Unanswerable(
                f"{condition} asks for dependencies, and pages list none", condition
            )
        compiler_fits(condition, "")
        compilers = self._dictionaries.texts("compiler")
        known_names = {"", *(compiler.partition("@")[0] for compiler in compilers)}
        if compiler_name(condition.name) not in known_names and not is_compiler(condition.name):
            raise Unanswerable(
                f"{condition} asks for a direct dependency, and of those pages list the compiler"
                " only",
                condition,
            )
        flags = bytes(compiler_fits(condition, compiler) for compiler in compilers)
        return self._of_look_alikes(gathered(flags, self._arrays.column("arch")))

    def _propagated(self, term: Term) -> bytes:
        if not self._dictionaries.lists_dependencies:
            raise Unanswerable(
                f"{term} asks for variants of dependencies, and pages list none", term
            )
        return bytes(self._of_specs(self._dependencies.propagated(term)))

    def _term(self, term: Term) -> bytes:
        prefix = _hash_prefix(term)
        if term.column == ANY:
            mask = self._of_look_alikes(self._dictionaries.mask_of_any(term))
            return union(mask, self._with_prefix(prefix)) if self._has_prefix and prefix else mask
        column = FIELDS[term.column]
        if column.name == "hash":
            if not prefix:
                fits = matcher("hash", term.pattern)
                return bytes(map(fits, self._dictionaries.hashes_of(list(self._specs or ()))))
            return self._with_prefix(prefix) if self._has_prefix else bytes(self._count)
        if column.name == "size":
            low, high = size_range(term.pattern)
            return bytes(low <= size <= high for size in self._of_specs(self._dictionaries.sizes))
        if column.is_by_host:
            return bytes(self._of_specs(self._by_host.mask(term)))
        if column.name == "flags" and not self._dictionaries.lists_dependencies:
            raise Unanswerable(f"{term} asks for {column.label}, and pages list none", term)
        if column.name == "source":
            term = with_full_name(term, self._dictionaries.source_names)
        return self._of_look_alikes(self._dictionaries.mask(column.name, term))

    def _with_prefix(self, prefix: str) -> bytes:
        """Return the mask of the specs whose hash has a prefix."""
        ids = set(self._dictionaries.with_prefix(prefix))
        return bytes(map(ids.__contains__, self._specs or ()))


def _is_propagated(term: Term) -> bool:
    return term.column == "variants" and is_propagated(term.pattern)


def _hash_prefix(condition: Condition) -> str:
    """Return the prefix of a hash that a condition asks for, or an empty text."""
    if not isinstance(condition, Term) or is_glob(condition.pattern):
        return ""
    if condition.column == ANY:
        return condition.pattern.lower()
    return condition.pattern.removeprefix("/") if condition.column == "hash" else ""
