"""Turn the tokens of a query into its specs, groups and conditions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from spackscope.model.columns import ALIASES, FIELDS, FLAGS
from spackscope.model.query import tokens
from spackscope.model.query.edge_syntax import read_edge
from spackscope.model.query.limits import MOST_TERMS, QueryError, check_once
from spackscope.model.query.match import ANY, ARCHITECTURE, architecture, is_glob, test_of
from spackscope.model.query.terms import Condition, Depends, Group, Query, Term, several
from spackscope.model.query.tokens import Token
from spackscope.model.query.unfinished import refusal, waiting
from spackscope.model.records import STATES

_OWN = ("package", "stack", "tag", "source", "state", "size")


@dataclass
class _Dependency:
    """Gather what is said of one dependency."""

    sigil: Token
    negated: bool
    terms: list[Condition | _Dependency] = field(default_factory=list)
    end: int = 0


@dataclass
class _Spec:
    """Gather the groups of one spec."""

    groups: list[list[Condition | _Dependency]] = field(default_factory=list)
    begun: set[str] = field(default_factory=set)


class Parser:
    """Read one query, a token at a time.

    `bare` says whether a word without sigil or key is the name of a package, or `any` column's.
    """

    def __init__(self, text: str, bare: str) -> None:
        found = list(tokens.tokens(text))
        self._tokens = [one for one in found if one.kind != tokens.SPACE]
        self._bare = bare
        self._specs = [_Spec()]
        self._spans: dict[Condition, tuple[int, int]] = {}
        self._count = 0
        self._negation: Token | None = None
        self._alternative: Token | None = None
        # What `%` attaches to, and what properties belong to; None for the spec itself.
        self._parent: _Dependency | None = None
        self._open: _Dependency | None = None

    def parse(self) -> tuple[Query, Mapping[Condition, tuple[int, int]]]:
        """Give the query, and where in the text each condition stands. Raises QueryError."""
        for position, token in enumerate(self._tokens):
            getattr(self, f"_{token.kind}", self._error)(token, position)
        for sign in (self._negation, self._alternative):
            if sign is not None:
                raise waiting(sign.text, sign.start)
        self._check_open()
        specs = []
        for draft in self._specs:
            groups = [
                group
                for alternatives in draft.groups
                for group in self._split(tuple(dict.fromkeys(map(self._finished, alternatives))))
            ]
            check_once(groups, self._spans)
            specs.append(groups)
        return several(specs), self._spans

    # One method for each kind of token

    def _name(self, token: Token, position: int) -> None:
        waiting = self._open
        if waiting is not None and not waiting.terms:
            self._add(Term("package", _simple_name(token.text)), token)
            return
        if token.text in STATES and not self._is_attached(position):
            self._to_spec(Term("state", token.text), token)
            return
        if self._bare == "any" and not self._is_attached(position):
            self._to_spec(Term(ANY, token.text), token)
            return
        self._begin("package")
        if token.text == "*":
            return
        beside_others = self._is_beside_others(position)
        *namespace, name = token.text.split(".") if not is_glob(token.text) else [token.text]
        if not name:
            raise QueryError(f"{token.text} is no name of a package", token.start)
        if beside_others and namespace:
            hint = f"write {name} namespace={'.'.join(namespace)}"
            raise QueryError(f"! and | take one condition, and this is two: {hint}", token.start)
        if beside_others and self._is_attached(position):
            raise QueryError(
                "! and | take one condition: put a blank behind the name, or write several specs"
                " one after the other",
                token.start,
            )
        self._to_spec(Term("package", name), token)
        if namespace:
            self._to_spec(Term("namespace", ".".join(namespace)), token)

    def _word(self, token: Token, position: int) -> None:
        if self._bare != "any":
            raise QueryError("a quoted text is a value: write key='…'", token.start)
        self._to_spec(Term(ANY, tokens.unquoted(token.text)), token)

    def _version(self, token: Token, position: int) -> None:
        constraint = re.sub(r"\s", "", token.text[1:])
        before = self._tokens[position - 1] if position else token
        is_any = constraint == ":" and before.kind == tokens.NAME and before.end == token.start
        if not is_any:
            self._add(Term("version", constraint), token)

    def _variant(self, token: Token, position: int) -> None:
        name = token.text.lstrip("+~-")
        sign = token.text[: -len(name)].replace("-", "~")
        self._add(Term("variants", sign + name.lstrip()), token)

    def _hash(self, token: Token, position: int) -> None:
        if self._open is None:
            self._begin("hash")
        self._add(Term("hash", token.text[1:]), token)

    def _pair(self, token: Token, position: int) -> None:
        parts = tokens.PAIR_PARTS.fullmatch(token.text)
        assert parts is not None
        key, operator, written = parts.groups()
        value = tokens.unquoted(written)
        key = ALIASES.get(key, key)
        if key in FLAGS:
            self._add(Term("flags", f"{key}={value}"), token)
        elif key in ("arch", *ARCHITECTURE):
            self._to_parent(Term(key, value), token)
        elif key in _OWN:
            self._to_spec(Term(key, value), token)
        elif key in FIELDS:
            exact = "=" if key == "version" and operator == "==" else ""
            self._add(Term(key, exact + value), token)
        elif "@" in value and written == value:
            at = token.start + token.text.index("@")
            raise QueryError("a value with @ wants quotes around it", at)
        else:
            self._add(Term("variants", f"{key}{operator}{value}"), token)

    def _dependency(self, token: Token, position: int) -> None:
        self._check_open()
        negated, self._negation = self._negation is not None, None
        draft = _Dependency(token, negated, end=token.end)
        is_direct = token.text.startswith("%")
        if is_direct and self._parent is not None and self._alternative is None and not negated:
            self._parent.terms.append(draft)
        else:
            self._append(draft)
            self._parent = None if is_direct else draft
        self._open = draft
        self._counted(token)

    def _not(self, token: Token, position: int) -> None:
        self._check_open()
        if self._negation is not None:
            raise QueryError("! stands twice", token.start)
        self._negation, self._open, self._parent = token, None, None

    def _or(self, token: Token, position: int) -> None:
        self._check_open()
        if (
            not self._specs[-1].groups
            or self._alternative is not None
            or self._negation is not None
        ):
            raise QueryError("| stands between two conditions", token.start)
        if self._open is None and self._is_end_of_name(position):
            raise QueryError(
                "| takes one condition on each side: put a blank behind the name, or write several"
                " specs one after the other",
                token.start,
            )
        self._alternative, self._open, self._parent = token, None, None

    def _error(self, token: Token, position: int) -> None:
        before = self._tokens[position - 1] if position else token
        raise refusal(token, before, self._tokens[position + 1 : position + 2])

    # Where a condition goes

    def _begin(self, column: str) -> None:
        """Begin another spec where this one has its hash already, or before a name its name."""
        alone = self._negation is None and self._alternative is None
        if not alone:
            return
        if self._specs[-1].begun & {"hash", column}:
            self._check_open()
            self._specs.append(_Spec())
            self._open = self._parent = None
        self._specs[-1].begun.add(column)

    def _add(self, term: Term, token: Token) -> None:
        """Add a condition to the dependency that is open, or to the spec."""
        draft = self._open
        if draft is None or self._negation is not None or self._alternative is not None:
            self._to_spec(term, token)
        else:
            self._tested(term, token)
            if term not in draft.terms:
                draft.terms.append(term)
            draft.end = token.end
            self._spans.setdefault(term, (token.start, token.end))

    def _to_parent(self, term: Term, token: Token) -> None:
        """Add a condition on the architecture: what stands behind `%gcc` is none of gcc."""
        if self._open is not None and self._open.sigil.text.startswith("%"):
            self._check_open()
            self._open = self._parent
        self._add(term, token)

    def _to_spec(self, term: Term, token: Token) -> None:
        """Add a condition to the spec, whatever dependency is open."""
        self._check_open()
        self._tested(term, token)
        negated = self._negation is not None
        self._negation = None
        term = Term(term.column, term.pattern, negated)
        self._append(term)
        self._spans.setdefault(term, (token.start, token.end))
        if term.column in ("package", ANY):
            self._open = self._parent = None

    def _append(self, condition: Condition | _Dependency) -> None:
        groups = self._specs[-1].groups
        if self._alternative is not None:
            groups[-1].append(condition)
            self._alternative = None
        else:
            groups.append([condition])

    def _tested(self, term: Term, token: Token) -> None:
        self._counted(token)
        try:
            test_of(term.column, term.pattern)
        except ValueError as error:
            raise QueryError(str(error), token.start) from None

    def _counted(self, token: Token) -> None:
        self._count += 1
        if self._count > MOST_TERMS:
            raise QueryError(f"a query has {MOST_TERMS} terms at most", token.start)

    # Dependencies

    def _check_open(self) -> None:
        draft = self._open
        if draft is not None and not draft.terms:
            raise waiting(draft.sigil.text[0], draft.sigil.start)

    def _finished(self, draft: Condition | _Dependency) -> Condition:
        if not isinstance(draft, _Dependency):
            return draft
        sigil, virtuals, deptypes = read_edge(draft.sigil)
        plain = [term for term in draft.terms if not isinstance(term, _Dependency)]
        nested = [self._finished(term) for term in draft.terms if isinstance(term, _Dependency)]
        split = [group for term in plain for group in self._split((term,))]
        check_once(split, self._spans)
        terms = (*dict.fromkeys(term for (term,) in split), *nested)
        made = Depends(sigil != "^", terms, virtuals, deptypes, draft.negated)
        end = max(draft.end, *(self._spans[condition][1] for condition in nested), 0)
        self._spans.setdefault(made, (draft.sigil.start, end))
        return made

    def _split(self, group: Group) -> list[Group]:
        """Split an architecture that stands alone, so that each column shows its part."""
        (first, *others) = group
        if others or first.negated or not isinstance(first, Term) or first.column != "arch":
            return [group]
        parts = [Term(column, pattern) for column, pattern in architecture(first.pattern)]
        for part in parts:
            self._spans.setdefault(part, self._spans[first])
        return [(part,) for part in parts]

    def _is_beside_others(self, position: int) -> bool:
        """Tell whether a condition is excluded, or one of several alternatives."""
        after = self._tokens[position + 1 : position + 2]
        is_followed = bool(after) and after[0].kind == tokens.OR
        return is_followed or self._negation is not None or self._alternative is not None

    def _is_end_of_name(self, position: int) -> bool:
        """Tell whether the condition before stands directly behind the name that it belongs to."""
        at = position - 1
        while at > 0 and self._tokens[at - 1].end == self._tokens[at].start:
            at -= 1
        is_glued = at < position - 1 and self._tokens[at].kind == tokens.NAME
        # `name@:` is no more than the name.
        return is_glued and not (at == position - 2 and self._tokens[at + 1].text == "@:")

    def _is_attached(self, position: int) -> bool:
        """Tell whether a sigil follows without a blank, so that the word can only be a name."""
        token = self._tokens[position]
        if position + 1 == len(self._tokens):
            return False
        after = self._tokens[position + 1]
        sigils = (tokens.VERSION, tokens.VARIANT, tokens.HASH, tokens.DEPENDENCY)
        return after.start == token.end and after.kind in sigils


def _simple_name(text: str) -> str:
    return text if is_glob(text) else text.rpartition(".")[2] or text
