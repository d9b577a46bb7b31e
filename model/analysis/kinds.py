"""Partition look-alikes into run-time kinds: builds whose linked and run closures are equal."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from spackscope.model.analysis.dag import Dag, dag_of, post_order
from spackscope.model.analysis.varying import (
    CompilerLink,
    compiled_languages,
    compiler_texts,
    run_time_deptypes,
    run_time_values,
)
from spackscope.model.catalog.catalog import Catalog
from spackscope.model.core.errors import Cancelled
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.tasks import ShouldStop, never


class Kind(Frozen):
    """Builds that run the same.

    `ids` are the most used first: the first is the one to take. `users` has for each the number of
    records that depend on it. The closures of a kind that is not `is_known` are not listed by
    their source, so its builds may differ.
    """

    ids: tuple[int, ...]
    users: tuple[int, ...]
    is_known: bool = True

    @property
    def total_users(self) -> int:
        """The number of records that depend on any of the builds."""
        return sum(self.users)


_RunEdge = tuple[tuple[str, ...], int]
"""The run-time deptypes of an edge, and the dependency."""


class _Links(NamedTuple):
    """What the kind of a spec depends on: its run-time dependencies, and its compilers."""

    run: Sequence[_RunEdge]
    compilers: tuple[CompilerLink, ...]


class _Node(NamedTuple):
    """What makes the kind of a record: its own values, and its dependencies at run time."""

    values: int
    compilers: tuple[str, ...]
    dependencies: tuple[_RunEdge, ...]


class RunKinds:
    """Codes of the run-time kinds of one graph, computed bottom-up and kept.

    Two records have the same code if their closures over link and run edges are equal but for the
    hashes: per node the values of `run_time_values`, the compilers, and these edges. What is not
    described has the code of its hash, or with `ignores_unknown` that of its name. No closure is
    copied: a code is made of the codes of the dependencies. Safe to use from several threads.
    """

    def __init__(self, graph: Dag, *, ignores_unknown: bool = False) -> None:
        self._graph, self._ignores_unknown = graph, ignores_unknown
        self._lock = threading.Lock()
        self._codes: dict[int, int] = {}
        self._code_of: dict[_Node | int | str, int] = {}
        self._values: dict[int, int] = {}
        self._code_of_values: dict[object, int] = {}
        self._compilers: dict[tuple[CompilerLink, ...], tuple[str, ...]] = {}

    def codes(self, ids: Iterable[int], *, should_stop: ShouldStop = never) -> list[int]:
        """Return the code of the kind of each record. Raises Cancelled."""
        wanted = list(ids)
        with self._lock:
            self._add(wanted, should_stop)
            return [self._codes[id_] for id_ in wanted]

    def _add(self, ids: Iterable[int], should_stop: ShouldStop) -> None:
        """Compute the codes of specs and of all that they link or run, dependencies first."""
        codes, links_of = self._codes, dict[int, _Links]()

        def below(id_: int) -> list[int]:
            if should_stop():
                raise Cancelled
            links = links_of[id_] = _read_links(self._graph, id_)
            return [child for _, child in links.run if child not in codes]

        # What depends on itself, in a damaged source, has the code of its hash there.
        for id_ in post_order((id_ for id_ in ids if id_ not in codes), below):
            codes[id_] = self._code(id_, links_of.pop(id_))

    def _code(self, id_: int, links: _Links) -> int:
        graph = self._graph
        node: _Node | int | str = graph.identity(id_)
        if graph.is_described(id_) and graph.lists_dependencies(id_):
            codes = self._codes
            dependencies = [
                (deptypes, codes[child] if child in codes else -1 - graph.identity(child))
                for deptypes, child in links.run
            ]
            compilers = self._compilers.get(links.compilers)
            if compilers is None:
                compilers = compiler_texts(graph, links.compilers)
                self._compilers[links.compilers] = compilers
            if not self._ignores_unknown:
                compilers += self._unknown_compilers(links)
            values = self._values_of(id_)
            node = _Node(values, compilers, tuple(sorted(dependencies)))
        elif self._ignores_unknown:
            node = graph.name(id_)
        return self._code_of.setdefault(node, len(self._code_of))

    def _unknown_compilers(self, links: _Links) -> tuple[str, ...]:
        """Return the identities of compilers that no document describes, but for their names."""
        graph = self._graph
        ids = {child for child, _ in links.compilers if not graph.is_described(child)}
        return tuple(sorted(str(graph.identity(child)) for child in ids))

    def _values_of(self, id_: int) -> int:
        """Return a code of the record's own values at run time."""
        graph = self._graph
        configuration = graph.configuration(id_)
        code = self._values.get(configuration)
        if code is None:
            values = tuple(sorted(run_time_values(graph.attributes(id_)).items()))
            code = self._code_of_values.setdefault(values, len(self._code_of_values))
            self._values[configuration] = code
        return code


def _read_links(graph: Dag, id_: int) -> _Links:
    run, compilers = [], []
    for child, (deptypes, virtuals) in graph.links(id_):
        if at_run_time := run_time_deptypes(deptypes):
            run.append((at_run_time, child))
        if virtuals and (languages := compiled_languages(virtuals)):
            compilers.append((child, languages))
    return _Links(run, tuple(compilers))


def kinds_of(graph: Dag) -> RunKinds:
    """Return the codes of a graph, which are computed once."""
    return graph.catalog.cached(_kinds_of)


def _kinds_of(catalog: Catalog) -> RunKinds:
    return RunKinds(dag_of(catalog))


def run_kind(graph: Dag, id_: int) -> int:
    """Return a code that two records share if they are of the same run-time kind."""
    return kinds_of(graph).codes([id_])[0]


def run_the_same(graph: Dag, ids: Sequence[int]) -> bool | None:
    """Check whether records are of one run-time kind; None if their sources do not tell."""
    if len(set(map(graph.identity, ids))) == 1:
        return True
    if not all(map(graph.lists_dependencies, ids)):
        return None
    if len(set(kinds_of(graph).codes(ids))) == 1:
        return True
    known = RunKinds(graph, ignores_unknown=True).codes(ids)
    return None if len(set(known)) == 1 else False


def run_kinds(
    graph: Dag, ids: Sequence[int], *, should_stop: ShouldStop = never
) -> tuple[Kind, ...]:
    """Partition records into run-time kinds, the largest first, then by the hash.

    Records whose source lists no dependencies are one kind, which is not known and the last.
    Raises Cancelled.

        most_used = run_kinds(dag_of(catalog), ids)[0].ids[0]
    """
    members: dict[int, list[int]] = {}
    codes = kinds_of(graph).codes(ids, should_stop=should_stop)
    for id_, code in zip(ids, codes, strict=True):
        members.setdefault(code if graph.lists_dependencies(id_) else -1, []).append(id_)
    unknown = members.pop(-1, None)
    hashes = dict(zip(ids, graph.hashes(ids), strict=True))
    known = sorted(
        members.values(), key=lambda kind: (-len(kind), min(map(hashes.__getitem__, kind)))
    )
    kinds = [_by_use(graph, kind, hashes) for kind in known]
    if unknown is not None:
        kinds.append(_by_use(graph, unknown, hashes, is_known=False))
    return tuple(kinds)


def _by_use(
    graph: Dag, ids: Sequence[int], hashes: Mapping[int, str], *, is_known: bool = True
) -> Kind:
    users = {id_: len(graph.dependents(id_)) for id_ in ids}
    ordered = sorted(ids, key=lambda id_: (-users[id_], hashes[id_]))
    return Kind(tuple(ordered), tuple(map(users.__getitem__, ordered)), is_known)
