"""Gather what a query says of a spec and of its dependencies, until their text ends."""

from __future__ import annotations

from collections.abc import MutableMapping
from dataclasses import dataclass, field

from spackscope.model.query.ast import Condition, Depends, Group, Term
from spackscope.model.query.edge_attributes import read_edge
from spackscope.model.query.lexer import Token
from spackscope.model.query.matchers import architecture
from spackscope.model.query.validation import check_once

Spans = MutableMapping[Condition, tuple[int, int]]
"""Where in a text each condition is written: its start and its end."""


@dataclass
class DependencyDraft:
    """Gather what is said of one dependency; `terms` come with their offsets.

    With `*` it may be any, so that nothing has to follow.
    """

    sigil: Token
    negated: bool
    terms: list[tuple[Condition | DependencyDraft, int]] = field(default_factory=list)
    end: int = 0
    is_any: bool = False

    @property
    def is_direct(self) -> bool:
        """Check whether it is written with `%`."""
        return self.sigil.text.startswith("%")

    @property
    def is_begun(self) -> bool:
        """Check whether anything is said of the dependency itself."""
        return self.is_any or bool(self.terms)

    @property
    def is_assigned(self) -> bool:
        """Check whether the sigil ends as in `%c=`, so that a name must follow."""
        return self.sigil.text.endswith("=")

    def has(self, column: str) -> bool:
        """Check whether a value of a column is asked for."""
        return any(isinstance(term, Term) and term.column == column for term, _ in self.terms)


@dataclass
class SpecDraft:
    """Gather the groups of one spec, each condition with its offset."""

    groups: list[list[tuple[Condition | DependencyDraft, int]]] = field(default_factory=list)
    begun: set[str] = field(default_factory=set)


def groups_of(draft: SpecDraft, spans: Spans) -> list[Group]:
    """Return the groups of a spec, and note the spans of its dependencies. Raises QueryError."""
    groups = [
        (tuple(dict.fromkeys(_finished(condition, spans) for condition, _ in alternatives)), at)
        for alternatives in draft.groups
        for _, at in alternatives[:1]
    ]
    alone = ((group[0], at) for group, at in groups if len(group) == 1)
    check_once((c, at) for c, at in alone if isinstance(c, Term) and not c.negated)
    return [part for group, _ in groups for part in _split(group, spans)]


def _finished(draft: Condition | DependencyDraft, spans: Spans) -> Condition:
    if not isinstance(draft, DependencyDraft):
        return draft
    sigil, virtuals, deptypes = read_edge(draft.sigil)
    plain = [(term, at) for term, at in draft.terms if not isinstance(term, DependencyDraft)]
    check_once(plain)
    nested = [_finished(one, spans) for one, _ in draft.terms if isinstance(one, DependencyDraft)]
    split = [term for one, _ in plain for (term,) in _split((one,), spans)]
    terms = tuple(dict.fromkeys((*split, *nested)))
    made = Depends(sigil != "^", terms, virtuals, deptypes, draft.negated)
    end = max(draft.end, *(spans[condition][1] for condition in nested), 0)
    spans.setdefault(made, (draft.sigil.start, end))
    return made


def _split(group: Group, spans: Spans) -> list[Group]:
    """Split an architecture that stands alone, so that each column shows its part."""
    (first, *others) = group
    if others or first.negated or not isinstance(first, Term) or first.column != "arch":
        return [group]
    parts = [Term(column, pattern) for column, pattern in architecture(first.pattern)]
    for part in parts:
        spans.setdefault(part, spans[first])
    return [(part,) for part in parts]
