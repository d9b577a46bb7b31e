"""Describe which packages have several hashes in an environment, and why."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from spackscope.model.analysis.compare import Change
from spackscope.model.analysis.dag import Dag
from spackscope.model.analysis.doubles import Build, Double, DoubleCause, Doubles, PairCause
from spackscope.model.core.columns import SHORT_HASH
from spackscope.model.core.text import aligned, clean, counted, shorten
from spackscope.model.presentation.differences import difference_line, path_text

UNLISTED = "differences that the sources do not list"

_MAX_CAUSES = 40
_MAX_PACKAGES = 6
_MAX_BUILDS = 8
_MAX_WIDTH = 40
"""Lines that are shown, unless all are asked for."""


class DoublesReport:
    """Writes the doubles of a graph."""

    def __init__(self, graph: Dag, doubles: Doubles) -> None:
        self._graph, self._doubles = graph, doubles
        ids = {id_ for double in doubles.doubles for build in double.builds for id_ in _ids(build)}
        ordered = sorted(ids)
        self._hashes = dict(zip(ordered, graph.hashes(ordered), strict=True))
        self._by_package = {double.package: double for double in doubles.doubles}

    @property
    def summary(self) -> str:
        """Return how many packages have several hashes."""
        doubles = self._doubles.doubles
        of_all = f"{len(doubles):,} of {counted(self._doubles.packages, 'package')}"
        if not doubles:
            return f"no package of {self._doubles.packages:,} has several hashes"
        run = sum(double.is_run for double in doubles)
        kinds = [
            f"{count:,} {what}"
            for count, what in ((run, "linked or run"), (len(doubles) - run, "to build only"))
            if count
        ]
        verb = "has" if len(doubles) == 1 else "have"
        return f"{of_all} {verb} several hashes: {', '.join(kinds)}"

    def lines(self, *, shows_all: bool = False) -> Iterator[str]:
        """Yield the doubles by their first causes; long lists are cut, unless all are shown."""
        causes = self._doubles.causes
        yield self.summary
        for cause in causes if shows_all else causes[:_MAX_CAUSES]:
            yield ""
            yield from self._cause_lines(cause, shows_all)
        if (more := len(causes) - _MAX_CAUSES) > 0 and not shows_all:
            yield ""
            yield f"and {counted(more, 'cause')} more; --all lists all"
        if self._doubles.unexplained:
            yield f"the causes of {self._doubles.unexplained:,} more pairs are not searched"

    def _cause_lines(self, cause: DoubleCause, shows_all: bool) -> Iterator[str]:
        names, limit = cause.packages, None if shows_all else _MAX_PACKAGES
        changes = changes_text(cause.changes) or UNLISTED
        yield f"{changes}: {counted(len(names), 'package')}"
        for name in names[:limit]:
            yield from self._package_lines(self._by_package[name], cause, shows_all)
        if others := names[len(names[:limit]) :]:
            yield f"  and {', '.join(map(clean, others))}"

    def _package_lines(self, double: Double, cause: DoubleCause, shows_all: bool) -> Iterator[str]:
        pairs = [pair for pair in cause.pairs if pair.package == double.package]
        ids = {id_ for pair in pairs for id_ in (pair.a, pair.b)}
        builds = [build for build in double.builds if build.id in ids]
        shown = builds if shows_all else builds[:_MAX_BUILDS]
        only = "" if double.is_run else ", to build only"
        yield f"  {clean(double.package)}{only}"
        values = _values(cause, pairs)
        rows = [self._cells(build, double.is_run, values.get(build.id, "")) for build in shown]
        yield from (f"    {line}" for line in aligned(rows))
        if more := len(builds) - len(shown):
            yield f"    and {more:,} more"

    def _cells(self, build: Build, tells_kind: bool, value: str) -> tuple[str, ...]:
        version = shorten(clean(self._graph.attributes(build.id).version), _MAX_WIDTH)
        kind = "" if build.is_run or not tells_kind else "to build only, "
        short, use = self._hashes[build.id][:SHORT_HASH], self._use_text(build)
        difference = f"with {value}" if value not in ("", version) else ""
        return version, f"/{short}", difference, f"{kind}{use}"

    def _use_text(self, build: Build) -> str:
        use = build.use
        if not use.count:
            return f"used by {counted(build.dependents, 'spec')}"
        names = [self._graph.name(id_) for id_ in use.path]
        if len(names) == 1:
            others = use.count - 1
            return f"a root, and used by {counted(others, 'other')}" if others else "a root"
        return f"{counted(use.count, 'root')}: {path_text(names)}"

    def json(self) -> str:
        """Return all doubles and causes as a JSON object on one line."""
        return json.dumps(
            {
                "packages": self._doubles.packages,
                "doubles": [*map(self._double_json, self._doubles.doubles)],
                "causes": [*map(self._cause_json, self._doubles.causes)],
                "unexplained": self._doubles.unexplained,
            }
        )

    def _double_json(self, double: Double) -> dict[str, Any]:
        return {
            "package": double.package,
            "run": double.is_run,
            "builds": [*map(self._build_json, double.builds)],
        }

    def _build_json(self, build: Build) -> dict[str, Any]:
        graph = self._graph
        return {
            "hash": self._hashes[build.id],
            "version": graph.attributes(build.id).version,
            "run": build.is_run,
            "dependents": build.dependents,
            "roots": [
                {"package": graph.name(id_), "hash": self._hashes[id_]} for id_ in build.use.roots
            ],
            "root_count": build.use.count,
            "path": [graph.name(id_) for id_ in build.use.path],
        }

    def _cause_json(self, cause: DoubleCause) -> dict[str, Any]:
        return {
            "differences": [*map(change_json, cause.changes)],
            "deepest": cause.deepest,
            "packages": cause.packages,
            "pairs": [*map(self._pair_json, cause.pairs)],
        }

    def _pair_json(self, pair: PairCause) -> dict[str, Any]:
        cause = pair.cause
        return {
            "package": pair.package,
            "a": self._hashes[pair.a],
            "b": self._hashes[pair.b],
            "path": None if cause is None else cause.path,
            "run": None if cause is None else cause.run,
        }


def _values(cause: DoubleCause, pairs: Sequence[PairCause]) -> dict[int, str]:
    """Return by build the value of what changes first."""
    values: dict[int, str] = {}
    for pair in pairs:
        for difference in pair.cause.differences if pair.cause is not None else ():
            if difference.attribute == cause.changes[0].difference.attribute:
                line = difference_line(difference)
                values |= {pair.a: line.a, pair.b: line.b}
                break
    return values


def _ids(build: Build) -> tuple[int, ...]:
    return build.id, *build.use.roots


def changes_text(changes: Iterable[Change], between: str = "≠") -> str:
    """Name changes: `zlib-ng 2.2.4 ≠ 2.3.2`, those of one package after its name."""
    by_package: dict[str, list[str]] = defaultdict(list)
    for change in changes:
        line = difference_line(change.difference)
        parts = (line.subject, line.a, between, line.b)
        by_package[change.package].append(" ".join(part for part in parts if part))
    return " · ".join(
        f"{clean(package)} {', '.join(texts)}".lstrip() for package, texts in by_package.items()
    )


def change_json(change: Change) -> dict[str, Any]:
    """Return a change as an object; its package is null if it is one of any package."""
    difference = change.difference
    more = {"dependency": difference.dependency, "virtuals": difference.virtuals}
    return {
        "package": change.package or None,
        "attribute": difference.attribute,
        "a": difference.a,
        "b": difference.b,
        **{key: value for key, value in more.items() if value},
    }
