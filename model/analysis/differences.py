"""Compare specs and their closures: a row for each difference, with a value for each spec."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache, partial
from itertools import chain
from typing import Literal, NamedTuple

from spackscope.model.analysis.dag import (
    PROVIDED,
    Attributes,
    AttributeValue,
    Dag,
    Walker,
    compiled_languages,
    differing_names,
    run_time_deptypes,
    texts,
)
from spackscope.model.core.columns import SHORT_HASH
from spackscope.model.core.tasks import check_cancelled
from spackscope.model.index.edges import nearest_first

_OTHER = ("version", "package")

_LEADERS = {
    **dict.fromkeys(("patches", "external", "external_module"), _OTHER),
    "external_extra": (*_OTHER, "external", "external_module"),
    "package_hash": (*_OTHER, "patches"),
    PROVIDED: (*_OTHER, "spec_format", "variant"),
    "variant": _OTHER,
    "compiler": ("spec_format",),
}
"""The attributes that an attribute may follow, the likeliest first."""

_IF_LACKING = ("variant", "compiler")
"""Attributes that follow others only where some specs have none."""


def follows(attribute: str, differing: Iterable[str], *, is_lacking: bool = False) -> str:
    """Return the `differing` attribute of a package that another attribute follows, or "".

    Another version, or another package, brings another recipe, other patches and virtuals, other
    prefixes of externals, and variants that some builds do not have (then the variant
    `is_lacking`). Patches are part of the recipe, and a variant may provide virtuals. Another spec
    format adds virtuals, or makes the compiler, which is then lacking as an attribute, a
    dependency.

        follows("package_hash", ["patches", "version"])  # "version"
    """
    kind = attribute.partition(":")[0]
    leaders = _LEADERS.get(kind, ()) if is_lacking or kind not in _IF_LACKING else ()
    if not leaders:
        return ""
    # The first of each kind: there may be thousands of variants.
    first = {name.partition(":")[0]: name for name in reversed([*differing])}
    return next((first[leader] for leader in leaders if leader in first), "")


_NOT_AT_RUN_TIME = frozenset(
    ("package_hash", "namespace", "external_extra", "spec_format", PROVIDED)
)
"""Attributes of a node that do not count at run time."""

OF_MANY_PACKAGES = frozenset(("compiler", "platform", "os", "target", "namespace", "spec_format"))
"""Attributes that are one difference where many packages have the same values."""

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


class Difference(NamedTuple):
    """An attribute of a package with its value in each column: in a spec, or in its closure.

    `attribute` is the name of a field, such as `version` or `package_hash`, `variant:NAME`, or the
    name of compiler flags. A package is `present` with its version; of a `provider`, `package` is
    the virtual; `dependencies` are those that not all columns have, and a `hash` is of a package
    that no document describes. `path` has the packages from the specs, which are not in it, down
    to this package, which is its last. `follows` names the attribute or package with which the
    attribute normally changes. `tells` is True for the fewest rows that tell all columns apart.
    `packages` are all packages with these values.
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


def compiling(graph: Dag, id_: int) -> tuple[tuple[int, tuple[str, ...]], ...]:
    """Return the compilers of a node, each with the languages that it is used for."""
    languages = ((child, compiled_languages(kind.virtuals)) for child, kind in graph.links(id_))
    return tuple(each for each in languages if each[1])


def own_values(graph: Dag, id_: int, *, run_only: bool) -> dict[str, AttributeValue]:
    """Return the attributes of a node with its compilers, such as `c,cxx=gcc@12.1.0`.

    With `run_only` they are those that count at run time: the recipe, the namespace and the spec
    format do not.
    """
    left_out = _NOT_AT_RUN_TIME if run_only else frozenset[str]()
    values = {n: value for n, value in graph.attributes(id_).items() if n not in left_out}
    languages: dict[str, list[str]] = defaultdict(list)
    for child, of_child in compiling(graph, id_):
        languages[f"{graph.name(child)}@{graph.version(child)}"] += of_child
    if languages:
        stated = sorted(languages.items())
        values["compiler"] = tuple(f"{','.join(sorted(its))}={name}" for name, its in stated)
    return values


def compare_values(
    graph: Dag, columns: Sequence[tuple[int, ...]], values_of: Callable[[int], Attributes]
) -> Iterator[tuple[str, Cells]]:
    """Yield the attributes whose values differ between specs, with the values of each column.

    A column without specs has None, and so has one whose source would not list the attribute.
    """
    distinct = dict.fromkeys(filter(None, columns))
    values = {id_: values_of(id_) for ids in distinct for id_ in ids}
    are_listed = {id_: graph.lists_dependencies(id_) for id_ in values}

    def is_known(id_: int, attribute: str) -> bool:
        # Pages list one compiler of several, and are compared with each other alone.
        is_comparable = attribute != "compiler" or are_listed[id_] or not any(are_listed.values())
        return is_comparable and graph.would_list(id_, attribute)

    for attribute in differing_names(values.values()):
        cell_of = {
            ids: _cell(texts(values[id_].get(attribute)) for id_ in ids)
            for ids in distinct
            if all(is_known(id_, attribute) for id_ in ids)
        }
        if len(set(cell_of.values())) > 1:
            yield attribute, tuple(map(cell_of.get, columns))


def compare_specs(
    walker: Walker, ids: Sequence[int], *, run_only: bool = False, with_equal: bool = False
) -> tuple[Difference, ...]:
    """Return a row per difference between specs, the fewest that tell all apart first.

    Each spec is a column. What all of them have in their closures is not read again.

    With `run_only` only attributes that count at run time are compared, of what the specs link or
    run. `with_equal` adds the versions of packages that all have and no other row is about, at the
    end. Raises Cancelled.

        compare_specs(Walker(graph), ids)[0].package
    """
    graph = walker.graph
    values_of = lru_cache(None)(partial(own_values, graph, run_only=run_only))
    parts: tuple[Part, ...] = ("run",) if run_only else ("run", "build")
    tables, rows = list[_Table](), list[Difference]()
    for part in parts:
        tables.append(_Table(part, walker, ids))
        known = {(row.package, row.attribute) for row in rows}
        new = tables[-1].rows(values_of)
        rows += [row for row in new if (row.package, row.attribute) not in known]
    rows = _folded(rows)
    telling = _fewest_telling(rows, len(ids))
    if telling is None and not any(walk.unknown for walk in tables[-1].walks):
        for table in tables:
            rows += table.edge_rows()
        telling = _fewest_telling(rows, len(ids))
    first = [rows[number]._replace(tells=True) for number in telling or ()]
    rest = [row for number, row in enumerate(rows) if number not in set(telling or ())]
    rows = [*first, *rest]
    if with_equal:
        named = {name for row in rows for name in (row.package, *row.packages)}
        for table in tables:
            rows += table.equal_rows(walker, ids[0], named)
            named |= table.names()
    return tuple(rows)


class _Table:
    """The closures of specs, one in each column, without what all of them have.

    The `part` is of what the specs link or run, or of all that they need to `build`, too.
    """

    def __init__(self, part: Part, walker: Walker, ids: Sequence[int]) -> None:
        self.part, self._graph, self._name = part, walker.graph, walker.name
        run_only, closures = part == "run", list[Collection[int]]()
        for id_ in ids:
            check_cancelled()
            closures.append(walker.closure(id_, run_only=run_only))
        self._common = frozenset(closures[0]).intersection(*closures)
        root = walker.name(ids[0])
        self.walks = [
            walker.walk(id_, run_only=run_only, name=root, left_out=self._common) for id_ in ids
        ]

    @cached_property
    def _common_nodes(self) -> Mapping[str, dict[int, None]]:
        """The specs of each package that are in all closures."""
        nodes = defaultdict[str, dict[int, None]](dict)
        for id_ in self._common:
            nodes[self._name(id_)][id_] = None
        return nodes

    def names(self) -> set[str]:
        """Return the packages in any of the closures."""
        return {*self._common_nodes}.union(*(walk.nodes for walk in self.walks))

    def _nodes(self, name: str) -> list[dict[int, None] | None]:
        """Return the specs of a package in each column, None where it has none.

        The specs that all columns have are left out if each has another one.
        """
        common = self._common_nodes.get(name, {})
        nodes = [walk.nodes.get(name, {}) for walk in self.walks]
        if not all(each.keys() - common.keys() for each in nodes):
            nodes = [{**each, **common} for each in nodes]
        return [each or None for each in nodes]

    def rows(self, values_of: Callable[[int], Attributes]) -> list[Difference]:
        """Return the rows that differ, in the order of causes.

        The roots' own come first, then the most depended on, then the nearest.
        """
        found = [*self._values(values_of), *self._providers()]
        parents: dict[str, dict[str, None]] = defaultdict(dict)
        for walk in self.walks:
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
            if attribute == "compiler" and self.part == "build":
                # In whole closures the compiler has rows of its own.
                stated = {
                    text.partition("=")[2].partition("@")[0] for c in cells for text in c or ()
                }
                for compiler in sorted(stated):
                    if "version" in own.get(compiler, ()):
                        return compiler
            return follows(attribute, own[name], is_lacking=() in cells)

        def order(row: Difference) -> tuple[object, ...]:
            # How many packages reach it, itself included.
            place = row.path[-1] if row.path else row.package
            count = len(nearest_first([place], lambda name: parents.get(name, ())))
            rank = RANKS.get(row.attribute, 0)
            return bool(row.path), -count, len(row.path), row.package, rank, row.attribute

        rows = (self._row(*each)._replace(follows=leader(*each)) for each in found)
        return sorted(rows, key=order)

    def _row(self, package: str, attribute: str, cells: Cells) -> Difference:
        """Return a row with the path to its package, or to the first provider of a virtual."""
        place = package
        if attribute == "provider":
            place = next(cell[0].partition("@")[0] for cell in cells if cell)
        path = next(walk for walk in self.walks if place in walk.nodes).path(place)
        part: Part = "own" if self.part == "run" and not path else self.part
        return Difference(part, package, attribute, cells, path, packages=(package,))

    def _values(self, values_of: Callable[[int], Attributes]) -> Iterator[Found]:
        """Yield the attributes of packages whose values differ, and packages that columns lack."""
        graph = self._graph
        for name in dict.fromkeys(chain.from_iterable(walk.nodes for walk in self.walks)):
            nodes = self._nodes(name)
            if all(each == nodes[0] for each in nodes):
                continue
            lacking = [walk for each, walk in zip(nodes, self.walks, strict=True) if each is None]
            # A package that no source describes is not a difference.
            if any(not walk.unknown for walk in lacking):
                yield name, "present", _cells(graph.version, nodes)
            absent = {id_ for each in nodes for id_ in each or () if not graph.is_described(id_)}
            if absent:
                # Only the hashes of absent specs are known.
                yield name, "hash", _cells(lambda id_: graph.hash(id_)[:SHORT_HASH], nodes)
            known = (() if each is None or absent & each.keys() else tuple(each) for each in nodes)
            for attribute, cells in compare_values(graph, [*known], values_of):
                yield name, attribute, cells

    def _providers(self) -> Iterator[Found]:
        """Yield the values of each virtual that different packages provide."""
        graph = self._graph
        providers: list[dict[str, set[int]]] = [defaultdict(set) for _ in self.walks]
        for of_walk, walk in zip(providers, self.walks, strict=True):
            for _, step in walk.steps:
                for virtual in step.kind.virtuals:
                    of_walk[virtual].add(step.id)
        for virtual in sorted(set().union(*providers)):
            every = [of_walk.get(virtual, ()) for of_walk in providers]
            if len({frozenset(map(graph.name, each)) for each in every if each}) > 1:
                cells = _cells(lambda id_: f"{graph.name(id_)}@{graph.version(id_)}", every)
                yield virtual, "provider", cells

    def edge_rows(self) -> Iterator[Difference]:
        """Yield rows of packages whose dependencies differ, though all packages are the same."""
        columns: list[dict[str, set[str]]] = [defaultdict(set) for _ in self.walks]
        for children, walk in zip(columns, self.walks, strict=True):
            for name, step in walk.steps:
                deptypes = step.kind.deptypes
                deptypes = deptypes if self.part == "build" else run_time_deptypes(deptypes)
                children[name].add(f"{step.name} ({', '.join(deptypes)})")
        for name in sorted(set().union(*columns)):
            sets = [children[name] for children in columns]
            same = set.intersection(*sets)
            if any(each != same for each in sets):
                yield self._row(name, "dependencies", tuple(tuple(sorted(s - same)) for s in sets))

    def equal_rows(
        self, walker: Walker, first: int, named: Collection[str]
    ) -> Iterator[Difference]:
        """Yield the versions of packages that all columns have, but those that are named."""
        whole = walker.walk(first, run_only=self.part == "run")
        for name, nodes in whole.nodes.items():
            path, version = whole.path(name), self._graph.version(min(nodes))
            if path and name not in named and all(self._nodes(name)):
                cells = ((version,) if version else UNKNOWN,) * len(self.walks)
                yield Difference(self.part, name, "version", cells, path)


def _cells(read: Callable[[int], str], columns: Iterable[Collection[int] | None]) -> Cells:
    """Return a text of each spec in each column, None for a column without any."""
    return tuple(_cell((read(id_),) for id_ in ids) if ids else None for ids in columns)


def _cell(values: Iterable[tuple[str, ...]]) -> Cell:
    """Return the values of the specs of one package; there are mostly one spec and one value."""
    distinct = {value for value in values if any(value)}
    if len(distinct) == 1:
        return distinct.pop()
    return tuple(sorted(",".join(value) for value in distinct))


def _folded(rows: Iterable[Difference]) -> list[Difference]:
    """Join rows of packages that have the same values: another os everywhere is one row."""
    folded: list[Difference] = []
    for row in map(_without_languages, rows):
        for number, other in enumerate(folded) if row.attribute in OF_MANY_PACKAGES else ():
            cells = list(zip(other.values, row.values, strict=True))
            is_alike = (row.attribute, row.follows) == (other.attribute, other.follows)
            is_alike &= (row.part == "build") == (other.part == "build")
            if is_alike and all(None in (a, b) or a == b for a, b in cells):
                values = tuple(b if a is None else a for a, b in cells)
                packages = (*other.packages, *row.packages)
                folded[number] = other._replace(values=values, packages=packages)
                break
        else:
            folded.append(row)
    return folded


def _without_languages(row: Difference) -> Difference:
    """Return the compilers alone if they compile the same languages in all columns."""
    cells = [cell for cell in row.values if cell]
    languages = {text.partition("=")[0] for cell in cells for text in cell}
    is_one_each = row.attribute == "compiler" and all(len(cell) == 1 for cell in cells)
    if not is_one_each or len(languages) > 1 or not all("=" in cell[0] for cell in cells):
        return row
    values = (cell and (cell[0].partition("=")[2],) for cell in row.values)
    return row._replace(values=tuple(values))


def _fewest_telling(rows: Sequence[Difference], columns: int) -> list[int] | None:
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
