"""Represent the conditions of a query: on a column, or on a dependency.

Dependencies follow `Spec._satisfies` in lib/spack/spack/spec.py of Spack 1.2, of concrete specs. A
virtual such as `mpi` is known only from the edges that provide it, not from recipes.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from spackscope.model.core.columns import ALIASES, COLUMNS, FIELDS, FLAGS, Column, Value
from spackscope.model.core.errors import Unanswerable
from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.core.records import LANGUAGES, Dependency, Spec, compiler_name
from spackscope.model.core.text import is_clean
from spackscope.model.core.variants import is_propagated
from spackscope.model.query import lexer
from spackscope.model.query.matchers import ANY, Matcher, is_glob, matcher

VIEW = "view"
"""The key of a named query, which is replaced by its conditions."""

COLUMN_KEYS = frozenset({*FIELDS, *ALIASES, *FLAGS, ANY})
"""Keys that are not variants."""


class Term(Frozen):
    """A condition on a column: the pattern that its value must match, or must not if `negated`.

    A pattern with `*` or `?` is a glob and ignores case. Others are read as Spack reads them:
    a version or a target as a constraint, a compiler as `name@constraint`, a hash as a prefix.
    """

    column: str
    pattern: str
    negated: bool = False

    def __post_init__(self) -> None:
        parts = lexer.PAIR_PARTS.fullmatch(self.pattern) if self.column == "variants" else None
        if parts is not None:
            # Without quotes such a value would be read as a part of the operator, or as quoted.
            value = lexer.unquoted(parts[3])
            text = lexer.in_quotes(value) if value[:1] in ("", "=", *lexer.QUOTES) else value
            object.__setattr__(self, "pattern", parts[1] + parts[2] + text)

    def __str__(self) -> str:
        return _text_of(self)

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns whose values are compared."""
        return COLUMNS if self.column == ANY else (FIELDS[self.column],)

    def fits(self, column: str, value: Value) -> bool:
        """Check a value of one of these columns against the pattern, ignoring negation."""
        return self.matcher(column)(value)

    def matcher(self, column: str) -> Matcher:
        """Return the check of the values of one of these columns, ignoring negation.

        A bare word must begin a hash, and may be anywhere in other texts.
        """
        if self.column == ANY and column == "hash":
            prefix = self.pattern.lower()
            return lambda value: isinstance(value, str) and value.startswith(prefix)
        return matcher(self.column, self.pattern)


class Depends(Frozen):
    """A condition on a dependency: `^zlib@1.3`, or `%cmake` where it must be direct.

    `terms` are the conditions on the dependency itself, `virtuals` and `deptypes` those on the
    edge to it. A direct one also applies to the compiler.
    """

    direct: bool
    terms: tuple[Condition, ...]
    virtuals: tuple[str, ...] = ()
    deptypes: tuple[str, ...] = ()
    negated: bool = False

    def __str__(self) -> str:
        return _text_of(self)

    @property
    def name_term(self) -> Term | None:
        """The condition on the name of the dependency, if there is one."""
        terms = (term for term in self.terms if isinstance(term, Term))
        return next((t for t in terms if t.column == "package" and not t.negated), None)

    @property
    def name(self) -> str:
        """The name of the dependency, or an empty text for any."""
        return self.name_term.pattern if self.name_term is not None else ""

    @property
    def compiler(self) -> str | None:
        """The pattern of a compiler that this condition is in a record that names only that.

        None where it asks for more than the name, version and hash of a compiler.
        """
        pattern, has_more = self.stated_compiler
        is_plain = all(term.column in _STATED for term in self.terms)
        return pattern if self.direct and self.name and is_plain and not has_more else None

    @property
    def stated_compiler(self) -> tuple[str, bool]:
        """The pattern of the compiler, and whether the condition asks for more than that.

        Of a compiler that a record states Spack keeps only name and version, and ignores
        propagated variants and a namespace. The name is that of a package: `%oneapi` means
        intel-oneapi-compilers, as in Spack.
        """
        terms = [term for term in self.terms if isinstance(term, Term)]
        plain = [t for t in terms if t.column in _STATED and t.pattern and not t.negated]
        stated = {term.column: term.pattern for term in plain}
        if "package" in stated:
            stated["package"] = compiler_name(stated["package"])
        ignored = [t for t in terms if t.column == "namespace" or _is_propagated(t)]
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
        return re.fullmatch(lexer.IDENTIFIERS, ",".join(self.virtuals)) is not None


REACHABLE_DEPTYPES = frozenset({"build", "link", "run"})
"""Deptypes of which a direct edge must have one for `^` to see it."""

_STATED = {"package": "", "version": "@", "hash": "/"}
"""What a record can state of a compiler, with the signs of its pattern."""

Condition = Term | Depends
Group = tuple[Condition, ...]
"""Alternatives, of which one must hold."""


def exact_term(column: str, value: str) -> Term:
    """Build the term that only a value shown on the screen fits.

    What Spack does not accept as a version is matched as a text, with `?` for its odd signs, and
    so is what must not be shown unchanged.
    """
    if not value:
        return Term(column, "?*", negated=True)
    exact = {"compiler": value.replace("@", "@=", 1), "version": f"={value}"}.get(column, value)
    if column == "target" and set(value) & set(",:"):
        exact = ""
    try:
        is_plain = is_clean(value) and not is_glob(value)
        if is_plain and matcher(column, exact)((value,) if column == "variants" else value):
            return Term(column, exact)
    except ValueError:
        pass
    pattern = re.sub(r"[^\w.-]", "?", value, flags=re.ASCII)
    return Term(column, pattern if is_glob(pattern) else f"{pattern[:-1]}?")


def compiler_fits(condition: Depends, compiler: str, *, listed: bool = False) -> bool:
    """Check a compiler that a record states against a condition written with `%`.

    Raises Unanswerable where the condition asks for more than its name, version and hash, and no
    dependencies are `listed` that could answer it; and where it names a language, since only the
    compiler's recipe knows its languages.
    """
    if condition.name in LANGUAGES:
        reason = f"{condition} asks for a language, and one compiler is listed"
        raise Unanswerable(reason, condition)
    pattern, has_more = condition.stated_compiler
    if has_more and not listed:
        more = f"{condition} asks for more of a compiler than is listed"
        raise Unanswerable(f"{more}. Write conditions on the spec before %.", condition)
    return not has_more and (not pattern or matcher("compiler", pattern)(compiler))


def provides(condition: Depends, virtuals: Collection[str]) -> bool:
    """Check whether an edge with some virtuals provides those of a condition.

    After `%` one of them is enough, as in Spack's `edges_to_dependencies`.
    """
    provided = (virtual in virtuals for virtual in condition.virtuals)
    return not condition.virtuals or (any(provided) if condition.direct else all(provided))


def node_conditions(condition: Depends) -> tuple[tuple[Condition, ...], tuple[Condition, ...]]:
    """Return the conditions on a dependency, and those on one that provides the name."""
    by_name, by_virtual = [], []
    for term in condition.terms:
        if not isinstance(term, Term) or term.column != "package" or term.negated:
            by_virtual.append(term)
        elif condition.direct:
            term = replace(term, pattern=compiler_name(term.pattern))
        by_name.append(term)
    return tuple(by_name), tuple(by_virtual)


def fits_missing(condition: Condition, dependency: Dependency) -> bool:
    """Check a dependency whose record is missing, so that only its name and hash are known."""
    if isinstance(condition, Depends):
        return condition.negated
    if _is_propagated(condition):
        return not condition.negated
    spec = Spec(dependency.name, dependency.hash, "", "none", "", "", "", (), (), None, "", "")
    fits = any(condition.fits(column.name, column.value(spec)) for column in condition.columns)
    return condition.negated != fits


def _is_propagated(term: Term) -> bool:
    return term.column == "variants" and is_propagated(term.pattern)


def _text_of(condition: Condition) -> str:
    # The module imports this one.
    from spackscope.model.query.format import format_condition

    return format_condition(condition)
