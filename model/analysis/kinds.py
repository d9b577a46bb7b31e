"""Partition look-alikes into run-time kinds: builds whose linked and run closures are equal."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Iterable, Sequence

from spackscope.model.analysis.dag import (
    Dag,
    compiled_languages,
    dag_of,
    post_order,
    run_time_deptypes,
)
from spackscope.model.analysis.differences import compilers, run_values
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


class RunKinds:
    """Codes of the run-time kinds of one graph, computed bottom-up and kept.

    Two records have the same code if their closures over link and run edges are equal but for the
    hashes: per node the values that count at run time, the compilers, and these edges. A spec that
    no document describes has the code of its hash. No closure is copied: a code is made of the
    codes of the dependencies. Safe to use from several threads.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._graph = dag_of(catalog)
        self._lock = threading.Lock()
        self._codes: dict[int, int] = {}
        self._code_of: dict[Hashable, int] = {}
        # Values of configurations and of compilers; many records share most of them.
        self._values: dict[Hashable, Hashable] = {}

    def codes(self, ids: Iterable[int]) -> list[int]:
        """Return the code of the kind of each record. Raises Cancelled."""
        codes, wanted = self._codes, list(ids)

        def below(id_: int) -> list[int]:
            check_cancelled()
            links = self._graph.links(id_)
            return [c for c, kind in links if c not in codes and run_time_deptypes(kind.deptypes)]

        with self._lock:
            # A spec that depends on itself, in a damaged source, has the code of its hash there.
            for id_ in post_order((id_ for id_ in wanted if id_ not in codes), below):
                codes[id_] = self._code_of.setdefault(self._node(id_), len(self._code_of))
            return [codes[id_] for id_ in wanted]

    def _node(self, id_: int) -> Hashable:
        """Return the key of the kind of a record, whose dependencies have codes already."""
        graph = self._graph
        if not graph.lists_dependencies(id_):
            return graph.identity(id_)
        run: list[tuple[tuple[str, ...], int]] = []
        compiling: list[tuple[int, tuple[str, ...]]] = []
        for child, (deptypes, virtuals) in graph.links(id_):
            if at_run_time := run_time_deptypes(deptypes):
                run.append((at_run_time, self._codes.get(child, -1 - graph.identity(child))))
            if languages := compiled_languages(virtuals):
                compiling.append((child, languages))
        number, stated = graph.configuration(id_), tuple(compiling)
        if number not in self._values:
            values = frozenset(run_values(graph, id_).items())
            self._values[number] = self._values.setdefault(values, values)
        if stated not in self._values:
            # The texts have only the names of compilers that no document describes.
            absent = {child for child, _ in stated if not graph.is_described(child)}
            unknown = sorted(map(graph.identity, absent))
            self._values[stated] = *compilers(graph, stated), *unknown
        return self._values[number], self._values[stated], tuple(sorted(run))


def kinds_of(graph: Dag) -> RunKinds:
    """Return the codes of a graph, which are computed once."""
    return graph.catalog.cached(RunKinds)


def run_kinds(graph: Dag, ids: Sequence[int]) -> tuple[Kind, ...]:
    """Partition records into run-time kinds, the largest first, then by the hash.

    Records whose source lists no dependencies are one kind, which is not known and the last.
    Raises Cancelled.

        most_used = run_kinds(dag_of(catalog), ids)[0].ids[0]
    """
    hashes = dict(zip(ids, graph.hashes(ids), strict=True))
    members: dict[int, list[int]] = {}
    codes = kinds_of(graph).codes(ids)
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
