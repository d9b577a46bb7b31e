"""Look at specs as a graph: their own attributes, their dependencies, and what is below them."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, reduce
from itertools import chain, count
from operator import or_
from typing import Generic, NamedTuple, TypeVar, cast

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.dependency_graph import Adjacency, Edge, EdgeArrays, EdgeKind
from spackscope.model.core.errors import Cancelled
from spackscope.model.core.frozen import Frozen, field, fields
from spackscope.model.core.records import LANGUAGES, Dependency, is_run
from spackscope.model.core.tasks import ShouldStop, never
from spackscope.model.core.variants import split_variant, variant_key

COMPILED_IN = 5
"""The first specfile format in which compilers are dependencies (`lib/spack/spack/spec.py`)."""

LISTED_BY_PAGES = frozenset(("package", "version", "platform", "os", "target"))
"""Attributes that a source without dependencies lists, besides the variants."""

_OFFSET = 1 << 32
"""What is added to the ids of a second catalog; an index has no such ids."""

_WINDOW = 512
"""Records that are read with one statement."""

_CHECK_INTERVAL = 4096
_PATCHES = "patches"
_NO_COMPILER = "none"

_Texts = tuple[str, ...]
_Node = TypeVar("_Node", bound=Hashable)


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


Value = str | bool | tuple[str, ...] | None
"""The value of an attribute; None if the node has none."""


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


def dag_of(catalog: Catalog) -> Dag:
    """Return the graph of a catalog; there is one for each.

    Nothing is read before it is needed.

        dag = dag_of(catalog)
        dag.attributes(catalog.by_hash(hash_)[0].id).version
    """
    return catalog.cached(Dag)


class Dag:
    """The specs of a catalog, or of two side by side, and the edges between them.

    The ids of a catalog are those of its records, and then those of absent dependencies, which no
    document describes. Those of a second one are returned by `second_id`: an index of caches is
    large and kept, what an environment has is small and changes often, so that they get no index
    in common. In place of a second catalog there may be bare hashes, such as those on standard
    input. Edges stay within a catalog. Safe to use from several threads.
    """

    def __init__(self, catalog: Catalog, second: Catalog | Sequence[str] | None = None) -> None:
        self.catalog = catalog
        self._first = _Specs(catalog)
        self._second = None if second is None else _Specs(second)
        self._configurations: dict[int, int] = {}
        self._attributes: dict[int, Attributes] = {}
        # Numbers from a counter, since threads that add at once would see the same length.
        self._next_number: Callable[[], int] = count().__next__
        self._by_codes: dict[tuple[int, ...], int] = {}
        self._by_key: dict[Hashable, int] = {}

    @staticmethod
    def second_id(id_: int) -> int:
        """Return the id here of a spec of the second catalog, or of a bare hash by its place."""
        return _OFFSET + id_

    def _at(self, id_: int) -> tuple[_Specs, int]:
        """Return the catalog of a spec, and its id there."""
        if id_ < _OFFSET or self._second is None:
            return self._first, id_
        return self._second, id_ - _OFFSET

    @property
    def count(self) -> int:
        """The number of records of the first catalog."""
        return self._first.count

    @property
    def down(self) -> Adjacency:
        """The edges to dependencies in the first catalog as arrays; absent ones have none."""
        return self._first.edges.down

    @property
    def edge_kinds(self) -> list[EdgeKind]:
        """The deptypes and virtuals that the kinds of `down` mean."""
        return self._first.edges.kinds

    def is_described(self, id_: int) -> bool:
        """Check whether a document describes a spec."""
        specs, own = self._at(id_)
        return own < specs.count

    def lists_dependencies(self, id_: int) -> bool:
        """Check whether the document of a spec lists its dependencies, as pages do not."""
        specs, own = self._at(id_)
        return own < specs.count and specs.catalog.dependencies.lists(own)

    def name(self, id_: int) -> str:
        """Return the package of a spec; "" of a bare hash."""
        specs, own = self._at(id_)
        if own >= specs.count:
            return specs.absent[own - specs.count].name
        return specs.names[specs.package_codes[specs.catalog.column_arrays.look_alike(own)]]

    def hashes(self, ids: Iterable[int]) -> list[str]:
        """Return the hash of each id, in their order."""
        wanted = list(ids)
        hashes = self._first.hashes(id_ for id_ in wanted if id_ < _OFFSET)
        if self._second is not None:
            second = self._second.hashes(id_ - _OFFSET for id_ in wanted if id_ >= _OFFSET)
            hashes |= {_OFFSET + id_: hash_ for id_, hash_ in second.items()}
        return [hashes[id_] for id_ in wanted]

    def find(self, hashes: Iterable[str]) -> dict[str, int]:
        """Return the first id of each of some hashes, of those that the first catalog has."""
        return self._first.find(hashes)

    def identity(self, id_: int) -> int:
        """Return the first id with the same hash: two specs are the same if theirs are equal.

        Of two catalogs it is that in the first, unless only the second describes the spec.
        """
        specs, own = self._at(id_)
        first = specs.same_hash.first[own]
        if self._second is None:
            return first
        if specs is self._second:
            first += _OFFSET
        return self._in_both.get(first, first)

    def records(self, id_: int) -> list[int]:
        """Return the ids of all records of the first catalog that have the hash of a spec."""
        identity = self.identity(id_)
        return [*self._first.same_hash.ids(identity)] if identity < self.count else []

    @cached_property
    def _in_both(self) -> dict[int, int]:
        """The identities of the specs of one catalog that are those of the other."""
        assert self._second is not None
        in_both = {}
        second, size = self._second, self._second.count + len(self._second.absent)
        hashes = second.hashes(range(size))
        found = self._first.find(dict.fromkeys(hashes.values()))
        for own, hash_ in hashes.items():
            if (id_ := found.get(hash_)) is not None:
                if own < second.count and id_ >= self._first.count:
                    in_both[id_] = _OFFSET + second.same_hash.first[own]
                else:
                    in_both[_OFFSET + own] = id_
        return in_both

    def build_spec(self, id_: int) -> str:
        """Return the hash that a spliced spec was built as; empty for any other."""
        specs, own = self._at(id_)
        return specs.catalog.build_specs.get(own, "") if own < specs.count else ""

    def links(self, id_: int) -> Sequence[tuple[int, EdgeKind]]:
        """Return the direct dependencies, each with the kind of the edge, in document order."""
        specs, own = self._at(id_)
        if own >= specs.count:
            return ()
        down, offset = specs.edges.down, id_ - own
        edges = slice(down.first[own], down.first[own + 1])
        kinds = map(specs.edges.kinds.__getitem__, down.kinds[edges])
        children: Iterable[int] = down.nodes[edges]
        if offset:
            children = (offset + child for child in children)
        return list(zip(children, kinds, strict=True))

    def edges(self, id_: int) -> list[Edge]:
        """Return the edges to the direct dependencies, in the order of the document."""
        return [Edge(id_, child, *kind) for child, kind in self.links(id_)]

    def dependents(self, id_: int) -> set[int]:
        """Return the specs that depend directly on a spec, each with its first id."""
        specs, own = self._at(id_)
        spans = ((each, each + 1) for each in specs.same_hash.ids(own))
        return {self.identity(id_ - own + each) for each in specs.edges.up.neighbours(spans)}

    def reached(self, ids: Iterable[int], *, run_only: bool = False) -> set[int]:
        """Return specs of the first catalog with all that they depend on.

        With `run_only` with what they reach over dependencies that are linked or run.
        """
        of_kind = [is_run(kind.deptypes) for kind in self.edge_kinds] if run_only else None
        reached, frontier = set[int](), set(ids)
        while frontier:
            reached |= frontier
            spans = ((id_, id_ + 1) for id_ in frontier if id_ < self.count)
            frontier = self.down.neighbours(spans, of_kind) - reached
        return reached

    def configuration(self, id_: int) -> int:
        """Return a number that is equal for specs with equal attributes; not for absent ones."""
        if (number := self._configurations.get(id_)) is not None:
            return number
        specs, own = self._at(id_)
        if own >= specs.count:
            return -1 - self.identity(id_)
        codes = id_ - own, *specs.codes(own)
        if (number := self._by_codes.get(codes)) is None:
            if self._second is None:
                number = self._by_codes.setdefault(codes, self._next_number())
            else:
                attributes = specs.attributes(own)
                number = self._by_key.setdefault(attributes.key, self._next_number())
                self._by_codes[codes], self._attributes[number] = number, attributes
        self._configurations[id_] = number
        return number

    def attributes(self, id_: int) -> Attributes:
        """Return the own attributes of a spec."""
        specs, own = self._at(id_)
        if own >= specs.count:
            return Attributes(self.name(id_))
        number = self.configuration(id_)
        if (attributes := self._attributes.get(number)) is None:
            attributes = self._attributes[number] = specs.attributes(own)
        return attributes


def by_package(dag: Dag, ids: Iterable[int]) -> dict[str, list[int]]:
    """Return specs by their packages, in their order."""
    packages: dict[str, list[int]] = {}
    for id_ in ids:
        packages.setdefault(dag.name(id_), []).append(id_)
    return packages


class _SameHash:
    """The ids with the same hash, of which there may be hundreds of thousands.

    `first` has for each id the first one with its hash. `repeated` are pairs of such a first id
    and another one, those of a hash together and in their order.
    """

    def __init__(self, size: int, repeated: Iterable[tuple[int, int]]) -> None:
        self.first = array("I", range(size))
        # For each id the next one with its hash, or itself: a set for each hash would be ten times
        # larger.
        self._next = self.first[:]
        last = -1
        for first, id_ in repeated:
            if last < 0 or self.first[last] != first:
                last = first
            self._next[last], self.first[id_] = id_, first
            last = id_

    def ids(self, id_: int) -> Iterator[int]:
        """Yield all ids with the hash of one."""
        id_ = self.first[id_]
        yield id_
        while (following := self._next[id_]) != id_:
            yield following
            id_ = following


class _Specs:
    """The specs of one catalog by its ids, or bare hashes by their places.

    Everything on a record but its hash is read from the dictionaries of the index: a row of it for
    each spec would take ten times as long.
    """

    catalog: Catalog

    def __init__(self, source: Catalog | Sequence[str]) -> None:
        self._source = source
        if isinstance(source, Catalog):
            self.catalog = source

    @property
    def edges(self) -> EdgeArrays:
        """The edges of the catalog."""
        return self.catalog.edge_arrays

    @cached_property
    def count(self) -> int:
        """The number of records."""
        return self.edges.count if isinstance(self._source, Catalog) else 0

    @cached_property
    def absent(self) -> Sequence[Dependency]:
        """The specs that no document describes."""
        if isinstance(self._source, Catalog):
            return self.edges.absent
        return [Dependency(hash_, "") for hash_ in self._source]

    @cached_property
    def names(self) -> Sequence[str]:
        """The packages by their codes."""
        return self.catalog.dictionaries.texts("package")

    @cached_property
    def package_codes(self) -> Sequence[int]:
        """The code of the package of each look-alike."""
        return self.catalog.column_arrays.column("package")

    @cached_property
    def _absent(self) -> dict[str, int]:
        """The first id of each absent spec by its hash."""
        ids = enumerate(self.absent, self.count)
        return {absent.hash: id_ for id_, absent in reversed([*ids])}

    @cached_property
    def same_hash(self) -> _SameHash:
        """The ids with the same hash."""
        rows: Iterable[tuple[int, int]] = ()
        if self.count:
            rows = self.catalog.dictionaries.repeated_hashes()
        absent = enumerate(self.absent, self.count)
        firsts = ((self._absent[dependency.hash], id_) for id_, dependency in absent)
        repeated = sorted(pair for pair in firsts if pair[0] != pair[1])
        return _SameHash(self.count + len(self.absent), chain(rows, repeated))

    def hashes(self, ids: Iterable[int]) -> dict[int, str]:
        """Return hashes by their ids."""
        wanted = set(ids)
        present = sorted(id_ for id_ in wanted if id_ < self.count)
        hashes = {i: self.absent[i - self.count].hash for i in wanted if i >= self.count}
        if present:
            its = self.catalog.dictionaries.hashes_of(present)
            hashes.update(zip(present, its, strict=True))
        return hashes

    def find(self, hashes: Iterable[str]) -> dict[str, int]:
        """Return the first id of each of some hashes, of those that are there."""
        wanted = list(hashes)
        ids = {hash_: self._absent[hash_] for hash_ in wanted if hash_ in self._absent}
        for hash_ in wanted if self.count else ():
            if found := self.catalog.dictionaries.ids_of_hash(hash_):
                ids[hash_] = min(found)
        return ids

    def codes(self, id_: int) -> tuple[int, ...]:
        """Return codes that are equal for records with equal attributes."""
        columns = self.catalog.column_arrays
        look_alike, column = columns.look_alike(id_), columns.column
        node, arch = column("node")[id_], column("arch")[look_alike]
        return (
            column("package")[look_alike],
            column("version")[look_alike],
            column("extra")[look_alike],
            self._variant_sets[column("variant_set")[look_alike]],
            arch if self._states_compiler(id_, node) else self._bare_arches[arch],
            node,
        )

    @cached_property
    def _variant_sets(self) -> list[int]:
        """For each set of variants the first with the same variants in any order."""
        first: dict[_Texts, int] = {}
        keys = (tuple(sorted(map(variant_key, set_))) for set_ in self._texts("variants"))
        return [first.setdefault(key, code) for code, key in enumerate(keys)]

    @cached_property
    def _bare_arches(self) -> list[int]:
        """A number for each architecture without its compiler, apart from those with one."""
        texts, first = self.catalog.dictionaries.texts, dict[_Texts, int]()
        arches = zip(texts("platform"), texts("os"), texts("target"), strict=True)
        return [-1 - first.setdefault(arch, code) for code, arch in enumerate(arches)]

    def _states_compiler(self, id_: int, node: int) -> bool:
        """Check whether the compiler of a record is its attribute, and not a dependency."""
        format_ = self.catalog.dictionaries.nodes[node].spec_format
        if format_:
            return format_ < COMPILED_IN
        down = self.edges.down
        kinds = set(down.kinds[down.first[id_] : down.first[id_ + 1]])
        return not any(set(LANGUAGES).intersection(self.edges.kinds[k].virtuals) for k in kinds)

    def attributes(self, id_: int) -> Attributes:
        """Read the own attributes of a record."""
        columns, dictionaries = self.catalog.column_arrays, self.catalog.dictionaries
        look_alike, column = columns.look_alike(id_), columns.column
        arch, code = column("arch")[look_alike], column("node")[id_]
        node, texts = dictionaries.nodes[code], dictionaries.texts
        compiler = texts("compiler")[arch]
        if compiler == _NO_COMPILER or not self._states_compiler(id_, code):
            compiler = ""
        variant_set, extra = column("variant_set")[look_alike], column("extra")[look_alike]
        variants = dict(self._variants[variant_set])
        patches = variants.pop(_PATCHES, ())
        return Attributes(
            package=texts("package")[column("package")[look_alike]],
            version=texts("version")[column("version")[look_alike]],
            namespace=texts("namespace")[extra],
            variants=variants,
            lists=frozenset(_names_of_lists(self._texts("variants")[variant_set])),
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

    def _texts(self, column: str) -> Sequence[_Texts]:
        return cast(Sequence[_Texts], self.catalog.dictionaries.values(column))

    @cached_property
    def _variants(self) -> _Decoded:
        """The values of the variants in each set, by their names."""
        return _Decoded(self._texts("variants"), lambda text: split_variant(variant_key(text)))

    @cached_property
    def _flags(self) -> _Decoded:
        """The words of the compiler flags in each set, by the names of the flags."""
        return _Decoded(self._texts("flags"), _split_flag)


class _Decoded(dict[int, dict[str, _Texts]]):
    """What the codes of lists of texts mean, each read when it is first needed."""

    def __init__(
        self, values: Sequence[_Texts], split: Callable[[str], tuple[str, _Texts]]
    ) -> None:
        self._values, self._split = values, split

    def __missing__(self, code: int) -> dict[str, _Texts]:
        decoded = self[code] = dict(map(self._split, self._values[code]))
        return decoded


def _split_flag(flag: str) -> tuple[str, _Texts]:
    name, _, words = flag.partition("=")
    return name, tuple(words.split())


def _names_of_lists(variants: _Texts) -> Iterator[str]:
    """Yield the names of variants that are written as `name:=values`."""
    for variant in variants:
        name, equals, _ = variant.partition("=")
        if equals and name.endswith(":") and name[:-1] != _PATCHES:
            yield name[:-1]


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


class ClosureMasks(Generic[_Node]):
    """The union of the masks of each node and of all that it reaches; none is visited twice.

    `below` returns the nodes that one leads to, and `own` the mask of a node alone. Nothing is
    reached through `skipped` nodes, nor are they. A node on a cycle, which no real index has,
    lacks what is reached through itself.
    """

    def __init__(
        self,
        below: Callable[[_Node], Sequence[_Node]],
        own: Callable[[_Node], Mask],
        skipped: Collection[_Node] = (),
    ) -> None:
        self._below, self._own = below, own
        self._skipped = frozenset(skipped)
        # What reaches skipped nodes gets nothing from them.
        self._whole: dict[_Node, Mask] = dict.fromkeys(skipped, 0)
        self._witnesses: dict[Mask, dict[_Node, _Node]] = {}

    def whole(self, start: _Node, should_stop: ShouldStop = never) -> Mask:
        """Return the union for a node. Raises Cancelled."""
        known = self._whole
        if start in self._skipped:
            starts = [child for child in self._below(start) if child not in self._skipped]
            return reduce(or_, (self.whole(c, should_stop) for c in starts), self._own(start))
        if (mask := known.get(start)) is not None:
            return mask
        if not self._below(start):
            # Most specs of pages have nothing below them, and need not be kept.
            return self._own(start)
        for number, node in enumerate(
            post_order([start], lambda node: [c for c in self._below(node) if c not in known])
        ):
            if number % _CHECK_INTERVAL == 0 and should_stop():
                raise Cancelled
            mask = self._own(node)
            for child in self._below(node):
                mask |= known.get(child, 0)
            known[node] = mask
        return known[start]

    def witness(self, start: _Node, bits: Mask) -> _Node:
        """Return a node below another one whose own mask has some bits; the other if none has.

        It is kept for all nodes on the way, too.
        """
        if not self._below(start):
            return start
        self.whole(start)
        known, witnesses = self._whole, self._witnesses.setdefault(bits, {})
        node, path = start, {start}
        while node not in witnesses:
            children = [
                child
                for child in self._below(node)
                if known.get(child, 0) & bits and child not in path
            ]
            found = next((child for child in children if self._own(child) & bits), None)
            if found is not None or not children:
                witnesses[node] = node if found is None else found
            else:
                path.add(node := children[0])
        witnesses.update(dict.fromkeys(path, witnesses[node]))
        return witnesses[start]


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

    def path(self, graph: Dag, name: str) -> tuple[str, ...]:
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

    def __init__(self, graph: Dag) -> None:
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
        """Walk the closures of specs, nearest first; `run_only` what is linked and run."""
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


def spec_at(graph: Dag, start: int, path: Sequence[str]) -> int | None:
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
