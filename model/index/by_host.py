"""Columns that depend on the host: whether specs run and are reusable there.

An index does not have their values: `analysis.fit` has. `ByHost.connect` sets the functions that
compute them.
"""

from __future__ import annotations

import threading
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Protocol

from spackscope.model.core.columns import FIELDS, Column, Value
from spackscope.model.core.errors import QueryError, Unanswerable
from spackscope.model.core.frozen import replace
from spackscope.model.core.records import (
    ANSWERS,
    LANGUAGES,
    Fit,
    Gap,
    Problem,
    compiler_name,
    is_compiler,
)
from spackscope.model.core.tasks import BoundedCache
from spackscope.model.index.index_file import Span, sorted_by
from spackscope.model.query.ast import Condition, Depends, Query, Term
from spackscope.model.query.matchers import ARCHITECTURE
from spackscope.model.query.toolchains import Toolchains, names_of, with_toolchains

HOST = "host"
"""The word in `os=host` and `target=:host` for the os or target of the host."""


RANKS_OF_FITS = {True: 0, None: 1, False: 2}
"""The order of answers in `Fit.fits`: runs, not known, does not run."""


class HostAnswers(Protocol):
    """Answers about one host; `where` is a phrase for it."""

    where: str

    @property
    def is_ready(self) -> bool:
        """Whether `coded` has returned once, so that all answers are computed."""

    def part(self, column: str) -> str:
        """Return the platform, os or target of the host; "" if it is not known."""

    @property
    def not_applied(self) -> Mapping[str, Sequence[Problem]]:
        """The rules of the configuration that do not apply, by their package or virtual."""

    def of(self, id_: int) -> Fit:
        """Return the `Fit` of the spec with an id, with sentences."""

    def brief(self, id_: int) -> Fit:
        """Return the `Fit` of the spec with an id, without sentences."""

    @property
    def ranks(self) -> bytes:
        """The rank in RANKS_OF_FITS of each spec by its id; quicker than `coded`."""

    def coded(self) -> tuple[Sequence[int], Sequence[Fit]]:
        """Return a code for each spec by its id, and the answers by code, without sentences.

        Raises Cancelled.
        """


FindGaps = Callable[[], list[Gap]]
"""Returns the problems of the configuration of Spack."""

CodedValues = tuple[Sequence[int], Sequence[Value]]
"""A code for each spec by its id, and the values of a column by code."""


class ByHost:
    """The columns that depend on the host, read like columns of the index.

    Methods with a column raise Unanswerable before `connect` is called. Records have answers once
    the answers of all specs are computed, or from the start with `fills_rows`.
    """

    def __init__(self) -> None:
        self._find_answers: Callable[[], HostAnswers] | None = None
        self._answers: HostAnswers | None = None
        self._orders = _orders()
        self.find_gaps: FindGaps = list
        self._toolchains: Callable[[], Toolchains] = dict
        self._lock = threading.Lock()
        self.fills_rows = False

    def connect(
        self,
        find_answers: Callable[[], HostAnswers] | None,
        find_gaps: FindGaps = list,
        toolchains: Callable[[], Toolchains] = dict,
    ) -> None:
        """Set the functions that return answers, problems and toolchains of the configuration."""
        self._find_answers, self._answers, self._orders = find_answers, None, _orders()
        self.find_gaps, self._toolchains = find_gaps, toolchains

    @property
    def has_host(self) -> bool:
        """Whether there is a host to ask about."""
        return self._find_answers is not None

    @property
    def is_ready(self) -> bool:
        """Whether the answers of all specs are computed."""
        return self._answers is not None and self._answers.is_ready

    @property
    def answers(self) -> HostAnswers:
        """The answers about the host; only with `has_host`."""
        with self._lock:
            if self._answers is None:
                assert self._find_answers is not None
                self._answers = self._find_answers()
            return self._answers

    def preferred(self, span: Span, compute: Callable[[bytes], array[int]]) -> array[int]:
        """Return the order of the look-alikes in a span, computed from the `ranks` of specs."""
        return self._orders.get(span, lambda: compute(self.answers.ranks))

    def check_all(self) -> None:
        """Compute the answers of all specs, if there is a host. Raises Cancelled."""
        if self.has_host:
            self.answers.coded()

    def _known(self, term: Condition) -> HostAnswers:
        if not self.has_host:
            raise Unanswerable(f"{term} needs the host, which is unknown here", term)
        return self.answers

    def mask(self, term: Term) -> bytes:
        """Mark the specs that match a term, regardless of negation. Raises Unanswerable."""
        codes, values = self.values(term.column)
        fitting = {code for code, value in enumerate(values) if term.fits(term.column, value)}
        return bytes(map(fitting.__contains__, codes))

    def counts(self, column: str, ids: Iterable[int]) -> Counter[Value]:
        """Count specs by their values of a column."""
        codes, values = self.values(column)
        by_value: Counter[Value] = Counter()
        for code, count in Counter(map(codes.__getitem__, ids)).items():
            by_value[values[code]] += count
        return by_value

    def values(self, column: str) -> CodedValues:
        """Return a code for each spec by its id, and the values of a column by code."""
        codes, fits = self._known(Term(column, "*")).coded()
        return codes, [FIELDS[column].value(SimpleNamespace(fit=fit)) for fit in fits]

    def ordered(self, column: Column, ids: Sequence[int], *, descending: bool) -> array[int]:
        """Return ids sorted by a column, "yes" first; without a host in their own order."""
        if not self.has_host:
            return array("I", ids)
        codes, values = self.values(column.name)
        keys = [_order(value) for value in values]
        keys_of_ids = map(keys.__getitem__, map(codes.__getitem__, ids))
        return sorted_by(keys_of_ids, ids, descending=descending)

    def of(self, ids: Iterable[int]) -> Iterator[Fit | None]:
        """Yield `fit` of records, or None unless it is computed or `fills_rows`."""
        has_fit = self.is_ready or (self.fills_rows and self.has_host)
        brief = self.answers.brief if has_fit else None
        return (brief and brief(id_) for id_ in ids)

    def with_toolchains(self, query: Query) -> Query:
        """Return the query with what toolchains ask for. Raises Unanswerable if it is too much."""
        # The configuration is read only for a query that may name one.
        names = {name for name in names_of(query) if not is_compiler(compiler_name(name))}
        try:
            return with_toolchains(query, self._toolchains()) if names - {*LANGUAGES} else query
        except QueryError as error:
            raise Unanswerable(str(error), next(query.conditions)) from None

    def resolved(self, query: Query) -> Query:
        """Return the query with the os or target of the host for `host`. Raises Unanswerable."""
        shared, *specs = (
            tuple(tuple(map(self._resolved, group)) for group in groups)
            for groups in (query.groups, *query.specs)
        )
        return Query(shared, tuple(specs))

    def _resolved(self, condition: Condition) -> Condition:
        if isinstance(condition, Depends):
            return replace(condition, terms=tuple(map(self._resolved, condition.terms)))
        if condition.column not in ARCHITECTURE:
            return condition
        if HOST not in condition.pattern.replace(",", ":").split(":"):
            return condition
        part = self._known(condition).part(condition.column)
        if not part:
            raise Unanswerable(
                f"{condition} needs the {condition.column} of the host, which is unknown",
                condition,
            )
        entries = (
            ":".join(part if bound == HOST else bound for bound in entry.split(":"))
            for entry in condition.pattern.split(",")
        )
        return replace(condition, pattern=",".join(entries))


def _orders() -> BoundedCache[Span, array[int]]:
    return BoundedCache(lambda order: order.itemsize * len(order))


def _order(value: Value) -> tuple[int, Value]:
    answer = value[0] if isinstance(value, tuple) and value else ""
    # "yes" comes first, then "unknown".
    order = (ANSWERS[0], ANSWERS[2])
    return order.index(str(answer)) if answer in order else len(order), value
