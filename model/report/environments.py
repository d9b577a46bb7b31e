"""Report which packages have several hashes in an environment, and how two sources differ."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from spackscope.model.analysis.compare import Difference
from spackscope.model.analysis.dag import Dag
from spackscope.model.analysis.doubles import Build, DoubleCause, Doubles, PairCause
from spackscope.model.analysis.source_differences import PackageChange, SourceComparison
from spackscope.model.core.columns import FIELDS, SHORT_HASH, spec_name
from spackscope.model.core.frozen import asdict
from spackscope.model.core.text import clean, counted, shorten
from spackscope.model.core.versions import version_key
from spackscope.model.query.ast import Query, exact_query
from spackscope.model.report.differences import difference_json, difference_line
from spackscope.model.report.report import Report, Row, Section, cut, more_row, path_text

UNLISTED = "differences that the sources do not list"

_MAX_CAUSES = 40
_MAX_PACKAGES = 6
_MAX_BUILDS = 8
"""Of each what is shown, unless all are asked for."""

_MAX_VERSION = 40
"""Cells of a version."""


def doubles_report(graph: Dag, doubles: Doubles, *, shows_all: bool = False) -> Report:
    """Report doubles by their first causes; long lists are cut, unless all are shown."""

    def sections() -> Iterator[Section]:
        shown = doubles.causes[: None if shows_all else _MAX_CAUSES]
        for cause in shown:
            changes = changes_text(cause.changes) or UNLISTED
            heading = f"{changes}: {counted(len(cause.packages), 'package')}"
            yield Section(heading, packages_of(cause), is_apart=True)
        if more := len(doubles.causes) - len(shown):
            yield Section("", [more_row(more)], is_apart=True)
        if doubles.unexplained:
            text = f"the causes of {doubles.unexplained:,} more pairs are not searched"
            yield Section(text)

    def packages_of(cause: DoubleCause) -> Iterator[Row | Section]:
        shown = cause.packages if shows_all else cause.packages[:_MAX_PACKAGES]
        for name in shown:
            only = "" if name in doubles.run else ", to build only"
            yield Section(f"{clean(name)}{only}", builds_of(name, cause))
        if others := cause.packages[len(shown) :]:
            yield Row((f"and {', '.join(map(clean, others))}",))

    def builds_of(name: str, cause: DoubleCause) -> list[Row]:
        pairs = [pair for pair in cause.pairs if pair.package == name]
        ids = {id_ for pair in pairs for id_ in (pair.a, pair.b)}
        builds = [build for build in doubles.builds[name] if build.id in ids]
        # The value of what changes first.
        values: dict[int, str] = {}
        for pair in pairs:
            for difference in pair.cause.differences if pair.cause is not None else ():
                if difference.attribute == cause.changes[0].attribute:
                    line = difference_line(difference)
                    values |= {pair.a: line.a, pair.b: line.b}
                    break
        rows = []
        for build in builds:
            version = shorten(clean(graph.version(build.id)), _MAX_VERSION)
            value = values.get(build.id, "")
            about = f"with {value}" if value not in ("", version) else ""
            kind = "to build only, " if name in doubles.run and not build.is_run else ""
            short = graph.hash(build.id)[:SHORT_HASH]
            rows.append(Row((version, f"/{short}", about, kind + use_text(build))))
        return cut(rows, None if shows_all else _MAX_BUILDS)

    def use_text(build: Build) -> str:
        use = build.use
        if not use.count:
            return f"used by {counted(build.dependents, 'spec')}"
        names = [graph.name(id_) for id_ in use.path]
        if len(names) == 1:
            others = use.count - 1
            return f"a root, and used by {counted(others, 'other')}" if others else "a root"
        return f"{counted(use.count, 'root')}: {path_text(names)}"

    def build_data(build: Build) -> dict[str, Any]:
        use = build.use
        return {
            "hash": graph.hash(build.id),
            "version": graph.version(build.id),
            "run": build.is_run,
            "dependents": build.dependents,
            "roots": [{"package": graph.name(id_), "hash": graph.hash(id_)} for id_ in use.roots],
            "root_count": use.count,
            "path": [graph.name(id_) for id_ in use.path],
        }

    def pair_data(pair: PairCause) -> dict[str, Any]:
        return {
            "package": pair.package,
            "a": graph.hash(pair.a),
            "b": graph.hash(pair.b),
            "path": pair.cause and pair.cause.path,
            "run": pair.cause and pair.cause.run,
        }

    def data() -> dict[str, Any]:
        return {
            "packages": doubles.packages,
            "doubles": [
                {"package": name, "run": name in doubles.run, "builds": [*map(build_data, builds)]}
                for name, builds in doubles.builds.items()
            ],
            "causes": [
                {
                    "differences": [*map(change_data, cause.changes)],
                    "deepest": cause.deepest,
                    "packages": cause.packages,
                    "pairs": [*map(pair_data, cause.pairs)],
                }
                for cause in doubles.causes
            ],
            "unexplained": doubles.unexplained,
        }

    title = f"no package of {doubles.packages:,} has several hashes"
    if count := len(doubles.builds):
        kinds = ((len(doubles.run), "at run time"), (count - len(doubles.run), "to build only"))
        of_kinds = ", ".join(f"{number:,} {what}" for number, what in kinds if number)
        verb, of = "has" if count == 1 else "have", counted(doubles.packages, "package")
        title = f"{count:,} of {of} {verb} several hashes: {of_kinds}"
    return Report(title, sections(), data)


def changes_text(changes: Iterable[Difference], between: str = "≠") -> str:
    """Name changes: `zlib-ng 2.2.4 ≠ 2.3.2`, those of one package after its name."""
    by_package: dict[str, list[str]] = defaultdict(list)
    for change in changes:
        line = difference_line(change)
        parts = (line.subject, line.a, between, line.b)
        by_package[change.package].append(" ".join(part for part in parts if part))
    return " · ".join(
        f"{clean(package)} {', '.join(texts)}".lstrip() for package, texts in by_package.items()
    )


def change_data(change: Difference) -> dict[str, Any]:
    """Return a change for JSON; its package is null if it is one of any package."""
    data = {"package": change.package or None} | difference_json(change)
    del data["follows"]
    return data


MAX_LINES = 100
"""Lines of each section, unless all are asked for."""

_MAX_NAMED_CAUSES = 3
"""Causes that are named together; of what has more, the number is told."""

_ARROW = "→"

_Linked = tuple[str, tuple[Query, ...]]
"""A line, and the queries for the specs that it is about."""


def source_differences_report(
    its: SourceComparison, names: tuple[str, str], *, shows_all: bool = False
) -> Report:
    """Report the comparison of two sources; long sections are cut, unless all is shown."""
    graph, roots = its.graph, its.roots
    of_old, of_new = (exact_query("source", name) for name in names)

    def sections() -> Iterator[Section]:
        if its.are_alike:
            yield Section(f"the same {counted(its.count_a, 'spec')}")
            return
        yield Section(summary())
        added, removed = (counted(len(part), "package") for part in (its.added, its.removed))
        for heading, lines in (
            ("roots", root_lines()),
            ("changed because of others", follower_lines()),
            ("changed", cause_lines()),
            (f"added: {added}", build_lines(its.added, "added")),
            (f"removed: {removed}", build_lines(its.removed, "removed")),
            ("more builds", build_lines(its.changed, "added")),
            ("fewer builds", build_lines(its.changed, "removed")),
        ):
            if rows := [
                Row((line,), key=f"{heading}: {line}", queries=leads_to)
                for line, leads_to in lines
            ]:
                yield Section(heading, cut(rows, None if shows_all else MAX_LINES), is_apart=True)

    def summary() -> str:
        every = (*its.changed, *its.added, *its.removed)
        counts = {
            "the same": its.same,
            "changed": sum(len(each.specs) for each in every),
            "added": sum(len(each.added) for each in every),
            "removed": sum(len(each.removed) for each in every),
        }
        parts = ", ".join(f"{count:,} {what}" for what, count in counts.items() if count)
        return f"{its.count_a:,} {_ARROW} {counted(its.count_b, 'spec')}: {parts}"

    def queries(changes: Iterable[Difference]) -> tuple[Query, ...]:
        """Return queries for what changed; none for what is the same in most specs of a source."""
        found = []
        for change in changes:
            if change.package:
                found.append(Query().with_package(change.package))
            elif change.attribute == "provider":
                found.append(Query().with_package(str(change.b).partition("@")[0]))
            elif change.attribute in FIELDS and isinstance(change.b, str):
                found.append(of_new.plus(exact_query(change.attribute, change.b)))
        return tuple(found)

    def root_lines() -> Iterator[_Linked]:
        for sign, ids in (("+", roots.added), ("-", roots.removed)):
            for id_, hash_ in zip(ids, graph.hashes(ids), strict=True):
                label = spec_name(graph.name(id_), graph.version(id_))
                query = exact_query("hash", hash_)
                yield f"{sign} {label} /{hash_[:SHORT_HASH]}", (query,)

    def follower_lines() -> Iterator[_Linked]:
        """Yield the causes of changes in specs whose own package did not change."""
        rest = 0
        for followers in its.followers:
            if len(followers.causes) > _MAX_NAMED_CAUSES:
                rest += followers.count
                continue
            causes = [its.causes[number].differences for number in followers.causes]
            text = " · ".join(changes_text(changes, _ARROW) for changes in causes)
            yield f"{followers.count:,} only because of {text}", queries(chain(*causes))
        if rest:
            yield f"{rest:,} because of several changes", ()
        if its.unexplained:
            yield f"{its.unexplained:,} for reasons that the sources do not list", ()

    def cause_lines() -> Iterator[_Linked]:
        for cause in its.causes:
            builds = f" ({counted(cause.own, 'build')})" if cause.own > 1 else ""
            others = cause.only + cause.also
            also = f", and {counted(others, 'spec')} through it" if others else ""
            text = f"{changes_text(cause.differences, _ARROW)}{builds}{also}"
            yield text, queries(cause.differences)

    def build_lines(packages: Iterable[PackageChange], ids_name: str) -> Iterator[_Linked]:
        of_source = of_new if ids_name == "added" else of_old
        for package in packages:
            if ids := getattr(package, ids_name):
                builds = f" ({counted(len(ids), 'build')})" if len(ids) > 1 else ""
                named = Query().with_package(package.package)
                text = f"{clean(package.package)}@{', '.join(map(clean, versions(ids)))}{builds}"
                yield text, (of_source.plus(named), named)

    def versions(ids: Iterable[int]) -> list[str]:
        return sorted(sorted({*map(graph.version, ids)}), key=version_key)

    def data() -> dict[str, Any]:
        def lone_data(package: PackageChange) -> dict[str, Any]:
            ids = package.added or package.removed
            hashes = graph.hashes(ids)
            return {"package": package.package, "versions": versions(ids), "hashes": hashes}

        def version_data(id_: int) -> dict[str, Any]:
            return {"version": graph.version(id_), "hash": graph.hash(id_)}

        def spec_data(id_: int) -> dict[str, Any]:
            return {"package": graph.name(id_)} | version_data(id_)

        def change_of(package: PackageChange) -> dict[str, Any]:
            return {
                "package": package.package,
                "a": versions([*(change.a for change in package.specs), *package.removed]),
                "b": versions([*(change.b for change in package.specs), *package.added]),
                "specs": [
                    asdict(each) | {"a": version_data(each.a), "b": version_data(each.b)}
                    for each in package.specs
                ],
                "added": [*map(spec_data, package.added)],
                "removed": [*map(spec_data, package.removed)],
            }

        return {
            "sources": names,
            "specs": [its.count_a, its.count_b],
            "same": its.same,
            "added": [*map(lone_data, its.added)],
            "removed": [*map(lone_data, its.removed)],
            "changed": [*map(change_of, its.changed)],
            "causes": [
                asdict(cause) | {"differences": [*map(change_data, cause.differences)]}
                for cause in its.causes
            ],
            "followers": [asdict(followers) for followers in its.followers],
            "untold": its.unexplained,
            "roots": {
                "added": [*map(spec_data, roots.added)],
                "removed": [*map(spec_data, roots.removed)],
                "changed": [
                    {"package": graph.name(a), "a": version_data(a), "b": version_data(b)}
                    for a, b in roots.changed
                ],
            },
        }

    return Report(f" {_ARROW} ".join(map(clean, names)), sections(), data)
