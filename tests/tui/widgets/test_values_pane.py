"""The pane of values: its lines, its filter, and what keys and clicks do with a value."""

from collections import Counter
from pathlib import Path

import pytest
from textual import events

from spackscope.model.index.value_counts import SectionKey, SectionValue, ValueSection
from spackscope.model.report.titles import value_lines
from spackscope.tui.widgets.side_column import PackageRows, ValueRows, ValuesPane
from tests.browsing import INDEX, SAMPLE, Browser, browsing, sample_where
from tests.builders.pages import record, write_page
from tests.examples import some_and_all
from tests.tui.browser.test_hostile_text import LONG, SHORT, assert_plain


def section(column: str, counts: dict[str, int], marked: str = "") -> ValueSection:
    values = [SectionValue(v, v, n, True if v == marked else None) for v, n in counts.items()]
    return ValueSection(SectionKey(column), values)


def drawn(rows: ValueRows, width: int) -> list[str]:
    return ["".join(text for text, _ in rows.pieces(n, width)) for n in range(rows.length)]


NUMBERS = {f"os{number}": 30 - number for number in range(12)}


def test_a_section_shows_its_first_values_and_those_with_a_mark() -> None:
    one = section("os", NUMBERS, marked="os9")
    texts = [line.text for line in value_lines([one])]
    assert texts == ["os", *[f"os{n}" for n in range(5)], "os9", "… 6 more"]
    opened = [line.text for line in value_lines([one], opened={SectionKey("os")})]
    assert opened == ["os", *NUMBERS, "… fewer"]
    few = section("os", dict(list(NUMBERS.items())[: 5 + 1]))
    assert len(value_lines([few])) == 5 + 2, "a line for one more takes the place of that one"
    two = section("os", dict(list(NUMBERS.items())[: 5 + 2]))
    assert [line.text for line in value_lines([two])][-1] == "… 2 more"
    assert value_lines([section("os", {})]) == [], "a head alone could not have the cursor"


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("zen", ["target", "zen3", "zen4"]),
        ("target 4", ["target", "zen4"]),
        ("os1", ["os", "os1", "os10", "os11"]),
        ("!os zen4", ["target", "zen4"]),
        ("nothing", []),
        (" ", ["os", "os0", "os1", "os2", "os3", "os4", "… 7 more", "target", "zen3", "zen4"]),
    ],
)
def test_the_filter_looks_at_values_and_names_of_sections(typed: str, expected: list[str]) -> None:
    sections = [section("os", NUMBERS), section("target", {"zen3": 2, "zen4": 1})]
    assert [line.text for line in value_lines(sections, typed)] == expected


@pytest.mark.parametrize("width", [24, 30, 40, 76])
def test_a_row_is_a_mark_a_value_a_bar_and_a_count(width: int) -> None:
    rows = ValueRows()
    values = [
        SectionValue("a", "gcc@11.4.0", 1_200, True),
        SectionValue("b", "gcc@13.2.0", 600, False),
        SectionValue("c", "begin-" + "x" * 90 + "-end", 1),
        SectionValue("d", "none", 0),
    ]
    rows.show_lines(value_lines([ValueSection(SectionKey("compiler"), values)]), 1, (), "")
    lines = drawn(rows, width)
    assert lines[0] == "─ compiler ".ljust(width, "─")
    assert {len(line) for line in lines[1:]} == {width}
    assert [line[:2] for line in lines[1:]] == ["✓ ", "✗ ", "  ", "  "]
    assert [line.split()[-1] for line in lines[1:]] == ["1,200", "600", "1", "0"]
    assert not any("█" in line for line in lines), "a long name leaves no room for bars"
    assert "gcc@11.4.0" in lines[1] or width < 30
    assert lines[3][2:].startswith("beg")


@pytest.mark.parametrize(("width", "bars"), [(25, 3), (30, 7), (76, 19)])
def test_bars_have_the_room_beside_whole_names_and_counts(width: int, bars: int) -> None:
    rows, values = ValueRows(), [SectionValue("a", "apple", 1_200), SectionValue("b", "b", 600)]
    rows.show_lines(value_lines([ValueSection(SectionKey("os"), values)]), 1, (), "")
    lines = drawn(rows, width)
    assert lines[1].startswith(f"  apple {'█' * bars}"), lines


def pane(browser: Browser) -> ValuesPane:
    return browser.browser.query_one(ValuesPane)


def labels(browser: Browser) -> list[str]:
    return [section.key.label for section in pane(browser).sections]


def current(browser: Browser) -> tuple[str, str]:
    line = pane(browser).line
    assert line is not None
    return line.section.key.label, line.text


async def test_values_are_included_excluded_and_cleared_and_rows_follow() -> None:
    async with browsing(size=(160, 45)) as browser:
        await browser.press("2")
        assert {"compiler", "os", "target"} <= set(labels(browser))
        await browser.go_to_column("os", "v", focus="value-rows")
        assert current(browser) == ("os", browser.current.spec.os)
        first = browser.current.spec.os
        ordered = [os for os, _ in Counter(r["os"] for r in SAMPLE).most_common()]
        second = ordered[ordered.index(first) + 1]
        await browser.press("space", query=f"os={first}")
        await browser.press("j", "space", shown=sample_where(lambda r: r["os"] in (first, second)))
        assert current(browser) == ("os", second)
        await browser.press("x", query=f"os={first} !os={second}")
        marks = {
            v.text: v.mark for s in pane(browser).sections for v in s.values if v.mark is not None
        }
        assert marks[first] is True
        assert marks[second] is False
        await browser.press("u", query="")
        await browser.press("enter", query=f"os={second}", focus="spec-rows")
        await browser.press("v", "escape", focus="spec-rows")


async def test_in_a_narrow_terminal_it_is_a_drawer_that_closes() -> None:
    async with browsing(size=(80, 24)) as browser:
        await browser.open_package("py-build")
        await browser.go_to_column("target")
        assert not pane(browser).is_on_screen
        await browser.press("v")
        assert pane(browser).is_on_screen
        assert any(line.startswith("─ target ─") for line in browser.lines)
        await browser.press("v")
        assert not pane(browser).is_on_screen
        await browser.press("v", "/", *"aarch")
        await browser.press("enter", "enter", query="package=py-build target=aarch64")
        assert not pane(browser).is_on_screen


async def test_the_section_at_the_top_is_named_in_the_rule() -> None:
    async with browsing(size=(120, 24)) as browser:
        await browser.press("2", "v")
        at = pane(browser).region.y
        for _ in range(20):
            section, _ = current(browser)
            names = [line for line in browser.lines[at:] if line.startswith(f"─ {section} ─")]
            assert len(names) == 1, "no name scrolls away"
            await browser.press("j")
        assert section != labels(browser)[0]


async def test_lines_that_come_before_there_is_room_for_them_begin_with_their_head() -> None:
    async with browsing(size=(120, 24)) as browser:
        await browser.press("v")
        rows = pane(browser).rows
        rows.display = False
        await browser.settle()
        assert rows.size.height == 0
        rows.show_lines(rows.lines, 1, (), "")
        rows.display = True
        await browser.settle()
        assert 0 < rows.size.height < rows.length
        assert (rows.top, rows.cursor) == (1, 1), "the head is in the rule"


async def test_a_click_includes_and_the_last_line_of_a_section_opens_it(tmp_path: Path) -> None:
    records = [record(n, os=f"os{n:02}", target=f"t{n % 2}") for n in range(30)]
    write_page(tmp_path, records, title="p")
    async with browsing(tmp_path, size=(120, 36)) as browser:
        await browser.press("2")
        rows = pane(browser).rows
        number = next(n for n, line in enumerate(rows.lines) if line.text == "os01")
        await browser.click(rows, 5, number - rows.top, query="os=os01")
        await browser.click(rows, 5, number - rows.top, times=2)
        assert browser.query == "", "a double click is one click"
        more = next(n for n, line in enumerate(rows.lines) if line.text == "… 25 more")
        await browser.click(rows, 5, more - rows.top)
        assert [line.text for line in rows.lines].count("os29") == 1
        assert current(browser) == ("os", "os05")
        await browser.press("G", "G", "g", "u", query="")


@some_and_all(step=3)
async def test_hostile_values_are_plain_text(tmp_path: Path, step: int) -> None:
    texts = [*SHORT, *LONG]
    records = [
        record(n, versions=[text], compiler=text, os=text, target=text, variants=[text])
        for n, text in enumerate(texts)
    ]
    write_page(tmp_path, records)
    async with browsing(tmp_path, size=(110, 30)) as browser:
        await browser.go_to_column("os", "v")
        for _ in range(12 // step):
            await browser.press("space", "pagedown", settle=False)
            assert_plain(browser)
        await browser.press("u", "/", *"zzz[/]")
        assert "no value matches zzz[/]" in " ".join(browser.text.split())
        await browser.press("escape", "escape")
        assert_plain(browser)


async def test_the_position_counts_the_values_and_not_the_rows() -> None:
    async with browsing(size=(120, 30)) as browser:
        await browser.open_package("py-build", "v", "g", "j")
        values = [line for line in browser.browser.panes.values.rows.lines if line.value]
        assert browser.lines[-1].endswith(f" 2/{len(values)} ")


async def test_without_rows_it_is_said_that_nothing_is_counted() -> None:
    async with browsing() as browser:
        await browser.go_to_column("version")
        await browser.ask("zzz", "enter", "2", "v", "G", "g", shows="no rows to count")


async def test_no_head_of_a_section_is_the_last_line_of_the_pane() -> None:
    async with browsing(size=(120, 24)) as browser:
        rows = browser.browser.query_one(ValueRows)
        was_head = False
        for height in range(24, 36):
            await browser.resize(120, height)
            last = rows.region.bottom - 1
            was_head |= rows.is_heading(rows.top + rows.size.height - 1)
            assert not browser.lines[last].startswith("─"), browser.text
            assert len(rows.heads_in_view) == sum(
                line.startswith("─") for line in browser.lines[rows.region.y : last + 1]
            )
        assert was_head


def words(rule: str) -> list[str]:
    return rule.replace("─", " ").split()


async def test_the_packages_with_the_focus_are_an_overview() -> None:
    async with browsing(size=(160, 45)) as browser:
        # Pages do not tell what runs.
        assert words(browser.lines[2])[:4] == ["packages", "4", "newest", "builds"]
        row = next(line for line in browser.lines if "py-ml-dtypes" in line)
        assert row.split()[:3] == ["py-ml-dtypes", "0.4.0", "129"]
        await browser.resize(80, 24)
        row = next(line for line in browser.lines if "py-ml-dtypes" in line)
        assert row.split()[:2] == ["py-ml-dtypes", "129"]
        await browser.press("plus")
        assert words(browser.lines[2]) == ["packages", "4", "newest", "builds"]


async def test_only_rows_on_the_screen_are_summarised_and_those_scrolled_to() -> None:
    async with browsing(INDEX, size=(160, 30)) as browser:
        assert any(line.split()[:3] == ["abseil-cpp", "20240722.0", "5"] for line in browser.lines)
        assert "runs on zen3" in browser.lines[2]
        await browser.press("end")
        await browser.see()
        row = next(line for line in browser.lines if "┃ zstd" in line)
        assert len(row.split("│")[0].split()) >= 5, row
        await browser.ask("any=hdf5", "enter", "1")
        await browser.see()
        row = next(line for line in browser.lines if line.startswith("  hdf5 "))
        assert row.split()[:3] == ["hdf5", "1.14.6", "17"]


async def test_a_list_that_gets_room_is_drawn_from_its_first_row() -> None:
    async with browsing() as browser:
        rows = browser.names.query_one(PackageRows)
        before = browser.lines
        # As a list that was drawn while only the row of its cursor had room.
        rows.move_to(1)
        rows.top = 1
        rows.refresh()
        await browser.settle()
        assert browser.lines != before
        rows.post_message(events.Resize(rows.size, rows.size))
        await browser.settle()
        assert "all packages" in browser.text
