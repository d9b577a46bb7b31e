"""Find the specs that the configuration of the user's Spack keeps from being reused."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property, reduce
from itertools import chain
from operator import or_
from typing import NamedTuple

from spackscope.model.analysis.deprecated import DeprecatedSpecs
from spackscope.model.core.columns import Value
from spackscope.model.core.errors import QueryError, Unanswerable
from spackscope.model.core.records import (
    FIRST_OF_DATABASE,
    FitReason,
    ListedIn,
    Problem,
    SourceStatus,
    is_compiler,
)
from spackscope.model.core.suggestions import listed
from spackscope.model.core.text import clean, cut_list
from spackscope.model.core.variants import split_variant
from spackscope.model.core.versions import version_key
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.columns import mask_of
from spackscope.model.query.ast import Depends, Query, Term, exact_query
from spackscope.model.query.parser import parse, parse_spec
from spackscope.model.sources.source_name import spack_argument
from spackscope.model.sources.spack_config import (
    ALL,
    Requirement,
    ReuseRules,
    Selection,
    Text,
    place_of,
)

_RUNTIMES = ("gcc-runtime", "intel-oneapi-runtime", "glibc", "musl")
"""Packages that, like compilers, need no compiler of their own."""

_NO_INDEX = "its mirror has no index"
_FIRST_OF_V3 = 8
"""The first version of the database whose Spack reads layout v3."""
_REUSE, MIRROR = "concretizer:reuse", "its mirror"
"""The beginnings of the reasons, by the place of the rule."""

_MAX_SPECS = 6
"""Specs of a rule that its reason names."""


class KeptOut(NamedTuple):
    """A reason, and a mask of the ids of the specs that Spack does not reuse for it.

    It does not reuse their link and run dependents either: a hash is imposed with all that it
    needs (`ConcreteSpecsByHash.explicit_items` in solver/asp.py).
    """

    reason: FitReason
    mask: bytes


def checks_deprecations(version: str) -> bool:
    """Check whether a Spack reuses no deprecated specs, by its version, or "" if it is unknown."""
    return bool(version) and version_key(version) >= version_key("1.3")


def find_kept_out(
    catalog: Catalog,
    rules: ReuseRules | None,
    deprecated: Iterable[DeprecatedSpecs] = (),
    spack_version: str = "",
) -> tuple[list[KeptOut], list[Problem]]:
    """Return which listed specs Spack does not see or the rules exclude, and unreadable rules.

    Of several reasons of the rules a spec has the first only, besides those of the `deprecated`
    ones. Raises Cancelled.
    """
    finder = _Finder(catalog)
    kept = [*finder.not_seen(spack_version)]
    if rules is not None:
        kept += [*finder.not_selected(rules), *finder.not_required(rules)]
        kept += finder.not_allowed(rules, deprecated)
        finder.check(chain.from_iterable(rules.preferred.values()))
    return kept, list(dict.fromkeys(finder.problems))


class _Reads:
    """What a Spack reads, by its version; any version of the database if that is unknown."""

    def __init__(self, version: str, every: Iterable[ListedIn]) -> None:
        self._spack, self._own = clean(f"Spack {version}"), 0
        if version:
            key = version_key(version)
            firsts = FIRST_OF_DATABASE.items()
            self._own = max((n for n, first in firsts if version_key(first) <= key), default=0)
        self._with_own = {each.source for each in every if each.media == str(self._own)}

    def lack(self, source: SourceStatus, indexes: Iterable[ListedIn]) -> FitReason | None:
        """Return what a source that lists a spec lacks so that Spack sees it; None if nothing."""
        place = spack_argument(source.name)
        if source.has_no_index:
            if "v3" in source.layout:
                return _seen_by_none("I", _NO_INDEX, place)
            # Spack 1 writes indexes of layout v3 only.
            return _seen_by_none("V", f"{_NO_INDEX} of layout v2", place)
        its = [each for each in indexes if each.source == source.name]
        lacks = [self._lack(index, place) for index in its]
        return next(iter(lacks), None) if all(lacks) else None

    def _lack(self, index: ListedIn, place: str) -> FitReason | None:
        """Return why Spack does not read an index; None if it does.

        It asks a mirror of layout v3 for the media type of its own version alone
        (`IndexFetcher.get_index_manifest` in binary_distribution.py), and reads other databases
        up to its own version (`_read_from_file` in database.py).
        """
        own = self._own
        if index.layout == "views":
            return _seen_by_none("I", f"{_NO_INDEX} but those of views", place)
        if not own:
            return None
        if index.layout == "v3" and own < _FIRST_OF_V3:
            return _seen_by_none("V", f"{_NO_INDEX} of layout v2", place)
        if index.media not in ("", str(own)):
            label = f"{_NO_INDEX} of database v{own}, only v{index.media}"
            if index.source in self._with_own:
                label = f"its mirror lists it in database v{index.media}, not v{own}"
            if index.media.isdecimal() and int(index.media) < own:
                return _seen_by_none("I", label, place)
            sentence = f"{label}, which {self._spack} asks for, {place}"
        elif index.database > own:
            label = f"its index is of database v{index.database}"
            if index.layout == "":
                label = f"its database is v{index.database}"
            sentence = f"{label}, which {self._spack} cannot read, {place}"
        else:
            return None
        return FitReason("N", clean(label), clean(sentence), False, place)


def _seen_by_none(letter: str, label: str, place: str) -> FitReason:
    return FitReason(letter, clean(label), "", False, place)


def _texts(value: Value) -> tuple[str, ...]:
    return value if isinstance(value, tuple) else ()


class _Finder:
    """Finds specs as integers with a byte for each id, so that & and | are quick."""

    def __init__(self, catalog: Catalog) -> None:
        self.problems: list[Problem] = []
        self._catalog, self._parse = catalog, cache(parse_spec)
        self._every = int.from_bytes(b"\1" * catalog.total, "little")

    def _matching(self, query: Query) -> int:
        mask = bytearray(self._catalog.total)
        for start, stop in self._catalog.match(query).spans():
            mask[start:stop] = b"\1" * (stop - start)
        return int.from_bytes(mask, "little")

    def _among(self, mask: int, spec: Text, virtual: str = "") -> int | None:
        """Return the specs of a mask that match a spec of the configuration.

        With a `virtual`, those of whose dependencies the one that provides it matches. None where
        the spec is a problem.
        """
        try:
            query = self._parse(spec)
            if virtual and query.package is None:
                raise QueryError("Expected the name of a package", 0)
            if not mask:
                return 0
            if virtual:
                query = Query().also(Depends(True, tuple(query.conditions), (virtual,)))
            return mask & self._matching(query)
        except (QueryError, Unanswerable) as error:
            why = clean(f"{spec} is not considered: {error}")
            self.problems.append(Problem(spec.file, f"line {spec.line}", why))
            return None

    def check(self, specs: Iterable[Text]) -> None:
        """Add the problems of specs that keep nothing out."""
        for spec in specs:
            self._among(0, spec)

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

    def _reason(self, mask: int, label: str, place: str, letter: str = "C") -> KeptOut:
        reason = FitReason(letter, clean(label), "", False, place)
        return KeptOut(reason, mask.to_bytes(self._catalog.total, "little"))

    def not_seen(self, spack_version: str) -> Iterator[KeptOut]:
        """Yield the specs that no document lists which Spack reads, by mirror.

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
        masks = defaultdict[FitReason, bytearray](lambda: bytearray(self._catalog.total))
        for look_alike, code in enumerate(self._catalog.column("presence") if hidden else ()):
            start, stop = self._catalog.span(look_alike)
            if code in hidden and stop <= self._catalog.total:
                masks[hidden[code]][start:stop] = b"\1" * (stop - start)
        yield from (KeptOut(reason, bytes(mask)) for reason, mask in masks.items())

    def not_selected(self, rules: ReuseRules) -> Iterator[KeptOut]:
        """Yield the specs that concretizer:reuse and the filters of mirrors exclude."""
        installed = self._matching(parse("installed"))
        # Specs that an index only describes are judged like cached ones.
        cached = self._matching(parse("cached")) | self._every & ~installed
        if rules.is_off and rules.reuse is not None:
            yield self._reason(self._every, f"{_REUSE} is {rules.reuse}", place_of(rules.reuse))
            return
        fetched, filters = 0, list[tuple[str, Selection, int]]()
        for source in self._catalog.sources:
            of_source = cached & self._matching(exact_query("source", source.name))
            selection = rules.mirrors.get(source.name, Selection())
            fetched |= self._selected(selection, of_source)
            filters.append((MIRROR, selection, of_source))
        reused = 0
        for selections, among in ((rules.caches, fetched), (rules.trees, installed)):
            for selection in selections:
                reused |= self._selected(selection, among)
        filters += [(_REUSE, selection, fetched) for selection in rules.caches]
        filters += [(_REUSE, selection, installed) for selection in rules.trees]
        left = self._every & ~reused
        for name, selection, among in filters:
            for spec in selection.exclude:
                if mask := self._among(left & among, spec):
                    yield self._reason(mask, f"{name} excludes {spec}", place_of(spec))
                    left &= ~mask
            among &= left
            if mask := among & ~self._included(selection, among):
                label = f"{name} includes only {_shown(selection.include, 'and')}"
                yield self._reason(mask, label, place_of(selection.include[0]))
                left &= ~mask
        if left and rules.reuse is not None:
            yield self._reason(left, f"{_REUSE} takes nothing from there", place_of(rules.reuse))

    def not_required(self, rules: ReuseRules) -> Iterator[KeptOut]:
        """Yield the specs that break requirements or conflicts of packages.yaml.

        Those on a virtual are for the provider that a dependent uses. As `RequirementParser` in
        lib/spack/spack/solver/requirements.py.
        """
        packages, left = set(self._catalog.texts("package")), self._every
        for by_name in (rules.requirements, rules.conflicts):
            others = self._every
            for name in sorted(by_name, key=ALL.__eq__):
                virtual = ""
                if name == ALL:
                    among = others
                elif name in packages:
                    among = self._matching(Query().with_package(name))
                    others &= ~among
                else:
                    virtual = name
                    among = self._matching(Query().also(Depends(True, (), (name,))))
                for requirement in by_name[name]:
                    broken = self._broken(requirement, left & among, virtual, name == ALL)
                    if broken:
                        verb = "conflicts with" if requirement.policy == "none_of" else "requires"
                        what = _shown(requirement.specs, "or") + (virtual and f" for {virtual}")
                        why = requirement.message and f": {requirement.message}"
                        label = f"packages.yaml {verb} {what}{why}"
                        yield self._reason(broken, label, place_of(requirement.specs[0]), "Q")
                        left &= ~broken

    def not_allowed(
        self, rules: ReuseRules, deprecated: Iterable[DeprecatedSpecs]
    ) -> Iterator[KeptOut]:
        """Yield the specs whose deprecation the configuration does not allow, as Spack 1.3 does.

        As `reusable` in lib/spack/spack/deprecation.py.
        """
        for package, deprecation, ids in deprecated:
            if not rules.allows(package, deprecation):
                place = f"packages:{package}:deprecation:allow"
                masks = [(mask_of(ids, self._catalog.total), f"deprecated: {deprecation.why}")]
                if rules.checks_build:
                    users = self._catalog.edges.up.reached(ids).difference(ids)
                    label = f"built with a deprecated {package}"
                    masks.append((mask_of(users, self._catalog.total), label))
                for mask, label in masks:
                    yield self._reason(int.from_bytes(mask, "little"), label, place, "A")

    def _broken(self, rule: Requirement, among: int, virtual: str, is_of_all: bool) -> int:
        """Return which of some specs break a rule; none where a spec of it is a problem."""
        applies = among
        if rule.when is not None:
            applies = self._among(among, rule.when) or 0
        # A default does not apply to specs that can match none of it.
        is_default = is_of_all and rule.policy != "none_of"
        met = met_twice = able = 0
        is_known = True
        for spec in rule.specs:
            # One that matches already is not looked for again.
            rest = applies & ~met if rule.policy == "any_of" else applies
            if is_default and self._among(0, spec) is not None:
                can_match = self._able(spec)
                able |= can_match
                rest &= can_match
            matching = self._among(rest, spec, virtual)
            if matching is None:
                is_known = False
                continue
            met_twice |= met & matching
            met |= matching
        if not is_known:
            return 0
        if rule.policy == "none_of":
            return met
        kept = met if rule.policy == "any_of" else met & ~met_twice
        return applies & ~kept & (able if is_default else applies)

    def _able(self, spec: Text) -> int:
        """Return the specs that a requirement of all packages applies to: those with its variants.

        A requirement on the compiler applies to neither compilers nor specs without one.
        """
        able = self._every
        for condition in self._parse(spec).conditions:
            if isinstance(condition, Depends):
                able &= self._compiled
            elif condition.column == "variants":
                name, _ = split_variant(condition.pattern)
                forms = (f"+{name}", f"~{name}", f"{name}=*")
                queries = (Query().also(Term("variants", form)) for form in forms)
                able &= reduce(or_, map(self._matching, queries))
        return able

    @cached_property
    def _compiled(self) -> int:
        """The specs with a compiler that are neither compilers nor runtimes."""
        compiled = self._matching(Query().also(Term("compiler", "?*")))
        for name in self._catalog.texts("package"):
            # Spack requires no compiler for them.
            if is_compiler(name) or name in _RUNTIMES:
                compiled &= ~self._matching(Query().with_package(name))
        return compiled


def _shown(specs: Sequence[Text], word: str) -> str:
    """Name the first of some specs."""
    return listed(cut_list(specs, _MAX_SPECS), word)
