"""Find the specs that the configuration of the user's Spack keeps from being reused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import reduce
from operator import or_
from typing import NamedTuple

from spackscope.model.core.columns import HOST_COLUMNS
from spackscope.model.core.errors import QueryError, Unanswerable
from spackscope.model.core.records import FitReason, Problem, is_compiler
from spackscope.model.core.text import clean
from spackscope.model.core.variants import split_variant
from spackscope.model.index.catalog import Catalog
from spackscope.model.query.ast import Depends, Query, Term, exact_query
from spackscope.model.query.parser import parse
from spackscope.model.sources.reuse_rules import ALL, Requirement, ReuseRules, place_of
from spackscope.model.sources.source_name import spack_argument
from spackscope.model.sources.spack_config import Selection, Text

_RUNTIMES = ("gcc-runtime", "intel-oneapi-runtime", "glibc", "musl")
"""Packages that, like compilers, need no compiler of their own."""

_NO_INDEX = "its mirror has no index"
_REUSE, MIRROR = "concretizer:reuse", "its mirror"
"""The beginnings of the reasons, by the place of the rule."""


class KeptOut(NamedTuple):
    """A reason, and a mask of the ids of the specs that Spack does not reuse for it.

    It does not reuse their link and run dependents either: a hash is imposed with all that it
    needs (`ConcreteSpecsByHash.explicit_items` in solver/asp.py).
    """

    reason: FitReason
    mask: bytes


def find_kept_out(
    catalog: Catalog, rules: ReuseRules | None
) -> tuple[list[KeptOut], list[Problem]]:
    """Return which listed specs Spack does not see or the rules exclude, and unreadable rules.

    Of several reasons of the rules a spec has the first only. Raises Cancelled.
    """
    finder = _Finder(catalog)
    kept = [*finder.not_indexed()]
    if rules is not None:
        kept += [*finder.not_selected(rules), *finder.not_required(rules)]
    return kept, list(dict.fromkeys(finder.problems))


class _Finder:
    """Finds specs as integers with a byte for each id, so that & and | are quick."""

    def __init__(self, catalog: Catalog) -> None:
        self.problems: list[Problem] = []
        self._catalog = catalog
        self._every = int.from_bytes(b"\1" * catalog.total, "little")

    def _matching(self, query: Query) -> int:
        mask = bytearray(self._catalog.total)
        for start, stop in self._catalog.match(query).spans():
            mask[start:stop] = b"\1" * (stop - start)
        return int.from_bytes(mask, "little")

    def _specs(self, *specs: Text, query_of: Callable[[str], Query] = parse) -> int:
        """Return the specs that match one of several specs of the configuration."""
        found = 0
        for spec in specs:
            try:
                query = query_of(spec)
                if any(isinstance(c, Term) and c.column in HOST_COLUMNS for c in query.conditions):
                    raise QueryError("Spack has no such key")
                found |= self._matching(query)
            except (QueryError, Unanswerable) as error:
                why = clean(f"{spec} is not considered: {error}")
                self.problems.append(Problem(spec.file, f"line {spec.line}", why))
        return found

    def _selected(self, selection: Selection) -> int:
        included = self._specs(*selection.include) if selection.include else self._every
        return included & ~self._specs(*selection.exclude)

    def _reason(self, mask: int, label: str, place: Text, letter: str = "C") -> KeptOut:
        reason = FitReason(letter, clean(label), "", False, place_of(place))
        return KeptOut(reason, mask.to_bytes(self._catalog.total, "little"))

    def not_indexed(self) -> Iterator[KeptOut]:
        """Yield the specs that are only in mirrors without an index, by mirror.

        Spack knows the specs of a mirror by its index alone (`BinaryCacheIndex.update` in
        lib/spack/spack/binary_distribution.py).
        """
        sources = self._catalog.sources
        if not any(source.has_no_index for source in sources):
            return
        left = self._every
        for source in sources:
            if not (source.has_no_index or source.failure):
                left &= ~self._matching(exact_query("source", source.name))
        for source in sources:
            if source.has_no_index:
                mask = left & self._matching(exact_query("source", source.name))
                letter, label = "I", _NO_INDEX
                if "v3" not in source.layout:
                    # Spack 1 writes indexes of layout v3 only.
                    letter, label = "V", f"{_NO_INDEX} of layout v2"
                reason = FitReason(letter, label, "", False, spack_argument(source.name))
                yield KeptOut(reason, mask.to_bytes(self._catalog.total, "little"))

    def not_selected(self, rules: ReuseRules) -> Iterator[KeptOut]:
        """Yield the specs that concretizer:reuse and the filters of mirrors exclude."""
        installed = self._matching(parse("installed"))
        # Specs that an index only describes are judged like cached ones.
        cached = self._matching(parse("cached")) | self._every & ~installed
        if rules.is_off and rules.reuse is not None:
            yield self._reason(cached | installed, f"{_REUSE} is {rules.reuse}", rules.reuse)
            return
        fetched, filters = 0, list[tuple[str, Selection, int]]()
        for source in self._catalog.sources:
            of_source = cached & self._matching(exact_query("source", source.name))
            selection = rules.mirrors.get(source.name, Selection())
            fetched |= of_source & self._selected(selection)
            filters.append((MIRROR, selection, of_source))
        from_caches, from_trees = (
            reduce(or_, map(self._selected, selections), 0)
            for selections in (rules.caches, rules.trees)
        )
        filters += [(_REUSE, selection, fetched) for selection in rules.caches]
        filters += [(_REUSE, selection, installed) for selection in rules.trees]
        left = (cached | installed) & ~(fetched & from_caches | installed & from_trees)
        for name, selection, among in filters:
            for spec in selection.exclude:
                if mask := left & among & self._specs(spec):
                    yield self._reason(mask, f"{name} excludes {spec}", spec)
                    left &= ~mask
            if selection.include and (mask := left & among & ~self._specs(*selection.include)):
                label = f"{name} includes only {', '.join(selection.include)}"
                yield self._reason(mask, label, selection.include[0])
                left &= ~mask
        if left and rules.reuse is not None:
            yield self._reason(left, f"{_REUSE} takes nothing from there", rules.reuse)

    def not_required(self, rules: ReuseRules) -> Iterator[KeptOut]:
        """Yield the specs that break a requirement of packages.yaml on a package or a virtual."""
        packages, others = set(self._catalog.texts("package")), self._every
        for name, requirements in rules.requirements.items():
            if name in packages:
                of_package = self._matching(Query().with_package(name))
                others &= ~of_package
                for requirement in requirements:
                    yield from self._unmet(requirement, of_package, parse)
            elif name != ALL:
                # A virtual: the provider that a dependent uses must match.
                def provider(spec: str, virtual: str = name) -> Query:
                    conditions = tuple(parse(spec).conditions)
                    return Query().also(Depends(True, conditions, (virtual,)))

                dependents = self._matching(Query().also(Depends(True, (), (name,))))
                for requirement in requirements:
                    yield from self._unmet(requirement, dependents, provider, f" for {name}")
        for requirement in rules.requirements.get(ALL, ()):
            yield from self._unmet(requirement, others, parse, is_of_all=True)

    def _unmet(
        self,
        requirement: Requirement,
        among: int,
        query_of: Callable[[str], Query],
        of_what: str = "",
        *,
        is_of_all: bool = False,
    ) -> Iterator[KeptOut]:
        if requirement.when is not None:
            among &= self._specs(requirement.when)
        met = met_twice = 0
        for spec in requirement.specs:
            matching = self._specs(spec, query_of=query_of)
            if is_of_all:
                among &= self._able(spec)
            met_twice |= met & matching if requirement.only_one else 0
            met |= matching
        if mask := among & ~(met & ~met_twice):
            label = f"packages.yaml requires {' or '.join(requirement.specs)}{of_what}"
            yield self._reason(mask, label, requirement.specs[0], "Q")

    def _able(self, spec: Text) -> int:
        """Return the specs that a requirement of all packages applies to: those with its variants.

        A requirement on the compiler applies to neither compilers nor specs without one.
        """
        able = self._every
        with suppress(QueryError):
            for condition in parse(spec).conditions:
                if isinstance(condition, Depends):
                    able &= self._matching(Query().also(Term("compiler", "?*")))
                    for name in filter(is_built_without, self._catalog.texts("package")):
                        able &= ~self._matching(Query().with_package(name))
                elif condition.column == "variants":
                    name, _ = split_variant(condition.pattern)
                    forms = (f"+{name}", f"~{name}", f"{name}=*")
                    queries = (Query().also(Term("variants", form)) for form in forms)
                    able &= reduce(or_, map(self._matching, queries))
        return able


def is_built_without(package: str) -> bool:
    """Check for a compiler or a runtime, for which Spack requires no compiler."""
    return is_compiler(package) or package in _RUNTIMES
