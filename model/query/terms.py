"""What the user asks, as one frozen value, however it was typed."""

from __future__ import annotations

import re
from dataclasses import dataclass

from spackscope.model.columns import ALIASES, BY_NAME, COLUMNS, Column, Value
from spackscope.model.query.match import ANY, is_variant, split_variant, test_of
from spackscope.model.records import Spec
from spackscope.model.text import is_clean


@dataclass(frozen=True, slots=True)
class Term:
    """Hold one condition: a column, the pattern its value has to match, and whether it must not.

    A pattern with `*` or `?` is a glob and ignores case; any other is taken as Spack takes it:
    a version as a constraint, a compiler as `name@constraint`, a hash as a prefix.
    """

    column: str
    pattern: str
    negated: bool = False

    def __str__(self) -> str:
        keyed = self.column != ANY and not (
            self.column == "variants"
            and is_variant(self.pattern)
            and split_variant(self.pattern)[0] not in (*BY_NAME, *ALIASES)
        )
        return f"{'!' * self.negated}{f'{self.column}=' * keyed}{quote(self.pattern)}"

    @property
    def columns(self) -> tuple[Column, ...]:
        """Give the columns that the term looks at."""
        return COLUMNS if self.column == ANY else (BY_NAME[self.column],)

    def fits(self, column: str, value: Value) -> bool:
        """Tell whether a value of one of these columns fits the pattern, negation left aside.

        A bare word is looked for at the beginning of a hash and anywhere in other texts.
        """
        if self.column == ANY and column == "hash":
            return isinstance(value, str) and value.startswith(self.pattern.lower())
        return test_of(self.column, self.pattern)(value)

    def matches(self, spec: Spec) -> bool:
        """Tell whether a record fulfils the term."""
        return self.negated != any(self.fits(c.name, c.value(spec)) for c in self.columns)


@dataclass(frozen=True, slots=True)
class Query:
    """Hold what the user asks for: terms that must all match, package names being alternatives."""

    terms: tuple[Term, ...] = ()

    def __str__(self) -> str:
        return " ".join(map(str, self.terms))

    def __bool__(self) -> bool:
        return bool(self.terms)

    def matches(self, spec: Spec) -> bool:
        """Tell whether a record fulfils the query."""
        return all(any(term.matches(spec) for term in group) for group in self.groups())

    def groups(self) -> list[tuple[Term, ...]]:
        """Give the terms as a conjunction of alternatives."""
        names = tuple(term for term in self.terms if _is_name(term))
        groups = [names] if names else []
        groups += [(term,) for term in self.terms if not _is_name(term)]
        return groups

    def without(self, *terms: Term) -> Query:
        """Give the query that lacks some terms."""
        return Query(tuple(term for term in self.terms if term not in terms))

    def also(self, term: Term) -> Query:
        """Give the query with one more term."""
        return self if term in self.terms else Query((*self.terms, term))


def exact_term(column: str, value: str) -> Term:
    """Make the term that a value shown on the screen stands for.

    What Spack does not take for a version is matched as a text, with `?` for its odd signs, and
    so is what must not be shown as it is.
    """
    exact = {"compiler": value.replace("@", "@=", 1), "version": f"={value}"}.get(column, value)
    try:
        if is_clean(value) and test_of(column, exact)((value,) if column == "variants" else value):
            return Term(column, exact)
    except ValueError:
        pass
    return Term(column, re.sub(r"[^\w.-]", "?", value, flags=re.ASCII))


def _is_name(term: Term) -> bool:
    return term.column == "package" and not term.negated


def quote(text: str) -> str:
    """Quote a word where it needs quotes, so that it is read as it is."""
    if text and not re.search(r"[\s\"']", text):
        return text
    if '"' not in text:
        return f'"{text}"' if "'" in text else f"'{text}'"
    return '"\'"'.join(f"'{part}'" for part in text.split("'"))
