"""What depends on what: edges, dependents, and paths between two specs."""

import gzip
import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from spackscope.model.index.catalog import Catalog


@pytest.fixture(scope="module", params=["spack0", "spack1"])
def catalog(request: pytest.FixtureRequest, small_catalogs: dict[str, Catalog]) -> Catalog:
    return small_catalogs[request.param]


def edges_of(spec: Mapping[str, Any]) -> Counter[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """Return the edges of a node as the document has them: hash, deptypes, virtuals."""
    return Counter(
        (
            dependency["hash"],
            tuple(sorted(dependency["parameters"]["deptypes"])),
            tuple(sorted(dependency["parameters"]["virtuals"])),
        )
        for dependency in spec.get("dependencies", ())
    )


def everyone(catalog: Catalog) -> range:
    """Return the ids of all records, those that have no row among them."""
    return range(catalog.first[-1])


def test_every_edge_of_an_index_is_there_and_no_other(catalog: Catalog) -> None:
    known, rows = catalog.edges, catalog.rows(everyone(catalog))
    text = gzip.decompress(Path(rows[0].spec.origin).read_bytes())
    document = json.loads(text)["database"]["installs"]
    assert {row.spec.hash for row in rows} == set(document)
    for row in rows:
        edges = known.of(row.id)
        absent = [known.absent_at(edge.child) for edge in edges]
        hashes = [
            a.hash if a else rows[e.child].spec.hash for a, e in zip(absent, edges, strict=True)
        ]
        kinds = [(tuple(sorted(edge.deptypes)), tuple(sorted(edge.virtuals))) for edge in edges]
        found = Counter((hash_, *kind) for hash_, kind in zip(hashes, kinds, strict=True))
        assert found == edges_of(document[row.spec.hash]["spec"])


def test_dependents_are_the_edges_the_other_way(catalog: Catalog) -> None:
    known = catalog.edges
    downwards = [dependency for id_ in everyone(catalog) for dependency in known.of(id_)]
    nodes = {dependency.child for dependency in downwards} | set(everyone(catalog))
    upwards = [dependency for id_ in sorted(nodes) for dependency in known.dependents(id_)]

    assert Counter(upwards) == Counter(downwards)
    for id_ in nodes:
        parents = [dependency.parent for dependency in known.dependents(id_)]
        assert parents == sorted(parents)


def test_all_dependencies_below_a_record_are_reached(catalog: Catalog) -> None:
    known = catalog.edges
    start = max(everyone(catalog), key=lambda id_: len(known.of(id_)))
    below, waiting = {start}, [start]
    while waiting:
        new = {dependency.child for dependency in known.of(waiting.pop())} - below
        below |= new
        waiting += new

    assert below > {start, *(dependency.child for dependency in known.of(start))}
    assert known.down.reached([start]) == below
