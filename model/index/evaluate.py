"""Find the records that match queries: masks of conditions, joined by AND and OR."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache, partial, reduce
from itertools import chain, compress, count, islice, pairwise, product, repeat
from operator import and_, ne, not_, or_, sub
from typing import NamedTuple, cast

from spackscope.model.core.columns import FIELDS
from spackscope.model.core.errors import Unanswerable
from spackscope.model.core.frozen import replace
from spackscope.model.core.records import (
    LANGUAGES,
    NO_VIRTUALS,
    compiler_name,
    is_compiler,
    names_compiler,
    split_variant,
)
from spackscope.model.core.suggestions import enumerated
from spackscope.model.core.tasks import BoundedCache, check_cancelled
from spackscope.model.core.text import clean, cut_list
from spackscope.model.core.versions import VersionKey, find_satisfying, version_key
from spackscope.model.index.edges import Edges
from spackscope.model.index.index_file import Span, flags_of, mask_of, spans_of, union
from spackscope.model.index.rows import IndexData
from spackscope.model.query.ast import (
    REACHABLE_DEPTYPES,
    TELLS_VIRTUALS,
    Condition,
    Depends,
    Group,
    Query,
    Term,
    asks_for_compiler,
    asks_for_propagated,
    compiler_fits,
    exact_term,
    fits_missing,
    negated,
    node_conditions,
    provides,
    query_of,
    with_versions_of,
)
from spackscope.model.query.matchers import ANY, is_glob, item_test, target_ranges, unknown_target


class Matches(Collection[int]):
    """The specs that match a query; an immutable collection of their ids, ascending.

    `mask` has a byte for each of a span of look-alikes, from number `start` on: 1 if specs of it
    match. The span is the whole index, or a package. If only some specs of these look-alikes
    match, `of_specs` is a mask of specs, from the first spec of look-alike `start` on.
    """

    def __init__(
        self, data: IndexData, start: int, mask: bytes, of_specs: bytes | None = None
    ) -> None:
        self._data, self.start, self.mask, self.of_specs = data, start, mask, of_specs
        self._first = data.first[start]

    @classmethod
    def of_specs_in(cls, data: IndexData, of_specs: bytes) -> Matches:
        """Return the specs in a mask of all specs."""
        mask = mask_of(compress(data.look_alikes, of_specs), len(data.first) - 1)
        return cls(data, 0, bytes(mask), of_specs)

    def is_same(self, other: Matches) -> bool:
        """Check whether these are the same specs in the same span."""
        its = self.start, self.mask, self.of_specs
        return its == (other.start, other.mask, other.of_specs)

    def within(self, first: int, end: int) -> Matches:
        """Return the matches with ids from `first` to less than `end`; both begin a look-alike."""
        firsts, last = self._data.first, self.start + len(self.mask)
        start, stop = (bisect_left(firsts, id_, self.start, last) for id_ in (first, end))
        mask = self.mask[start - self.start : stop - self.start]
        if self.of_specs is None:
            return Matches(self._data, start, mask)
        of_specs = self.of_specs[firsts[start] - self._first : firsts[stop] - self._first]
        return Matches(self._data, start, mask, of_specs)

    @property
    def numbers(self) -> Iterator[int]:
        """The numbers of the look-alikes with a match, ascending."""
        return compress(range(self.start, self.start + len(self.mask)), self.mask)

    def codes(self, column: Sequence[int]) -> Iterator[int]:
        """Yield the code of each look-alike with a match, in a column of codes."""
        return compress(column[self.start : self.start + len(self.mask)], self.mask)

    @cached_property
    def sizes(self) -> array[int]:
        """The number of matches of each look-alike with a match."""
        sizes = self._data.group_sizes
        if self.of_specs is None:
            return array(sizes.typecode, self.codes(sizes))
        # A Counter would take 40 MB for the most matches.
        look_alikes = islice(self._data.look_alikes, self._first, None)
        its = array("I", compress(look_alikes, self.of_specs))
        starts = array("I", compress(count(), map(ne, its, chain((-1,), its))))
        starts.append(len(its))
        return array(sizes.typecode, map(sub, islice(starts, 1, None), starts))

    def counts(self, storage: str) -> Mapping[int, int]:
        """Count the matches by their codes of a dictionary."""
        counts: dict[int, int] = defaultdict(int)
        for code, size in zip(self.codes(self._data.column(storage)), self.sizes, strict=True):
            counts[code] += size
        return counts

    @cached_property
    def by_package(self) -> Mapping[int, int]:
        """The number of matches of each package."""
        return self.counts("package")

    def alike(self, look_alike: int) -> Sequence[int]:
        """Return the ids of the matches in a look-alike."""
        number = look_alike - self.start
        if not (0 <= number < len(self.mask) and self.mask[number]):
            return ()
        ids = range(*self._data.span(look_alike))
        if self.of_specs is None:
            return ids
        of_specs = self.of_specs[ids.start - self._first : ids.stop - self._first]
        return array("I", compress(ids, of_specs))

    @cached_property
    def _count(self) -> int:
        # Spans do not need the sizes of all look-alikes in the index.
        if self.of_specs is not None:
            return self.of_specs.count(1)
        return sum(stop - start for start, stop in self.spans())

    def __len__(self) -> int:
        return self._count

    def spans(self) -> Iterator[Span]:
        """Yield the ids of all matches as spans."""
        if self.of_specs is not None:
            for start, stop in spans_of(self.of_specs):
                yield self._first + start, self._first + stop
        else:
            first = self._data.first
            for start, stop in spans_of(self.mask):
                yield first[self.start + start], first[self.start + stop]

    def ids(self) -> Sequence[int]:
        """Return the ids of all matches, ascending."""
        spans = [range(*span) for span in self.spans()]
        return spans[0] if len(spans) == 1 else array("I", chain.from_iterable(spans))

    def ids_of(self, look_alikes: Iterable[int], *, folded: bool) -> array[int]:
        """Return the ids of matches in some look-alikes; `folded`: only the first of each."""
        first, start, of_specs = self._data.first, self._first, self.of_specs
        if of_specs is not None:
            if folded:
                firsts = (start + of_specs.find(1, first[n] - start) for n in look_alikes)
                return array("I", firsts)
            return array("I", chain.from_iterable(map(self.alike, look_alikes)))
        if folded:
            return array("I", map(first.__getitem__, look_alikes))
        return array("I", chain.from_iterable(range(first[n], first[n + 1]) for n in look_alikes))

    def __iter__(self) -> Iterator[int]:
        return iter(self.ids())

    def __contains__(self, id_: object) -> bool:
        if not isinstance(id_, int) or not 0 <= id_ < self._data.first[-1]:
            return False
        return id_ in self.alike(self._data.look_alike(id_))


_MAX_NAMES = 6
"""The most providers that a sentence names."""

_MAX_RECENT = 4
"""Answers with which a new one is compared: a letter asks with and without the package."""

_MAX_VIRTUALS = 100
"""The most virtuals whose providers are cached; a real index has some forty."""


class Virtuals:
    """Finds names in queries that are virtuals or unknown, and the providers of virtuals.

    Since Spack 1.3 records list the virtuals that they provide (`Spec._provides_virtual` in
    lib/spack/spack/spec.py). For older records Spack asks recipes; here the providers of a virtual
    are all packages that some edge uses as its provider. `providers_of` returns both.
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

        A name that is also the name of a package is not a virtual here.
        """
        return self._known(map(_package_name, query.conditions))

    def unknown(self, query: Query) -> list[Term]:
        """Return the conditions that name an unknown package; such a query matches nothing.

        The word was meant as something else: as a package it would begin a new spec, which takes
        the conditions after it.
        """
        known = {"", *self._data.texts("package"), *self.providers(query)}
        terms = (c for c in query.conditions if isinstance(c, Term) and c.column == "package")
        unknown = (term for term in terms if term.pattern not in known)
        return [
            t
            for t in unknown
            if not (is_glob(t.pattern) and (t.negated or any(map(t.matcher("package"), known))))
        ]

    def unlisted(self, query: Query) -> list[str]:
        """Return the packages in a query that have only dependency-only specs."""
        names = {_package_name(c) for c in query.conditions if not c.negated} - {""}
        known = sorted(names.intersection(self._data.texts("package")))
        return [name for name in known if self._data.package_named(name) is None]

    def asked_of_compilers(self, query: Query) -> Iterable[str]:
        """Return the virtuals after `%` in a query, if records state their compiler by name.

        For such records, Spack looks up the virtuals in the recipe of the compiler.
        """
        dependencies = (c for c in query.conditions if isinstance(c, Depends))
        names = self._known(c.name for c in dependencies if c.direct and not is_glob(c.name))
        return names if names and self._states_compilers() else ()

    def _known(self, texts: Iterable[str]) -> Mapping[str, Sequence[str]]:
        # A virtual with a version would only be compared by its name.
        names = {text for text in texts if text and "@" not in text}.difference(NO_VIRTUALS)
        unknown = sorted(names.difference(self._data.texts("package"))) if names else []
        providers = ((name, sorted(self._providers_of(name))) for name in unknown)
        return {name: packages for name, packages in providers if packages}

    def resolved(self, query: Query) -> Query:
        """Return the query with each virtual replaced by the packages that provide it."""
        providers = self.providers(query)
        if not providers:
            return query
        # A version may be in the shared groups, and its name in one of the specs.
        specs = tuple(_resolve(groups, providers) for groups in query.whole_specs)
        return Query((), specs) if query.specs else Query(specs[0])

    def sentence(self, query: Query) -> str:
        """Return a sentence on the virtuals in a query, and on packages that are not listed."""
        provided = [
            f"{clean(name)} is a virtual package, provided here by {_some(packages)}"
            for name, packages in self.providers(query).items()
        ]
        asked = [
            f"%{clean(name)} needs the recipe of the compiler for records from before Spack 1.0,"
            f" and recipes are not read. Write ^{clean(name)} for a dependency"
            for name in self.asked_of_compilers(query)
        ]
        unlisted = [
            f"{clean(name)} is only a dependency here, and not listed. Write"
            f" {'%' if is_compiler(name) else '^'}{clean(name)} for the specs that depend on it"
            for name in self.unlisted(query)
            if name != query.package
        ]
        return "; ".join([*provided, *asked, *unlisted])


def _package_name(condition: Condition) -> str:
    """Return the name of the package that a condition asks for, or an empty text."""
    if not isinstance(condition, Term) or condition.column != "package":
        return ""
    return "" if is_glob(condition.pattern) else condition.pattern


def _resolve(
    groups: tuple[Group, ...], providers: Mapping[str, Sequence[str]]
) -> tuple[Group, ...]:
    """Return groups with the providers of virtuals in place of the virtuals.

    A record that lists its virtuals matches by this list alone, other records by their package.
    """
    is_virtual = {
        condition: name
        for group in groups
        for condition in group
        if (name := _package_name(condition)) in providers
    }
    named = {condition: name for condition, name in is_virtual.items() if not condition.negated}
    resolved: list[Group] = []
    for group in with_versions_of(named, groups):
        # Groups that mean the same as each condition; one of the conditions has to hold.
        alternatives: list[list[Group]] = [[tuple(c for c in group if c not in is_virtual)]]
        for condition in group:
            if condition not in is_virtual:
                continue
            name = is_virtual[condition]
            provided = Term("provides", name)
            packages = [Term("package", package) for package in providers[name]]
            if condition.negated:
                excluded = [(TELLS_VIRTUALS, negated(package)) for package in packages]
                alternatives.append([(negated(provided),), *excluded])
            else:
                by_package = (provided, *packages), (provided, negated(TELLS_VIRTUALS))
                alternatives.append([*by_package])
        resolved += (tuple(chain.from_iterable(each)) for each in product(*alternatives))
    return tuple(resolved)


def _some(names: Sequence[str]) -> str:
    """Return the first names and the number of the others, joined for a sentence."""
    return enumerated(list(map(clean, cut_list(names, _MAX_NAMES))), "and")


_CUT = "…/"
"""The beginning of a name that is cut on the screen."""


def with_full_name(term: Term, names: Collection[str]) -> Term:
    """Return a condition on the end of a source's name with the whole name, if that is unique.

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
        message = f"{len(matching):,} sources end in {clean(end)}: {_some(sorted(matching))}"
        raise Unanswerable(message, term)
    return replace(exact_term("source", matching[0]), negated=term.negated)


def unique_end(name: str, names: Collection[str]) -> str:
    """Return the end of a path or an address, from a `/` on, that no other name ends with.

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
    """Return the shortest condition that only one source fits, among all `names`."""
    term = exact_term("source", unique_end(name, names))
    return exact_term("source", name) if is_glob(term.pattern) else term


_BEFORE_TARGET = frozenset(
    ("package", "provides", "hash", "namespace", "version", "platform", "os")
)
"""The columns that `Spec._satisfies` of Spack compares before the target."""

_ENTRY_SIZE = 100
"""Approximate bytes of an entry of a dict of numbers."""


class _Mask(NamedTuple):
    """A byte for each look-alike, or for each spec: 1 if it matches.

    The bytes are one integer, the first byte the lowest: & and | of long integers are quick.
    """

    bits: int
    length: int

    @classmethod
    def of(cls, mask: bytes | bytearray) -> _Mask:
        """Return the mask of some bytes."""
        return cls(int.from_bytes(mask, "little"), len(mask))

    def to_bytes(self) -> bytes:
        """Return the bytes of the mask."""
        return self.bits.to_bytes(self.length, "little")

    def negated(self) -> _Mask:
        """Return the mask of what does not match."""
        return self._replace(bits=self.bits ^ int.from_bytes(b"\1" * self.length, "little"))


class Evaluation:
    """Evaluates queries on one index; answers are cached.

    Dependencies match by the rules that `query.ast` names. `virtuals` resolves the virtuals in
    queries.
    """

    def __init__(self, data: IndexData, edges: Edges) -> None:
        self._data, self._edges = data, edges
        self.virtuals = Virtuals(data, self._providers, lambda: bool(self._stating_compiler))
        self._texts_of_lists = lru_cache(None)(self._find_texts)
        self._matches: BoundedCache[Query, Matches] = BoundedCache(
            lambda specs: len(specs.mask) + len(specs.of_specs or b"")
        )
        self._code_counts: BoundedCache[tuple[Query, str], Mapping[int, int]] = BoundedCache(
            lambda counts: _ENTRY_SIZE * len(counts)
        )
        self._masks: BoundedCache[Condition, _Mask] = BoundedCache(lambda mask: mask.length)
        self._recent: tuple[Matches, ...] = ()

    def match(self, query: Query) -> Matches:
        """Return the listed records that match a query.

        What matches the same records as a recent query is the same object. Raises Cancelled
        and Unanswerable.
        """
        found = self._read_matches(query)
        # Most letters of a word change nothing: what is known of these records is kept.
        for recent in self._recent:
            if recent.is_same(found):
                return recent
        self._recent = found, *self._recent[: _MAX_RECENT - 1]
        return found

    def _read_matches(self, query: Query) -> Matches:
        span = 0, self._data.total
        package = self._data.selected_package(query)
        if package is not None and query.package is not None:
            span, rest = package.span, query.with_package(None)
            if not rest or rest in self._matches:
                # The specs of a package are adjacent.
                return self._read_matches(rest).within(*span)

        def find() -> Matches:
            check_cancelled()
            if self.virtuals.unknown(query):
                return Matches(self._data, 0, b"")
            by_host = self._data.by_host
            asked = self.virtuals.resolved(by_host.with_toolchains(query))
            resolved = by_host.resolved(asked)
            self._check_targets(resolved)
            return self._find(resolved).within(*span)

        return self._matches.get(query, find)

    def match_nodes(self, query: Query) -> Matches:
        """Return the records that match a query, dependency-only ones too: what `^` may mean.

        Raises Cancelled and Unanswerable.
        """
        return self._find(self.virtuals.resolved(query))

    def count_codes(self, query: Query, storage: str) -> Mapping[int, int]:
        """Count the matching listed records by their codes of a dictionary.

        Raises Cancelled and Unanswerable.
        """
        # While a word is typed, the other conditions stay the same.
        return self._code_counts.get((query, storage), lambda: self.match(query).counts(storage))

    def _check_targets(self, query: Query) -> None:
        """Check that the ends of ranges of targets are known targets. Raises Unanswerable.

        As in Spack, an end is only checked if the target of a record is compared with it.
        """
        for groups in query.whole_specs:
            before = tuple(g for g in groups if all(c.column in _BEFORE_TARGET for c in g))
            for term in (c for g in groups for c in g if isinstance(c, Term)):
                for low, high in target_ranges(term.pattern) if term.column == "target" else ():
                    above_low = (*before, (Term("target", f"{low}:"),))
                    for name, compared in ((low, before), (high, above_low)):
                        is_known = name in ("", *self._data.texts("target"))
                        sentence = "" if is_known else unknown_target(name)
                        if sentence and self._find(Query(compared)):
                            raise Unanswerable(sentence, term)

    def _find(self, query: Query) -> Matches:
        """Return all records that match, including dependency-only specs.

        Raises Unanswerable and Cancelled.
        """
        data, mask = self._data, self._all_of(query.groups)
        if query.specs:
            one_of_specs = self._joined(or_, map(self._all_of, query.specs))
            mask = self._joined(and_, (mask, one_of_specs))
        if mask.length == len(data.first) - 1:
            return Matches(data, 0, mask.to_bytes())
        return Matches.of_specs_in(data, mask.to_bytes()) if mask.bits else Matches(data, 0, b"")

    def _all_of(self, groups: Iterable[Group]) -> _Mask:
        """Return the mask of what matches one condition of each group."""
        one_of_each = (self._joined(or_, map(self._mask, group)) for group in groups)
        everything = _Mask.of(b"\1" * (len(self._data.first) - 1))
        return self._joined(and_, (everything, *one_of_each))

    def _joined(self, join: Callable[[int, int], int], masks: Iterable[_Mask]) -> _Mask:
        """Join masks with `and_` or `or_`; the result is of specs if one of them is."""
        bits_of: dict[int, int] = {}
        for bits, length in masks:
            bits_of[length] = join(bits_of[length], bits) if length in bits_of else bits
        if len(bits_of) == 1:
            ((length, bits),) = bits_of.items()
            return _Mask(bits, length)
        # Those of look-alikes are joined before, as there are fewer of them.
        shared = len(self._data.first) - 1
        of_specs = _Mask.of(self._of_specs(_Mask(bits_of[shared], shared).to_bytes()))
        return of_specs._replace(bits=join(bits_of[of_specs.length], of_specs.bits))

    def _mask(self, condition: Condition) -> _Mask:
        """Return the mask of a condition. Raises Unanswerable and Cancelled."""
        check_cancelled()
        asserted = negated(condition) if condition.negated else condition
        # The next letter of a query hardly changes its other conditions.
        mask = self._masks.get(asserted, lambda: _Mask.of(self._matching(condition)))
        if not condition.negated:
            return mask
        if asks_for_compiler(condition):
            mask = self._joined(or_, (mask, self._unknown_compilers))
        return mask.negated()

    def _matching(self, condition: Condition) -> bytes | bytearray:
        """Return the mask of a condition, regardless of negation. Raises Unanswerable.

        It is one of look-alikes, unless only some specs of a look-alike may match.
        """
        data = self._data
        if isinstance(condition, Depends):
            if not data.lists_dependencies:
                return self._mask_by_compiler(condition)
            if condition.direct:
                return self._direct_dependents(condition)
            return self._transitive_dependents(condition)
        if asks_for_propagated(condition):
            return self._propagated(condition)
        if condition.column == ANY:
            mask, word = self._match(condition), condition.pattern
            ids = data.hashes.with_prefix(word.lower()) if word and not is_glob(word) else ()
            if not ids:
                return mask
            return union(bytes(mask_of(ids, self._edges.count)), self._of_specs(mask))
        if (find := FIELDS[condition.column].mask) is not None:
            return find(data, condition)
        if condition.column == "flags" and not data.lists_dependencies:
            label = FIELDS["flags"].label
            raise Unanswerable(f"{condition} needs {label}, and pages list none", condition)
        if condition.column == "source":
            condition = with_full_name(condition, self._texts_of_lists("source"))
        return self._match(condition)

    def _match(self, term: Term) -> bytes:
        """Return the mask of look-alikes that match a term in any of its columns."""
        # Columns that share a dictionary share the codes of look-alikes.
        flags: dict[str, bytes] = {}
        for column in term.columns:
            if column.has_dictionary:
                fitting, storage = self._fitting(column.name, term), column.storage
                flags[storage] = union(fitting, flags.get(storage, bytes(len(fitting))))
        masks = (
            flags_of(self._data.column(storage), fitting)
            for storage, fitting in flags.items()
            if any(fitting)
        )
        return reduce(union, masks, bytes(len(self._data.first) - 1))

    def _fitting(self, column: str, term: Term) -> bytes:
        """Return a byte for each *distinct* value of a column: 1 if it matches a term."""
        fits, values = item_test(term.column, term.pattern), self._data.values(column)
        if term.column == "version" and not is_glob(term.pattern) and term.pattern:
            # Thousands of rules on versions would each compare all versions.
            keys, codes = self._version_keys
            return bytes(
                mask_of(map(codes.__getitem__, find_satisfying(keys, term.pattern)), len(codes))
            )
        if not FIELDS[column].is_list:
            return bytes(map(fits, values))
        lists = cast(Sequence[tuple[str, ...]], values)
        if not term.pattern:
            return bytes(map(not_, lists))
        fitting = set(filter(fits, self._texts_of_lists(column)))
        return bytes(map(not_, map(fitting.isdisjoint, lists))) if fitting else bytes(len(lists))

    def _find_texts(self, column: str) -> frozenset[str]:
        """Return the distinct texts in all lists of a column, which are few."""
        lists = cast(Sequence[tuple[str, ...]], self._data.values(column))
        return frozenset(chain.from_iterable(lists))

    @cached_property
    def _version_keys(self) -> tuple[list[VersionKey], list[int]]:
        """The sorted keys of all versions in the index, and the codes of these versions."""
        versions = self._data.texts("version")
        ordered = sorted((version_key(version), code) for code, version in enumerate(versions))
        return [key for key, _ in ordered], [code for _, code in ordered]

    def _mask_by_compiler(self, condition: Depends) -> bytes:
        """Return the mask of look-alikes of an index of pages, which only state the compiler."""
        if not condition.direct:
            raise Unanswerable(f"{condition} needs dependencies, and pages list none", condition)
        compiler_fits(condition, "")
        compilers = self._data.texts("compiler")
        known_names = {"", *(compiler.partition("@")[0] for compiler in compilers)}
        if compiler_name(condition.name) not in known_names and not is_compiler(condition.name):
            raise Unanswerable(
                f"{condition} needs a direct dependency, and of those pages list the compiler"
                " only",
                condition,
            )
        flags = bytes(compiler_fits(condition, compiler) for compiler in compilers)
        return flags_of(self._data.column("arch"), flags)

    @cached_property
    def _unknown_compilers(self) -> _Mask:
        """The mask of look-alikes whose document does not state a compiler: they may have any."""
        unknown = bytes(not text for text in self._data.texts("compiler"))
        return _Mask.of(flags_of(self._data.column("arch"), unknown))

    def _of_specs(self, mask: bytes) -> bytes:
        """Return the mask of specs for a mask of look-alikes."""
        of_specs = bytearray(self._edges.count)
        for start, stop in Matches(self._data, 0, mask).spans():
            of_specs[start:stop] = b"\1" * (stop - start)
        return bytes(of_specs)

    # Dependencies

    @cached_property
    def _stating_compiler(self) -> list[tuple[int, array[int]]]:
        """The ids of specs with a stated compiler, by the code of their architecture.

        For such a spec, `%` only asks for this compiler.
        """
        is_language = [not set(LANGUAGES).isdisjoint(kind.virtuals) for kind in self._edges.kinds]
        column, texts = self._data.column, self._data.texts("compiler")
        compiles = flags_of(column("edge_kind"), bytes(is_language))
        edges, first = column("edge_first"), self._data.first
        counts = map(compiles.count, repeat(1), edges, islice(edges, 1, None))
        are_free = bytes(map(not_, counts))
        stating: dict[int, array[int]] = {}
        looks = zip(self._edges.are_listed, column("arch"), pairwise(first), strict=True)
        for are_listed, arch, (start, stop) in looks:
            if not are_listed or names_compiler(texts[arch]):
                specs = compress(range(start, stop), are_free[start:stop])
                stating.setdefault(arch, array("I")).extend(specs)
        return [(arch, specs) for arch, specs in stating.items() if specs]

    def _direct_dependents(self, condition: Depends) -> bytearray:
        """Return the mask of specs that match a condition with `%`."""
        mask = mask_of(set.union(*self._owners(condition)), self._edges.count)
        for arch, specs in self._stating_compiler:
            compiler = self._data.texts("compiler")[arch]
            is_match = compiler_fits(condition, compiler, listed=True)
            for spec in specs:
                mask[spec] = is_match
        return mask

    def _transitive_dependents(self, condition: Depends) -> bytearray:
        """Return the mask of specs that match a condition with `^`.

        A named dependency may provide each of the virtuals on another edge.
        """
        of_root = condition.of_root
        condition = replace(
            condition, terms=tuple(term for term in condition.terms if term not in of_root)
        )
        parts = [condition]
        if condition.name and condition.virtuals:
            names = tuple(t for t in condition.terms if t.column == "package")
            virtuals = (replace(condition, terms=names, virtuals=(v,)) for v in condition.virtuals)
            parts = [replace(condition, virtuals=()), *virtuals]
        every = range(self._edges.count)
        matching = [{*compress(every, self._direct_dependents(other))} for other in of_root]
        for part in parts:
            by_link, by_others = self._owners(part)
            matching.append(by_others | self._edges.up.reached(by_link, self._edges.are_run))
        return mask_of(set.intersection(*matching), self._edges.count)

    def _owners(self, condition: Depends) -> tuple[set[int], set[int]]:
        """Return the specs with a matching edge to link or run, and with another matching edge."""
        by_name, by_virtual = node_conditions(condition)
        name, kinds = condition.name, self._edges.kinds
        by_link, by_others = set[int](), set[int]()
        for query, names_virtual in ((by_name, False), (by_virtual, True)):
            is_named = [(name in kind.virtuals) == names_virtual for kind in kinds]
            spans = self._spans(query) if any(is_named) else []
            if not spans:
                continue
            fitting = [
                is_kind
                and provides(condition, kind.virtuals)
                and (
                    set(kind.deptypes).issuperset(condition.deptypes)
                    if condition.direct
                    else not REACHABLE_DEPTYPES.isdisjoint(kind.deptypes)
                )
                for is_kind, kind in zip(is_named, kinds, strict=True)
            ]
            for ids, is_link in ((by_link, True), (by_others, False)):
                pairs = zip(fitting, self._edges.are_run, strict=True)
                of_kind = [is_match and link == is_link for is_match, link in pairs]
                ids |= self._edges.up.neighbours(spans, of_kind)
        return by_link, by_others

    def _spans(self, query: Query) -> list[Span]:
        """Return the spans of ids of records and absent dependencies that match a query."""
        spans = list(self._find(query).spans())
        by_hash = not query.columns.isdisjoint(("hash", ANY))
        matches: dict[tuple[str, str], bool] = {}
        for id_, absent in enumerate(self._edges.absent, self._edges.count):
            key = absent.name, absent.hash * by_hash
            if key not in matches:
                fits = partial(fits_missing, dependency=absent)
                matches[key] = all(any(map(fits, group)) for group in query.groups)
            if matches[key]:
                spans.append((id_, id_ + 1))
        return spans

    def _providers(self, virtual: str) -> frozenset[str]:
        """Return the packages that provide a virtual, by their records or by edges to them."""
        providing = self._find(query_of(Term("provides", virtual))).counts("package")
        names = {self._data.texts("package")[code] for code in providing}
        of_kind = [virtual in kind.virtuals for kind in self._edges.kinds]
        if any(of_kind):
            nodes = self._edges.down.neighbours([(0, self._edges.count)], of_kind)
            names.update(self._edges.name(node) for node in nodes if node < self._edges.count)
        return frozenset(names)

    def _propagated(self, term: Term) -> bytearray:
        """Return the mask of specs that have no other value of a variant, nor have dependencies.

        Dependencies over all edges count, also tools that other tools were built with.
        """
        if not self._data.lists_dependencies:
            raise Unanswerable(f"{term} needs variants of dependencies, and pages list none", term)
        # The pattern of the variant itself: `+x` for `++x`.
        pattern, (name, _) = term.pattern, split_variant(term.pattern)
        own = pattern[1:] if pattern[:2] in ("++", "~~") else pattern.replace("==", "=", 1)
        others = set(self._find(query_of(Term("variants", f"{name}=*")))).difference(
            self._find(query_of(Term("variants", own)))
        )
        without = mask_of(self._edges.up.reached(others), self._edges.count)
        return without.translate(b"\1\0" + bytes(254))
