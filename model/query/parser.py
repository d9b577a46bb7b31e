"""Parse a query: Spack's spec syntax, with keys and signs of its own.

The grammar follows lib/spack/spack/spec_parser.py in Spack 1.2. Additions are the keys of the
columns, `!` and `|`, wildcards, and bare words in a live filter. Unlike in Spack, a name may
follow the conditions that belong to it, and an architecture after `%name` belongs to the spec, not
to its dependency.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache

from spackscope.model.core.columns import ALIASES, FIELDS, FLAGS, REGISTRY, WORDS
from spackscope.model.core.errors import QueryError
from spackscope.model.core.frozen import Frozen, field, replace
from spackscope.model.core.records import DEPTYPES, is_variant, split_keyed, split_variant
from spackscope.model.query import lexer
from spackscope.model.query.ast import (
    Condition,
    Depends,
    Group,
    Query,
    Term,
    is_package_name,
    query_of_specs,
)
from spackscope.model.query.lexer import Token
from spackscope.model.query.matchers import ANY, ARCHITECTURE, architecture, is_glob, matcher

MAX_QUERY_LENGTH = 50_000
"""The most characters of a query; scripts pass hundreds of whole hashes."""

MAX_TERMS = 1_000
"""The most terms of a query."""

Packages = Collection[str] | None
"""The packages that a bare word may name; with None every bare word names a package."""

Spans = Mapping[Condition, tuple[int, int]]
"""The start and end of each condition in a text, in characters."""

_OF_RECORDS = frozenset(column.name for column in REGISTRY if column.syntax == "record")
_ONCE = frozenset(column.name for column in REGISTRY if column.once)
_OF_ARCHITECTURE = ("arch", *ARCHITECTURE)
# RESERVED_NAMES of lib/spack/spack/variant.py: keys that do not take `==`.
_NOT_PROPAGATED = frozenset(
    {
        *(*_OF_ARCHITECTURE, "architecture", "operating_system", "namespace"),
        *("branch", "commit", "dev_path", "patches", "tag"),
    }
)
_BOUND_OF_VERSION = r"[^@,:=\s]+"
_SIGILS = (lexer.VERSION, lexer.VARIANT, lexer.HASH, lexer.DEPENDENCY)
_EXPECTED = {
    **dict.fromkeys("+~-", "a variant"),
    "!": "a condition",
    "|": "another condition",
    "@": "a version",
    "/": "a hash prefix",
    "^": "a dependency",
    "%": "a compiler or a direct dependency",
    "=": "a name before =, and a value",
}
ENGLISH_WORDS = {
    "or": "For either, write |",
    "and": "Conditions that follow one another must all match",
    "not": "Write ! before a condition",
    "with": "Write + before a variant, and % or ^ before a dependency",
    "without": "Write ~ before a variant, and !^ before a dependency",
}
"""Advice for English words, which are neither packages nor texts to search for."""

UNCLOSED_QUOTE = "Unclosed quote"
_WHOLE_SPECS = "Put a blank after the name, or write whole specs one after the other."


def parse(text: str, *, packages: Packages = None) -> Query:
    """Parse Spack specs, with the additions of docs/query-language.md.

    A word without sigil or key is the name of a package. With `packages`, as in a live filter, a
    word that names none of them is a text in any column, and a version may end in a separator.
    The `str` of the returned query parses back to it. Raises QueryError with the first offset at
    which the text is not a query.

    Example: `parse("hdf5@1.14 +mpi os=a | os=b").of_column("os")` has one group of two terms.
    """
    return Parser(packages).parse(text, lexer.tokens(text))


@lru_cache(2**15)
def parse_spec(text: str) -> Query:
    """Parse one spec from a file of Spack, without the additions of spackscope.

    Words and keys that only spackscope knows are packages and variants. Raises QueryError for a
    text that Spack refuses, and for a value with a wildcard.

    Example: `parse_spec("stack=a")` asks for a variant.
    """
    return _SpecParser(None).parse(text, lexer.tokens(text))


class ParsedInput(Frozen):
    """The text in the query line, or in the filter of `column`, with the parsed query.

    Offsets are in characters. `query` is the whole query with the conditions of the text; if it is
    None, the text is not a query, and `error` says why. `spans` has the start and end of each
    condition in the text. `tokens` are the tokens of the query line, and `words` the tokens that
    are searched in any column; a filter has neither. `others` are the conditions on other columns,
    which a filter keeps. `packages` are the packages that the text may name.

    Example: `parse_input("hdf5 +mpi", 9).spans[Term("variants", "+mpi")] == (5, 9)`.
    """

    text: str
    cursor: int
    query: Query | None
    spans: Spans
    tokens: tuple[Token, ...] = ()
    error: QueryError | None = None
    column: str = ""
    others: Query = Query()
    packages: Packages = field(default=(), repr=False)
    words: Sequence[Token] = ()

    @property
    def settled_text(self) -> str:
        """The text with `any=` before each word that is searched in any column.

        While no packages are known, the text is unchanged, since any word may be a package.
        """
        text = self.text
        for word in reversed(self.words if self.packages else ()):
            keyed = f"{ANY}={lexer.quoted(lexer.unquoted(word.text))}"
            before, after = text[: word.start], text[word.end :]
            # A quoted word may follow another word without a blank.
            between = " " if before[-1:].strip(" !|") else ""
            text = before + between + keyed + (" " if after[:1].strip(" |") else "") + after
        return text


def parse_input(text: str, cursor: int, *, packages: Packages = ()) -> ParsedInput:
    """Parse the text of the query line; takes the keyword argument of `parse`. Never raises."""
    tokens = tuple(lexer.tokens(text))
    parsed = ParsedInput(text, cursor, None, {}, tokens, packages=packages)
    parser = Parser(packages)
    try:
        query = parser.parse(text, tokens)
    except QueryError as error:
        # The frames of a traceback would keep the parser.
        return replace(parsed, error=QueryError(str(error), error.offset))
    return replace(parsed, query=query, spans=parser.spans, words=parser.words)


def format_for_shell(query: Query) -> str:
    """Return a text from which `parse` returns the same query, if possible with a bare name.

    Raises QueryError if no text does.
    """
    texts = [str(query)]
    package = query.package_term
    if package is not None and is_package_name((package,)):
        named = f"{package.pattern} {query.without_column('package')}".rstrip()
        texts = [named.replace(" @", "@", 1), named, *texts]
    for text in texts:
        try:
            if parse(text) == query:
                return text
        except QueryError:
            continue
    raise QueryError("It cannot be written as a query of the shell", 0)


class _Dependency:
    """A dependency while its conditions are read; `end` is the end of the last one.

    `is_begun` is true once it has a condition or `*`, so that no condition has to follow.
    """

    def __init__(self, sigil: Token, *, negated: bool) -> None:
        self.sigil, self.negated, self.end = sigil, negated, sigil.end
        self.is_direct = sigil.text.startswith("%")
        # A name must follow `%c=`.
        self.is_assigned = sigil.text.endswith("=")
        self.is_begun = False
        self.parts: list[tuple[Term | _Dependency, int]] = []


class Parser:
    """Parse one text: the method of each kind of token adds a condition.

    A condition belongs to the spec, or to the dependency that was begun last. At the end, when all
    of their conditions are known, dependencies become conditions.
    """

    _words: Mapping[str, tuple[str, str]] = WORDS

    def __init__(self, packages: Packages) -> None:
        self._packages = packages
        self.spans: dict[Condition, tuple[int, int]] = {}
        self.words: list[Token] = []
        """The words that are searched in any column."""
        # The tokens so far, and the tokens before and after the current one.
        self._read: list[Token] = []
        self._before: Token | None = None
        self._after: Token | None = None
        self._count = 0
        # The groups of each spec so far: alternatives, each with its offset.
        self._specs: list[list[list[tuple[Term | _Dependency, int]]]] = [[]]
        # Columns of this spec: another condition on one of them begins the next spec.
        self._begun_with: set[str] = set()
        # The dependencies that conditions and `%` belong to now; None for the spec itself.
        self._at: _Dependency | None = None
        self._parent: _Dependency | None = None
        # A `!` and a `|` whose condition is still to come.
        self._negation: Token | None = None
        self._alternative: Token | None = None
        # The last condition with an empty value, as in `os=''`.
        self._empty: Token | None = None

    def parse(self, text: str, tokens: Iterable[Token]) -> Query:
        """Return the query of a text and its tokens. Raises QueryError."""
        if len(text) > MAX_QUERY_LENGTH:
            message = f"A query has at most {MAX_QUERY_LENGTH:,} characters"
            raise QueryError(message, MAX_QUERY_LENGTH)
        every = [token for token in tokens if token.kind != lexer.SPACE]
        for token, self._after in zip(every, [*every[1:], None], strict=False):
            if self._packages is None:
                _check_ascii(token)
            getattr(self, f"_{token.kind}")(token)
            self._read.append(token)
            self._before = token
        for sign in (self._negation, self._alternative):
            if sign is not None:
                raise _incomplete(sign.text, sign.start)
        self._check_dependency()
        return query_of_specs(map(self._groups, self._specs))

    # The kinds of tokens.

    def _name(self, token: Token) -> None:
        text, dependency = token.text, self._at
        if dependency is not None and not dependency.is_begun:
            dependency.end = token.end
            if text == "*" and not dependency.is_assigned:
                dependency.is_begun = True
                return
            terms = _name_terms(token)
            word = Term(*self._words[text]) if text in self._words else None
            if word is not None and word.column not in _OF_RECORDS and not dependency.is_assigned:
                terms = [word]
            for term in terms:
                self._add(term, token, dependency)
            return
        after = self._after
        # A word with a sigil right after it can only be a name.
        is_attached = after is not None and after.start == token.end and after.kind in _SIGILS
        if not is_attached and text in WORDS:
            term = Term(*WORDS[text])
            self._add(term, token, None if term.column in _OF_RECORDS else dependency)
        elif not (is_attached or text in ENGLISH_WORDS or self._is_package(text)):
            self._word(token)
        else:
            self._begin("package")
            if text == "*":
                self._empty = token
                return
            terms = _name_terms(token)
            if self._needs_one_condition or (after is not None and after.kind == lexer.OR):
                if len(terms) > 1:
                    hint = f"this is two. Write {terms[0].pattern} {terms[1]}."
                    raise QueryError(f"! and | apply to one condition, and {hint}", token.start)
                if is_attached:
                    message = f"! and | apply to one condition. {_WHOLE_SPECS}"
                    raise QueryError(message, token.start)
            for term in terms:
                self._add(term, token)

    def _word(self, token: Token) -> None:
        if self._packages is None:
            raise QueryError("Expected a key before a quoted value, as in key='…'", token.start)
        self.words.append(token)
        self._add(Term(ANY, lexer.unquoted(token.text)), token)

    def _version(self, token: Token) -> None:
        if self._packages is None and not token.text.startswith("@git."):
            # Spack's tokenizer refuses a version that ends in a separator.
            for bound in re.finditer(_BOUND_OF_VERSION, token.text):
                if bound[0][-1] in ".-":
                    raise QueryError(f'Unexpected "{bound[0][-1]}"', token.start + bound.end() - 1)
        constraint, before = re.sub(r"\s", "", token.text[1:]), self._before
        if constraint != ":":
            self._add(Term("version", constraint), token, self._at)
        elif before is None or before.kind != lexer.NAME or before.end != token.start:
            self._ignore(token)

    def _variant(self, token: Token) -> None:
        signed = token.text.lstrip("+~-")
        sign = token.text[: -len(signed)].replace("-", "~")
        name = signed.lstrip()
        if len(sign) > 1 and name in _NOT_PROPAGATED:
            raise QueryError(f"{name} cannot be propagated to dependencies", token.start)
        if ALIASES.get(name, name) in (*FLAGS, *_OF_ARCHITECTURE, "namespace"):
            raise QueryError(f"{name} is not a variant: write {name}=…", token.start)
        self._add(Term("variants", sign + name), token, self._at)

    def _hash(self, token: Token) -> None:
        if self._at is None:
            self._begin("hash")
        elif any(isinstance(p, Term) and p.column == "hash" for p, _ in self._at.parts):
            self._begin("hash", always=True)
        self._add(Term("hash", token.text[1:]), token, self._at)

    def _pair(self, token: Token) -> None:
        parts = split_keyed(token.text)
        assert parts is not None
        key, operator, value = parts[1], parts[2], lexer.unquoted(parts[3])
        dependency = self._at
        if dependency is not None and dependency.is_assigned and not dependency.is_begun:
            raise QueryError("Expected a package name, found =", token.start + parts.start(2))
        if key in _NOT_PROPAGATED and operator.endswith("=="):
            raise QueryError(f"Use = after {key}, not ==", token.start)
        key = ALIASES.get(key, key)
        if not value and key in (*FLAGS, *_OF_ARCHITECTURE):
            self._ignore(token)
        elif key in FLAGS:
            self._add(Term("flags", f"{key}={value}"), token, dependency)
        elif key in _OF_ARCHITECTURE:
            # After `%name` it belongs to the parent of that dependency.
            is_direct = dependency is not None and dependency.is_direct
            self._add(Term(key, value), token, self._parent if is_direct else dependency)
        elif key in _OF_RECORDS or key == ANY:
            self._add(Term(key, value), token)
        elif key in FIELDS:
            exact = "=" if key == "version" and operator == "==" else ""
            self._add(Term(key, exact + value), token, dependency)
        else:
            self._add(Term("variants", token.text), token, dependency)

    def _dependency(self, token: Token) -> None:
        if self._at is not None and self._at.is_assigned:
            self._check_dependency()
        dependency = _Dependency(token, negated=self._negation is not None)
        if dependency.is_direct and self._parent is not None:
            self._parent.parts.append((dependency, token.start))
        else:
            self._append(dependency, token)
            self._parent = None if dependency.is_direct else dependency
        self._at = dependency
        self._count_term(token)

    def _not(self, token: Token) -> None:
        self._check_dependency()
        if self._negation is not None:
            raise QueryError('Unexpected "!" after !', token.start)
        self._negation, self._at, self._parent = token, None, None

    def _or(self, token: Token) -> None:
        self._check_dependency()
        is_first = not self._specs[-1] or self._before is self._empty
        if is_first or self._needs_one_condition:
            raise QueryError("Expected a condition on each side of |", token.start)
        # The tokens of the last condition, with the name that it is attached to.
        first = len(self._read) - 1
        while first > 0 and self._read[first - 1].end == self._read[first].start:
            first -= 1
        name, *attached = self._read[first:]
        # `name@:` is the same as the name alone.
        is_alone = [token.text for token in attached] in ([], ["@:"])
        if self._at is None and name.kind == lexer.NAME and not is_alone:
            raise QueryError(f"| joins two single conditions. {_WHOLE_SPECS}", token.start)
        self._alternative, self._at, self._parent = token, None, None

    def _error(self, token: Token) -> None:
        """Raise QueryError for a character that begins no token; the tokens around it say why."""
        text, start, before, after = token.text, token.start, self._before or token, self._after
        is_value_missing = text == "=" and before.kind == lexer.NAME
        if text[0] in lexer.QUOTES:
            raise QueryError(UNCLOSED_QUOTE, start)
        quote = after if after is not None and after.text[0] in lexer.QUOTES else None
        if is_value_missing and quote is not None and quote.kind == lexer.ERROR:
            raise QueryError(UNCLOSED_QUOTE, quote.start)
        if is_value_missing and before.end == start and is_glob(before.text):
            raise QueryError(f"Expected a key before =, found {before.text}", before.start)
        if text == "[" and before.kind == lexer.DEPENDENCY:
            if before.end == start:
                raise QueryError("Expected ] and a name after [", start)
            raise QueryError(f'Unexpected "[". Write {before.text}[ without a blank.', start)
        if is_value_missing and before.end == start:
            raise QueryError(f"Expected a value after {before.text}=", start)
        if text in _EXPECTED:
            raise _incomplete(text, start)
        hint = "Quote it, or use | for or." if text in "()" else "Quote it in a value."
        raise QueryError(f'Unexpected "{text}". {hint}', start)

    # Adding conditions to the spec or to a dependency.

    @property
    def _needs_one_condition(self) -> bool:
        """Check whether the next condition is negated, or an alternative."""
        return self._negation is not None or self._alternative is not None

    def _is_package(self, word: str) -> bool:
        if self._packages is None:
            return True
        if is_glob(word):
            return any(map(matcher("package", word), self._packages))
        parts = word.split(".")
        return parts[-1] in self._packages and all(
            re.fullmatch(lexer.IDENTIFIER, part) for part in parts
        )

    def _begin(self, column: str, *, always: bool = False) -> None:
        """Begin another spec if this one has a hash, or a condition on the column."""
        if self._needs_one_condition:
            return
        if always or self._begun_with & {"hash", column}:
            self._check_dependency()
            self._specs.append([])
            self._begun_with = set()
            self._at = self._parent = None
        self._begun_with.add(column)

    def _add(self, term: Term, token: Token, place: _Dependency | None = None) -> None:
        """Add a condition to a dependency, or to the spec."""
        if place is not self._at:
            self._check_dependency()
        self._count_term(token)
        try:
            matcher(term.column, term.pattern)
        except ValueError as error:
            raise QueryError(str(error), token.start) from None
        if place is not None:
            place.parts.append((term, token.start))
            place.end, place.is_begun = token.end, True
        else:
            term = replace(term, negated=True) if self._negation is not None else term
            self._append(term, token)
            if term.column in ("package", ANY):
                self._at = self._parent = None
        self.spans.setdefault(term, (token.start, token.end))

    def _append(self, part: Term | _Dependency, token: Token) -> None:
        groups = self._specs[-1]
        if self._alternative is None:
            groups.append([])
        groups[-1].append((part, token.start))
        self._negation = self._alternative = None

    def _ignore(self, token: Token) -> None:
        """Ignore an empty value, as Spack does. Raises QueryError after `!` and beside `|`."""
        if self._needs_one_condition:
            raise QueryError(f"{token.text} is not a condition", token.start)
        self._count_term(token)
        if self._at is not None:
            self._at.is_begun = True
        self._empty = token

    def _count_term(self, token: Token) -> None:
        self._count += 1
        if self._count > MAX_TERMS:
            raise QueryError(f"A query has at most {MAX_TERMS:,} terms", token.start)

    def _check_dependency(self) -> None:
        """Check that no dependency is left without a name or a condition."""
        if self._at is not None and not self._at.is_begun:
            sigil = self._at.sigil
            if not sigil.text.endswith("]"):
                raise _incomplete(sigil.text[0], sigil.start)

    # The conditions of a spec together.

    def _groups(self, spec: list[list[tuple[Term | _Dependency, int]]]) -> list[Group]:
        groups: list[Group] = []
        single: list[tuple[Condition, int]] = []
        for alternatives in spec:
            group = tuple(dict.fromkeys(self._condition(part) for part, _ in alternatives))
            if len(group) == 1 and isinstance(group[0], Term) and not group[0].negated:
                single.append((group[0], alternatives[0][1]))
                groups += [(term,) for term in self._split_architecture(group[0])]
            else:
                groups.append(group)
        check_once(single)
        return groups

    def _condition(self, part: Term | _Dependency) -> Condition:
        if isinstance(part, Term):
            return part
        virtuals, deptypes = _parse_edge(part.sigil)
        own = [(term, start) for term, start in part.parts if isinstance(term, Term)]
        check_once(own)
        terms = [term for whole, _ in own for term in self._split_architecture(whole)]
        nested = [self._condition(p) for p, _ in part.parts if isinstance(p, _Dependency)]
        conditions = tuple(dict.fromkeys((*terms, *nested)))
        dependency = Depends(part.is_direct, conditions, virtuals, deptypes, part.negated)
        end = max([part.end, *(self.spans[condition][1] for condition in nested)])
        self.spans.setdefault(dependency, (part.sigil.start, end))
        return dependency

    def _split_architecture(self, term: Term) -> list[Term]:
        """Split an architecture, so that each column shows its part."""
        if term.column != "arch":
            return [term]
        parts = [Term(column, pattern) for column, pattern in architecture(term.pattern)]
        for part in parts:
            self.spans.setdefault(part, self.spans[term])
        return parts


class _SpecParser(Parser):
    """Parse one spec like `parse_one_or_raise` in lib/spack/spack/spec_parser.py."""

    _words: Mapping[str, tuple[str, str]] = {}

    def _name(self, token: Token) -> None:
        if self._at is not None and not self._at.is_begun:
            super()._name(token)
            return
        self._begin("package", always=bool(self._read))
        for term in _name_terms(token) if token.text != "*" else ():
            self._add(term, token)

    def _pair(self, token: Token) -> None:
        parts = split_keyed(token.text)
        key = ALIASES.get(parts[1], parts[1]) if parts is not None else ""
        if key == ANY or (key in FIELDS and FIELDS[key].syntax != "spack"):
            self._add(Term("variants", token.text), token, self._at)
        else:
            super()._pair(token)

    def _not(self, token: Token) -> None:
        raise QueryError(f'Unexpected "{token.text}"', token.start)

    _or = _not

    def _begin(self, column: str, *, always: bool = False) -> None:
        if always or column in self._begun_with:
            offset = self._before.end if self._before is not None else 0
            raise QueryError("Expected one spec, found another", offset)
        self._begun_with.add(column)

    def _add(self, term: Term, token: Token, place: _Dependency | None = None) -> None:
        values = split_variant(term.pattern)[1] if term.column == "variants" else (term.pattern,)
        if values != ("*",) and any(map(is_glob, values)):
            raise QueryError("Spack has no wildcards", token.start)
        super()._add(term, token, place)


def check_once(conditions: Iterable[tuple[Condition, int]]) -> None:
    """Check that no spec has two versions, or one variant twice, which Spack refuses.

    Each condition comes with its offset, in the order in which they are written; all conditions
    must hold, and none is negated. The rules are from `SpecNodeParser`, and from
    `Spec._set_architecture`, which refuses `arch=` after a part of it. Raises QueryError with the
    offset of the second condition.
    """
    first_conditions: dict[tuple[str, str], Condition] = {}
    for condition, offset in conditions:
        if not isinstance(condition, Term):
            continue
        column, pattern = condition.column, condition.pattern
        # Keys that a spec has only once: a column, with itself or with a variant.
        keys, excluded = {(column, column)}, {(column, column)}
        if column == "arch":
            keys = {(part, part) for part, _ in architecture(pattern)}
            excluded = {(part, part) for part in ARCHITECTURE}
        elif column == "variants" and is_variant(pattern):
            keys = excluded = {(column, split_variant(pattern)[0])}
        elif column == "variants" or column not in _ONCE or (pattern != "*" and is_glob(pattern)):
            continue
        for key in sorted(excluded & first_conditions.keys()):
            first = first_conditions[key]
            if first == condition and column == "namespace":
                continue
            advice = ENGLISH_WORDS.get(pattern, f"For either, write {first} | {condition}")
            hint = f". {advice}." if first != condition else ""
            raise QueryError(f"{key[1]} is given twice{hint}", offset)
        first_conditions.update(dict.fromkeys(keys, condition))


def _incomplete(sign: str, offset: int) -> QueryError:
    """Return the error for a sign without its condition."""
    return QueryError(f"Expected {_EXPECTED[sign]} after {sign}", offset)


def _check_ascii(token: Token) -> None:
    """Raise QueryError for a letter that Spack allows in no name or value, unless it is quoted."""
    parts = split_keyed(token.text) if token.kind == lexer.PAIR else None
    is_quoted = token.kind == lexer.WORD or (parts is not None and parts[3][0] in lexer.QUOTES)
    if token.text.isascii() or is_quoted or token.kind == lexer.ERROR:
        return
    for position, letter in enumerate(token.text):
        if not letter.isascii() and not letter.isspace():
            message = f'Unexpected "{letter}". Quote it in a value.'
            raise QueryError(message, token.start + position)


def _name_terms(token: Token) -> list[Term]:
    """Return the conditions on name and namespace. Raises QueryError for a wrong name."""
    if is_glob(token.text):
        return [Term("package", token.text)]
    *namespace, name = parts = token.text.split(".")
    start = token.start
    for part in parts:
        if not re.fullmatch(lexer.IDENTIFIER, part):
            raise QueryError(f"{token.text} is not a package name", start)
        start += len(part) + 1
    terms = [Term("package", name)]
    return [*terms, Term("namespace", ".".join(namespace))] if namespace else terms


def _parse_edge(token: Token) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the virtuals and the deptypes of a dependency token, both sorted.

    `%[deptypes=build] c,cxx=` has both forms: attributes in brackets, and virtuals before `=`. It
    follows `EdgeAttributeParser` in lib/spack/spack/spec_parser.py. Raises QueryError.
    """
    parts = re.fullmatch(lexer.EDGE_PARTS, token.text)
    assert parts is not None
    values: dict[str, str] = {}
    offset = token.start
    start, end = parts.span(2)
    while token.text[start:end].strip():
        attribute = re.compile(lexer.ATTRIBUTE).match(token.text, start, end)
        if attribute is None or attribute[1] not in ("virtuals", "deptypes"):
            raise QueryError("Expected virtuals=… or deptypes=…", token.start + start)
        # The last of several counts.
        values[attribute[1]] = attribute[3].strip("'\" ")
        if attribute[1] == "deptypes":
            offset = token.start + attribute.start(3)
        start = attribute.end()
    deptypes = set(values["deptypes"].split(",")) if "deptypes" in values else set()
    if unknown := sorted(deptypes.difference(DEPTYPES)):
        hint = "use build, link, run or test"
        raise QueryError(f"{unknown[0]} is not a dependency type: {hint}", offset)
    virtuals = f"{values.get('virtuals', '')},{parts[3] or ''}".split(",")
    return tuple(sorted({name.strip() for name in virtuals} - {""})), tuple(sorted(deptypes))
