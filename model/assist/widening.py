"""Find conditions near one that nothing fulfils: nearest versions, older targets, other names."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.facets import facets
from spackscope.model.core.compilers import compiler_name, is_compiler
from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.core.progress import ShouldStop
from spackscope.model.core.records import UNKNOWN, YES
from spackscope.model.core.suggestions import near
from spackscope.model.core.variants import is_propagated, is_variant, split_variant
from spackscope.model.core.versions import version_key
from spackscope.model.query.ast import Query
from spackscope.model.query.conditions import Condition, Depends, Term, exact_term
from spackscope.model.query.matchers import ANY, is_glob, target_test

_MAX_NEAREST = 3
"""Values that are offered in place of one."""

_ALIKE = 0.8
"""How near a word without its key must be to a value, from 0 to 1."""

_MIN_PREFIX = 3
"""Letters that a shortened prefix of a hash keeps."""

_MIN_HASH_WORD = 4
"""Letters of a word that may be meant as a hash."""

_ONLY_DROPPED = ("size", "state", "flags", "arch")
"""Columns of which no value is near another."""

_BOUNDS = re.compile(r"[,:=]")


class Widening(Frozen):
    """The conditions to put in place of one, under the `others` of its query.

    What a condition becomes exists under the others as far as that is quickly found; whether it
    really leaves a record is for the caller to count.
    """

    catalog: Catalog
    others: Query
    should_stop: ShouldStop

    def of(self, condition: Condition) -> Iterator[Condition]:
        """Yield conditions near a condition that is not negated, or wider ones, the best first.

        Raises Cancelled and Unanswerable.
        """
        if isinstance(condition, Depends):
            return self._dependency(condition)
        widenings: dict[str, Callable[[Term], Iterator[Condition]]] = {
            "version": self._version,
            "compiler": self._compiler,
            "target": self._target,
            "variants": self._variant,
            "hash": self._hash,
            "fits": self._unknown,
            "reusable": self._unknown,
            "package": self._name,
            ANY: self._name,
        }
        if condition.column in _ONLY_DROPPED:
            return iter(())
        return widenings.get(condition.column, self._text)(condition)

    def _values(self, column: str) -> list[str]:
        counted = facets(self.catalog, self.others, column, should_stop=self.should_stop)
        return [facet.value for facet in counted if facet.value]

    def _text(self, term: Term) -> Iterator[Condition]:
        typed = term.pattern.strip("*")
        if not typed or is_glob(typed):
            return
        for value in near(typed, self._values(term.column)):
            yield exact_term(term.column, value)

    def _name(self, term: Term) -> Iterator[Condition]:
        dictionaries, typed = self.catalog.dictionaries, term.pattern.strip("*")
        if len(typed) >= _MIN_HASH_WORD and dictionaries.has_hash(typed):
            yield Term("hash", typed)
        if typed and not is_glob(typed) and typed not in dictionaries.texts("package"):
            if (meant := meant_condition(self.catalog, typed, self.should_stop)) is not None:
                yield meant
            for value in near(typed, self._values("package")):
                yield exact_term("package", value)

    def _version(self, term: Term) -> Iterator[Condition]:
        if not is_glob(term.pattern):
            for version in nearest_versions(term.pattern, self._values("version")):
                yield exact_term("version", version)

    def _compiler(self, term: Term) -> Iterator[Condition]:
        name, _, constraint = term.pattern.partition("/")[0].partition("@")
        if not is_glob(term.pattern):
            if constraint:
                yield Term("compiler", name)
            for compiler in self._compilers(name, constraint):
                yield exact_term("compiler", compiler)

    def _compilers(self, name: str, constraint: str) -> list[str]:
        """Return the compilers of a name with the nearest versions, or names like it."""
        values = [value for value in self._values("compiler") if value != "none"]
        versions = dict.fromkeys(
            version for its_name, version in map(_split_compiler, values) if its_name == name
        )
        if versions:
            return [f"{name}@{version}" for version in nearest_versions(constraint, versions)]
        return near(name, (_split_compiler(value)[0] for value in values))

    def _target(self, term: Term) -> Iterator[Condition]:
        """Yield what the targets can run, and what the nearest newer ones can run."""
        if is_glob(term.pattern):
            return
        values = self._values("target")
        newer: list[str] = []
        for name in dict.fromkeys(filter(None, re.split("[,:]", term.pattern))):
            if any(map(target_test(f":{name}"), values)):
                yield Term("target", f":{name}")
            newer += filter(target_test(f"{name}:"), values)
        for value in newer:
            if not any(target_test(f":{value}")(other) for other in newer if other != value):
                yield Term("target", f":{value}")
        yield from self._text(term)

    def _variant(self, term: Term) -> Iterator[Condition]:
        pattern = term.pattern
        if not is_variant(pattern):
            return
        name, values = split_variant(pattern)
        if is_propagated(pattern):
            signed = pattern[:1] in ("+", "~")
            yield Term("variants", pattern[1:] if signed else pattern.replace("==", "=", 1))
        texts = self._values("variants")
        own = [text for text in texts if split_variant(text)[0] == name]
        if own and pattern[:1] not in ("+", "~"):
            yield Term("variants", f"{name}=*")
            for value in near(",".join(values), (t.partition("=")[2] for t in own)):
                yield exact_term("variants", f"{name}={value}")
        elif not own:
            names = dict.fromkeys(split_variant(text)[0] for text in texts)
            for other in near(name, names):
                yield Term("variants", pattern.replace(name, other, 1))

    def _unknown(self, term: Term) -> Iterator[Condition]:
        """Yield what may fit: its source does not list what decides it."""
        if term.pattern == YES:
            yield Term(term.column, UNKNOWN)

    def _hash(self, term: Term) -> Iterator[Condition]:
        """Yield the longest prefix that some hash has."""
        prefix = term.pattern.removeprefix("/").lower()
        while len(prefix) >= _MIN_PREFIX and not is_glob(prefix):
            if prefix != term.pattern and self.catalog.dictionaries.has_hash(prefix):
                yield Term("hash", prefix)
                return
            prefix = prefix[:-1]

    def _dependency(self, condition: Depends) -> Iterator[Condition]:
        """Yield the condition without one of its own, with `^` for `%`, or with other versions."""
        name = condition.name_term
        for term in condition.terms:
            if term is not name and len(condition.terms) > 1:
                rest = tuple(other for other in condition.terms if other is not term)
                yield replace(condition, terms=rest)
        if condition.virtuals or condition.deptypes:
            yield replace(condition, virtuals=(), deptypes=())
        if condition.compiler is not None and name is not None:
            constraint = condition.compiler.partition("@")[2].partition("/")[0]
            for compiler in self._compilers(compiler_name(name.pattern), constraint):
                its_name, version = _split_compiler(compiler)
                exact = (Term("version", f"={version}"),) if version else ()
                named = replace(name, pattern=name.pattern if version else its_name)
                yield replace(condition, terms=(named, *exact))
        if condition.direct and not condition.deptypes:
            yield replace(condition, direct=False)


def meant_condition(
    catalog: Catalog, word: str, should_stop: ShouldStop, *, is_near: bool = False
) -> Condition | None:
    """Return the condition that a word stands for which lacks its key, if it is not a package.

    If it `is_near`, the word may also only be near to a value. Raises Cancelled.
    """
    from archspec.cpu import TARGETS

    def values(column: str) -> list[str]:
        return [f.value for f in facets(catalog, Query(), column, should_stop=should_stop)]

    if is_compiler(word) or word in {_split_compiler(value)[0] for value in values("compiler")}:
        return Depends(True, (Term("package", word),))
    for column in ("target", "os", "platform", "stack", "tag"):
        known = [*values(column), *(TARGETS if column == "target" else ())]
        close = near(word, known, _ALIKE) if is_near else [word] if word in known else []
        if close:
            is_target = column == "target"
            return Term(column, f":{close[0]}") if is_target else exact_term(column, close[0])
    return None


def nearest_versions(constraint: str, versions: Iterable[str]) -> list[str]:
    """Return the versions next to the bounds of a constraint, below and above, nearest first.

    Example: `nearest_versions("1.14:", ["1.10", "1.12", "2.0"]) == ["1.12", "2.0"]`.
    """
    ordered = sorted(dict.fromkeys(versions), key=version_key)
    keys = [version_key(version) for version in ordered]
    nearest: dict[str, None] = {}
    for bound in filter(None, _BOUNDS.split(constraint)):
        at = bisect_left(keys, version_key(bound))
        nearest.update(dict.fromkeys(ordered[max(0, at - 1) : at][::-1] + ordered[at : at + 1]))
    return list(nearest)[:_MAX_NEAREST]


def _split_compiler(compiler: str) -> tuple[str, str]:
    name, _, version = compiler.partition("/")[0].partition("@")
    return name, version
