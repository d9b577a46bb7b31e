from __future__ import annotations

from pathlib import Path
from typing import Any

from spackscope.model.analysis.dag import Dag, dag_of
from spackscope.model.analysis.source_differences import SpecMatcher
from tests.builders import catalog_of
from tests.model.analysis.lock_files import Made, made, write_lock


def matched(tmp_path: Path, old: list[Made], new: list[Made]) -> dict[str, str]:
    """Match two environments; return the hash of the partner by the hash of each old spec."""
    catalogs = [
        catalog_of(write_lock(tmp_path / side / "spack.lock", *roots))
        for side, roots in (("old", old), ("new", new))
    ]
    first, second = map(dag_of, catalogs)
    graph = Dag(*catalogs)
    ids = range(first.count), [graph.second_id(id_) for id_ in range(second.count)]
    hashes = [set(graph.hashes(side)) for side in ids]
    common = hashes[0] & hashes[1]
    only = ([i for i in side if graph.hashes([i])[0] not in common] for side in ids)
    matching = SpecMatcher(graph).match(*only)
    sides = ([pair.a for pair in matching.pairs], [pair.b for pair in matching.pairs])
    pairs = dict(zip(*map(graph.hashes, sides), strict=True))
    assert len(pairs) + len(matching.only_a) + len(common) == len(hashes[0])
    assert len(pairs) + len(matching.only_b) + len(common) == len(hashes[1])
    return pairs


def zlib(version: str, **fields: Any) -> Made:
    return made("zlib", version, **fields)


def test_a_spec_matches_itself_with_other_dependencies(tmp_path: Path) -> None:
    old = [made("app", links=[zlib("1.2")], variants={"mpi": mpi}) for mpi in (True, False)]
    new = [made("app", links=[zlib("1.3")], variants={"mpi": mpi}) for mpi in (False, True)]
    pairs = matched(tmp_path, old, new)
    assert pairs[old[0].hash] == new[1].hash
    assert pairs[old[1].hash] == new[0].hash


def test_look_alikes_match_by_their_dependencies(tmp_path: Path) -> None:
    def apps(major: str) -> list[Made]:
        deps = [zlib(f"1.{minor}.{major}") for minor in (2, 3)]
        through = [made("hdf5", links=[dep]) for dep in deps]
        return [made("app", links=[each]) for each in through]

    old, new = apps("1"), apps("2")[::-1]
    pairs = matched(tmp_path, old, new)
    assert pairs[old[0].hash] == new[1].hash
    assert pairs[old[1].hash] == new[0].hash


def test_versions_match_the_nearest(tmp_path: Path) -> None:
    pairs = matched(tmp_path, [zlib("1.12.1"), zlib("1.14.5")], [zlib("1.14.6"), zlib("1.12.3")])
    assert pairs[zlib("1.12.1").hash] == zlib("1.12.3").hash
    assert pairs[zlib("1.14.5").hash] == zlib("1.14.6").hash


def test_another_version_is_nearer_than_another_os(tmp_path: Path) -> None:
    def on(os: str, version: str) -> Made:
        return zlib(version, arch={"platform": "linux", "platform_os": os, "target": "zen3"})

    old = [on("rocky8", "1.2"), on("rocky9", "1.2")]
    new = [on("rocky9", "1.3"), on("rocky8", "1.3"), on("ubuntu24.04", "1.2")]
    pairs = matched(tmp_path, old, new)
    assert pairs == {old[0].hash: new[1].hash, old[1].hash: new[0].hash}


def test_each_spec_matches_at_most_one(tmp_path: Path) -> None:
    old = [zlib("1.2")]
    new = [zlib(version) for version in ("1.3", "1.4", "1.5")]
    assert matched(tmp_path, old, new).keys() == {old[0].hash}
    assert len(matched(tmp_path, new, old)) == 1


def test_very_many_builds_are_matched_in_order(tmp_path: Path) -> None:
    old = [zlib("1.2", variants={"number": str(n)}) for n in range(60)]
    new = [zlib("1.3", variants={"number": str(n + 100)}) for n in range(50)]
    assert len(matched(tmp_path, old, new)) == 50
