"""The colours of the screen are those of the terminal, and no distinction needs them."""

import asyncio
from typing import Any

import pytest
from rich.style import Style
from textual.app import ComposeResult
from textual.css.stylesheet import Stylesheet
from textual.dom import DOMNode

from spackscope.model.core.errors import Cancelled
from spackscope.model.sources.session import Session
from spackscope.tui.app import SpackscopeApp
from spackscope.tui.browser.screen import BrowserScreen
from spackscope.tui.process import ExitCode
from spackscope.tui.settings import Settings
from spackscope.tui.widgets.query_line import FilterInput
from spackscope.tui.widgets.table_rows import TableRows
from tests.browsing import Browser, browsing
from tests.builders.pages import SAMPLE_PAGES

STATES = ["", "j", "2", "2 right", "2 t", "2 d", "v", "3", "question_mark", "slash x"]
"""Keys that lead to screens with different colours."""


def styles(browser: Browser) -> set[Style]:
    return {segment.style for segment in browser.segments if segment.style is not None}


def cursor_styles(browser: Browser) -> set[Style]:
    """Return the styles of the row of the table under the cursor."""
    rows = browser.table.query_one(TableRows)
    strip = rows.render_line(rows.cursor - rows.top)
    return {segment.style for segment in strip if segment.style is not None}


async def test_all_colours_are_those_of_the_terminal() -> None:
    async with browsing(size=(120, 40)) as browser:
        async for keys in browser.visit(*STATES):
            drawn = styles(browser)
            colours = {colour for style in drawn for colour in (style.color, style.bgcolor)}
            others = {c for c in colours if c and not c.is_default and c.number not in range(16)}
            assert others == set(), keys


async def test_only_an_unexpected_error_that_nothing_waits_for_ends_the_program() -> None:
    async def fail() -> None:
        async with browsing() as browser:
            loop = asyncio.get_running_loop()
            browser.app.end_after(SystemExit())
            for error in (Cancelled(), None, SystemExit()):
                loop.call_exception_handler({"message": "", "exception": error})
                await browser.settle()
                assert browser.app.is_running
            loop.call_exception_handler({"message": "", "exception": ZeroDivisionError()})
            assert browser.app.return_code == ExitCode.UNEXPECTED

    with pytest.raises(ZeroDivisionError):
        await fail()


async def test_ctrl_c_before_anything_is_drawn_ends_the_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = SpackscopeApp([str(SAMPLE_PAGES)], session=Session({}))

    def compose(screen: BrowserScreen) -> ComposeResult:
        app.action_interrupt()
        yield from screen.panes.compose()

    monkeypatch.setattr(BrowserScreen, "compose", compose)
    async with app.run_test():
        pass
    assert (app.return_code, app.unexpected) == (130, None)


@pytest.mark.parametrize("no_color", [False, True])
async def test_the_row_under_the_cursor_is_reversed_with_the_focus(no_color: bool) -> None:
    async with browsing(no_color=no_color) as browser:
        # Without the focus a bar at the left is enough: an underline reads as a rule.
        assert not any(style.underline or style.reverse for style in cursor_styles(browser))
        await browser.press("2")
        assert all(style.reverse and not style.dim for style in cursor_styles(browser))


@pytest.mark.parametrize("theme", ["", "nord"])
async def test_nothing_is_coloured_without_colour(theme: str) -> None:
    async with browsing(no_color=True, settings=Settings(theme=theme)) as browser:
        await browser.press("2", "right")
        colours = {colour for style in styles(browser) for colour in (style.color, style.bgcolor)}
        assert all(colour is None or colour.is_default for colour in colours)
        heads = [s for s in browser.segments if s.style and s.style.bold and s.text.strip()]
        assert heads


async def test_of_the_current_column_one_cell_is_marked() -> None:
    async with browsing() as browser:
        await browser.press("2", "right")
        rows = browser.table.query_one(TableRows)
        drawn = [rows.render_line(line) for line in range(5)]
        marked = [
            [segment.text for segment in strip if segment.style and segment.style.underline]
            for strip in drawn
        ]
        assert [len(texts) for texts in marked] == [1, 0, 0, 0, 0]


async def test_rows_of_an_older_query_are_dim_and_their_inputs_keep_their_styles(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with browsing() as browser:
        await browser.press("slash")
        rows = browser.table.rows
        styled: list[object] = []
        apply = Stylesheet.apply

        def counted(stylesheet: Stylesheet, node: DOMNode, **options: Any) -> None:
            styled.append(node)
            apply(stylesheet, node, **options)

        monkeypatch.setattr(Stylesheet, "apply", counted)
        await browser.type("zzzz")
        assert all(s.style and s.style.dim for s in rows.render_line(1) if s.text.strip())
        assert rows in styled
        assert browser.names.query_one(FilterInput) not in styled
        await browser.press("ctrl+u")
        assert not any(s.style and s.style.dim for s in rows.render_line(1))
