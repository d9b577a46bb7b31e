"""How specs differ, and whether they run the same; or what changed from one source to another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from spackscope.model.analysis.compare import Difference, compare
from spackscope.model.analysis.dag import Dag, dag_of
from spackscope.model.analysis.kinds import run_the_same
from spackscope.model.analysis.source_differences import (
    PackageChange,
    SourceComparison,
    compare_sources,
)
from spackscope.model.answers.asked import Asked
from spackscope.model.core.columns import FIELDS, SHORT_HASH, spec_name
from spackscope.model.core.records import Spec
from spackscope.model.core.redaction import shown_url
from spackscope.model.core.tasks import ShouldStop, never
from spackscope.model.core.text import clean, counted
from spackscope.model.core.versions import version_key
from spackscope.model.query.ast import Query, exact_query
from spackscope.model.report.comparison import compared_sections, read_comparison, value_texts
from spackscope.model.report.differences import (
    cause_sections,
    changes_text,
    difference_line,
    pair_sections,
    splice_lines,
    unexplained_text,
)
from spackscope.model.report.report import Line, Piece, Report, Section
from spackscope.model.report.sheet import Sheet, SheetColumn, hash_column
from spackscope.model.report.spec_list import spec_rows
from spackscope.model.sources.resolve import names_source

_ARROW = "→"
_ALIKE = "One and the same spec: nothing differs"
_MAX_NAMED_CAUSES = 3
"""Causes that are named together; of what has more, the number is told."""


def answer(asked: Asked) -> Sheet[Differing] | Sheet[Change]:
    """Return the differences of specs, or those of two sources; not good if there are some."""
    words, options = asked.words, asked.options
    if not options.get("sources") and len(words) == 2 and all(map(names_source, words)):
        catalogs = asked.load([words[0]], [words[1]])
        comparison = compare_sources(*catalogs, should_stop=asked.session.should_stop)
        return source_sheet(comparison, *map(shown_url, words))
    (catalog,) = asked.load(asked.sources)
    rows = [catalog.listed(asked.find_hash(catalog, [word])) for word in words]
    specs = {row.id: row.spec for row in rows}
    return spec_sheet(
        dag_of(catalog),
        specs,
        shows_build=bool(options.get("build")),
        shows_all=bool(options.get("all")),
        should_stop=asked.session.should_stop,
    )


class Differing(NamedTuple):
    """An attribute of a package in which specs differ, with its text in each.

    `path` leads from the specs to the package, `follows` is what it normally changes with. It
    `runs` if the package is linked or run.
    """

    package: str
    attribute: str
    values: Sequence[str]
    path: Sequence[str]
    follows: str
    runs: bool


def spec_sheet(
    graph: Dag,
    specs: Mapping[int, Spec],
    *,
    shows_build: bool = False,
    shows_all: bool = False,
    should_stop: ShouldStop = never,
) -> Sheet[Differing]:
    """Return how specs differ, by their ids; drawn are the causes of two, and a table of more."""
    pair = compare(graph, *specs) if len(specs) == 2 else None
    ids = [*specs]
    read = partial(read_comparison, graph, ids, should_stop=should_stop, show=lambda _: None)
    table = read(by_kind=False) if len(specs) > 2 else None

    def rows() -> Iterator[Differing]:
        for cause in pair.causes if pair is not None else ():
            for each in cause.differences:
                line = difference_line(each)
                values = line.a, line.b
                follows = each.follows or cause.follows
                yield Differing(
                    cause.package, each.attribute, values, cause.path, follows, cause.run
                )
        for row in (*(table.rows or ()), *(table.build_rows or ())) if table is not None else ():
            if not row.is_equal:
                runs = row.part != "build"
                yield Differing(
                    row.package, row.attribute, value_texts(row), row.path, row.follows, runs
                )

    def draw(width: int | None) -> Iterator[Line]:
        return Report("", sections(width)).lines(width)

    def sections(width: int | None) -> Iterator[Section]:
        if table is not None:
            # Those that run the same have one column.
            of_kinds = read(by_kind=True)
            by_first = {graph.identity(id_): spec for id_, spec in specs.items()}
            yield from compared_sections(
                of_kinds, by_first, width, shows_build=shows_build, shows_all=shows_all
            )
            return
        yield Section("", spec_rows(specs.values(), SHORT_HASH), indent="")
        if pair is None:
            yield Section((Piece(_ALIKE),))
            return
        for line in splice_lines(specs.values(), pair.replaced):
            yield Section((Piece(line),))
        # A blank line.
        yield Section(is_apart=True)
        if shows_all:
            yield from cause_sections(pair)
        else:
            same = run_the_same(graph, ids)
            yield from pair_sections(pair, same=same, shows_build=shows_build)
        if unexplained := unexplained_text(pair):
            yield Section((Piece(unexplained),))

    hashes = [spec.hash for spec in specs.values()]
    columns: list[SheetColumn[Differing]] = [
        SheetColumn("package", lambda row: row.package or None),
        SheetColumn("attribute", lambda row: row.attribute),
        *(map(_value_column, range(len(hashes)), hashes)),
        SheetColumn("run", lambda row: row.runs),
        SheetColumn("follows", lambda row: row.follows or None),
        SheetColumn("path", lambda row: row.path, is_list=True),
    ]
    return Sheet(
        "",
        columns,
        [*rows()],
        query=lambda row: Query().with_package(row.package) if row.package else None,
        draw=draw,
        is_text=True,
        is_good=len(specs) == 1,
        is_certain=True,
    )


def _value_column(number: int, hash_: str) -> SheetColumn[Differing]:
    return SheetColumn(hash_, lambda row: row.values[number], hash_[:SHORT_HASH])


class Change(NamedTuple):
    """What changed from an old source to a new one: a cause, a package, or a spec.

    It is about some `specs`, and `also` about others through it. `hash` is that of a spec, and
    `old_hash` of the one in its place before; `hashes` are those of a package.
    """

    kind: str
    what: str
    specs: int
    also: int = 0
    hash: str = ""
    old_hash: str = ""
    hashes: Sequence[str] = ()
    query: Query | None = None


def source_sheet(its: SourceComparison, old: str, new: str) -> Sheet[Change]:
    """Return what changed from a source to another: causes first, then packages, then specs."""
    of_old, of_new = exact_query("source", old), exact_query("source", new)
    every = (*its.changed, *its.added, *its.removed)
    counts = {
        "the same": its.same,
        "changed": sum(len(each.specs) for each in every),
        "added": sum(len(each.added) for each in every),
        "removed": sum(len(each.removed) for each in every),
    }
    parts = ", ".join(f"{count:,} {what}" for what, count in counts.items() if count)
    sums = f"{its.count_a:,} {_ARROW} {counted(its.count_b, 'spec')}: {parts}"
    if its.are_alike:
        sums = f"the same {counted(its.count_a, 'spec')}"
    added, removed = (counted(len(part), "package") for part in (its.added, its.removed))
    rows = [
        *_root_changes(its),
        *_follower_changes(its),
        *(
            Change(
                "changed",
                changes_text(cause.differences, _ARROW),
                cause.own,
                cause.only + cause.also,
                query=_first_query(cause.differences, of_new),
            )
            for cause in its.causes
        ),
        *_package_changes(its.graph, f"added: {added}", its.added, "added", of_new),
        *_package_changes(its.graph, f"removed: {removed}", its.removed, "removed", of_old),
        *_package_changes(its.graph, "more builds", its.changed, "added", of_new),
        *_package_changes(its.graph, "fewer builds", its.changed, "removed", of_old),
        *_spec_changes(its),
    ]
    return Sheet(
        sums,
        _COLUMNS,
        rows,
        hash=lambda row: row.hash,
        beside=lambda row: row.old_hash,
        query=lambda row: row.query,
        group=lambda row: row.kind,
        told=["kind"],
        is_good=its.are_alike,
        is_certain=True,
    )


_COLUMNS: list[SheetColumn[Change]] = [
    SheetColumn("kind", lambda row: row.kind),
    SheetColumn("what", lambda row: row.what, "", wraps=True, style="bold"),
    SheetColumn("specs", lambda row: row.specs),
    SheetColumn("through", lambda row: row.also, text=lambda count: f"{count:,}" if count else ""),
    hash_column(lambda row: row.hash or None),
    hash_column(lambda row: row.old_hash or None, "old_hash"),
    SheetColumn("hashes", lambda row: row.hashes, drawn=False),
]


def _root_changes(its: SourceComparison) -> Iterator[Change]:
    graph = its.graph
    for sign, ids in (("+", its.roots.added), ("-", its.roots.removed)):
        for id_, hash_ in zip(ids, graph.hashes(ids), strict=True):
            label = spec_name(graph.name(id_), graph.version(id_))
            yield Change("roots", f"{sign} {label}", 1, hash=hash_)


def _follower_changes(its: SourceComparison) -> Iterator[Change]:
    """Yield the causes of changes in specs whose own package did not change."""
    kind, rest = "changed because of others", 0
    for followers in its.followers:
        if len(followers.causes) > _MAX_NAMED_CAUSES:
            rest += followers.count
            continue
        causes = [its.causes[number].differences for number in followers.causes]
        text = " · ".join(changes_text(changes, _ARROW) for changes in causes)
        query = _first_query((each for changes in causes for each in changes), Query())
        yield Change(kind, f"only because of {text}", followers.count, query=query)
    if rest:
        yield Change(kind, "because of several changes", rest)
    if its.unexplained:
        yield Change(kind, "for reasons that the sources do not list", its.unexplained)


def _first_query(changes: Iterable[Difference], source: Query) -> Query | None:
    """Return a query for what changed; none for what is the same in most specs of a source."""
    for change in changes:
        if change.package:
            return Query().with_package(change.package)
        if change.attribute == "provider":
            return Query().with_package(str(change.b).partition("@")[0])
        if change.attribute in FIELDS and isinstance(change.b, str):
            return source.plus(exact_query(change.attribute, change.b))
    return None


def _package_changes(
    graph: Dag, kind: str, packages: Iterable[PackageChange], ids_name: str, source: Query
) -> Iterator[Change]:
    for package in packages:
        if ids := getattr(package, ids_name):
            versions = sorted(
                {*map(graph.version, ids)}, key=lambda each: (version_key(each), each)
            )
            text = f"{clean(package.package)}@{', '.join(map(clean, versions))}"
            query = source.plus(Query().with_package(package.package))
            yield Change(kind, text, len(ids), hashes=graph.hashes(ids), query=query)


def _spec_changes(its: SourceComparison) -> Iterator[Change]:
    graph = its.graph
    for package in its.changed:
        for each in package.specs:
            old, new = graph.hashes([each.a, each.b])
            versions = list(dict.fromkeys(map(graph.version, (each.a, each.b))))
            text = f"{clean(package.package)}@{f' {_ARROW} '.join(map(clean, versions))}"
            yield Change("changed specs", text, 1, hash=new, old_hash=old)
