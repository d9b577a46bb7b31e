"""What marks and copies take: what the rows show, and nothing where none is drawn."""

import re
from pathlib import Path

import pytest

from tests.browsing import browsing
from tests.clipboard import Clipboard
from tests.tui.browser.look_alike_index import OTHER, A, B, C, D


async def test_marks_are_the_hashes_that_rows_show(
    look_alikes: Path, clipboard: Clipboard
) -> None:
    async with browsing(look_alikes, query="hdf5", environ=clipboard.environ) as browser:

        def marked(*hashes: str) -> bool:
            return set(browser.state.marks) == set(hashes)

        await browser.press("home", "space")
        assert browser.status.startswith(f"Marked {B[:7]}… · most used of 4 builds, 2 ways to run")
        assert marked(B)
        await browser.press("home", "space", "home", "enter", "j")
        assert marked()
        shown = browser.current.spec.hash
        assert browser.current.count == 3
        await browser.press("space")
        assert marked(shown)
        assert browser.status.endswith(", any of 3 that run the same; opened, A marks all")
        await browser.press("k", "space")
        assert marked()
        await browser.press("k", "space", "j", "space", "Y", "i")
        assert marked(shown, OTHER)
        hashes = " ".join(f"/{mark}" for mark in browser.state.marks)
        assert clipboard.text == f"spack install --cache-only {hashes}"

        await browser.press("U", "home", "A", status="Marked 4 builds of the opened row")
        assert marked(A, B, C, D)
        await browser.press("A", "j", "enter", "j", "A")
        assert browser.status == "Marked 3 builds of the opened row"
        assert marked(A, B, D)
        await browser.press("end", "A")
        assert marked(A, B, C, D, OTHER)


async def test_rows_are_marked_at_speed(look_alikes: Path, clipboard: Clipboard) -> None:
    async with browsing(look_alikes, query="hdf5", environ=clipboard.environ) as browser:
        await browser.type_ahead("space", "space", "space", "space", "y")
        assert browser.state.marks == (B, OTHER)
        assert sorted(clipboard.text.split()) == sorted(browser.state.marks)


@pytest.mark.parametrize("keys", [("2",), ("3",), ("2", "z", "space")])
async def test_nothing_is_copied_where_no_row_is_drawn(
    keys: tuple[str, ...], clipboard: Clipboard
) -> None:
    async with browsing(size=(1, 1), environ=clipboard.environ) as browser:
        await browser.press(*keys, "y")
        assert clipboard.take() is None
        assert browser.status.startswith("The row under the cursor was out of sight")


async def test_where_dependencies_are_not_listed_a_row_stands_for_the_hash_that_it_shows(
    clipboard: Clipboard,
) -> None:
    async with browsing(size=(120, 30), environ=clipboard.environ) as browser:
        await browser.press("2")
        row = browser.current
        assert row.count > 1
        assert row.spec.hash[:7] in browser.text
        about = f"one of {row.count} that look the same (dependencies are not listed)"
        await browser.press("y", says=about)
        assert clipboard.take() == row.spec.hash
        await browser.press("space", says=about)
        assert browser.state.marks == (row.spec.hash,)


async def test_the_line_of_marks_names_the_keys_that_mean_the_marks(clipboard: Clipboard) -> None:
    async with browsing(size=(120, 30), environ=clipboard.environ, folded=False) as browser:

        def shown(*words: str) -> bool:
            line = browser.lines[browser.browser.panes.marks.region.y]
            offered = re.findall(r"[dyU] (diff|copy|clear)", line)
            return offered == [*words]

        await browser.open_package("py-build")
        await browser.press("space", "space")
        assert shown("diff", "copy", "clear")
        await browser.press("slash")
        assert shown(), "letters are typed"
        await browser.press("escape")
        await browser.ask("py-safetensors")
        await browser.press("enter")
        assert shown("diff", "clear"), "y copies the row"
        await browser.press("y")
        assert clipboard.take() == browser.current.spec.hash
        await browser.press("d")
        assert shown("copy", "clear"), "they are compared already"


async def test_one_mark_is_not_compared_by_a_key_that_compares_look_alikes() -> None:
    async with browsing(size=(120, 30)) as browser:
        await browser.press("2")
        assert browser.current.count > 1
        await browser.press("space")
        line = browser.browser.panes.marks.region.y
        assert browser.current.count > 1
        assert "d diff" not in browser.lines[line]
        at = next(n for n, row in enumerate(browser.rows) if row.count == 1)
        await browser.press("g", *["j"] * at)
        assert "d diff" in browser.lines[line]
