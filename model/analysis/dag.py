"""Look at specs as a graph: their own attributes, their dependencies, and what is below them."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import chain, count
from typing import NamedTuple, Protocol, TypeVar, cast

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.dependency_graph import Adjacency, Edge, EdgeKind
from spackscope.model.core.columns import Value
from spackscope.model.core.errors import Cancelled
from spackscope.model.core.frozen import Frozen, field, fields
from spackscope.model.core.records import LANGUAGES, is_hash, is_run
from spackscope.model.core.tasks import ShouldStop, never
from spackscope.model.core.variants import split_variant, variant_key
from spackscope.model.index.damage import checked_hash, class_reading_index

COMPILED_IN = 5
"""The first specfile format in which compilers are dependencies (`lib/spack/spack/spec.py`)."""


class Attributes(Frozen):
    """The own attributes of a spec: all that its node states but its dependencies and its hash.

    `variants` has the values of each variant by its name, `+` or `~` of boolean ones, but not the
    patches. `lists` has the names of those that may have several values; before format 5 none, as
    documents do not tell. `flags` has the words of each compiler flag in their order. `compiler`
    is empty where it is a dependency. `external` is the prefix or else the modules, and
    `external_attributes` more about it as JSON; all of them are empty for what Spack built.
    `spec_format` is 0 if it is unknown. Of an absent dependency only the package is known.
    """

    package: str
    version: str = ""
    namespace: str = ""
    variants: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    lists: frozenset[str] = frozenset()
    flags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    patches: tuple[str, ...] = ()
    package_hash: str = ""
    platform: str = ""
    os: str = ""
    target: str = ""
    compiler: str = ""
    external: str = ""
    external_modules: tuple[str, ...] = ()
    external_attributes: str = ""
    spec_format: int = 0

    @property
    def key(self) -> Hashable:
        """A value that is equal for equal attributes."""
        values = (getattr(self, field.name) for field in fields(self))
        return tuple(
            frozenset(value.items()) if isinstance(value, Mapping) else value for value in values
        )


class Graph(Protocol):
    """Specs by their ids, and the edges between them.

    The ids after those of all records are those of absent dependencies, which no document
    describes. All methods raise IndexDamaged.
    """

    def is_described(self, id_: int) -> bool:
        """Check whether a document describes a spec."""

    def lists_dependencies(self, id_: int) -> bool:
        """Check whether the document of a spec lists its dependencies, as pages do not."""

    def name(self, id_: int) -> str:
        """Return the package of a spec."""

    def identity(self, id_: int) -> int:
        """Return the first id with the same hash: two specs are the same if theirs are equal."""

    def hashes(self, ids: Iterable[int]) -> list[str]:
        """Return the hash of each id, in their order."""

    def build_spec(self, id_: int) -> str:
        """Return the hash that a spliced spec was built as; empty for any other."""

    def edges(self, id_: int) -> Sequence[Edge]:
        """Return the edges to the direct dependencies, in the order of the document."""

    def links(self, id_: int) -> Iterable[tuple[int, EdgeKind]]:
        """Return the direct dependencies, each with the kind of the edge to it, as `edges`."""

    def configuration(self, id_: int) -> int:
        """Return a number that is equal for specs with equal attributes; not for absent ones."""

    def attributes(self, id_: int) -> Attributes:
        """Return the own attributes of a spec."""


def by_package(graph: Graph, ids: Iterable[int]) -> dict[str, list[int]]:
    """Return specs by their packages, in their order."""
    packages: dict[str, list[int]] = {}
    for id_ in ids:
        packages.setdefault(graph.name(id_), []).append(id_)
    return packages


_PATCHES = "patches"
_NO_COMPILER = "none"

_Texts = tuple[str, ...]
_Links = Callable[[int], Iterable[tuple[int, EdgeKind]]]


class OwnAttributes:
    """The attributes of records by their ids; `links` returns the dependencies of one.

    Safe to use from several threads.
    """

    def __init__(self, catalog: Catalog, links: _Links) -> None:
        self._columns = catalog.column_arrays
        self._dictionaries = catalog.dictionaries
        self._links = links
        # Numbers from a counter, since threads that add at once would see the same length.
        self._numbers: dict[tuple[int, ...], int] = {}
        self._next_number: Callable[[], int] = count().__next__
        self._number_of: dict[int, int] = {}
        self._attributes: dict[int, Attributes] = {}

    def number(self, id_: int) -> int:
        """Return a number that is equal for records with equal attributes."""
        if (known := self._number_of.get(id_)) is not None:
            return known
        look_alike, column = self._columns.look_alike(id_), self._columns.column
        node, arch = column("node")[id_], column("arch")[look_alike]
        key = (
            column("package")[look_alike],
            column("version")[look_alike],
            column("extra")[look_alike],
            self._variant_sets[column("variant_set")[look_alike]],
            arch if self._states_compiler(id_, node) else self._bare_arches[arch],
            node,
        )
        if (number := self._numbers.get(key)) is None:
            number = self._numbers.setdefault(key, self._next_number())
        self._number_of[id_] = number
        return number

    def _lists(self, column: str) -> Sequence[_Texts]:
        return cast(Sequence[_Texts], self._dictionaries.values(column))

    @cached_property
    def _variant_sets(self) -> list[int]:
        """For each set of variants the first with the same variants in any order."""
        first: dict[_Texts, int] = {}
        sets = self._lists("variants")
        keys = (tuple(sorted(map(variant_key, set_))) for set_ in sets)
        return [first.setdefault(key, code) for code, key in enumerate(keys)]

    @cached_property
    def _arches(self) -> list[tuple[str, str, str]]:
        texts = self._dictionaries.texts
        return list(zip(texts("platform"), texts("os"), texts("target"), strict=True))

    @cached_property
    def _bare_arches(self) -> list[int]:
        """A number for each architecture without its compiler, apart from those with one."""
        first: dict[_Texts, int] = {}
        return [-1 - first.setdefault(arch, code) for code, arch in enumerate(self._arches)]

    def _states_compiler(self, id_: int, node: int) -> bool:
        """Check whether the compiler of a record is its attribute, and not a dependency."""
        format_ = self._dictionaries.nodes[node].spec_format
        if format_:
            return format_ < COMPILED_IN
        kinds = (kind for _, kind in self._links(id_))
        return not any(set(LANGUAGES).intersection(kind.virtuals) for kind in kinds)

    def attributes(self, id_: int) -> Attributes:
        """Return the own attributes of a record."""
        number = self.number(id_)
        if (attributes := self._attributes.get(number)) is None:
            attributes = self._attributes[number] = self._read(id_)
        return attributes

    def _read(self, id_: int) -> Attributes:
        look_alike, column = self._columns.look_alike(id_), self._columns.column
        arch, code = column("arch")[look_alike], column("node")[id_]
        node, texts = self._dictionaries.nodes[code], self._dictionaries.texts
        compiler = texts("compiler")[arch]
        if compiler == _NO_COMPILER or not self._states_compiler(id_, code):
            compiler = ""
        variant_set = column("variant_set")[look_alike]
        variants = dict(self._variants[variant_set])
        patches = variants.pop(_PATCHES, ())
        extra = column("extra")[look_alike]
        return Attributes(
            package=texts("package")[column("package")[look_alike]],
            version=texts("version")[column("version")[look_alike]],
            namespace=texts("namespace")[extra],
            variants=variants,
            lists=frozenset(_names_of_lists(self._lists("variants")[variant_set])),
            flags=self._flags[extra],
            patches=node.patches or patches,
            package_hash=node.package_hash,
            platform=texts("platform")[arch],
            os=texts("os")[arch],
            target=texts("target")[arch],
            compiler=compiler,
            external=node.external,
            external_modules=node.external_modules,
            external_attributes=node.external_attributes,
            spec_format=node.spec_format,
        )

    @cached_property
    def _variants(self) -> _Decoded:
        """The values of the variants in each set, by their names."""
        return _Decoded(self._dictionaries.values("variants"), _split_variant)

    @cached_property
    def _flags(self) -> _Decoded:
        """The words of the compiler flags in each set, by the names of the flags."""
        return _Decoded(self._dictionaries.values("flags"), _split_flag)


class _Decoded(dict[int, dict[str, _Texts]]):
    """What the codes of lists of texts mean, each read when it is first needed."""

    def __init__(
        self, values: Sequence[Value], split: Callable[[str], tuple[str, _Texts]]
    ) -> None:
        self._values = cast(Sequence[_Texts], values)
        self._split = split

    def __missing__(self, code: int) -> dict[str, _Texts]:
        decoded = self[code] = dict(map(self._split, self._values[code]))
        return decoded


def _split_variant(variant: str) -> tuple[str, _Texts]:
    return split_variant(variant_key(variant))


def _split_flag(flag: str) -> tuple[str, _Texts]:
    name, _, words = flag.partition("=")
    return name, tuple(words.split())


def _names_of_lists(variants: _Texts) -> Iterator[str]:
    """Yield the names of variants that are written as `name:=values`."""
    for variant in variants:
        name, equals, _ = variant.partition("=")
        if equals and name.endswith(":") and name[:-1] != _PATCHES:
            yield name[:-1]


class SameHash:
    """The ids with the same hash, of which there may be hundreds of thousands.

    `first` has for each id the first one with its hash. `repeated` are pairs of such a first id
    and another one, those of a hash together and in their order.
    """

    def __init__(self, count: int, repeated: Iterable[tuple[int, int]]) -> None:
        self.first = array("I", range(count))
        # For each id the next one with its hash, or itself: a set for each hash would be ten times
        # larger.
        self._next = self.first[:]
        last = -1
        for first, id_ in repeated:
            if last < 0 or self.first[last] != first:
                last = first
            self._next[last], self.first[id_] = id_, first
            last = id_

    def ids(self, first: int) -> Iterator[int]:
        """Yield all ids with the hash of a first one."""
        yield first
        while (following := self._next[first]) != first:
            yield following
            first = following


_WINDOW = 512


def spec_graph(catalog: Catalog) -> SpecGraph:
    """Return the graph of a catalog; there is one for each.

    Nothing is read before it is needed.

        graph = spec_graph(catalog)
        graph.attributes(catalog.by_hash(hash_)[0].id).version
    """
    return catalog.cached(SpecGraph)


@class_reading_index
class SpecGraph:
    """The specs of a catalog: see `Graph`. Safe to use from several threads."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self._columns = catalog.column_arrays
        self._edges = catalog.edge_arrays
        self._dictionaries = catalog.dictionaries
        self._own = OwnAttributes(catalog, self.links)

    @property
    def count(self) -> int:
        """The number of records."""
        return self._edges.count

    @property
    def down(self) -> Adjacency:
        """The edges to dependencies as arrays; absent ones have none."""
        return self._edges.down

    @property
    def up(self) -> Adjacency:
        """The edges to dependents as arrays."""
        return self._edges.up

    @property
    def edge_kinds(self) -> list[EdgeKind]:
        """The deptypes and virtuals that the kinds of `down` and `up` mean."""
        return self._edges.kinds

    def is_described(self, id_: int) -> bool:
        """Check whether a document describes a spec."""
        return id_ < self.count

    def lists_dependencies(self, id_: int) -> bool:
        """Check whether the document of a spec lists its dependencies, as pages do not."""
        return self.catalog.dependencies.lists(id_)

    def name(self, id_: int) -> str:
        """Return the package of a spec."""
        if id_ >= self.count:
            return self._edges.absent[id_ - self.count].name
        package = self._columns.column("package")[self._columns.look_alike(id_)]
        return self._dictionaries.texts("package")[package]

    def identity(self, id_: int) -> int:
        """Return the first id with the same hash."""
        return self._same_hash.first[id_]

    @cached_property
    def _same_hash(self) -> SameHash:
        """The ids with the same hash."""
        # Read in the order of hashes: with GROUP BY and JOIN SQLite keeps all that are repeated.
        rows = self.catalog.database.execute(
            "SELECT first, id FROM (SELECT id, min(id) OVER (PARTITION BY hash) AS first"
            " FROM spec) WHERE id != first"
        )
        absent = enumerate(self._edges.absent, self.count)
        firsts = ((self._absent[dependency.hash], id_) for id_, dependency in absent)
        repeated = sorted(pair for pair in firsts if pair[0] != pair[1])
        return SameHash(self.count + len(self._edges.absent), chain(rows, repeated))

    def hashes(self, ids: Iterable[int]) -> list[str]:
        """Return the hash of each id, in their order."""
        wanted = list(ids)
        present = sorted({id_ for id_ in wanted if id_ < self.count})
        hashes = {i: self._edges.absent[i - self.count].hash for i in wanted if i >= self.count}
        for start in range(0, len(present), _WINDOW):
            # The ids are numbers of this index, never text of a user.
            among = ",".join(map(str, present[start : start + _WINDOW]))
            rows = self.catalog.database.execute(
                f"SELECT id, hash FROM spec WHERE id IN ({among})"
            )
            hashes.update((id_, checked_hash(hash_)) for id_, hash_ in rows)
        return [hashes[id_] for id_ in wanted]

    def find(self, hashes: Iterable[str]) -> dict[str, int]:
        """Return the first id of each of some hashes, of those that are there."""
        wanted = list(dict.fromkeys(hashes))
        ids = {hash_: self._absent[hash_] for hash_ in wanted if hash_ in self._absent}
        wanted = list(filter(is_hash, wanted))
        for start in range(0, len(wanted), _WINDOW):
            # Checked hashes are no text that could end the statement.
            among = "','".join(wanted[start : start + _WINDOW])
            ids |= self.catalog.database.execute(
                f"SELECT hash, min(id) FROM spec WHERE hash IN ('{among}') GROUP BY hash"
            ).fetchall()
        return ids

    @cached_property
    def _absent(self) -> dict[str, int]:
        """The first id of each absent dependency by its hash."""
        first: dict[str, int] = {}
        for id_, absent in enumerate(self._edges.absent, self.count):
            first.setdefault(absent.hash, id_)
        return first

    def build_spec(self, id_: int) -> str:
        """Return the hash that a spliced spec was built as; empty for any other."""
        return self.catalog.build_specs.get(id_, "")

    def edges(self, id_: int) -> Sequence[Edge]:
        """Return the edges to the direct dependencies, in the order of the document."""
        return self.catalog.dependencies.of(id_)

    def dependents(self, id_: int) -> set[int]:
        """Return the specs that depend directly on a spec, each with its first id."""
        same = self._same_hash
        spans = ((each, each + 1) for each in same.ids(same.first[id_]))
        return set(map(self.identity, self.up.neighbours(spans)))

    def links(self, id_: int) -> Iterable[tuple[int, EdgeKind]]:
        """Return the direct dependencies of a spec, each with the kind of the edge to it."""
        if id_ >= self.count:
            return ()
        down, kinds = self.down, self.edge_kinds
        edges = slice(down.first[id_], down.first[id_ + 1])
        return zip(down.nodes[edges], map(kinds.__getitem__, down.kinds[edges]), strict=True)

    def configuration(self, id_: int) -> int:
        """Return a number that is equal for specs with equal attributes; not for absent ones."""
        return self._own.number(id_) if id_ < self.count else -1 - self.identity(id_)

    def attributes(self, id_: int) -> Attributes:
        """Return the own attributes of a spec."""
        return self._own.attributes(id_) if id_ < self.count else Attributes(self.name(id_))

    def closure(self, ids: Iterable[int]) -> set[int]:
        """Return specs with all that they depend on."""
        return self._reach(ids, None)

    def run_closure(self, ids: Iterable[int]) -> set[int]:
        """Return specs with all that they reach over dependencies that are linked or run."""
        return self._reach(ids, [is_run(kind.deptypes) for kind in self.edge_kinds])

    def _reach(self, ids: Iterable[int], of_kind: Sequence[bool] | None) -> set[int]:
        reached, frontier = set(), set(ids)
        while frontier:
            reached |= frontier
            spans = ((id_, id_ + 1) for id_ in frontier if id_ < self.count)
            frontier = self.down.neighbours(spans, of_kind) - reached
        return reached


class HashGraph:
    """Hashes that no document describes, by their place in the list: see `Graph`.

    Joined with another graph they are what that describes.
    """

    count = 0

    def __init__(self, hashes: Sequence[str]) -> None:
        self._hashes = hashes
        self._ids = {hash_: id_ for id_, hash_ in reversed([*enumerate(hashes)])}

    def is_described(self, _: int) -> bool:
        """Return False."""
        return False

    def lists_dependencies(self, _: int) -> bool:
        """Return False."""
        return False

    def name(self, _: int) -> str:
        """Return an empty text: the package is unknown."""
        return ""

    def identity(self, id_: int) -> int:
        """Return the first id with the same hash."""
        return self._ids[self._hashes[id_]]

    def hashes(self, ids: Iterable[int]) -> list[str]:
        """Return the hash of each id, in their order."""
        return [self._hashes[id_] for id_ in ids]

    def find(self, hashes: Iterable[str]) -> dict[str, int]:
        """Return the first id of each of some hashes, of those that are there."""
        return {hash_: self._ids[hash_] for hash_ in hashes if hash_ in self._ids}

    def build_spec(self, _: int) -> str:
        """Return an empty text: it is unknown."""
        return ""

    def edges(self, _: int) -> Sequence[Edge]:
        """Return no edges."""
        return ()

    def links(self, _: int) -> Iterable[tuple[int, EdgeKind]]:
        """Return no links."""
        return ()

    def configuration(self, id_: int) -> int:
        """Return a number that no other hash has."""
        return -1 - self.identity(id_)

    def attributes(self, _: int) -> Attributes:
        """Return no attributes."""
        return Attributes("")


_OFFSET = 1 << 32
"""What is added to the ids of the second graph; an index has no such ids."""

_MAX_EDGE_LISTS = 20_000
"""Specs whose edges are kept; those of large sources would need too much memory."""

_Answer = TypeVar("_Answer")


class JoinedGraph:
    """The specs of a first graph by their ids, and those of a second one by `second_id`.

    Edges stay within a graph. Specs with the same hash have the same `identity`: that in the
    first graph, unless only the second describes the spec. Answers on single specs are kept, as
    analyses ask the same of a spec many times: see `Graph`. Safe to use from several threads.
    """

    is_described: Callable[[int], bool]
    lists_dependencies: Callable[[int], bool]
    name: Callable[[int], str]
    identity: Callable[[int], int]
    configuration: Callable[[int], int]
    attributes: Callable[[int], Attributes]
    build_spec: Callable[[int], str]
    edges: Callable[[int], Sequence[Edge]]

    def __init__(self, first: SpecGraph, second: SpecGraph | HashGraph) -> None:
        self._first, self._second = first, second
        self._configurations: dict[tuple[bool, int], int] = {}
        # Numbers from a counter, since threads that add at once would see the same length.
        self._numbers: dict[Hashable, int] = {}
        self._next_number: Callable[[], int] = count().__next__
        self.is_described = _in_either(first.is_described, second.is_described)
        self.lists_dependencies = _in_either(first.lists_dependencies, second.lists_dependencies)
        self.name = _in_either(first.name, second.name)
        self.attributes = _in_either(first.attributes, second.attributes)
        self.build_spec = _in_either(first.build_spec, second.build_spec)
        self.identity = lru_cache(None)(self._identity_of)
        self.configuration = lru_cache(None)(self._configuration_of)
        self.edges = lru_cache(_MAX_EDGE_LISTS)(self._edges_of)

    @staticmethod
    def second_id(id_: int) -> int:
        """Return the id here of a spec of the second graph."""
        return _OFFSET + id_

    @staticmethod
    def is_second(id_: int) -> bool:
        """Check whether a spec is one of the second graph."""
        return id_ >= _OFFSET

    def hashes(self, ids: Iterable[int]) -> list[str]:
        """Return the hash of each id, in their order."""
        wanted = list(ids)
        first = [id_ for id_ in wanted if not self.is_second(id_)]
        second = [id_ for id_ in wanted if self.is_second(id_)]
        hashes = dict(zip(first, self._first.hashes(first), strict=True))
        own = (id_ - _OFFSET for id_ in second)
        hashes |= zip(second, self._second.hashes(own), strict=True)
        return [hashes[id_] for id_ in wanted]

    def _identity_of(self, id_: int) -> int:
        """Return an id that specs have in common if and only if they have the same hash."""
        if not self.is_described(id_):
            return self._shared(id_)
        if not self.is_second(id_):
            return self._first.identity(id_)
        own = id_ - _OFFSET
        return self._described.get(own, self.second_id(self._second.identity(own)))

    @cached_property
    def _described(self) -> dict[int, int]:
        """The ids in the first graph, where it describes it, of all records of the second."""
        records = range(self._second.count)
        hashes = self._second.hashes(records)
        first = self._first.find(hashes)
        return {
            id_: first[hash_]
            for id_, hash_ in zip(records, hashes, strict=True)
            if hash_ in first and self._first.is_described(first[hash_])
        }

    def _shared(self, id_: int) -> int:
        """Return the identity of an absent dependency, which the other graph may have."""
        hashes = self.hashes([id_])
        (first,) = [*self._first.find(hashes).values()] or [-1]
        (second,) = [*self._second.find(hashes).values()] or [-1]
        is_first = first >= 0 and (
            second < 0 or self._first.is_described(first) or not self._second.is_described(second)
        )
        return first if is_first else self.second_id(second)

    def _edges_of(self, id_: int) -> Sequence[Edge]:
        if not self.is_second(id_):
            return self._first.edges(id_)
        edges = self._second.edges(id_ - _OFFSET)
        return [Edge(id_, _OFFSET + e.child, e.deptypes, e.virtuals) for e in edges]

    def links(self, id_: int) -> Iterable[tuple[int, EdgeKind]]:
        """Return the direct dependencies, each with the kind of the edge to it."""
        if not self.is_second(id_):
            return self._first.links(id_)
        links = self._second.links(id_ - _OFFSET)
        return ((_OFFSET + child, kind) for child, kind in links)

    def _configuration_of(self, id_: int) -> int:
        if not self.is_described(id_):
            return -1 - self.identity(id_)
        is_second = self.is_second(id_)
        configuration = (
            self._second.configuration(id_ - _OFFSET)
            if is_second
            else self._first.configuration(id_)
        )
        if (number := self._configurations.get((is_second, configuration))) is None:
            number = self._numbers.setdefault(self.attributes(id_).key, self._next_number())
            self._configurations[is_second, configuration] = number
        return number


def _in_either(
    in_first: Callable[[int], _Answer], in_second: Callable[[int], _Answer]
) -> Callable[[int], _Answer]:
    """Return a function that asks the graph of a spec, once for each."""
    return lru_cache(None)(
        lambda id_: in_second(id_ - _OFFSET) if id_ >= _OFFSET else in_first(id_)
    )


_Node = TypeVar("_Node")


def post_order(
    starts: Iterable[_Node], children: Callable[[_Node], Iterable[_Node]]
) -> Iterator[_Node]:
    """Yield nodes and all below them, each once and after its children.

    `children` is called once for each node. Of a cycle, which only damaged documents have, one
    node comes before its children.
    """
    entered: set[_Node] = set()
    for start in starts:
        stack = [] if start in entered else [(start, iter(children(start)))]
        entered.add(start)
        while stack:
            node, rest = stack[-1]
            child = next((child for child in rest if child not in entered), None)
            if child is None:
                stack.pop()
                yield node
            else:
                entered.add(child)
                stack.append((child, iter(children(child))))


class Step(NamedTuple):
    """A dependency: its id, the first one with its hash, its package, the kind of the edge."""

    id: int
    identity: int
    name: str
    kind: EdgeKind


MAX_DEPTH = 250
"""Levels of dependencies that are walked; real specs have some thirty."""

MAX_SPECS = 10_000
"""Specs after which a walk follows no more dependencies; real ones have some thousand."""


class Walk(Frozen):
    """The closures of one or more specs.

    `nodes` has the specs of each package, by the first ids with their hashes; `steps` has the
    package and the dependency of each edge, and `parents` for each package those that depend on
    it. `came_from` has for each spec the one by which it is reached first. `unknown` are specs
    that do not list their dependencies, or whose dependencies are too many to walk.
    """

    roots: Sequence[int]
    nodes: dict[str, set[int]] = field(default_factory=dict)
    steps: list[tuple[str, Step]] = field(default_factory=list)
    parents: dict[str, dict[str, None]] = field(default_factory=dict)
    came_from: dict[int, int] = field(default_factory=dict)
    unknown: set[int] = field(default_factory=set)

    def path(self, graph: Graph, name: str) -> tuple[str, ...]:
        """Return the packages on a shortest path from below a root to a package."""
        wanted = self.nodes.get(name, set())
        id_ = next((id_ for id_ in self.came_from if id_ in wanted), -1)
        path: list[str] = []
        while id_ in self.came_from:
            path.append(graph.name(id_))
            id_ = self.came_from[id_]
        return tuple(reversed(path))


class Walker:
    """Walks the closures of specs; what several of them share is read once."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._steps: dict[int, list[Step]] = {}
        self._unknown: set[int] = set()

    def _steps_from(self, id_: int) -> list[Step]:
        if id_ not in self._steps:
            graph = self._graph
            self._steps[id_] = [
                Step(child, graph.identity(child), graph.name(child), kind)
                for child, kind in graph.links(id_)
            ]
            if not (graph.is_described(id_) and graph.lists_dependencies(id_)):
                self._unknown.add(id_)
        return self._steps[id_]

    def walk(self, ids: Iterable[int], *, run_only: bool) -> Walk:
        """Walk the closures of specs, nearest dependencies first; `run_only` the linked and run.

        Raises IndexDamaged.
        """
        graph, walk = self._graph, Walk(list(dict.fromkeys(ids)))
        queue = deque((id_, graph.identity(id_), graph.name(id_), 0) for id_ in walk.roots)
        seen = {identity for _, identity, _, _ in queue}
        while queue:
            id_, identity, name, depth = queue.popleft()
            walk.nodes.setdefault(name, set()).add(identity)
            steps = self._steps_from(id_)
            if steps and (depth == MAX_DEPTH or len(seen) > MAX_SPECS):
                walk.unknown.add(identity)
                continue
            for step in steps:
                if run_only and not is_run(step.kind.deptypes):
                    continue
                walk.steps.append((name, step))
                walk.parents.setdefault(step.name, {})[name] = None
                if step.identity not in seen:
                    seen.add(step.identity)
                    walk.came_from[step.identity] = identity
                    queue.append((*step[:3], depth + 1))
            if id_ in self._unknown:
                walk.unknown.add(identity)
        return walk


def spec_at(graph: Graph, start: int, path: Sequence[str]) -> int | None:
    """Return the spec at the end of a path of packages; None if there is none.

    Of two dependencies on one package the one that is linked or run is followed.
    """
    id_ = start
    for name in path:
        edges = [edge for edge in graph.edges(id_) if graph.name(edge.child) == name]
        if not edges:
            return None
        id_ = next((e.child for e in edges if is_run(e.deptypes)), edges[0].child)
    return id_


_CHECK_INTERVAL = 4096

Mask = int
"""A set: a bit for each of its elements."""


class ClosureMasks:
    """The union of the masks of each node and of all that it reaches; none is visited twice.

    `own` returns the mask of a node. There are `count` nodes, the last of which have no edges; and
    edges to `skipped` nodes are not followed. A node on a cycle, which no real index has, lacks
    what is reached through itself.
    """

    def __init__(
        self,
        edges: Adjacency,
        count: int,
        own: Callable[[int], Mask],
        skipped: Collection[int] = (),
    ) -> None:
        self._edges, self._own, self._count = edges, own, count
        self._skipped = frozenset(skipped)
        self._witnesses: dict[Mask, dict[int, int]] = {}

    @cached_property
    def _whole(self) -> list[Mask | None]:
        """The union for each node that it is known of."""
        whole: list[Mask | None] = [None] * self._count
        for node in self._skipped:
            # What reaches them gets nothing from them.
            whole[node] = 0
        return whole

    def _children(self, node: int) -> Sequence[int]:
        first = self._edges.first
        if node + 1 >= len(first):
            return ()
        return self._edges.nodes[first[node] : first[node + 1]]

    def whole(self, start: int, should_stop: ShouldStop = never) -> Mask:
        """Return the union for a node. Raises Cancelled."""
        if start in self._skipped:
            mask = self._own(start)
            for child in self._children(start):
                mask |= self.whole(child) if child not in self._skipped else 0
            return mask
        if not self._children(start):
            return self._own(start)
        known = self._whole
        stack, opened = [start], set[int]()
        while stack:
            node = stack[-1]
            if known[node] is not None:
                stack.pop()
            elif node in opened:
                mask = self._own(node)
                for child in self._children(node):
                    mask |= known[child] or 0
                known[stack.pop()] = mask
            else:
                opened.add(node)
                if len(opened) % _CHECK_INTERVAL == 0 and should_stop():
                    raise Cancelled
                children = self._children(node)
                stack += [c for c in children if known[c] is None and c not in opened]
        return known[start] or 0

    def witness(self, start: int, bits: Mask) -> int:
        """Return a node below another one whose own mask has some bits; the other if none has.

        It is kept for all nodes on the way, too.
        """
        if not self._children(start):
            return start
        self.whole(start)
        known, witnesses = self._whole, self._witnesses.setdefault(bits, {})
        node, path = start, {start}
        while node not in witnesses:
            children = [
                child
                for child in self._children(node)
                if (known[child] or 0) & bits and child not in path
            ]
            found = next((child for child in children if self._own(child) & bits), None)
            if found is not None or not children:
                witnesses[node] = node if found is None else found
            else:
                path.add(node := children[0])
        witnesses.update(dict.fromkeys(path, witnesses[node]))
        return witnesses[start]
