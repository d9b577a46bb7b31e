"""Find the specs that the configuration of the user's Spack keeps from being reused."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, cached_property, reduce
from itertools import chain, product
from operator import or_
from types import MappingProxyType
from typing import NamedTuple

from spackscope.model.core.columns import Value
from spackscope.model.core.errors import QueryError, Unanswerable
from spackscope.model.core.records import (
    FIRST_OF_DATABASE,
    GCC_RUNTIME,
    LANGUAGES,
    NO_COMPILER,
    ListedIn,
    Problem,
    SourceStatus,
    compiler_name,
    has_no_index,
    is_compiler,
)
from spackscope.model.core.rules import (
    MIRROR,
    NEWER_INDEX,
    NO_INDEX,
    NO_V2_INDEX,
    OLD_INDEX,
    PACKAGES,
    PREFERRED,
    REUSE,
    FitReason,
    Rule,
)
from spackscope.model.core.suggestions import enumerated
from spackscope.model.core.text import clean, cut_list
from spackscope.model.core.versions import version_key
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.index_file import Span, spans_of
from spackscope.model.query.ast import (
    TELLS_VIRTUALS,
    Condition,
    Depends,
    Group,
    Query,
    Term,
    exact_query,
    negated,
    query_of,
    variant_of,
)
from spackscope.model.query.parser import parse, parse_spec
from spackscope.model.query.toolchains import Toolchains, with_toolchains
from spackscope.model.sources.source_name import spack_argument
from spackscope.model.sources.spack_config import (
    ALL,
    ConfiguredExternal,
    Requirement,
    ReuseRules,
    Selection,
    Text,
    place_of,
)

_GCC = "gcc"
_RUNTIMES = (GCC_RUNTIME, "intel-oneapi-runtime", "glibc", "musl")
"""Packages that, like compilers, need no compiler of their own."""

_REUSE = "concretizer:reuse"
_FIRST_OF_V3 = 8
"""The first version of the database whose Spack reads layout v3."""

_FIRST_KEPT = 6
"""The first version of the database that all later ones read."""


_MAX_SPECS = 6
"""Specs of a rule that its reason names."""

_REQUIREMENT, _CONFLICT, _CONDITION = "the requirement", "the conflict", "the condition"
"""The roles of a spec in a rule of packages.yaml."""

_ANY_TYPE: tuple[tuple[str, ...], ...] = ((),)
_RUN_TYPES: tuple[tuple[str, ...], ...] = (("link",), ("run",))
_SOLVED_AGAIN = frozenset({GCC_RUNTIME, "glibc", "musl", "libc"})
"""Dependencies that Spack does not take from reused specs."""

_ONLY_DIRECT = "Spack sees only the direct link and run dependencies of what it reuses"
_AMONG_DIRECT = " among its direct link and run dependencies"
_NOT_CHOSEN = "Spack reuses specs without applying conflicts with %"
_BY_HASH = "Spack applies no conflict by hash"
_HASH = "Spack does not look for a hash in it"
_OF_RECIPES = "only recipes tell the version of the virtual {name}"


class KeptOut(NamedTuple):
    """A reason, and the spans of the ids of the specs that Spack does not reuse for it.

    Spack does not reuse their link and run dependents either: a hash is imposed with its closure
    (`ConcreteSpecsByHash.explicit_items` in solver/asp.py).
    """

    reason: FitReason
    spans: Sequence[Span]


class Findings(NamedTuple):
    """The specs that are kept out, and the rules that are not considered or do not apply.

    `not_applied` is by the package or virtual that a rule is about.
    """

    kept_out: Sequence[KeptOut] = ()
    problems: Sequence[Problem] = ()
    not_applied: Mapping[str, Sequence[Problem]] = MappingProxyType({})


def find_kept_out(
    catalog: Catalog,
    rules: ReuseRules | None,
    spack_version: str = "",
    externals: Iterable[ConfiguredExternal] = (),
) -> Findings:
    """Return the listed specs that Spack does not see, that the rules exclude, or pass over.

    `externals` are those of packages.yaml, which has the compilers. A spec that several rules
    exclude has only the first reason. Raises Cancelled.
    """
    finder = _Finder(catalog, rules.toolchains if rules is not None else {})
    kept = [*finder.not_seen(spack_version)]
    if rules is not None:
        kept += finder.not_selected(rules)
        kept += finder.of_no_gcc(rules, externals) or finder.not_required(rules)
        # What is not known of a preference leaves all answers as they are.
        kept += _Finder(catalog, rules.toolchains).not_preferred(rules)
    return Findings(kept, list(dict.fromkeys(finder.problems)), finder.not_applied)


class _Reads:
    """Checks whether a version of Spack reads an index; an unknown version reads all."""

    def __init__(self, version: str, every: Iterable[ListedIn]) -> None:
        self._spack, key = clean(f"Spack {version}"), version_key(version)
        firsts = FIRST_OF_DATABASE.items()
        self._own = max((n for n, first in firsts if version_key(first) <= key), default=0)
        self._with_own = {each.source for each in every if each.media == str(self._own)}

    def lack(self, source: SourceStatus, indexes: Iterable[ListedIn]) -> FitReason | None:
        """Return why Spack does not see a spec that a source lists; None if it does."""
        place = spack_argument(source.name)
        if has_no_index(source.kind, source.layout):
            if "v3" in source.layout:
                return NO_INDEX.with_label(NO_INDEX.label, place)
            # Spack 1 writes indexes of layout v3 only.
            return NO_V2_INDEX.with_label(NO_V2_INDEX.label, place)
        its = [each for each in indexes if each.source == source.name]
        lacks = [self._lack(index, place) for index in its]
        return next(iter(lacks), None) if all(lacks) else None

    def _lack(self, index: ListedIn, place: str) -> FitReason | None:
        """Return why Spack does not read an index; None if it does.

        Spack asks a mirror of layout v3 only for the media type of its own database version
        (`IndexFetcher.get_index_manifest` in binary_distribution.py), and reads other databases
        up to its own version (`_read_from_file` in database.py), but version 5 only if its own is
        at most 6 (`_REINDEX_NOT_NEEDED_ON_READ`).
        """
        own = self._own
        if index.layout == "views":
            return NO_INDEX.with_label(f"{NO_INDEX.label} but those of views", place)
        if not own:
            return None
        if index.layout == "v3" and own < _FIRST_OF_V3:
            return NO_V2_INDEX.with_label(NO_V2_INDEX.label, place)
        media, _, packed = index.media.partition("+")
        if packed:
            # `IndexFetcher` parses the blob as it is.
            label = f"its mirror has only an index packed with {packed}"
            return NO_INDEX.with_label(f"{label}, which {self._spack} does not unpack", place)
        if media == "?":
            label = f"{NO_INDEX.label} of database v{own}, only one of another type"
            return NO_INDEX.with_label(label, place)
        if index.media not in ("", str(own)):
            label = f"{NO_INDEX.label} of database v{own}, only v{index.media}"
            if index.source in self._with_own:
                label = f"its mirror lists it in database v{index.media}, not v{own}"
            if index.media.isdecimal() and int(index.media) < own:
                return NO_INDEX.with_label(label, place)
            sentence = f"{label}, which {self._spack} asks for, {place}"
        elif index.database > own or (index.database < _FIRST_KEPT < own):
            is_tree = index.layout == ""
            label = f"{'its database is' if is_tree else 'its index is of database'} "
            label += f"v{index.database}"
            sentence = f"{label}, which {self._spack} cannot read, {place}"
            if index.database < own:
                change = "convert it: spack reindex" if is_tree else ""
                return OLD_INDEX.with_label(label, place, sentence, change)
        else:
            return None
        return NEWER_INDEX.with_label(label, place, sentence)


def _texts(value: Value) -> tuple[str, ...]:
    return value if isinstance(value, tuple) else ()


class _Finder:
    """Finds specs as masks: integers with a byte for each id, so that & and | are quick."""

    def __init__(self, catalog: Catalog, toolchains: Toolchains) -> None:
        self.problems: list[Problem] = []
        self.not_applied = defaultdict[str, list[Problem]](list)
        self._catalog, self._toolchains = catalog, toolchains
        self._parse = cache(lambda spec: with_toolchains(parse_spec(spec), toolchains))
        self._every = int.from_bytes(b"\1" * catalog.total, "little")

    def _mask(self, spans: Iterable[Span]) -> int:
        mask = bytearray(self._catalog.total)
        for start, stop in spans:
            mask[start:stop] = b"\1" * (stop - start)
        return int.from_bytes(mask, "little")

    def _matching(self, query: Query) -> int:
        return self._mask(self._catalog.match(query).spans())

    def _among(self, mask: int, spec: Text) -> int | None:
        """Return the specs of a mask that match a spec of the configuration.

        None where the spec of the configuration is a problem.
        """
        try:
            query = self._parse(spec)
            return mask & self._matching(query) if mask else 0
        except (QueryError, Unanswerable) as error:
            self.problems.append(spec.problem(f"{spec} is not considered: {error}"))
            return None

    def _included(self, selection: Selection, mask: int) -> int:
        """Return the specs of a mask that a selection includes."""
        masks = [self._among(mask, spec) for spec in selection.include]
        known = [each for each in masks if each is not None]
        return reduce(or_, known) if known else mask

    def _selected(self, selection: Selection, mask: int) -> int:
        mask = self._included(selection, mask)
        for spec in selection.exclude:
            mask &= ~(self._among(mask, spec) or 0)
        return mask

    def _excluded(self, mask: int, rule: Rule, label: str, by: Text) -> KeptOut:
        """Return the specs that an entry of the configuration excludes."""
        spans = spans_of(mask.to_bytes(self._catalog.total, "little"))
        return KeptOut(rule.with_label(label, place_of(by)), [*spans])

    def _shown(self, specs: Sequence[Text], word: str) -> str:
        """Name the first of some specs, and toolchains as such."""
        names = {f"%{name}": f"the toolchain {name}" for name in self._toolchains}
        return enumerated(cut_list([names.get(spec, spec) for spec in specs], _MAX_SPECS), word)

    def not_seen(self, spack_version: str) -> Iterator[KeptOut]:
        """Yield the specs that are in no index that Spack reads, by mirror.

        Spack knows the specs of a mirror by its index alone (`BinaryCacheIndex.update` in
        lib/spack/spack/binary_distribution.py).
        """
        states = {source.name: source for source in self._catalog.sources}
        names, indexes = self._catalog.values("source"), self._catalog.values("indexes")
        listed = [tuple(map(ListedIn.parse, its)) for its in map(_texts, indexes)]
        reads = _Reads(spack_version, chain.from_iterable(listed))
        hidden: dict[int, FitReason] = {}
        for code, (its, lists) in enumerate(zip(map(_texts, names), listed, strict=True)):
            lacks = [reads.lack(states[source], lists) for source in its]
            if lacks and all(lacks):
                hidden[code] = next(filter(None, lacks))
        spans = defaultdict[FitReason, list[Span]](list)
        for look_alike, code in enumerate(self._catalog.column("presence") if hidden else ()):
            span = self._catalog.span(look_alike)
            if code in hidden and span[1] <= self._catalog.total:
                spans[hidden[code]].append(span)
        yield from (KeptOut(reason, its) for reason, its in spans.items())

    def not_selected(self, rules: ReuseRules) -> Iterator[KeptOut]:
        """Yield the specs that concretizer:reuse and the filters of mirrors exclude."""
        installed = self._matching(parse("installed"))
        # Specs that are neither cached nor installed are judged like cached ones.
        cached = self._matching(parse("cached")) | self._every & ~installed
        if rules.is_off and rules.reuse is not None:
            yield self._excluded(self._every, REUSE, f"{_REUSE} is {rules.reuse}", rules.reuse)
            return
        fetched, filters = 0, list[tuple[Rule, str, Selection, int]]()
        for source in self._catalog.sources:
            of_source = cached & self._matching(exact_query("source", source.name))
            selection = rules.mirrors.get(source.name, Selection())
            fetched |= self._selected(selection, of_source)
            filters.append((MIRROR, "its mirror", selection, of_source))
        reused = 0
        for selections, among in ((rules.caches, fetched), (rules.trees, installed)):
            for selection in selections:
                reused |= self._selected(selection, among)
        for hashes, selection in rules.environments:
            ids = chain.from_iterable(map(self._catalog.hashes.ids_of, sorted(hashes)))
            listed_ids = ((id_, id_ + 1) for id_ in ids if id_ < self._catalog.total)
            reused |= self._selected(selection, self._mask(listed_ids))
        filters += [(REUSE, _REUSE, selection, fetched) for selection in rules.caches]
        filters += [(REUSE, _REUSE, selection, installed) for selection in rules.trees]
        left = self._every & ~reused
        for rule, name, selection, among in filters:
            for spec in selection.exclude:
                if mask := self._among(left & among, spec):
                    yield self._excluded(mask, rule, f"{name} excludes {spec}", spec)
                    left &= ~mask
            among &= left
            if mask := among & ~self._included(selection, among):
                label = f"{name} includes only {self._shown(selection.include, 'and')}"
                yield self._excluded(mask, rule, label, selection.include[0])
                left &= ~mask
        if left and rules.reuse is not None:
            yield self._excluded(left, REUSE, f"{_REUSE} takes nothing from there", rules.reuse)

    def of_no_gcc(
        self, rules: ReuseRules, externals: Iterable[ConfiguredExternal]
    ) -> list[KeptOut]:
        """Return all specs if a requirement asks for the gcc-runtime of a gcc that is not there.

        Spack then refuses whatever it is asked for, also what needs no gcc-runtime, whose versions
        are those of the gcc in packages.yaml and of builds that are reused
        (`validate_and_define_versions_from_requirements` in lib/spack/spack/solver/asp.py).
        """
        of_gcc = [each.query.terms for each in externals if each.query.package == _GCC]
        versions = [
            term.pattern.lstrip("=")
            for term in chain.from_iterable(of_gcc)
            if term.column == "version"
        ]
        for spec, term in self._runtimes_required(rules):
            builds = (Query().with_package(name).also(term) for name in (GCC_RUNTIME, _GCC))
            if any(map(self._matching, builds)):
                continue
            if any(term.fits("version", version) for version in versions):
                continue
            required = f"requires {GCC_RUNTIME}{term}, and no {_GCC} has this version"
            if versions:
                label = f"packages.yaml {required}: Spack refuses to concretize"
                return [self._excluded(self._every, PACKAGES, label, spec)]
            refuses = "Spack refuses to concretize, unless it finds one"
            self.problems.append(spec.problem(f"it {required} here: {refuses}"))
        return []

    def _runtimes_required(self, rules: ReuseRules) -> Iterator[tuple[Text, Term]]:
        """Yield the versions of gcc-runtime in requirements, with their specs there.

        Spack drops a requirement of all packages where it does not fit.
        """
        for name, its in rules.requirements.items():
            for spec in chain.from_iterable(rule.specs for rule in its) if name != ALL else ():
                # It is a problem where the requirement is applied.
                with suppress(QueryError):
                    query = self._parse(spec)
                    edges = (each for each in query.conditions if isinstance(each, Depends))
                    nodes = [(edge.name, edge.terms) for edge in edges]
                    yield from (
                        (spec, term)
                        for package, terms in [(query.package or name, query.conditions), *nodes]
                        if package == GCC_RUNTIME
                        for term in terms
                        if isinstance(term, Term) and _is_looked_up(term)
                    )

    def not_required(self, rules: ReuseRules) -> Iterator[KeptOut]:
        """Yield the specs that break requirements or conflicts of packages.yaml.

        Rules on a virtual apply to the provider that a dependent uses. As `RequirementParser` in
        lib/spack/spack/solver/requirements.py.
        """
        left = self._every
        for by_name in (rules.requirements, rules.conflicts):
            for rule, of, *masks in self._broken_by(by_name):
                broken, odd = (left & mask for mask in masks)
                left &= ~broken
                verb = "conflicts with" if rule.policy == "none_of" else "requires"
                why = rule.message and f": {rule.message}"
                for mask, where in ((broken & ~odd, ""), (odd, _AMONG_DIRECT)):
                    if mask:
                        what = f"{self._shown(rule.specs, 'or')}{of}{where}{why}"
                        label = f"packages.yaml {verb} {what}"
                        yield self._excluded(mask, PACKAGES, label, rule.specs[0])

    def not_preferred(self, rules: ReuseRules) -> Iterator[KeptOut]:
        """Yield the specs that Spack reuses, but not if it can have what packages.yaml prefers.

        `prefer` weighs more than reuse (`requirement weight` of solver/concretize.lp), so Spack
        builds what it prefers, unless it must not. Defaults, as `variants`, weigh less.
        """
        preferred, builds = dict(rules.preferred), self._every
        for name in rules.not_buildable:
            if name == ALL:
                # A package with an entry of its own has not the one of all.
                preferred.pop(ALL, None)
            else:
                builds &= ~self._matching(Query().with_package(name))
        for rule, of, broken, _ in self._broken_by(preferred):
            if broken & builds:
                label = f"packages.yaml prefers {self._shown(rule.specs, 'or')}{of}"
                yield self._excluded(broken & builds, PREFERRED, label, rule.specs[0])

    def _broken_by(
        self, by_name: Mapping[str, Sequence[Requirement]]
    ) -> Iterator[tuple[Requirement, str, int, int]]:
        """Yield rules by package, the virtual that each is for, and what `_broken` returns."""
        packages, others = set(self._catalog.texts("package")), self._every
        for name in sorted(by_name, key=ALL.__eq__):
            of = ""
            if name == ALL:
                among = others
            elif name in packages:
                among = self._matching(Query().with_package(name))
                others &= ~among
            elif self._is_virtual(name):
                among, of = self._matching(self._users(name)), f" for {name}"
                if self._matching(Query().also(Depends(True, (), (name,)))) & ~among:
                    self._note(by_name[name][0].specs[0], "the rule", name, _ONLY_DIRECT)
            else:
                continue
            for rule in by_name[name]:
                yield (rule, of, *self._broken(rule, among, name))

    def _broken(self, rule: Requirement, among: int, name: str) -> tuple[int, int]:
        """Return the specs of a mask that break a rule, and the odd specs among them.

        An odd spec matches a spec of the rule, but the solver does not see this. If a spec of the
        rule is a problem, no spec breaks the rule.
        """
        is_conflict, applies = rule.policy == "none_of", among
        if rule.when is not None:
            applies = self._solved(among, rule.when, _CONDITION, name)[0] or 0
        met = met_twice = able = odd = 0
        # A default does not apply to packages that cannot match any of its specs.
        is_default, is_known = name == ALL and not is_conflict, True
        for spec in rule.specs:
            # Specs that match already are not looked for again.
            rest = applies & ~met if rule.policy == "any_of" else applies
            if is_default and self._among(0, spec) is not None:
                can_match = self._able(spec)
                able |= can_match
                rest &= can_match
            role = _CONFLICT if is_conflict else _REQUIREMENT
            matching, unseen = self._solved(rest, spec, role, name)
            if matching is None:
                is_known = False
                continue
            # The solver takes only one of several dependencies that it may choose.
            is_chosen = any(
                isinstance(c, Depends) and c.direct for c in self._parse(spec).conditions
            )
            met_twice |= 0 if is_chosen else met & matching
            met |= matching
            odd |= unseen
        if not is_known:
            return 0, 0
        if is_conflict:
            return met, 0
        kept = met if rule.policy == "any_of" else met & ~met_twice
        broken = applies & ~kept & (able if is_default else applies)
        return broken, broken & odd

    def _solved(self, mask: int, spec: Text, role: str, name: str) -> tuple[int | None, int]:
        """Return the specs of a mask that match a spec of a rule for the solver, None if unknown.

        The second mask has specs that match only outside the solver: why the rule does not apply
        to these is kept in `not_applied`.
        """
        try:
            query, why = self._to_solve(self._parse(spec), role, name)
            matching = mask & self._matching(query) if mask and query is not None else 0
        except (QueryError, Unanswerable) as error:
            why = f"{role} {spec} of {name} is not considered: {error}"
            self.problems.append(spec.problem(why))
            return None, 0
        unseen = 0
        if why and mask & ~matching:
            with suppress(Unanswerable):
                unseen = mask & ~matching & self._matching(self._parse(spec))
        if unseen and role != _REQUIREMENT:
            self._note(spec, f"{role} {spec}", name, why)
        return matching, unseen

    def _note(self, spec: Text, what: str, name: str, why: str) -> None:
        note = spec.problem(f"{what} of {name} does not apply to all that match: {why}")
        if note not in self.not_applied[name]:
            self.not_applied[name].append(note)

    def _to_solve(self, query: Query, role: str, name: str) -> tuple[Query | None, str]:
        """Return the query that the solver makes of a spec of a rule; None if nothing matches.

        The text says why the query asks for less than the spec, if it does. Raises QueryError,
        also where only recipes have the answer.
        """
        if self._is_virtual(name):
            return self._to_solve_of_virtual(query, role, name), ""
        edges = [condition for condition in query.conditions if isinstance(condition, Depends)]
        if role == _CONDITION and len(edges) == 1 and _is_closure(edges[0]):
            raise QueryError("it depends on what is concretized together with the spec")
        groups, waiting = list[Group](), [*query.groups]
        for group in waiting:
            several = list[list[Group]]()
            for condition in group:
                if isinstance(condition, Term):
                    if (why := self._check_term(condition, role, name)) is not None:
                        return None, why
                    several.append([(condition,)])
                    continue
                if (why := self._check_edge(condition, role, name)) is not None:
                    return None, why
                nested = [term for term in condition.terms if isinstance(term, Depends)]
                waiting += ((term,) for term in nested)
                own = condition.terms if name == ALL and not condition.virtuals else ()
                its = list[Group]()
                for edge in self._edges_to_solve(condition, role):
                    # The solver counts the spec itself.
                    its += [(*edge, term) for term in own] or [edge]
                if condition.negated:
                    its = [tuple(map(negated, choice)) for choice in product(*its)]
                several.append(its)
            groups += (tuple(chain.from_iterable(choice)) for choice in product(*several))
        return Query(tuple(groups)), _ONLY_DIRECT if edges else ""

    def _check_term(self, term: Term, role: str, name: str) -> str | None:
        """Return why the solver matches nothing because of a condition on the spec; None if not.

        Raises QueryError.
        """
        if term.column == "hash":
            if role == _CONDITION:
                raise QueryError(_HASH)
            return _BY_HASH
        if role != _REQUIREMENT and name != ALL:
            self._check_variant(term, name)
        return None

    def _check_edge(self, edge: Depends, role: str, name: str) -> str | None:
        """Return why the solver matches nothing because of a dependency; None if not.

        Raises QueryError.
        """
        if edge.direct and role == _CONFLICT:
            return _NOT_CHOSEN
        if any(term.column == "hash" for term in edge.terms):
            if role == _CONFLICT:
                return _BY_HASH
            raise QueryError(_HASH)
        # Below a dependency the solver neither chooses nor finds another.
        has_nested = any(isinstance(term, Depends) for term in edge.terms)
        if (has_nested and role != _CONDITION) or edge.name in _SOLVED_AGAIN:
            return _ONLY_DIRECT
        named = Query().with_package(package := compiler_name(edge.name))
        is_known = is_compiler(package) or not self._catalog.virtuals.unknown(named)
        if name == ALL and role == _REQUIREMENT and not is_known:
            raise QueryError(f"no build of {edge.name} is known")
        return None

    def _to_solve_of_virtual(self, query: Query, role: str, name: str) -> Query | None:
        if role == _CONDITION:
            raise QueryError("conditions on virtual packages are not understood")
        if query.package is None:
            raise QueryError("Expected the name of a package", 0)
        edges = [condition for condition in query.conditions if isinstance(condition, Depends)]
        if edges and (role == _REQUIREMENT or any(edge.direct for edge in edges)):
            return None
        if edges:
            raise QueryError("it asks for dependencies of a provider")
        for condition in query.conditions:
            if role == _CONFLICT and isinstance(condition, Term):
                self._check_variant(condition, query.package)
        if query.package == name and "version" in query.columns:
            raise QueryError(_OF_RECIPES.format(name=name))
        return self._users(name, () if query.package == name else tuple(query.conditions))

    def _users(self, virtual: str, terms: tuple[Condition, ...] = ()) -> Query:
        """Return the query for specs whose provider of a virtual is known to the solver.

        The solver knows the compilers of reused specs, but no other build dependencies.
        """
        types = _ANY_TYPE if virtual in LANGUAGES else _RUN_TYPES
        return Query((tuple(Depends(True, terms, (virtual,), each) for each in types),))

    def _edges_to_solve(self, condition: Depends, role: str) -> list[Group]:
        """Return a condition on a dependency as conditions on the edges that the solver has."""
        terms = tuple(term for term in condition.terms if isinstance(term, Term))
        is_virtual = self._is_virtual(condition.name)
        if is_virtual and any(term.column == "version" for term in terms):
            provided = Depends(True, (Term("package", condition.name), negated(TELLS_VIRTUALS)))
            if self._matching(Query().also(provided)):
                raise QueryError(_OF_RECIPES.format(name=condition.name))
        if role != _REQUIREMENT and not is_virtual:
            for term in terms:
                self._check_variant(term, condition.name)
        is_any = role == _REQUIREMENT and condition.direct and not condition.virtuals
        # The condition of a toolchain is on the compilers, which the solver knows.
        is_any = condition.name in LANGUAGES if condition.negated else is_any and not is_virtual
        types = _ANY_TYPE if is_any else _RUN_TYPES
        virtuals: list[tuple[str, ...]] = [(each,) for each in condition.virtuals] or [()]
        return [tuple(Depends(True, terms, each, type_) for type_ in types) for each in virtuals]

    def _is_virtual(self, name: str) -> bool:
        """Check whether a name is used as a virtual, and not as a package."""
        return bool(self._catalog.virtuals.providers(Query().with_package(name)))

    def _check_variant(self, term: Term, package: str) -> None:
        """Raise QueryError for a variant that no build of a package has: it may not exist."""
        variant = variant_of(term)
        if self._lacks(package, variant):
            raise QueryError(
                f"no build of {package} has the variant {variant};"
                " unless its recipe has it, Spack refuses to concretize"
            )

    def _lacks(self, package: str, variant: str) -> bool:
        """Check whether there are builds of a package, and none has a variant, of any value."""
        builds = self._matching(Query().with_package(package)) if variant else 0
        forms = (f"+{variant}", f"~{variant}", f"{variant}=*")
        with_variant = Query((tuple(Term("variants", form) for form in forms),))
        return bool(builds and not builds & self._matching(with_variant))

    def _able(self, spec: Text) -> int:
        """Return the specs to which a requirement on all packages applies.

        Spack drops the requirement for packages without its variants, or, going by their builds,
        without its values. A requirement on a dependency applies neither to compilers nor to
        specs without a compiler.
        """
        able = self._every
        for condition in self._parse(spec).conditions:
            if isinstance(condition, Depends):
                unknown = (self._lacks(condition.name, variant_of(t)) for t in condition.terms)
                able &= 0 if any(unknown) else self._compiled
            elif condition.column == "package":
                able &= self._matching(query_of(condition))
            elif variant := variant_of(condition):
                forms = (Term("variants", f"+{variant}"), Term("variants", f"~{variant}"))
                is_boolean = condition.pattern[0] in "+~-"
                able &= self._alike(Query((forms,)) if is_boolean else query_of(condition))
        return able

    def _alike(self, query: Query) -> int:
        """Return all specs of the packages that have a match."""
        codes = self._catalog.match(query).counts("package")
        packages = enumerate(self._catalog.column("package"))
        return self._mask(self._catalog.span(n) for n, code in packages if code in codes)

    @cached_property
    def _compiled(self) -> int:
        """The specs with a compiler that are neither compilers nor runtimes."""
        compiled = self._matching(
            query_of(Term("compiler", "?*"), Term("compiler", NO_COMPILER, True))
        )
        for name in self._catalog.texts("package"):
            # Spack requires no compiler for these packages.
            if is_compiler(name) or name in _RUNTIMES:
                compiled &= ~self._matching(Query().with_package(name))
        return compiled


def _is_looked_up(term: Term) -> bool:
    """Check for a version that Spack must know, unlike a single one such as `@=13.2.0`."""
    is_single = term.pattern.startswith("=") and "," not in term.pattern
    return term.column == "version" and not is_single


def _is_closure(edge: Depends) -> bool:
    """Check for `^[deptypes=link,run] x`, which the solver looks for in the whole closure."""
    return not edge.direct and edge.deptypes == ("link", "run")
