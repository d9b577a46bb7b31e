"""Dependencies in the detail: the tree, who uses a spec, why, and jumping along them and back."""

import asyncio
import re
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from spackscope.model.index.tree import Tree
from spackscope.tui.browser.browser_host import Call
from spackscope.tui.widgets import detail_pane
from spackscope.tui.widgets.detail_pane import search_request
from spackscope.tui.widgets.table_rows import SheetRows
from spackscope.tui.widgets.virtual_list import Browse
from tests.browsing import Browser, browsing
from tests.builders.nodes import edge
from tests.builders.pages import hash_of
from tests.builders.spack import database, installs
from tests.program import PATIENCE
from tests.tui.browser.hdf5_index import HDF5, HWLOC, ZLIB, spec


@pytest.fixture
async def browser(hdf5_index: Path) -> AsyncIterator[Browser]:
    async with browsing(hdf5_index, size=(140, 40)) as opened:
        await opened.open_package("hdf5")
        yield opened


def tree(browser: Browser, section: str = "depends on") -> list[str]:
    """Return the lines of a section of the tree without hashes."""
    lines = iter(browser.detail_lines)
    found = [next(line for line in lines if re.match(rf" . {section}", line))[1:].rstrip()]
    for line in lines:
        if line[3:].startswith(("depends on", "used by")):
            break
        found.append(line[1:-8].rstrip())
    return found


def title(browser: Browser) -> str:
    assert browser.state.details is not None
    return browser.state.details.lines[0].text


def head(browser: Browser) -> str:
    """Return the line above the tree."""
    region = browser.detail.region
    return browser.lines[region.y][region.x :]


def cursor(browser: Browser) -> str:
    return " ".join(browser.detail_lines[browser.detail.position[0]].split())


TREE = [
    "▾ depends on 4",
    "b    ├   c=gcc@1.0  external",
    " l   ├   gone  not in this index",
    "bl   ├ ▸ mpi=openmpi@1.0",
    " l   └   zlib@1.0",
]
OPENMPI_UNFOLDED = ["bl   ├ ▾ mpi=openmpi@1.0", " l   │ ├ ▸ hwloc@1.0", " l   │ └ ↑ zlib@1.0"]


async def test_the_tree_is_unfolded_and_folded(browser: Browser) -> None:
    await browser.press("t", focus="detail")
    assert browser.detail.shows_tree
    legend = ["b", "build", "l", "link", "r", "run", "t", "test"]
    words = head(browser).replace("─", " ").split()
    assert words == ["hdf5@1.0", f"/{HDF5[:7]}", *legend]
    assert cursor(browser) == "▾ depends on 4"
    assert tree(browser) == TREE
    assert tree(browser, "used by") == ["▸ used by 1"]
    assert "⏎ go to it" in browser.lines[-1]
    await browser.press("j", "j", "j", "right")
    assert tree(browser) == [*TREE[:3], *OPENMPI_UNFOLDED, TREE[-1]]
    for keys, line in (
        (["right", "j", "right"], "l └ zlib@1.0"),  # It goes to where zlib is shown.
        (["k", "left"], "bl ├ ▾ mpi=openmpi"),
        (["left"], "bl ├ ▸ mpi=openmpi"),
        (["left", "left"], "▸ depends on 4"),
    ):
        await browser.press(*keys)
        assert cursor(browser).startswith(line)
    assert tree(browser) == ["▸ depends on 4"]
    await browser.press("left", focus="spec-rows")
    assert not browser.detail.shows_tree


async def test_build_tools_are_hidden_and_all_is_unfolded(browser: Browser) -> None:
    await browser.press("t", "b")
    assert tree(browser) == ["▾ depends on 3", *TREE[2:]]
    assert "run-time dependencies only" in head(browser)
    await browser.press("z")
    assert len(tree(browser)) == 7
    await browser.press("z", "b")
    assert tree(browser) == TREE


async def test_the_tree_is_left_and_nothing_else_is_undone(browser: Browser) -> None:
    await browser.press("t", "j", "j", "j", "enter")
    assert "openmpi@1.0" in head(browser)
    await browser.press("backspace")
    assert "hdf5@1.0" in head(browser), "the jump is undone"
    await browser.press("backspace", focus="spec-rows", query="package=hdf5")
    assert not browser.detail.shows_tree
    await browser.press("t", "escape", focus="spec-rows", query="package=hdf5")


async def test_a_tree_that_an_answer_was_asked_from_has_the_focus_again(browser: Browser) -> None:
    for answer, leaves in (("S", "backspace"), ("S", "escape"), ("P", "backspace")):
        await browser.press("t", answer, leaves, focus="detail")
        assert browser.app.focused is browser.detail.tree_rows
        await browser.press("escape")


async def test_the_tree_of_a_folded_row_says_of_how_many_builds_it_is(look_alikes: Path) -> None:
    async with browsing(look_alikes, query="hdf5@1.14", size=(140, 40)) as browser:
        await browser.press("t", shows="in 2 of 4")
        assert head(browser).startswith("─ hdf5@1.14  4 builds ─")
        await browser.press("escape", "z", "j", "t")
        assert head(browser).startswith("─ hdf5@1.14  3 builds ─"), "they run the same"
        await browser.press("escape", "j", "t")
        assert head(browser).startswith("─ hdf5@1.14  /")


async def test_names_are_found_in_the_whole_tree(browser: Browser) -> None:
    await browser.press("t", "/", *"HWL")
    openmpi, hwloc = "bl   └ ▾ mpi=openmpi@1.0", " l     └ ▸ hwloc@1.0"
    assert tree(browser) == ["▾ depends on 4", openmpi, hwloc]
    await browser.press("enter", focus="detail")
    assert cursor(browser).startswith("l └ ▸ hwloc@1.0")
    assert "names containing HWL" in head(browser)
    await browser.press("escape")
    assert (tree(browser), browser.focus) == (TREE, "detail")
    await browser.press("f", "escape", "escape", focus="spec-rows")
    assert browser.query == "package=hdf5", "the query was never meant"


async def test_a_search_stays_where_build_tools_are_hidden(browser: Browser) -> None:
    await browser.press("t", hints="z all")
    await browser.press("/", *"hwl", "enter", no_hint="z all")
    found = tree(browser)
    await browser.press("z")
    assert tree(browser) == found, "what a search finds is unfolded"
    await browser.press("b")
    assert "names containing hwl" in head(browser)
    assert any("hwloc" in line for line in tree(browser))
    assert not any("gcc" in line for line in tree(browser))


async def test_the_last_letter_of_a_search_counts_at_any_speed(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    await browser.press("t", "slash")
    last_typed, is_read = threading.Event(), threading.Event()
    read, request = Tree.read_matching, search_request
    loop = asyncio.get_running_loop()
    call_soon = loop.call_soon_threadsafe

    def read_later(tree: Tree, text: str) -> Tree:
        assert text == "zlib" or last_typed.wait(PATIENCE)
        return read(tree, text)

    def send(*arguments: Any, **options: Any) -> object:
        handle = call_soon(*arguments, **options)
        if any(isinstance(each, Call) for each in arguments):
            is_read.set()
        return handle

    def request_late(tree: Tree, text: str) -> Browse | None:
        requested = request(tree, text)
        if text == "zlib":
            # The answer to the letters before comes between this one and its request.
            last_typed.set()
            assert is_read.wait(PATIENCE)
        return requested

    monkeypatch.setattr(Tree, "read_matching", read_later)
    monkeypatch.setattr(loop, "call_soon_threadsafe", send)
    monkeypatch.setattr(detail_pane, "search_request", request_late)
    await browser.press("z", "l", "i", settle=False)
    await browser.type_ahead("b", "enter", shows="names containing zlib ")


@pytest.mark.parametrize("size", [(160, 50), (80, 24)])
async def test_what_is_typed_ahead_is_found_in_the_tree(
    hdf5_index: Path, size: tuple[int, int]
) -> None:
    async with browsing(hdf5_index, query="hdf5", size=size, settled=False) as browser:
        await browser.type_ahead("t", "slash", *"hwloc", "enter", shows="find hwloc")
        assert cursor(browser).startswith("l └ ▸ hwloc@1.0")
        assert "names containing hwloc" in head(browser)
        assert browser.query == "package=hdf5"


async def test_t_goes_to_the_dependencies_and_u_to_the_dependents(browser: Browser) -> None:
    await browser.press("u")
    assert cursor(browser) == "▾ used by 1"
    assert tree(browser, "used by") == ["▾ used by 1", "  r  └   h5py@1.0"]
    await browser.press("t")
    assert cursor(browser) == "▾ depends on 4"
    await browser.open_package("zlib", "t")
    assert title(browser) == "zlib@1.0"
    assert tree(browser, "used by")[0] == "▾ used by 3", "what is unfolded stays so"
    await browser.open_package("hwloc", "u", "j", "right", "j", "right", "j")

    assert tree(browser, "used by")[1:] == [
        " l   └ ▾ openmpi@1.0",
        "bl     └ ▾ hdf5@1.0 as mpi",
        "  r      └   h5py@1.0",
    ]


async def test_jumps_lead_there_and_back_with_everything_as_it_was(browser: Browser) -> None:
    await browser.filter("os", "ubuntu", "enter")
    await browser.press("t", "j", "j", "j", "right", "j")

    def place() -> tuple[object, ...]:
        here = title(browser), browser.selected, browser.detail.position
        return browser.state.view, *here, tree(browser)

    before = place()
    await browser.press("enter", focus="detail")
    assert (title(browser), browser.selected) == ("hwloc@1.0", "hwloc")
    assert browser.detail.shows_tree
    assert browser.query == "package=hwloc os=*ubuntu*", "the query matches, so it stays"
    assert browser.current_hash == HWLOC
    for _ in range(2):
        await browser.press("backspace")
        assert place() == before
        await browser.press("right_square_bracket")
        assert title(browser) == "hwloc@1.0"
    await browser.press("backspace", "k", "k", "k", "enter")
    assert title(browser) == "gcc@1.0"
    assert browser.current_hash == HDF5
    assert "not in the table" in head(browser)
    assert tree(browser, "used by")[0] == "▸ used by 1"
    await browser.press("backspace", "escape")
    assert "not in the table" not in head(browser)
    await browser.type_ahead(
        "t", "home", "j", "j", "j", "enter", "t", "j", "enter", "backspace", "u"
    )
    assert title(browser) == "openmpi@1.0"
    assert cursor(browser) == "▾ used by 1"


async def test_a_dependency_only_spec_has_a_row_once_these_are_shown(browser: Browser) -> None:
    await browser.press("a")
    await browser.open_package("gcc")
    assert not browser.current.spec.in_cache
    await browser.press("t")
    assert "gcc@1.0" in head(browser)
    assert "not in the table" not in head(browser)
    await browser.press("escape", "a")
    assert "gcc" not in browser.packages


async def test_another_catalog_keeps_the_place_in_the_tree(browser: Browser) -> None:
    await browser.press("t", "j", "j")
    before, top = cursor(browser), browser.detail.position[1]
    await browser.press("a", shows="dependency-only")
    assert (cursor(browser), browser.detail.position[1]) == (before, top)


async def test_no_row_of_an_answer_is_drawn_below_the_heads_of_specs(browser: Browser) -> None:
    await browser.open_package("h5py", "t", "plus", "j")
    assert browser.table.size.width == 0, "the tree has the whole screen"
    await browser.press("W", settle=False)
    rows = browser.table.rows
    await browser.until(lambda: isinstance(rows.shown, SheetRows))
    heads = {placed.column.name for placed in rows.heads.layout.placed}
    assert heads <= {*rows.shown.columns.columns.names}


async def test_thousands_of_dependents_open_and_are_walked(tmp_path: Path) -> None:
    many = [hash_of(number) for number in range(100, 2_100)]
    records = installs(
        spec(ZLIB, "aaa"), *(spec(hash_, "p", edge("aaa", ZLIB, ["link"])) for hash_ in many)
    )
    path = tmp_path / "index.json"
    path.write_bytes(database(records))
    async with browsing(path, size=(140, 30)) as browser:
        await browser.open_package("aaa", "u", shows=("▾ used by 2,000", "×2,000"))
        assert browser.detail.shown_list.length == 3
        await browser.press("j", "y", status="2,000 builds of p: → lists them")
        await browser.press("right")
        assert browser.detail.shown_list.length > 2_000
        await browser.press("pagedown", "end", "home")
        await browser.press("u", "j", "enter", query=f"package=p %/{ZLIB}")
        assert browser.current.count == 2_000


async def test_the_tree_fits_into_every_size(browser: Browser) -> None:
    await browser.press("t", "j", "j", "j", "right", "j")
    for size in [(160, 45), (120, 36), (104, 30), (80, 24), (50, 20), (20, 8)]:
        await browser.resize(*size)
        assert all(len(line) == size[0] for line in browser.lines)
        assert "▸ hwl" in cursor(browser), "the cursor stays on its line"
        if size[0] >= 50:
            row = next(line for line in browser.lines if "hwloc@1.0" in line)
            assert HWLOC[:7] in row


async def test_where_the_detail_is_low_the_tree_has_the_whole_screen(hdf5_index: Path) -> None:
    async with browsing(hdf5_index, size=(80, 24)) as browser:
        await browser.open_package("hdf5", "t")
        assert browser.detail.size.height > 15
        assert len(tree(browser)) == 5
        await browser.press("escape", focus="spec-rows")
        await browser.press("3", "u")
        assert browser.detail.size.height > 15
        await browser.press("escape")
        assert (browser.focus, browser.detail.shows_tree) == ("detail", False)


async def test_a_focus_that_is_asked_for_while_a_list_is_hidden_stays() -> None:
    async with browsing("sample") as browser:
        await browser.press("2", "u")
        browser.table.rows.focus()
        # The drawing that hides the list may come before that focus.
        browser.detail.keep_focus(browser.detail.tree_rows)
        await browser.settle()
        assert browser.focus == "spec-rows"
