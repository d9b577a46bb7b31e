"""The places that were jumped from, and how much of them is kept."""

from __future__ import annotations

from pathlib import Path

from spackscope.model.catalog.dependency_tree import read_tree
from spackscope.model.catalog.listing import View
from spackscope.tui.browser.trail import MOST_LINES, MOST_PLACES, Place, Trail
from tests.builders import catalog_of, database, edge, hash_of, installs, node

USERS = 1_000


def test_places_are_kept_to_a_number_and_their_trees_to_a_number_of_lines(tmp_path: Path) -> None:
    zlib = hash_of(0)
    users = [
        node(hash_of(number), name="user", dependencies=[edge("zlib", zlib, ["link"])])
        for number in range(1, USERS + 1)
    ]
    records = installs(node(zlib, name="zlib", dependencies=...), *users)
    path = tmp_path / "index.json"
    path.write_bytes(database(records))
    catalog = catalog_of(path)
    (row,) = catalog.by_hash(zlib)
    trail = Trail()

    for _ in range(MOST_PLACES + 50):
        tree = read_tree(catalog, row.id, ["dependents"])
        trail.leave(Place(View(), row, row, tree=tree))
        assert trail.lines <= MOST_LINES

    here, trees = Place(View(), row, row), []
    while (place := trail.go(here, -1)) is not None:
        trees.append(place.tree)
    assert len(trees) == MOST_PLACES
    unfolded = MOST_LINES // (USERS + 2)
    assert all(tree is not None for tree in trees[:unfolded])
    assert not any(trees[unfolded:])
