"""What the user asks, as one frozen value, however it was typed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from spackscope.model.core.columns import ALIASES, COLUMNS, FIELDS, FLAGS, Column, Value
from spackscope.model.core.compilers import compiler_name
from spackscope.model.core.records import STATES
from spackscope.model.core.text import is_clean
from spackscope.model.query import lexer
from spackscope.model.query.matchers import (
    ANY,
    is_glob,
    is_propagated,
    is_variant,
    split_variant,
    test_of,
)

_ENDS_ODDLY = re.compile(r"[.\-](?=[,:=]|$)")

OWN_KEYS = frozenset({*FIELDS, *ALIASES, *FLAGS})
"""Keys that are no variants."""


@dataclass(frozen=True, slots=True)
class Term:
    """Hold one condition: a column, the pattern its value has to match, and whether it must not.

    A pattern with `*` or `?` is a glob and ignores case; any other is taken as Spack takes it:
    a version or a target as a constraint, a compiler as `name@constraint`, a hash as a prefix.
    """

    column: str
    pattern: str
    negated: bool = False

    def __post_init__(self) -> None:
        parts = lexer.PAIR_PARTS.fullmatch(self.pattern) if self.column == "variants" else None
        if parts is not None:
            key, operator, value = parts.groups()
            pattern = lexer.variant_pattern(key, operator, lexer.unquoted(value))
            object.__setattr__(self, "pattern", pattern)

    def __str__(self) -> str:
        return "!" * self.negated + self._spelled()

    def _spelled(self) -> str:
        column, pattern = self.column, self.pattern
        if column == "state" and pattern in STATES:
            return pattern
        if column == ANY:
            if pattern in STATES:
                return lexer.in_quotes(pattern)
            return pattern if _is_one(lexer.NAME, pattern) else lexer.in_quotes(pattern)
        if column == "version" and _is_one(lexer.VERSION, f"@{pattern}"):
            # What Spack does not read behind `@` wants quotes, as a version that ends in a dot.
            is_read = not _ENDS_ODDLY.search(pattern)
            return f"@{pattern}" if is_read else f"version={lexer.in_quotes(pattern)}"
        if column == "hash" and _is_one(lexer.HASH, f"/{pattern}"):
            return f"/{pattern}"
        name, _, flags = pattern.partition("=")
        if column == "flags" and name in FLAGS and flags:
            return f"{name}={lexer.quoted(flags)}"
        is_spelled = column == "variants" and is_variant(pattern)
        if is_spelled and split_variant(pattern)[0] not in OWN_KEYS:
            if parts := lexer.PAIR_PARTS.fullmatch(pattern):
                is_quoted = parts[3][0] in "'\""
                return pattern if is_quoted else parts[1] + parts[2] + lexer.quoted(parts[3])
            return pattern
        return f"{column}={lexer.quoted(pattern)}"

    @property
    def columns(self) -> tuple[Column, ...]:
        """Give the columns that the term looks at."""
        return COLUMNS if self.column == ANY else (FIELDS[self.column],)

    def fits(self, column: str, value: Value) -> bool:
        """Tell whether a value of one of these columns fits the pattern, negation left aside.

        A bare word is looked for at the beginning of a hash and anywhere in other texts.
        """
        if self.column == ANY and column == "hash":
            return isinstance(value, str) and value.startswith(self.pattern.lower())
        return test_of(self.column, self.pattern)(value)


@dataclass(frozen=True, slots=True)
class Depends:
    """Hold one condition on a dependency: `^zlib@1.3`, or `%cmake` where it must be direct.

    `terms` are the conditions on the dependency itself, `virtuals` and `deptypes` those on the
    edge to it. A direct one is also said of the compiler.
    """

    direct: bool
    terms: tuple[Condition, ...]
    virtuals: tuple[str, ...] = ()
    deptypes: tuple[str, ...] = ()
    negated: bool = False

    def __str__(self) -> str:
        sigil = "!" * self.negated + ("%" if self.direct else "^")
        name, rest = self.name, [t for t in self.terms if t is not self._named]
        if self.deptypes or (self.virtuals and not (name and self._is_assigned)):
            edge = [("deptypes", self.deptypes), ("virtuals", self.virtuals)]
            pairs = [f"{key}={lexer.quoted(','.join(texts))}" for key, texts in edge if texts]
            sigil += f"[{' '.join(pairs)}] "
        elif self.virtuals:
            sigil += f"{','.join(self.virtuals)}="
        spelled = [str(term) for term in rest]
        # Behind a sigil `key=` would be a virtual, and another sigil or name of its own.
        first = name or ("" if spelled and spelled[0][:1] in "@/+~" else "*")
        while spelled and (spelled[0][:1] in "@/" or not first):
            # A git reference would go on with the hash behind it.
            if "@git." in first:
                break
            first += spelled.pop(0)
        return sigil + " ".join([first, *spelled])

    @property
    def _named(self) -> Condition | None:
        return next((t for t in self.terms if t.column == "package" and not t.negated), None)

    @property
    def name(self) -> str:
        """The name of the dependency, or an empty text where none is asked for."""
        return self._named.pattern if isinstance(self._named, Term) else ""

    @property
    def compiler(self) -> str | None:
        """The pattern of a compiler that this means where a record names no more than that.

        None where more is asked than the name, version and hash of a compiler.
        """
        pattern, has_more = self.stated_compiler
        is_plain = all(term.column in _STATED for term in self.terms)
        return pattern if self.direct and self.name and is_plain and not has_more else None

    @property
    def stated_compiler(self) -> tuple[str, bool]:
        """The pattern of the compiler that is asked for, and whether more is asked of it.

        Spack keeps of a compiler that a record states nothing but name and version. Propagated
        variants and a namespace, which it does not have, are not asked of it. The name is that of
        a package: like Spack, `%oneapi` asks for intel-oneapi-compilers.
        """
        terms = [term for term in self.terms if isinstance(term, Term)]
        stated = {t.column: t.pattern for t in terms if t.column in _STATED and not t.negated}
        if "package" in stated:
            stated["package"] = compiler_name(stated["package"])
        not_asked = [
            term
            for term in terms
            if term.column == "namespace"
            or (term.column == "variants" and is_propagated(term.pattern))
        ]
        pattern = "".join(
            sign + stated[column] for column, sign in _STATED.items() if column in stated
        )
        return pattern, len(stated) + len(not_asked) < len(self.terms)

    @property
    def column(self) -> str:
        """The column whose filter shows this condition, or an empty text."""
        is_one_word = not self.deptypes and (self._is_assigned or not self.virtuals)
        return "compiler" if self.compiler is not None and is_one_word else ""

    @property
    def _is_assigned(self) -> bool:
        """Check whether its virtuals are written as in `%c,cxx=gcc`."""
        return lexer.IDENTIFIERS.fullmatch(",".join(self.virtuals)) is not None


_STATED = {"package": "", "version": "@", "hash": "/"}
"""What a record can state of a compiler, with the signs of its pattern."""

Condition = Term | Depends
Group = tuple[Condition, ...]
"""Alternatives, of which one must hold."""


@dataclass(frozen=True, slots=True, eq=False)
class Query:
    """Hold what the user asks for: groups that must all hold, and several specs of which one must.

    A group holds where one of its conditions does. What all specs have in common stands in
    `groups`; `specs` is empty where there is only one. The name comes first, then the hash, since
    either may begin another spec, and conditions on dependencies come last, since in a spec's
    text whatever follows them would belong to the dependency. Among alternatives they come first:
    what stands behind `|` belongs to the spec again.
    """

    groups: tuple[Group, ...] = ()
    specs: tuple[tuple[Group, ...], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "groups", _in_order(self.groups))
        object.__setattr__(self, "specs", tuple(map(_in_order, self.specs)))

    def _asked(self) -> tuple[frozenset[Group], frozenset[frozenset[Group]]]:
        return frozenset(self.groups), frozenset(map(frozenset, self.specs))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Query) and self._asked() == other._asked()

    def __hash__(self) -> int:
        return hash(self._asked())

    def __str__(self) -> str:
        if not self.specs:
            return " ".join(_spelled(self.groups))
        specs = [sorted((*groups, *self.groups), key=_order) for groups in self.specs]
        return " ".join(map(_spell_spec, specs, [specs[0], *specs]))

    def __bool__(self) -> bool:
        return bool(self.groups or self.specs)

    @property
    def conditions(self) -> Iterator[Condition]:
        """Give every condition."""
        for groups in (self.groups, *self.specs):
            for group in groups:
                yield from group

    @property
    def columns(self) -> frozenset[str]:
        """Name the columns that are asked for."""
        return frozenset(condition.column for condition in self.conditions)

    def parts(self) -> list[Query]:
        """Give the parts that must all hold."""
        parts = [Query((group,)) for group in self.groups]
        return [*parts, Query((), self.specs)] if self.specs else parts

    def minus(self, part: Query) -> Query:
        """Give the query that lacks a part."""
        groups = tuple(group for group in self.groups if group not in part.groups)
        return Query(groups, () if part.specs else self.specs)

    def plus(self, part: Query) -> Query:
        """Give the query that also asks for another one; only one may have several specs."""
        new = tuple(group for group in part.groups if group not in self.groups)
        return Query(self.groups + new, self.specs or part.specs) if new or part.specs else self

    def also(self, condition: Condition) -> Query:
        """Give the query with one more condition."""
        return self.plus(Query(((condition,),)))

    def without_last(self) -> Query:
        """Give the query that lacks its last group, or its specs where that is all there is."""
        return replace(self, groups=self.groups[:-1]) if self.groups else Query()

    def of_column(self, column: str) -> tuple[Group, ...]:
        """Give the groups that ask for nothing but a column."""
        return tuple(g for g in self.groups if all(c.column == column for c in g))

    def without_column(self, column: str) -> Query:
        """Give the query that lacks the groups that ask for nothing but a column."""
        gone = self.of_column(column)
        return replace(self, groups=tuple(group for group in self.groups if group not in gone))


def query_of(*conditions: Condition) -> Query:
    """Make the query whose conditions must all hold."""
    return Query(tuple((condition,) for condition in dict.fromkeys(conditions)))


def several(specs: Iterable[Iterable[Group]]) -> Query:
    """Make the query of several specs, of which one must hold."""
    drafts = [_in_order(dict.fromkeys(groups)) for groups in specs]
    shared = tuple(g for g in drafts[0] if all(g in groups for groups in drafts[1:]))
    rest = tuple(tuple(g for g in draft if g not in shared) for draft in drafts)
    are_names = all(len(d) == 1 and len(d[0]) == 1 and _is_name(d[0]) for d in rest)
    if are_names:
        # Names alone are alternatives like any others.
        return Query((*shared, tuple(dict.fromkeys(groups[0][0] for groups in rest))))
    return Query(shared, rest if all(rest) else ())


def exact_term(column: str, value: str) -> Term:
    """Make the term that a value shown on the screen stands for.

    What Spack does not take for a version is matched as a text, with `?` for its odd signs, and
    so is what must not be shown as it is.
    """
    if not value:
        return Term(column, "?*", negated=True)
    exact = {"compiler": value.replace("@", "@=", 1), "version": f"={value}"}.get(column, value)
    if column == "target" and set(value) & set(",:"):
        exact = ""
    try:
        if is_clean(value) and test_of(column, exact)((value,) if column == "variants" else value):
            return Term(column, exact)
    except ValueError:
        pass
    pattern = re.sub(r"[^\w.-]", "?", value, flags=re.ASCII)
    return Term(column, pattern if is_glob(pattern) else f"{pattern[:-1]}?")


def spell_group(group: Group) -> str:
    """Spell alternatives as a query does."""
    return " | ".join(map(str, group))


def _spelled(groups: Sequence[Group]) -> list[str]:
    """Spell the groups of one spec: there a second `/hash` would begin another one."""
    spelled = []
    has_hash = False
    for group in groups:
        hashes = {c for c in group if isinstance(c, Term) and str(c).lstrip("!").startswith("/")}
        texts = [
            f"{'!' * c.negated}hash={c.pattern}" if has_hash and c in hashes else str(c)
            for c in group
        ]
        spelled.append(" | ".join(texts))
        has_hash = has_hash or bool(hashes)
    return spelled


def _spell_spec(groups: Sequence[Group], before: Sequence[Group]) -> str:
    """Spell one of several specs, so that it does not run into the one before.

    A name with a sigil behind it begins a spec in a live filter too, and `*` is no condition. A
    hash begins one where the spec before has its own, and no dependency to take it.
    """
    first = next((group for group in groups if _is_name(group)), None)
    spelled = _spelled([group for group in groups if group is not first])
    if first is not None and isinstance(first[0], Term):
        spelled.insert(0, " | ".join([f"{first[0].pattern}@:", *map(str, first[1:])]))
    else:
        has_hash = any(len(group) == 1 and str(group[0]).startswith("/") for group in before)
        takes_it = any(isinstance(condition, Depends) for group in before for condition in group)
        if takes_it or not (has_hash and spelled[0].startswith("/")):
            spelled.insert(0, "*@:")
    return " ".join(spelled)


def _is_name(group: Group) -> bool:
    """Tell whether a group begins with what can be spelled as the name of a package."""
    condition = group[0]
    if condition.negated or condition.column != "package" or _order(group)[0]:
        return False
    pattern = condition.pattern if isinstance(condition, Term) else ""
    return (
        # As a name `*` asks for nothing.
        pattern != "*"
        and pattern.isascii()
        and _is_one(lexer.NAME, pattern)
        and ("." not in pattern or is_glob(pattern))
    )


def _in_order(groups: Iterable[Group]) -> tuple[Group, ...]:
    ordered = (tuple(sorted(group, key=_depth, reverse=True)) for group in groups)
    return tuple(sorted(ordered, key=_order))


def _order(group: Group) -> tuple[int, int]:
    first = group[0]
    begins = 0 if first.column == "package" and not first.negated else 2
    return _depth(first), 1 if str(first).startswith("/") else begins


def _depth(condition: Condition) -> int:
    return 0 if isinstance(condition, Term) else 1 if condition.direct else 2


def _is_one(kind: str, text: str) -> bool:
    found = list(lexer.tokens(text))
    return len(found) == 1 and found[0].kind == kind
