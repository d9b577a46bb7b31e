"""Represent a query as one frozen value, however it was typed, and write it as text.

Conditions on dependencies follow `Spec._satisfies` for concrete specs in lib/spack/spack/spec.py
of Spack 1.2. A virtual such as `mpi` is known only from edges that provide it, not from recipes.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from spackscope.model.core.columns import ALIASES, COLUMNS, FIELDS, FLAGS, WORDS, Column, Value
from spackscope.model.core.errors import Unanswerable
from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.core.records import (
    LANGUAGES,
    Dependency,
    absent_spec,
    compiler_name,
    is_compiler,
    is_propagated,
    is_variant,
    split_keyed,
    split_variant,
)
from spackscope.model.core.text import is_clean
from spackscope.model.query import lexer
from spackscope.model.query.matchers import ANY, Matcher, is_glob, matcher

_ANY_VALUE = "?*"
"""The pattern that every text fits except the empty one."""

COLUMN_KEYS = frozenset({*FIELDS, *ALIASES, *FLAGS, ANY})
"""Keys that are not variants."""

_WORD_OF = {term: word for word, term in WORDS.items()}
_UNQUOTED_FLAGS = rf"({'|'.join(FLAGS)})(==?)([^\s'\"]\S*(?:\s+-\S+)+)"
_ENDS_IN_SEPARATOR = r"[.\-](?=[,:=]|$)"


class Term(Frozen):
    """A condition on a column: its value must match a pattern, or must not if `negated`.

    A pattern with `*` or `?` is a glob and ignores case. Other patterns are read as by Spack: a
    version or a target as a constraint, a compiler as `name@constraint`, a hash as a prefix.
    """

    column: str
    pattern: str
    negated: bool = False

    def __post_init__(self) -> None:
        parts = split_keyed(self.pattern) if self.column == "variants" else None
        if parts is not None:
            # Without quotes such a value would be read as a part of the operator, or as quoted.
            value = lexer.unquoted(parts[3])
            text = lexer.in_quotes(value) if value[:1] in ("", "=", *lexer.QUOTES) else value
            object.__setattr__(self, "pattern", parts[1] + parts[2] + text)

    def __str__(self) -> str:
        return f"!{self._text()}" if self.negated else self._text()

    def _text(self) -> str:
        column, pattern = self.column, self.pattern
        if (column, pattern) in _WORD_OF:
            return _WORD_OF[column, pattern]
        if column == "version" and lexer.is_token(lexer.VERSION, f"@{pattern}"):
            # Spack reads no version that ends in a separator after `@`, and `@:` as no condition.
            is_plain = pattern != ":" and not re.search(_ENDS_IN_SEPARATOR, pattern)
            return f"@{pattern}" if is_plain else f"version={lexer.in_quotes(pattern)}"
        if column == "hash" and lexer.is_token(lexer.HASH, f"/{pattern}"):
            return f"/{pattern}"
        name, _, flags = pattern.partition("=")
        if column == "flags" and name in FLAGS and flags:
            return f"{name}={lexer.quoted(flags)}"
        name = split_variant(pattern)[0]
        if column == "variants" and is_variant(pattern) and name not in COLUMN_KEYS:
            parts = split_keyed(pattern)
            if parts is None or parts[3][0] in lexer.QUOTES:
                return pattern
            return parts[1] + parts[2] + lexer.quoted(parts[3])
        return f"{column}={lexer.quoted(pattern)}"

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns whose values are compared with the pattern."""
        return COLUMNS if self.column == ANY else (FIELDS[self.column],)

    def fits(self, column: str, value: Value) -> bool:
        """Check a value of one of `columns` against the pattern, ignoring negation."""
        return self.matcher(column)(value)

    def matcher(self, column: str) -> Matcher:
        """Return the function that checks values of one of `columns`, ignoring negation.

        A bare word must be the beginning of a hash, and may be anywhere in other texts.
        """
        if self.column == ANY and column == "hash":
            prefix = self.pattern.lower()
            return lambda value: isinstance(value, str) and value.startswith(prefix)
        return matcher(self.column, self.pattern)


class Depends(Frozen):
    """A condition on a dependency: `^zlib@1.3`, or `%cmake` where it must be direct.

    `terms` are the conditions on the dependency itself, `virtuals` and `deptypes` conditions on
    the edge to it. A direct dependency may also be the compiler that a record states.
    """

    direct: bool
    terms: tuple[Condition, ...]
    virtuals: tuple[str, ...] = ()
    deptypes: tuple[str, ...] = ()
    negated: bool = False

    def __str__(self) -> str:
        term_of_name, name = self.name_term, self.name
        virtuals, deptypes = ",".join(self.virtuals), ",".join(self.deptypes)
        sigil = "!" * self.negated + ("%" if self.direct else "^")
        if deptypes or (virtuals and not (name and self.is_assigned)):
            attributes = {"deptypes": deptypes, "virtuals": virtuals}.items()
            pairs = " ".join(f"{key}={lexer.quoted(text)}" for key, text in attributes if text)
            sigil += f"[{pairs}] "
        elif virtuals:
            sigil += f"{virtuals}="
        texts = [str(term) for term in self.terms if term is not term_of_name]
        # After a sigil `key=` would be a virtual, and another sigil or name a separate condition.
        first = name or ("" if texts and texts[0][:1] in "@/+~" else "*")
        # A git reference would include the hash after it.
        while texts and (texts[0][:1] in "@/" or not first) and "@git." not in first:
            first += texts.pop(0)
        return sigil + " ".join([first, *texts])

    @property
    def name_term(self) -> Term | None:
        """The condition on the name of the dependency, if there is one."""
        terms = (term for term in self.terms if isinstance(term, Term))
        return next((t for t in terms if t.column == "package" and not t.negated), None)

    @property
    def name(self) -> str:
        """The name of the dependency; empty if any name will do."""
        return self.name_term.pattern if self.name_term is not None else ""

    @property
    def of_root(self) -> tuple[Depends, ...]:
        """The nested conditions that Spack applies to the spec itself: `%gcc` in `^gcc %gcc`."""
        direct = (term for term in self.terms if isinstance(term, Depends))
        is_name = bool(self.name) and not is_glob(self.name)
        return tuple(d for d in direct if is_name and compiler_name(d.name) == self.name)

    @property
    def compiler(self) -> str | None:
        """The pattern in the column `compiler` with the same meaning as this condition.

        None if the condition asks for more than the name, version and hash of a compiler.
        """
        pattern, has_more = self.stated_compiler
        is_plain = all(term.column in _STATED for term in self.terms)
        return pattern if self.direct and self.name and is_plain and not has_more else None

    @property
    def stated_compiler(self) -> tuple[str, bool]:
        """The pattern of the compiler, and whether the condition asks for more.

        A record that states a compiler has only its name and version, for which Spack ignores
        propagated variants and a namespace. The name in the pattern is the name of the package:
        `%oneapi` means intel-oneapi-compilers, as in Spack.
        """
        terms = [term for term in self.terms if isinstance(term, Term)]
        plain = [t for t in terms if t.column in _STATED and t.pattern and not t.negated]
        stated = {term.column: term.pattern for term in plain}
        if "package" in stated:
            stated["package"] = compiler_name(stated["package"])
        ignored = [t for t in terms if t.column == "namespace" or asks_for_propagated(t)]
        pattern = "".join(sign + stated[name] for name, sign in _STATED.items() if name in stated)
        return pattern, len(stated) + len(ignored) < len(self.terms)

    @property
    def column(self) -> str:
        """The column whose filter shows this condition, or an empty text."""
        is_one_word = not self.deptypes and (self.is_assigned or not self.virtuals)
        return "compiler" if self.compiler is not None and is_one_word else ""

    @property
    def is_assigned(self) -> bool:
        """Check whether its virtuals can be written as in `%c,cxx=gcc`."""
        virtuals = ",".join(self.virtuals)
        return bool(virtuals and re.fullmatch(lexer.IDENTIFIERS, virtuals))


REACHABLE_DEPTYPES = frozenset({"build", "link", "run"})
"""The deptypes that `^` follows: a direct edge must have one of them."""

_STATED = {"package": "", "version": "@", "hash": "/"}
"""The columns of a compiler that a record can state, each with its sign in a pattern."""

Condition = Term | Depends
Group = tuple[Condition, ...]
"""Alternatives, of which one must hold."""


def negated(condition: Condition) -> Condition:
    """Return the negation of a condition."""
    return replace(condition, negated=not condition.negated)


def exact_term(column: str, value: str) -> Term:
    """Build the term that only one value fits.

    A value that Spack would not read as a version or target, that has wildcards, or that must not
    be shown unchanged is matched as a glob, with `?` for its odd characters.
    """
    if not value:
        return Term(column, _ANY_VALUE, negated=True)
    exact = {"compiler": value.replace("@", "@=", 1), "version": f"={value}"}.get(column, value)
    if column == "target" and set(value) & set(",:"):
        exact = ""
    try:
        # Flags are compared word by word, not as globs.
        is_plain = is_clean(value) and (column == "flags" or not is_glob(value))
        if is_plain and matcher(column, exact)((value,) if column == "variants" else value):
            return Term(column, exact)
    except ValueError:
        pass
    pattern = re.sub(r"[^\w.-]", "?", value, flags=re.ASCII)
    return Term(column, pattern if is_glob(pattern) else f"{pattern[:-1]}?")


def exact_query(column: str, *values: str) -> Query:
    """Return the query for records with one of some values in a column."""
    return Query((tuple(exact_term(column, value) for value in values),))


def compiler_fits(condition: Depends, compiler: str, *, listed: bool = False) -> bool:
    """Check a compiler that a record states against a condition written with `%`.

    Raises Unanswerable if the condition asks for more than name, version and hash, unless the
    record's dependencies are `listed`; and if it names a language, since only the compiler's
    recipe knows its languages.
    """
    if condition.name in LANGUAGES:
        reason = f"{condition} asks for a language, and one compiler is listed"
        raise Unanswerable(reason, condition)
    pattern, has_more = condition.stated_compiler
    if has_more and not listed:
        more = f"{condition} asks for more of a compiler than is listed"
        raise Unanswerable(f"{more}. Write conditions on the spec before %.", condition)
    return not has_more and (not pattern or matcher("compiler", pattern)(compiler))


def asks_for_compiler(condition: Condition) -> bool:
    """Check whether a condition asks for a certain compiler, which a document may not state."""
    if not isinstance(condition, Depends):
        return condition.column == "compiler" and condition.pattern != _ANY_VALUE
    name = condition.name
    return condition.direct and (
        not name or name in LANGUAGES or is_glob(name) or is_compiler(compiler_name(name))
    )


def provides(condition: Depends, virtuals: Collection[str]) -> bool:
    """Check whether an edge with some virtuals provides all virtuals of a condition.

    After `%` one virtual is enough, as in Spack's `edges_to_dependencies`.
    """
    provided = (virtual in virtuals for virtual in condition.virtuals)
    return not condition.virtuals or (any(provided) if condition.direct else all(provided))


def node_conditions(condition: Depends) -> tuple[Query, Query]:
    """Return the query for a dependency with the name, and one for a provider of this virtual."""
    by_name, by_virtual = [], []
    for term in condition.terms:
        if not isinstance(term, Term) or term.column != "package" or term.negated:
            by_virtual.append(term)
        elif condition.direct:
            term = replace(term, pattern=compiler_name(term.pattern))
        by_name.append(term)
    virtuals: dict[Condition, str] = {}
    if condition.name_term is not None:
        virtuals[condition.name_term] = condition.name
    of_virtual = with_versions_of(virtuals, query_of(*by_virtual).groups)
    return query_of(*by_name), Query(of_virtual)


TELLS_VIRTUALS = Term("provides", "*")
"""Whether a record lists the virtuals that it provides, as Spack does since 1.3."""


def with_versions_of(
    virtuals: Mapping[Condition, str], groups: Iterable[Group]
) -> tuple[Group, ...]:
    """Return groups in which conditions on the version also apply to named virtuals.

    `virtuals` maps the conditions that name virtuals to their names. In a record that lists its
    virtuals, the version is the version of the virtual, as in Spack 1.3; in other records, and in
    packages that are named as alternatives, the version of the package.
    """
    names = [name for condition, name in virtuals.items() if not condition.negated]
    named = [group for group in groups if not virtuals.keys().isdisjoint(group)]
    packages = [c for group in named for c in group if c not in virtuals]
    result: list[Group] = []
    for group in groups:
        if not names or not any(isinstance(c, Term) and c.column == "version" for c in group):
            result.append(group)
            continue
        of_virtuals = (
            replace(c, column="provides", pattern=f"{name}@{c.pattern}")
            if isinstance(c, Term) and c.column == "version"
            else c
            for name in names
            for c in group
        )
        provided = negated(TELLS_VIRTUALS), *of_virtuals
        result += [(TELLS_VIRTUALS, *group), (*provided, *packages)]
        result += [(*provided, *group)] if packages else []
    return tuple(result)


def fits_missing(condition: Condition, dependency: Dependency) -> bool:
    """Check a condition on a dependency without a record: only its name and hash are known."""
    if isinstance(condition, Depends):
        return condition.negated
    if asks_for_propagated(condition):
        return not condition.negated
    spec = absent_spec(dependency)
    fits = any(condition.fits(column.name, column.value(spec)) for column in condition.columns)
    return condition.negated != fits


def asks_for_propagated(term: Term) -> bool:
    """Check whether a term is on a propagated variant, such as `++x`."""
    return term.column == "variants" and is_propagated(term.pattern)


class Query(Frozen):
    """Groups of conditions that must all hold, and alternative specs, one of which must hold.

    A group holds if one of its conditions holds. `groups` are shared by all specs; `specs` is
    empty for a single spec. Queries with the same groups in another order are equal.

    The groups are in an order in which they can be written: the name comes first, then the hash,
    since either may begin another spec. Conditions on dependencies come last, since in a text all
    conditions after them belong to the dependency. Among alternatives they come first: conditions
    after `|` belong to the spec again.

    Example: `Query(((Term("package", "hdf5"),), (Term("os", "a"), Term("os", "b"))))` is
    `hdf5 os=a | os=b`.
    """

    groups: tuple[Group, ...] = ()
    specs: tuple[tuple[Group, ...], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "groups", _in_order(self.groups))
        object.__setattr__(self, "specs", tuple(map(_in_order, self.specs)))

    @cached_property
    def _unordered(self) -> tuple[frozenset[Group], frozenset[frozenset[Group]]]:
        # A letter that is typed looks a few queries up in some two hundred places.
        return frozenset(self.groups), frozenset(map(frozenset, self.specs))

    def __eq__(self, other: object) -> bool:
        if other is self:
            return True
        return isinstance(other, Query) and self._unordered == other._unordered

    def __hash__(self) -> int:
        return hash(self._unordered)

    def __str__(self) -> str:
        # With a key at every word, so that it means the same whatever packages there are.
        if not self.specs:
            return " ".join(_group_texts(self.groups))
        specs = [_in_order((*groups, *self.groups)) for groups in self.specs]
        return " ".join(map(_spec_text, specs, [specs[0], *specs]))

    def __bool__(self) -> bool:
        return bool(self.groups or self.specs)

    @property
    def whole_specs(self) -> list[tuple[Group, ...]]:
        """The groups of each spec, including the shared groups."""
        return [(*self.groups, *groups) for groups in self.specs or ((),)]

    @property
    def conditions(self) -> Iterator[Condition]:
        """Every condition of the groups; nested ones are in their dependency."""
        for groups in (self.groups, *self.specs):
            for group in groups:
                yield from group

    @property
    def terms(self) -> Iterator[Term]:
        """Every condition on a column, of the spec itself or of a dependency."""
        for condition in self.conditions:
            for term in condition.terms if isinstance(condition, Depends) else (condition,):
                if isinstance(term, Term):
                    yield term

    @property
    def rests_on_configuration(self) -> bool:
        """Whether its matches rest on the configuration of Spack, too."""
        columns = (FIELDS[term.column] for term in self.terms if term.column in FIELDS)
        return any(column.rests_on_configuration for column in columns)

    @property
    def columns(self) -> frozenset[str]:
        """The names of the columns with a condition."""
        return frozenset(condition.column for condition in self.conditions)

    @property
    def words(self) -> frozenset[str]:
        """The bare words, which must all be found, each in any column."""
        words = (group[0] for group in self.groups if len(group) == 1)
        terms = (term for term in words if isinstance(term, Term))
        return frozenset(t.pattern for t in terms if t.column == ANY and not t.negated)

    @cached_property
    def package_term(self) -> Term | None:
        """The only condition that names a single package, or None.

        The name of an odd package may have `?` in it, as `exact_term` writes it.
        """
        terms = [term for group in self.groups if (term := _package_named(group)) is not None]
        return terms[0] if len(terms) == 1 else None

    @cached_property
    def package(self) -> str | None:
        """The name of the only package in the query, or None."""
        term = self.package_term
        return None if term is None or is_glob(term.pattern) else term.pattern

    def with_package(self, name: str | None) -> Query:
        """Return the query with another package in place of its own; None removes the package."""
        rest = self.minus(Query(tuple(g for g in self.groups if _package_named(g) is not None)))
        return rest if name is None else rest.also(exact_term("package", name))

    def parts(self) -> list[Query]:
        """Return the parts of the query that must all hold, each a query."""
        parts = [Query((group,)) for group in self.groups]
        return [*parts, Query((), self.specs)] if self.specs else parts

    def minus(self, part: Query) -> Query:
        """Return the query without a part."""
        groups = tuple(group for group in self.groups if group not in part.groups)
        return Query(groups, () if part.specs else self.specs)

    def plus(self, part: Query) -> Query:
        """Return the query with the conditions of another; only one of them may have `specs`."""
        new = tuple(group for group in part.groups if group not in self.groups)
        return Query(self.groups + new, self.specs or part.specs) if new or part.specs else self

    def also(self, condition: Condition) -> Query:
        """Return the query with one more condition."""
        return self.plus(Query(((condition,),)))

    def toggled(self, term: Term) -> Query:
        """Return the query with a term as one more alternative on its column, or without it.

        >>> str(parse("source=a|b").toggled(Term("source", "a")))
        'source=b'
        """
        groups = self.of_column(term.column)
        old = next((g for g in groups if not any(condition.negated for condition in g)), ())
        new = tuple(c for c in old if c != term) if term in old else (*old, term)
        rest = self.minus(Query((old,))) if old else self
        return rest.plus(Query((new,))) if new else rest

    def of_column(self, column: str) -> tuple[Group, ...]:
        """Return the groups whose conditions are all on one column, or on the variant `+x`."""
        return tuple(g for g in self.groups if all(_is_on(c, column) for c in g))

    def without_column(self, column: str) -> Query:
        """Return the query without the groups that `of_column` returns."""
        groups = self.of_column(column)
        return self.minus(Query(groups)) if groups else self


def query_of(*conditions: Condition) -> Query:
    """Build the query whose conditions must all hold."""
    return Query(tuple((condition,) for condition in dict.fromkeys(conditions)))


def query_of_specs(specs: Iterable[Iterable[Group]]) -> Query:
    """Build the query that one of several specs must match."""
    queries = [Query(tuple(dict.fromkeys(groups))) for groups in specs]
    if len(queries) == 1:
        return queries[0]
    all_groups = [query.groups for query in queries]
    shared = tuple(g for g in all_groups[0] if all(g in groups for groups in all_groups[1:]))
    rest = tuple(tuple(g for g in groups if g not in shared) for groups in all_groups)
    if all(len(spec) == 1 and len(spec[0]) == 1 and is_package_name(spec[0]) for spec in rest):
        # Specs that are only names are alternatives like other conditions.
        return Query((*shared, tuple(dict.fromkeys(groups[0][0] for groups in rest))))
    return Query(shared, rest if all(rest) else ())


def variant_of(condition: Condition) -> str:
    """Return the name of the variant in a condition, or an empty text."""
    if not isinstance(condition, Term) or condition.column != "variants":
        return ""
    return split_variant(condition.pattern)[0] if is_variant(condition.pattern) else ""


def _is_on(condition: Condition, column: str) -> bool:
    is_on_variant = column[:1] == "+" and variant_of(condition) == column[1:]
    return is_on_variant or condition.column == column


_UNNAMED = Term("package", _ANY_VALUE, negated=True)


def _package_named(group: Group) -> Term | None:
    """Return the term that names a single package and has no alternatives."""
    term = group[0]
    if len(group) > 1 or not isinstance(term, Term) or term.column != "package":
        return None
    is_exact = term == _UNNAMED or not (term.negated or "*" in term.pattern)
    return term if is_exact else None


def is_package_name(group: Group) -> bool:
    """Check whether the first condition of a group can be written as a bare package name."""
    first = group[0]
    if not isinstance(first, Term) or first.negated or first.column != "package":
        return False
    pattern = first.pattern
    # As a name `*` is not a condition, and a dot comes after a namespace.
    is_name = pattern != "*" and pattern.isascii() and lexer.is_token(lexer.NAME, pattern)
    return is_name and ("." not in pattern or is_glob(pattern))


def _rank(condition: Condition) -> int:
    """Return the key that sorts conditions into the order in which they are written."""
    if isinstance(condition, Depends):
        return 3 if condition.direct else 4
    if condition.column == "package" and not condition.negated:
        return 0
    is_hash = condition.column == "hash" and not condition.negated
    return 1 if is_hash and lexer.is_token(lexer.HASH, f"/{condition.pattern}") else 2


def _in_order(groups: Iterable[Group]) -> tuple[Group, ...]:
    # Among alternatives only the order of dependencies matters.
    ordered = (tuple(sorted(g, key=lambda condition: -max(2, _rank(condition)))) for g in groups)
    return tuple(sorted(ordered, key=lambda group: _rank(group[0])))


def format_group(group: Group) -> str:
    """Return the text of a group, as `os=a | os=b`."""
    return " | ".join(map(str, group))


def join_words(words: Iterable[str]) -> str:
    """Join the words of a command line, and put flags into quotes that the shell removed.

    The shell passes `cflags="-O2 -g"` as one word without quotes. Spack's commands do the same.
    """
    flags = ((word.split()[1:] and re.fullmatch(_UNQUOTED_FLAGS, word), word) for word in words)
    return " ".join(f"{m[1]}{m[2]}{lexer.in_quotes(m[3])}" if m else word for m, word in flags)


def _group_texts(groups: Iterable[Group]) -> list[str]:
    """Return the texts of the groups of one spec; after its first `/hash` as `hash=`."""
    texts: list[str] = []
    has_hash = False
    for group in groups:
        alternatives = list(map(str, group))
        hashes = [text for text in alternatives if text.lstrip("!").startswith("/")]
        if has_hash:
            alternatives = [
                text.replace("/", "hash=", 1) if text in hashes else text for text in alternatives
            ]
        texts.append(" | ".join(alternatives))
        has_hash = has_hash or bool(hashes)
    return texts


def _spec_text(groups: Sequence[Group], before: Sequence[Group]) -> str:
    """Return the text of one of several specs, separated from the spec before it.

    A name followed by a sigil begins a spec in a live filter, too; `*` is not a condition. A hash
    begins a spec if the spec before has a hash, and no dependency to which this hash would belong.
    """
    name_group = next((group for group in groups if is_package_name(group)), None)
    texts = _group_texts([group for group in groups if group is not name_group])
    if name_group is not None:
        first, *others = map(str, name_group)
        name = first.removeprefix("package=")
        return " ".join([" | ".join([f"{name}@:", *others]), *texts])
    has_hash = any(len(group) == 1 and str(group[0]).startswith("/") for group in before)
    has_dependency = any(isinstance(condition, Depends) for group in before for condition in group)
    if has_dependency or not (has_hash and texts[0].startswith("/")):
        texts.insert(0, "*@:")
    return " ".join(texts)
