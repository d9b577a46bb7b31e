"""Copying from the browser, with a real program that takes the bytes."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from spackscope.tui.copy_forms import FORMS
from tests.browsing import SAMPLE, browsing
from tests.builders import INSTALL_TREE, Record, record, write_page


class Clipboard:
    """A program that keeps what it is given; it is the user's own copy command."""

    def __init__(self, directory: Path) -> None:
        self.stored = directory / "stored"
        script = directory / "copy-it"
        script.write_text(f"#!/bin/sh\ncat > {shlex.quote(str(self.stored))}\n")
        script.chmod(0o755)
        self.environ = {"SPACKSCOPE_COPY": str(script), "PATH": "/usr/bin:/bin"}

    @property
    def text(self) -> str:
        """What was copied, byte for byte."""
        return self.stored.read_bytes().decode()


@pytest.fixture
def clipboard(tmp_path: Path) -> Clipboard:
    return Clipboard(tmp_path)


async def test_y_copies_the_full_hash_and_says_so_and_how(clipboard: Clipboard) -> None:
    async with browsing(environ=clipboard.environ) as browser:
        await browser.press("2", "j", "j", "y")
        hash_ = browser.current.spec.hash
        assert clipboard.text == hash_
        assert browser.status.startswith(f"Copied {hash_[:7]}… (")
        assert browser.status.endswith("copy-it)")
        assert browser.status in browser.lines[-1]


async def test_y_copies_wherever_the_focus_is_but_in_a_filter(clipboard: Clipboard) -> None:
    async with browsing(environ=clipboard.environ) as browser:
        for key in ("1", "3"):
            clipboard.stored.unlink(missing_ok=True)
            await browser.press(key, "y")
            assert clipboard.text == browser.current.spec.hash
        clipboard.stored.unlink()
        await browser.press("slash", "y")
        assert browser.query == "y"
        assert not clipboard.stored.exists()


async def test_all_marks_are_copied_in_the_order_of_marking(clipboard: Clipboard) -> None:
    async with browsing(environ=clipboard.environ) as browser:
        await browser.press("2", "j", "j", "space")
        await browser.press("home", "space", "y")
        rows = browser.rows
        assert clipboard.text == f"{rows[2].spec.hash}\n{rows[0].spec.hash}"
        assert browser.status.startswith("Copied 2 marked hashes (")


async def test_of_a_fold_the_first_is_copied_and_that_is_said(clipboard: Clipboard) -> None:
    async with browsing(environ=clipboard.environ) as browser:
        await browser.press("z", "2", "y")
        row = browser.current
        assert row.count > 1
        assert clipboard.text == row.spec.hash
        assert f"the first of {row.count} look-alikes" in browser.status


def is_form(key: str, text: str, record: Record) -> bool:
    """Tell whether a text is a record in the form that a key of the menu stands for."""
    if key == "y":
        return bool(text == record["hash"])
    if key == "slash":
        return bool(text == f"/{record['hash']}")
    if key == "i":
        return bool(text == f"spack install --cache-only /{record['hash']}")
    if key == "s":
        beginning = f"py-build@{record['versions'][0]}~virtualenv build_system="
        return text.startswith(beginning) and f"os={record['os']} target=" in text
    found = json.loads(text)
    return found["hash"] == record["hash"] and set(found["variants"]) == set(record["variants"])


async def test_the_menu_copies_each_form_by_its_letter_and_by_enter(clipboard: Clipboard) -> None:
    async with browsing(environ=clipboard.environ) as browser:
        await browser.press("2")
        (record,) = (r for r in SAMPLE if r["hash"] == browser.current.spec.hash)
        for at, form in enumerate(FORMS):
            clipboard.stored.unlink(missing_ok=True)
            await browser.press("Y")
            assert browser.dialog == "CopyDialog"
            await browser.press(form.key)
            assert browser.dialog is None
            by_letter = clipboard.text
            assert is_form(form.key, by_letter, record)
            assert not by_letter.endswith("\n")

            clipboard.stored.unlink()
            await browser.press("Y", *["down"] * at, "enter")
            assert clipboard.text == by_letter


async def test_the_menu_shows_what_each_form_would_copy() -> None:
    async with browsing() as browser:
        await browser.press("2")
        hash_ = browser.current.spec.hash
        await browser.press("Y")
        for form in FORMS:
            assert form.name in browser.text
        assert f"spack install --cache-only /{hash_}" in browser.text


@pytest.mark.parametrize("key", ["escape", "q"])
async def test_the_menu_can_be_left_with_nothing_copied(clipboard: Clipboard, key: str) -> None:
    async with browsing(environ=clipboard.environ) as browser:
        await browser.press("2", "Y", key)
        assert browser.dialog is None
        assert browser.focus == "spec-rows"
        assert not clipboard.stored.exists()


async def test_marks_are_copied_in_every_form_once_a_line(clipboard: Clipboard) -> None:
    async with browsing(environ=clipboard.environ) as browser:
        await browser.press("2", "space", "space", "space", "Y")
        assert "copy 3 marked specs" in browser.text
        await browser.press("i")
        rows = browser.rows
        assert clipboard.text.splitlines() == [
            f"spack install --cache-only /{row.spec.hash}" for row in rows[:3]
        ]
        await browser.press("Y", "s")
        assert len(set(clipboard.text.splitlines())) == len(clipboard.text.splitlines()) == 1


async def test_where_no_spec_is_shown_there_is_nothing_to_copy(clipboard: Clipboard) -> None:
    async with browsing(environ=clipboard.environ) as browser:
        await browser.ask("zzz")
        await browser.leave_filter()
        for key in ("y", "Y"):
            await browser.press(key)
            assert browser.status == "there is no spec to copy"
            assert browser.dialog is None
        assert not clipboard.stored.exists()


async def test_a_way_that_fails_is_told_and_the_next_one_taken() -> None:
    environ = {"SPACKSCOPE_COPY": "/no/such/program", "PATH": "", "TERM": "dumb"}
    async with browsing(environ=environ) as browser:
        await browser.press("y")
        assert browser.status.startswith("Nothing was copied. ")
        assert "/no/such/program is not installed" in browser.status


async def test_what_is_unsafe_to_paste_is_not_copied(tmp_path: Path, clipboard: Clipboard) -> None:
    write_page(tmp_path / "p", [record(1, variants=["x=\u202e1"])])
    async with browsing(tmp_path / "p", environ=clipboard.environ) as browser:
        for form in FORMS:
            await browser.press("Y", form.key)
            assert "\u202e" not in clipboard.text


async def test_typing_ahead_copies_the_row_that_the_keys_lead_to(clipboard: Clipboard) -> None:
    async with browsing(environ=clipboard.environ) as browser:
        browser.send("j", "j", "enter", "j", "y")
        await browser.settle()
        assert browser.current.spec.package == "py-ml-dtypes"
        assert browser.table.rows.cursor == 1
        assert clipboard.text == browser.current.spec.hash


async def test_a_copied_spec_has_its_compilers_and_is_found_again(clipboard: Clipboard) -> None:
    async with browsing(INSTALL_TREE, query="curl", environ=clipboard.environ) as browser:
        await browser.press("2", "Y", "s")
        copied, hash_ = clipboard.text, browser.current.spec.hash
        assert copied.endswith(" %c,cxx=gcc@12.2.0")

    async with browsing(INSTALL_TREE, query=copied) as browser:
        assert [row.spec.hash for row in browser.rows] == [hash_]


def test_every_form_has_a_letter_of_its_own() -> None:
    keys = [form.key for form in FORMS]
    assert len(set(keys)) == len(keys)
    assert not {"escape", "q", "enter", "up", "down"} & set(keys)
