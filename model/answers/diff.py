"""Compare specs, and whether they run the same; or compare two sources."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice
from typing import Any, NamedTuple

from spackscope.model.analysis.dag import Dag, Walker, dag_of, differing_names, spec_at, texts
from spackscope.model.analysis.differences import (
    UNKNOWN,
    Cell,
    Difference,
    Part,
    compare_specs,
    follows,
)
from spackscope.model.analysis.kinds import run_kinds
from spackscope.model.analysis.source_differences import (
    ChangeKind,
    SourceComparison,
    compare_sources,
)
from spackscope.model.answers import Asked
from spackscope.model.core.columns import FIELDS, SHORT_HASH, spec_name
from spackscope.model.core.commands import ANSWER, Command, flag
from spackscope.model.core.errors import WrongQuestion
from spackscope.model.core.frozen import replace
from spackscope.model.core.redaction import shown_url
from spackscope.model.core.tasks import check_cancelled, collector_paused
from spackscope.model.core.text import clean, counted
from spackscope.model.core.versions import version_key
from spackscope.model.index.catalog import Catalog
from spackscope.model.query.ast import Query, exact_query
from spackscope.model.report.detail import DIFFERS
from spackscope.model.report.differences import (
    BUILD_DEPENDENCIES,
    NOT_LISTED,
    NOTHING_DIFFERS,
    RUN_DEPENDENCIES,
    attribute_label,
    changes_text,
    value_texts,
)
from spackscope.model.report.report import Style, path_text
from spackscope.model.report.row_notes import ONLY_BUILD_TOOLS
from spackscope.model.report.sheet import Sheet, SheetColumn, hash_column, package_column
from spackscope.model.sources.resolve import names_source

COMMAND = Command(
    "diff",
    "print how specs differ, and whether they run the same",
    (
        "[-f SOURCE]... [--build] [--all] [--each] [OUTPUT] SPEC SPEC...",
        "[OUTPUT] OLD-SOURCE NEW-SOURCE",
    ),
    """\
Print how 2 to 20 specs differ, and whether they run the same. Each word is a
hash, a unique hash prefix, or a quoted query that matches one spec. Each spec
is a column; specs that run the same share one. The rows are the causes: each
difference that does not follow from another one, and the dependencies that
lead to it.

For two sources, such as two spack.lock files, it lists the packages that were
added, removed and changed, how many changed only because of others, and the
changed specs with their old hashes. Two words are sources if both are URLs,
public:TAG, spack:NAME, - for stdin, or paths that exist, and no -f is given.""",
    (
        flag("build", "also compare build dependencies"),
        flag("all", "also list what follows from other differences, and what is equal"),
        flag("each", "print a column for each spec, even where several are alike"),
        *ANSWER,
    ),
    words="spec or source",
    least=2,
    most=20,
    wrong_count="needs 2 to 20 specs, but got {count:,}; "
    "put each query of several words in quotes",
    codes={0: "alike", 1: "different", 2: "wrong usage, or a word does not name one spec"},
    examples="""\
spackscope diff uehz56w wuqgt3p
spackscope diff 'hdf5@1.14.6 /ueh' 'hdf5@1.14.5 +mpi os=rocky9' --build
spackscope pick hdf5@1.14.6 | xargs spackscope diff
git show HEAD~1:spack.lock | spackscope diff - spack.lock
spackscope diff public:v2026.06.0 public:develop""",
)


_ARROW = "→"
_ALIKE = "These are the same spec"


def answer(asked: Asked) -> Sheet[Any]:
    """Compare specs, or two sources; the sheet is not good if they differ."""
    words, options = asked.words, asked.options
    if not options.get("sources") and len(words) == 2 and all(map(names_source, words)):
        catalogs = asked.load([words[0]], [words[1]])
        # To search for garbage would take a fifth of the time, and block all threads for as long.
        with collector_paused():
            return _changes(asked, *catalogs)
    (catalog,) = asked.load(asked.sources)
    hashes = dict.fromkeys(asked.find_hash(catalog, [word]) for word in words)
    ids = [catalog.with_dependencies(hash_).id for hash_ in hashes if catalog.by_hash(hash_)]
    if len(hashes) < 2:
        return Sheet(_ALIKE, [*_columns(dag_of(catalog), ids, ids, shows_follows=False)], ())
    if len(ids) < 2:
        raise WrongQuestion("Only one of these specs is in the index")
    return _spec_sheet(asked, catalog, ids)


# Specs side by side

MAX_COMPARED = 200
"""Specs that are compared at once."""
_MAX_ROWS = 1_000
"""Rows of each part."""
_MAX_NAME_IN_CELL = 6
"""Characters of the name of a variant that is in the cells; a longer one is in the label."""
_MAX_USERS = 12
"""Packages that are named as users."""
_OWN_FIRST = ("package", "version", "compiler", "platform", "os", "target")
"""The attributes of the specs themselves that people look for first."""
_HEADINGS = {
    "own": "the specs themselves",
    "run": RUN_DEPENDENCIES,
    "build": BUILD_DEPENDENCIES,
}


class Differing(NamedTuple):
    """A row of values with its label, the text and style of each value, and the text of its path.

    The row of users has texts alone.
    """

    row: Difference
    label: str
    texts: Sequence[str]
    styles: Sequence[Style]
    where: str


def _spec_sheet(asked: Asked, catalog: Catalog, ids: Sequence[int]) -> Sheet[Differing]:
    """Return a column for each spec, the causes of differences first.

    Specs that run the same have one drawn column, or with the option `each` one each; `build` adds
    build dependencies, and `all` rows that follow from others or are equal. Parts of the answer
    are shown as they are read.
    """
    graph, options = dag_of(catalog), asked.options
    kinds = run_kinds(graph, ids[:MAX_COMPARED])
    # Two specs are in the order in which they were named; of more the most used come first.
    columns = [id_ for kind in kinds for id_ in kind.ids] if len(ids) > 2 else [*ids]
    listing = [id_ for id_ in columns if graph.lists_dependencies(id_)]
    runs_the_same = len(kinds) == 1 and len(listing) == len(columns)
    is_whole = bool(options.get("all"))

    def in_sight(rows: Iterable[Difference]) -> list[Difference]:
        """Return the rows that differ; `all` adds rows that follow from others, and equal ones."""
        if not is_whole:
            return [row for row in rows if not (row.is_equal or row.follows)]
        return sorted(rows, key=lambda row: (row.is_equal, bool(row.follows)))

    def sheet_of(
        rows: Sequence[Difference],
        *notes: str,
        more: Sequence[str] = (),
        users: Sequence[Differing] = (),
    ) -> Sheet[Differing]:
        firsts = _firsts(rows, columns)
        drawn = columns if options.get("each") else firsts
        switches = ["build", "all"] if listing else ["all"]
        if len(firsts) < len(columns):
            switches.append("each")
        ways = 0 if len(listing) < len(columns) else len(kinds)
        return Sheet(
            " · ".join(_title(graph, columns, drawn, ways, len(ids), nothing=not rows)),
            [*_columns(graph, columns, drawn, shows_follows=is_whole)],
            [*map(differing, rows), *users],
            row="a value that is not the same in all builds",
            leads_to=partial(_spec_below, graph, columns),
            group=lambda row: _HEADINGS.get(row.row.part, ""),
            redundant=["part"],
            notes=[*_splices(graph, columns), *notes],
            more=more,
            switches=switches,
            limit=None,
            is_good=False,
            is_certain=True,
        )

    rows = in_sight(_own_rows(graph, columns))
    if not listing:
        return sheet_of(rows, NOT_LISTED)
    asked.show(sheet_of(rows, "comparing…"))
    # Specs of one kind link and run the same.
    first_of_kind = {id_: kind.ids[0] for kind in kinds for id_ in kind.ids}
    of_kinds = {id_: first_of_kind[id_] for id_ in listing}
    run = [*_rows_below(graph, "run", columns, of_kinds)]
    rows += in_sight(run)
    following = sum(bool(row.follows) and not row.is_equal for row in run) * (not is_whole)
    notes, more = [], []
    if len(listing) < len(columns):
        notes.append("?: the source lists no dependencies")
    if following:
        follow = "follows" if following == 1 else "follow"
        more.append(f"{asked.option('all')} adds {following:,} that {follow} from these")
    if options.get("build") or runs_the_same:
        asked.show(sheet_of(rows, *notes, "comparing…", more=more))
        each = dict(zip(listing, listing, strict=True))
        rows += in_sight(_rows_below(graph, "build", columns, each))
    else:
        more.append(f"{asked.option('build')} adds build tools")
    return sheet_of(rows, *notes, more=more, users=[_users(graph, columns)])


def _title(
    graph: Dag, ids: Sequence[int], drawn: Sequence[int], ways: int, total: int, *, nothing: bool
) -> Iterator[str]:
    """Yield the package, the number of builds, and the number of builds without a column."""
    packages, versions = list(dict.fromkeys(map(graph.name, ids))), set(map(graph.version, ids))
    name = ", ".join(packages[:2]) + (", …" if len(packages) > 2 else "")
    if len(packages) == len(versions) == 1:
        name = spec_name(name, versions.pop())
    yield name
    if ways == 1:
        them = "both" if len(ids) == 2 else f"all {len(ids):,}"
        yield f"{ONLY_BUILD_TOOLS} differ: {them} run the same"
    else:
        yield f"{len(ids):,} builds{f', {ways:,} ways to run' if ways else ''}"
    if nothing and ways != 1:
        yield NOTHING_DIFFERS
    elif ways > 1 and (more := len(ids) - len(drawn)):
        yield f"{counted(more, 'more build')} like one of these"
    if total > len(ids):
        yield f"{total - len(ids):,} not compared"


def _columns(
    graph: Dag, ids: Sequence[int], drawn: Sequence[int], *, shows_follows: bool
) -> Iterator[SheetColumn[Differing]]:
    yield package_column(lambda row: row.row.package or None, drawn=False)
    yield SheetColumn(
        "attribute", lambda row: row.row.attribute, drawn=False, meaning="what differs"
    )
    yield SheetColumn(
        "part", lambda row: row.row.part, meaning="own, run, build or users: what the row is about"
    )
    yield SheetColumn(
        "what",
        lambda row: row.label,
        "",
        least=24,
        is_frozen=True,
        meaning="the package or spec, and what differs or its change",
    )
    for number, (id_, hash_) in enumerate(zip(ids, graph.hashes(ids), strict=True)):
        yield SheetColumn(
            hash_,
            partial(_text_in, number),
            hash_[:SHORT_HASH],
            is_right=False,
            least=11,
            look=partial(_style_in, number),
            drawn=id_ in drawn,
            hash=hash_,
            meaning="the value of a spec: a column per spec, named by its hash",
        )
    yield SheetColumn(
        "follows",
        lambda row: row.row.follows or None,
        drawn=shows_follows,
        meaning="the difference that this one follows from",
    )
    yield SheetColumn(
        "path",
        lambda row: row.row.path,
        drawn=False,
        meaning="the dependencies that lead to it, as a list",
    )
    yield SheetColumn(
        "where",
        lambda row: row.where or None,
        style="dim",
        wraps=True,
        least=16,
        meaning="the dependencies that lead to it",
    )


def _text_in(number: int, row: Differing) -> str:
    return row.texts[number]


def _style_in(number: int, row: Differing) -> Style:
    return row.styles[number]


def _firsts(rows: Sequence[Difference], ids: Sequence[int]) -> list[int]:
    """Return the first of each group of specs with equal rows, or all specs if all are equal."""
    firsts: dict[tuple[Cell, ...], int] = {}
    for number, id_ in enumerate(ids):
        firsts.setdefault(tuple(row.values[number] for row in rows), id_)
    return [*ids] if len(firsts) == 1 else [*firsts.values()]


def differing(row: Difference) -> Differing:
    """Return a row as text: the most common value is dim, and others stand out."""
    known = [value for value in row.values if value and value != UNKNOWN]
    # A Counter keeps the order of values that are equally common.
    common = Counter(known).most_common(1)[0][0] if known else None
    styles: dict[Cell, Style] = {UNKNOWN: "dim", common: "dim", None: "", (): ""}
    is_own, name = row.part == "own", row.attribute.partition(":")[2]
    are_named = not is_own and len(name) <= _MAX_NAME_IN_CELL
    label, texts = value_texts(row, are_named=are_named, between=",")
    others = f" and {len(row.packages) - 1:,} more" if len(row.packages) > 1 else ""
    return Differing(
        row,
        # Rows of the specs themselves have the attribute alone.
        clean(
            attribute_label(row.attribute) if is_own else f"{row.package}{others} {label}"
        ).rstrip(),
        texts,
        [styles.get(value, "differs") for value in row.values],
        # A direct dependency needs no path.
        path_text(row.path) if len(row.path) > 1 else "",
    )


def _users(graph: Dag, ids: Sequence[int]) -> Differing:
    """Return a row with the number of dependents of each spec, the most used strong, and names."""
    users = [graph.dependents(id_) if graph.lists_dependencies(id_) else None for id_ in ids]
    names = dict.fromkeys(map(graph.name, sorted(set().union(*filter(None, users)))))
    counts = [None if each is None else len(each) for each in users]
    most = max((count or 0 for count in counts), default=0)
    texts = ["?" if count is None else f"{count:,}" for count in counts]
    styles: list[Style] = ["strong" if count == most else "dim" for count in counts]
    more = f" and {len(names) - _MAX_USERS:,} more" if len(names) > _MAX_USERS else ""
    named = f"{', '.join(islice(names, _MAX_USERS))}{more}"
    return Differing(Difference("users", "", "used by", ()), "used by", texts, styles, named)


def _splices(graph: Dag, ids: Sequence[int]) -> Iterator[str]:
    """Yield lines on which of two specs is spliced, from which spec, and its dependencies."""
    builds = [graph.build_spec(id_) for id_ in ids]
    if len(ids) != 2 or not any(builds):
        return
    a, b = (hash_[:SHORT_HASH] for hash_ in graph.hashes(ids))
    if len(set(_built_as(graph, ids))) > 1:
        for hash_, build in zip((a, b), builds, strict=True):
            if build:
                yield f"{hash_} is spliced: it was built as {build[:SHORT_HASH]}"
        return
    if all(builds):
        which = f"{a} and {b} are both {builds[0][:SHORT_HASH]}"
    else:
        which = f"{a} is {b}" if builds[0] else f"{b} is {a}"
    yield f"{which}, spliced with other dependencies"
    walks = [Walker(graph).walk(id_, run_only=True) for id_ in ids]
    nodes = {
        name: [min(walk.nodes[name]) for walk in walks]
        for name in walks[0].nodes
        if name in walks[1].nodes
    }
    other = {name for name, pair in nodes.items() if len(set(_built_as(graph, pair))) > 1}
    # Whatever is below another dependency comes with it.
    for name in sorted(other & {step.name for by, step in walks[0].steps if by not in other}):
        old, new = (hash_[:SHORT_HASH] for hash_ in graph.hashes(nodes[name]))
        yield f"{clean(name)} {old} {DIFFERS} {new}"


def _built_as(graph: Dag, ids: Sequence[int]) -> list[str]:
    """Return the hash with which each spec was built, before it was spliced."""
    return [
        graph.build_spec(id_) or hash_ for id_, hash_ in zip(ids, graph.hashes(ids), strict=True)
    ]


def _own_rows(graph: Dag, columns: Sequence[int]) -> Iterator[Difference]:
    """Yield the attributes of the specs themselves, in the order of interest."""
    package, values = graph.name(columns[0]), [graph.attributes(id_) for id_ in columns]
    changed = differing_names(values)
    for name in sorted(
        set().union(*values),
        key=lambda name: (
            name == "spec_format",
            _OWN_FIRST.index(name) if name in _OWN_FIRST else 6 + (":" not in name),
            name,
        ),
    ):
        if name == "package" and name not in changed:
            continue
        leader = follows(name, changed, is_lacking=any(name not in each for each in values))
        cells = (
            texts(each.get(name)) or None if graph.would_list(id_, name) else UNKNOWN
            for id_, each in zip(columns, values, strict=True)
        )
        yield Difference("own", package, name, tuple(cells), follows=leader)


def _rows_below(
    graph: Dag, part: Part, columns: Sequence[int], group_of: Mapping[int, int]
) -> Iterator[Difference]:
    """Yield the rows of dependencies that differ, then of equal ones. Raises Cancelled.

    Each spec that lists its dependencies has the values of the spec that stands for its group.
    """
    groups = list(dict.fromkeys(group_of.values()))
    rows = compare_specs(Walker(graph), groups, run_only=part == "run", with_equal=True)
    # Without the attributes of the specs themselves.
    below = [
        row
        for row in rows
        if (row.part == "build") == (part == "build") and (row.path or row.attribute == "compiler")
    ]
    have_version = {row.package for row in below if row.attribute == "version"}
    for row in islice(below, _MAX_ROWS):
        if row.attribute != "present" or row.package not in have_version:
            cells = dict(zip(groups, row.values, strict=True))
            values = (cells[group_of[id_]] if id_ in group_of else UNKNOWN for id_ in columns)
            leader = "" if row.tells else row.follows
            yield row._replace(values=tuple(each or None for each in values), follows=leader)


def _spec_below(graph: Dag, ids: Sequence[int], row: Differing, hash_: str) -> str:
    """Return the hash of the package of a row below the spec of a column, or else of this spec."""
    start, path = graph.find([hash_]).get(hash_), [*row.row.path]
    if start is None or not path:
        return hash_
    provider = row.row.attribute == "provider" and row.row.values[graph.hashes(ids).index(hash_)]
    if provider and provider != UNKNOWN:
        path[-1] = provider[0].partition("@")[0]
    below = spec_at(graph, start, path)
    if below is None:
        nodes = Walker(graph).walk(start, run_only=False).nodes
        below = min(nodes.get(path[-1], ()), default=start)
    return graph.hash(below)


# Changes between two sources


class Change(NamedTuple):
    """A change from an old source to a new one: a cause, a package, or a spec.

    `specs` counts the specs with the change, and `also` dependents that changed because of it.
    `hash` is set for a spec, and `old_hash` for the spec that it replaced; `hashes` for a package.
    """

    kind: str
    what: str
    specs: int
    also: int = 0
    hash: str = ""
    old_hash: str = ""
    hashes: Sequence[str] = ()
    query: Query | None = None


def _changes(asked: Asked, a: Catalog, b: Catalog) -> Sheet[Change]:
    """Compare two sources; parts of the answer are shown as they are known."""
    for comparison in compare_sources(a, b):
        sheet = source_sheet(comparison, *map(shown_url, asked.words))
        if comparison.is_part:
            asked.show(sheet)
    is_whole = a.is_whole and b.is_whole
    return replace(sheet, is_good=sheet.is_good and is_whole)


def source_sheet(its: SourceComparison, old: str, new: str) -> Sheet[Change]:
    """Return the changes between two sources: causes first, then packages, then specs."""
    sizes = Counter[ChangeKind]()
    for change in its.changes:
        sizes[change.kind] += len(change.b or change.a)
    counts = {
        "unchanged": its.same,
        "changed": sizes["changed"],
        "added": sizes["added"] + sizes["more"],
        "removed": sizes["removed"] + sizes["fewer"],
    }
    is_alike = not (its.changes or its.is_part)
    sums = f"{its.count_a:,} {_ARROW} {counted(its.count_b, 'spec')}"
    if is_alike:
        sums = f"{counted(its.count_a, 'spec')} unchanged"
    elif not its.is_part:
        sums += f": {', '.join(f'{count:,} {what}' for what, count in counts.items() if count)}"
    return Sheet(
        sums,
        _COLUMNS,
        [*_change_rows(its, exact_query("source", old), exact_query("source", new))],
        row="a change between the sources, with the specs that it made change",
        hash=lambda row: row.hash,
        beside=lambda row: row.old_hash,
        query=lambda row: row.query,
        group=lambda row: row.kind,
        redundant=["kind"],
        notes=["comparing…"] if its.is_part else [],
        is_good=is_alike,
    )


_COLUMNS: list[SheetColumn[Change]] = [
    SheetColumn("kind", lambda row: row.kind, meaning="added, removed, rebuilt or another change"),
    SheetColumn(
        "what",
        lambda row: row.what,
        "",
        wraps=True,
        meaning="the package or spec, and what differs or its change",
    ),
    SheetColumn("specs", lambda row: row.specs, meaning="how many specs"),
    SheetColumn(
        "through",
        lambda row: row.also,
        "dependents",
        text=lambda count: f"{count:,}" if count else "",
        meaning="how many more specs changed because of it",
    ),
    hash_column(lambda row: row.hash or None),
    hash_column(lambda row: row.old_hash or None, "old_hash", meaning="the hash before"),
    SheetColumn(
        "hashes", lambda row: row.hashes, drawn=False, meaning="the hashes of all specs of the row"
    ),
]


_BECAUSE = "changed because of dependencies"
_HEADS: dict[ChangeKind, str] = {
    "root added": "roots",
    "root removed": "roots",
    "because": _BECAUSE,
    "several": _BECAUSE,
    "unexplained": _BECAUSE,
    "cause": "changed",
    "more": "more builds",
    "fewer": "fewer builds",
    "changed": "changed specs",
}
_PACKAGES: tuple[ChangeKind, ...] = ("added", "removed")
_SENTENCES: dict[ChangeKind, str] = {
    "several": "because of several changes",
    "unexplained": "for reasons that the sources do not list",
    "because": "only because of ",
}


def _change_rows(its: SourceComparison, of_old: Query, of_new: Query) -> Iterator[Change]:
    graph, packages = its.graph, Counter(change.kind for change in its.changes)
    heads = _HEADS | {kind: f"{kind}: {counted(packages[kind], 'package')}" for kind in _PACKAGES}
    ids = [id_ for change in its.changes for id_ in (*change.a, *change.b)]
    hashes = dict(zip(ids, graph.hashes(ids), strict=True))
    for change in its.changes:
        check_cancelled()
        head, kind, specs = heads[change.kind], change.kind, (*change.a, *change.b)
        if not specs:
            is_cause = kind == "cause"
            text = " · ".join(changes_text(each, _ARROW) for each in change.causes)
            query = _first_query(chain(*change.causes), of_new if is_cause else Query())
            lead = "" if is_cause else _SENTENCES[kind]
            yield Change(head, lead + text, change.specs, change.also, query=query)
            continue
        package, versions = graph.name(specs[0]), list(dict.fromkeys(map(graph.version, specs)))
        if kind in ("root added", "root removed"):
            sign, (hash_,) = "+" if change.b else "-", map(hashes.__getitem__, specs)
            yield Change(head, f"{sign} {spec_name(package, *versions)}", 1, hash=hash_)
        elif kind == "changed":
            old, new = map(hashes.__getitem__, specs)
            text = f"{clean(package)}@{f' {_ARROW} '.join(map(clean, versions))}"
            yield Change(head, text, 1, hash=new, old_hash=old)
        else:
            versions.sort(key=lambda each: (version_key(each), each))
            text = f"{clean(package)}@{', '.join(map(clean, versions))}"
            query = (of_new if change.b else of_old).plus(Query().with_package(package))
            hashes_of = [hashes[id_] for id_ in specs]
            yield Change(head, text, len(specs), hashes=hashes_of, query=query)


def _first_query(changes: Iterable[Difference], source: Query) -> Query | None:
    """Return a query for changed specs; None if most specs of a source match it."""
    for change in changes:
        if change.package:
            return Query().with_package(change.package)
        (new,) = change.values[1] or ("",)
        if change.attribute == "provider":
            return Query().with_package(new.partition("@")[0])
        if change.attribute in FIELDS and new:
            return source.plus(exact_query(change.attribute, new))
    return None
