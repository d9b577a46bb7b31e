"""Read specs as a graph: their own attributes, dependencies and closures."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import chain, count
from operator import itemgetter
from typing import Any, Generic, NamedTuple, TypeVar, cast
from weakref import WeakMethod

from spackscope.model.core.records import (
    COMPILED_IN,
    LANGUAGES,
    Dependency,
    is_run,
    names_compiler,
    split_variant,
    variant_key,
)
from spackscope.model.core.tasks import check_cancelled
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.edges import EdgeKind, Edges, path_to
from spackscope.model.query.ast import exact_query

_LISTED_BY_PAGES = frozenset(("package", "version", "platform", "os", "target"))
"""Attributes that a source without dependencies lists, besides the variants."""

PROVIDED = "provided_virtuals"
"""The attribute that only newer documents have: without it a node may provide anything."""

_OFFSET = 1 << 32
"""The offset of the ids of a second catalog, which no index reaches."""

_MANY = 20
"""To read all hashes of an index takes as long as to find one of so many."""

_CHECK_INTERVAL = 4096
_PATCHES = "variant:patches"
_LANGUAGES = frozenset(LANGUAGES)

AttributeValue = str | bool | tuple[str, ...] | None
"""The value of an attribute; None if the node has none."""

Attributes = Mapping[str, AttributeValue]
"""The own attributes of a spec: its node without dependencies and hash.

Attributes are named after fields, such as `version` and `package_hash`, after compiler flags, and
`variant:NAME`; patches are not variants. An attribute without a value is left out, such as the
compiler where it is a dependency. `external` is the prefix of an external, `external_module` has
its modules, and `external_extra` its other attributes as JSON. Only the package is known of an
absent dependency.
"""

_T = TypeVar("_T")
_Node = TypeVar("_Node", bound=Hashable)


def dag_of(catalog: Catalog) -> Dag:
    """Return the graph of a catalog, which is built once.

    Nothing is read before it is needed.

        dag = dag_of(catalog)
        dag.attributes(catalog.by_hash(hash_)[0].id)["version"]
    """
    return catalog.cached(Dag)


class Dag:
    """The specs of a catalog, or of two side by side, and the edges between them.

    The ids of a catalog are the ids of its records, followed by ids of absent dependencies, which
    no document describes. `second_id` returns the ids of a second catalog: the index of caches is
    large and kept, an environment is small and changes often, so they share no index. In place of
    a second catalog there may be bare hashes, for example from standard input. Edges stay within a
    catalog. Safe to use from several threads.
    """

    def __init__(self, catalog: Catalog, second: Catalog | Sequence[str] | None = None) -> None:
        self.catalog = catalog
        self._sides = [_Side(catalog), *([] if second is None else [_Side(second)])]
        self._configurations: dict[int, int] = {}
        self._by_codes: dict[tuple[int, ...], int] = {}
        self._by_values: dict[Hashable, int] = {}
        self._attributes: dict[int, Attributes] = {}
        # Numbers from a counter, since threads that add at once would see the same length.
        self._next_number: Callable[[], int] = count().__next__

    @staticmethod
    def second_id(id_: int) -> int:
        """Return the id here of a spec of the second catalog, or of a bare hash by its place."""
        return _OFFSET + id_

    def _at(self, id_: int) -> tuple[_Side, int]:
        """Return the catalog of a spec, and its id there."""
        return self._sides[id_ >= _OFFSET], id_ % _OFFSET

    @property
    def count(self) -> int:
        """The number of records of the first catalog."""
        return self._sides[0].count

    def is_described(self, id_: int) -> bool:
        """Check whether a document describes a spec."""
        side, own = self._at(id_)
        return own < side.count

    def lists_dependencies(self, id_: int) -> bool:
        """Check whether the document of a spec lists its dependencies, as pages do not."""
        side, own = self._at(id_)
        return own < side.count and side.edges.lists(own)

    def name(self, id_: int) -> str:
        """Return the package of a spec; "" of a bare hash."""
        side, own = self._at(id_)
        if own >= side.count:
            return side.absent[own - side.count].name
        return side.catalog.text("package", own)

    def version(self, id_: int) -> str:
        """Return the version of a spec, "" if it is not known."""
        return str(self.attributes(id_).get("version", ""))

    def external(self, id_: int) -> str:
        """Return the prefix or else the modules of an external; "" for any other spec."""
        attributes = self.attributes(id_)
        modules = ", ".join(texts(attributes.get("external_module")))
        return str(attributes.get("external", modules))

    def hash(self, id_: int) -> str:
        """Return the hash of a spec."""
        return self.hashes([id_])[0]

    def hashes(self, ids: Iterable[int]) -> list[str]:
        """Return the hash of each id, in their order: for many ids faster than `hash` for each."""
        wanted = list(ids)
        hashes: dict[int, str] = {}
        for number, side in enumerate(self._sides):
            of_side = {id_ for id_ in wanted if (id_ >= _OFFSET) == number}
            hashes |= zip(of_side, side.hashes([id_ % _OFFSET for id_ in of_side]), strict=True)
        return [hashes[id_] for id_ in wanted]

    def find(self, hashes: Iterable[str]) -> dict[str, int]:
        """Return the first ids of hashes, leaving out hashes that the first catalog lacks."""
        return self._sides[0].find(hashes)

    def identity(self, id_: int) -> int:
        """Return the first id with the same hash, which is equal for equal specs.

        With two catalogs it is the id in the first one, unless only the second describes the spec.
        """
        side, own = self._at(id_)
        first = id_ - own + side.firsts[own]
        return first if len(self._sides) == 1 else self._in_both.get(first, first)

    def records(self, id_: int) -> list[int]:
        """Return the ids of all records in the first catalog with the same hash as a spec."""
        identity = self.identity(id_)
        return self._sides[0].same_hash(identity) if identity < self.count else []

    @cached_property
    def _in_both(self) -> dict[int, int]:
        """The identities of the specs that both catalogs have."""
        first, second = self._sides
        hashes = second.hashes(range(second.count + len(second.absent)))
        found, in_both = first.find(dict.fromkeys(hashes)), dict[int, int]()
        for own, hash_ in enumerate(hashes):
            if (id_ := found.get(hash_)) is not None:
                if own < second.count and id_ >= first.count:
                    in_both[id_] = _OFFSET + second.firsts[own]
                else:
                    in_both[_OFFSET + own] = id_
        return in_both

    def build_spec(self, id_: int) -> str:
        """Return the hash that a spliced spec was built as; empty for any other."""
        side, own = self._at(id_)
        return side.catalog.build_specs.get(own, "") if own < side.count else ""

    def links(self, id_: int) -> Sequence[tuple[int, EdgeKind]]:
        """Return the direct dependencies, each with the kind of the edge, in document order."""
        side, own = self._at(id_)
        if own >= side.count:
            return ()
        down, offset = side.edges.down, id_ - own
        edges = slice(down.first[own], down.first[own + 1])
        children = map(offset.__add__, down.nodes[edges])
        kinds = map(side.edges.kinds.__getitem__, down.kinds[edges])
        return list(zip(children, kinds, strict=True))

    def dependents(self, id_: int) -> set[int]:
        """Return the specs that depend directly on a spec, each with its first id."""
        side, own = self._at(id_)
        spans = ((each, each + 1) for each in side.same_hash(side.firsts[own]))
        up = side.edges.up.neighbours(spans)
        return {self.identity(id_ - own + each) for each in up}

    def reached(self, ids: Iterable[int], *, run_only: bool = False) -> set[int]:
        """Return specs with their closures; `run_only` follows run-time dependencies only."""
        reached = set[int]()
        own = [(id_ - id_ % _OFFSET, id_ % _OFFSET) for id_ in ids]
        for offset in {offset for offset, _ in own}:
            edges = self._sides[offset > 0].edges
            starts = [id_ for of_side, id_ in own if of_side == offset]
            of_kind = edges.are_run if run_only else None
            reached.update(map(offset.__add__, edges.down.reached(starts, of_kind)))
        return reached

    def configuration(self, id_: int) -> int:
        """Return a number, equal for specs with equal attributes; below 0 for absent ones."""
        if (number := self._configurations.get(id_)) is None:
            side, own = self._at(id_)
            if own >= side.count:
                return -1 - self.identity(id_)
            codes = id_ - own, *side.codes(own)
            if (number := self._by_codes.get(codes)) is None:
                attributes = side.attributes(codes[1:])
                key = frozenset(attributes.items())
                number = self._by_values.setdefault(key, self._next_number())
                self._attributes[number], self._by_codes[codes] = attributes, number
            self._configurations[id_] = number
        return number

    def attributes(self, id_: int) -> Attributes:
        """Return the own attributes of a spec."""
        number = self.configuration(id_)
        return {"package": self.name(id_)} if number < 0 else self._attributes[number]

    def would_list(self, id_: int, attribute: str) -> bool:
        """Check whether the source of a spec would list an attribute, if the spec had it.

        Then a missing attribute is unset, and else unknown. Pages list few attributes, and older
        documents no provided virtuals.
        """
        return (
            is_always_told(attribute)
            or attribute in self.attributes(id_)
            or (attribute != PROVIDED and self.lists_dependencies(id_))
        )


def is_always_told(attribute: str) -> bool:
    """Check whether every source lists an attribute, pages too."""
    return attribute in _LISTED_BY_PAGES or attribute.startswith("variant:")


def listed_specs(catalog: Catalog) -> list[int]:
    """Return the first ids of the specs that a catalog lists, each hash once."""
    return list(dict.fromkeys(map(dag_of(catalog).identity, range(catalog.total))))


def explicit_specs(catalog: Catalog) -> list[int]:
    """Return the first ids of the specs that an environment or an install tree was asked for."""
    ids = catalog.match(exact_query("state", "explicit")).ids()
    return list(dict.fromkeys(map(dag_of(catalog).identity, ids)))


def by_package(dag: Dag, ids: Iterable[int]) -> dict[str, list[int]]:
    """Return specs by their packages, in their order."""
    packages: dict[str, list[int]] = {}
    for id_ in ids:
        packages.setdefault(dag.name(id_), []).append(id_)
    return packages


def differing_names(stated: Iterable[Attributes]) -> list[str]:
    """Return the names of the attributes that do not have one value in all, sorted."""
    items = [attributes.items() for attributes in stated]
    every = set().union(*items)
    return sorted({name for name, _ in every - every.intersection(*items)})


def texts(value: AttributeValue) -> tuple[str, ...]:
    """Return a value as texts: `+` or `~` for a bool, none for None."""
    if isinstance(value, bool):
        return ("+" if value else "~",)
    return (value,) if isinstance(value, str) else value or ()


def cached_method(read: Callable[..., _T]) -> Callable[..., _T]:
    """Return a bound method with a cache of its results, which is freed with the object.

    The cache refers to the object weakly: else object and cache would refer to each other, until
    the collector of garbage finds them, which takes as long as a key may take.
    """
    method = WeakMethod(read)

    def call(*arguments: Any) -> _T:
        read = method()
        assert read is not None
        return read(*arguments)

    return lru_cache(None)(call)


class _Side:
    """The specs of one catalog by its ids, or bare hashes by their places.

    Everything on a record but its hash is read from the dictionaries of the index: to read a row
    for each spec would take ten times as long.
    """

    catalog: Catalog
    edges: Edges

    def __init__(self, source: Catalog | Sequence[str]) -> None:
        self._hashes: Sequence[str] | None = None
        if isinstance(source, Catalog):
            self.catalog, self.edges, self.count = source, source.edges, source.edges.count
        else:
            self._hashes, self.count = source, 0

    @cached_property
    def absent(self) -> Sequence[Dependency]:
        """The specs that no document describes."""
        if self._hashes is None:
            return self.edges.absent
        return [Dependency(hash_, "") for hash_ in self._hashes]

    @cached_property
    def _absent(self) -> dict[str, int]:
        """The first id of each absent spec by its hash."""
        ids = enumerate(self.absent, self.count)
        return {absent.hash: id_ for id_, absent in reversed([*ids])}

    @cached_property
    def _repeated(self) -> tuple[array[int], array[int]]:
        """Repeated hashes: the first id of each, and as a second array the other ids.

        Both arrays are sorted by the first ids. They may have hundreds of thousands of ids, and a
        set for each hash would be ten times larger.
        """
        pairs = self.catalog.hashes.repeated() if self.count else iter(())
        absent = (
            (self._absent[each.hash], id_) for id_, each in enumerate(self.absent, self.count)
        )
        ordered = sorted(chain(pairs, (pair for pair in absent if pair[0] != pair[1])))
        return array("I", map(itemgetter(0), ordered)), array("I", map(itemgetter(1), ordered))

    @cached_property
    def firsts(self) -> array[int]:
        """The first id with the same hash, by id."""
        firsts = array("I", range(self.count + len(self.absent)))
        for first, id_ in zip(*self._repeated, strict=True):
            firsts[id_] = first
        return firsts

    def same_hash(self, first: int) -> list[int]:
        """Return all ids with the same hash as `first`, the first id with this hash."""
        firsts, others = self._repeated
        return [first, *others[bisect_left(firsts, first) : bisect_right(firsts, first)]]

    def hashes(self, ids: Sequence[int]) -> list[str]:
        """Return the hash of each id, in their order."""
        present = [id_ for id_ in ids if id_ < self.count]
        hashes = iter(self.catalog.hashes.of(present) if present else ())
        return [next(hashes) if i < self.count else self.absent[i - self.count].hash for i in ids]

    def find(self, hashes: Iterable[str]) -> dict[str, int]:
        """Return the first ids of hashes, leaving out hashes that are not there."""
        wanted = [*hashes]
        if len(wanted) > 1 + self.count // _MANY:
            every = self.hashes(range(self.count + len(self.absent)))
            firsts = dict(zip(reversed(every), reversed(range(len(every))), strict=True))
            return {hash_: firsts[hash_] for hash_ in wanted if hash_ in firsts}
        found = {}
        for hash_ in wanted:
            ids = self.catalog.hashes.ids_of(hash_) if self.count else ()
            if ids or hash_ in self._absent:
                found[hash_] = min(ids, default=self._absent.get(hash_, 0))
        return found

    def codes(self, id_: int) -> tuple[int, ...]:
        """Return codes that are equal only for records with equal attributes.

        The last code is whether the compiler of the record is an attribute, not a dependency.
        """
        catalog, edges = self.catalog, self.edges
        look_alike, node = catalog.look_alike(id_), catalog.column("node")[id_]
        names = ("package", "version", "extra", "provides", "variant_set", "arch")
        codes = [catalog.column(name)[look_alike] for name in names]
        if format_ := catalog.nodes[node].spec_format:
            return *codes, node, format_ < COMPILED_IN
        kinds = {edges.down.kinds[number] for number in edges.down.edges(id_)}
        compiled = any(not _LANGUAGES.isdisjoint(edges.kinds[kind].virtuals) for kind in kinds)
        return *codes, node, not compiled

    def attributes(self, codes: Sequence[int]) -> Attributes:
        """Read the own attributes of a record by its codes."""
        catalog, texts_of = self.catalog, self.catalog.texts
        package, version, extra, provides, variant_set, arch, node_code, states_compiler = codes
        node, compiler = catalog.nodes[node_code], texts_of("compiler")[arch]
        values: dict[str, AttributeValue] = {
            "package": texts_of("package")[package],
            "version": texts_of("version")[version],
            "namespace": texts_of("namespace")[extra],
            "package_hash": node.package_hash,
            PROVIDED: self._lists("provides")[provides],
            **{name: texts_of(name)[arch] for name in ("platform", "os", "target")},
            # Without a prefix the column has the modules.
            "external": node.external if node.external != ", ".join(node.external_modules) else "",
            "external_module": node.external_modules,
            "external_extra": node.external_attributes,
            "compiler": compiler if states_compiler and names_compiler(compiler) else "",
            "spec_format": str(node.spec_format or ""),
        }
        for flag in self._lists("flags")[extra]:
            name, _, words = flag.partition("=")
            values[name] = tuple(words.split())
        for text in self._lists("variants")[variant_set]:
            name, stated = split_variant(variant_key(text))
            value: AttributeValue = stated[0] if len(stated) == 1 else stated
            values[f"variant:{name}"] = value == "+" if value in ("+", "~") else value
        patches = texts(values.pop(_PATCHES, None))
        values["patches"] = node.patches or patches
        return {name: value for name, value in values.items() if value not in ("", ())}

    def _lists(self, column: str) -> Sequence[tuple[str, ...]]:
        return cast(Sequence[tuple[str, ...]], self.catalog.values(column))


def post_order(
    starts: Iterable[_Node], children: Callable[[_Node], Iterable[_Node]]
) -> Iterator[_Node]:
    """Yield nodes and their closures, each node once and after its children.

    `children` is called once for each node. In a cycle, which only damaged documents have, one
    node comes before its children.
    """
    entered: set[_Node] = set()
    for start in starts:
        stack = [] if start in entered else [(start, iter(children(start)))]
        entered.add(start)
        while stack:
            node, rest = stack[-1]
            for child in rest:
                if child not in entered:
                    entered.add(child)
                    stack.append((child, iter(children(child))))
                    break
            else:
                stack.pop()
                yield node


Mask = int
"""A set: a bit for each of its elements."""

_MASK_BITS = 1024
"""Nodes that are counted together: fewer visit nodes more often, more take longer masks."""


def count_dependents(
    wanted: Sequence[_Node], nodes: Collection[_Node], below: Callable[[_Node], Sequence[_Node]]
) -> dict[_Node, int]:
    """Count for each wanted node the `nodes` in whose closures it is, each node in its own too.

    `below` returns the children of a node. On a cycle, which only damaged documents have, some are
    not counted. Raises Cancelled.
    """
    counts = dict[_Node, int]()
    for start in range(0, len(wanted), _MASK_BITS):
        counts |= _count_dependents(wanted[start : start + _MASK_BITS], nodes, below)
    return counts


def _count_dependents(
    wanted: Sequence[_Node], nodes: Iterable[_Node], below: Callable[[_Node], Sequence[_Node]]
) -> dict[_Node, int]:
    bits = {node: 1 << place for place, node in enumerate(wanted)}
    masks = ClosureMasks(below, lambda node: bits.get(node, 0))
    # A bit of a sum is 2 to the power of the index of its mask.
    sums: list[Mask] = []
    for mask in map(masks.whole, nodes):
        for power, total in enumerate(sums):
            sums[power], mask = total ^ mask, total & mask
        if mask:
            sums.append(mask)
    return {
        node: sum(bool(total & bit) << power for power, total in enumerate(sums))
        for node, bit in bits.items()
    }


class ClosureMasks(Generic[_Node]):
    """The union of the masks of each node and its closure; no node is visited twice.

    `below` returns the children of a node, and `own` the mask of a node alone. A node on a cycle,
    which no real index has, lacks the masks of nodes that are reached through itself.
    """

    def __init__(
        self, below: Callable[[_Node], Sequence[_Node]], own: Callable[[_Node], Mask]
    ) -> None:
        self._below, self._own = below, own
        self._whole: dict[_Node, Mask] = {}
        self._witnesses: dict[Mask, dict[_Node, _Node]] = {}

    def whole(self, start: _Node) -> Mask:
        """Return the union for a node. Raises Cancelled."""
        known = self._whole
        if (mask := known.get(start)) is not None:
            return mask
        if not self._below(start):
            # Most specs of pages have no dependencies, and need not be kept.
            return self._own(start)
        children: dict[_Node, Sequence[_Node]] = {}

        def unknown(node: _Node) -> list[_Node]:
            children[node] = self._below(node)
            return [child for child in children[node] if child not in known]

        for number, node in enumerate(post_order([start], unknown)):
            if number % _CHECK_INTERVAL == 0:
                check_cancelled()
            mask = self._own(node)
            for child in children.pop(node):
                mask |= known.get(child, 0)
            known[node] = mask
        return known[start]

    def witness(self, start: _Node, bits: Mask) -> _Node:
        """Return a node below `start` whose own mask has some of the bits; else `start`.

        The node is kept for all nodes on the way, too.
        """
        self.whole(start)
        witnesses = self._witnesses.setdefault(bits, {})
        node, path = start, {start}
        while node not in witnesses:
            children = [
                child
                for child in self._below(node)
                if self._whole.get(child, 0) & bits and child not in path
            ]
            # The first child with such bits of its own, or else the first child.
            child = min(children, key=lambda child: not self._own(child) & bits, default=node)
            if child == node or self._own(child) & bits:
                witnesses[node] = child
            else:
                path.add(node := child)
        witnesses.update(dict.fromkeys(path, witnesses[node]))
        return witnesses[start]


_RUN_TIME = ("link", "run")
"""The deptypes of dependencies that are loaded or run, and fetched from a cache with a spec."""


@lru_cache(None)
def run_time_deptypes(deptypes: tuple[str, ...]) -> tuple[str, ...]:
    """Return the deptypes of an edge that count at run time; empty for build-only edges."""
    return tuple(deptype for deptype in _RUN_TIME if deptype in deptypes)


@lru_cache(None)
def compiled_languages(virtuals: tuple[str, ...]) -> tuple[str, ...]:
    """Return the languages among the virtuals of an edge, for which a compiler is used."""
    return tuple(language for language in LANGUAGES if language in virtuals)


class Step(NamedTuple):
    """A dependency: its id, the first id with its hash, its package, the kind of the edge."""

    id: int
    identity: int
    name: str
    kind: EdgeKind


MAX_DEPTH = 250
"""Levels of dependencies that are walked; real specs have some thirty."""

MAX_WALKED = 10_000
"""Specs after which a walk follows no more dependencies; real ones have some thousand."""


class Walk(NamedTuple):
    """The closures of one or more specs.

    `nodes` has the specs of each package, by the first ids with their hashes, the nearest first;
    `steps` has the package and the dependency of each edge. `came_from` maps each spec to the
    dependent through which it is reached first, and roots to themselves. `unknown` has specs that
    do not list their dependencies, or have too many to walk. `name_of` returns the package of a
    spec.
    """

    nodes: dict[str, dict[int, None]]
    steps: list[tuple[str, Step]]
    came_from: dict[int, int]
    unknown: set[int]
    name_of: Callable[[int], str]

    def path(self, name: str) -> tuple[str, ...]:
        """Return the packages on a shortest path from below a root to a package."""
        for id_ in self.nodes.get(name, ()):
            if self.came_from[id_] != id_:
                return tuple(map(self.name_of, path_to(self.came_from, id_)[1:]))
        return ()


class Walker:
    """Walks the closures of specs; shared dependencies are read once."""

    def __init__(self, graph: Dag) -> None:
        self.graph = graph
        self.name = lru_cache(None)(graph.name)
        self._identity = lru_cache(None)(graph.identity)
        self._lists_dependencies = lru_cache(None)(graph.lists_dependencies)
        self._is_run = lru_cache(None)(is_run)
        self.steps = cached_method(self._read_steps)

    def _read_steps(self, id_: int) -> list[Step]:
        return [
            Step(child, self._identity(child), self.name(child), kind)
            for child, kind in self.graph.links(id_)
        ]

    def closure(self, id_: int, *, run_only: bool) -> frozenset[int]:
        """Return the first ids of a spec and its dependencies; `run_only` of run-time ones."""
        return frozenset(map(self._identity, self.graph.reached([id_], run_only=run_only)))

    def walk(
        self,
        id_: int,
        *,
        run_only: bool,
        name: str = "",
        left_out: Collection[int] = (),
    ) -> Walk:
        """Walk the closure of a spec, nearest first; `run_only` over run-time dependencies.

        The spec itself has another `name`, if that is given. Dependencies of specs that are
        `left_out` are not followed, and these specs are there only if their package has no others.
        """
        walk, others = Walk({}, [], {}, set(), self.name), dict[str, dict[int, None]]()
        queue = deque([(id_, self._identity(id_), name or self.name(id_), 0)])
        walk.came_from[queue[0][1]] = queue[0][1]
        while queue:
            id_, identity, name, depth = queue.popleft()
            is_left_out = bool(depth) and identity in left_out
            (others if is_left_out else walk.nodes).setdefault(name, {})[identity] = None
            if is_left_out:
                continue
            steps = self.steps(id_)
            is_cut = bool(steps) and (depth == MAX_DEPTH or len(walk.came_from) > MAX_WALKED)
            if is_cut or not self._lists_dependencies(id_):
                walk.unknown.add(identity)
            for step in () if is_cut else steps:
                if run_only and not self._is_run(step.kind.deptypes):
                    continue
                walk.steps.append((name, step))
                if step.identity not in walk.came_from:
                    walk.came_from[step.identity] = identity
                    queue.append((*step[:3], depth + 1))
        for name, nodes in others.items():
            walk.nodes.setdefault(name, nodes)
        return walk


def spec_at(graph: Dag, start: int, path: Sequence[str]) -> int | None:
    """Return the spec at the end of a path of packages; None if there is none.

    If a spec has two dependencies on one package, the linked or run one is followed.
    """
    id_ = start
    for name in path:
        links = [(child, kind) for child, kind in graph.links(id_) if graph.name(child) == name]
        if not links:
            return None
        id_ = next((child for child, kind in links if is_run(kind.deptypes)), links[0][0])
    return id_
