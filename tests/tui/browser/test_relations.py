"""The lines on how the selected spec relates to others, without an app."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builders import Node, database, edge, hash_of, installs, node, record, write_page
from tests.tui.browser.fake_host import FakeBrowser

FITS = "fits: ✓ runs on zen3"
HOST = {"SPACKSCOPE_HOST": "target=zen3 glibc=2.35"}
A, B, C, OTHER, USER, ZLIB, ZLIB_2, GMAKE, GMAKE_2 = map(hash_of, range(9))


def spec(hash_: str, name: str, version: str, *dependencies: Node) -> Node:
    return node(hash_, name=name, version=version, dependencies=[*dependencies])


def hdf5(hash_: str, zlib: str, gmake: str) -> Node:
    return spec(
        hash_, "hdf5", "1.14", edge("zlib", zlib, ["link"]), edge("gmake", gmake, ["build"])
    )


@pytest.fixture
def browser(tmp_path: Path) -> FakeBrowser:
    """Browse hdf5 three times: B has another gmake to build with, C links another zlib."""
    records = installs(
        hdf5(A, ZLIB, GMAKE),
        hdf5(B, ZLIB, GMAKE_2),
        hdf5(C, ZLIB_2, GMAKE_2),
        spec(OTHER, "hdf5", "1.12", edge("zlib", ZLIB, ["link"])),
        spec(USER, "vtk", "9", edge("hdf5", A, ["link"])),
        spec(ZLIB, "zlib", "1.3"),
        spec(ZLIB_2, "zlib", "1.2"),
        spec(GMAKE, "gmake", "4.4"),
        spec(GMAKE_2, "gmake", "4.3"),
    )
    path = tmp_path / "index.json"
    path.write_bytes(database(records))
    return FakeBrowser(path, query="hdf5", environ=HOST).load()


def relations(browser: FakeBrowser) -> list[str]:
    details = browser.state.details
    assert details is not None
    return [f"{line.label}: {line.text}" for line in details.relations]


def select(browser: FakeBrowser, hash_: str) -> None:
    results = browser.state.results
    assert results is not None
    hashes = [row.spec.hash for row in results.catalog.rows(results.listing.ids)]
    browser.move_to(hashes.index(hash_))


def test_the_nearest_look_alike_of_another_kind_the_needs_and_the_users_are_shown(
    browser: FakeBrowser,
) -> None:
    select(browser, A)
    browser.settle()
    assert relations(browser) == [
        FITS,
        f"next to: {C[:7]}  zlib 1.3 ≠ 1.2 · build only: gmake 4.4 ≠ 4.3",
        "needs to run: zlib@1.3",
        "used by: vtk@9",
    ]
    select(browser, OTHER)
    browser.settle()
    assert relations(browser) == [FITS, "needs to run: zlib@1.3", "used by: nothing here"]


def test_their_place_is_kept_until_they_are_read(browser: FakeBrowser) -> None:
    select(browser, OTHER)
    browser.settle()
    select(browser, A)
    browser.host.work("detail")
    assert relations(browser) == ["fits: …", "next to: …", "needs to run: …", "used by: …"]
    select(browser, OTHER)
    browser.host.work("detail")
    assert not browser.host.is_running("relations"), "they are known, and the job is stopped"
    assert relations(browser) == [FITS, "needs to run: zlib@1.3", "used by: nothing here"]


def test_one_marked_spec_is_what_others_are_compared_with(browser: FakeBrowser) -> None:
    select(browser, A)
    browser.settle()
    row = browser.host.where.row
    assert row is not None
    browser.controllers.selection.mark(row)
    select(browser, OTHER)
    browser.settle()
    assert relations(browser)[1].startswith(f"next to: {A[:7]}  hdf5 1.12 ≠ 1.14")
    select(browser, B)
    browser.settle()
    assert relations(browser)[1] == (
        f"next to: {A[:7]}  runs the same · build only: gmake 4.3 ≠ 4.4"
    )
    browser.controllers.selection.clear()
    browser.settle()
    assert relations(browser)[1].startswith(f"next to: {C[:7]}")


def test_pages_do_not_tell_relations(tmp_path: Path) -> None:
    write_page(tmp_path / "zlib" / "specs.md", [record(1), record(2)], title="zlib")
    browser = FakeBrowser(tmp_path, environ=HOST).load()
    fits = "fits: unknown: dependencies not listed; its target runs on zen3"
    assert relations(browser) == [
        fits,
        "next to: Not told here: a source lists no dependencies",
    ]
    write_page(tmp_path / "zlib" / "specs.md", [record(1)], title="zlib")
    assert relations(FakeBrowser(tmp_path, environ=HOST).load()) == [fits]
