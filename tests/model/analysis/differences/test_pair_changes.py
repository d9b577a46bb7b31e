from __future__ import annotations

from pathlib import Path

import pytest

from spackscope.model.analysis.compare import UNEXPLAINED, PairChanges
from spackscope.model.core.errors import Cancelled
from tests.builders import edge, hash_of, node
from tests.model.analysis.cases import graph_of


def test_a_cycle_of_a_damaged_document_ends(tmp_path: Path) -> None:
    nodes = [
        node(
            hash_of(number + other),
            name=name,
            version=str(other),
            dependencies=[edge(to, hash_of(end + other), ["link"])],
        )
        for other in (0, 10)
        for number, name, end, to in ((1, "a", 2, "b"), (2, "b", 1, "a"))
    ]
    graph = graph_of(tmp_path, *nodes)
    a, b = (graph.find([hash_of(number)])[hash_of(number)] for number in (1, 11))
    search = PairChanges(graph)
    change = search.find(a, b)
    names = {changes[0].package for changes in search.change_sets}
    assert names == {"a", "b"}
    assert not change.total & UNEXPLAINED


def test_an_absent_dependency_is_unexplained(tmp_path: Path) -> None:
    nodes = [
        node(hash_of(n), dependencies=[edge("hidden", hash_of(n + 10), ["link"])]) for n in (1, 2)
    ]
    graph = graph_of(tmp_path, *nodes)
    ids = graph.find([hash_of(1), hash_of(2)])
    change = PairChanges(graph).find(ids[hash_of(1)], ids[hash_of(2)])
    assert (change.own, change.total) == (0, UNEXPLAINED)


def test_a_long_chain_is_walked(tmp_path: Path) -> None:
    length = 500
    nodes = [
        node(
            hash_of(number + start),
            name=f"p{number}",
            version=str(start) if number == length else "1",
            dependencies=[edge(f"p{number + 1}", hash_of(number + start + 1), ["link"])]
            if number < length
            else ...,
        )
        for start in (0, 10_000)
        for number in range(1, length + 1)
    ]
    graph = graph_of(tmp_path, *nodes)
    ids = graph.find([hash_of(1), hash_of(10_001)])
    search = PairChanges(graph)
    change = search.find(ids[hash_of(1)], ids[hash_of(10_001)])
    assert change.own == 0
    assert [changes[0].package for changes in search.change_sets] == [f"p{length}"]
    bounded = PairChanges(graph, max_pairs=20)
    near = graph.find([hash_of(length - 9), hash_of(10_000 + length - 9)])
    assert bounded.find(*near.values()).total == UNEXPLAINED << 1
    assert bounded.find(ids[hash_of(1)], ids[hash_of(10_001)]).total & UNEXPLAINED


def test_a_search_can_be_stopped(tmp_path: Path) -> None:
    nodes = [node(hash_of(n), version=str(n), dependencies=...) for n in (1, 2)]
    graph = graph_of(tmp_path, *nodes)
    with pytest.raises(Cancelled):
        PairChanges(graph).find(0, 1, should_stop=lambda: True)


def test_several_edges_to_one_name_are_one_change(tmp_path: Path) -> None:
    edges = [edge("p", hash_of(number), ["link"]) for number in (3, 4)]
    nodes = [
        node(hash_of(1), dependencies=[]),
        node(hash_of(2), dependencies=edges),
        *(node(hash_of(number), name="p", dependencies=...) for number in (3, 4)),
    ]
    graph = graph_of(tmp_path, *nodes)
    ids = graph.find([hash_of(1), hash_of(2)])
    search = PairChanges(graph)
    assert search.find(ids[hash_of(1)], ids[hash_of(2)]).own == UNEXPLAINED << 1
    assert len(search.change_sets) == 1
