"""What varies between groups of specs and all below them: rows with a value for each group."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache

from spackscope.model.analysis.dag import LISTED_BY_PAGES, Attributes, Dag, Walk, Walker, texts
from spackscope.model.core.columns import SHORT_HASH
from spackscope.model.core.errors import Cancelled
from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.core.records import LANGUAGES
from spackscope.model.core.tasks import ShouldStop, never

RUN_TIME = ("link", "run")
"""The deptypes of what is loaded or run with a spec, and fetched with it from a cache."""

CompilerLink = tuple[int, tuple[str, ...]]
"""A compiler, and the languages that a spec uses it for."""

_NOT_AT_RUN_TIME = frozenset(("package_hash", "namespace", "external_extra", "spec_format"))

Values = dict[str, tuple[str, ...]]
"""The values of a node by attribute; unset ones are left out."""


@lru_cache(None)
def run_time_deptypes(deptypes: tuple[str, ...]) -> tuple[str, ...]:
    """Return the deptypes of an edge that count at run time; empty for build-only edges."""
    return tuple(deptype for deptype in RUN_TIME if deptype in deptypes)


def run_time_values(attributes: Attributes) -> Values:
    """Return what counts of a node at run time: not its recipe, namespace or spec format."""
    values = all_values(attributes)
    return {name: value for name, value in values.items() if name not in _NOT_AT_RUN_TIME}


def all_values(attributes: Attributes) -> Values:
    """Return all attributes of a node as texts, without its dependencies."""
    return {name: texts(value) for name, value in attributes.items()}


@lru_cache(None)
def compiled_languages(virtuals: tuple[str, ...]) -> tuple[str, ...]:
    """Return the languages among the virtuals of an edge: those that a compiler is used for."""
    return tuple(language for language in LANGUAGES if language in virtuals)


def compiler_texts(graph: Dag, links: Iterable[CompilerLink]) -> tuple[str, ...]:
    """Return compilers with their languages, such as `c,cxx=gcc@12.1.0`."""
    languages: dict[str, list[str]] = defaultdict(list)
    for child, of_child in links:
        languages[f"{graph.name(child)}@{graph.version(child)}"] += of_child
    return tuple(
        f"{','.join(sorted(names))}={compiler}" for compiler, names in sorted(languages.items())
    )


def compilers(graph: Dag, id_: int) -> tuple[str, ...]:
    """Return the compilers among the dependencies of a spec.

    Before Spack 1.0 there are none: compilers were attributes.
    """
    links = ((child, compiled_languages(kind.virtuals)) for child, kind in graph.links(id_))
    return compiler_texts(graph, (link for link in links if link[1]))


Cell = tuple[str, ...] | None
"""The values of an attribute in one column: None without the package, empty if it is unset."""

_FOLDED = ("compiler", "platform", "os", "target", "namespace", "spec_format")
"""Attributes that are one row where many packages have the same values."""


class VaryingRow(Frozen):
    """An attribute of a package with its value in each column.

    `package` is the virtual of a `provider`, and `path` the packages from below the root to it.
    `is_run` if the values differ in what is linked or run, not only in what is built with.
    `follows` names the attribute or package that it normally changes with. `tells` is True for
    the fewest rows that tell all columns apart. `packages` are all packages with these values.
    """

    package: str
    path: tuple[str, ...]
    attribute: str
    values: tuple[Cell, ...]
    is_run: bool = True
    follows: str = ""
    tells: bool = False
    packages: tuple[str, ...] = ()


def fold(rows: Sequence[VaryingRow]) -> list[VaryingRow]:
    """Join rows of packages that have the same values: another os everywhere is one row."""
    folded: list[VaryingRow] = []
    for row in map(_without_languages, rows):
        for number, other in enumerate(folded) if row.attribute in _FOLDED else ():
            cells = list(zip(other.values, row.values, strict=True))
            is_alike = (row.attribute, row.is_run, row.follows) == (
                other.attribute,
                other.is_run,
                other.follows,
            )
            if is_alike and all(None in (a, b) or a == b for a, b in cells):
                values = tuple(b if a is None else a for a, b in cells)
                packages = (*other.packages, *row.packages)
                folded[number] = replace(other, values=values, packages=packages)
                break
        else:
            folded.append(row)
    return folded


def _without_languages(row: VaryingRow) -> VaryingRow:
    """Return the compilers alone if they compile the same languages in all columns."""
    cells = [cell for cell in row.values if cell]
    languages = {text.partition("=")[0] for cell in cells for text in cell}
    is_one_each = row.attribute == "compiler" and all(len(cell) == 1 for cell in cells)
    if not is_one_each or len(languages) > 1 or not all("=" in cell[0] for cell in cells):
        return row
    values = (cell and (cell[0].partition("=")[2],) for cell in row.values)
    return replace(row, values=tuple(values))


def fewest_telling(rows: Sequence[VaryingRow], columns: int) -> list[int] | None:
    """Return the numbers of the fewest rows that tell all columns apart.

    The rows are in tiers: what is run before what is built with, and what only follows from
    something else last. In a tier the row that splits most columns comes first. None if columns
    are left that no row tells apart.
    """
    telling: list[int] = []
    classes: list[tuple[Cell, ...]] = [()] * columns
    for tier in range(4):
        numbers = [n for n, row in enumerate(rows) if _tier(row) == tier]
        while len(set(classes)) < columns:
            gains = [
                (len(set(zip(classes, rows[number].values, strict=True))), -number)
                for number in numbers
            ]
            most, number = max(gains, default=(0, 0))
            if most <= len(set(classes)):
                break
            telling.append(-number)
            values = rows[-number].values
            classes = [(*each, value) for each, value in zip(classes, values, strict=True)]
    return telling if len(set(classes)) == columns else None


def _tier(row: VaryingRow) -> int:
    return 2 * bool(row.follows) + (not row.is_run)


_RANKS = {"version": -3, "provider": -2, "present": -1, "compiler": 1, "platform": 2, "os": 3}
_RANKS |= {"target": 4, "package_hash": 5, "namespace": 6}
"""The order of the attributes of a package; those that are not here are 0."""

_WITH_VERSION = ("package_hash", "patches", "namespace", "external", "external_extra")
"""Attributes that normally change with the version."""


def varying(
    graph: Dag,
    groups: Sequence[Sequence[int]],
    *,
    run_only: bool = False,
    should_stop: ShouldStop = never,
) -> tuple[VaryingRow, ...]:
    """Return what varies between groups of specs, each a column; what tells all apart first.

    With `run_only` each group is one run-time kind, of which the first spec stands for all, and
    only what makes the kind is compared. Raises Cancelled.

        varying(graph, [kind.ids for kind in run_kinds(graph, ids)], run_only=True)
    """
    walker, tables = Walker(graph), list[_Table]()
    for of_run in (True,) if run_only else (True, False):
        walks = []
        for ids in groups:
            if should_stop():
                raise Cancelled
            walks.append(walker.walk(ids[:1] if run_only else ids, run_only=of_run))
        tables.append(_Table(graph, walks, is_run=of_run, only_kinds=run_only))
    rows = tables[0].rows()
    known = {(row.package, row.attribute) for row in rows}
    for table in tables[1:]:
        rows += (row for row in table.rows() if (row.package, row.attribute) not in known)
    rows = fold(rows)
    telling = fewest_telling(rows, len(groups))
    is_known = not any(each.unknown for each in tables[-1].walks)
    if telling is None and is_known:
        for table in tables:
            rows += table.edge_rows()
        telling = fewest_telling(rows, len(groups))
    telling = telling or []
    first = [replace(rows[number], tells=True) for number in telling]
    rest = (row for number, row in enumerate(rows) if number not in telling)
    return (*first, *rest)


class _Table:
    """The rows of the linked and run closures of all columns, or of the whole closures.

    With `only_kinds` only values that make a run-time kind are compared.
    """

    def __init__(
        self, graph: Dag, walks: Sequence[Walk], *, is_run: bool, only_kinds: bool
    ) -> None:
        self.walks = walks
        self._graph, self._is_run, self._only_kinds = graph, is_run, only_kinds
        self._values: dict[int, Values] = {}

    def rows(self) -> list[VaryingRow]:
        """Return all rows in the order of causes."""
        rows: list[VaryingRow] = []
        for name in dict.fromkeys(name for walk in self.walks for name in walk.nodes):
            nodes = [walk.nodes.get(name) for walk in self.walks]
            if any(each != nodes[0] for each in nodes):
                rows += self._rows_of(name, nodes)
        rows += self._provider_rows()
        return sorted(self._with_follows(rows), key=self._order())

    def _rows_of(self, name: str, nodes: Sequence[set[int] | None]) -> Iterator[VaryingRow]:
        """Yield the rows of a package, given its specs in each column."""
        graph = self._graph
        if self._is_missing(nodes):
            versions = [
                None if each is None else _cell((graph.version(id_),) for id_ in each)
                for each in nodes
            ]
            yield self._row(name, "present", versions)
        absent = {id_ for each in nodes for id_ in each or () if not graph.is_described(id_)}
        if absent:
            # All that is known of them is the hash.
            yield self._row(name, "hash", [None if x is None else self._hashes(x) for x in nodes])
        values = [
            None if each is None or absent & each else [self._values_of(id_) for id_ in each]
            for each in nodes
        ]
        are_pages = [
            bool(each and each & walk.unknown)
            for each, walk in zip(nodes, self.walks, strict=True)
        ]
        for attribute in sorted({key for each in values for node in each or () for key in node}):
            is_listed = attribute in LISTED_BY_PAGES or attribute.startswith("variant:")
            cells = [
                None
                if each is None or (is_page and not is_listed)
                else _cell(node.get(attribute, ()) for node in each)
                for each, is_page in zip(values, are_pages, strict=True)
            ]
            if len(set(cells) - {None}) > 1:
                yield self._row(name, attribute, cells)

    def _is_missing(self, nodes: Sequence[set[int] | None]) -> bool:
        """Check whether a column is known not to have a package.

        A package that no source describes is not a difference.
        """
        never_described = set.intersection(*(walk.unknown for walk in self.walks))
        columns = zip(nodes, self.walks, strict=True)
        return any(each is None and walk.unknown <= never_described for each, walk in columns)

    def _row(self, package: str, attribute: str, cells: Iterable[Cell]) -> VaryingRow:
        return VaryingRow(package, (), attribute, tuple(cells), self._is_run, packages=(package,))

    def _hashes(self, ids: Iterable[int]) -> tuple[str, ...]:
        return tuple(sorted(hash_[:SHORT_HASH] for hash_ in self._graph.hashes(ids)))

    def _values_of(self, id_: int) -> Values:
        if id_ not in self._values:
            graph = self._graph
            read = run_time_values if self._only_kinds else all_values
            values = read(graph.attributes(id_))
            if languages := compilers(graph, id_):
                values["compiler"] = languages
            self._values[id_] = values
        return self._values[id_]

    def _provider_rows(self) -> Iterator[VaryingRow]:
        """Yield a row for each virtual that different packages provide."""
        graph = self._graph
        providers: list[dict[str, set[int]]] = []
        for walk_ in self.walks:
            providers.append(defaultdict(set))
            for _, step in walk_.steps:
                for virtual in step.kind.virtuals:
                    providers[-1][virtual].add(step.id)
        for virtual in sorted({virtual for each in providers for virtual in each}):
            names = [{graph.name(id_) for id_ in each.get(virtual, ())} for each in providers]
            if len({frozenset(each) for each in names if each}) > 1:
                cells = [
                    _cell((self._spelled(id_),) for id_ in each[virtual])
                    if virtual in each
                    else None
                    for each in providers
                ]
                yield self._row(virtual, "provider", cells)

    def _spelled(self, id_: int) -> str:
        return f"{self._graph.name(id_)}@{self._graph.version(id_)}"

    def _with_follows(self, rows: Sequence[VaryingRow]) -> list[VaryingRow]:
        """Return the rows, each with its path and what it follows."""
        own = {(row.package, row.attribute) for row in rows}
        changed = {row.package for row in rows}
        provided = {
            text.partition("@")[0]: row.package
            for row in rows
            if row.attribute == "provider"
            for cell in row.values
            for text in cell or ()
        }
        return [
            replace(
                row,
                path=self._path(row),
                follows=(provided.get(row.package) or self._needed_by(row, changed))
                if row.attribute == "present"
                else self._follows(row, own),
            )
            for row in rows
        ]

    def _follows(self, row: VaryingRow, own: set[tuple[str, str]]) -> str:
        """Return the attribute, or the package, that an attribute normally changes with."""
        is_new_variant = row.attribute.startswith("variant:") and () in row.values
        if (row.package, "version") in own and (row.attribute in _WITH_VERSION or is_new_variant):
            return "version"
        if row.attribute == "package_hash" and (row.package, "patches") in own:
            return "patches"
        if row.attribute == "compiler" and not self._is_run:
            # In whole closures the compiler has rows of its own.
            names = {
                text.partition("=")[2].partition("@")[0] for c in row.values for text in c or ()
            }
            return next((name for name in sorted(names) if (name, "version") in own), "")
        return ""

    def _path(self, row: VaryingRow) -> tuple[str, ...]:
        name = row.package
        if row.attribute == "provider":
            name = next(cell[0].partition("@")[0] for cell in row.values if cell)
        walk_ = next(walk_ for walk_ in self.walks if name in walk_.nodes)
        return walk_.path(self._graph, name)

    def _needed_by(self, row: VaryingRow, changed: set[str]) -> str:
        """Return a dependent that changed, which explains why a package is there or not.

        Empty if a dependent is otherwise the same in all columns.
        """
        parents: dict[str, None] = {}
        for walk_ in self.walks:
            parents |= walk_.parents.get(row.package, {})
        explaining = [name for name in parents if name in changed]
        return explaining[0] if explaining and len(explaining) == len(parents) else ""

    def edge_rows(self) -> Iterator[VaryingRow]:
        """Yield rows of packages whose dependencies differ, though all packages are the same."""
        columns = []
        for walk_ in self.walks:
            children: dict[str, set[str]] = defaultdict(set)
            for name, step in walk_.steps:
                deptypes = step.kind.deptypes
                deptypes = run_time_deptypes(deptypes) if self._is_run else deptypes
                children[name].add(f"{step.name} ({', '.join(deptypes)})")
            columns.append(children)
        for name in sorted({name for children in columns for name in children}):
            sets = [children.get(name, set()) for children in columns]
            same = set.intersection(*sets)
            if any(each != same for each in sets):
                cells = (tuple(sorted(each - same)) for each in sets)
                row = self._row(name, "dependencies", cells)
                yield replace(row, path=self._path(row))

    def _order(self) -> Callable[[VaryingRow], tuple[object, ...]]:
        """Return a key: the root's own first, then what most depends on, then the nearest."""
        parents: dict[str, set[str]] = defaultdict(set)
        for walk_ in self.walks:
            for name, above in walk_.parents.items():
                parents[name].update(above)

        @lru_cache(None)
        def count_above(name: str) -> int:
            reached, frontier = {name}, {name}
            while frontier:
                frontier = set().union(*map(parents.__getitem__, frontier)) - reached
                reached |= frontier
            return len(reached)

        def key(row: VaryingRow) -> tuple[object, ...]:
            above = count_above(row.path[-1] if row.path else row.package)
            rank = _RANKS.get(row.attribute, 0)
            return bool(row.path), -above, len(row.path), row.package, rank, row.attribute

        return key


def _cell(values: Iterable[tuple[str, ...]]) -> Cell:
    """Return the values of the specs of one package; there are mostly one spec and one value."""
    distinct = {value for value in values if any(value)}
    if len(distinct) == 1:
        return distinct.pop()
    return tuple(sorted(",".join(value) for value in distinct))
