"""The help says what keys and heads mean; dialogs are as high as their picks."""

import pytest

from spackscope.tui.cli.command_table import ANSWERS, module_of
from spackscope.tui.dialogs.dialog import PickDialog
from spackscope.tui.keymap import ANYWHERE, PATHS, keys_of
from tests.browsing import Browser, browsing


async def test_a_chosen_key_is_pressed_where_it_works_and_is_else_said_to_work_elsewhere() -> None:
    (mark,) = (key for key in keys_of(ANYWHERE) if key.name == "mark-all")
    elsewhere = next(key for key in keys_of(PATHS) if key.keys)
    async with browsing(size=(120, 40)) as browser:
        await browser.press("2", "question_mark", *elsewhere.sentence)
        await browser.press("enter", shows="This key works elsewhere: while a path is typed")
        assert browser.dialog == "PickDialog"
        await browser.press("escape", *mark.sentence, "enter", dialog=None)
        assert {*browser.state.marks} == browser.shown


async def test_the_help_of_an_answer_says_first_what_rows_and_heads_mean() -> None:
    async with browsing(size=(120, 40)) as browser:
        for keys, row in (("F", "A value,"), ("P", "A package that"), ("S", "A source that")):
            await browser.press("2", keys)
            table = browser.state.table
            await browser.press("question_mark")
            lines = [" ".join(line.strip(" │").split()) for line in browser.lines]
            at = lines.index("Rows and columns")
            assert at < 4
            assert row in lines[at + 1]
            for column in table.sheet.columns:
                if column.drawn:
                    assert column.meaning, column.name
                    assert any(column.label in line for line in lines[at:]), column.name
            await browser.press("escape", "escape")


async def test_each_column_of_every_answer_says_what_it_means() -> None:
    modules = [module_of(name) for name in ANSWERS]
    columns = [
        column
        for module in modules
        for name, value in vars(module).items()
        if name.endswith("_COLUMNS") and isinstance(value, list)
        for column in value
    ]
    assert len(columns) > 40
    assert [column.name for column in columns if not column.meaning] == []


def shape(browser: Browser) -> tuple[int, list[str]]:
    """Return the height of the box of a dialog, and the texts below its list."""
    box, reading = browser.app.screen.query_one(".dialog"), browser.app.screen.query(".reading")
    area = reading.first().region
    lines = browser.lines[area.y : area.bottom] if reading.first().display else []
    return box.region.height, [text for line in lines if (text := line.strip(" │"))]


async def test_a_list_is_as_high_as_it_needs_and_stays_so_while_it_is_searched() -> None:
    async with browsing(size=(120, 40)) as browser:
        await browser.press("2", "c")
        height, texts = shape(browser)
        dialog = browser.app.screen
        assert isinstance(dialog, PickDialog)
        assert height == 3 + len(dialog.list.picks)
        assert texts == []
        await browser.type("comp")
        assert shape(browser) == (height, [])


async def test_a_list_is_moved_through_by_pages_where_nothing_is_typed() -> None:
    async with browsing(size=(80, 24)) as browser:
        await browser.press("2", "Y", shows="┃ y  hash")
        await browser.press("ctrl+d", hides="┃ y  hash")
        await browser.press("ctrl+u", shows="┃ y  hash")


async def test_the_palette_from_an_input_lists_the_commands_of_rows() -> None:
    async with browsing(size=(80, 24)) as browser:
        await browser.press("slash", "ctrl+backslash", shows="look-alikes")
        assert "ctrl+z" in browser.app.screen.active_bindings, "a dialog can be suspended"


@pytest.mark.parametrize(("width", "is_cut"), [(120, False), (40, True)])
async def test_a_row_that_is_cut_can_be_read_below_the_list(width: int, is_cut: bool) -> None:
    async with browsing(size=(width, 24)) as browser:
        await browser.press("2", "question_mark", *"Open or pick")
        _, texts = shape(browser)
        whole = "Open or pick the row, go to its detail, or take the query."
        assert (whole in " ".join(" ".join(texts).split())) is is_cut
        assert bool(texts) is is_cut


async def test_what_is_read_below_the_list_is_cut_with_a_sign() -> None:
    async with browsing(size=(40, 12)) as browser:
        await browser.press("2", ":", *"copy the hash")
        _, texts = shape(browser)
        assert len(texts) == 2
        assert texts[-1].rstrip().endswith("…")
