"""Marks, picking and copying: what they take."""

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import yaml

from spackscope.tui.browser.copy import FORMS
from spackscope.tui.browser.specs import MAX_MARKS
from spackscope.tui.browser.state import NO_ROWS
from tests.browsing import SAMPLE, Browser, browsing
from tests.builders.pages import record, write_page
from tests.clipboard import Clipboard
from tests.tui.browser.hdf5_index import GONE, OPENMPI
from tests.tui.browser.look_alike_index import OTHER, A, B, C, D


@pytest.fixture
async def browser(clipboard: Clipboard) -> AsyncIterator[Browser]:
    async with browsing(environ=clipboard.environ, folded=False, size=(120, 30)) as opened:
        await opened.press("2")
        yield opened


async def mark(browser: Browser, number: int) -> str:
    """Mark a row or remove its mark, and return its hash."""
    await browser.press("home", *["j"] * number)
    hash_ = browser.current_hash
    await browser.press("space")
    return hash_


# Copying


async def test_the_selected_spec_or_all_marks_in_their_order_are_copied(
    browser: Browser, clipboard: Clipboard
) -> None:
    await browser.press("j", "j", "y", says=f"Copied {browser.rows[2].spec.hash[:7]}… (")
    assert clipboard.take() == browser.current_hash
    hashes = [await mark(browser, 2), await mark(browser, 0)]
    await browser.press("y", says="Copied 2 marked hashes (")
    assert clipboard.text.splitlines() == hashes
    await browser.press("Y", "slash")
    assert clipboard.text == " ".join(f"/{hash_}" for hash_ in hashes)
    await browser.press("home", "j", "j", "j", "3", "y")
    assert clipboard.take() == browser.current_hash, "the detail copies its own spec"
    assert browser.status.startswith(f"Copied {browser.current_hash[:7]}… (")


async def test_marks_out_of_sight_are_copied_only_when_asked_for(
    browser: Browser, clipboard: Clipboard
) -> None:
    marked = [await mark(browser, 0), await mark(browser, 5)]
    out_of_sight = ") · 2 marked are out of sight (Y copies all)"
    await browser.ask("os=sequoia", "enter")
    here = [browser.current_hash, await mark(browser, 1)]
    misfit = "does not run on zen3"
    await browser.press("y", says=f"Copied marked {here[1][:7]}… · {misfit} (")
    assert browser.status.endswith(out_of_sight)
    assert clipboard.take() == here[1]
    await mark(browser, 1)
    await browser.press("home", "y", says=f"Copied {here[0][:7]}… · {misfit} (")
    assert browser.status.endswith(out_of_sight)
    assert clipboard.take() == here[0], "without a mark in sight it is the row under the cursor"
    await browser.press("Y", "a", says="Copied all 2 marked hashes (")
    assert clipboard.text.splitlines() == marked
    await mark(browser, 0)
    await mark(browser, 1)
    await browser.press("y", says="Copied 2 marked hashes · 2 do not run on zen3 (")
    assert {*clipboard.text.split()} == {*here}


async def test_a_line_of_the_tree_copies_its_own_hash(
    hdf5_index: Path, clipboard: Clipboard
) -> None:
    async with browsing(hdf5_index, query="hdf5", environ=clipboard.environ) as browser:
        await browser.press("t", "j")
        for hash_ in (GONE, OPENMPI):
            await browser.press("j", "y", says=f"Copied {hash_[:7]}… (")
            assert clipboard.take() == hash_


async def test_nothing_is_copied_or_marked_without_rows(
    browser: Browser, clipboard: Clipboard
) -> None:
    await browser.ask("zzz", "enter")
    for key in ("y", "Y", "A", "e"):
        await browser.press("1", "2", key, status=NO_ROWS, dialog=None)
    assert (clipboard.take(), browser.state.marks) == (None, ())


async def test_each_form_is_copied(browser: Browser, clipboard: Clipboard) -> None:
    hash_ = browser.current_hash
    (raw,) = (r for r in SAMPLE if r["hash"] == hash_)
    texts = {}
    for form in FORMS:
        await browser.press("Y", form.key)
        texts[form.key] = clipboard.text
    assert not any(text.endswith("\n") for text in texts.values())
    assert texts.pop("y") == hash_
    assert texts.pop("slash") == f"/{hash_}"
    assert texts.pop("i") == f"spack install --cache-only /{hash_}"
    assert texts.pop("o") == f"https://cache.spack.io/?package=py-build&hash={hash_}"
    built = f"{raw['versions'][0]}~virtualenv build_system="
    spec = texts.pop("s")
    assert spec.startswith(f"py-build@{built}")
    assert f"os={raw['os']} target=" in spec
    (required,) = yaml.safe_load(texts.pop("r"))["packages"]["py-build"]["require"]
    assert required.startswith(f"@={built.replace('~', ' ~', 1)}")
    copied = json.loads(texts.pop("J"))
    assert copied["hash"] == hash_
    assert set(copied["variants"]) == set(raw["variants"])


async def test_equal_lines_are_copied_once(browser: Browser, clipboard: Clipboard) -> None:
    await browser.press("space", "space", "space", "Y", "slash")
    assert len(clipboard.text.split()) == 3
    await browser.press("Y", "s")
    assert len(clipboard.text.splitlines()) == 1


def test_every_form_has_a_letter_of_its_own() -> None:
    keys = [form.key for form in FORMS]
    assert len(set(keys)) == len(keys)
    assert not {"escape", "q", "enter", "up", "down"} & set(keys)


# Picking


@pytest.mark.parametrize("is_marked", [False, True])
async def test_picking_ends_with_the_row_or_all_marks(is_marked: bool, tmp_path: Path) -> None:
    environ = {"XDG_STATE_HOME": str(tmp_path)}
    async with browsing(pick=True, environ=environ, folded=False) as browser:
        await browser.press("2")
        picked = [await mark(browser, 0)] if is_marked else []
        await browser.ask("os=sequoia", "enter")
        if is_marked:
            picked.append(await mark(browser, 0))
            await browser.press("enter")
            assert browser.status == (
                "1 of 2 marked specs are out of sight: ⏎ again picks all, U clears the marks"
            )
        await browser.press("home", "j", "j")
        picked = picked or [browser.current_hash]
        browser.send("enter")
        await browser.until(lambda: not browser.app.is_running)
    assert (browser.app.return_value, browser.app.return_code) == (picked, 0)
    assert (tmp_path / "spackscope" / "history").read_text() == "os=sequoia\n"


# Marking


async def test_marks_go_by_the_hash_and_outlast_queries(browser: Browser) -> None:
    first, second = await mark(browser, 0), await mark(browser, 5)
    await browser.ask("os=windows", "enter")
    assert browser.state.marks == (first, second)
    await browser.press("X")
    assert await mark(browser, 0) == first
    assert [*browser.state.marks] == [second]
    await browser.press("U")
    assert not browser.state.marks


async def test_all_shown_specs_are_marked_and_unmarked(browser: Browser) -> None:
    other = await mark(browser, 0)
    await browser.ask("os=sequoia", "enter")
    shown = browser.shown
    await browser.press("A", status=f"Marked {len(shown)} shown specs")
    assert set(browser.state.marks) == shown | {other}
    await browser.press("A", status=f"Unmarked {len(shown)} shown specs")
    assert browser.state.marks == (other,), "marks out of sight stay"


async def test_more_specs_than_can_be_marked_are_refused(tmp_path: Path) -> None:
    write_page(tmp_path, [record(number=number) for number in range(MAX_MARKS + 1)])
    async with browsing(tmp_path) as browser:
        await browser.press("A", says=f"At most {MAX_MARKS} specs can be marked")
        assert not browser.state.marks


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
        shown = browser.current_hash
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

        await browser.open_package("py-build", "space", "space")
        assert shown("diff", "copy", "clear")
        await browser.press("slash")
        assert shown(), "letters are typed"
        await browser.press("escape")
        await browser.ask("py-safetensors", "enter")
        assert shown("diff", "clear"), "y copies the row"
        await browser.press("y")
        assert clipboard.take() == browser.current_hash
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
