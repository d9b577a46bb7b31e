"""Find packages with several builds, and what to pin so that most of them go."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from fnmatch import fnmatchcase
from functools import cached_property, partial
from itertools import chain
from typing import Any, NamedTuple

from spackscope.model.analysis.compare import Difference
from spackscope.model.analysis.dag import dag_of
from spackscope.model.analysis.duplicates import Builds, Causes, Conflicts, read_builds
from spackscope.model.answers import Asked
from spackscope.model.core.errors import WrongQuestion
from spackscope.model.core.frozen import replace
from spackscope.model.core.suggestions import did_you_mean
from spackscope.model.core.tasks import report_progress
from spackscope.model.core.text import clean, counted
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.edges import nearest_first
from spackscope.model.query.ast import exact_query
from spackscope.model.report.differences import difference_line
from spackscope.model.report.paste import pins_text
from spackscope.model.report.sheet import Sheet, SheetColumn, hash_column, size_column
from spackscope.model.sources.resolve import find_environment, names_source

NOT_SOLVED = "Whether Spack can solve these pins together is not known."


def answer(asked: Asked) -> Sheet[Any]:
    """Return the packages with several builds, or the conflicts of one of them.

    The sheet is not good if it has rows.
    """
    words, sources, options = asked.words, asked.sources, asked.options
    if words and all(map(names_source, words)):
        sources = [find_environment(word, asked.session) for word in words]
        words = ()
    pins, package = options.get("pins", "0"), options.get("of", "")
    if not (pins.isdecimal() and pins.isascii()):
        raise WrongQuestion(f"--pins takes a number of packages, not {clean(pins)}")
    query = asked.query(words)
    (catalog,) = asked.load(sources)
    ids = catalog.match(query).ids()
    if not ids and sources is asked.sources:
        raise asked.no_match(catalog, query)
    duplicates = Duplicates(catalog, ids, options)
    if package:
        return duplicates.conflicts_of(package)
    asked.show(duplicates.sheet())
    return duplicates.best(int(pins), asked.show) if int(pins) else duplicates.all()


class DuplicatedPackage(NamedTuple):
    """A package with several builds for one OS and target.

    Of its builds as many `differ` by fields of their own; the others `inherit` the differences of
    their dependencies, None if a source does not list these. If the package is pinned, builds
    `would_go`, with their `size` in bytes, and some are `left`; None before it is tried. The
    `causes` are packages that differ by themselves, with the fields. `hash` is of the most used.
    """

    package: str
    builds: int
    differ: int
    inherit: int | None
    would_go: int | None
    left: int | None
    size: float | None
    causes: Sequence[str]
    users: Sequence[str]
    hash: str


class ConflictingValue(NamedTuple):
    """A value of an attribute in which builds of a package differ, and the users of these.

    `dependents` counts the builds that use builds with the value directly. `is_pinned` is True for
    the value that most of them use, `hash` is the most used build with the value.
    """

    package: str
    attribute: str
    value: str
    builds: int
    dependents: int
    users: Sequence[str]
    is_pinned: bool
    hash: str
    heading: str


class Duplicates:
    """The duplicates among some specs and their dependencies, and the pins that make them go.

    The options `run`, `inherited` and `ignored` are those of the command. Raises Cancelled.
    """

    def __init__(self, catalog: Catalog, ids: Iterable[int], options: Mapping[str, Any]) -> None:
        self._catalog, self._graph = catalog, dag_of(catalog)
        self._ignored, self._run_only = options.get("ignored", ()), options.get("run", False)
        which = {"run_only": self._run_only, "inherited": options.get("inherited", False)}
        self.builds = read_builds(self._graph, map(self._graph.identity, ids), **which)
        self._causes = Causes(self._graph, self.builds, **which)

    @cached_property
    def _gone(self) -> Mapping[str, Sequence[int]]:
        """The builds that go, by the package that is pinned alone."""
        return self._try(self.builds)

    @cached_property
    def _effects(self) -> Mapping[tuple[str, str], int]:
        """How many builds of a package go, by the package that is pinned alone, and this one."""
        packages = ((name, id_) for name, ids in self._gone.items() for id_ in ids)
        return Counter((name, self.builds.builds[id_].package) for name, id_ in packages)

    def sheet(
        self, rows: Sequence[DuplicatedPackage] | None = None, pinned_title: str = ""
    ) -> Sheet[DuplicatedPackage]:
        """Return a sheet of packages, by default of all before their pins are tried."""
        builds, names = self.builds, self._names(self.builds)
        shown = rows if rows is not None else [self._row(name) for name in names]
        unlisted = [id_ for id_ in builds.counted if not self._graph.lists_dependencies(id_)]
        several = f"{len(names):,}" if names else "none"
        have = "have" if len(names) > 1 else "has"
        packages, total = len(builds.by_package), counted(len(builds.counted), "build")
        title = f"{several} of {counted(packages, 'package')} {have} several builds for one OS"
        own = {builds.builds[id_].own for id_ in builds.counted}
        notes = [f"Of {total} {len(own):,} differ by their own fields"] * (not unlisted)
        remarks = []
        if unlisted:
            above = f"What would go above {counted(len(unlisted), 'build')} is not known"
            remarks.append(f"{above}: no source lists their dependencies")
        unsized = [id_ for id_ in builds.counted if self._size(id_) is None]
        if 0 < len(unsized) < len(builds.counted):
            remarks.append(f"The size of {counted(len(unsized), 'build')} is not known")
        return Sheet(
            pinned_title or f"{title} and target",
            [replace(c, drawn=c.name != "left" or bool(pinned_title)) for c in _COLUMNS],
            shown,
            hash=lambda row: row.hash,
            query=lambda row: exact_query("package", row.package),
            notes=[*notes, *[NOT_SOLVED] * bool(pinned_title)],
            remarks=remarks,
            exports=self._exports([c.partition(":")[0] for row in shown for c in row.causes]),
            is_good=not names,
            is_certain=True,
        )

    def all(self) -> Sheet[DuplicatedPackage]:
        """Return each package that makes builds go if it is pinned, first that with the most."""
        total = len(self.builds.counted)
        rows = [self._row(name, ids, total - len(ids)) for name, ids in self._gone.items()]
        return self.sheet(sorted(rows, key=lambda row: (-(row.would_go or 0), row.package)))

    def best(
        self, count: int, show: Callable[[Sheet[DuplicatedPackage]], object]
    ) -> Sheet[DuplicatedPackage]:
        """Return packages to pin together: each makes most builds go after those before it."""
        builds, gone, title = self.builds, self._gone, "no pin makes builds go"
        rows, total = list[DuplicatedPackage](), counted(len(builds.counted), "build")
        while len(rows) < count:
            gone = self._try(builds) if rows else gone
            name = min(gone, key=lambda name: (-len(gone[name]), name), default="")
            if not gone.get(name):
                break
            builds = builds.pinned(name)
            rows.append(self._row(name, gone[name], len(builds.counted)))
            leave = "leaves" if len(rows) == 1 else "leave"
            title = f"{counted(len(rows), 'pin')} {leave} {len(builds.counted):,} of {total}"
            show(self.sheet([*rows], title))
        return self.sheet(rows, title)

    def conflicts_of(self, package: str) -> Sheet[ConflictingValue]:
        """Return the values in which builds of a package, and builds below these, differ.

        Raises WrongQuestion for an unknown package.
        """
        builds, graph = self.builds, self._graph
        if package not in builds.by_package:
            guess = did_you_mean(package, builds.by_package)
            raise WrongQuestion(f"no build of {clean(package)} is among these specs{guess}")
        ids = builds.by_package[package]
        closure = {*nearest_first(ids, lambda id_: [c for _, c in builds.builds[id_].below])}
        causes, rows = self._causes_of(package), list[ConflictingValue]()
        for name, conflicts in self._conflicts(causes, closure):
            effect = self._effects.get((name, package), 0)
            heading = f"{name}: pinned alone, {effect:,} of {counted(len(ids), 'build')} would go"
            best = self._best(conflicts)
            for attribute, values in conflicts.items():
                of_attribute = []
                for value, its in values.items():
                    text = difference_line(Difference(attribute, value, None)).a
                    users = self._users(its)
                    most_used = graph.hash(self._most_used(its))
                    named = name, _label(attribute), text, len(its), sum(users.values()), [*users]
                    of_attribute.append(ConflictingValue(*named, best in its, most_used, heading))
                rows += sorted(of_attribute, key=lambda row: -row.dependents)
        return Sheet(
            f"{package}: {counted(len(ids), 'build')}; with one for each OS and target "
            f"{counted(len(self._gone.get(package, ())), 'build')} would go",
            _CONFLICT_COLUMNS,
            rows,
            hash=lambda row: row.hash,
            query=lambda row: exact_query("package", row.package),
            group=lambda row: row.heading,
            told=("package",),
            notes=[NOT_SOLVED],
            exports=self._exports(causes, closure),
            is_good=not rows,
            is_certain=True,
        )

    def _names(self, builds: Builds) -> list[str]:
        return [name for name in builds.duplicated() if not self._is_ignored(name)]

    def _is_ignored(self, package: str) -> bool:
        return any(fnmatchcase(package, pattern) for pattern in self._ignored)

    def _try(self, builds: Builds) -> dict[str, list[int]]:
        """Return the builds that go by the package that is pinned."""
        names, gone = self._names(builds), dict[str, list[int]]()
        for number, name in enumerate(names):
            report_progress("packages tried", number, len(names))
            gone[name] = builds.gone(builds.merged(name))
        return gone

    def _dependents(self, id_: int) -> Set[int]:
        """Return the direct dependents of a build, whether they are counted or not."""
        if self._run_only:
            return set(self.builds.above.get(id_, ()))
        return self._graph.dependents(id_)

    def _most_used(self, ids: Iterable[int]) -> int:
        return min(ids, key=lambda id_: (-len(self._dependents(id_)), id_))

    def _size(self, id_: int) -> float | None:
        sizes = (self._catalog.sizes[each] for each in self._graph.records(id_))
        return next((size for size in sizes if size == size), None)

    def _causes_of(self, package: str) -> list[str]:
        """Return the causes of several builds: the package itself, then the most effective."""
        effects = (
            (name != package, -self._effects.get((name, package), 0), name)
            for name in self._causes.of(package)
        )
        return [name for *_, name in sorted(effects)]

    def _best(self, conflicts: Conflicts) -> int:
        """Return the build with the values that most dependents use, in the order of conflicts."""
        best = set(chain.from_iterable(next(iter(conflicts.values())).values()))
        for values in conflicts.values():
            having = (best.intersection(ids) for ids in values.values())
            best = max(having, key=lambda ids: sum(len(self._dependents(id_)) for id_ in ids))
        return self._most_used(best)

    def _row(
        self, package: str, gone: Sequence[int] | None = None, left: int | None = None
    ) -> DuplicatedPackage:
        """Return the row of a package, with the builds that go and are left if it is pinned."""
        graph, ids = self._graph, self.builds.by_package[package]
        is_listed = all(map(graph.lists_dependencies, ids))
        configurations = (self.builds.builds[id_].own for id_ in ids)
        own = set(configurations if is_listed else map(graph.configuration, ids))
        known = [size for size in map(self._size, gone or ()) if size is not None]
        return DuplicatedPackage(
            package,
            len(ids),
            len(own),
            len(ids) - len(own) if is_listed else None,
            None if gone is None else len(gone),
            left,
            sum(known) if known else None,
            [
                f"{name}:{'/'.join(map(_label, self._causes.conflicts[name]))}"
                for name in (() if gone is None else self._causes_of(package))
            ],
            [*self._users(ids)],
            graph.hash(self._most_used(ids)),
        )

    def _users(self, ids: Iterable[int]) -> dict[str, int]:
        """Return the packages of direct dependents, each with their number, the most first."""
        users = set(chain.from_iterable(map(self._dependents, ids)))
        counts = Counter(map(self._graph.name, users))
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))

    def _exports(
        self, packages: Sequence[str], among: Set[int] | None = None
    ) -> Mapping[str, Callable[[], Iterator[str]]]:
        def lines(key: str) -> Iterator[str]:
            """Yield a packages.yaml with the values that most dependents use."""
            names = [name for name in packages if not self._is_ignored(name)]
            conflicts = dict(self._conflicts(names, among)).values()
            labels = [{name: _label(name) for name in its} for its in conflicts]
            specs = self._catalog.records([*map(self._best, conflicts)])
            yield f"# {NOT_SOLVED}"
            yield from pins_text(zip(specs, labels, strict=True), key).splitlines()

        return {key: partial(lines, key) for key in ("require", "prefer")}

    def _conflicts(
        self, packages: Iterable[str], among: Set[int] | None
    ) -> Iterator[tuple[str, Conflicts]]:
        """Yield packages with the attributes in which their builds differ, or some of these."""
        for name in packages:
            ids = self.builds.by_package[name]
            its = self._causes.conflicts_in(i for i in ids if among is None or i in among)
            if its:
                yield name, its


def _label(attribute: str) -> str:
    """Return a short name of an attribute."""
    line = difference_line(Difference(attribute, None, None))
    return attribute.partition(":")[2] or line.subject or attribute


_COLUMNS: list[SheetColumn[DuplicatedPackage]] = [
    SheetColumn("package", lambda row: row.package),
    SheetColumn("builds", lambda row: row.builds),
    SheetColumn("differ", lambda row: row.differ),
    SheetColumn("inherit", lambda row: row.inherit),
    SheetColumn("would_go", lambda row: row.would_go),
    SheetColumn("left", lambda row: row.left),
    size_column(lambda row: row.size),
    SheetColumn("causes", lambda row: row.causes, is_list=True, least=24),
    SheetColumn("used_by", lambda row: row.users, is_list=True),
    hash_column(lambda row: row.hash),
]

_CONFLICT_COLUMNS: list[SheetColumn[ConflictingValue]] = [
    SheetColumn("package", lambda row: row.package),
    SheetColumn("attribute", lambda row: row.attribute),
    SheetColumn("value", lambda row: row.value),
    SheetColumn("builds", lambda row: row.builds),
    SheetColumn("dependents", lambda row: row.dependents),
    SheetColumn("pinned", lambda row: row.is_pinned),
    SheetColumn("used_by", lambda row: row.users, is_list=True),
    hash_column(lambda row: row.hash),
]
