"""Copying from the browser, with a real program that takes the bytes."""

import re
from pathlib import Path

from spackscope.tui.browser.copy import FORMS
from tests.browsing import browsing
from tests.builders.pages import record, write_page
from tests.clipboard import Clipboard


async def test_y_copies_wherever_the_focus_is_but_in_a_filter(clipboard: Clipboard) -> None:
    async with browsing(environ=clipboard.environ, folded=False) as browser:
        await browser.press("2", "j", "j", "y")
        hash_ = browser.current.spec.hash
        assert clipboard.text == hash_
        assert browser.status.startswith(f"Copied {hash_[:7]}… (")
        assert browser.status.endswith("copy-it)")
        assert browser.status[:20] in browser.lines[-2], "above the hints"
        for key in ("1", "3"):
            clipboard.stored.unlink(missing_ok=True)
            await browser.press(key, "y")
            assert clipboard.text == browser.current.spec.hash
        clipboard.stored.unlink()
        await browser.press("slash", "y", query="y")
        assert not clipboard.stored.exists()
        await browser.clear()
        await browser.press("1", "home")
        await browser.type_ahead("j", "j", "enter", "j", "y", cursor=1)
        assert browser.current.spec.package == "py-ml-dtypes"
        assert clipboard.text == browser.current.spec.hash, "keys typed ahead copy their row"

    environ = {"SPACKSCOPE_COPY": "/no/such/program", "PATH": "", "TERM": "dumb"}
    async with browsing(environ=environ, folded=False) as browser:
        await browser.press("y", says="/no/such/program is not installed")
        assert browser.status.startswith("Nothing was copied. ")


async def test_the_menu_copies_each_form_by_its_letter_and_by_enter(clipboard: Clipboard) -> None:
    async with browsing(size=(120, 30), environ=clipboard.environ, folded=False) as browser:
        await browser.press("2", "Y")
        hash_ = browser.current.spec.hash
        for form in FORMS:
            assert form.name in browser.text
        assert f"spack install --cache-only /{hash_}" in browser.text
        for key in ("escape", "q"):
            await browser.press(key, dialog=None, focus="spec-rows")
            assert not clipboard.stored.exists()
            await browser.press("Y")
        await browser.press("escape")
        for at, form in [*enumerate(FORMS)][::3]:
            clipboard.stored.unlink(missing_ok=True)
            await browser.press("Y", form.key, dialog=None)
            by_letter = clipboard.text
            assert not by_letter.endswith("\n")
            clipboard.stored.unlink()
            await browser.type_ahead("Y", *["down"] * at, "enter")
            assert clipboard.text == by_letter
        await browser.press("space", "space", "Y", shows="copy 2 marked specs")
        await browser.press("i")
        assert len(clipboard.text.split()) == 5


async def test_in_pick_mode_a_folded_row_is_opened_and_a_kind_says_what_it_takes(
    look_alikes: Path,
) -> None:
    async with browsing(look_alikes, query="hdf5@1.14", pick=True) as browser:
        await browser.press("2", "right")
        assert browser.current.count == 4
        await browser.press("j")
        row = browser.current
        assert "pick any of 3" in browser.lines[-1]
        await browser.press("space", hints="pick 1 marked")
        await browser.press("k", "k", hints="pick 1 marked")
        assert browser.current.has_look_alikes
        await browser.press("U", "j")
        assert browser.current == row
        assert row.spec.hash[:7] in browser.lines[browser.table.rows.region.y + 1]
        browser.send("enter")
        await browser.until(lambda: browser.app.return_value is not None)
        assert browser.app.return_value == [row.spec.hash]


async def test_a_row_that_was_scrolled_away_is_shown_before_it_is_copied(
    clipboard: Clipboard,
) -> None:
    async with browsing(environ=clipboard.environ) as browser:
        await browser.press("2", "z")
        assert browser.current.count == 1
        hash_ = browser.current.spec.hash
        for _ in range(8):
            await browser.wheel(browser.table.rows)
        assert browser.table.rows.top > browser.table.rows.cursor
        await browser.press("y", says="was out of sight")
        assert clipboard.take() is None
        await browser.press("y")
        assert clipboard.take() == hash_


async def test_a_form_and_its_example_take_one_line_with_blanks_between() -> None:
    async with browsing(query="py-build", size=(160, 48), folded=False) as browser:
        for size in ((160, 48), (80, 40), (80, 20), (60, 20), (40, 12)):
            await browser.resize(*size)
            await browser.press("Y")
            at = next(n for n, line in enumerate(browser.lines) if "hash, as Spack" in line)
            assert "s  spec string " in browser.lines[at + 1]
            assert not re.search("[a-z]https://", browser.text)
            await browser.press("escape")


async def test_a_list_that_is_too_long_to_be_copied_can_be_written(tmp_path: Path) -> None:
    write_page(tmp_path, [record(number) for number in range(4_000)])
    environ = {"SPACKSCOPE_COPY": "", "PATH": "", "TERM": "xterm", "SSH_TTY": "/dev/pts/0"}
    async with browsing(tmp_path, environ=environ) as browser:
        await browser.press("2", "Y", "h")
        assert browser.status.startswith("Nothing was copied. ")
        assert browser.status.endswith("e writes a file.")
