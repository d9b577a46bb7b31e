"""The layout of the panes: sizes of the terminal, the focus, going back, the mouse."""

import operator
import re
from pathlib import Path

import pytest
from textual.widget import Widget

from spackscope.tui.widgets.frame import StatusLine
from spackscope.tui.widgets.side_column import PackageRows
from spackscope.tui.widgets.table_head import MIN_INPUT_WIDTH, ColumnHeader
from spackscope.tui.widgets.virtual_list import VirtualList
from tests.browsing import SAMPLE, browsing
from tests.builders.pages import hash_of, record, write_page
from tests.examples import some_and_all


def beside(left: Widget, right: Widget) -> bool:
    return left.region.right <= right.region.x


async def test_packages_are_beside_the_table_which_is_above_the_detail() -> None:
    async with browsing(size=(160, 45)) as browser:
        for size in ((160, 45), (120, 40), (96, 28)):
            await browser.resize(*size, panes=["packages", "specs", "detail"])
            assert beside(browser.names, browser.table)
            assert browser.table.region.bottom == browser.detail.region.y
            assert [len(line) for line in browser.lines] == [size[0]] * size[1]


@pytest.mark.parametrize(
    ("name", "widths"),
    [("x", (37, 27)), ("long" * 10, (63, 27)), ("n" * 80, (72, 27))],
)
async def test_in_a_broad_terminal_packages_are_as_wide_as_they_need_while_they_have_the_focus(
    tmp_path: Path, name: str, widths: tuple[int, ...]
) -> None:
    write_page(tmp_path, [record(1)], title=name)
    async with browsing(tmp_path, size=(160, 45)) as browser:
        for width, wide in zip((160, 139), widths, strict=True):
            await browser.resize(width, 30)
            await browser.press("1")
            assert browser.names.region.width == wide
            for key in ("2", "slash"):
                await browser.press(key)
                assert 24 <= browser.names.region.width <= 30
            await browser.press("escape")


async def test_the_values_have_the_lines_that_the_packages_do_not_need(tmp_path: Path) -> None:
    for number in range(30):
        write_page(tmp_path, [record(number)], title=f"package{number:02}")
    async with browsing(tmp_path, size=(120, 30)) as browser:
        names, values = browser.names, browser.browser.panes.values
        assert names.region.height == 25 or values.region.height <= 1
        await browser.press("end", "2", shows="┃ package29")  # the selected package is seen
        assert names.region.height <= 17
        assert values.region.bottom == 28
        await browser.ask("package2")
        assert names.region.height == 10 + 2
        await browser.ask("any=package17")
        assert names.region.height == 1 + 2
        assert names.region.bottom == values.region.y


async def test_the_values_are_a_drawer_that_moves_the_rows_aside() -> None:
    async with browsing(size=(80, 24)) as browser:
        values = browser.browser.panes.values
        await browser.open_package("py-build")
        assert not values.region.area
        browser.browser.panes.focus.peek("values")
        await browser.settle()
        assert values.region.x == 0
        assert values.region.right < browser.table.region.x, "no cell is cut at its beginning"
        assert browser.table.region.right == 80
        await browser.press("escape", focus="spec-rows")
        assert browser.table.region.x == 0


async def test_packages_are_beside_the_table_below_96_columns_until_one_is_chosen() -> None:
    async with browsing(size=(80, 24), pane="specs") as browser:
        assert browser.focus == "spec-rows"
        assert browser.panes == ["packages", "specs", "detail"]
        await browser.resize(71, 24, panes=["specs", "detail"])
        await browser.resize(80, 24)
        await browser.ask("py-build", panes=["specs", "detail"])
        await browser.press("enter", "X", panes=["packages", "specs", "detail"])


async def test_packages_are_beside_the_table_while_they_have_the_focus_below_96_columns() -> None:
    async with browsing(size=(95, 30)) as browser:
        await browser.open_package("py-build")
        for size in ((80, 24), (95, 30), (60, 16)):
            await browser.resize(*size)
            await browser.press("1", panes=["packages", "specs", "detail"])
            assert beside(browser.names, browser.table)
            assert browser.table.region.right == size[0]
            assert [len(line) for line in browser.lines] == [size[0]] * size[1]
            for key in ("2", "slash"):
                await browser.press(key, panes=["specs", "detail"])
                assert browser.table.region.width == size[0]
                assert browser.table.region.bottom == browser.detail.region.y
                assert [len(line) for line in browser.lines] == [size[0]] * size[1]
            await browser.press("escape")


async def test_a_pane_is_given_the_whole_screen_and_gives_it_back() -> None:
    async with browsing(size=(120, 30)) as browser:
        await browser.open_package("py-build")
        for keys, pane in (
            (["2", "plus"], "specs"),
            (["1", "plus"], "packages"),
            (["3"], "detail"),
        ):
            await browser.press(*keys, panes=[pane])
            (shown,) = [w for w in browser.browser.query(".pane") if w.id == pane]
            assert shown.region.size == (120, 26), "all but title, query, a rule and hints"
            assert browser.lines[-1].startswith(" esc unzoom")
            await browser.press("plus", panes=["packages", "specs", "detail"], no_hint="unzoom")
            await browser.press("plus", "escape", no_hint="unzoom")
            assert browser.panes == ["packages", "specs", "detail"]
            assert browser.browser.panes.focus.pane == pane, "esc does nothing else"
        await browser.press("3", panes=["detail"])  # 3 in the detail is as +
        await browser.press("3", panes=["packages", "specs", "detail"], no_hint="unzoom")
        await browser.press("v", "plus", "escape", no_hint="unzoom")


async def test_a_pane_that_is_left_shows_its_beginning_again() -> None:
    async with browsing("sample", size=(80, 24)) as browser:
        await browser.press("2")
        first = browser.text
        await browser.press("3", "G", "escape")
        assert browser.detail.lines.top > 0
        await browser.press("escape")
        assert (browser.focus, browser.text) == ("spec-rows", first)
        await browser.press("v", "G")
        assert browser.text != first
        await browser.press("escape")
        assert (browser.focus, browser.text) == ("spec-rows", first)


async def test_another_pane_ends_the_zoom_but_the_query_of_zoomed_rows_does_not() -> None:
    async with browsing(size=(80, 24)) as browser:
        await browser.press("2", "plus", "slash", *"py-build", panes=["specs"])
        await browser.press("enter", "3", panes=["detail"])
        await browser.press("slash", panes=["specs", "detail"])


async def test_the_focus_on_its_way_to_a_detail_that_goes_ends_in_the_rows() -> None:
    async with browsing() as browser:
        await browser.press("2")
        panes = browser.browser.panes
        panes.focus.go_to("detail")
        # As for an answer whose first rows are about no spec.
        panes.work.add_class("-no-detail")
        await browser.settle()
        assert browser.focus == "spec-rows"
        await browser.press("tab")
        assert browser.focus.startswith("filter")


async def test_escape_leads_back_from_the_packages_to_where_they_were_opened() -> None:
    async with browsing(size=(80, 24)) as browser:
        await browser.open_package("py-build")
        for key, focus in (("3", "detail"), ("2", "spec-rows")):
            await browser.press(key, "1", "escape", focus=focus, query="package=py-build")
        await browser.press("escape", focus="package-rows")
        await browser.press("escape", query="package=py-build", status="Press q to quit")


async def test_a_click_on_a_source_filters_by_it_and_one_on_problems_lists_them(
    tmp_path: Path,
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    for number, folder in enumerate((first, second)):
        write_page(folder, [record(number)])
    async with browsing(first, second, tmp_path / "missing", size=(120, 30)) as browser:
        title = browser.browser.panes.title
        one, other = (browser.lines[0].index(f" {name} ") for name in ("first", "second"))
        assert len(browser.shown) == 2
        await browser.click(title, one + 1, 0, query="source=first", shown={hash_of(0)})
        await browser.click(title, other + 1, 0, query="source=first | source=second", builds=2)
        await browser.click(title, one + 1, 0, query="source=second", shown={hash_of(1)})
        await browser.click(title, browser.lines[0].index("▲ 1 problem"), 0)
        assert browser.lines[1].startswith(" › problems of the sources")


async def test_one_pane_is_shown_at_a_time_below_60_columns() -> None:
    async with browsing(size=(60, 20)) as browser:
        await browser.resize(50, 20, panes=["packages"])
        await browser.press("z", "j", "enter", panes=["specs"], focus="spec-rows")
        await browser.press("enter", panes=["detail"])
        for size in ((50, 8), (50, 12), (50, 20)):
            await browser.resize(*size, shows="─ py-build@")  # the detail names its spec
        await browser.press("f", panes=["specs"])
        assert browser.focus == f"filter {browser.table.columns.columns.names[0]}"
        assert browser.app.focused is not None
        assert browser.app.focused.size.width == MIN_INPUT_WIDTH, "there is room for a word"
        await browser.press("escape", "3", "escape", panes=["specs"])
        await browser.press("escape", panes=["packages"])
        await browser.type_ahead("home", "j", "enter", "j", "enter", "j", "j", selected="py-build")
        assert browser.panes == ["detail"], "keys that were typed ahead go the same way"
        assert browser.table.rows.cursor == 1
        assert browser.detail.position[0] == 2


SIZES = [
    *((160, 45), (150, 9), (140, 28), (139, 40), (120, 36), (110, 14), (104, 30), (103, 39)),
    *((90, 13), (80, 24), (72, 19), (60, 20), (60, 8), (59, 27), (50, 16), (40, 12), (28, 10)),
    (20, 5),
]


@some_and_all(step=6)
async def test_every_size_shows_the_cursor_of_the_focus_and_says_something_in_each_line(
    step: int,
) -> None:
    async with browsing(size=(160, 45)) as browser:
        await browser.open_package("py-ml-dtypes")
        states = (["2", "end"], ["3", "j"], ["1"], ["2", "v"], ["2", "plus"], ["slash"])
        for number, keys in enumerate(states):
            await browser.press(*keys)
            focused = browser.app.screen.focused
            assert focused is not None
            for width, height in SIZES[number % step :: step]:
                await browser.pilot.resize_terminal(width, height)
                await browser.settle()
                assert [len(line) for line in browser.lines] == [width] * height
                region, what = focused.region, (keys, width, height)
                assert region.area, what
                assert region.right <= width, what
                assert region.bottom < height, what
                if isinstance(focused, VirtualList):
                    cursor_line = focused.cursor - focused.top
                    assert 0 <= cursor_line < region.height, what
                # A rule beside the table may be a line above the rule of the detail.
                beside = 73 if width >= 96 else 0
                rules = ["─" * 20 in line[beside:] for line in browser.lines]
                assert not any(map(operator.and_, rules, rules[1:])), what
                assert browser.count in browser.lines[0 if height < 9 else 1], what


@pytest.mark.parametrize("size", [(150, 9), (50, 16), (20, 5)])
async def test_a_detail_that_comes_to_be_alone_ends_where_the_screen_does(
    size: tuple[int, int],
) -> None:
    async with browsing(size=(160, 45)) as browser:
        await browser.open_package("py-ml-dtypes", "3")
        assert browser.detail.region.height > size[1]
        await browser.resize(*size)
        assert browser.detail.region.bottom < size[1]


async def test_at_80x24_eight_rows_are_above_a_build_that_is_shown_whole() -> None:
    async with browsing(size=(80, 24)) as browser:
        await browser.open_package("py-ml-dtypes")
        for _ in range(3):
            region = browser.detail.region
            await browser.press("j")
            assert browser.detail.region == region, "a step moves no rule"
        await browser.ask("py-build", "enter", "z", "space")
        assert browser.marks_line
        assert browser.table.rows.region.height >= 7


@some_and_all(step=3)
async def test_no_size_is_too_odd(step: int) -> None:
    async with browsing() as browser:
        for size in ((1, 1), (2, 30), (200, 60), (61, 4), (500, 2))[::step]:
            await browser.resize(*size)
            assert all(len(line) <= size[0] for line in browser.lines)
            await browser.type_ahead(
                "1", "j", "enter", "j", "enter", "3", "end", "2", "f", "a", "escape", "Y"
            )
            assert browser.dialog == "PickDialog"
            browser.look()
            browser.send("escape", "?", "j", "escape", "escape", "S", "escape", "X")
            await browser.type_ahead("/", "z", "z", "enter")
            browser.look()
            await browser.resize(120, 30, query="any=zz", panes=["packages", "specs", "detail"])
            await browser.clear()


async def test_the_size_can_change_at_any_time_and_nothing_is_lost() -> None:
    async with browsing(size=(160, 45)) as browser:
        await browser.press("z")
        await browser.open_package("py-ml-dtypes", *["j"] * 5, "space")
        await browser.filter("os", "ubuntu")
        spec = browser.current.spec
        for size in [(50, 20), (80, 24), (1, 1), (120, 40), (20, 5), (60, 16), (200, 50)]:
            await browser.resize(*size)
            assert browser.current.spec == spec
            assert browser.filter_text("os") == "ubuntu"
        assert browser.selected == "py-ml-dtypes"
        assert browser.marks_line.startswith("1 marked")
        assert spec.hash[:7] in browser.text
        assert browser.app.screen.focused is not None

        await browser.clear("U")
        await browser.resize(160, 40)
        await browser.open_package("py-build")
        await browser.filter("os", "ubuntu24.04")
        for width in (160, 70, 110, 64, 160):
            await browser.resize(width, 40)
            has_column = "os" in browser.placed_names
            assert ("ubuntu24.04" in browser.specs_title) is not has_column
        await browser.clear("2", "end")
        for height in (10, 40, 12):
            await browser.resize(120, height)
            assert browser.current_hash[:7] in browser.text


async def test_tab_and_digits_go_through_panes_and_filters() -> None:
    async with browsing(size=(80, 24)) as browser:
        seen = []
        filters = [f"filter {c.name}" for c in browser.table.columns.columns.all if not c.is_note]
        for _ in range(len(filters) + 4):
            seen.append(browser.focus)
            await browser.press("tab")
        assert seen == ["package-rows", "spec-rows", *filters, "detail", "filter query"]
        assert browser.focus == "package-rows"
        await browser.press("shift+tab", "shift+tab", focus="detail")
        await browser.press("shift+tab", focus="spec-rows")
        await browser.go_to_column("version")
        await browser.press("tab", "tab", "shift+tab", "shift+tab", "shift+tab", focus="spec-rows")
        await browser.press("shift+tab", focus="package-rows")
        for key, place in (("2", "spec-rows"), ("3", "detail"), ("1", "package-rows")):
            await browser.press(key, focus=place)

        await browser.open_package("py-safetensors", "f")
        filters = []
        while browser.focus.startswith("filter") and len(filters) < 12:
            filters.append(browser.focus.removeprefix("filter "))
            assert filters[-1] in browser.placed_names, "the filter is on the screen"
            await browser.press("tab")
        columns = [c.name for c in browser.table.columns.columns.all if not c.is_note]
        assert filters == columns
        assert {"os", "target", "compiler", "stack", "hash"} <= set(filters)
        assert browser.focus == "detail"
        await browser.press("2", "f", "shift+tab", focus=f"filter {filters[-2]}")

        await browser.press("escape", *["l"] * 12)
        columns = [browser.table.column]
        while browser.table.column != filters[0]:
            await browser.press("h")
            assert browser.table.column in browser.placed_names
            columns.append(browser.table.column)
        assert columns == ["unlike others", *filters[::-1]]
        await browser.press("h", "h")
        assert browser.table.column == browser.table.columns.head[0], "before it is the head line"


async def test_escape_leads_back_from_filters_panes_and_dialogs() -> None:
    async with browsing() as browser:
        for to_filter, key, to_rows in (
            ("slash", "escape", "spec-rows"),
            ("slash", "enter", "spec-rows"),
            ("slash", "down", "spec-rows"),
            ("1 f", "escape", "package-rows"),
            ("2 f", "enter", "spec-rows"),
            ("2 l f", "down", "spec-rows"),
        ):
            await browser.press(*to_filter.split(), settle=False)
            assert browser.focus.startswith("filter")
            await browser.press("p", key)
            assert browser.focus == to_rows, (to_filter, key)
        await browser.clear("1", "z")
        keys = ("question_mark", "Y", "colon")
        for number, key in enumerate(keys):
            # Every dialog is opened from one pane or two.
            for place in ("1", "2", "3")[number % 3 :: 2]:
                await browser.press(place, settle=False)
                before = browser.focus
                await browser.press(key)
                assert browser.dialog is not None
                await browser.press("escape", settle=False, dialog=None, focus=before)
        await browser.press("1", "escape", "2", "escape", "escape", status="Press q to quit")


async def test_the_mouse_selects_opens_sorts_and_scrolls() -> None:
    async with browsing() as browser:
        await browser.press("z")
        names = browser.names.query_one(PackageRows)
        await browser.click(names, 5, 2, selected="py-ml-dtypes", focus="package-rows")
        await browser.click(names, 5, 1, times=2, selected="py-build", focus="spec-rows")
        await browser.click(browser.table.rows, 10, 4, cursor=4)
        await browser.click(browser.table.rows, 10, 3, times=2, focus="detail", cursor=3)
        lines = browser.detail.lines
        await browser.to_value(browser.current.spec.os)
        at = browser.detail_lines[lines.cursor].index(browser.current.spec.os)
        await browser.click(lines, at + 1, lines.cursor - lines.top)
        assert browser.query == f"package=py-build os={browser.current.spec.os}"
        await browser.press("1")
        await browser.click(names, 5, 15)
        assert browser.selected == "py-build", "below the rows there is nothing to click on"

        await browser.resize(160, 30)
        await browser.clear("1", "home", "2", "home")
        head = browser.table.query_one(ColumnHeader)
        at = head.render_line(0).text.index("os ")
        await browser.press("2")
        for order in (False, True):
            await browser.click(head, at, 0, column="os")
            found = [row.spec.os for row in browser.rows]
            assert found == sorted(found, reverse=order)
        await browser.click(head, at, 0, hides="os↓")
        await browser.press("j", cursor=1)  # the keys work on

        await browser.resize(160, 30)
        await browser.clear("1", "home", "2", "home")
        rows = browser.table.rows
        await browser.press("2")
        before, current = browser.lines[8], browser.current
        for _ in range(4):
            await browser.wheel(rows)
        assert browser.lines[8] != before
        assert (rows.top, rows.cursor) == (12, 0), "the wheel does not select"
        await browser.wheel(rows, up=True)
        assert (rows.top, rows.cursor) == (9, 0)
        assert browser.current == current
        await browser.press("y")
        assert rows.top == 0, "the next key comes back to the cursor, and copies what is seen"
        await browser.wheel(rows)
        await browser.press("k")
        assert (rows.top, rows.cursor) == (0, 0)
        await browser.wheel(browser.names.query_one(PackageRows))
        assert browser.selected is None, "a list that fits does not scroll"
        assert len(browser.rows) == len(SAMPLE)


async def test_a_click_goes_to_a_value_of_the_detail_and_the_next_one_chooses_it() -> None:
    async with browsing(query="py-build", size=(160, 40)) as browser:
        await browser.press("2")
        lines, spec = browser.detail.lines, browser.current.spec

        async def click(text: str) -> int:
            """Click on the first value with a text; return its row."""
            row = next(n for n, line in enumerate(browser.detail_lines) if text in line)
            await browser.click(lines, browser.detail_lines[row].index(text) + 1, row - lines.top)
            return row

        before = browser.query
        for text in (spec.os, spec.version):
            row = await click(text)
            assert (browser.focus, lines.cursor, browser.query) == ("detail", row, before)
        await browser.click(lines, 0, lines.cursor - lines.top)
        assert browser.query == before, "the margin is no value"
        await click(spec.os)
        assert browser.query == before, "another value was clicked before"
        await click(spec.os)
        assert browser.query == f"{before} os={spec.os}"


async def test_a_click_on_a_hint_presses_its_key() -> None:
    async with browsing(size=(100, 24)) as browser:
        await browser.press("2")
        status = browser.browser.query_one(StatusLine)
        await browser.click(status, browser.lines[-1].index("? help"), 0, dialog="PickDialog")
        closes = browser.app.screen.query_one(StatusLine)
        await browser.click(closes, browser.lines[-1].index("esc close") + 5, 0, dialog=None)
        before = browser.lines
        await browser.click(status, 99, 0)
        assert browser.lines == before, "the position is no hint"


async def test_as_much_of_an_example_of_a_query_is_shown_as_fits() -> None:
    async with browsing(size=(160, 24)) as browser:
        whole = browser.lines[1].split("  ")[0]
        assert whole == " › for example: hdf5 +mpi target=:zen3"
        for width in (120, 80, 60, 30, 160):
            await browser.resize(width, 24)
            shown = browser.lines[1].split("  ")[0].rstrip()
            assert whole.startswith(shown)
            assert whole[len(shown) :][:1] in ("", " ")


async def test_a_query_that_is_cut_off_ends_in_a_sign() -> None:
    query = "py-build os=ubuntu22.04 target=:zen4 !stack=e4s-power !stack=ml"
    async with browsing(size=(80, 24), query=query) as browser:
        line = browser.lines[1]
        assert line.startswith(" › package=py-build os=ubuntu22.04 target=:zen4")
        assert f"…  {browser.count}" in line
        await browser.resize(160, 24)
        assert "…" not in browser.lines[1]
        await browser.resize(80, 24)
        await browser.press("slash")
        assert "…" not in browser.lines[1]


async def test_a_message_hides_no_key_and_moves_nothing() -> None:
    async with browsing(size=(80, 24)) as browser:
        await browser.press("2")
        before, regions = browser.lines, [w.region for w in browser.browser.query(".pane")]
        browser.browser.host.say("Nothing was found", error=True)
        await browser.settle()
        assert browser.lines[-1] == before[-1]
        assert browser.lines[-2].endswith("─  ! Nothing was found  ")
        assert [w.region for w in browser.browser.query(".pane")] == regions
        browser.browser.host.say("")
        await browser.settle()
        assert browser.lines == before


async def test_a_message_fits_the_terminal_after_it_was_resized() -> None:
    async with browsing(size=(60, 20)) as browser:
        browser.browser.host.say("Nothing was found, whatever was asked for, wherever that may be")
        await browser.settle()
        for size, lines in (((60, 20), 2), ((120, 30), 1), ((60, 20), 2)):
            await browser.resize(*size)
            toast = browser.browser.panes.toast.region
            assert toast.height == lines
            assert (toast.right, toast.bottom) == (size[0], size[1] - 1)


async def test_a_message_is_never_over_the_row_of_the_cursor() -> None:
    async with browsing(size=(60, 12)) as browser:
        await browser.press("2", "end", "space")
        browser.browser.host.say("Nothing was found, whatever was asked for, wherever that may be")
        # Without marks the table has a line more.
        for key in ("G", "U", "k", "k", "k"):
            await browser.press(key)
            rows = browser.table.rows
            line = browser.lines[rows.region.y + rows.cursor - rows.top]
            assert browser.current_hash[:7] in line
            assert sum("Nothing was found" in line for line in browser.lines) == 1


async def test_one_build_is_counted_as_one(tmp_path: Path) -> None:
    write_page(tmp_path, [record(1)])
    async with browsing(tmp_path) as browser:
        assert re.search(r"\b1 build of 1 package\b", browser.text)


async def test_the_last_row_stays_in_sight_beside_the_line_of_marks() -> None:
    async with browsing("sample", size=(80, 24)) as browser:
        await browser.ask("silo", "enter", "space", shows="◇▸3")
        assert browser.marks_line
        assert browser.table.rows.region.height >= 1


async def test_ways_out_have_the_room_of_the_build_that_is_not_there() -> None:
    async with browsing("sample", size=(80, 24)) as browser:
        await browser.ask("silo")
        assert browser.table.rows.region.height == 1
        await browser.ask("hdf5+mpi target=:zen3 %gcc@13 fits", "enter")
        choices = [line.split()[0] for line in browser.lines if " instead of " in line]
        assert choices == ["┃", "%gcc@=11.4.0"], "the first has the cursor"
        assert "without fits" in browser.text
        assert "glibc 2.39 > 2.35: 4 ─" in browser.text, "nothing follows in the rule"


async def test_rows_of_another_package_have_their_own_columns_while_it_is_typed() -> None:
    async with browsing("sample", size=(80, 24)) as browser:
        await browser.ask("hdf5+mpi %gcc@12", "enter")
        assert "package" not in browser.table.columns.columns.names
        await browser.press("slash", "space", *"silo")
        assert browser.table.columns.columns.names[:2] == ["package", "version"]
        chosen = browser.table.columns.columns
        await browser.press("space", *"+mpi")
        assert browser.table.columns.columns is chosen, "a letter changes no column"


async def test_a_message_does_not_cover_the_row_that_rows_have_moved_to() -> None:
    async with browsing("sample", size=(20, 8)) as browser:
        for down in range(3):
            await browser.ask("hdf5@1.14.6 target=zen9", "enter")
            # The reason above the rows goes, and leaves its lines to them.
            await browser.press(*["j"] * down, "enter")
            rows, toast = browser.table.rows, browser.browser.panes.toast.region
            at = rows.region.y + rows.cursor - rows.top
            assert not toast.y <= at < toast.bottom
            assert browser.current_hash[:7] in browser.lines[at]
