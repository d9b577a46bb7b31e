"""Find the queries nearest to one without a match that have some."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import IntEnum
from itertools import combinations, islice

from spackscope.model.assist.answers import Relaxation
from spackscope.model.assist.widening import Widening
from spackscope.model.catalog.catalog import Catalog
from spackscope.model.core.errors import QueryError, Unanswerable
from spackscope.model.core.frozen import Frozen, field, replace
from spackscope.model.core.progress import ShouldStop, never
from spackscope.model.core.text import clean
from spackscope.model.query.ast import Query
from spackscope.model.query.conditions import Condition, Depends, Group
from spackscope.model.query.format import format_condition
from spackscope.model.query.parser import parse

MAX_RELAXATIONS = 8
"""Relaxations that are offered at most."""

_MAX_WIDER = 4
"""Those among them that change a condition rather than drop one."""

_MAX_COUNTED = 100
"""Queries that are counted at most where dropping one, two or all but one is tried."""

_MAX_CONDITIONS = 2_000
"""Conditions of these queries in total; a pasted query may have a thousand."""

_MAX_PARTS = 12
"""Parts of a query of which every two are dropped together."""

Groups = tuple[Group, ...]


class _Rank(IntEnum):
    """How much of a query is kept, most first."""

    MOVED = 0
    CHANGED = 1
    WITHOUT_ONE = 2
    WITHOUT_NAME = 3
    CHANGED_WITHOUT_ONE = 4
    WITHOUT_TWO = 5
    ONLY_ONE = 6
    NOTHING = 7


_WIDER = (_Rank.CHANGED, _Rank.CHANGED_WITHOUT_ONE)


class _Candidate(Frozen):
    rank: _Rank
    label: str
    query: Query


def relaxations(
    catalog: Catalog, query: Query, *, should_stop: ShouldStop = never
) -> tuple[Relaxation, ...]:
    """Return what to drop or to widen in a query without a match: what keeps most of it first.

    Those that keep as much are in the order of their counts, each that of its whole query. More
    than one condition is changed only where changing one does not help. Raises Cancelled.

    Example: for `hdf5@1.14: +mpi` the first may be `@=1.12.2 instead of @1.14:`.
    """
    search = _Search(catalog, query, should_stop)
    stages: tuple[Callable[[], Iterable[_Candidate]], ...] = (
        search.near,
        search.farther,
        search.only_one,
        search.nothing,
    )
    for stage in stages:
        if relaxed := search.counted(stage()):
            return relaxed
    return ()


class _Search(Frozen):
    catalog: Catalog
    query: Query
    should_stop: ShouldStop
    _counted: set[Query] = field(default_factory=set)

    def counted(self, candidates: Iterable[_Candidate]) -> tuple[Relaxation, ...]:
        """Return the candidates with matches, the best first, as many as are offered."""
        ranked: list[tuple[_Rank, Relaxation]] = []
        for candidate in islice(self._new(candidates), self._budget):
            try:
                count = self.catalog.count(candidate.query, should_stop=self.should_stop)
            except Unanswerable:
                continue
            if count and _is_writable(candidate.query):
                label = clean(candidate.label)
                ranked.append((candidate.rank, Relaxation(label, candidate.query, count)))
        ranked.sort(key=lambda pair: (pair[0], -pair[1].count))
        changed = [pair for pair in ranked if pair[0] in _WIDER]
        offered = sorted(
            changed[:_MAX_WIDER] + [pair for pair in ranked if pair[0] not in _WIDER],
            key=lambda pair: pair[0],
        )
        return tuple(relaxation for _, relaxation in offered[:MAX_RELAXATIONS])

    @property
    def _budget(self) -> int:
        """How many queries are counted at most."""
        conditions = sum(1 for _ in self.query.conditions)
        return max(1, min(_MAX_COUNTED, _MAX_CONDITIONS // max(1, conditions)))

    def _new(self, candidates: Iterable[_Candidate]) -> Iterator[_Candidate]:
        """Yield the candidates that were not counted yet."""
        for candidate in candidates:
            if candidate.query not in self._counted and candidate.query != self.query:
                self._counted.add(candidate.query)
                yield candidate

    def near(self) -> Iterator[_Candidate]:
        """Yield the query without one of its conditions, or with a wider one in its place."""
        if self.query.specs and self.query.groups:
            yield _Candidate(
                _Rank.WITHOUT_ONE, "without what all specs share", Query((), self.query.specs)
            )
        yield from self._moved()
        yield from self._dropped()
        yield from self._changed(self.query, _Rank.CHANGED, "")

    def farther(self) -> Iterator[_Candidate]:
        """Yield the query without two of its parts, or without one and with another wider."""
        yield from self._without_two()
        for candidate in islice(self._dropped(), _MAX_PARTS):
            if candidate.rank is _Rank.WITHOUT_ONE:
                after = f", {candidate.label}"
                yield from self._changed(candidate.query, _Rank.CHANGED_WITHOUT_ONE, after)

    def _moved(self) -> Iterator[_Candidate]:
        """Yield the query with variants of a dependency asked of the spec itself instead.

        They were typed after `%gcc` or `^zlib`, and so belong to that.
        """
        for groups, rebuilt in _places(self.query):
            for group in groups:
                dependency = group[0]
                if len(group) > 1 or not isinstance(dependency, Depends) or dependency.negated:
                    continue
                variants = [term for term in dependency.terms if term.column == "variants"]
                others = tuple(term for term in dependency.terms if term not in variants)
                if not variants or not others:
                    continue
                rest = tuple(other for other in groups if other is not group)
                plain = replace(dependency, terms=others)
                if query := rebuilt((*rest, *((term,) for term in variants), (plain,))):
                    written = " ".join(map(format_condition, variants))
                    label = f"{written} before {format_condition(plain)}"
                    yield _Candidate(_Rank.MOVED, label, query)

    def _dropped(self) -> Iterator[_Candidate]:
        """Yield the query without one condition, first without the last: it was typed last."""
        for groups, rebuilt in _places(self.query):
            for group in reversed(groups):
                is_name = all(condition.column == "package" for condition in group)
                rank = _Rank.WITHOUT_NAME if is_name else _Rank.WITHOUT_ONE
                rest = tuple(other for other in groups if other is not group)
                if query := rebuilt(rest):
                    yield _Candidate(rank, f"without {_text(group)}", query)

    def _changed(self, query: Query, rank: _Rank, after: str) -> Iterator[_Candidate]:
        """Yield a query with a wider condition; `after` ends the labels."""
        for groups, rebuilt in _places(query):
            for group in groups:
                rest = tuple(other for other in groups if other is not group)
                for wider in self._wider(group, rebuilt(rest) or Query()):
                    new = (*rest, (wider,)) if (wider,) not in rest else rest
                    if changed := rebuilt(new):
                        label = f"{_text((wider,))} instead of {_text(group)}{after}"
                        yield _Candidate(rank, label, changed)

    def _wider(self, group: Group, others: Query) -> Iterator[Condition]:
        (condition, *alternatives) = group
        if alternatives or condition.negated:
            return
        try:
            yield from Widening(self.catalog, others, self.should_stop).of(condition)
        except (Unanswerable, QueryError):
            return

    def _without_two(self) -> Iterator[_Candidate]:
        parts = self.query.parts()[:_MAX_PARTS]
        for first, second in combinations(parts, 2):
            query = self.query.minus(first).minus(second)
            if query:
                yield _Candidate(
                    _Rank.WITHOUT_TWO,
                    f"without {_part_text(first)} and {_part_text(second)}",
                    query,
                )

    def only_one(self) -> Iterator[_Candidate]:
        """Yield each part alone."""
        for part in self.query.parts():
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
        return parse(str(query), packages=()) == query
    except QueryError:
        return False
