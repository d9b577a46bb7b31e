"""The specs of one catalog as the analyses compare them."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import count
from typing import cast

from spackscope.model.analysis.graph import COMPILED_IN, Attributes, is_run
from spackscope.model.catalog.arrays import Adjacency, EdgeKind
from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.dependency_graph import Edge
from spackscope.model.core.compilers import LANGUAGES
from spackscope.model.core.records import is_hash
from spackscope.model.core.variants import split_variant
from spackscope.model.index.damage import checked_hash, class_reading_index

_PATCHES = "patches"
_WINDOW = 512
_OWN = ("package", "version", "extra")
"""The dictionaries whose codes are own attributes as they are."""


def spec_graph(catalog: Catalog) -> SpecGraph:
    """Return the graph of a catalog; there is one for each.

    graph = spec_graph(catalog)
    graph.attributes(catalog.by_hash(hash_)[0].id).version
    """
    return catalog.cached(SpecGraph)


@class_reading_index
class SpecGraph:
    """The specs of a catalog: see `Graph`. Safe to use from several threads."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._columns = catalog.column_arrays
        self._edges = catalog.edge_arrays
        self._dictionaries = catalog.dictionaries
        # Numbers from a counter, since threads that add at once would see the same length.
        self._numbers: dict[tuple[int, ...], int] = {}
        self._next_number: Callable[[], int] = count().__next__
        self._attributes: dict[int, Attributes] = {}

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

    @cached_property
    def configurations(self) -> array[int]:
        """The number that `configuration` returns, for all records."""
        return array("q", map(self.configuration, range(self.count)))

    def is_described(self, id_: int) -> bool:
        """Check whether a document describes a spec."""
        return id_ < self.count

    def lists_dependencies(self, id_: int) -> bool:
        """Check whether the document of a spec lists its dependencies, as pages do not."""
        return self._catalog.dependencies.lists(id_)

    def name(self, id_: int) -> str:
        """Return the package of a spec."""
        return self._catalog.dependencies.name(id_)

    def identity(self, id_: int) -> int:
        """Return the first id with the same hash."""
        return self._same_as.get(id_, id_)

    @cached_property
    def _same_as(self) -> dict[int, int]:
        """The first id with the hash of each other one: tags and sources repeat hashes."""
        rows = self._catalog.database.execute(
            "SELECT id, first FROM spec JOIN (SELECT hash, min(id) AS first FROM spec"
            " GROUP BY hash HAVING count(*) > 1) USING (hash) WHERE id != first"
        )
        same: dict[int, int] = dict(rows.fetchall())
        for id_, absent in enumerate(self._edges.absent, self.count):
            if (first := self._absent[absent.hash]) != id_:
                same[id_] = first
        return same

    @cached_property
    def _repeats(self) -> dict[int, list[int]]:
        """The other ids with the hash of each first one."""
        repeats: dict[int, list[int]] = {}
        for id_, first in self._same_as.items():
            repeats.setdefault(first, []).append(id_)
        return repeats

    def hashes(self, ids: Iterable[int]) -> list[str]:
        """Return the hash of each id, in their order."""
        wanted = list(ids)
        present = sorted({id_ for id_ in wanted if id_ < self.count})
        hashes = {i: self._edges.absent[i - self.count].hash for i in wanted if i >= self.count}
        for start in range(0, len(present), _WINDOW):
            # The ids are numbers of this index, never text of a user.
            among = ",".join(map(str, present[start : start + _WINDOW]))
            rows = self._catalog.database.execute(
                f"SELECT id, hash FROM spec WHERE id IN ({among})"
            )
            hashes.update((id_, checked_hash(hash_)) for id_, hash_ in rows)
        return [hashes[id_] for id_ in wanted]

    def find(self, hashes: Iterable[str]) -> dict[str, int]:
        """Return the first id of each of some hashes, of those that are there."""
        wanted = list(dict.fromkeys(hashes))
        found = {hash_: self._absent[hash_] for hash_ in wanted if hash_ in self._absent}
        wanted = list(filter(is_hash, wanted))
        for start in range(0, len(wanted), _WINDOW):
            # Checked hashes are no text that could end the statement.
            among = "','".join(wanted[start : start + _WINDOW])
            found |= self._catalog.database.execute(
                f"SELECT hash, min(id) FROM spec WHERE hash IN ('{among}') GROUP BY hash"
            ).fetchall()
        return found

    @cached_property
    def _absent(self) -> dict[str, int]:
        """The first id of each absent dependency by its hash."""
        first: dict[str, int] = {}
        for id_, absent in enumerate(self._edges.absent, self.count):
            first.setdefault(absent.hash, id_)
        return first

    def edges(self, id_: int) -> Sequence[Edge]:
        """Return the edges to the direct dependencies, in the order of the document."""
        return self._catalog.dependencies.of(id_)

    def dependents(self, id_: int) -> set[int]:
        """Return the specs that depend directly on a spec, each with its first id."""
        first = self.identity(id_)
        spans = ((same, same + 1) for same in (first, *self._repeats.get(first, ())))
        return set(map(self.identity, self.up.neighbours(spans)))

    def configuration(self, id_: int) -> int:
        """Return a number that is equal for specs with equal attributes; not for absent ones."""
        if id_ >= self.count:
            return -1 - self.identity(id_)
        look_alike = self._columns.look_alike(id_)
        node = self._columns.column("node")[id_]
        arch = self._columns.column("arch")[look_alike]
        key = (
            *(self._columns.column(name)[look_alike] for name in _OWN),
            self._variant_sets[self._columns.column("variant_set")[look_alike]],
            (self._stated_arches if self._states_compiler(id_, node) else self._bare_arches)[arch],
            node,
        )
        number = self._numbers.get(key)
        return self._numbers.setdefault(key, self._next_number()) if number is None else number

    @cached_property
    def _variant_sets(self) -> list[int]:
        """For each set of variants the first with the same variants in any order."""
        first: dict[tuple[str, ...], int] = {}
        sets = cast(Sequence[tuple[str, ...]], self._dictionaries.values("variants"))
        return [first.setdefault(tuple(sorted(set_)), code) for code, set_ in enumerate(sets)]

    @cached_property
    def _stated_arches(self) -> list[int]:
        return list(range(len(self._dictionaries.values("compiler"))))

    @cached_property
    def _bare_arches(self) -> list[int]:
        """A number for each architecture without its compiler, apart from those with one."""
        first: dict[tuple[str, ...], int] = {}
        columns = (self._dictionaries.texts(name) for name in ("platform", "os", "target"))
        return [
            -1 - first.setdefault(arch, code)
            for code, arch in enumerate(zip(*columns, strict=True))
        ]

    def _states_compiler(self, id_: int, node: int) -> bool:
        """Check whether the compiler of a spec is its attribute, and not a dependency."""
        format_ = self._dictionaries.nodes[node].spec_format
        if format_:
            return format_ < COMPILED_IN
        return not any(set(LANGUAGES).intersection(edge.virtuals) for edge in self.edges(id_))

    def attributes(self, id_: int) -> Attributes:
        """Return the own attributes of a spec."""
        if id_ >= self.count:
            return Attributes(self.name(id_))
        configuration = self.configuration(id_)
        if (attributes := self._attributes.get(configuration)) is None:
            attributes = self._attributes[configuration] = self._read_attributes(id_)
        return attributes

    def _read_attributes(self, id_: int) -> Attributes:
        spec = self._catalog.rows([id_])[0].spec
        code = self._columns.column("node")[id_]
        node = self._dictionaries.nodes[code]
        variants = dict(map(split_variant, spec.variants))
        patches = variants.pop(_PATCHES, ())
        states_compiler = self._states_compiler(id_, code) and spec.compiler != "none"
        return Attributes(
            package=spec.package,
            version=spec.version,
            namespace=spec.namespace,
            variants=variants,
            flags={
                name: tuple(words.split())
                for name, _, words in (f.partition("=") for f in spec.flags)
            },
            patches=node.patches or patches,
            package_hash=node.package_hash,
            platform=spec.platform,
            os=spec.os,
            target=spec.target,
            compiler=spec.compiler if states_compiler else "",
            external=node.external,
            external_modules=node.external_modules,
            external_attributes=node.external_attributes,
            spec_format=node.spec_format,
        )

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
