"""Report how two sources differ: what was added, removed and changed, and because of what."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from spackscope.model.analysis.source_differences import (
    PackageChange,
    PackageSpecs,
    SourceComparison,
)
from spackscope.model.core.columns import SHORT_HASH
from spackscope.model.core.frozen import asdict
from spackscope.model.core.text import clean, counted
from spackscope.model.core.versions import version_key
from spackscope.model.presentation.doubles import change_data, changes_text
from spackscope.model.presentation.report import Report, Row, Section, cut

MAX_LINES = 100
"""Lines of each section, unless all are asked for."""

_MAX_CAUSES = 3
"""Causes that are named together; of what has more, the number is told."""

_ARROW = "→"


def source_differences_report(
    its: SourceComparison, names: tuple[str, str], *, shows_all: bool = False
) -> Report:
    """Report the comparison of two sources; long sections are cut, unless all is shown."""
    graph = its.graph

    def sections() -> Iterator[Section]:
        if its.are_alike:
            yield Section(f"the same {counted(its.count_a, 'spec')}", is_apart=False)
            return
        yield Section(_summary(its), is_apart=False)
        for heading, lines in (
            ("roots", root_lines()),
            ("changed because of others", _follower_lines(its)),
            ("changed", _cause_lines(its)),
            *(
                (f"{heading}: {counted(len(packages), 'package')}", package_lines(packages))
                for heading, packages in (("added", its.added), ("removed", its.removed))
            ),
            ("more builds", (versions_text(p.package, p.added) for p in its.changed if p.added)),
            (
                "fewer builds",
                (versions_text(p.package, p.removed) for p in its.changed if p.removed),
            ),
        ):
            if rows := [Row((line,)) for line in lines]:
                yield Section(heading, cut(rows, None if shows_all else MAX_LINES))

    def root_lines() -> Iterator[str]:
        for sign, ids in (("+", its.roots.added), ("-", its.roots.removed)):
            for id_, hash_ in zip(ids, graph.hashes(ids), strict=True):
                label = clean(f"{graph.name(id_)}@{graph.attributes(id_).version}")
                yield f"{sign} {label} /{hash_[:SHORT_HASH]}"

    def package_lines(packages: Iterable[PackageSpecs]) -> Iterator[str]:
        return (versions_text(package.package, package.specs) for package in packages)

    def versions_text(package: str, ids: Sequence[int]) -> str:
        builds = f" ({counted(len(ids), 'build')})" if len(ids) > 1 else ""
        return f"{clean(package)}@{', '.join(map(clean, versions(ids)))}{builds}"

    def versions(ids: Iterable[int]) -> list[str]:
        return sorted({graph.attributes(id_).version for id_ in ids}, key=version_key)

    def data() -> dict[str, Any]:
        ids = list(_ids(its))
        hashes = dict(zip(ids, graph.hashes(ids), strict=True))

        def package_data(package: PackageSpecs) -> dict[str, Any]:
            return {
                "package": package.package,
                "versions": versions(package.specs),
                "hashes": [hashes[id_] for id_ in package.specs],
            }

        def version_data(id_: int) -> dict[str, Any]:
            return {"version": graph.attributes(id_).version, "hash": hashes[id_]}

        def spec_data(id_: int) -> dict[str, Any]:
            return {"package": graph.attributes(id_).package} | version_data(id_)

        def change_of(package: PackageChange) -> dict[str, Any]:
            return {
                "package": package.package,
                "a": versions([*(change.a for change in package.specs), *package.removed]),
                "b": versions([*(change.b for change in package.specs), *package.added]),
                "specs": [
                    {
                        "a": version_data(change.a),
                        "b": version_data(change.b),
                        "own": change.own,
                        "causes": change.causes,
                        "untold": change.is_unexplained,
                    }
                    for change in package.specs
                ],
                "added": [*map(spec_data, package.added)],
                "removed": [*map(spec_data, package.removed)],
            }

        return {
            "sources": names,
            "specs": [its.count_a, its.count_b],
            "same": its.same,
            "added": [*map(package_data, its.added)],
            "removed": [*map(package_data, its.removed)],
            "changed": [*map(change_of, its.changed)],
            "causes": [
                {
                    "differences": [*map(change_data, cause.changes)],
                    "own": cause.own,
                    "only": cause.only,
                    "also": cause.also,
                }
                for cause in its.causes
            ],
            "followers": [asdict(followers) for followers in its.followers],
            "untold": its.unexplained,
            "roots": {
                "added": [*map(spec_data, its.roots.added)],
                "removed": [*map(spec_data, its.roots.removed)],
                "changed": [
                    {"package": graph.name(a), "a": version_data(a), "b": version_data(b)}
                    for a, b in its.roots.changed
                ],
            },
        }

    return Report(f" {_ARROW} ".join(map(clean, names)), sections(), data)


def _summary(its: SourceComparison) -> str:
    def total(packages: Iterable[PackageSpecs], more: str) -> int:
        specs = sum(len(package.specs) for package in packages)
        return specs + sum(len(getattr(package, more)) for package in its.changed)

    parts = [
        f"{count:,} {what}"
        for count, what in (
            (its.same, "the same"),
            (sum(len(package.specs) for package in its.changed), "changed"),
            (total(its.added, "added"), "added"),
            (total(its.removed, "removed"), "removed"),
        )
        if count
    ]
    return f"{its.count_a:,} {_ARROW} {counted(its.count_b, 'spec')}: {', '.join(parts)}"


def _follower_lines(its: SourceComparison) -> Iterator[str]:
    """Yield the causes of changes in specs whose own package did not change."""
    rest = 0
    for followers in its.followers:
        changes = [its.causes[number].changes for number in followers.causes]
        if len(changes) > _MAX_CAUSES:
            rest += followers.count
            continue
        text = " · ".join(changes_text(each, _ARROW) for each in changes)
        yield f"{followers.count:,} only because of {text}"
    if rest:
        yield f"{rest:,} because of several changes"
    if its.unexplained:
        yield f"{its.unexplained:,} for reasons that the sources do not list"


def _cause_lines(its: SourceComparison) -> Iterator[str]:
    for cause in its.causes:
        builds = f" ({counted(cause.own, 'build')})" if cause.own > 1 else ""
        others = cause.only + cause.also
        also = f", and {counted(others, 'spec')} through it" if others else ""
        yield f"{changes_text(cause.changes, _ARROW)}{builds}{also}"


def _ids(its: SourceComparison) -> set[int]:
    """Return the ids of all specs that a comparison names."""
    ids = {id_ for package in (*its.added, *its.removed) for id_ in package.specs}
    for change in its.changed:
        ids.update(change.added, change.removed)
        ids.update(id_ for spec in change.specs for id_ in (spec.a, spec.b))
    return ids.union(its.roots.added, its.roots.removed, *its.roots.changed)
