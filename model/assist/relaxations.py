"""Find the queries nearest to one without a match that have some."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import combinations

from spackscope.model.assist.widening import Widening
from spackscope.model.catalog.catalog import Catalog
from spackscope.model.core.errors import QueryError, Unanswerable
from spackscope.model.core.progress import ShouldStop, never
from spackscope.model.core.text import clean
from spackscope.model.query.ast import Query
from spackscope.model.query.conditions import Group
from spackscope.model.query.format import format_condition
from spackscope.model.query.parser import parse

MAX_RELAXATIONS = 8
"""Relaxations that are offered at most."""

_MAX_WIDER = 4
"""Those among them that change a condition rather than drop one."""

_MAX_COUNTED = 100
"""Queries that are counted at most for all of them."""

_MAX_PARTS = 12
"""Parts of a query of which every two are dropped together."""

Groups = tuple[Group, ...]


@dataclass(frozen=True, slots=True)
class Relaxation:
    """A query with matches near one without, how it differs, and how many records match it."""

    label: str
    query: Query
    count: int


class _Rank(IntEnum):
    """How much of a query is kept, most first."""

    CHANGED = 0
    WITHOUT_ONE = 1
    WITHOUT_NAME = 2
    WITHOUT_TWO = 3
    ONLY_ONE = 4
    NOTHING = 5


@dataclass(frozen=True, slots=True)
class _Candidate:
    rank: _Rank
    label: str
    query: Query


def relaxations(
    catalog: Catalog, query: Query, *, should_stop: ShouldStop = never
) -> tuple[Relaxation, ...]:
    """Return what to drop or to widen in a query without a match: what keeps most of it first.

    Those that keep as much are in the order of their counts, each that of its whole query. Two
    conditions are dropped only where dropping one does not help. Raises Cancelled.

    Example: for `hdf5@1.14: +mpi` the first may be `@=1.12.2 instead of @1.14:`.
    """
    search = _Search(catalog, query, should_stop)
    stages: tuple[Callable[[], Iterable[_Candidate]], ...] = (
        search.near,
        search.without_two,
        search.only_one,
        search.nothing,
    )
    for stage in stages:
        if found := search.counted(stage()):
            return found
    return ()


@dataclass(frozen=True)
class _Search:
    catalog: Catalog
    query: Query
    should_stop: ShouldStop
    _counted: set[Query] = field(default_factory=set)

    def counted(self, candidates: Iterable[_Candidate]) -> tuple[Relaxation, ...]:
        """Return the candidates with matches, the best first, as many as are offered."""
        ranked: list[tuple[_Rank, Relaxation]] = []
        for candidate in candidates:
            if len(self._counted) >= _MAX_COUNTED:
                break
            if candidate.query in self._counted or not _is_writable(candidate.query):
                continue
            self._counted.add(candidate.query)
            try:
                count = self.catalog.count(candidate.query, should_stop=self.should_stop)
            except Unanswerable:
                continue
            if count:
                label = clean(candidate.label)
                ranked.append((candidate.rank, Relaxation(label, candidate.query, count)))
        ranked.sort(key=lambda pair: (pair[0], -pair[1].count))
        changed = [pair for pair in ranked if pair[0] == _Rank.CHANGED]
        kept = changed[:_MAX_WIDER] + ranked[len(changed) :]
        return tuple(relaxation for _, relaxation in kept[:MAX_RELAXATIONS])

    def near(self) -> Iterator[_Candidate]:
        """Yield the query without one of its conditions, or with a wider one in its place."""
        if self.query.specs and self.query.groups:
            yield _Candidate(
                _Rank.WITHOUT_ONE, "without what all specs share", Query((), self.query.specs)
            )
        yield from self._dropped()
        for groups, rebuilt in _places(self.query):
            for group in groups:
                yield from self._changed(group, groups, rebuilt)

    def _dropped(self) -> Iterator[_Candidate]:
        for groups, rebuilt in _places(self.query):
            for group in groups:
                is_name = all(condition.column == "package" for condition in group)
                rank = _Rank.WITHOUT_NAME if is_name else _Rank.WITHOUT_ONE
                rest = tuple(other for other in groups if other is not group)
                if query := rebuilt(rest):
                    yield _Candidate(rank, f"without {_text(group)}", query)

    def _changed(
        self, group: Group, groups: Groups, rebuilt: Callable[[Groups], Query | None]
    ) -> Iterator[_Candidate]:
        (condition, *alternatives) = group
        if alternatives or condition.negated:
            return
        rest = tuple(other for other in groups if other is not group)
        others = rebuilt(rest) or Query()
        try:
            for wider in Widening(self.catalog, others, self.should_stop).of(condition):
                new = (*rest, (wider,)) if (wider,) not in rest else rest
                query = rebuilt(new)
                if wider != condition and query is not None:
                    yield _Candidate(
                        _Rank.CHANGED, f"{_text((wider,))} instead of {_text(group)}", query
                    )
        except (Unanswerable, QueryError):
            return

    def without_two(self) -> Iterator[_Candidate]:
        """Yield the query without two of its parts."""
        parts = self.query.parts()[:_MAX_PARTS]
        for one, other in combinations(parts, 2):
            query = self.query.minus(one).minus(other)
            if query:
                yield _Candidate(
                    _Rank.WITHOUT_TWO, f"without {_part_text(one)} and {_part_text(other)}", query
                )

    def only_one(self) -> Iterator[_Candidate]:
        """Yield each part alone."""
        for part in self.query.parts()[: _MAX_COUNTED // 2]:
            yield _Candidate(_Rank.ONLY_ONE, f"only {_part_text(part)}", part)

    def nothing(self) -> Iterator[_Candidate]:
        """Yield the empty query."""
        yield _Candidate(_Rank.NOTHING, "without any filter", Query())


def _places(query: Query) -> Iterator[tuple[Groups, Callable[[Groups], Query | None]]]:
    """Yield the groups that all specs share, and those of each spec.

    Each comes with a function that puts others in their place; it returns None where a spec
    would be left without any, and match everything.
    """
    yield query.groups, lambda groups: Query(groups, query.specs)
    for number, spec in enumerate(query.specs):
        yield spec, _in_spec(query, number)


def _in_spec(query: Query, number: int) -> Callable[[Groups], Query | None]:
    def rebuilt(groups: Groups) -> Query | None:
        if not groups:
            return None
        specs = (*query.specs[:number], groups, *query.specs[number + 1 :])
        return Query(query.groups, specs)

    return rebuilt


def _part_text(part: Query) -> str:
    return str(part) if part.specs else _text(part.groups[0])


def _text(group: Group) -> str:
    """Return the text of alternatives; a package without its key."""
    texts = [format_condition(condition) for condition in group]
    return " | ".join(text.removeprefix("package=") for text in texts)


def _is_writable(query: Query) -> bool:
    """Check whether a query can be written, so that it can be shown, and changed by hand."""
    try:
        return parse(str(query), bare="any") == query
    except QueryError:
        return False
