"""The specs of one catalog as the analyses compare them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import chain

from spackscope.model.analysis.graphs.graph import Attributes
from spackscope.model.analysis.graphs.own_attributes import OwnAttributes
from spackscope.model.analysis.graphs.same_hash import SameHash
from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.dependency_graph import Edge
from spackscope.model.catalog.edge_arrays import Adjacency, EdgeKind
from spackscope.model.core.records import is_hash, is_run
from spackscope.model.index.damage import checked_hash, class_reading_index

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
