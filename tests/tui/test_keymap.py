"""The table of keys is what the program does, what it says of itself, and what the README says."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from textual.actions import parse
from textual.binding import Binding
from textual.widget import Widget

from spackscope.tui.app import SpackscopeApp
from spackscope.tui.browser.screen import BrowserScreen
from spackscope.tui.dialogs.values import ValuesDialog
from spackscope.tui.keymap import (
    ANYWHERE,
    DETAIL,
    FILTERS,
    HEADINGS,
    KEYS,
    LISTS,
    PACKAGES,
    SPECS,
    TREE,
    VALUES,
    Key,
)
from spackscope.tui.widgets.detail_pane import DetailPane
from spackscope.tui.widgets.filter_input import FilterInput
from spackscope.tui.widgets.package_list import PackageRows
from spackscope.tui.widgets.spec_table import SpecTable
from spackscope.tui.widgets.virtual_list import VirtualList
from tests.browsing import ROOT, SAMPLE, Browser, browsing
from tests.builders import write_page

OWNERS: dict[str, type[Widget]] = {
    ANYWHERE: BrowserScreen,
    LISTS: VirtualList,
    PACKAGES: PackageRows,
    SPECS: SpecTable,
    DETAIL: DetailPane,
    TREE: DetailPane,
    VALUES: ValuesDialog,
    FILTERS: FilterInput,
}


def described(key: Key) -> str:
    return f"{key.where}: {key.keys}"


def make_docs() -> ModuleType:
    path = ROOT / "docs" / "make_docs.py"
    spec = importlib.util.spec_from_file_location("make_docs", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_place_has_a_heading_and_keys() -> None:
    assert set(HEADINGS) == {key.where for key in KEYS} == set(OWNERS)


@pytest.mark.parametrize("key", KEYS, ids=described)
def test_a_key_is_bound_where_the_table_says_to_an_action_that_exists(key: Key) -> None:
    owner = OWNERS[key.where]
    bound = {
        (name, binding.action)
        for binding in owner.BINDINGS
        if isinstance(binding, Binding)
        for name in binding.key.split(",")
    }
    assert {(name, key.action) for name in key.keys.split(",")} <= bound

    namespace, name, _ = parse(key.action)
    target = {"": owner, "screen": BrowserScreen, "app": SpackscopeApp}[namespace]
    assert callable(getattr(target, f"action_{name}", None))


@pytest.mark.parametrize("where", OWNERS)
def test_no_key_stands_for_two_things_in_one_place(where: str) -> None:
    names = [name for key in KEYS if key.where == where for name in key.keys.split(",")]
    assert len(names) == len(set(names))


async def test_the_help_lists_every_key_with_its_sentence() -> None:
    async with browsing(size=(80, 24)) as browser:
        await browser.press("question_mark")
        assert browser.dialog == "TextDialog"
        seen = browser.lines
        for _ in range(6):
            await browser.press("pagedown")
            seen += browser.lines
        for key in KEYS:
            (line, *_) = (line for line in seen if key.sentence[:60] in line)
            assert key.shown in line
        for heading in HEADINGS.values():
            assert any(heading in line for line in seen)
        await browser.press("escape")
        assert browser.dialog is None


def test_the_readme_has_the_table_of_keys() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    docs = make_docs()
    assert docs.with_table(readme, "keys", docs.key_table()) == readme, "run docs/make_docs.py"


async def test_the_last_line_shows_the_keys_of_the_pane_with_the_focus() -> None:
    async with browsing() as browser:
        for pane, where in (("1", PACKAGES), ("2", SPECS), ("3", DETAIL), ("slash", FILTERS)):
            await browser.press(pane)
            shown = browser.lines[-1]
            places = [FILTERS] if where == FILTERS else [where, ANYWHERE]
            for key in KEYS:
                if key.hint and key.where in places:
                    assert f"{key.shown.split(' ')[0]} {key.hint}" in shown


async def test_the_commands_of_the_palette_are_the_keys_that_work_anywhere() -> None:
    async with browsing() as browser:
        offered = {
            command.title: command
            for command in browser.app.get_system_commands(browser.app.screen)
        }
        for key in KEYS:
            if key.where == ANYWHERE and key.keys != "colon":
                assert f"{key.sentence.rstrip('.')}  ({key.shown})" in offered


PALETTE: list[tuple[str, Callable[[str], bool]]] = [
    ("type a query for", lambda focus: focus == "filter query"),
    ("go to the detail", lambda focus: focus == "detail"),
    ("show the keys", lambda focus: focus == "Lines"),
    ("choose what to copy", lambda focus: focus == "OptionList"),
    ("list what could not", lambda focus: focus == "Lines"),
]


async def test_commands_of_the_palette_do_what_their_keys_do() -> None:
    async with browsing() as browser:
        for typed, arrives in PALETTE:
            await browser.press("colon")
            assert browser.dialog == "_Palette"
            await browser.type(typed)
            await browser.until(lambda: "(" in browser.text)
            await browser.press("enter")
            if browser.dialog == "_Palette":
                await browser.press("enter")
            await browser.until(lambda arrives=arrives: arrives(browser.focus), typed)  # type: ignore[misc]
            if browser.dialog is not None:
                await browser.press("escape")
            await browser.press("enter" if browser.focus == "filter query" else "2")
        await browser.press("colon", "escape")
        assert browser.dialog is None


@pytest.mark.parametrize("keys", [["pagedown"], ["down", "pageup"], ["g", "pagedown", "enter"]])
async def test_the_palette_has_no_room_in_a_terminal_of_three_lines(keys: list[str]) -> None:
    async with browsing(size=(80, 3)) as browser:
        await browser.press("colon", *keys)
        await browser.press("escape", "escape")
        assert browser.dialog is None


@pytest.mark.parametrize("key", ["colon", "Y", "question_mark", "v"])
async def test_what_is_closed_twice_at_once_is_closed_once(key: str) -> None:
    async with browsing() as browser:
        await browser.press("2", "l", "l", key)
        dialog = browser.app.screen
        assert browser.dialog
        dialog.dismiss()
        dialog.dismiss()
        await browser.settle()
        assert browser.dialog is None


async def test_a_theme_can_be_chosen_and_the_browser_goes_on() -> None:
    async with browsing() as browser:
        for theme in ("ansi-light", "textual-light", "nord", "spackscope"):
            browser.app.theme = theme
            await browser.settle()
            await browser.press("j")
            assert "py-safetensors" in browser.text


async def press_every_key(browser: Browser, pane: str) -> None:
    """Press every key in a pane, but those that lead out of the program."""
    await browser.press(pane)
    focus = browser.focus
    for key in KEYS:
        if key.action not in ("leave", "app.command_palette", "app.suspend_process"):
            await browser.press(key.keys.split(",")[0], settle=False)
            if browser.dialog is not None:
                await browser.press("escape", settle=False)
            if browser.focus.startswith("filter"):
                await browser.press("enter", settle=False)
            if browser.focus != focus:
                await browser.press(pane, settle=False)
    await browser.settle()
    assert browser.dialog is None


async def test_every_key_can_be_pressed_in_every_pane() -> None:
    async with browsing(size=(80, 24)) as browser:
        for pane in ("1", "2", "3"):
            await press_every_key(browser, pane)
        await browser.press("ctrl+r", "1", "home")
        assert sum(row.count for row in browser.rows) == len(SAMPLE)


async def test_keys_do_no_harm_while_reading_and_where_there_is_no_spec(tmp_path: Path) -> None:
    write_page(tmp_path, [])
    async with browsing(tmp_path, settled=False, size=(80, 24)) as browser:
        for key in KEYS:
            if key.action not in ("leave", "app.command_palette", "app.suspend_process"):
                browser.send(key.keys.split(",")[0], "escape")
        await browser.settle()
        await press_every_key(browser, "2")
        await browser.press("r")
        assert "There are no specs" in browser.text
