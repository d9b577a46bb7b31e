"""Specs of two sources are matched, and their changes counted."""

import json
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spackscope.model.analysis import source_differences
from spackscope.model.analysis.dag import Dag, Walker, dag_of
from spackscope.model.analysis.differences import Cell, compare_specs
from spackscope.model.analysis.source_differences import (
    ChangeKind,
    SourceChange,
    SourceComparison,
    compare_sources,
    match_specs,
)
from spackscope.model.answers.diff import source_sheet
from spackscope.model.report.writers import json_lines, table_lines
from tests.builders.catalogs import catalog_of
from tests.builders.nodes import edge, node
from tests.builders.pages import hash_of, record, write_page
from tests.builders.sample import with_versions
from tests.builders.spack import write_index
from tests.examples import examples
from tests.model.analysis.cases import made_lock
from tests.model.analysis.lock_files import Made, made, write_lock
from tests.model.index.test_dependency_tree import Graph, graphs


def locks_of(tmp_path: Path, *sides: list[Made]) -> list[Path]:
    """Write environments with these roots."""
    return [write_lock(tmp_path / f"{n}" / "spack.lock", *side) for n, side in enumerate(sides)]


def matched(tmp_path: Path, old: list[Made], new: list[Made]) -> dict[str, str]:
    """Match two environments; return the hash of the partner by the hash of each old spec."""
    catalogs = [*map(catalog_of, locks_of(tmp_path, old, new))]
    first, second = map(dag_of, catalogs)
    graph = Dag(*catalogs)
    ids = range(first.count), [graph.second_id(id_) for id_ in range(second.count)]
    hashes = [set(graph.hashes(side)) for side in ids]
    common = hashes[0] & hashes[1]
    only = ([i for i in side if graph.hashes([i])[0] not in common] for side in ids)
    return dict(map(graph.hashes, match_specs(Walker(graph), *only)))


def zlib(version: str, **fields: Any) -> Made:
    return made("zlib", version, **fields)


def test_steps_are_kept_of_no_spec_that_is_not_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    locks = locks_of(tmp_path, [zlib("1.2")], [made("tool", links=[made("library")])])
    catalogs = [*map(catalog_of, locks)]
    walker, kept = Walker(Dag(*catalogs)), list[int]()
    monkeypatch.setattr(walker, "steps", kept.append)
    ids = [*map(Dag.second_id, range(catalogs[1].total))]
    assert (match_specs(walker, range(1), ids), kept) == ([], [])


def mpi(version: str, *values: bool) -> list[Made]:
    links = [zlib(version)]
    return [made("app", links=links, variants={"mpi": value}) for value in values]


def apps(major: str) -> list[Made]:
    deps = [zlib(f"1.{minor}.{major}") for minor in (2, 3)]
    return [made("app", links=[made("hdf5", links=[dep])]) for dep in deps]


def on(os: str, version: str = "1.2") -> Made:
    return zlib(version, arch={"platform": "linux", "platform_os": os, "target": "zen3"})


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (mpi("1.2", True, False), mpi("1.3", True, False)),
        # Look-alikes match by their dependencies.
        (apps("1"), apps("2")),
        # The nearest version.
        ([zlib("1.12.1"), zlib("1.14.5")], [zlib("1.12.3"), zlib("1.14.6")]),
        # Another version is nearer than another os.
        ([on("rocky8"), on("rocky9")], [on("rocky8", "2"), on("rocky9", "2"), on("ubuntu24.04")]),
    ],
)
def test_a_spec_matches_the_nearest(tmp_path: Path, old: list[Made], new: list[Made]) -> None:
    pairs = matched(tmp_path, old, new[::-1])
    assert [pairs[each.hash] for each in old] == [each.hash for each in new[: len(old)]]


def test_very_many_builds_are_matched_in_order(tmp_path: Path) -> None:
    old = [zlib("1.2", variants={"number": str(n)}) for n in range(60)]
    new = [zlib("1.3", variants={"number": str(n + 100)}) for n in range(50)]
    assert len(matched(tmp_path, old, new)) == 50


OLD, NEW = made("zlib", "1.2"), made("zlib", "1.3")


def compared_files(*paths: Path) -> SourceComparison:
    *_, comparison = compare_sources(*map(catalog_of, paths))
    return comparison


def compared(tmp_path: Path, old: list[Made], new: list[Made]) -> SourceComparison:
    return compared_files(*locks_of(tmp_path, old, new))


def of_kind(comparison: SourceComparison, *kinds: ChangeKind) -> list[SourceChange]:
    return [change for change in comparison.changes if change.kind in kinds]


def spec_count(comparison: SourceComparison, *kinds: ChangeKind) -> int:
    return sum(len(change.b or change.a) for change in of_kind(comparison, *kinds))


def joined(cell: Cell) -> str:
    return " ".join(cell or ())


def changes_of(comparison: SourceComparison) -> list[tuple[Any, ...]]:
    """Return the causes with their effects, in their order."""
    return [
        (f"{c.package} {c.attribute}".strip(), *map(joined, c.values), cause.specs, cause.also)
        for cause in of_kind(comparison, "cause")
        for changes in cause.causes
        for c in changes
    ]


def test_what_only_follows_is_counted_under_its_cause(tmp_path: Path) -> None:
    def roots(zlib: Made) -> list[Made]:
        hdf5 = made("hdf5", links=[zlib])
        return [hdf5, made("netcdf-c", links=[hdf5]), made("app", links=[hdf5, zlib])]

    comparison = compared(tmp_path, roots(OLD), roots(NEW))
    assert changes_of(comparison) == [("zlib version", "1.2", "1.3", 1, 3)]
    names = [comparison.graph.name(*change.a) for change in of_kind(comparison, "changed")]
    assert names == ["app", "hdf5", "netcdf-c", "zlib"]


def apps_with(zlib: Made, cmake: str) -> list[Made]:
    hdf5 = made("hdf5", links=[zlib], variants={"mpi": zlib is NEW})
    both = made("both", links=[zlib], builds=[made("cmake", cmake)])
    return [hdf5, made("app", links=[zlib]), both]


def linked(a: str, b: str) -> list[Made]:
    links = [made("a", a), made("b", b)]
    roots = [made(name, links=links) for name in ("app", "other")]
    return [*roots, made("third", links=links[:1])]


def built_for(os: str) -> list[Made]:
    arch = {"platform": "linux", "platform_os": os, "target": "zen3"}
    links = [made("zlib", arch=arch)]
    return [made(name, links=links, arch=arch) for name in ("app", "other")]


def with_runtime(version: str) -> list[Made]:
    gcc = made("gcc", version)
    return [made("app", links=[made("gcc-runtime", version, builds=[gcc])], builds=[gcc])]


@pytest.mark.parametrize(
    ("old", "new", "changes", "followers"),
    [
        # Only "app" differs by nothing else; "both" also has another cmake, hdf5 a variant.
        (apps_with(OLD, "3.26"), apps_with(NEW, "3.27"), [
            ("zlib version", "1.2", "1.3", 1, 3),
            ("cmake version", "3.26", "3.27", 1, 1),
            ("hdf5 variant:mpi", "~", "+", 1, 0),
        ], [(1, (0,)), (1, (0, 1))]),
        (linked("1", "1"), linked("2", "2"), [
            ("a version", "1", "2", 1, 3), ("b version", "1", "2", 1, 2),
        ], [(2, (0, 1)), (1, (0,))]),
        # Another os everywhere is one cause.
        (built_for("rocky8"), built_for("rocky9"), [("os", "rocky8", "rocky9", 3, 0)],
         [(3, (0,))]),
        # A runtime follows its compiler.
        (with_runtime("12"), with_runtime("13"), [("gcc version", "12", "13", 1, 2)],
         [(2, (0,))]),
    ],
)  # fmt: skip
def test_changes_are_counted_with_what_follows_them(
    tmp_path: Path,
    old: list[Made],
    new: list[Made],
    changes: list[object],
    followers: list[object],
) -> None:
    comparison = compared(tmp_path, old, new)
    assert changes_of(comparison) == changes
    places = [change.causes[0] for change in of_kind(comparison, "cause")]
    assert [
        (change.specs, tuple(map(places.index, change.causes)))
        for change in of_kind(comparison, "because")
    ] == followers


def test_a_gained_dependency_is_a_cause_unless_the_recipe_changed(tmp_path: Path) -> None:
    def app(version: str, target: str, *links: Made) -> Made:
        arch = {"platform": "linux", "platform_os": "rocky9", "target": target}
        return made("app", version, links=links, arch=arch)

    cases = {
        "zen3": [("target", "zen2", "zen3", 1, 0), ("zlib present", "", "1.3", 1, 0)],
        "zen2": [("app version", "1", "2", 1, 0)],
    }
    for target, changes in cases.items():
        new = app("1" if target == "zen3" else "2", target, zlib("1.3"))
        comparison = compared(tmp_path / target, [app("1", "zen2")], [new])
        assert sorted(changes_of(comparison)) == sorted(changes)


def test_more_and_fewer_builds_of_a_package_are_told(tmp_path: Path) -> None:
    comparison = compared(tmp_path, [OLD, made("xz", "1"), made("xz", "2")], [OLD, NEW])
    (removed, more) = of_kind(comparison, "added", "removed", "more", "fewer")
    graph = comparison.graph
    assert (removed.kind, list(map(graph.name, removed.a))) == ("removed", ["xz", "xz"])
    assert (more.kind, list(map(graph.name, more.b))) == ("more", ["zlib"])


def test_very_many_causes_are_not_kept_for_each_spec(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source_differences, "MAX_CAUSES", 0)
    old, new = ([made("hdf5", links=[zlib])] for zlib in (OLD, NEW))
    comparison = compared(tmp_path, old, new)

    assert changes_of(comparison) == [("zlib version", "1.2", "1.3", 1, 0)]
    assert [change.specs for change in of_kind(comparison, "unexplained")] == [1]


def test_roots_are_compared(tmp_path: Path) -> None:
    app = made("app", links=[OLD])
    comparison = compared(tmp_path, [app, made("xz")], [made("app", links=[NEW]), NEW])
    name = comparison.graph.name
    roots = [
        (change.kind, *map(name, (*change.a, *change.b)))
        for change in of_kind(comparison, "root added", "root removed")
    ]
    # The other app is a root in place of the first.
    assert roots == [("root added", "zlib"), ("root removed", "xz")]
    other_roots = compared(tmp_path, [app], [app, OLD])
    assert other_roots.same == 2
    assert [change.kind for change in other_roots.changes] == ["root added"]


def test_a_hash_in_several_tags_of_a_source_counts_once(tmp_path: Path) -> None:
    for tag in ("one", "two"):
        write_page(tmp_path / "old", [record(1)], tag=tag)
    new = write_page(tmp_path / "new.md", [record(1)], tag="three")
    comparison = compared_files(tmp_path / "old", new)
    assert (comparison.count_a, comparison.count_b, comparison.changes) == (1, 1, [])


def indexes_of(tmp_path: Path, *sides: list[dict[str, Any]]) -> SourceComparison:
    files = (write_index(tmp_path / f"{n}.json", *nodes) for n, nodes in enumerate(sides))
    return compared_files(*files)


def chain(start: int, length: int) -> list[dict[str, Any]]:
    """Build specs that each link the next one; the last one has the version `start`."""
    return [
        node(
            hash_of(start + number),
            name=f"p{number}",
            version=str(start) if number == length else "1",
            dependencies=[edge(f"p{number + 1}", hash_of(start + number + 1), ["link"])]
            if number < length
            else [],
        )
        for number in range(1, length + 1)
    ]


@pytest.mark.parametrize("most", [501, 450])
def test_a_long_chain_is_explained_unless_there_are_too_many_pairs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(source_differences, "MAX_PAIRS", most)
    comparison = indexes_of(tmp_path, chain(0, 500), chain(10_000, 500))
    ((name, *values, own, also),) = changes_of(comparison)
    unexplained = sum(change.specs for change in of_kind(comparison, "unexplained"))

    assert (name, values, own) == ("p500 version", ["0", "10000"], 1)
    assert also + own + unexplained == 500
    assert (unexplained > 0) is (most < 500)
    assert also + own >= most - 1


def test_an_absent_dependency_is_unexplained(tmp_path: Path) -> None:
    sides = (
        [node(hash_of(n), dependencies=[edge("hidden", hash_of(n + 10), ["link"])])]
        for n in (1, 2)
    )
    comparison = indexes_of(tmp_path, *sides)
    assert changes_of(comparison) == []
    assert [change.specs for change in of_kind(comparison, "unexplained")] == [1]


def test_several_edges_to_one_name_are_one_change(tmp_path: Path) -> None:
    p = [node(hash_of(number), name="p", dependencies=[]) for number in (3, 4)]
    edges = [edge("p", each["hash"], ["link"]) for each in p]
    sides = [node(hash_of(1), dependencies=[]), *p], [node(hash_of(2), dependencies=edges), *p]
    assert changes_of(indexes_of(tmp_path, *sides)) == [("p present", "", "1.3.1", 1, 0)]


def test_the_changes_of_a_real_environment_are_explained(tmp_path: Path) -> None:
    lock = json.loads(made_lock())
    old = lock["concrete_specs"]
    changed = ("ncurses", "python")
    before = {(n["name"], n["version"]) for n in old.values() if n["name"] in changed}
    new = with_versions(old, {each: f"7.{each[1]}" for each in before})
    new_lock = {
        **lock,
        "concrete_specs": {node["hash"]: node for node in new.values()},
        "roots": [{**root, "hash": new[root["hash"]]["hash"]} for root in lock["roots"]],
    }
    paths = [tmp_path / "old.lock", tmp_path / "new.lock"]
    for path, document in zip(paths, (lock, new_lock), strict=True):
        path.write_text(json.dumps(document))
    comparison = compared_files(*paths)

    graph = comparison.graph
    moved = {hash_: node["hash"] for hash_, node in new.items() if node["hash"] != hash_}
    assert comparison.same == len(old) - len(moved)
    pairs = [(*change.a, *change.b) for change in of_kind(comparison, "changed")]
    assert {tuple(graph.hashes(pair)) for pair in pairs} == set(moved.items())
    assert {change.kind for change in comparison.changes} == {"changed", "cause", "because"}
    causes = {each[:3]: each[3:] for each in changes_of(comparison)}
    assert {name for name, *_ in causes} == {f"{name} version" for name in changed}
    own, below = Counter[tuple[object, ...]](), Counter[tuple[object, ...]]()
    walker = Walker(graph)
    for pair in pairs:
        for row in compare_specs(walker, pair):
            if not row.follows:
                which = below if row.path else own
                a, b = map(joined, row.values)
                which[f"{row.package} {row.attribute}", a, b] += 1
    assert causes == {each: (own[each], below[each]) for each in own}


def index_of(path: Path, graph: Graph, version: int, names: int) -> Path:
    """Write an index with these edges, in which every third spec has the version."""

    def hash_in(number: int) -> str:
        return hash_of(number if number % 3 else number + 20 * version)

    deptypes = (["link"], ["build"], ["build", "run"])
    nodes = [
        node(
            hash_in(parent),
            name=f"p{parent % names}",
            version=str(parent + version),
            dependencies=[
                edge(f"p{child % names}", hash_in(child), deptypes[child % 3])
                for child in children
            ],
        )
        for parent, children in graph.items()
    ]
    return write_index(path, *nodes)


@given(graphs, graphs, st.integers(1, 12))
@examples(30)
def test_all_specs_are_accounted_for(old: Graph, new: Graph, names: int) -> None:
    with tempfile.TemporaryDirectory() as directory:
        paths = [
            index_of(Path(directory, f"{version}.json"), graph, version, names)
            for version, graph in enumerate((old, new))
        ]
        *parts, result = compare_sources(*map(catalog_of, paths))
        same = result.same + spec_count(result, "changed")
        assert same + spec_count(result, "added", "more") == result.count_b
        assert same + spec_count(result, "removed", "fewer") == result.count_a
        first_kinds = {change.kind for change in parts[0].changes}
        assert first_kinds <= {"added", "removed"}, "a part stays as it was"
        sheet = source_sheet(result, "old", "new")
        assert list(table_lines(sheet, 80, None))
        assert len(list(json_lines(sheet))) == len(sheet.rows)
        first, second = (source_sheet(part, "old", "new") for part in parts)
        assert all(row in second.rows for row in first.rows)
        assert all(row in sheet.rows for row in second.rows)
