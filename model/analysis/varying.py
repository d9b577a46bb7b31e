"""Compare n groups of specs and their closures: a row per difference, a value per group."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import chain
from typing import Literal

from spackscope.model.analysis.dag import (
    PROVIDED,
    Attributes,
    AttributeValue,
    Dag,
    Walk,
    Walker,
    compiled_languages,
    differing_names,
    run_time_deptypes,
    texts,
)
from spackscope.model.core.columns import SHORT_HASH
from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.core.records import RUNTIME_OF
from spackscope.model.core.tasks import check_cancelled
from spackscope.model.index.edges import nearest_first

COMPILERS_OF_RUNTIMES = {runtime: compiler for compiler, runtime in RUNTIME_OF.items()}

_COME_WITH_COMPILER = frozenset((*COMPILERS_OF_RUNTIMES, "compiler-wrapper", "glibc", "musl"))

_OTHER = ("version", "package")
_RECIPE = (*_OTHER, "variant", "package_hash")
_TOOLCHAIN = ("spec_format", "platform", "compiler", "provider")

_LEADERS = {
    **dict.fromkeys(("patches", "external", "external_module", "external_extra"), _OTHER),
    "package_hash": (*_OTHER, "patches"),
    PROVIDED: (*_OTHER, "spec_format", "variant"),
    "variant": _OTHER,
    "compiler": ("spec_format",),
}
"""The attributes that an attribute may follow, the likeliest first."""

_IF_LACKING = ("variant", "compiler")
"""Attributes that follow others only where some specs have none."""


def follows(
    attribute: str,
    differing: Iterable[str],
    *,
    is_lacking: bool = False,
    dependency: str = "",
    virtuals: tuple[str, ...] = (),
) -> str:
    """Return the `differing` attribute of a package that another attribute follows, or "".

    Two specs are compared in the same way as many. Another version, or another package, brings
    another recipe, other patches and virtuals, other prefixes of externals, and variants that some
    builds do not have (then the variant `is_lacking`). Patches are part of the recipe, and a
    variant may provide virtuals. Another spec format adds virtuals, or makes the compiler, which
    is then lacking as an attribute, a dependency.

    Any attribute of an edge to a `dependency`, with its `virtuals`, follows another version, else
    the first variant, else the recipe. If the dependency is a compiler, the spec format comes
    first; if it comes along with compilers, also the platform and the compiler. A `provider` in
    `differing` provides a language, and so is a compiler.

        follows("package_hash", ["patches", "version"])  # "version"
    """
    names, kind = [*differing], attribute.partition(":")[0]
    leaders = _LEADERS.get(kind, ())
    if dependency:
        leaders = _RECIPE
        if dependency in _COME_WITH_COMPILER or "libc" in virtuals:
            leaders = (*_TOOLCHAIN, *_RECIPE)
        elif compiled_languages(virtuals):
            leaders = ("spec_format", *_RECIPE)
    elif kind in _IF_LACKING and not is_lacking:
        leaders = ()
    found = (n for leader in leaders for n in names if n.partition(":")[0] == leader)
    return next(found, "")


_NOT_AT_RUN_TIME = frozenset(
    ("package_hash", "namespace", "external_extra", "spec_format", PROVIDED)
)
"""Attributes of a node that do not count at run time."""

_FOLDED = frozenset(("compiler", "platform", "os", "target", "namespace", "spec_format"))
"""Attributes that are one row where many packages have the same values."""

RANKS = {"version": -3, "provider": -2, "present": -1, "compiler": 1, "platform": 2, "os": 3}
RANKS |= {"target": 4, "package_hash": 5, "namespace": 6}
"""The order of the attributes of a package; all other attributes have 0."""

Cell = tuple[str, ...] | None
"""The values of an attribute in one column: None without the package, empty if it is unset."""

UNKNOWN: Cell = ("?",)
"""The value in a column whose source does not list the attribute."""

Cells = tuple[Cell, ...]
Found = tuple[str, str, Cells]
"""A package, or a virtual, an attribute of it, and the value in each column."""

Part = Literal["own", "run", "build", "users"]
"""Where a row belongs: to the specs themselves, their link/run closure, build tools, or users."""


class ComparedRow(Frozen):
    """An attribute of a package with its value in each column.

    For a `provider`, `package` is the virtual. `path` has the packages from the specs, which are
    not in it, down to this package, which is its last. `follows` names the attribute or package
    with which the attribute normally changes. `tells` is True for the fewest rows that tell all
    columns apart. `packages` are all packages with these values.
    """

    part: Part
    package: str
    attribute: str
    values: Cells
    path: tuple[str, ...] = ()
    follows: str = ""
    tells: bool = False
    packages: tuple[str, ...] = ()

    @property
    def is_equal(self) -> bool:
        """Whether no two listed values differ."""
        return len(set(self.values) - {UNKNOWN}) < 2


def run_values(graph: Dag, id_: int) -> dict[str, AttributeValue]:
    """Return the attributes of a node that count at run time.

    The recipe, the namespace and the spec format do not.
    """
    attributes = graph.attributes(id_)
    return {name: value for name, value in attributes.items() if name not in _NOT_AT_RUN_TIME}


def compilers(graph: Dag, links: Iterable[tuple[int, tuple[str, ...]]]) -> tuple[str, ...]:
    """Return compilers with the languages that each is used for, such as `c,cxx=gcc@12.1.0`."""
    languages: dict[str, list[str]] = defaultdict(list)
    for child, of_child in links:
        languages[f"{graph.name(child)}@{graph.version(child)}"] += of_child
    return tuple(
        f"{','.join(sorted(names))}={compiler}" for compiler, names in sorted(languages.items())
    )


def own_values(graph: Dag, id_: int, *, run_only: bool) -> dict[str, AttributeValue]:
    """Return the attributes of a node, or those at run time, and its compilers as one of them."""
    values = run_values(graph, id_) if run_only else {**graph.attributes(id_)}
    languages = ((child, compiled_languages(kind.virtuals)) for child, kind in graph.links(id_))
    if stated := compilers(graph, [compiling for compiling in languages if compiling[1]]):
        values["compiler"] = stated
    return values


def varying(
    graph: Dag,
    groups: Sequence[Sequence[int]],
    *,
    run_only: bool = False,
    with_equal: bool = False,
) -> tuple[ComparedRow, ...]:
    """Return a row per difference between groups of specs, the fewest that tell all apart first.

    Each group is a column.

    With `run_only` each group is one run-time kind, of which only the first spec is read, and only
    attributes that count at run time are compared. `with_equal` adds the versions of packages that
    all groups have and no other row is about, at the end. Raises Cancelled.

        varying(graph, [kind.ids for kind in run_kinds(graph, ids)], run_only=True)
    """
    walker, tables = Walker(graph), list[tuple[Part, list[Walk]]]()
    parts: tuple[Part, ...] = ("run",) if run_only else ("run", "build")
    for part in parts:
        walks = []
        for ids in groups:
            check_cancelled()
            walks.append(walker.walk(ids[:1] if run_only else ids, run_only=part == "run"))
        tables.append((part, walks))

    values_of = lru_cache(None)(partial(own_values, graph, run_only=run_only))
    rows: list[ComparedRow] = []
    for part, walks in tables:
        known = {(row.package, row.attribute) for row in rows}
        new = _rows(graph, part, walks, values_of)
        rows += [row for row in new if (row.package, row.attribute) not in known]
    rows = _folded(rows)
    telling = fewest_telling(rows, len(groups))
    if telling is None and not any(walk.unknown for walk in tables[-1][1]):
        for part, walks in tables:
            rows += _edge_rows(part, walks)
        telling = fewest_telling(rows, len(groups))
    first = [replace(rows[number], tells=True) for number in telling or ()]
    rest = [row for number, row in enumerate(rows) if number not in set(telling or ())]
    rows = [*first, *rest]
    if with_equal:
        named = {name for row in rows for name in (row.package, *row.packages)}
        for part, walks in tables:
            every = set(walks[0].nodes).intersection(*(walk.nodes for walk in walks)) - named
            named |= set().union(*(walk.nodes for walk in walks))
            for name in filter(every.__contains__, walks[0].nodes):
                if path := walks[0].path(name):
                    version = graph.version(min(walks[0].nodes[name]))
                    cells = [(version,) if version else UNKNOWN] * len(groups)
                    rows.append(ComparedRow(part, name, "version", tuple(cells), path))
    return tuple(rows)


def _rows(
    graph: Dag, part: Part, walks: Sequence[Walk], values_of: Callable[[int], Attributes]
) -> list[ComparedRow]:
    """Return the rows of the link/run closures of all columns, or of the whole closures.

    Rows are in the order of causes: the roots' own first, then the most depended on, then the
    nearest.
    """
    found = [*_values(graph, walks, values_of), *_providers(graph, walks)]
    parents: dict[str, dict[str, None]] = defaultdict(dict)
    for walk in walks:
        for parent, step in walk.steps:
            parents[step.name][parent] = None
    own: dict[str, list[str]] = defaultdict(list)
    for name, attribute, _ in found:
        own[name].append(attribute)
    provided = {
        text.partition("@")[0]: name
        for name, attribute, cells in found
        if attribute == "provider"
        for cell in cells
        for text in cell or ()
    }

    def leader(name: str, attribute: str, cells: Cells) -> str:
        if attribute == "present":
            # A dependent that changed explains it, unless another is the same in all columns.
            is_explained = own.keys() >= parents[name].keys() and parents[name]
            return provided.get(name) or (next(iter(parents[name])) if is_explained else "")
        if attribute == "compiler" and part == "build":
            # In whole closures the compiler has rows of its own.
            stated = {text.partition("=")[2].partition("@")[0] for c in cells for text in c or ()}
            for compiler in sorted(stated):
                if "version" in own.get(compiler, ()):
                    return compiler
        return follows(attribute, own[name], is_lacking=() in cells)

    def order(row: ComparedRow) -> tuple[object, ...]:
        # How many packages reach it, itself included.
        place = row.path[-1] if row.path else row.package
        count = len(nearest_first([place], lambda name: parents.get(name, ())))
        rank = RANKS.get(row.attribute, 0)
        return bool(row.path), -count, len(row.path), row.package, rank, row.attribute

    rows = (replace(_row(part, walks, *each), follows=leader(*each)) for each in found)
    return sorted(rows, key=order)


def _row(
    part: Part, walks: Sequence[Walk], package: str, attribute: str, cells: Cells
) -> ComparedRow:
    """Return a row with the path to its package, or to the first one that provides a virtual."""
    place = package
    if attribute == "provider":
        place = next(cell[0].partition("@")[0] for cell in cells if cell)
    path = next(walk for walk in walks if place in walk.nodes).path(place)
    where = "own" if part == "run" and not path else part
    return ComparedRow(where, package, attribute, cells, path, packages=(package,))


def _values(
    graph: Dag, walks: Sequence[Walk], values_of: Callable[[int], Attributes]
) -> Iterator[Found]:
    """Yield the attributes of packages whose values differ, and packages that columns lack."""
    # A package that no source describes is not a difference.
    never_described = set.intersection(*(walk.unknown for walk in walks))
    for name in dict.fromkeys(chain.from_iterable(walk.nodes for walk in walks)):
        nodes = [walk.nodes.get(name) for walk in walks]
        if all(each == nodes[0] for each in nodes):
            continue
        columns = list(zip(nodes, walks, strict=True))
        if any(each is None and walk.unknown <= never_described for each, walk in columns):
            yield name, "present", _cells(graph.version, nodes)
        absent = {id_ for each in nodes for id_ in each or () if not graph.is_described(id_)}
        if absent:
            # Only the hashes of absent specs are known.
            yield name, "hash", _cells(lambda id_: graph.hash(id_)[:SHORT_HASH], nodes)
        sets = [() if each is None or absent & each.keys() else tuple(each) for each in nodes]
        distinct = dict.fromkeys(filter(None, sets))
        values = {id_: values_of(id_) for ids in distinct for id_ in ids}
        for attribute in differing_names(values.values()):
            # Pages list one compiler of several.
            cell_of = {
                ids: _cell(texts(values[id_].get(attribute)) for id_ in ids)
                for ids in distinct
                if all(graph.would_list(id_, attribute) for id_ in ids)
                and (attribute != "compiler" or all(map(graph.lists_dependencies, ids)))
            }
            if len(set(cell_of.values())) > 1:
                yield name, attribute, tuple(map(cell_of.get, sets))


def _providers(graph: Dag, walks: Sequence[Walk]) -> Iterator[Found]:
    """Yield the values of each virtual that different packages provide."""
    providers: list[dict[str, set[int]]] = [defaultdict(set) for _ in walks]
    for of_walk, walk in zip(providers, walks, strict=True):
        for _, step in walk.steps:
            for virtual in step.kind.virtuals:
                of_walk[virtual].add(step.id)
    for virtual in sorted(set().union(*providers)):
        every = [of_walk.get(virtual, ()) for of_walk in providers]
        if len({frozenset(map(graph.name, each)) for each in every if each}) > 1:
            cells = _cells(lambda id_: f"{graph.name(id_)}@{graph.version(id_)}", every)
            yield virtual, "provider", cells


def _edge_rows(part: Part, walks: Sequence[Walk]) -> Iterator[ComparedRow]:
    """Yield rows of packages whose dependencies differ, though all packages are the same."""
    columns: list[dict[str, set[str]]] = [defaultdict(set) for _ in walks]
    for children, walk in zip(columns, walks, strict=True):
        for name, step in walk.steps:
            deptypes = step.kind.deptypes
            deptypes = deptypes if part == "build" else run_time_deptypes(deptypes)
            children[name].add(f"{step.name} ({', '.join(deptypes)})")
    for name in sorted(set().union(*columns)):
        sets = [children[name] for children in columns]
        same = set.intersection(*sets)
        if any(each != same for each in sets):
            cells = tuple(tuple(sorted(each - same)) for each in sets)
            yield _row(part, walks, name, "dependencies", cells)


def _cells(read: Callable[[int], str], columns: Iterable[Collection[int] | None]) -> Cells:
    """Return a text of each spec in each column, None for a column without any."""
    return tuple(_cell((read(id_),) for id_ in ids) if ids else None for ids in columns)


def _cell(values: Iterable[tuple[str, ...]]) -> Cell:
    """Return the values of the specs of one package; there are mostly one spec and one value."""
    distinct = {value for value in values if any(value)}
    if len(distinct) == 1:
        return distinct.pop()
    return tuple(sorted(",".join(value) for value in distinct))


def _folded(rows: Iterable[ComparedRow]) -> list[ComparedRow]:
    """Join rows of packages that have the same values: another os everywhere is one row."""
    folded: list[ComparedRow] = []
    for row in map(_without_languages, rows):
        for number, other in enumerate(folded) if row.attribute in _FOLDED else ():
            cells = list(zip(other.values, row.values, strict=True))
            is_alike = (row.attribute, row.follows) == (other.attribute, other.follows)
            is_alike &= (row.part == "build") == (other.part == "build")
            if is_alike and all(None in (a, b) or a == b for a, b in cells):
                values = tuple(b if a is None else a for a, b in cells)
                packages = (*other.packages, *row.packages)
                folded[number] = replace(other, values=values, packages=packages)
                break
        else:
            folded.append(row)
    return folded


def _without_languages(row: ComparedRow) -> ComparedRow:
    """Return the compilers alone if they compile the same languages in all columns."""
    cells = [cell for cell in row.values if cell]
    languages = {text.partition("=")[0] for cell in cells for text in cell}
    is_one_each = row.attribute == "compiler" and all(len(cell) == 1 for cell in cells)
    if not is_one_each or len(languages) > 1 or not all("=" in cell[0] for cell in cells):
        return row
    values = (cell and (cell[0].partition("=")[2],) for cell in row.values)
    return replace(row, values=tuple(values))


def fewest_telling(rows: Sequence[ComparedRow], columns: int) -> list[int] | None:
    """Return the numbers of the fewest rows that tell all columns apart.

    The rows are in tiers: link/run closures before build tools, and rows that follow from another
    row last. In a tier the row that splits most columns comes first. None if columns are left that
    no row tells apart.
    """
    telling: list[int] = []
    classes: list[Cells] = [()] * columns
    for tier in ((False, False), (False, True), (True, False), (True, True)):
        numbers = [n for n, r in enumerate(rows) if (bool(r.follows), r.part == "build") == tier]
        while (apart := len(set(classes))) < columns:
            gains = (
                (len(set(zip(classes, rows[number].values, strict=True))), -number)
                for number in numbers
            )
            most, number = max(gains, default=(0, 0))
            if most <= apart:
                break
            telling.append(-number)
            values = rows[-number].values
            classes = [(*each, value) for each, value in zip(classes, values, strict=True)]
    return telling if len(set(classes)) == columns else None
