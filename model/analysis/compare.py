"""Compare specs with all below them: what differs by itself, where, and what follows."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property, lru_cache, partial, reduce
from itertools import islice
from operator import or_
from typing import Any, NamedTuple

from spackscope.model.analysis.dag import Attributes, Dag, Walk, Walker, post_order
from spackscope.model.catalog.dependency_graph import Edge, EdgeKind
from spackscope.model.core.columns import SHORT_HASH
from spackscope.model.core.errors import Cancelled
from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.core.records import LANGUAGES, is_run
from spackscope.model.core.tasks import ShouldStop, never
from spackscope.model.core.versions import version_key


class EdgeKey(NamedTuple):
    """The key by which an edge is matched: mostly the name alone.

    Several edges of a node to one name are told apart as link or run against build only, and
    then by their order.
    """

    name: str
    runs: bool = True
    number: int = 0


def match_edges(graph: Dag, *nodes: int) -> tuple[dict[EdgeKey, Edge], dict[EdgeKey, Edge]]:
    """Return the edges of two nodes by their keys: edges to be compared have the same key.

    A spliced spec lists no build dependencies, so that they are not compared with it.
    """
    is_spliced = any(map(graph.build_spec, nodes))
    a, b = (_run_edges(graph.edges(id_)) if is_spliced else graph.edges(id_) for id_ in nodes)
    names_a, names_b = ([graph.name(edge.child) for edge in edges] for edges in (a, b))
    repeated = _repeated(names_a) | _repeated(names_b)
    return _by_key(names_a, a, repeated), _by_key(names_b, b, repeated)


def common_edges(graph: Dag, a: int, b: int) -> Iterator[tuple[EdgeKey, Edge, Edge]]:
    """Yield the edges that two nodes have to dependencies of one name."""
    edges_a, edges_b = match_edges(graph, a, b)
    return ((key, edge, edges_b[key]) for key, edge in edges_a.items() if key in edges_b)


def _run_edges(edges: Sequence[Edge]) -> list[Edge]:
    """Return the link and run edges, with these deptypes alone."""
    runs = (edge for edge in edges if is_run(edge.deptypes))
    return [
        replace(edge, deptypes=tuple(d for d in edge.deptypes if is_run([d]))) for edge in runs
    ]


def _repeated(names: Sequence[str]) -> set[str]:
    if len(set(names)) == len(names):
        return set()
    return {name for name, count in Counter(names).items() if count > 1}


def _by_key(
    names: Sequence[str], edges: Sequence[Edge], repeated: set[str]
) -> dict[EdgeKey, Edge]:
    by_key: dict[EdgeKey, Edge] = {}
    counts: Counter[tuple[str, bool]] = Counter()
    for name, edge in zip(names, edges, strict=True):
        key = EdgeKey(name)
        if name in repeated:
            runs = is_run(edge.deptypes)
            key = EdgeKey(name, runs, counts[name, runs])
            counts[name, runs] += 1
        by_key[key] = edge
    return by_key


Value = str | bool | tuple[str, ...] | None
"""The value of an attribute; None if the node has none."""

_LANGUAGES = frozenset(LANGUAGES)
_MAX_PROVIDERS = 1000
"""Providers of two nodes; real ones have a few."""
_RUNTIMES = frozenset(("gcc-runtime", "intel-oneapi-runtime", "compiler-wrapper"))
_LIBCS = frozenset(("glibc", "musl"))
_COME_WITH_VERSION = frozenset(
    ("package_hash", "patches", "external", "external_module", "external_extra")
)
LISTED_BY_PAGES = frozenset(("package", "version", "platform", "os", "target"))
"""Attributes that a source without dependencies lists, besides the variants."""


class Difference(Frozen):
    """An attribute whose values differ between two nodes, `a` and `b`.

    `attribute` is the name of a field, such as `version` or `package_hash`, `variant:NAME`, or
    the name of compiler flags. `dependency` is a dependency of one node only, `provider` two
    that provide the same `virtuals`, one for each node; `deptypes` and `virtuals` are those of
    the edge to a `dependency` of both. `deptypes` of a dependency or a provider are its own.

    `follows` is the attribute of the same node that this difference normally comes with, or "".
    """

    attribute: str
    a: Value
    b: Value
    follows: str = ""
    dependency: str = ""
    virtuals: tuple[str, ...] = ()
    deptypes: tuple[str, ...] = ()


def own_differences(graph: Dag, a: int, b: int) -> tuple[Difference, ...]:
    """Return the differences between the own configurations of two described nodes.

    First those of attributes by name, then of dependencies that both have, of providers, and of
    dependencies that only `a` or only `b` has. What a source does not list is not a difference.
    """
    listed = graph.lists_dependencies(a), graph.lists_dependencies(b)
    differences = []
    if graph.configuration(a) != graph.configuration(b):
        own = graph.attributes(a), graph.attributes(b)
        values_a, values_b = map(attribute_values, own)
        lists_a, lists_b = ({f"variant:{name}" for name in each.lists} for each in own)
        differences = [
            Difference(name, _stored(name, values_a, lists_a), _stored(name, values_b, lists_b))
            for name in sorted(values_a.keys() | values_b.keys())
            if values_a.get(name) != values_b.get(name)
            and (all(listed) or _is_listed(name, values_a, values_b, listed))
        ]
    if all(listed):
        differences += _edge_differences(graph, a, b)
    if len(differences) < 2:
        return tuple(differences)
    names = _Names.of(differences)
    return tuple(replace(item, follows=names.followed_by(item)) for item in differences)


def attribute_values(attributes: Attributes) -> dict[str, Value]:
    """Return the attributes of a node that have a value, by the names that differences use."""
    modules = ", ".join(attributes.external_modules)
    values: dict[str, Value] = {
        "package": attributes.package,
        "version": attributes.version,
        "namespace": attributes.namespace,
        "package_hash": attributes.package_hash,
        "patches": attributes.patches,
        "platform": attributes.platform,
        "os": attributes.os,
        "target": attributes.target,
        # Without a prefix it is the modules.
        "external": "" if attributes.external == modules else attributes.external,
        "external_module": attributes.external_modules,
        "external_extra": attributes.external_attributes,
        "compiler": attributes.compiler,
        "spec_format": str(attributes.spec_format or ""),
    }
    values |= attributes.flags
    values |= {f"variant:{name}": variant_value(its) for name, its in attributes.variants.items()}
    return {name: value for name, value in values.items() if value not in ("", ())}


def variant_value(values: tuple[str, ...]) -> Value:
    """Return the value of a variant: True or False, one text, or several in their order."""
    if len(values) != 1:
        return values
    return values[0] == "+" if values[0] in ("+", "~") else values[0]


def _stored(name: str, values: Mapping[str, Value], lists: Set[str]) -> Value:
    """Return a value as the document has it: of a list with one text a tuple."""
    value = values.get(name)
    return (value,) if name in lists and isinstance(value, str) else value


def _is_listed(
    name: str,
    a: Mapping[str, Value],
    b: Mapping[str, Value],
    listed: tuple[bool, bool],
) -> bool:
    """Check whether two sources both list an attribute, where one lists no dependencies."""
    if name in LISTED_BY_PAGES or name.startswith("variant:"):
        return True
    if name == "compiler":
        # Pages list the compiler of a Spack 1.0 spec; other sources list a dependency instead.
        return name in a and name in b
    return all(is_whole or name in values for values, is_whole in zip((a, b), listed, strict=True))


def _edge_differences(graph: Dag, a: int, b: int) -> Iterator[Difference]:
    edges_a, edges_b = match_edges(graph, a, b)
    for key, edge in edges_a.items():
        if key in edges_b:
            yield from _differences_of_edge(key.name, edge, edges_b[key])
    only_a = {key: edges_a[key] for key in sorted(edges_a.keys() - edges_b.keys())}
    only_b = {key: edges_b[key] for key in sorted(edges_b.keys() - edges_a.keys())}
    provided: set[EdgeKey] = set()
    for key_a, key_b, virtuals in islice(_providers(only_a, only_b), _MAX_PROVIDERS):
        provided |= {key_a, key_b}
        yield Difference(
            "provider",
            _label(graph, only_a[key_a].child),
            _label(graph, only_b[key_b].child),
            virtuals=virtuals,
            deptypes=only_a[key_a].deptypes,
        )
    for edges, is_a in ((only_a, True), (only_b, False)):
        for key, edge in edges.items():
            if key not in provided:
                label = _label(graph, edge.child)
                yield Difference(
                    "dependency",
                    label if is_a else None,
                    None if is_a else label,
                    dependency=key.name,
                    virtuals=edge.virtuals,
                    deptypes=edge.deptypes,
                )


def _providers(
    a: Mapping[EdgeKey, Edge], b: Mapping[EdgeKey, Edge]
) -> Iterator[tuple[EdgeKey, EdgeKey, tuple[str, ...]]]:
    """Yield pairs of edges, one of each node, that give the same virtuals."""
    providing = {key: edge for key, edge in b.items() if edge.virtuals}
    for key_a, edge_a in a.items():
        for key_b, edge_b in providing.items() if edge_a.virtuals else ():
            virtuals = tuple(item for item in edge_a.virtuals if item in edge_b.virtuals)
            if virtuals and key_a.name != key_b.name:
                yield key_a, key_b, virtuals


def _differences_of_edge(name: str, a: Edge, b: Edge) -> Iterator[Difference]:
    if a.deptypes != b.deptypes:
        yield Difference("deptypes", a.deptypes, b.deptypes, dependency=name)
    if a.virtuals != b.virtuals:
        yield Difference("virtuals", a.virtuals, b.virtuals, dependency=name)


def _label(graph: Dag, id_: int) -> str:
    version = graph.attributes(id_).version if graph.is_described(id_) else ""
    return f"{graph.name(id_)}@{version}" if version else graph.name(id_)


class _Names(NamedTuple):
    """The attributes in which two nodes differ, as far as others follow from them."""

    has_version: bool
    has_format: bool
    has_patches: bool
    has_recipe: bool
    toolchain: str
    variant: str

    @classmethod
    def of(cls, differences: Sequence[Difference]) -> _Names:
        """Return the names in the differences of a node, which are in the order of their names."""
        names = [item.attribute for item in differences]
        toolchain = next((name for name in ("platform", "compiler") if name in names), "")
        if not toolchain and any(
            item.attribute == "provider" and not _LANGUAGES.isdisjoint(item.virtuals)
            for item in differences
        ):
            toolchain = "provider"
        return cls(
            "version" in names,
            "spec_format" in names,
            "patches" in names,
            "package_hash" in names,
            toolchain,
            next((name for name in names if name.startswith("variant:")), ""),
        )

    def followed_by(self, difference: Difference) -> str:
        """Return the attribute that a difference normally comes with, or ""."""
        name = difference.attribute
        if difference.dependency:
            return self._followed_by_dependency(difference)
        is_conditional = name.startswith("variant:") and None in (difference.a, difference.b)
        if self.has_version and (name in _COME_WITH_VERSION or is_conditional):
            return "version"
        if self.has_format and name == "compiler":
            return "spec_format"
        return "patches" if name == "package_hash" and self.has_patches else ""

    def _followed_by_dependency(self, difference: Difference) -> str:
        name = difference.dependency
        is_runtime = name in _RUNTIMES or name in _LIBCS or "libc" in difference.virtuals
        if self.has_format and (is_runtime or not _LANGUAGES.isdisjoint(difference.virtuals)):
            return "spec_format"
        if is_runtime and self.toolchain:
            return self.toolchain
        if self.has_version:
            return "version"
        return self.variant or ("package_hash" if self.has_recipe else "")


OF_EDGES = frozenset(("dependency", "deptypes", "virtuals"))
"""Attributes of the dependencies that a node has."""

_OF_ANY_PACKAGE = OF_EDGES | {
    *("os", "target", "platform", "compiler", "spec_format", "provider", "namespace"),
}
"""Attributes whose equal differences are one, whatever the packages."""


class Change(NamedTuple):
    """A difference in a package; `package` is empty where it may be any package."""

    package: str
    difference: Difference

    @classmethod
    def of(cls, package: str, difference: Difference) -> Change:
        """Convert one difference of a node to a change."""
        plain = replace(
            difference,
            follows="",
            deptypes=(),
            virtuals=difference.virtuals if difference.attribute == "provider" else (),
        )
        return cls("" if difference.attribute in _OF_ANY_PACKAGE else package, plain)

    @property
    def ordered(self) -> Change:
        """The change with the lower value first, so that it is equal in both directions."""
        a, b = self.difference.a, self.difference.b
        if _order(self.difference.attribute, a) <= _order(self.difference.attribute, b):
            return self
        return self._replace(difference=replace(self.difference, a=b, b=a))


def changes_of(package: str, differences: Sequence[Difference]) -> tuple[Change, ...]:
    """Convert the differences of a node to changes.

    Differences that follow others are left out, unless all do.
    """
    chosen = [difference for difference in differences if not difference.follows]
    return tuple(Change.of(package, difference) for difference in chosen or differences)


def _order(attribute: str, value: Value) -> tuple[Any, ...]:
    if isinstance(value, str):
        return 1, version_key(value) if attribute == "version" else (), value
    return 0, (), str(value)


MAX_PAIRS = 5_000
"""Pairs of one comparison; two real specs have some hundred."""

MAX_DEPTH = 250
"""Levels of dependencies that are compared; real specs have some thirty."""

MAX_LINKS = 200_000
"""Dependencies of all pairs of one comparison, which damaged documents may repeat at each."""


class NodePair(NamedTuple):
    """The ids of two nodes with different hashes."""

    a: int
    b: int


class _Child(NamedTuple):
    name: str
    number: int
    runs: bool
    compiles: bool


class PairWalk(Frozen):
    """The pairs of nodes below two specs, the nearest first; the first is the two specs.

    Pairs are named by their numbers. `parents` has for each but the first the pair through which
    it was found, and `names` the name of the dependency that leads to it. `is_cut` if there are
    more than MAX_PAIRS, or more than MAX_DEPTH levels.
    """

    pairs: Sequence[NodePair]
    parents: Sequence[int]
    names: Sequence[str]
    children: Sequence[Sequence[_Child]]
    is_cut: bool = False

    def path(self, number: int) -> tuple[str, ...]:
        """Return the names on a shortest path from the specs down to a pair, its own last."""
        return self._path(number, self.parents)

    def run_path(self, number: int) -> tuple[str, ...]:
        """Return a shortest path over edges of type link or run; empty if there is none."""
        return self._path(number, self.run_parents) if number in self.run_parents else ()

    def _path(self, number: int, parents: Sequence[int] | Mapping[int, int]) -> tuple[str, ...]:
        path: list[str] = []
        while number:
            path.append(self.names[number])
            number = parents[number]
        return tuple(reversed(path))

    @cached_property
    def run_parents(self) -> Mapping[int, int]:
        """For the pairs that edges of type link or run lead to, and the first, the one above."""
        parents, queue = {0: 0}, deque([0])
        while queue:
            number = queue.popleft()
            for child in self.children[number]:
                if child.runs and child.number not in parents:
                    parents[child.number] = number
                    queue.append(child.number)
        return parents

    @cached_property
    def compiling(self) -> frozenset[int]:
        """The pairs that compile what is linked or run."""
        return frozenset(
            child.number
            for number in self.run_parents
            for child in self.children[number]
            if child.compiles
        )

    @cached_property
    def top_down(self) -> Sequence[int]:
        """The pairs in an order in which each comes before those below it.

        Damaged documents may have cycles, whose pairs are in any order.
        """
        bottom_up = post_order([0], lambda number: [c.number for c in self.children[number]])
        return [*bottom_up][::-1]

    @cached_property
    def above(self) -> Sequence[int]:
        """The number of pairs that reach each pair, itself included."""
        # The pairs above each, as the bits of a number: sets would take a hundred times the room.
        masks = [1 << number for number in range(len(self.pairs))]
        for number in self.top_down:
            for child in self.children[number]:
                masks[child.number] |= masks[number]
        return [mask.bit_count() for mask in masks]

    def have_below(self, marked: Sequence[bool]) -> Sequence[bool]:
        """Return for each pair whether one of the marked pairs is below it."""
        result = [False] * len(self.pairs)
        for number in reversed(self.top_down):
            result[number] = any(
                marked[child.number] or result[child.number] for child in self.children[number]
            )
        return result


def walk_pairs(
    graph: Dag,
    a: int,
    b: int,
    children_of: Callable[[int, int], Sequence[PairBelow]],
    *,
    should_stop: ShouldStop = never,
) -> PairWalk:
    """Pair the nodes below two specs with different hashes.

    Children are matched by name under matched parents, as `differing_children` does, and not
    entered where their hashes are equal. Raises Cancelled.
    """
    numbers = {NodePair(graph.identity(a), graph.identity(b)): 0}
    pairs, parents, names = [NodePair(a, b)], [0], [""]
    children: list[list[_Child]] = []
    queue = deque([(pairs[0], 1)])  # with the depth of what is below
    is_cut, links = False, 0
    while queue:
        if should_stop():
            raise Cancelled
        of_pair: list[_Child] = []
        pair, depth = queue.popleft()
        below = children_of(*pair) if links < MAX_LINKS else ()
        links += len(below)
        is_cut |= links >= MAX_LINKS
        for name, pair, runs, compiles in below:
            key = NodePair(graph.identity(pair.a), graph.identity(pair.b))
            if (number := numbers.get(key)) is None:
                if len(pairs) == MAX_PAIRS or depth > MAX_DEPTH:
                    is_cut = True
                    continue
                number = numbers[key] = len(pairs)
                pairs.append(pair)
                parents.append(len(children))
                names.append(name)
                queue.append((pair, depth + 1))
            of_pair.append(_Child(name, number, runs, compiles))
        children.append(of_pair)
    return PairWalk(pairs, parents, names, children, is_cut)


class PairBelow(NamedTuple):
    """The dependencies of two nodes on one name; they run, or compile, if either does."""

    name: str
    pair: NodePair
    runs: bool
    compiles: bool


def differing_children(graph: Dag, a: int, b: int) -> list[PairBelow]:
    """Return the dependencies of two nodes that differ, in pairs by name."""
    differing = []
    for key, edge, other in common_edges(graph, a, b):
        if graph.identity(edge.child) != graph.identity(other.child):
            runs = is_run(edge.deptypes) or is_run(other.deptypes)
            compiles = not _LANGUAGES.isdisjoint((*edge.virtuals, *other.virtuals))
            below = NodePair(edge.child, other.child)
            differing.append(PairBelow(key.name, below, runs, compiles))
    return sorted(differing)


__all__ = ["Cause", "Comparison", "Difference", "Value", "compare"]

COMPILERS_OF_RUNTIMES = {
    "gcc-runtime": "gcc",
    "intel-oneapi-runtime": "intel-oneapi-compilers",
}


_MAX_KEPT = 2**16
"""Pairs of nodes that are kept to be read once."""


class Cause(Frozen):
    """Two nodes whose own configurations differ, at the same place below two specs.

    `path` has the names from the specs, which are not in it, down to these nodes; `a` and `b` are
    their ids. It `runs` if either is linked or run, rather than used for building only. The
    `deepest` causes have no other cause below them. `above` counts the differing pairs that reach
    this one, itself included. It `follows` a compiler below it if it is the compiler's runtime,
    and `compiles` if it is a compiler of something that is linked or run. `run_path` is a path
    over what is linked or run only; it may be longer than `path`.
    """

    package: str
    path: tuple[str, ...]
    a: int
    b: int
    run: bool
    deepest: bool
    above: int
    differences: tuple[Difference, ...]
    follows: str = ""
    compiles: bool = False
    run_path: tuple[str, ...] = ()


class Replaced(NamedTuple):
    """A dependency in place of another one of its name in a spliced spec, by their hashes."""

    package: str
    a: str
    b: str


class Comparison(Frozen):
    """How two specs differ, and the causes with the first one for people first.

    `pairs` counts the pairs of nodes with different hashes, 0 if the specs have the same hash.
    `unexplained` names packages whose hashes differ, though no document says why. Unless
    `lists_dependencies`, a source of the specs does not, and there may be more causes.
    `is_cut` if there are more pairs than are compared. `replaced` is what two specs of one build
    have in place of one another, if one is spliced or both are.
    """

    causes: tuple[Cause, ...] = ()
    pairs: int = 0
    unexplained: tuple[str, ...] = ()
    lists_dependencies: bool = True
    is_cut: bool = False
    replaced: tuple[Replaced, ...] = ()


def compare(graph: Dag, a: int, b: int, *, should_stop: ShouldStop = never) -> Comparison:
    """Compare two specs with all below them.

    Causes are in this order: the differences of the specs themselves; what is linked or run
    before what is used for building only; what most depends on; the nearest; by name. Raises
    IndexDamaged and Cancelled.

        first = compare(dag_of(catalog), a, b).causes[0]
        first.path  # ('mpich', 'libxml2', 'libiconv')
    """
    return Comparer(graph).compare(a, b, should_stop=should_stop)


class Comparer:
    """Compares many specs of a graph, reading each pair of nodes below them once."""

    def __init__(self, graph: Dag) -> None:
        self._graph = graph
        self._own_differences = lru_cache(_MAX_KEPT)(partial(own_differences, graph))
        self._children = lru_cache(_MAX_KEPT)(partial(differing_children, graph))
        self.steps = 0
        """Pairs of nodes that all comparisons have walked, and the dependencies of these."""

    def compare(self, a: int, b: int, *, should_stop: ShouldStop = never) -> Comparison:
        """Compare two specs: see the function of this name."""
        graph = self._graph
        listed = graph.lists_dependencies(a) and graph.lists_dependencies(b)
        if graph.identity(a) == graph.identity(b):
            return Comparison(lists_dependencies=listed)
        walk = walk_pairs(graph, a, b, self._children, should_stop=should_stop)
        self.steps += len(walk.pairs) + sum(map(len, walk.children))
        differences: dict[int, tuple[Difference, ...]] = {}
        unexplained: dict[str, None] = {}
        for number, pair in enumerate(walk.pairs):
            if should_stop():
                raise Cancelled
            is_described = all(map(graph.is_described, pair))
            if is_described and (of_pair := self._own_differences(*pair)):
                differences[number] = of_pair
            elif not walk.children[number] and not _are_one_build(graph, *pair):
                unexplained[graph.name(pair.a)] = None
        causes = sorted(_causes(graph, walk, differences), key=_rank)
        return Comparison(
            tuple(causes),
            len(walk.pairs),
            tuple(unexplained),
            listed,
            is_cut=walk.is_cut,
            replaced=_replaced(graph, walk) if any(map(graph.build_spec, (a, b))) else (),
        )


def _causes(
    graph: Dag, walk: PairWalk, differences: dict[int, tuple[Difference, ...]]
) -> list[Cause]:
    have_below = walk.have_below([number in differences for number in range(len(walk.pairs))])
    causes = []
    for number, of_pair in differences.items():
        name = graph.name(walk.pairs[number].a)
        compiler = COMPILERS_OF_RUNTIMES.get(name)
        below = {child.name for child in walk.children[number]}
        causes.append(
            Cause(
                name,
                walk.path(number),
                *walk.pairs[number],
                number in walk.run_parents,
                not have_below[number],
                walk.above[number],
                of_pair,
                compiler if compiler in below else "",
                number in walk.compiling,
                walk.run_path(number),
            )
        )
    return causes


def _are_one_build(graph: Dag, a: int, b: int) -> bool:
    """Check whether specs with different hashes were built as one, and then spliced."""
    built_as = graph.build_spec(a), graph.build_spec(b)
    if not any(built_as):
        return False
    first, second = (x or y for x, y in zip(built_as, graph.hashes((a, b)), strict=True))
    return first == second


def _replaced(graph: Dag, walk: PairWalk) -> tuple[Replaced, ...]:
    """Return the nearest pairs of nodes that are not of one build, below specs that are."""
    replaced, below_one_build = [], {0}
    for number in walk.top_down:
        if number not in below_one_build:
            continue
        pair = walk.pairs[number]
        if _are_one_build(graph, *pair):
            below_one_build.update(child.number for child in walk.children[number])
        elif number:
            replaced.append(Replaced(graph.name(pair.a), *graph.hashes(pair)))
    return tuple(sorted(replaced))


def _rank(cause: Cause) -> tuple[bool, bool, int, int, str]:
    return bool(cause.path), not cause.run, -cause.above, len(cause.path), cause.package


class FoldedDifference(Frozen):
    """A difference with all causes that have it, the first one first.

    `difference` is that of the first. `package` is empty for attributes that packages share, such
    as the os, and for a dependency that several packages lack.
    """

    difference: Difference
    package: str
    causes: tuple[Cause, ...]

    @property
    def nodes(self) -> int:
        """The number of nodes that differ so."""
        return len(self.causes)

    @property
    def run(self) -> bool:
        """Whether what is linked or run differs by it, not only what builds that.

        The version of a compiler counts, which what it compiled depends on.
        """
        if _is_of_build(self.difference):
            return False
        counts = self.difference.attribute == "version"
        return any(cause.run or (cause.compiles and counts) for cause in self.causes)

    @property
    def packages(self) -> tuple[str, ...]:
        """The packages of the nodes, each once."""
        return tuple(dict.fromkeys(cause.package for cause in self.causes))


def fold_differences(causes: Iterable[Cause]) -> tuple[FoldedDifference, ...]:
    """Return the differences that follow from no other, in the order of their first causes."""
    folded: dict[Change, list[tuple[Difference, Cause]]] = {}
    for cause in causes:
        if not cause.follows:
            for difference in cause.differences:
                if not difference.follows:
                    change = Change.of(cause.package, difference)
                    folded.setdefault(change, []).append((difference, cause))
    return tuple(
        FoldedDifference(
            items[0][0],
            change.package or _only_package(change, items),
            tuple(cause for _, cause in items),
        )
        for change, items in folded.items()
    )


def _is_of_build(difference: Difference) -> bool:
    """Check whether a node differs only in dependencies that are needed to build it."""
    if difference.attribute == "dependency":
        return not is_run(difference.deptypes)
    if difference.attribute == "deptypes":
        a, b = (
            [deptype for deptype in deptypes if is_run([deptype])]
            for deptypes in (difference.a, difference.b)
            if isinstance(deptypes, tuple)
        )
        return a == b
    return False


def _only_package(change: Change, items: list[tuple[Difference, Cause]]) -> str:
    is_of_edge = change.difference.attribute in OF_EDGES
    return items[0][1].package if is_of_edge and len(items) == 1 else ""


UNEXPLAINED = 1
"""The bit of differences that the sources do not tell."""

MAX_PAIRS_OF_ALL = 300_000
"""Pairs of one search; two caches of 60,000 specs have a third of that."""

_MAX_CHANGE_SETS = 10_000
_PAIRS_BETWEEN_CHECKS = 256


class PairChange(NamedTuple):
    """The changes of a pair as the bits of numbers: `own` of its two specs, and with those below.

    The first bit is UNEXPLAINED; each other stands for one of `PairChanges.change_sets`.
    """

    own: int
    total: int


class _PairBelow(NamedTuple):
    """A pair of dependencies of the same name, by their ids and by their identities."""

    name: str
    pair: NodePair
    key: NodePair


class _Shape(NamedTuple):
    """A number for the edges of a spec without their ends, and the ends in the same order."""

    edges: int
    children: tuple[int, ...]


class PairChanges:
    """Finds the changes of pairs of specs, and of all pairs below them.

    What changes in a package is one change set, and so is each change that any package may have,
    such as that of the os. `change_sets` has those that were found. What is below more than
    `max_pairs` pairs is UNEXPLAINED, and so are changes after very many others.
    """

    def __init__(
        self, graph: Dag, *, max_pairs: int = MAX_PAIRS_OF_ALL, should_stop: ShouldStop = never
    ) -> None:
        self.change_sets: list[tuple[Change, ...]] = []
        self._graph, self._max_pairs, self._should_stop = graph, max_pairs, should_stop
        self._numbers: dict[tuple[Change, ...], int] = {}
        self._found: dict[NodePair, PairChange] = {}
        self._kinds: dict[tuple[tuple[str, EdgeKind], ...], int] = {}
        self._shape = lru_cache(None)(self._read_shape)

    def find(self, a: int, b: int) -> PairChange:
        """Return the changes between two specs with different hashes. Raises Cancelled."""
        first = self._key(a, b)
        entered: set[NodePair] = set()
        stack = [] if first in self._found else [(first, NodePair(a, b), self._children(a, b))]
        while stack:
            key, pair, children = stack[-1]
            if key not in entered:
                # In a cycle, which only damaged documents have, a pair is entered once.
                entered.add(key)
                stack += [
                    (its, child, self._children(*child))
                    for _, child, its in children
                    if its not in self._found and its not in entered
                ]
            else:
                if key not in self._found:
                    self._add(key, pair, children)
                stack.pop()
        return self._found[first]

    @property
    def _is_full(self) -> bool:
        return len(self._found) >= self._max_pairs

    def _key(self, a: int, b: int) -> NodePair:
        return NodePair(self._graph.identity(a), self._graph.identity(b))

    def _add(self, key: NodePair, pair: NodePair, children: Sequence[_PairBelow]) -> None:
        own = self._own(pair, [child.name for child in children])
        total = own
        for child in children:
            below = self._found.get(child.key)
            total |= below.total if below is not None else 0
        if self._is_full:
            total |= UNEXPLAINED
        if not total:
            own = total = UNEXPLAINED
        self._found[key] = PairChange(own, total)
        if len(self._found) % _PAIRS_BETWEEN_CHECKS == 0 and self._should_stop():
            raise Cancelled

    def _own(self, pair: NodePair, children: Sequence[str]) -> int:
        graph = self._graph
        if not all(map(graph.is_described, pair)):
            return UNEXPLAINED
        name = graph.name(pair.a)
        if self._are_alike(pair) or COMPILERS_OF_RUNTIMES.get(name) in children:
            return 0
        differences = own_differences(graph, *pair)
        # Two edges to one name may differ alike.
        changes = dict.fromkeys(changes_of(name, differences))
        own = tuple(change for change in changes if change.package)
        sets = [*([own] if own else []), *((change,) for change in changes if not change.package)]
        return reduce(or_, map(self._bit, sets), 0)

    def _are_alike(self, pair: NodePair) -> bool:
        """Check quickly whether two specs have no own differences."""
        a, b = pair
        if self._graph.configuration(a) != self._graph.configuration(b):
            return False
        return self._shape(a).edges == self._shape(b).edges

    def _bit(self, change_set: tuple[Change, ...]) -> int:
        number = self._numbers.get(change_set)
        if number is None:
            if len(self.change_sets) == _MAX_CHANGE_SETS:
                return UNEXPLAINED
            number = self._numbers[change_set] = len(self.change_sets)
            self.change_sets.append(change_set)
        return UNEXPLAINED << (number + 1)

    def _children(self, a: int, b: int) -> list[_PairBelow]:
        """Return the pairs of dependencies with different hashes, with their names."""
        if self._is_full:
            return []
        graph = self._graph
        shape_a, shape_b = self._shape(a), self._shape(b)
        if shape_a.edges == shape_b.edges:
            pairs = list(map(NodePair, shape_a.children, shape_b.children))
        else:
            edges = common_edges(graph, a, b)
            pairs = [NodePair(edge.child, other.child) for _, edge, other in edges]
        keys = ((pair, self._key(*pair)) for pair in pairs)
        return [_PairBelow(graph.name(pair.a), pair, key) for pair, key in keys if key.a != key.b]

    def _read_shape(self, id_: int) -> _Shape:
        links = list(self._graph.links(id_))
        kinds = tuple((self._graph.name(child), kind) for child, kind in links)
        number = self._kinds.setdefault(kinds, len(self._kinds))
        return _Shape(number, tuple(child for child, _ in links))


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
    return {name: _texts(value) for name, value in attribute_values(attributes).items()}


def _texts(value: Value) -> tuple[str, ...]:
    if isinstance(value, bool):
        return ("+",) if value else ("~",)
    return (value,) if isinstance(value, str) else value or ()


@lru_cache(None)
def compiled_languages(virtuals: tuple[str, ...]) -> tuple[str, ...]:
    """Return the languages among the virtuals of an edge: those that a compiler is used for."""
    return tuple(language for language in LANGUAGES if language in virtuals)


def compiler_texts(graph: Dag, links: Iterable[CompilerLink]) -> tuple[str, ...]:
    """Return compilers with their languages, such as `c,cxx=gcc@12.1.0`."""
    languages: dict[str, list[str]] = defaultdict(list)
    for child, of_child in links:
        languages[f"{graph.name(child)}@{graph.attributes(child).version}"] += of_child
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
    for row in rows:
        candidates = enumerate(folded) if row.attribute in _FOLDED else ()
        joined = None
        for number, other in candidates:
            if _may_join(row, other) and (joined := _joined(other, _without_languages(row))):
                folded[number] = joined
                break
        if joined is None:
            folded.append(_without_languages(row))
    return folded


def _may_join(row: VaryingRow, other: VaryingRow) -> bool:
    return (row.attribute, row.is_run, row.follows) == (
        other.attribute,
        other.is_run,
        other.follows,
    )


def _joined(row: VaryingRow, other: VaryingRow) -> VaryingRow | None:
    """Return a row for the packages of two, unless their values differ in a column."""
    values: list[Cell] = []
    for a, b in zip(row.values, other.values, strict=True):
        if a is not None and b is not None and a != b:
            return None
        values.append(b if a is None else a)
    return replace(row, values=tuple(values), packages=(*row.packages, *other.packages))


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
    only what makes the kind is compared. Raises Cancelled and IndexDamaged.

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
                None if each is None else _cell((graph.attributes(id_).version,) for id_ in each)
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
        return f"{self._graph.name(id_)}@{self._graph.attributes(id_).version}"

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

    def _order(self) -> _Order:
        parents: dict[str, set[str]] = defaultdict(set)
        for walk_ in self.walks:
            for name, above in walk_.parents.items():
                parents[name].update(above)
        return _Order(parents)


class _Order:
    """The order of causes: the root's own first, then what most depends on, then the nearest."""

    def __init__(self, parents: dict[str, set[str]]) -> None:
        self._parents = parents
        self._above: dict[str, int] = {}

    def __call__(self, row: VaryingRow) -> tuple[object, ...]:
        """Return the key to sort rows by."""
        name = row.path[-1] if row.path else row.package
        above = self._count_above(name)
        rank = _RANKS.get(row.attribute, 0)
        return bool(row.path), -above, len(row.path), row.package, rank, row.attribute

    def _count_above(self, name: str) -> int:
        if name not in self._above:
            reached, frontier = {name}, {name}
            while frontier:
                frontier = set().union(*map(self._parents.__getitem__, frontier)) - reached
                reached |= frontier
            self._above[name] = len(reached)
        return self._above[name]


def _cell(values: Iterable[tuple[str, ...]]) -> Cell:
    """Return the values of the specs of one package; there are mostly one spec and one value."""
    distinct = {value for value in values if any(value)}
    if len(distinct) == 1:
        return distinct.pop()
    return tuple(sorted(",".join(value) for value in distinct))
