"""The lines on how the selected spec relates to others, without an app."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builders import record, write_page
from tests.tui.browser.fake_host import FakeBrowser
from tests.tui.browser.look_alike_index import OTHER, A, B, C, write_look_alikes

FITS = "fits: ✓ runs on zen3"
ALONE = [
    FITS,
    "needs to run: nothing else",
    "download: 1 spec, size unknown",
    "used by: nothing here",
]
HOST = {"SPACKSCOPE_HOST": "target=zen3 glibc=2.35"}


@pytest.fixture
def browser(tmp_path: Path) -> FakeBrowser:
    path = tmp_path / "index.json"
    write_look_alikes(path)
    return FakeBrowser(path, query="hdf5", environ=HOST, is_folded=False).load()


def relations(browser: FakeBrowser) -> list[str]:
    details = browser.state.details
    assert details is not None
    blocks: list[str] = []
    for line in details.relations:
        if line.is_continued:
            blocks[-1] += (
                line.lead if line.lead.startswith(" ") else f"  {line.lead}"
            ) + line.text
        else:
            blocks.append(f"{line.label}: {line.text}{line.suffix}")
    return blocks


def select(browser: FakeBrowser, hash_: str) -> None:
    results = browser.state.results
    assert results is not None
    hashes = [row.spec.hash for row in results.catalog.rows(results.listing.ids)]
    browser.move_to(hashes.index(hash_))


def test_the_nearest_look_alike_of_another_kind_the_needs_and_the_users_are_shown(
    browser: FakeBrowser,
) -> None:
    select(browser, B)
    browser.settle()
    assert relations(browser) == [
        FITS,
        f"next to: {C[:7]}  zlib 1.3 ≠ 1.2 (mpich › zlib)  build only: gmake 4.3 ≠ 4.4",
        "needs to run: mpich@4.3  zlib@1.3",
        "download: 3 specs, size unknown",
        "used by: vtk@9",
    ]
    select(browser, C)
    browser.settle()
    assert relations(browser)[1].startswith(f"next to: {B[:7]}"), "the most used of its kind"
    select(browser, OTHER)
    browser.settle()
    assert relations(browser) == ALONE


def test_their_place_is_kept_until_they_are_read(browser: FakeBrowser) -> None:
    select(browser, OTHER)
    browser.settle()
    select(browser, C)
    browser.host.work("detail")
    pending = ["fits: …", "next to: …", "needs to run: …", "download: …", "used by: …"]
    assert relations(browser) == pending
    select(browser, OTHER)
    browser.host.work("detail")
    assert not browser.host.is_running("relations"), "they are known, and the job is stopped"
    assert relations(browser) == ALONE


def test_one_marked_spec_is_what_others_are_compared_with(browser: FakeBrowser) -> None:
    select(browser, A)
    browser.settle()
    row = browser.host.where.row
    assert row is not None
    browser.controllers.rows.mark(row)
    select(browser, OTHER)
    browser.settle()
    assert relations(browser)[1].startswith(f"next to: {A[:7]}  hdf5 1.12 ≠ 1.14")
    select(browser, B)
    browser.settle()
    assert relations(browser)[1] == (
        f"next to: {A[:7]}  runs the same  build only: gmake 4.3 ≠ 4.4"
    )
    browser.controllers.rows.clear()
    browser.settle()
    assert relations(browser)[1].startswith(f"next to: {C[:7]}")


def test_records_of_one_hash_in_two_sources_have_their_own_lines(tmp_path: Path) -> None:
    index, pages = tmp_path / "index.json", tmp_path / "pages"
    write_look_alikes(index)
    write_page(pages / "hdf5" / "specs.md", [{**record(0), "hash": B}], title="hdf5", tag="v1")
    browser = FakeBrowser(index, pages, query=f"/{B}", environ=HOST).load()
    seen = []
    for number in (0, 1, 0):
        browser.move_to(number)
        browser.settle()
        seen.append("needs to run: mpich@4.3  zlib@1.3" in relations(browser))
    assert sorted(seen[:2]) == [False, True]
    assert seen[2] == seen[0]


def test_pages_do_not_tell_relations(tmp_path: Path) -> None:
    write_page(tmp_path / "zlib" / "specs.md", [record(1), record(2)], title="zlib")
    fits, reason, *others = relations(FakeBrowser(tmp_path, environ=HOST, is_folded=False).load())
    assert fits == "fits: ? unknown if it runs"
    assert reason.startswith("fits: unknown: dependencies not listed")
    assert others[0].endswith("  Dependencies not listed: not compared")
    assert others[1:] == ["needs to run: This source lists no dependencies"]
    folded = FakeBrowser(tmp_path, environ=HOST).load()
    assert relations(folded) == [fits, reason, others[1]]
    write_page(tmp_path / "zlib" / "specs.md", [record(1)], title="zlib")
    assert relations(FakeBrowser(tmp_path, environ=HOST).load()) == [fits, reason, others[1]]
