"""Find the records that match queries: masks of conditions, joined by AND and OR."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache, reduce
from itertools import chain, compress, repeat
from operator import or_
from typing import NamedTuple, TypeVar

from spackscope.model.catalog.arrays import IdRanges, Span, edges_of, gathered, mask_of, spans_of
from spackscope.model.catalog.edges import Adjacency, Edges
from spackscope.model.catalog.rows import IndexData
from spackscope.model.core.bounded_cache import BoundedCache
from spackscope.model.core.columns import FIELDS
from spackscope.model.core.errors import Cancelled, Unanswerable
from spackscope.model.core.frozen import replace
from spackscope.model.core.records import LANGUAGES, compiler_name, is_compiler
from spackscope.model.core.suggestions import listed
from spackscope.model.core.tasks import ShouldStop, never
from spackscope.model.core.text import clean
from spackscope.model.core.variants import is_propagated, split_variant
from spackscope.model.index.columns import union
from spackscope.model.query.ast import (
    REACHABLE_DEPTYPES,
    Condition,
    Depends,
    Group,
    Query,
    Term,
    compiler_fits,
    exact_term,
    fits_missing,
    node_conditions,
    provides,
    query_of,
)
from spackscope.model.query.matchers import (
    ANY,
    is_glob,
    matcher,
    size_range,
    target_ranges,
    unknown_target,
)

_MAX_NAMES = 6
"""Providers that a sentence names."""

_MAX_VIRTUALS = 100
"""Virtuals whose providers are cached; a real index has some forty."""


class Virtuals:
    """The packages that provide virtuals, and queries with them instead of the virtuals.

    Spack knows the providers from its recipes (`Spec._provides_virtual` in
    lib/spack/spack/spec.py); here they are those of some edge of the index, which `providers_of`
    returns for a virtual.
    """

    def __init__(
        self,
        data: IndexData,
        providers_of: Callable[[str], Collection[str]],
        states_compilers: Callable[[], bool],
    ) -> None:
        self._data = data
        self._providers_of = lru_cache(_MAX_VIRTUALS)(providers_of)
        self._states_compilers = states_compilers

    def providers(self, query: Query) -> Mapping[str, Sequence[str]]:
        """Return the virtuals that a query names as packages, with the names of their providers.

        A name that is also that of a package is not taken for a virtual.
        """
        return self._known(map(_package_name, query.conditions))

    def asked_of_compilers(self, query: Query) -> Iterable[str]:
        """Return the virtuals that a query names after `%` where records name their compiler.

        Spack looks in the recipe of that compiler whether it provides them.
        """
        dependencies = (c for c in query.conditions if isinstance(c, Depends))
        names = self._known(c.name for c in dependencies if c.direct and not is_glob(c.name))
        return names if names and self._states_compilers() else ()

    def _known(self, texts: Iterable[str]) -> Mapping[str, Sequence[str]]:
        names = set(texts) - {""}
        unknown = sorted(names.difference(self._data.texts("package"))) if names else []
        providers = ((name, sorted(self._providers_of(name))) for name in unknown)
        return {name: packages for name, packages in providers if packages}

    def resolved(self, query: Query) -> Query:
        """Return the query with each virtual replaced by the packages that provide it."""
        providers = self.providers(query)
        if not providers:
            return query
        specs = tuple(_resolve(groups, providers) for groups in query.specs)
        return Query(_resolve(query.groups, providers), specs)

    def sentence(self, query: Query) -> str:
        """Return a sentence on the virtuals in a query; empty if it has none."""
        provided = [
            f"{clean(name)} is a virtual package, provided here by {_enumerate(packages)}"
            for name, packages in self.providers(query).items()
        ]
        asked = [
            f"%{clean(name)} asks the recipe of the compiler where a record names that, as before"
            f" Spack 1.0, and no recipes are read. Write ^{clean(name)} for a dependency"
            for name in self.asked_of_compilers(query)
        ]
        return "; ".join([*provided, *asked])


def _package_name(condition: Condition) -> str:
    """Return the name of the package that a condition asks for, or an empty text."""
    if not isinstance(condition, Term) or condition.column != "package":
        return ""
    return "" if is_glob(condition.pattern) else condition.pattern


def _resolve(
    groups: tuple[Group, ...], providers: Mapping[str, Sequence[str]]
) -> tuple[Group, ...]:
    resolved: list[Group] = []
    for group in groups:
        (first, *others) = group
        if not others and first.negated and _package_name(first) in providers:
            names = providers[_package_name(first)]
            resolved += [(Term("package", name, True),) for name in names]
            continue
        alternatives: list[Condition] = []
        for condition in group:
            names = () if condition.negated else providers.get(_package_name(condition), ())
            alternatives += [Term("package", name) for name in names] or [condition]
        resolved.append(tuple(dict.fromkeys(alternatives)))
    return tuple(resolved)


def _enumerate(names: Sequence[str]) -> str:
    shown = [clean(name) for name in names[:_MAX_NAMES]]
    if len(names) > _MAX_NAMES:
        shown.append(f"{len(names) - _MAX_NAMES} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


_CUT = "…/"
"""What a name begins with where the screen has no room for all of it."""

_MAX_LISTED = 4


def with_full_name(term: Term, names: Collection[str]) -> Term:
    """Return a condition on a source with its whole name, if only one name has that end.

    Ends that begin with a part of a path come first. Raises Unanswerable if several sources have
    the same end.

    >>> str(with_full_name(Term("source", "b.json"), ["/a/b.json", "/a/c.json"]))
    'source=/a/b.json'
    """
    end = term.pattern.removeprefix(_CUT)
    if term.column != "source" or not end or is_glob(end) or term.pattern in names:
        return term
    with_end = [name for name in names if name.endswith(end)]
    matching = [name for name in with_end if name.endswith(f"/{end}")] or with_end
    if not matching:
        return term
    if len(matching) > 1:
        shown = sorted(map(clean, matching))
        more = len(shown) - _MAX_LISTED
        texts = [*shown[:_MAX_LISTED], f"{more:,} more"] if more > 0 else shown
        message = f"{len(shown):,} sources end in {clean(end)}: {listed(texts, 'and')}"
        raise Unanswerable(message, term)
    return replace(exact_term("source", matching[0]), negated=term.negated)


def unique_end(name: str, names: Collection[str]) -> str:
    """Return the last parts of a path or an address: as few as no other name ends with.

    >>> unique_end("/a/b/c.json", ["/a/b/c.json", "/a/d/c.json"])
    'b/c.json'
    """
    stem = name.rstrip("/")
    parts, slash = stem.split("/"), name[len(stem) :]
    others = ["/" + other.rstrip("/") for other in names if other != name]
    for first in range(len(parts) - 1, -1, -1):
        end = "/".join(parts[first:])
        if end and not any(other.endswith("/" + end) for other in others):
            return end + slash
    return name


def source_term(name: str, names: Collection[str]) -> Term:
    """Return the shortest condition that only a source of some sources fits."""
    term = exact_term("source", unique_end(name, names))
    return exact_term("source", name) if is_glob(term.pattern) else term


_MIN_DEPENDENTS_SHARE = 100
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
        data: IndexData,
        edges: Edges,
        find: Callable[[Query], IdRanges],
    ) -> None:
        self._data, self._edges = data, edges
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
        compilers = self._data.texts("compiler")
        codes = self._data.column("arch")
        stating: dict[int, array[int]] = {}
        for look_alike, are_listed in enumerate(self._edges.are_listed):
            arch = codes[look_alike]
            if not are_listed or compilers[arch] != "none":
                specs = range(*self._data.span(look_alike))
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
            compiler = self._data.texts("compiler")[arch]
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
        if len(specs) < self._edges.count // _MIN_DEPENDENTS_SHARE:
            return ((spec, spec + 1) for spec in specs)
        return spans_of(mask_of(specs, self._edges.count))

    def providers(self, virtual: str) -> frozenset[str]:
        """Return the names of the packages that some edge uses as provider of a virtual."""
        of_kind = [virtual in kind.virtuals for kind in self._edges.kinds]
        if not any(of_kind):
            return frozenset()
        nodes = self._edges.down.neighbours([(0, self._edges.count)], of_kind)
        codes, names = self._data.column("package"), self._data.texts("package")
        return frozenset(
            names[codes[self._data.look_alike(spec)]] for spec in nodes if spec < self._edges.count
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

    def __init__(self, data: IndexData, edges: Edges) -> None:
        self._data, self._by_host = data, data.by_host
        self._dependencies = DependencyFilter(data, edges, self._find)
        self.virtuals = Virtuals(
            data, self._dependencies.providers, self._dependencies.states_compilers
        )
        self._matches: BoundedCache[Query, IdRanges] = BoundedCache(lambda specs: specs.nbytes)
        self._code_counts: BoundedCache[tuple[Query, str], dict[int, int]] = BoundedCache(
            lambda counts: _ENTRY_SIZE * len(counts)
        )

    def match(self, query: Query, should_stop: ShouldStop) -> IdRanges:
        """Return the ids of the listed records that match.

        Raises Cancelled if `should_stop` returns True, and Unanswerable.
        """
        package = self._data.selected_package(query)
        if package is not None and query.package is not None:
            rest = query.with_package(None)
            if not rest or rest in self._matches:
                # The specs of a package are adjacent.
                return self.match(rest, should_stop).within(*package.span)

        def find() -> IdRanges:
            resolved = self._resolved(query, should_stop)
            self._check_targets(resolved)
            return self._find(resolved, should_stop).within(0, self._data.total)

        return self._matches.get(query, find)

    def count_codes(self, query: Query, storage: str, should_stop: ShouldStop) -> dict[int, int]:
        """Count the matching records that are listed by their codes of a dictionary.

        Raises Cancelled if `should_stop` returns True, and Unanswerable.
        """

        def count() -> dict[int, int]:
            return self._data.counts(storage, self.match(query, should_stop))

        # While a word is typed, the conditions under which its values are counted stay the same.
        return self._code_counts.get((query, storage), count)

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
                        is_known = name in ("", *self._data.texts("target"))
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
        ids.update(*map(self._data.with_prefix, prefixes))
        if not ids:
            return specs
        with_prefix = IdRanges.of(sorted(ids))
        matching = self._matching(query, should_stop, with_prefix, has_prefix=True)
        changes = [(id_, id_ in matching) for id_ in with_prefix]
        return specs.changed(change for change in changes if change[1] != (change[0] in specs))

    def _is_of_specs(self, condition: Condition) -> bool:
        """Check whether specs that look alike may differ in a condition, beside its prefix."""
        if isinstance(condition, Depends):
            return self._data.lists_dependencies
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
            self._data,
            self._dependencies,
            among,
            has_prefix,
            should_stop,
        )
        mask = masks.all_of(query)
        if among is None:
            first = self._data.first
            return IdRanges(edges=[first[edge] for edge in edges_of(mask)])
        if len(among) < self._data.spec_count // _MIN_MASK_SHARE:
            return IdRanges.of(compress(among, mask))
        of_all, done = bytearray(self._data.spec_count), 0
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
        data: IndexData,
        dependencies: DependencyFilter,
        among: IdRanges | None,
        has_prefix: bool,
        should_stop: ShouldStop,
    ) -> None:
        self._data, self._dependencies = data, dependencies
        self._specs, self._has_prefix = among, has_prefix
        self._should_stop = should_stop
        self._count = data.look_alike_count if among is None else len(among)
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
        numbers = chain.from_iterable(range(*span) for span in self._data.spans(self._specs))
        sizes = self._data.group_sizes(self._specs)
        return array("I", chain.from_iterable(map(repeat, numbers, sizes)))

    def _of_specs(self, mask: Sequence[_T]) -> Iterator[_T]:
        """Return the items of some specs from a sequence for all."""
        assert self._specs is not None
        return chain.from_iterable(mask[start:stop] for start, stop in self._specs.pairs())

    def _depends(self, condition: Depends) -> bytes:
        """Return the mask of a condition on dependencies; of pages only those on the compiler."""
        if self._data.lists_dependencies:
            return bytes(self._of_specs(self._dependencies.dependents(condition)))
        if not condition.direct:
            raise Unanswerable(
                f"{condition} asks for dependencies, and pages list none", condition
            )
        compiler_fits(condition, "")
        compilers = self._data.texts("compiler")
        known_names = {"", *(compiler.partition("@")[0] for compiler in compilers)}
        if compiler_name(condition.name) not in known_names and not is_compiler(condition.name):
            raise Unanswerable(
                f"{condition} asks for a direct dependency, and of those pages list the compiler"
                " only",
                condition,
            )
        flags = bytes(compiler_fits(condition, compiler) for compiler in compilers)
        return self._of_look_alikes(gathered(flags, self._data.column("arch")))

    def _propagated(self, term: Term) -> bytes:
        if not self._data.lists_dependencies:
            raise Unanswerable(
                f"{term} asks for variants of dependencies, and pages list none", term
            )
        return bytes(self._of_specs(self._dependencies.propagated(term)))

    def _term(self, term: Term) -> bytes:
        prefix = _hash_prefix(term)
        if term.column == ANY:
            mask = self._of_look_alikes(self._data.mask_of_any(term))
            return union(mask, self._with_prefix(prefix)) if self._has_prefix and prefix else mask
        column = FIELDS[term.column]
        if column.name == "hash":
            if not prefix:
                fits = matcher("hash", term.pattern)
                return bytes(map(fits, self._data.hashes_of(list(self._specs or ()))))
            return self._with_prefix(prefix) if self._has_prefix else bytes(self._count)
        if column.name == "size":
            low, high = size_range(term.pattern)
            return bytes(low <= size <= high for size in self._of_specs(self._data.sizes))
        if column.is_by_host:
            return bytes(self._of_specs(self._data.by_host.mask(term)))
        if column.name == "flags" and not self._data.lists_dependencies:
            raise Unanswerable(f"{term} asks for {column.label}, and pages list none", term)
        if column.name == "source":
            term = with_full_name(term, self._data.source_names)
        return self._of_look_alikes(self._data.mask(column.name, term))

    def _with_prefix(self, prefix: str) -> bytes:
        """Return the mask of the specs whose hash has a prefix."""
        ids = set(self._data.with_prefix(prefix))
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
