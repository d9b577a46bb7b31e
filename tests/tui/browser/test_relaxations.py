"""Where nothing matches, the nearest queries are a list to choose from."""

from pathlib import Path

from spackscope.tui.widgets.table_rows import TableRows
from tests.browsing import browsing, sample_where
from tests.builders.pages import record, write_page
from tests.hostile import HOSTILE_TEXT
from tests.tui.browser.test_hostile_text import assert_plain


async def test_the_list_is_walked_and_chosen_from_in_the_place_of_the_rows() -> None:
    async with browsing(size=(100, 30)) as browser:
        rows = browser.app.screen.query_one(TableRows)
        await browser.ask("package=py-build os=sequoia")
        await browser.press("enter", shows="┃ without os=sequoia", hints=" ⏎ take it ")
        assert browser.app.screen.focused is rows
        assert "No py-build has os=sequoia" in browser.text.replace("│", "")
        labels = [each.label for each in rows.shown.choices]
        assert browser.lines[-1].endswith(f" 1/{len(labels)} ")
        await browser.press("j")
        assert browser.lines[-1].endswith(f" 2/{len(labels)} ")
        await browser.press("3", status="No rows are shown", panes=["packages", "specs", "detail"])
        await browser.press("enter", status=f"Now {labels[1]} (⌫ goes back)", query="os=sequoia")
        assert isinstance(browser.app.screen.focused, TableRows)
        await browser.press("backspace", query="package=py-build os=sequoia")
        assert browser.app.screen.focused is rows
        await browser.press("enter", shown=sample_where(lambda r: r["package"] == "py-build"))
        for key in ("y", "space", "z", "s", "3", "2", "t", "l"):
            await browser.press("backspace", key, "escape")

        await browser.press("1")
        await browser.ask("os=sequoia target=x86_64_v3")
        await browser.press("escape", "2")
        if not browser.shown:
            await browser.click(rows, 5, 0, times=2)
        assert browser.shown


async def test_hostile_conditions_are_plain_on_any_screen(tmp_path: Path) -> None:
    records = [record(n, os=text, variants=[]) for n, (_, text) in enumerate(HOSTILE_TEXT)]
    write_page(tmp_path, records)
    async with browsing(tmp_path, query="zlib os='[red' os='x [/foo] y'") as browser:
        for size in ((160, 45), (80, 24), (40, 12)):
            await browser.resize(*size)
            assert_plain(browser)
    write_page(tmp_path, [record(1, os="x" * 3_000), record(2, os="語" * 3_000)])
    async with browsing(tmp_path, query=f"os={'x' * 2_990}", size=(60, 20)) as browser:
        await browser.press("2", "j")
        assert_plain(browser)


async def test_a_package_of_which_there_are_only_dependencies_is_not_called_unknown() -> None:
    async with browsing("sample", size=(80, 24)) as browser:
        await browser.ask("zlib-ng")
        await browser.press("enter", shows="zlib-ng is only a dependency here")
        assert "┃ ^zlib-ng instead of zlib-ng" in browser.text
        assert "a shows dependency-only specs" in browser.text
        await browser.press("a")
        assert browser.rows[0].spec.package == "zlib-ng"
        await browser.press("a")
        await browser.ask("hdf5 %gcc@99 +nosuch")
        await browser.press("enter")
        assert "a shows dependency-only specs" not in browser.text, "a compiler is no package"
