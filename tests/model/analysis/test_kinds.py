"""Tests of `run_kinds`, whose partition is that of the linked and run closures in Spack."""

from pathlib import Path

import pytest

from spackscope.model.analysis.dag import Dag, dag_of
from spackscope.model.analysis.kinds import run_kinds
from spackscope.model.index.catalog import Catalog
from tests.builders.nodes import GCC, GMAKE, edge, leaf, node
from tests.builders.pages import hash_of
from tests.examples import some_and_all
from tests.model.analysis.cases import graph_of, ids_in, ids_of, spack_answers

A, B, LIB, OTHER, USER, SECOND_USER = (hash_of(number) for number in range(11, 17))


def kinds_of(graph: Dag, *hashes: str) -> list[list[str]]:
    return [graph.hashes(kind.ids) for kind in run_kinds(graph, ids_of(graph, *hashes))]


@some_and_all(8)
def test_the_kinds_of_groups_are_those_of_spack(
    whole_catalogs: dict[str, Catalog], step: int
) -> None:
    for group in spack_answers("groups")[::step]:
        catalog = whole_catalogs[group["index"]]
        graph, ids = dag_of(catalog), ids_in(catalog)
        hashes = [hash_ for kind in group["kinds"] for hash_ in kind]
        kinds = run_kinds(graph, [ids[hash_] for hash_ in reversed(hashes)])
        short = [sorted(hash_[:7] for hash_ in graph.hashes(kind.ids)) for kind in kinds]
        assert short == group["kinds"], group["id"]


LINKED = edge("lib", LIB, ["link"])


@pytest.mark.parametrize(
    ("fields", "is_same"),
    [
        ({"package_hash": "def===="}, True),
        ({"namespace": "mine"}, True),
        ({"dependencies": [LINKED, edge("gmake", GMAKE, ["run"])]}, False),
        ({"dependencies": [edge("lib", LIB, ["run"])]}, False),
        ({"dependencies": [LINKED, edge("gcc", GCC, ["build"], ["c"])]}, False),
        ({"arch": {"platform": "linux", "platform_os": "sles15", "target": "zen3"}}, False),
        ({"patches": ["abc"]}, False),
    ],
    ids=str,
)
def test_only_what_counts_at_run_time_makes_another_kind(
    tmp_path: Path, fields: dict[str, object], is_same: bool
) -> None:
    linked = {"dependencies": [edge("lib", LIB, ["build", "link"])]}
    graph = graph_of(
        tmp_path,
        node(A, **linked),
        node(B, **{**linked, **fields}),
        node(LIB, name="lib", dependencies=[edge("gmake", GMAKE, ["build"])]),
        *(leaf(GCC, "gcc", "13"), leaf(GMAKE, "gmake", "4")),
    )

    assert kinds_of(graph, A, B) == ([[A, B]] if is_same else [[A], [B]])


def test_builds_of_a_kind_are_the_most_used_first(tmp_path: Path) -> None:
    graph = graph_of(
        tmp_path,
        *(leaf(hash_, "lib", "1") for hash_ in (A, B, LIB)),
        leaf(OTHER, "lib", "2"),
        node(USER, name="user", dependencies=[edge("lib", LIB, ["link"])]),
        node(SECOND_USER, name="user", dependencies=[edge("lib", LIB, ["build"])]),
    )
    same, other = run_kinds(graph, ids_of(graph, A, B, LIB, OTHER))

    assert graph.hashes(same.ids) == [LIB, A, B]
    assert same.users == (2, 0, 0)
    assert same.total_users == 2
    assert graph.hashes(other.ids) == [OTHER]


def test_what_no_document_describes_is_told_apart_by_its_hash(tmp_path: Path) -> None:
    graph = graph_of(
        tmp_path,
        node(A, dependencies=[edge("lib", LIB, ["link"])]),
        node(B, dependencies=[edge("lib", OTHER, ["link"])]),
        node(USER, dependencies=[edge("lib", LIB, ["link"])], package_hash="other"),
    )

    assert kinds_of(graph, A, B, USER) == [[A, USER], [B]]
    compiled = [
        node(hash_, dependencies=[edge("gcc", gcc, ["build"], ["c"])])
        for hash_, gcc in ((A, GCC), (B, GCC), (USER, OTHER))
    ]
    assert kinds_of(graph_of(tmp_path, *compiled), A, B, USER) == [[A, B], [USER]]
    ends = (A, "a", "b", B), (B, "b", "a", A)
    cycle = [node(h, name=n, dependencies=[edge(to, end, ["link"])]) for h, n, to, end in ends]
    assert kinds_of(graph_of(tmp_path, *cycle), A, B) == [[A], [B]]
