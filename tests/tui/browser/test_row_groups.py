"""Tests of opened look-alikes: their kinds, their specs, and the notes on them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from spackscope.model.index.rows import Row
from spackscope.model.index.view import RowRole
from tests.browsing import Browser, browsing
from tests.builders import Node, database, edge, hash_of, installs, leaf, node, record, write_page
from tests.tui.browser.fake_host import FakeBrowser

SPEC, GROUP, KIND, OPEN_KIND, MEMBER = RowRole
ONE, TWO, THREE, FOUR, OLD, NEW, GMAKE, USER = (hash_of(number) for number in range(1, 9))


def app(hash_: str, lib: str, *dependencies: Node) -> Node:
    return node(hash_, name="app", dependencies=[edge("lib", lib, ["link"]), *dependencies])


@pytest.fixture
def index(tmp_path: Path) -> Path:
    """Write an index of four builds of app, of which three run the same."""
    nodes = [
        app(ONE, NEW),
        app(TWO, OLD),
        app(THREE, NEW, edge("gmake", GMAKE, ["build"])),
        app(FOUR, NEW, edge("gmake", GMAKE, ["build"]), edge("lib", OLD, ["build"])),
        *(leaf(OLD, "lib", "1"), leaf(NEW, "lib", "2"), leaf(GMAKE, "gmake", "4")),
        node(USER, name="user", dependencies=[edge("app", THREE, ["link"])]),
    ]
    path = tmp_path / "index.json"
    path.write_bytes(database(installs(*nodes)))
    return path


@pytest.fixture
def browser(index: Path) -> FakeBrowser:
    browser = FakeBrowser(index, query="app").load()
    browser.host.focus("specs")
    return browser


def rows(browser: FakeBrowser) -> list[Row]:
    results = browser.state.results
    assert results is not None
    listing = results.listing
    return results.catalog.rows(*listing.part())


def shown(browser: FakeBrowser) -> list[tuple[str, RowRole, int]]:
    return [(row.spec.hash, row.role, row.count) for row in rows(browser)]


def go_to(browser: FakeBrowser, number: int) -> Row:
    """Move the cursor to a row, as the table does."""
    browser.move_to(number)
    row = browser.host.where.row
    assert row is not None
    return row


def cursor(browser: FakeBrowser) -> int:
    results = browser.state.results
    assert results is not None
    return results.cursor


FOLDED = [(ONE, SPEC, 4)]
KINDS: Sequence[tuple[str, RowRole, int]] = [(ONE, GROUP, 4), (THREE, KIND, 3), (TWO, KIND, 1)]
SPECS = [
    (ONE, GROUP, 4),
    (THREE, OPEN_KIND, 3),
    *((hash_, MEMBER, 1) for hash_ in (THREE, ONE, FOUR)),
    (TWO, KIND, 1),
]


def test_a_folded_row_of_several_kinds_is_opened_and_not_copied(browser: FakeBrowser) -> None:
    copying = browser.controllers.copying
    several = "4 builds look the same, but are 2 kinds: choose one to copy"
    go_to(browser, 0)
    browser.settle()
    copying.copy_hash()
    browser.settle()
    assert (browser.copied, browser.host.message) == ([], several)
    assert shown(browser) == KINDS
    browser.controllers.rows.close(go_to(browser, 0))
    browser.settle()
    browser.controllers.rows.toggle(go_to(browser, 0))
    browser.settle()
    for number, copied, message in (
        (0, [], several),
        (1, [THREE], f"Copied {THREE[:7]}…, any of 3 that run the same (test)"),
        (2, [TWO], f"Copied {TWO[:7]}… (test)"),
    ):
        go_to(browser, number)
        browser.settle()
        browser.copied.clear()
        copying.copy_hash()
        browser.settle()
        assert (browser.copied, browser.host.message) == (copied, message)
        assert shown(browser) == KINDS
    assert browser.host.dialogs == []


def test_the_detail_of_several_kinds_copies_none_of_them(browser: FakeBrowser) -> None:
    go_to(browser, 0)
    browser.settle()
    browser.host.focus("detail")
    browser.controllers.copying.copy_hash()
    browser.settle()
    assert browser.copied == []
    assert browser.host.focused[-1] == "specs"
    assert shown(browser) == KINDS
    go_to(browser, 1)
    browser.settle()
    browser.host.focus("detail")
    browser.controllers.copying.copy_hash()
    browser.settle()
    assert browser.copied == [THREE]
    assert "any of 3 that run the same" in browser.host.message


def test_of_a_folded_row_that_runs_the_same_the_shown_hash_is_copied(tmp_path: Path) -> None:
    path = tmp_path / "index.json"
    builds = (app(ONE, NEW), app(TWO, NEW, edge("gmake", GMAKE, ["build"])))
    path.write_bytes(database(installs(*builds, leaf(NEW, "lib", "2"), leaf(GMAKE, "gmake", "4"))))
    browser = FakeBrowser(path, query="app").load()
    browser.host.focus("specs")
    go_to(browser, 0)
    browser.settle()
    browser.controllers.copying.copy_hash()
    browser.settle()
    assert browser.host.message == f"Copied {ONE[:7]}…, any of 2 that run the same (test)"


def test_a_group_opens_into_kinds_and_a_kind_into_specs(browser: FakeBrowser) -> None:
    groups = browser.controllers.rows
    assert shown(browser) == FOLDED
    groups.toggle(go_to(browser, 0))
    browser.settle()
    assert shown(browser) == KINDS
    assert cursor(browser) == 0
    groups.toggle(go_to(browser, 1))
    browser.settle()
    assert shown(browser) == SPECS
    assert cursor(browser) == 1
    groups.toggle(go_to(browser, 1))
    browser.settle()
    assert shown(browser) == KINDS
    groups.toggle(go_to(browser, 0))
    browser.settle()
    assert shown(browser) == FOLDED


def test_escape_closes_the_kind_then_the_group_then_leaves(browser: FakeBrowser) -> None:
    for number in (0, 1):
        browser.controllers.rows.toggle(go_to(browser, number))
        browser.settle()
    go_to(browser, 3)
    for expected, at in ((KINDS, 1), (FOLDED, 0)):
        browser.controllers.focus.back()
        browser.settle()
        assert shown(browser) == expected
        assert cursor(browser) == at
        go_to(browser, at)
    browser.controllers.focus.back()
    assert browser.host.where.pane == "packages"


def test_z_opens_the_row_under_the_cursor_and_else_unfolds_all(browser: FakeBrowser) -> None:
    go_to(browser, 0)
    for number, expected in ((0, KINDS), (1, SPECS)):
        go_to(browser, number)
        browser.controllers.rows.fold()
        browser.settle()
        assert shown(browser) == expected
    go_to(browser, 5)
    browser.controllers.rows.fold()
    browser.settle()
    assert [count for _, _, count in shown(browser)] == [1] * 4
    browser.controllers.rows.fold()
    browser.settle()
    assert shown(browser) == FOLDED, "folding again closes all groups"


def test_what_is_copied_of_a_kind_is_its_most_used_spec(browser: FakeBrowser) -> None:
    browser.controllers.rows.toggle(go_to(browser, 0))
    browser.settle()
    go_to(browser, 1)
    browser.controllers.copying.copy_hash()
    browser.settle()

    assert browser.copied == [THREE]
    assert "any of 3 that run the same" in browser.host.message


def test_a_jump_opens_the_kind_of_a_spec(browser: FakeBrowser) -> None:
    ids = {row.spec.hash: row.id for row in all_rows(browser)}
    go_to(browser, 0)
    browser.navigation.jump(ids[FOUR])
    browser.settle()

    assert shown(browser) == SPECS
    assert rows(browser)[cursor(browser)].spec.hash == FOUR


def all_rows(browser: FakeBrowser) -> list[Row]:
    assert browser.state.catalog is not None
    return browser.state.catalog.rows(range(browser.state.catalog.total))


def test_look_alikes_of_pages_open_into_specs(tmp_path: Path) -> None:
    write_page(tmp_path, [record(1), record(2)], title="zlib")
    browser = FakeBrowser(tmp_path).load()
    browser.controllers.rows.toggle(go_to(browser, 0))
    browser.settle()

    assert [(role, count) for _, role, count in shown(browser)] == [(SPEC, 1), (SPEC, 1)]
    go_to(browser, 1)
    browser.host.focus("specs")
    browser.controllers.focus.back()
    browser.settle()
    assert [count for _, _, count in shown(browser)] == [2]
    assert browser.host.where.pane == "specs"
    browser.controllers.focus.back()
    assert browser.host.where.pane == "packages"


async def test_kinds_are_shown_with_what_they_differ_in(index: Path) -> None:
    async with browsing(index, query="app", size=(60, 24)) as browser:
        await browser.press("2")
        (folded,) = row_texts(browser)
        assert " ".join(folded.split()) == "▸ ×4 2 kinds 1 lib"
        assert browser.lines[-1].startswith(" ⏎ open ")
        await browser.press("enter")
        assert browser.lines[-1].startswith(" ⏎ close ")
        await browser.press("j", "enter")
        assert [" ".join(line.split()) for line in row_texts(browser)] == [
            "▾ ×4 2 kinds 1",
            "├▾×3 2222222 1 build tools only: all run the same",
            "│ 2222222 1 with gmake 4, lib 2",
            "│ 2222222 - without gmake",
            "│ 2222222 - lib 1,2, others 2",
            "└ 2222222 - lib 1, others 2",
        ]
        await browser.press("h")
        assert len(browser.rows) == 3
        await browser.press("escape")
        assert len(browser.rows) == 1


async def test_kinds_may_be_opened_where_no_hash_has_room(tmp_path: Path) -> None:
    nodes = [app(ONE, NEW), app(TWO, OLD), node(THREE, name="app", version="0.9")]
    libs = [leaf(OLD, "lib", "1"), leaf(NEW, "lib", "2")]
    (tmp_path / "index.json").write_bytes(database(installs(*nodes, *libs)))
    async with browsing(tmp_path / "index.json", query="app", size=(10, 3)) as browser:
        await browser.press("2", "enter")
        await browser.resize(60, 24)
        assert len(row_texts(browser)) == 4


async def test_pages_say_once_that_they_list_no_dependencies(tmp_path: Path) -> None:
    write_page(tmp_path, [record(n) for n in range(6)], title="zlib")
    write_page(tmp_path, [record(n, os="sles15") for n in range(6, 9)], title="zlib", tag="b")
    async with browsing(tmp_path, size=(120, 24)) as browser:
        await browser.press("2")
        assert len(browser.rows) == 2
        assert "differs in" not in browser.text
        assert browser.text.count("This source lists no dependencies") == 1


def row_texts(browser: Browser) -> list[str]:
    """Return the rows of the table as they are on the screen."""
    region = browser.table.rows.region
    lines = [line[region.x : region.right] for line in browser.lines[region.y : region.bottom]]
    return [line for line in lines if line.strip()]
