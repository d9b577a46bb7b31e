"""Write how two sources differ: what was added, removed and changed, and because of what."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import Any

from spackscope.model.analysis.compare import NodePair
from spackscope.model.analysis.source_differences import (
    ChangeCause,
    PackageChange,
    PackageSpecs,
    SourceComparison,
)
from spackscope.model.core.columns import SHORT_HASH
from spackscope.model.core.frozen import asdict
from spackscope.model.core.text import clean, counted
from spackscope.model.core.versions import version_key
from spackscope.model.presentation.doubles import change_json, changes_text

MAX_LINES = 100
"""Lines of each section, unless all are asked for."""

_MAX_CAUSES = 3
"""Causes that are named together; of what has more, the number is told."""

_ARROW = "→"
_INDENT = "  "


class SourceReport:
    """Describes the comparison of two sources, for people or as JSON."""

    def __init__(self, comparison: SourceComparison, names: tuple[str, str]) -> None:
        self._comparison, self._names = comparison, names
        self._graph = comparison.graph

    def lines(self, *, shows_all: bool = False) -> Iterator[str]:
        """Yield the sections with their headings; long ones are cut, unless all are shown."""
        comparison = self._comparison
        yield f" {_ARROW} ".join(map(clean, self._names))
        if comparison.are_alike:
            yield f"the same {counted(comparison.count_a, 'spec')}"
            return
        yield self._summary()
        limit = None if shows_all else MAX_LINES
        for heading, lines in self._sections():
            first = list(islice(lines, limit))
            if not first:
                continue
            yield ""
            yield heading
            yield from (_INDENT + line for line in first)
            if more := sum(1 for _ in lines):
                yield f"{_INDENT}and {more:,} more; --all lists all"

    def _summary(self) -> str:
        its = self._comparison
        parts = [
            f"{count:,} {what}"
            for count, what in (
                (its.same, "the same"),
                (sum(len(package.specs) for package in its.changed), "changed"),
                (_specs(its.added) + sum(len(p.added) for p in its.changed), "added"),
                (_specs(its.removed) + sum(len(p.removed) for p in its.changed), "removed"),
            )
            if count
        ]
        counts = f"{its.count_a:,} {_ARROW} {counted(its.count_b, 'spec')}"
        return f"{counts}: {', '.join(parts)}"

    def _sections(self) -> Iterator[tuple[str, Iterator[str]]]:
        its = self._comparison
        yield "roots", self._root_lines()
        yield "changed because of others", self._follower_lines()
        yield "changed", self._cause_lines()
        for heading, packages in (("added", its.added), ("removed", its.removed)):
            count = counted(len(packages), "package")
            yield f"{heading}: {count}", map(self._package_line, packages)
        yield "more builds", self._more_lines("added")
        yield "fewer builds", self._more_lines("removed")

    def _root_lines(self) -> Iterator[str]:
        roots = self._comparison.roots
        for sign, ids in (("+", roots.added), ("-", roots.removed)):
            for id_ in ids:
                yield f"{sign} {self._label(id_)}"

    def _follower_lines(self) -> Iterator[str]:
        """Yield the causes of changes in specs whose own package did not change."""
        its, rest = self._comparison, 0
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

    def _cause_lines(self) -> Iterator[str]:
        for cause in self._comparison.causes:
            text = changes_text(cause.changes, _ARROW)
            builds = f" ({counted(cause.own, 'build')})" if cause.own > 1 else ""
            others = cause.only + cause.also
            also = f", and {counted(others, 'spec')} through it" if others else ""
            yield f"{text}{builds}{also}"

    def _package_line(self, package: PackageSpecs) -> str:
        return self._versions_text(package.package, package.specs)

    def _more_lines(self, side: str) -> Iterator[str]:
        for package in self._comparison.changed:
            if ids := getattr(package, side):
                yield self._versions_text(package.package, ids)

    def _versions_text(self, package: str, ids: Sequence[int]) -> str:
        versions = ", ".join(map(clean, self._versions(ids)))
        builds = f" ({counted(len(ids), 'build')})" if len(ids) > 1 else ""
        return f"{clean(package)}@{versions}{builds}"

    def _versions(self, ids: Iterable[int]) -> list[str]:
        versions = {self._graph.attributes(id_).version for id_ in ids}
        return sorted(versions, key=version_key)

    def _label(self, id_: int) -> str:
        version = self._graph.attributes(id_).version
        (hash_,) = self._graph.hashes([id_])
        return f"{clean(f'{self._graph.name(id_)}@{version}')} /{hash_[:SHORT_HASH]}"

    def json(self) -> str:
        """Return all differences as a JSON object on one line."""
        its = self._comparison
        return json.dumps(
            {
                "sources": self._names,
                "specs": [its.count_a, its.count_b],
                "same": its.same,
                "added": [self._package_json(package) for package in its.added],
                "removed": [self._package_json(package) for package in its.removed],
                "changed": [self._change_json(package) for package in its.changed],
                "causes": [*map(_cause_json, its.causes)],
                "followers": [asdict(followers) for followers in its.followers],
                "untold": its.unexplained,
                "roots": {
                    "added": [self._spec_json(id_) for id_ in its.roots.added],
                    "removed": [self._spec_json(id_) for id_ in its.roots.removed],
                    "changed": [
                        {"package": self._graph.name(pair.a), **self._pair_json(pair)}
                        for pair in its.roots.changed
                    ],
                },
            }
        )

    @cached_property
    def _hashes(self) -> dict[int, str]:
        """The hashes of all specs that the comparison names."""
        its, ids = self._comparison, set[int]()
        for package in (*its.added, *its.removed):
            ids.update(package.specs)
        for change in its.changed:
            ids.update(change.added, change.removed)
            ids.update(id_ for spec in change.specs for id_ in (spec.a, spec.b))
        ids.update(its.roots.added, its.roots.removed, *its.roots.changed)
        return dict(zip(ids, self._graph.hashes(ids), strict=True))

    def _package_json(self, package: PackageSpecs) -> dict[str, Any]:
        return {
            "package": package.package,
            "versions": self._versions(package.specs),
            "hashes": [self._hashes[id_] for id_ in package.specs],
        }

    def _change_json(self, package: PackageChange) -> dict[str, Any]:
        return {
            "package": package.package,
            "a": self._versions([*(change.a for change in package.specs), *package.removed]),
            "b": self._versions([*(change.b for change in package.specs), *package.added]),
            "specs": [
                {
                    **self._pair_json(NodePair(change.a, change.b)),
                    "own": change.own,
                    "causes": change.causes,
                    "untold": change.is_unexplained,
                }
                for change in package.specs
            ],
            "added": [self._spec_json(id_) for id_ in package.added],
            "removed": [self._spec_json(id_) for id_ in package.removed],
        }

    def _pair_json(self, pair: NodePair) -> dict[str, Any]:
        a, b = (
            {"version": self._graph.attributes(id_).version, "hash": self._hashes[id_]}
            for id_ in pair
        )
        return {"a": a, "b": b}

    def _spec_json(self, id_: int) -> dict[str, Any]:
        attributes = self._graph.attributes(id_)
        return {
            "package": attributes.package,
            "version": attributes.version,
            "hash": self._hashes[id_],
        }


def _specs(packages: Iterable[PackageSpecs]) -> int:
    return sum(len(package.specs) for package in packages)


def _cause_json(cause: ChangeCause) -> dict[str, Any]:
    return {
        "differences": [*map(change_json, cause.changes)],
        "own": cause.own,
        "only": cause.only,
        "also": cause.also,
    }
