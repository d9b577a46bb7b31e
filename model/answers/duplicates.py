"""List the packages with several builds for one OS and target, and what makes these differ.

Builds are one if their own fields are equal and the builds that they depend on are one, bottom up.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence, Set
from fnmatch import fnmatchcase
from functools import partial, reduce
from itertools import chain
from operator import and_, or_
from typing import Any, NamedTuple

from spackscope.model.analysis.dag import (
    Attributes,
    ClosureMasks,
    Dag,
    Mask,
    dag_of,
    differing_names,
    is_always_told,
    post_order,
)
from spackscope.model.analysis.differences import RANKS, follows, own_values
from spackscope.model.analysis.kinds import BuildCodes, run_codes
from spackscope.model.answers import Asked
from spackscope.model.core.commands import ANSWER, CACHES, Command, flag, values
from spackscope.model.core.tasks import check_cancelled
from spackscope.model.core.text import counted
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.order import View
from spackscope.model.query.ast import exact_query
from spackscope.model.query.matchers import ARCHITECTURE
from spackscope.model.report.differences import attribute_label
from spackscope.model.report.sheet import Sheet, SheetColumn, hash_column, package_column
from spackscope.model.sources.resolve import find_environment, names_source

COMMAND = Command(
    "duplicates",
    "list packages with several builds, and why",
    (
        "[--run] [--inherited] [--ignore NAME]... [-f SOURCE]... [OUTPUT] [QUERY...]",
        "... LOCK",
    ),
    """\
List the packages with several builds for one OS and target, with what makes
these differ, and which packages use them: in the sources, among the specs that
match a QUERY and what these need, or in a LOCK (a spack.lock, the directory of
an environment, or an install tree). Some builds differ by fields of their own,
others only inherit the difference of a dependency.""",
    (
        flag("run", "leave out build tools; builds that run the same are one"),
        flag("inherited", "count only builds that differ in nothing of their own"),
        values("ignore", "skip these packages; a pattern", "NAME", "package", "ignored"),
        *ANSWER,
    ),
    words="spec or environment",
    codes={0: "none", 1: "some packages have several builds"},
    group=CACHES,
    examples="""\
spackscope duplicates -f spack:site
spackscope duplicates spack.lock --run --ignore cmake --ignore 'py-*'""",
)


class Builds:
    """Different builds of some specs and their closures, by their ids; equal builds are one.

    The specs are `counted`, the others only needed by them. Several builds of a package in one
    `place` are duplicates. `own` is equal for builds whose own fields are equal, and `below` and
    `above` have the dependencies and dependents of each. With `run_only` builds that run the same
    are one, and specs that others only build with are left out. With `inherited` builds are
    duplicates only if they differ in nothing of their own. Raises Cancelled.
    """

    def __init__(
        self, graph: Dag, ids: Iterable[int], *, run_only: bool = False, inherited: bool = False
    ) -> None:
        counted = set(ids)
        if run_only:
            tops = [id_ for id_ in counted if counted.isdisjoint(graph.dependents(id_))]
            counted &= set(map(graph.identity, graph.reached(tops, run_only=True)))
        codes = run_codes(graph) if run_only else BuildCodes(graph, run_only=False)

        def below(id_: int) -> list[int]:
            return [graph.identity(child) for _, child in codes.links(id_)]

        reached = set(map(graph.identity, graph.reached(counted, run_only=run_only)))
        every = [*post_order(sorted(reached), below)]
        first = dict[int, int]()
        kept = {
            id_: first.setdefault(code, id_)
            for id_, code in zip(every, codes.codes(every), strict=True)
        }
        self.own, self.place = dict[int, Hashable](), dict[int, Hashable]()
        self.below: dict[int, Collection[int]] = {}
        self.above: dict[int, list[int]] = defaultdict(list)
        self.by_package: dict[str, list[int]] = defaultdict(list)
        for id_ in first.values():
            check_cancelled()
            self.own[id_], place = codes.own(id_), _place(graph, id_)
            self.place[id_] = (place, self.own[id_]) if inherited else place
            self.below[id_] = {kept[child] for child in below(id_)}
            self.by_package[graph.name(id_)].append(id_)
            for child in self.below[id_]:
                self.above[child].append(id_)
        self.counted = {kept[id_] for id_ in counted}

    def duplicated(self) -> list[str]:
        """Return the packages with several builds in one place, by name."""
        return sorted(
            package
            for package, ids in self.by_package.items()
            if len({self.place[id_] for id_ in ids}) < len(ids)
        )


def _place(graph: Dag, id_: int) -> Hashable:
    """Return the platform, OS and target; these are unknown of a spec that no source describes."""
    attributes = graph.attributes(id_)
    return tuple(map(attributes.get, ARCHITECTURE)) if graph.is_described(id_) else id_


class Causes:
    """The packages whose builds differ by fields of their own, which makes dependents differ.

    `attributes` has the names of the attributes in which the builds of each differ. With
    `inherited` no package is a cause of its own builds. Raises Cancelled.
    """

    def __init__(
        self, graph: Dag, builds: Builds, *, run_only: bool = False, inherited: bool = False
    ) -> None:
        self._graph, self._builds, self._inherited = graph, builds, inherited
        self._values: Callable[[int], Attributes] = graph.attributes
        if run_only:
            self._values = partial(own_values, graph, run_only=True)
        found = {name: self._differing(ids) for name, ids in builds.by_package.items()}
        self.attributes = {name: its for name, its in found.items() if its}
        bits = dict[Hashable, Mask]()
        own, self._bits = dict[int, Mask](), Counter[str]()
        for package in self.attributes:
            for id_ in builds.by_package[package]:
                own[id_] = bits.setdefault((package, builds.own[id_]), 1 << len(bits))
                self._bits[package] |= own[id_]
        self._masks = ClosureMasks(lambda id_: [*builds.below[id_]], lambda id_: own.get(id_, 0))

    def of(self, package: str) -> list[str]:
        """Return the package if it is one, then the causes below it that its builds differ in."""
        places = defaultdict[Hashable, list[Mask]](list)
        for id_ in self._builds.by_package[package]:
            places[self._builds.place[id_]].append(self._masks.whole(id_))
        causes = [package] if package in self.attributes and not self._inherited else []
        for masks in places.values():
            every, shared = reduce(or_, masks), reduce(and_, masks)
            varying = every & ~shared
            causes += [
                name
                for name, bits in self._bits.items()
                if name != package and varying & bits and (every & bits).bit_count() > 1
            ]
        return list(dict.fromkeys(causes))

    def _differing(self, ids: Iterable[int]) -> list[str]:
        """Return the own attributes in which builds of a package differ for one OS and target.

        Attributes that follow others, and those that a source does not list, are left out.
        """
        graph, places = self._graph, defaultdict[Hashable, list[int]](list)
        values = {id_: self._values(id_) for id_ in ids if graph.is_described(id_)}
        for id_ in values:
            places[_place(graph, id_)].append(id_)
        lacking = dict[str, bool]()
        for of_place in places.values():
            for name in differing_names(values[id_] for id_ in of_place):
                if is_always_told(name) or all(graph.would_list(id_, name) for id_ in of_place):
                    is_lacking = any(name not in values[id_] for id_ in of_place)
                    lacking[name] = lacking.get(name, False) or is_lacking
        # An attribute follows the first one of a kind; there may be thousands of variants.
        leaders = {name.partition(":")[0]: name for name in sorted(lacking, reverse=True)}
        return [
            name
            for name in sorted(lacking, key=lambda name: (RANKS.get(name, 0), name))
            if not follows(name, leaders.values(), is_lacking=lacking[name])
        ]


def answer(asked: Asked) -> Sheet[DuplicatedPackage]:
    """Return the packages with several builds among the specs and what these need.

    The sheet is not good if it has rows.
    """
    words, sources = asked.words, asked.sources
    if words and all(map(names_source, words)):
        sources = [find_environment(word, asked.session) for word in words]
        words = ()
    query = asked.query(words)
    (catalog,) = asked.load(sources)
    ids = catalog.match(query).ids()
    if not ids and sources is asked.sources:
        raise asked.no_match(catalog, query)
    return duplicates(catalog, ids, asked.options)


class DuplicatedPackage(NamedTuple):
    """A package with several builds for one OS and target.

    The `causes` are packages that differ by themselves, with the fields, the package itself first.
    `users` are the packages that depend directly on the builds, and `hash` is of the build that
    the browser lists first.
    """

    package: str
    builds: int
    causes: Sequence[str]
    users: Sequence[str]
    hash: str


def duplicates(
    catalog: Catalog, ids: Iterable[int], options: Mapping[str, Any]
) -> Sheet[DuplicatedPackage]:
    """Return the duplicates among some specs and their dependencies.

    Packages with the most builds come first, of equals and of causes those that make the builds
    of the most packages differ. The options `run`, `inherited` and `ignored` are those of the
    command. Raises Cancelled.
    """
    graph, run_only = dag_of(catalog), options.get("run", False)
    which = {"run_only": run_only, "inherited": options.get("inherited", False)}
    builds = Builds(graph, map(graph.identity, ids), **which)
    causes = Causes(graph, builds, **which)

    def dependents(id_: int) -> Set[int]:
        """Return the direct dependents of a build, whether they are counted or not."""
        return set(builds.above.get(id_, ())) if run_only else graph.dependents(id_)

    found = {
        name: causes.of(name)
        for name in builds.duplicated()
        if not any(fnmatchcase(name, pattern) for pattern in options.get("ignored", ()))
    }
    effects = Counter(chain.from_iterable(found.values()))

    def row(package: str) -> DuplicatedPackage:
        its = builds.by_package[package]
        users = Counter(map(graph.name, set(chain.from_iterable(map(dependents, its)))))
        names = sorted(found[package], key=lambda name: (name != package, -effects[name], name))
        return DuplicatedPackage(
            package,
            len(its),
            [
                f"{name}:{'/'.join(map(attribute_label, causes.attributes[name]))}"
                for name in names
            ],
            sorted(users, key=lambda name: (-users[name], name)),
            graph.hash(_first_listed(graph, package, its)),
        )

    rows = sorted(
        map(row, found), key=lambda row: (-row.builds, -effects[row.package], row.package)
    )
    several, have = f"{len(rows):,}" if rows else "none", "have" if len(rows) > 1 else "has"
    packages, total = len(builds.by_package), counted(len(builds.counted), "build")
    unlisted = sum(not graph.lists_dependencies(id_) for id_ in builds.counted)
    own = {builds.own[id_] for id_ in builds.counted}
    doubt = f"No source lists the dependencies of {counted(unlisted, 'build')}"
    return Sheet(
        f"{several} of {counted(packages, 'package')} {have} several builds for one OS and target",
        _COLUMNS,
        rows,
        row="a package that several builds of one OS and target have",
        hash=lambda row: row.hash,
        builds=lambda row: (row.builds, row.package),
        query=lambda row: exact_query("package", row.package),
        notes=[] if unlisted else [f"Of {total} {len(own):,} differ by their own fields"],
        remarks=[f"{doubt}: they may differ in more"] if unlisted else [],
        is_good=catalog.is_whole and not rows,
        is_certain=bool(rows),
    )


def _first_listed(graph: Dag, package: str, builds: Collection[int]) -> int:
    """Return the build of a package that the browser lists first, or one that it does not list."""
    query = exact_query("package", package)
    listing = graph.catalog.listing(View(query, best_first=True, folded=True))
    for number in range(len(listing)):
        (shown,), _, _ = listing.part(slice(number, number + 1))
        if graph.identity(shown) in builds:
            return shown
    return min(builds, key=lambda id_: (-len(graph.dependents(id_)), id_))


_COLUMNS: list[SheetColumn[DuplicatedPackage]] = [
    package_column(lambda row: row.package),
    SheetColumn("builds", lambda row: row.builds, meaning="how many builds"),
    SheetColumn(
        "causes",
        lambda row: row.causes,
        is_list=True,
        least=24,
        meaning="the packages that make the builds differ, each with the fields: `zlib:version`",
    ),
    SheetColumn(
        "used_by",
        lambda row: row.users,
        is_list=True,
        meaning="the packages that depend directly on the builds",
    ),
    hash_column(lambda row: row.hash, meaning="the build that the table shows first"),
]
