"""Jumps, steps back and forward, and paths."""

import gc
from collections.abc import AsyncIterator
from itertools import pairwise
from pathlib import Path

import pytest

from spackscope.model.report.sheet import Sheet
from spackscope.tui.browser import navigation
from tests.browsing import Browser, browsing

GONE, OPENMPI, ZLIB = (["t", "home", *["j"] * row, "enter"] for row in (2, 3, 4))
"""The keys that jump from hdf5 to its dependencies."""
HWLOC = ["home", "j", "enter"]
"""Those that jump from openmpi to hwloc."""


@pytest.fixture
async def browser(hdf5_index: Path) -> AsyncIterator[Browser]:
    async with browsing(hdf5_index, size=(140, 40)) as opened:
        yield opened


def title(browser: Browser) -> str:
    """Return the first line of the detail: a name with a version."""
    assert browser.state.details is not None
    return browser.state.details.lines[0].text


def write_next_version(index: Path) -> None:
    index.write_bytes(index.read_bytes().replace(b'"1.0"', b'"2.0"'))


# Jumps


async def test_a_query_in_the_way_is_removed_and_comes_back(browser: Browser) -> None:
    await browser.ask("package=hdf5 any=hdf5", "enter", *ZLIB, query="package=zlib")
    assert title(browser) == "zlib@1.0"
    assert "does not match zlib" in browser.status
    await browser.press("backspace", query="package=hdf5 any=hdf5")
    assert title(browser) == "hdf5@1.0"


async def test_among_all_packages_a_jump_stays_among_them(browser: Browser) -> None:
    await browser.press("2", "j")
    assert title(browser) == "hdf5@1.0"
    await browser.press(*OPENMPI, selected=None)
    assert title(browser) == "openmpi@1.0"


async def test_what_no_document_holds_cannot_be_gone_to(browser: Browser) -> None:
    await browser.open_package("hdf5", *GONE, says="not in this index")
    assert title(browser) == "hdf5@1.0"


# Steps


async def test_a_walk_through_the_packages_is_one_step_until_rows_are_looked_at(
    browser: Browser,
) -> None:
    await browser.press("j", "j", "j", selected="hwloc")
    await browser.press("2", "1", "j", "j", selected="zlib")
    for key, name in (
        *(("backspace", "hwloc"), ("backspace", None)),
        *(("right_square_bracket", "hwloc"), ("right_square_bracket", "zlib")),
    ):
        await browser.press(key, selected=name)


async def test_every_settled_view_is_one_step_but_not_every_letter(browser: Browser) -> None:
    views = [browser.state.view]
    await browser.press("2")
    a_value, values, a_query = "3 j j j j enter escape", "v space", "2 slash ctrl+u h d f enter"
    for keys in ("z", "z", "s", a_value, values, a_query, "X", "1 end"):
        await browser.press(*keys.split())
        views.append(browser.state.view)
    assert all(one != next_ for one, next_ in pairwise(views))
    for view in views[-2::-1]:
        await browser.press("backspace")
        assert browser.state.view == view
    await browser.press("backspace", status="Nothing to go back to")
    for view in views[1:]:
        await browser.press("right_square_bracket")
        assert browser.state.view == view
    await browser.press("right_square_bracket", status="Nothing to go forward to")


async def test_a_step_after_going_back_replaces_those_that_were_ahead(browser: Browser) -> None:
    await browser.open_package("hdf5", *OPENMPI, *HWLOC)
    assert title(browser) == "hwloc@1.0"
    await browser.press("backspace", "backspace")
    assert title(browser) == "hdf5@1.0"
    await browser.press(*ZLIB, "right_square_bracket", status="Nothing to go forward to")
    assert title(browser) == "zlib@1.0"


async def test_reloading_keeps_the_spec_and_the_views_of_the_steps(
    browser: Browser, hdf5_index: Path
) -> None:
    await browser.open_package("hdf5", *OPENMPI)
    write_next_version(hdf5_index)
    await browser.press("r")
    assert title(browser) == "openmpi@2.0"
    await browser.press("backspace", query="package=hdf5")
    assert title(browser) == "hdf5@2.0"


async def test_dependency_only_specs_are_shown_without_a_loss_of_steps(browser: Browser) -> None:
    await browser.ask("hdf5", "enter")
    await browser.press("a", "backspace", query="")
    await browser.press("right_square_bracket", query="hdf5")


async def test_steps_are_kept_to_a_number(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(navigation, "MAX_STEPS", 3)
    await browser.press("2", "s", "s", "s", "z")
    folded = browser.state.view.folded
    await browser.press("backspace")
    assert browser.state.view.folded is not folded
    await browser.press("backspace", shows="↓")
    await browser.press("backspace", status="Nothing to go back to", shows="↓")


@pytest.mark.parametrize("is_kept", [True, False])
async def test_trees_of_steps_are_kept_to_a_number_of_lines_a_shared_one_once(
    browser: Browser, monkeypatch: pytest.MonkeyPatch, is_kept: bool
) -> None:
    await browser.open_package("hdf5", "t", "j", "j", "j", "right")
    lines = browser.detail_lines
    monkeypatch.setattr(navigation, "MAX_LINES", len(lines) if is_kept else len(lines) - 1)
    await browser.press("2", "s", "t", "home", *["j"] * 4, "enter")
    assert title(browser) == "hwloc@1.0"
    await browser.press("backspace")
    assert (browser.detail_lines == lines) == is_kept


async def test_sheets_that_are_too_large_together_are_read_again(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    def count_sheets() -> int:
        gc.collect()
        return sum(isinstance(each, Sheet) for each in gc.get_objects())

    monkeypatch.setattr(navigation, "MAX_LINES", 0)
    before = count_sheets()
    await browser.press("2", "F", command="stats --by package")
    await browser.press("S", "P", command="duplicates")
    assert count_sheets() - before < 3
    for command in ("sources", "stats --by package"):
        await browser.press("backspace", command=command)
        assert browser.sheet.rows
