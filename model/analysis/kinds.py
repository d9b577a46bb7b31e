"""Give builds with equal closures one code, and group look-alikes that run the same."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Iterable, Sequence

from spackscope.model.analysis.dag import Dag, dag_of, post_order, run_time_deptypes
from spackscope.model.analysis.differences import compiling, own_values
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.tasks import check_cancelled
from spackscope.model.index.catalog import Catalog


class Kind(Frozen):
    """Builds that run the same.

    `ids` has the most used build first, which is the best one to take. `users` has the number of
    records that depend on each build. The source of a kind that is not `is_known` does not list
    the closures of its builds, so these may differ.
    """

    ids: tuple[int, ...]
    users: tuple[int, ...]
    is_known: bool = True

    @property
    def total_users(self) -> int:
        """The number of records that depend on any of the builds."""
        return sum(self.users)


class BuildCodes:
    """Codes of the builds of one graph, computed bottom-up and kept.

    Two records have the same code if their closures are equal but for the hashes. With `run_only`
    only what counts at run time is compared: per node these values, the compilers, and the edges
    to what it links or runs. A spec that no document describes has the code of its hash. No
    closure is copied: a code is made of the codes of the dependencies. Safe to use from several
    threads.
    """

    def __init__(self, graph: Dag, *, run_only: bool) -> None:
        self._graph, self._run_only = graph, run_only
        self._lock = threading.Lock()
        self._codes: dict[int, int] = {}
        self._code_of: dict[Hashable, int] = {}
        # Values by configurations and compilers; many records share them.
        self._values: dict[Hashable, Hashable] = {}

    def codes(self, ids: Iterable[int]) -> list[int]:
        """Return the code of each record. Raises Cancelled."""
        codes, wanted = self._codes, list(ids)

        def below(id_: int) -> list[int]:
            check_cancelled()
            return [child for _, child in self.links(id_) if child not in codes]

        with self._lock:
            # A spec that depends on itself, in a damaged source, has the code of its hash there.
            for id_ in post_order((id_ for id_ in wanted if id_ not in codes), below):
                codes[id_] = self._code_of.setdefault(self._node(id_), len(self._code_of))
            return [codes[id_] for id_ in wanted]

    def links(self, id_: int) -> list[tuple[Hashable, int]]:
        """Return the dependencies that count, each after the kind of its edge."""
        links = self._graph.links(id_)
        if not self._run_only:
            return [(kind, child) for child, kind in links]
        typed = ((run_time_deptypes(kind.deptypes), child) for child, kind in links)
        return [(deptypes, child) for deptypes, child in typed if deptypes]

    def own(self, id_: int) -> Hashable:
        """Return a key that is equal for records whose own fields are equal."""
        graph, values = self._graph, self._values
        if not graph.lists_dependencies(id_):
            return graph.identity(id_)
        if not self._run_only:
            return graph.configuration(id_), graph.build_spec(id_)
        key = graph.configuration(id_), compiling(graph, id_)
        if key not in values:
            # The values have only the names of compilers that no document describes.
            absent = (graph.identity(c) for c, _ in key[1] if not graph.is_described(c))
            own = frozenset(own_values(graph, id_, run_only=True).items()), *absent
            values[key] = values.setdefault(own, own)
        return values[key]

    def _node(self, id_: int) -> Hashable:
        """Return the key of a record, whose dependencies have codes already."""
        below = frozenset(
            (kind, self._codes.get(child, -1 - self._graph.identity(child)))
            for kind, child in self.links(id_)
        )
        return self.own(id_), below


def _run_codes(catalog: Catalog) -> BuildCodes:
    return BuildCodes(dag_of(catalog), run_only=True)


def run_codes(graph: Dag) -> BuildCodes:
    """Return the codes of what counts at run time in a graph, which are computed once."""
    return graph.catalog.cached(_run_codes)


def run_kinds(graph: Dag, ids: Sequence[int]) -> tuple[Kind, ...]:
    """Partition records into run-time kinds, the largest first, then by the hash.

    Records whose source lists no dependencies are one kind, which is not known and the last.
    Raises Cancelled.

        most_used = run_kinds(dag_of(catalog), ids)[0].ids[0]
    """
    hashes = dict(zip(ids, graph.hashes(ids), strict=True))
    members: dict[int, list[int]] = {}
    codes = run_codes(graph).codes(ids)
    for id_, code in zip(ids, codes, strict=True):
        members.setdefault(code if graph.lists_dependencies(id_) else -1, []).append(id_)
    unknown, known = members.pop(-1, None), list(members.values())
    known.sort(key=lambda of_kind: (-len(of_kind), min(map(hashes.__getitem__, of_kind))))
    kinds = []
    for of_kind in [*known, *([] if unknown is None else [unknown])]:
        users = {id_: len(graph.dependents(id_)) for id_ in of_kind}
        by_use = tuple(sorted(of_kind, key=lambda id_: (-users[id_], hashes[id_])))
        kinds.append(Kind(by_use, tuple(map(users.__getitem__, by_use)), of_kind is not unknown))
    return tuple(kinds)
