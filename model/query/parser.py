"""Turn the tokens of a query into its specs, groups and conditions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from spackscope.model.core.columns import ALIASES, FIELDS, FLAGS
from spackscope.model.core.errors import (
    QueryError,
)
from spackscope.model.core.records import STATES
from spackscope.model.query import lexer
from spackscope.model.query.ast import Condition, Query, Term, query_of_specs
from spackscope.model.query.drafts import DependencyDraft, SpecDraft, groups_of
from spackscope.model.query.lexer import Token
from spackscope.model.query.matchers import ANY, ARCHITECTURE, is_glob, test_of
from spackscope.model.query.syntax_errors import check_ascii, check_version_end, refusal, waiting
from spackscope.model.query.validation import (
    MOST_TERMS,
)

_OWN = ("package", "stack", "tag", "source", "state", "size")
_PART_OF_NAME = re.compile(r"[A-Za-z_0-9][A-Za-z_0-9\-]*")

# RESERVED_NAMES of lib/spack/spack/variant.py: what no dependency can be given with `==`.
_NOT_PROPAGATED = frozenset(
    {
        *("arch", "architecture", "platform", "os", "operating_system", "target", "namespace"),
        *("branch", "commit", "dev_path", "patches", "tag"),
    }
)


class Parser:
    """Read one query, a token at a time.

    `bare` says whether a word without sigil or key is the name of a package, or `any` column's.
    What is typed into a live filter is read more kindly: there a version may end in a dot, and
    every word is a text.
    """

    def __init__(self, tokens: Iterable[Token], bare: str) -> None:
        self._tokens = [token for token in tokens if token.kind != lexer.SPACE]
        self._bare = bare
        self._specs = [SpecDraft()]
        self._spans: dict[Condition, tuple[int, int]] = {}
        self._count = 0
        self._negation: Token | None = None
        self._alternative: Token | None = None
        # What `%` attaches to, and what properties belong to; None for the spec itself.
        self._parent: DependencyDraft | None = None
        self._open: DependencyDraft | None = None
        # The last condition that asks for nothing, as `os=''` does.
        self._empty: Token | None = None

    def parse(self) -> tuple[Query, Mapping[Condition, tuple[int, int]]]:
        """Give the query, and where in the text each condition stands. Raises QueryError."""
        for position, token in enumerate(self._tokens):
            if self._bare == "package":
                check_ascii(token)
            getattr(self, f"_{token.kind}", self._error)(token, position)
        for sign in (self._negation, self._alternative):
            if sign is not None:
                raise waiting(sign.text, sign.start)
        self._check_open()
        return query_of_specs(
            [groups_of(draft, self._spans) for draft in self._specs]
        ), self._spans

    # One method for each kind of token

    def _name(self, token: Token, position: int) -> None:
        draft = self._open
        if draft is not None and not draft.is_begun:
            self._name_dependency(draft, token)
            return
        if token.text in STATES and not self._is_attached(position):
            self._to_spec(Term("state", token.text), token)
            return
        if self._bare == "any" and not self._is_attached(position):
            self._to_spec(Term(ANY, token.text), token)
            return
        self._begin("package")
        if token.text == "*":
            self._empty = token
            return
        beside_others = self._is_beside_others(position)
        namespace, name = _name_parts(token)
        if beside_others and namespace:
            hint = f"write {name} namespace={namespace}"
            raise QueryError(f"! and | take one condition, and this is two: {hint}", token.start)
        if beside_others and self._is_attached(position):
            raise QueryError(
                "! and | take one condition: put a blank behind the name, or write several specs"
                " one after the other",
                token.start,
            )
        self._to_spec(Term("package", name), token)
        if namespace:
            self._to_spec(Term("namespace", namespace), token)

    def _name_dependency(self, draft: DependencyDraft, token: Token) -> None:
        draft.end = token.end
        if token.text == "*" and not draft.is_assigned:
            draft.is_any = True
            return
        namespace, name = _name_parts(token)
        self._add(Term("package", name), token)
        if namespace:
            self._add(Term("namespace", namespace), token)

    def _word(self, token: Token, position: int) -> None:
        if self._bare != "any":
            raise QueryError("a quoted text is a value: write key='…'", token.start)
        self._to_spec(Term(ANY, lexer.unquoted(token.text)), token)

    def _version(self, token: Token, position: int) -> None:
        constraint = re.sub(r"\s", "", token.text[1:])
        before = self._tokens[position - 1] if position else token
        is_any = constraint == ":" and before.kind == lexer.NAME and before.end == token.start
        if self._bare == "package":
            check_version_end(token)
        if constraint == ":" and not is_any:
            self._ask_nothing(token)
        elif not is_any:
            self._add(Term("version", constraint), token)

    def _variant(self, token: Token, position: int) -> None:
        written = token.text.lstrip("+~-")
        sign = token.text[: -len(written)].replace("-", "~")
        name = written.lstrip()
        if len(sign) > 1 and name in _NOT_PROPAGATED:
            raise QueryError(f"{name} cannot be asked of dependencies too", token.start)
        if ALIASES.get(name, name) in (*FLAGS, *ARCHITECTURE, "arch", "namespace"):
            raise QueryError(f"{name} is no variant: write {name}=…", token.start)
        self._add(Term("variants", sign + name), token)

    def _hash(self, token: Token, position: int) -> None:
        if self._open is None:
            self._begin("hash")
        elif self._open.has("hash"):
            self._begin_spec()
            self._specs[-1].begun.add("hash")
        self._add(Term("hash", token.text[1:]), token)

    def _pair(self, token: Token, position: int) -> None:
        parts = lexer.PAIR_PARTS.fullmatch(token.text)
        assert parts is not None
        key, operator, written = parts.groups()
        if self._open is not None and self._open.is_assigned and not self._open.is_begun:
            raise QueryError("Expected a package name, found =", token.start + parts.start(2))
        if key in _NOT_PROPAGATED and operator.endswith("=="):
            raise QueryError(f"{key} takes = only, not ==", token.start)
        value = lexer.unquoted(written)
        key = ALIASES.get(key, key)
        if not value and (key in FLAGS or key in ("arch", *ARCHITECTURE)):
            self._ask_nothing(token)
        elif key in FLAGS:
            self._add(Term("flags", f"{key}={value}"), token)
        elif key in ("arch", *ARCHITECTURE):
            self._to_parent(Term(key, value), token)
        elif key in _OWN:
            self._to_spec(Term(key, value), token)
        elif key in FIELDS:
            exact = "=" if key == "version" and operator == "==" else ""
            self._add(Term(key, exact + value), token)
        else:
            pattern = lexer.variant_pattern(key, operator, value)
            self._add(Term("variants", pattern), token)

    def _ask_nothing(self, token: Token) -> None:
        """Pass over a value that is empty, as Spack does, unless it is one of alternatives."""
        if self._negation is not None or self._alternative is not None:
            raise QueryError(f"{token.text} asks for nothing", token.start)
        self._counted(token)
        self._empty = token
        if self._open is not None and not self._open.is_begun:
            self._open.is_any = True

    def _dependency(self, token: Token, position: int) -> None:
        if self._open is not None and self._open.is_assigned:
            self._check_open()
        negated, self._negation = self._negation is not None, None
        draft = DependencyDraft(token, negated, end=token.end)
        if draft.is_direct and self._parent and self._alternative is None and not negated:
            self._parent.terms.append((draft, token.start))
        else:
            self._append(draft, token)
            self._parent = None if draft.is_direct else draft
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
            or self._tokens[position - 1] is self._empty
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
            self._begin_spec()
        self._specs[-1].begun.add(column)

    def _begin_spec(self) -> None:
        self._check_open()
        self._specs.append(SpecDraft())
        self._open = self._parent = None

    def _add(self, term: Term, token: Token) -> None:
        """Add a condition to the dependency that is open, or to the spec."""
        draft = self._open
        if draft is None or self._negation is not None or self._alternative is not None:
            self._to_spec(term, token)
        else:
            self._tested(term, token)
            draft.terms.append((term, token.start))
            draft.end = token.end
            self._spans.setdefault(term, (token.start, token.end))

    def _to_parent(self, term: Term, token: Token) -> None:
        """Add a condition on the architecture, which is never one on what stands behind `%`."""
        draft = self._open
        if draft is None or not draft.is_direct:
            self._add(term, token)
            return
        self._check_open()
        self._open = self._parent
        self._add(term, token)
        self._open = draft

    def _to_spec(self, term: Term, token: Token) -> None:
        """Add a condition to the spec, whatever dependency is open."""
        self._check_open()
        self._tested(term, token)
        negated = self._negation is not None
        self._negation = None
        term = Term(term.column, term.pattern, negated)
        self._append(term, token)
        self._spans.setdefault(term, (token.start, token.end))
        if term.column in ("package", ANY):
            self._open = self._parent = None

    def _append(self, condition: Condition | DependencyDraft, token: Token) -> None:
        groups = self._specs[-1].groups
        if self._alternative is not None:
            groups[-1].append((condition, token.start))
            self._alternative = None
        else:
            groups.append([(condition, token.start)])

    def _tested(self, term: Term, token: Token) -> None:
        self._counted(token)
        try:
            test_of(term.column, term.pattern)
        except ValueError as error:
            raise QueryError(str(error), token.start) from None

    def _counted(self, token: Token) -> None:
        self._count += 1
        if self._count > MOST_TERMS:
            raise QueryError(f"a query has {MOST_TERMS:,} terms at most", token.start)

    # Dependencies

    def _check_open(self) -> None:
        draft = self._open
        if draft is not None and not draft.is_begun and not draft.sigil.text.endswith("]"):
            raise waiting(draft.sigil.text[0], draft.sigil.start)

    def _is_beside_others(self, position: int) -> bool:
        """Tell whether a condition is excluded, or one of several alternatives."""
        after = self._tokens[position + 1 : position + 2]
        is_followed = bool(after) and after[0].kind == lexer.OR
        return is_followed or self._negation is not None or self._alternative is not None

    def _is_end_of_name(self, position: int) -> bool:
        """Tell whether the condition before stands directly behind the name that it belongs to."""
        at = position - 1
        while at > 0 and self._tokens[at - 1].end == self._tokens[at].start:
            at -= 1
        is_glued = at < position - 1 and self._tokens[at].kind == lexer.NAME
        # `name@:` is no more than the name.
        return is_glued and not (at == position - 2 and self._tokens[at + 1].text == "@:")

    def _is_attached(self, position: int) -> bool:
        """Tell whether a sigil follows without a blank, so that the word can only be a name."""
        token = self._tokens[position]
        if position + 1 == len(self._tokens):
            return False
        after = self._tokens[position + 1]
        sigils = (lexer.VERSION, lexer.VARIANT, lexer.HASH, lexer.DEPENDENCY)
        return after.start == token.end and after.kind in sigils


def _name_parts(token: Token) -> tuple[str, str]:
    """Return the namespace and the name of a package. Raises QueryError where it is not one."""
    if is_glob(token.text):
        return "", token.text
    parts = token.text.split(".")
    at = token.start
    for part in parts:
        if not _PART_OF_NAME.fullmatch(part):
            raise QueryError(f"{token.text} is not the name of a package", at)
        at += len(part) + 1
    *namespace, name = parts
    return ".".join(namespace), name
