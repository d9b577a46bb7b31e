"""Say which condition of a query nothing can fulfil, and what was perhaps meant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.facets import Facet, facets
from spackscope.model.core.compilers import compiler_name
from spackscope.model.core.errors import (
    Unanswerable,
)
from spackscope.model.core.progress import ShouldStop, never
from spackscope.model.core.records import HASH_LENGTH
from spackscope.model.core.text import clean
from spackscope.model.core.versions import version_key
from spackscope.model.query.ast import (
    COLUMN_KEYS,
    Condition,
    Depends,
    Group,
    Query,
    Term,
    query_of,
)
from spackscope.model.query.matchers import ANY, is_glob, is_variant, split_variant

_NAMED = 3
"""Values that are named where nothing is close."""

_MOST_NAMES = 6
"""Variants that are all named where none is close."""

_CLOSE = 0.6
_MOST_COMPARED = 5_000


@dataclass(frozen=True, slots=True)
class Advice:
    """Hold a sentence about a condition that nothing fulfils; `condition` says which one."""

    sentence: str
    condition: Condition


def advice(catalog: Catalog, query: Query, *, should_stop: ShouldStop = never) -> Advice | None:
    """Find the first condition that no record of the packages asked for fulfils.

    Of several specs, each must have one. None where every condition can be fulfilled, if not
    together with the others. Raises Cancelled.
    """
    found = None
    for groups in query.specs or ((),):
        advisor = _Advisor(catalog, (*query.groups, *groups), should_stop)
        try:
            said = advisor.advice()
        except Unanswerable as error:
            return Advice(str(error), error.condition)
        if said is None:
            return None
        found = found or said
    return found


class _Advisor:
    """Look at the conditions of one spec, each within the packages that the spec asks for."""

    def __init__(self, catalog: Catalog, groups: Sequence[Group], should_stop: ShouldStop) -> None:
        self._catalog = catalog
        self._names = [g for g in groups if all(c.column == "package" for c in g)]
        self._others = [group for group in groups if group not in self._names]
        self._context = Query(tuple(self._names))
        self._should_stop = should_stop

    def advice(self) -> Advice | None:
        if self._names and not self._count(self._context):
            return self._said(self._names[0])
        for group in self._others:
            if not self._count(self._context.plus(Query((group,)))):
                return self._said(group)
        return None

    def _count(self, query: Query) -> int:
        return self._catalog.count(query, should_stop=self._should_stop)

    @property
    def _name(self) -> str:
        """The name of the one package that is asked for, or an empty text."""
        conditions = [c for group in self._names for c in group]
        if len(conditions) == 1 and isinstance(conditions[0], Term) and not conditions[0].negated:
            pattern = conditions[0].pattern
            return "" if is_glob(pattern) else clean(pattern)
        return ""

    @property
    def _none(self) -> str:
        return f"no {self._name or 'spec'}"

    def _said(self, group: Group) -> Advice:
        condition = group[0]
        if len(group) > 1 and group in self._names and not any(c.negated for c in group):
            names = [clean(c.pattern) for c in group if isinstance(c, Term)]
            said = f"there is no package {_or(names)}"
        elif len(group) > 1 or condition.negated:
            said = f"{self._none} fulfils {' | '.join(map(str, group))}"
        elif isinstance(condition, Depends) and condition.compiler is None:
            said = self._on_dependency(condition)
        elif isinstance(condition, Depends):
            said = self._on_compiler(condition)
        elif condition.column == "variants" and is_variant(condition.pattern):
            said = self._on_variant(condition.pattern)
        else:
            said = self._on_value(condition)
        return Advice(clean(said), condition)

    def _facets(self, column: str) -> list[Facet]:
        context = Query() if column == "package" else self._context
        return facets(self._catalog, context, column, should_stop=self._should_stop)

    def _on_dependency(self, condition: Depends) -> str:
        names = [name for name in self._catalog.dictionaries.texts("package") if name]
        named = query_of(Term("package", condition.name))
        is_known = condition.name in names or self._catalog.virtuals.providers(named)
        guess = "" if is_known else _meant(condition.name, names)
        return f"{self._none} has a dependency {condition}{guess}"

    def _on_compiler(self, condition: Depends) -> str:
        found = self._facets("compiler")
        name = compiler_name(condition.name)
        if name != condition.name and any(f.value.startswith(f"{condition.name}@") for f in found):
            return (
                f"Spack takes %{condition.name} for the package {name}; for the compiler as it is"
                f" listed write compiler={condition.name}"
            )
        names = [facet.value.partition("@")[0] for facet in found]
        if name not in names:
            guess = _meant(condition.name, [n for n in names if n != "none"])
            return f"{self._none} is built with %{condition.name}{guess}"
        versions = [f for f in found if f.value.startswith(f"{name}@")]
        return f"{self._none} is built with {condition}{_there_are(versions)}"

    def _on_variant(self, pattern: str) -> str:
        name, values = split_variant(pattern)
        found = self._facets("variants")
        its = [facet for facet in found if split_variant(facet.value)[0] == name]
        if its:
            return f"{self._none} has {clean(pattern)}{_there_are(its)}"
        names = dict.fromkeys(split_variant(facet.value)[0] for facet in found)
        others = [] if values in (("+",), ("~",)) else [f"{key}=" for key in sorted(COLUMN_KEYS)]
        guess = _meant(name, [*names, *others])
        where = f" in {self._name}" if self._name else ""
        if not guess and 0 < len(names) <= _MOST_NAMES:
            guess = f": there are {', '.join(sorted(map(clean, names)))}"
        return f"unknown variant {clean(name)}{where}{guess}"

    def _on_value(self, condition: Term) -> str:
        column, pattern = condition.column, condition.pattern
        if column == "hash":
            is_possible = set(pattern) <= set("abcdefghijklmnopqrstuvwxyz234567*?")
            why = "" if is_possible else ": hashes have a-z and 2-7 only"
            if len(pattern) > HASH_LENGTH:
                why = f": hashes have {HASH_LENGTH} characters"
            return f"no hash begins with {clean(pattern)}{why}"
        if column == "size":
            return f"{self._none} has a size of {clean(pattern)}"
        if column == ANY:
            guess = _meant(pattern, [facet.value for facet in self._facets("package")])
            return f"{self._none} shows {clean(pattern)} in any column{guess}"
        found = self._facets(column)
        if column == "package":
            guess = _meant(pattern, [facet.value for facet in found])
            return f"unknown package {clean(pattern)}{guess}"
        if column == "version":
            return f"{self._none} has {condition}{_there_are(found)}"
        if len(found) <= _NAMED:
            return f"{self._none} has {condition}{_there_are(found)}"
        guess = _meant(pattern.strip("*"), [facet.value for facet in found])
        return f"{self._none} has {condition}{guess or _there_are(found)}"


def _meant(typed: str, known: Iterable[str]) -> str:
    """Guess what was meant, as `: did you mean mpi?`; nothing where nothing is close."""
    candidates = list(dict.fromkeys(known))[:_MOST_COMPARED]
    by_lower = {text.lower(): text for text in reversed(candidates)}
    near = get_close_matches(typed.lower(), by_lower, _NAMED, _CLOSE)
    longer = [low for low in by_lower if len(typed) > 1 and low.startswith(typed.lower())]
    texts = [clean(by_lower[low]) for low in dict.fromkeys(sorted(longer, key=len) + near)]
    return f": did you mean {_or(texts[:_NAMED])}?" if texts else ""


def _there_are(found: Sequence[Facet]) -> str:
    """Name the most frequent values, as `: there are 80, 90 and none`."""
    texts = [clean(facet.value) for facet in found[:_NAMED] if facet.value]
    if not texts:
        return ""
    more = f" and {len(found) - _NAMED:,} more" if len(found) > _NAMED else ""
    verb = "is only" if len(texts) == 1 else "are"
    ordered = sorted(texts, key=version_key)
    return f": there {verb} {', '.join(ordered)}{more}"


def _or(texts: Sequence[str]) -> str:
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} or {texts[-1]}"
