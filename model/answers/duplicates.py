"""List the packages with several builds for one OS and target, and what makes these differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from fnmatch import fnmatchcase
from itertools import chain
from typing import Any, NamedTuple

from spackscope.model.analysis.compare import Difference
from spackscope.model.analysis.dag import Dag, dag_of
from spackscope.model.analysis.duplicates import Causes, read_builds
from spackscope.model.answers import Asked
from spackscope.model.core.text import counted
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.view import Order, View
from spackscope.model.query.ast import exact_query
from spackscope.model.report.differences import difference_line
from spackscope.model.report.sheet import Sheet, SheetColumn, hash_column, package_column
from spackscope.model.sources.resolve import find_environment, names_source


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
    builds = read_builds(graph, map(graph.identity, ids), **which)
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
            [f"{name}:{'/'.join(map(_label, causes.attributes[name]))}" for name in names],
            sorted(users, key=lambda name: (-users[name], name)),
            graph.hash(_first_listed(graph, package, its)),
        )

    rows = sorted(
        map(row, found), key=lambda row: (-row.builds, -effects[row.package], row.package)
    )
    several, have = f"{len(rows):,}" if rows else "none", "have" if len(rows) > 1 else "has"
    packages, total = len(builds.by_package), counted(len(builds.counted), "build")
    unlisted = sum(not graph.lists_dependencies(id_) for id_ in builds.counted)
    own = {builds.builds[id_].own for id_ in builds.counted}
    doubt = f"No source lists the dependencies of {counted(unlisted, 'build')}"
    return Sheet(
        f"{several} of {counted(packages, 'package')} {have} several builds for one OS and target",
        _COLUMNS,
        rows,
        row="a package that several builds of one OS and target have",
        hash=lambda row: row.hash,
        builds=lambda row: (row.builds, row.package),
        query=lambda row: exact_query("package", row.package),
        notes=[f"Of {total} {len(own):,} differ by their own fields"] * (not unlisted),
        remarks=[f"{doubt}: they may differ in more"] * bool(unlisted),
        is_good=catalog.is_whole and not rows,
        is_certain=bool(rows),
    )


def _first_listed(graph: Dag, package: str, builds: Collection[int]) -> int:
    """Return the build of a package that the browser lists first, or one that it does not list."""
    query = exact_query("package", package)
    listing = graph.catalog.listing(View(query, order=Order.PREFERRED_HERE, folded=True))
    for number in range(len(listing)):
        (shown,), _, _ = listing.part(slice(number, number + 1))
        if graph.identity(shown) in builds:
            return shown
    return min(builds, key=lambda id_: (-len(graph.dependents(id_)), id_))


def _label(attribute: str) -> str:
    """Return a short name of an attribute."""
    line = difference_line(Difference(attribute, None, None))
    return attribute.partition(":")[2] or line.subject or attribute


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
