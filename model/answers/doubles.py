"""Find packages with several hashes in an environment, and the causes of that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache, partial
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple

from spackscope.model.analysis.compare import Cause, Difference, Pairs, changes_of
from spackscope.model.analysis.dag import (
    AttributeValue,
    Dag,
    by_package,
    dag_of,
    explicit_specs,
    listed_specs,
)
from spackscope.model.answers import Asked
from spackscope.model.core.tasks import OnProgress, check_cancelled, no_progress
from spackscope.model.core.text import counted
from spackscope.model.core.versions import version_key
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.edges import nearest_first, path_to
from spackscope.model.query.ast import exact_query
from spackscope.model.report.differences import changes_text, difference_line
from spackscope.model.report.report import path_text
from spackscope.model.report.sheet import Sheet, SheetColumn, hash_column, version_column
from spackscope.model.sources.resolve import find_environment

MAX_PAIRS = 2_000
"""Pairs of builds that are compared; a real site has some hundred."""

MAX_STEPS = 1_000_000
"""Pairs of nodes with their dependencies below the builds, and differences of the builds
themselves; a real site has a tenth of that."""

DIFFERENCE_STEPS = 10
"""Steps that a difference of the builds themselves takes: there may be thousands of variants."""

_MAX_CANDIDATES = 30
"""The most builds with which a build is compared to find the nearest."""

MAX_ROOTS = 3_000
"""Roots up to which a source is searched as an environment is; caches have more."""

_MAX_VISITS = 10_000_000
"""Specs that are reached from all roots together; real environments have a tenth of that."""

_LEAST_VALUE, _LEAST_PATH = 16, 18
"""Cells of a value and of a path before other columns are left out."""

_UNLISTED = "differences that the sources do not list"
NOT_SEARCHED = "not searched"
"""The text in place of a cause, or of users, where there are too many specs to search."""


def answer(asked: Asked) -> Sheet[DoubledBuild]:
    """Return the builds of each package with several; the sheet is not good if it has rows."""
    ignored = asked.options.get("ignored", ())
    (catalog,) = asked.load([find_environment(name, asked.session) for name in asked.sources])
    return doubles(
        catalog,
        is_ignored=lambda name: any(fnmatchcase(name, each) for each in ignored),
        on_progress=asked.on_progress,
    )


class DoubledBuild(NamedTuple):
    """One of several builds of a package, grouped by the cause of the difference.

    `is_run` is True if roots link or run the build, directly or not; else it is a build
    dependency. `roots` counts the roots that need the build, and `users` are the packages on a
    path from a root; None and NOT_SEARCHED if there are too many specs to search. `cause` is None
    if the sources do not list it, and `value` is the value of this build for it. `is_deepest` is
    True if in some pair of builds no other cause is below it; None where it was not searched.
    """

    id: int
    package: str
    version: str
    hash: str
    is_run: bool
    dependents: int
    roots: int | None
    users: Sequence[str] | str
    heading: str = f"causes {NOT_SEARCHED}: too many builds"
    cause: str | None = NOT_SEARCHED
    is_deepest: bool | None = None
    value: str | None = None


class _Pair(NamedTuple):
    """Two builds of a package with the first cause of their difference; None if unknown."""

    package: str
    a: int
    b: int
    cause: Cause | None

    @property
    def changes(self) -> tuple[Difference, ...]:
        """Changes of any package, if there are some, and the same in both directions."""
        changes = () if self.cause is None else changes_of(self.cause.differences)
        shared = tuple(change for change in changes if not change.package)
        return tuple(map(_ordered, shared or changes))


def doubles(
    catalog: Catalog,
    *,
    is_ignored: Callable[[str], bool] = lambda name: False,
    on_progress: OnProgress = no_progress,
) -> Sheet[DoubledBuild]:
    """Return a row for each build and each cause by which it differs, the deepest causes first.

    Then come the causes with the most packages; within a cause first the packages that change
    themselves, and within a package the most used build. Only packages count that the catalog
    lists with several hashes, and that are not ignored. Raises Cancelled.
    """
    graph, listed = dag_of(catalog), listed_specs(catalog)
    packages = by_package(graph, listed)
    several = {
        name: ids
        for name, ids in sorted(packages.items())
        if len(ids) > 1 and not is_ignored(name)
    }
    members = set(listed)
    tops = (id_ for id_ in listed if members.isdisjoint(graph.dependents(id_)))
    # A leftover in an install tree is a root, too.
    roots = list(dict.fromkeys((*explicit_specs(catalog), *tops)))
    run = set(map(graph.identity, graph.reached(roots, run_only=True)))
    doubled = {id_ for ids in several.values() for id_ in ids}
    uses = _uses(graph, roots, run, doubled)
    builds: dict[str, list[DoubledBuild]] = {}
    for name, ids in several.items():
        rows = [
            DoubledBuild(
                *(id_, name, graph.version(id_), graph.hash(id_), id_ in run),
                len(graph.dependents(id_) & members),
                *uses.get(id_, (None, NOT_SEARCHED)),
            )
            for id_ in ids
        ]
        builds[name] = sorted(rows, key=lambda row: (not row.is_run, -row.dependents, row.id))
    count = len(builds)
    of_run = sum(sum(row.is_run for row in rows) > 1 for rows in builds.values())
    title = f"none of {counted(len(packages), 'package')} has several hashes"
    if count:
        kinds = ((of_run, "at run time"), (count - of_run, "only to build"))
        of_kinds = ", ".join(f"{number:,} {what}" for number, what in kinds if number)
        verb, of = "has" if count == 1 else "have", counted(len(packages), "package")
        title = f"{count:,} of {of} {verb} several hashes: {of_kinds}"
    shown = list(_by_cause(builds, _explained(Pairs(graph), builds, on_progress)))
    left = sum(row.cause == NOT_SEARCHED for row in shown)
    remarks = [f"the causes of {left:,} of {len(doubled):,} builds are not searched"] * bool(left)
    if doubled and not uses:
        remarks.append("who uses the builds is not searched: there are too many roots")
    return Sheet(
        title,
        _COLUMNS,
        shown,
        remarks=remarks,
        hash=lambda row: row.hash,
        query=lambda row: exact_query("hash", row.hash),
        group=lambda row: row.heading,
        told=("cause",),
        is_good=not count,
        is_certain=True,
    )


def _uses(
    graph: Dag, roots: Sequence[int], run: Collection[int], ids: Collection[int]
) -> Mapping[int, tuple[int, tuple[str, ...]]]:
    """Return by id how many roots need a spec, and the packages from one root to a dependent.

    A spec in `run` is needed by the roots that link or run it; a spec for building only by all
    roots that reach it. The path comes from the root that reaches the fewest specs of the same
    package. Empty if there are too many roots or specs to search.
    """
    if len(roots) > MAX_ROOTS:
        return {}
    names = {id_: graph.name(id_) for id_ in ids}
    searched = [
        (names.keys() & run, lru_cache(None)(partial(graph.dependencies, run_only=True))),
        (names.keys() - run, lru_cache(None)(graph.dependencies)),
    ]
    counts: Counter[int] = Counter()
    best: dict[int, tuple[tuple[int, int], Sequence[int]]] = {}
    visits = 0
    for root in roots:
        check_cancelled()
        for wanted, dependencies in searched:
            parents = nearest_first([root], dependencies) if wanted else {root: root}
            visits += len(parents)
            reached = [id_ for id_ in wanted if id_ in parents]
            builds = Counter(names[id_] for id_ in reached)
            counts.update(reached)
            for id_ in reached:
                path = path_to(parents, id_)
                rank = builds[names[id_]], len(path)
                if id_ not in best or rank < best[id_][0]:
                    best[id_] = rank, path
        if visits > _MAX_VISITS:
            return {}
    return {
        id_: (counts[id_], tuple(map(graph.name, path[:-1]))) for id_, (_, path) in best.items()
    }


def _explained(
    pairs: Pairs, builds: Mapping[str, Sequence[DoubledBuild]], on_progress: OnProgress
) -> Iterator[_Pair]:
    """Yield each build but the first with the nearest earlier build, and their first cause."""

    def distance(id_: int, other: int) -> tuple[int, int]:
        """Count the differences of two builds themselves, and their other dependencies."""
        check_cancelled()
        own = pairs.differences(pairs.number(other, id_))
        pairs.steps += DIFFERENCE_STEPS * len(own)
        a, b = ({link.identity for link in pairs.links(each)} for each in (other, id_))
        return sum(not difference.follows for difference in own), len(a ^ b)

    count, total = 0, sum(len(its) - 1 for its in builds.values())
    for package, its in builds.items():
        ids = [build.id for build in its]
        for number, id_ in enumerate(ids[1:], 1):
            if count == MAX_PAIRS or pairs.steps > MAX_STEPS:
                return
            on_progress("builds compared", count, total)
            count += 1
            nearest = min(
                ids[: min(number, _MAX_CANDIDATES)], key=lambda other: distance(id_, other)
            )
            causes = pairs.compare(nearest, id_).causes
            # The first cause that does not follow another.
            own = (
                cause
                for cause in causes
                if not cause.follows and not all(each.follows for each in cause.differences)
            )
            yield _Pair(package, nearest, id_, next(own, causes[0] if causes else None))


def _ordered(change: Difference) -> Difference:
    """Return a change with the lower value first."""

    def key(value: AttributeValue) -> tuple[Any, ...]:
        if isinstance(value, str):
            return 1, version_key(value) if change.attribute == "version" else (), value
        return 0, (), str(value)

    if key(change.a) <= key(change.b):
        return change
    return change._replace(a=change.b, b=change.a)


def _by_cause(
    builds: Mapping[str, Sequence[DoubledBuild]], pairs: Iterable[_Pair]
) -> Iterator[DoubledBuild]:
    """Yield the builds of each cause of pairs of builds, then the builds that are in no pair."""
    groups: dict[tuple[Difference, ...], list[_Pair]] = {}
    for pair in pairs:
        groups.setdefault(pair.changes, []).append(pair)
    causes = []
    for changes, group in groups.items():
        changed = {change.package for change in changes}
        names = sorted({pair.package: None for pair in group}, key=lambda n: n not in changed)
        is_deepest = any(pair.cause is not None and pair.cause.deepest for pair in group)
        rank = not changes, not is_deepest, -len(names), -len(group)
        causes.append((rank, changes, group, names))
    rest = {build.id: build for its in builds.values() for build in its}
    for (_, is_above, *_), changes, group, names in sorted(causes, key=itemgetter(0)):
        text, values = changes_text(changes), _values(changes, group)
        heading = f"{text or _UNLISTED}: {counted(len(names), 'package')}"
        for build in chain.from_iterable(map(builds.__getitem__, names)):
            if build.id in values:
                rest.pop(build.id, None)
                value = values[build.id]
                yield build._replace(
                    heading=heading, cause=text or None, is_deepest=not is_above, value=value
                )
    yield from rest.values()


def _values(changes: Sequence[Difference], pairs: Iterable[_Pair]) -> dict[int, str | None]:
    """Return the builds that differ by a cause, by their ids, with the value of each."""
    values: dict[int, str | None] = {}
    for pair in pairs:
        values |= {id_: values.get(id_) for id_ in (pair.a, pair.b)}
        for change in changes_of(pair.cause.differences) if pair.cause is not None else ():
            first = changes[0]
            is_first = (change.package, change.attribute) == (first.package, first.attribute)
            if is_first and {change.a, change.b} == {first.a, first.b}:
                line = difference_line(change)
                values |= {pair.a: line.a, pair.b: line.b}
    return values


def _use_text(users: Sequence[str] | str) -> str:
    return users if isinstance(users, str) else path_text(users) or "a root"


_COLUMNS: list[SheetColumn[DoubledBuild]] = [
    SheetColumn("cause", lambda row: row.cause),
    SheetColumn("deepest", lambda row: row.is_deepest, drawn=False),
    SheetColumn("package", lambda row: row.package),
    version_column(lambda row: row.version),
    hash_column(lambda row: row.hash),
    SheetColumn("value", lambda row: row.value, "with", least=_LEAST_VALUE),
    SheetColumn("used_by", lambda row: row.users, text=_use_text, wraps=True, least=_LEAST_PATH),
    SheetColumn("run", lambda row: row.is_run, "for", text=lambda run: "run" if run else "build"),
    SheetColumn("roots", lambda row: row.roots),
    SheetColumn("dependents", lambda row: row.dependents),
]
