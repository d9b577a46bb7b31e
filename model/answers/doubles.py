"""The packages with several hashes in an environment, by what causes that."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import chain

from spackscope.model.analysis.compare import changes_of
from spackscope.model.analysis.dag import Dag, dag_of
from spackscope.model.analysis.doubles import Build, DoubleCause, Doubles, find_doubles
from spackscope.model.answers.asked import Asked
from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.core.text import counted
from spackscope.model.query.ast import exact_query
from spackscope.model.report.differences import changes_text, difference_line
from spackscope.model.report.report import path_text
from spackscope.model.report.sheet import Sheet, SheetColumn, hash_column, version_column
from spackscope.model.sources.resolve import find_environment

_LEAST_VALUE, _LEAST_PATH = 16, 18
"""Cells of a value and of a path before other columns are left out."""

_UNLISTED = "differences that the sources do not list"
_NOT_SEARCHED = "causes not searched, as there are too many builds"


def answer(asked: Asked) -> Sheet[DoubledBuild]:
    """Return the builds of each package with several; not good if there are some."""
    ignored = asked.options.get("ignored", ())
    (catalog,) = asked.load([find_environment(name, asked.session) for name in asked.sources])
    found = find_doubles(
        catalog,
        is_ignored=lambda name: any(fnmatchcase(name, each) for each in ignored),
        should_stop=asked.session.should_stop,
        on_progress=asked.on_progress,
    )
    return doubles(dag_of(catalog), found)


class DoubledBuild(Frozen):
    """One of several builds of a package, below the cause by which it differs from others.

    `cause` is None if it is not known, and `value` what the build has of that which differs first.
    """

    package: str
    version: str
    hash: str
    build: Build
    users: tuple[str, ...]
    heading: str
    cause: str | None = None
    is_deepest: bool = False
    value: str | None = None


def doubles(graph: Dag, found: Doubles) -> Sheet[DoubledBuild]:
    """Return a row for each build and each cause by which it differs, the deepest causes first."""

    def row(build: Build, heading: str) -> DoubledBuild:
        named = graph.name(build.id), graph.version(build.id), graph.hash(build.id)
        users = tuple(map(graph.name, build.use.path[:-1]))
        return DoubledBuild(*named, build, users, heading)

    def rows() -> Iterator[DoubledBuild]:
        rest = {build.id: build for builds in found.builds.values() for build in builds}
        for cause in found.causes:
            text, values = changes_text(cause.changes), _values(cause)
            heading = f"{text or _UNLISTED}: {counted(len(cause.packages), 'package')}"
            for build in chain.from_iterable(map(found.builds.__getitem__, cause.packages)):
                if build.id in values:
                    rest.pop(build.id, None)
                    yield replace(
                        row(build, heading),
                        cause=text or None,
                        is_deepest=cause.deepest,
                        value=values[build.id],
                    )
        yield from (row(build, _NOT_SEARCHED) for build in rest.values())

    title = f"no package of {found.packages:,} has several hashes"
    if count := len(found.builds):
        kinds = ((len(found.run), "at run time"), (count - len(found.run), "to build only"))
        of_kinds = ", ".join(f"{number:,} {what}" for number, what in kinds if number)
        verb, of = "has" if count == 1 else "have", counted(found.packages, "package")
        title = f"{count:,} of {of} {verb} several hashes: {of_kinds}"
    return Sheet(
        title,
        _COLUMNS,
        list(rows()),
        hash=lambda row: row.hash,
        query=lambda row: exact_query("hash", row.hash),
        group=lambda row: row.heading,
        told=("cause",),
        is_good=not count,
        is_certain=True,
    )


def _values(cause: DoubleCause) -> dict[int, str | None]:
    """Return the builds that differ by a cause, by their ids, with the value of each."""
    values: dict[int, str | None] = {}
    for pair in cause.pairs:
        values |= {id_: values.get(id_) for id_ in (pair.a, pair.b)}
        for change in changes_of(pair.cause.differences) if pair.cause is not None else ():
            first = cause.changes[0]
            is_first = (change.package, change.attribute) == (first.package, first.attribute)
            if is_first and {change.a, change.b} == {first.a, first.b}:
                line = difference_line(change)
                values |= {pair.a: line.a, pair.b: line.b}
    return values


def _use_text(users: Sequence[str] | None) -> str:
    return "" if users is None else path_text(users) or "a root"


_COLUMNS: list[SheetColumn[DoubledBuild]] = [
    SheetColumn("cause", lambda row: row.cause),
    SheetColumn("deepest", lambda row: row.is_deepest, drawn=False),
    SheetColumn("package", lambda row: row.package),
    version_column(lambda row: row.version),
    hash_column(lambda row: row.hash),
    SheetColumn("value", lambda row: row.value, "with", least=_LEAST_VALUE),
    SheetColumn(
        "used_by",
        lambda row: row.users if row.build.use.count else None,
        text=_use_text,
        wraps=True,
        least=_LEAST_PATH,
    ),
    SheetColumn(
        "run", lambda row: row.build.is_run, "for", text=lambda run: "run" if run else "build"
    ),
    SheetColumn("roots", lambda row: row.build.use.count or None),
    SheetColumn("dependents", lambda row: row.build.dependents),
]
