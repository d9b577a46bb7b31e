"""The help says what keys and heads mean, and presses the key that is chosen."""

from spackscope.tui.cli.command_table import ANSWERS, module_of
from spackscope.tui.keymap import ANYWHERE, EXPORTING, keys_of
from tests.browsing import browsing


async def test_a_chosen_key_is_pressed_where_it_works_and_is_else_said_to_work_elsewhere() -> None:
    (mark,) = (key for key in keys_of(ANYWHERE) if key.name == "mark-all")
    elsewhere = next(key for key in keys_of(EXPORTING) if key.keys)
    async with browsing(size=(120, 40)) as browser:
        await browser.press("2", "question_mark", *elsewhere.sentence)
        await browser.press("enter", shows="This key works elsewhere: while a file is named")
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
