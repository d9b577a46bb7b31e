"""The nearest candidate is the one with the fewest differences of its own, then with the fewest
other specs below, then with the first hash."""

from pathlib import Path
from typing import Any

from spackscope.model.analysis.dag import Dag, dag_of
from spackscope.model.analysis.nearest import NearestSearch
from tests.builders.catalogs import catalog_of
from tests.builders.nodes import edge, in_format, leaf, node
from tests.builders.pages import hash_of, record, write_page
from tests.builders.spack import database, installs, write_index
from tests.model.analysis.cases import graph_of, ids_of, ranked

GCC_13, GCC_12, CLANG = (hash_of(number) for number in (101, 102, 103))
COMPILERS = (leaf(GCC_13, "gcc", "13.2.0"), leaf(GCC_12, "gcc", "12"), leaf(CLANG, "llvm", "18"))


def zlib(number: int, compiler: str = GCC_13, **fields: Any) -> dict[str, Any]:
    name = "llvm" if compiler == CLANG else "gcc"
    edges = [edge(name, compiler, ["build"], ["c", "cxx"])]
    return node(hash_of(number), **{"dependencies": edges, **fields})


def found(graph: Dag, number: int, *numbers: int) -> list[tuple[str, tuple[str, ...]]]:
    """Return what differs from the nearest of some candidates, then from those tied with it."""
    spec, *candidates = ids_of(graph, *map(hash_of, (number, *numbers)))
    return [(hash_, tuple(names)) for hash_, names in ranked(graph, spec, candidates)]


def test_fewer_differing_attributes_come_first(tmp_path: Path) -> None:
    arch = {"platform": "linux", "platform_os": "ubuntu22.04", "target": "zen3"}
    static = {"build_system": "generic", "shared": False, "cflags": ["-O2"]}
    others = zlib(3, parameters=static), zlib(4, GCC_12), zlib(5, CLANG, version="1.3")
    graph = graph_of(tmp_path, *COMPILERS, zlib(1), zlib(2, arch=arch), *others)
    assert found(graph, 1, 1, 2, 3, 4, 5) == [(hash_of(4), ("compiler",))]
    assert found(graph, 1, 2, 3) == [
        (hash_of(2), ("os", "target")),
        (hash_of(3), ("cflags", "variant:shared")),
    ]
    assert found(graph, 1, 5) == [(hash_of(5), ("compiler", "version"))]
    assert found(graph, 1) == found(graph, 1, 1) == []


def test_a_compiler_of_unknown_version_does_not_differ(tmp_path: Path) -> None:
    unknown = edge("gcc", hash_of(99), ["build"], ["c"])
    graph = graph_of(
        tmp_path, *COMPILERS, zlib(1), zlib(2, dependencies=[unknown]), zlib(3, CLANG)
    )

    assert [each[:2] for each in found(graph, 2, 1, 3)] == [(hash_of(1), ())]


def test_fewer_other_specs_below_come_first_among_equals(tmp_path: Path) -> None:
    names = {7: "xz", 8: "zstd", 9: "xz", 10: "zstd"}
    below = [leaf(hash_of(number), name, str(number)) for number, name in names.items()]
    ends = {1: (7, 8), 2: (9, 10), 3: (7, 10), 4: (9, 8), 5: (9, 10)}
    users = [
        zlib(number, dependencies=[edge(names[end], hash_of(end), ["link"]) for end in its])
        for number, its in ends.items()
    ]
    graph = graph_of(tmp_path, *below, *users)
    ids = ids_of(graph, *map(hash_of, ends))
    answer = NearestSearch(graph).nearest(ids[0], ids)

    assert (answer.tied, answer.total) == (4, 4)
    assert found(graph, 1, 2, 3, 4, 5) == [
        (hash_of(3), ()),
        (hash_of(4), ()),
        (hash_of(2), ()),
        (hash_of(5), ()),
    ]


def test_closures_are_compared_only_within_a_format(tmp_path: Path) -> None:
    (tmp_path / "old.json").write_bytes(database(installs(in_format(4, node(hash_of(2)))), "7"))
    write_index(tmp_path / "new.json", zlib(1), *COMPILERS)
    graph = dag_of(catalog_of(tmp_path / "old.json", tmp_path / "new.json"))

    # The name of a compiler before Spack 1.0, and the package that it is now, are the same.
    assert found(graph, 1, 2) == [(hash_of(2), ())]


def test_pages_are_compared_by_what_they_tell(tmp_path: Path) -> None:
    write_index(tmp_path / "new.json", zlib(1), *COMPILERS)
    write_page(
        tmp_path / "pages", [record(2), record(3, target="zen4"), record(4, compiler="none")]
    )
    graph = dag_of(catalog_of(tmp_path / "new.json", tmp_path / "pages"))

    assert found(graph, 1, 2) == [(hash_of(2), ())]
    assert found(graph, 1, 3, 4) == [
        (hash_of(3), ("target",)),
        (hash_of(4), ("compiler",)),
    ]
