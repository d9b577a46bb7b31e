"""The query language: one frozen value for what the user asks, however it was typed.

A query line is words between blanks, quotes as in a shell. `name` is a package (globs allowed,
several names are alternatives), `os=ubuntu24.04` and the like are terms on a column, `+mpi`,
`~mpi` and `name=value` are terms on variants, `/abc` is the beginning of a hash, `!` in front
excludes. All terms must match.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from spackscope.model import versions
from spackscope.model.columns import ALIASES, BY_NAME, COLUMNS, Column, Value
from spackscope.model.records import HASH_LENGTH, Spec
from spackscope.model.text import is_clean

ANY = "any"
"""The column of a bare word in a live filter: whatever column shows the word."""

LONGEST = 10_000
"""Characters of a query; a longer one is a paste that went astray."""

MOST_TERMS = 100
"""Terms of a query; SQLite takes conditions about a thousand deep."""

_WORD = re.compile(r"""(?:[^\s"']|"[^"]*"|'[^']*')+|["']""")
_QUOTED = re.compile(r""""([^"]*)"|'([^']*)'""")
_KEYED = re.compile(r"([A-Za-z_][\w-]*)(:?=)(.*)", re.DOTALL)
_SIGILED = re.compile(r"[+~][A-Za-z_0-9][\w-]*")
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmg]?i?)b?", re.IGNORECASE)
_SIZE_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "ki": 2**10, "mi": 2**20, "gi": 2**30}
_WAITING = frozenset({"!", "=", "+", "~", "@", "!=", "!+", "!~", "!@"})

Test = Callable[[Value], bool]


class QueryError(ValueError):
    """Report a word that is no term, with its place: the offset in characters."""

    def __init__(self, message: str, offset: int = 0) -> None:
        super().__init__(message)
        self.offset = offset


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
            and _is_variant(self.pattern)
            and split_variant(self.pattern)[0] not in (*BY_NAME, *ALIASES)
        )
        return f"{'!' * self.negated}{f'{self.column}=' * keyed}{_quote(self.pattern)}"

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
        return _test(self.column, self.pattern)(value)

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

    def column_text(self, column: str) -> str:
        """Spell the terms of one column as its filter input does."""
        return " ".join(_column_word(term) for term in self.terms if term.column == column)

    def with_column(self, column: str, text: str) -> Query:
        """Replace the terms of one column by those of its filter input.

        Raises QueryError where a word of the text is no term.
        """
        terms = column_terms(column, text)
        kept = [term for term in self.terms if term.column != column]
        return Query((*kept, *terms))


def parse(text: str, *, bare: Literal["package", "any"] = "package") -> Query:
    """Parse a query line; `bare` says what a word without sigil or key stands for.

    Raises QueryError at the first word that is no term.
    """
    return Query(tuple(_terms(_words(text), lambda word: _line_term(word, bare))))


def parse_words(words: Iterable[str]) -> Query:
    """Parse the words of a command line, where the shell has taken the quotes away."""
    return Query(tuple(_terms(((0, word) for word in words), lambda w: _line_term(w, "package"))))


def column_terms(column: str, text: str) -> tuple[Term, ...]:
    """Parse a column's filter input: words that must all match.

    A word matches anywhere in the value; `=word` wants the whole value, `!word` excludes, and
    version ranges, `+variant` and hash prefixes are as in a query line. A sigil that still waits
    for its word is passed over. Raises QueryError.
    """
    words = [(at, word) for at, word in _words(text) if word not in _WAITING]
    return tuple(_terms(words, lambda word: _column_term(column, word)))


def exact_term(column: str, value: str) -> Term:
    """Make the term that a value shown on the screen stands for.

    What Spack does not take for a version is matched as a text, with `?` for its odd signs, and
    so is what must not be shown as it is.
    """
    exact = {"compiler": value.replace("@", "@=", 1), "version": f"={value}"}.get(column, value)
    try:
        if is_clean(value) and _test(column, exact)((value,) if column == "variants" else value):
            return Term(column, exact)
    except ValueError:
        pass
    return Term(column, re.sub(r"[^\w.-]", "?", value, flags=re.ASCII))


def _words(text: str) -> list[tuple[int, str]]:
    if len(text) > LONGEST:
        raise QueryError(f"a query has {LONGEST:,} characters at most", LONGEST)
    words = []
    for match in _WORD.finditer(text):
        if match[0] in ('"', "'"):
            raise QueryError("the quote is not closed", match.start())
        words.append((match.start(), _QUOTED.sub(lambda q: q[1] or q[2] or "", match[0])))
    return words


def _terms(words: Iterable[tuple[int, str]], parse_word: Callable[[str], Term]) -> list[Term]:
    terms = []
    for offset, word in words:
        try:
            term = parse_word(word)
            _test(term.column, term.pattern)
        except ValueError as error:
            raise QueryError(str(error), offset) from None
        if term not in terms:
            terms.append(term)
        if len(terms) > MOST_TERMS:
            raise QueryError(f"a query has {MOST_TERMS} terms at most", offset)
    return terms


def _line_term(word: str, bare: str) -> Term:
    body = word.removeprefix("!")
    negated = body != word
    if body[:1] in ("+", "~"):
        if not _SIGILED.fullmatch(body):
            raise ValueError(f"{body[0]} wants the name of a variant behind it")
        return Term("variants", body, negated)
    if body == "/":
        raise ValueError("/ wants the beginning of a hash behind it")
    if body.startswith("/"):
        return Term("hash", body[1:], negated)
    if keyed := _KEYED.fullmatch(body):
        name, _, pattern = keyed.groups()
        if not pattern:
            raise ValueError(f"{name}= wants a value behind it")
        column = ALIASES.get(name, name)
        if column not in BY_NAME:
            return Term("variants", body, negated)
        return Term(column, pattern, negated)
    if not body:
        raise ValueError("! wants a term behind it")
    return Term(bare, body, negated)


def _column_term(column: str, word: str) -> Term:
    body = word.removeprefix("!")
    negated = body != word
    if column in ("hash", "size") or (column == "variants" and _is_variant(body)):
        return Term(column, body, negated)
    if column == "version" and body.startswith("@"):
        return Term(column, body[1:], negated)
    if body.startswith("="):
        return Term(column, body[1:], negated)
    if is_glob(body) or (column in ("version", "compiler") and set(":,") & set(body)):
        return Term(column, body, negated)
    return Term(column, f"*{body}*", negated)


def _column_word(term: Term) -> str:
    """Find the shortest word of a filter input that is read as this term."""
    words = (term.pattern[1:-1], term.pattern, f"={term.pattern}")
    sign = "!" * term.negated
    for word in words:
        if word and word not in _WAITING and _column_term(term.column, sign + word) == term:
            break
    return sign + _quote(word)


@lru_cache(512)
def _test(column: str, pattern: str) -> Test:
    """Make the test that one value has to pass. Raises ValueError where the pattern is none."""
    if column == ANY:
        return _test_word(pattern)
    if column == "hash":
        return _test_hash(pattern)
    if column == "size":
        low, high = size_range(pattern)
        return lambda size: isinstance(size, int | float) and low <= size <= high
    if column == "variants" and _is_variant(pattern):
        return _test_variant(pattern)
    fits = _fits(pattern)
    if column == "version" and not is_glob(pattern):
        versions.satisfies("0", pattern)
        fits = lambda version: versions.satisfies(version, pattern)  # noqa: E731
    elif column == "compiler" and not is_glob(pattern):
        fits = _fits_compiler(pattern)
    return lambda value: any(map(fits, (value,) if isinstance(value, str) else value))  # type: ignore[arg-type]


def _fits(pattern: str) -> Callable[[str], bool]:
    if not is_glob(pattern):
        return pattern.__eq__
    # Not a plain `.*` for each `*`: several of them would take for ever on a long text.
    expression = fnmatch.translate(pattern.replace("[", "[[]"))
    compiled = re.compile(expression, re.IGNORECASE)
    return lambda text: compiled.match(text) is not None


def _fits_compiler(pattern: str) -> Callable[[str], bool]:
    """Match `name`, `name@constraint` or either with `/hash`, as Spack's `%` does."""
    wanted, _, wanted_hash = pattern.partition("/")
    name, at, constraint = wanted.partition("@")
    if at:
        versions.satisfies("0", constraint)

    def fits(compiler: str) -> bool:
        spelled, _, hash_ = compiler.partition("/")
        its_name, _, version = spelled.partition("@")
        return (
            its_name == name
            and (not at or versions.satisfies(version, constraint))
            and hash_.startswith(wanted_hash)
        )

    return fits


def _test_hash(pattern: str) -> Test:
    prefix = pattern.removeprefix("/")
    if not re.fullmatch(rf"[a-z2-7*?]{{1,{HASH_LENGTH * 2}}}", prefix):
        raise ValueError(f"{pattern} is no beginning of a hash: those have a-z and 2-7 only")
    if is_glob(prefix):
        fits = _fits(prefix)
        return lambda value: isinstance(value, str) and fits(value)
    return lambda value: isinstance(value, str) and value.startswith(prefix)


def _test_variant(pattern: str) -> Test:
    """Match one variant as `Spec.satisfies` does: `x=a` is fulfilled by `x=a,b`, `x:=a` is not."""
    if pattern[0] in "+~":
        return lambda variants: isinstance(variants, tuple) and pattern in variants
    match = _KEYED.fullmatch(pattern)
    assert match is not None
    name, operator, wanted = match.groups()
    flag = {"true": f"+{name}", "false": f"~{name}"}.get(wanted.lower())
    tests = [_fits(part) for part in split_variant(pattern)[1]]

    def fits(variant: str) -> bool:
        its_name, its_values = split_variant(variant)
        if its_name != name:
            return False
        if wanted == "*" or variant == flag:
            return True
        exact = operator == "=" or len(its_values) == len(tests)
        return exact and all(any(map(test, its_values)) for test in tests)

    return lambda variants: isinstance(variants, tuple) and any(map(fits, variants))


def _test_word(word: str) -> Test:
    fits = _fits(word if is_glob(word) else f"*{word}*")

    def test(value: Value) -> bool:
        if isinstance(value, str):
            return fits(value)
        return isinstance(value, tuple) and any(map(fits, value))

    return test


def split_variant(variant: str) -> tuple[str, tuple[str, ...]]:
    """Split a variant as Spack prints it into its name and its values.

    Boolean variants have the value `+` or `~`; a text that is no variant is a name without value.
    """
    if variant[:1] in ("+", "~"):
        return variant[1:], (variant[0],)
    name, equals, values = variant.partition("=")
    if not equals:
        return variant, ()
    return name.removesuffix(":"), tuple(values.strip("'\"").split(","))


@lru_cache(64)
def size_range(pattern: str) -> tuple[float, float]:
    """Read `10MB:1GB`, `10MB:` or `:1GB` as bytes, both ends included. Raises ValueError."""
    low, colon, high = pattern.partition(":")
    if not colon:
        raise ValueError(f"{pattern} is no range of sizes; write 10MB: or :1GB or 10MB:1GB")

    def bound(text: str, default: float) -> float:
        if not text:
            return default
        match = _SIZE.fullmatch(text)
        if match is None:
            raise ValueError(f"{text} is no size; write it as 10MB")
        return float(match[1]) * _SIZE_UNITS[match[2].lower()]

    return bound(low, 0), bound(high, float("inf"))


def _is_name(term: Term) -> bool:
    return term.column == "package" and not term.negated


def _is_variant(pattern: str) -> bool:
    if _SIGILED.fullmatch(pattern):
        return True
    keyed = _KEYED.fullmatch(pattern)
    return keyed is not None and keyed[3] != ""


def is_glob(pattern: str) -> bool:
    """Tell whether a pattern has wildcards."""
    return "*" in pattern or "?" in pattern


def _quote(text: str) -> str:
    """Quote a word where it needs quotes, so that it is read as it is."""
    if text and not re.search(r"[\s\"']", text):
        return text
    if '"' not in text:
        return f'"{text}"' if "'" in text else f"'{text}'"
    return '"\'"'.join(f"'{part}'" for part in text.split("'"))
