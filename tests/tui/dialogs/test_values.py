"""The values of a column: counted, marked, and made a part of the query."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import pytest

from spackscope.model.assist.value_choice import Choice, Values, count_values, said_of
from spackscope.model.core.columns import BY_NAME
from spackscope.model.core.errors import (
    Cancelled,
)
from spackscope.model.core.progress import ShouldStop
from spackscope.model.loader.load import index_path, load
from spackscope.model.query.ast import Query
from spackscope.model.query.parse import parse
from spackscope.model.sources.session import Session
from spackscope.tui.dialogs.values import ValuesDialog
from spackscope.tui.widgets.value_rows import ValueRows
from tests.browsing import (
    SAMPLE,
    Browser,
    Record,
    browsing,
    hash_of,
    record,
    sample_where,
    write_page,
)
from tests.tui.browser.test_hostile_text import LONG, SHORT, assert_plain

FIELDS: dict[str, Callable[[Record], list[str]]] = {
    "package": lambda r: [r["package"]],
    "version": lambda r: r["versions"],
    "compiler": lambda r: [r["compiler"].replace("@=", "@")],
    "os": lambda r: [r["os"]],
    "target": lambda r: [r["target"]],
    "variants": lambda r: r["variants"],
    "stack": lambda r: r["stacks"],
}
"""The values that a record of a page has in each column."""


def rows_of(browser: Browser) -> ValueRows:
    return browser.app.screen.query_one(ValueRows)


def values(browser: Browser) -> list[tuple[str, int]]:
    """All values that the dialog shows, with their counts."""
    return [(facet.value, facet.count) for facet in rows_of(browser).facets]


def marks(browser: Browser) -> dict[str, str]:
    """The signs that stand before the values on the screen, but for blanks."""
    rows = rows_of(browser)
    drawn = ["".join(text for text, _ in rows.pieces(n, 60)) for n in range(rows.length)]
    signs = zip(rows.facets, (line[1] for line in drawn), strict=True)
    return {facet.value: sign for facet, sign in signs if sign != " "}


def title(browser: Browser) -> str:
    return str(browser.app.screen.query_one(".dialog").border_title)


def hints(browser: Browser) -> str:
    return str(browser.app.screen.query_one(".dialog").border_subtitle)


async def open_values(browser: Browser, column: str) -> None:
    await browser.go_to_column(column)
    await browser.press("v")
    assert browser.dialog == "ValuesDialog"


async def to_value(browser: Browser, value: str) -> None:
    shown = [shown for shown, _ in values(browser)]
    browser.send("home", *["j"] * shown.index(value))
    await browser.settle()
    assert rows_of(browser).value == value


async def show_values(
    browser: Browser, column: str, count: Callable[[ShouldStop], Values]
) -> None:
    """Open a dialog whose values come from elsewhere."""
    browser.app.push_screen(ValuesDialog(column, count))
    await browser.until(lambda: browser.dialog == "ValuesDialog")


# Counts


@pytest.mark.parametrize("column", FIELDS)
async def test_every_value_of_the_pages_is_shown_with_its_count(column: str) -> None:
    counts = Counter(value for r in SAMPLE for value in set(FIELDS[column](r)))
    async with browsing(size=(120, 40)) as browser:
        await open_values(browser, column)
        assert dict(values(browser)) == counts
        numbers = [count for _, count in values(browser)]
        assert numbers == sorted(numbers, reverse=True)
        many = "value" if len(counts) == 1 else "values"
        assert title(browser) == f"{BY_NAME[column].label} · {len(counts)} {many}"
        for value, count in counts.items():
            (line,) = (li for li in browser.lines if f" {value} " in li and f" {count}  │" in li)
            assert line.index(value) < line.index(f" {count}  │")


async def test_the_other_conditions_and_the_package_narrow_the_counts() -> None:
    async with browsing() as browser:
        await browser.open_package("py-ml-dtypes")
        await browser.ask("target=aarch64 os=ubuntu24.04")
        await open_values(browser, "os")
        assert dict(values(browser)) == Counter(
            r["os"] for r in SAMPLE if r["package"] == "py-ml-dtypes" and r["target"] == "aarch64"
        )


async def test_thousands_have_commas_and_all_values_can_be_walked(tmp_path: Path) -> None:
    records = [record(n, os=f"os{max(0, n - 1200)}") for n in range(2500)]
    write_page(tmp_path, "zlib", records)
    async with browsing(tmp_path, size=(80, 24)) as browser:
        await open_values(browser, "os")
        assert title(browser) == "os · 1,300 values"
        assert any("os0" in line and line.count("1,201") for line in browser.lines)
        await browser.press("G")
        assert "os999" in browser.text
        assert "1,300/1,300" in browser.text
        await browser.press("k", "enter")
        assert browser.query == "os=os998"


# Choosing


async def test_enter_asks_for_the_value_under_the_cursor() -> None:
    async with browsing() as browser:
        await open_values(browser, "os")
        assert "⏎ takes this" in hints(browser)
        await to_value(browser, "ubuntu24.04")
        await browser.press("enter")
        assert browser.dialog is None
        assert browser.query == "os=ubuntu24.04"
        assert browser.filter_text("os") == "=ubuntu24.04"
        assert browser.status == "os=ubuntu24.04 is asked for now; ⌫ takes it off"
        assert browser.shown == sample_where(lambda r: r["os"] == "ubuntu24.04")
        await browser.press("backspace")
        assert len(browser.shown) == len(SAMPLE)


async def test_the_cursor_begins_on_the_value_of_the_row() -> None:
    async with browsing() as browser:
        await browser.press("2", "G")
        wanted = browser.current.spec.target
        await open_values(browser, "target")
        assert rows_of(browser).value == wanted
        await browser.press("enter")
        assert browser.shown == sample_where(lambda r: r["target"] == wanted)


async def test_several_marked_values_are_alternatives() -> None:
    async with browsing() as browser:
        await open_values(browser, "target")
        await to_value(browser, "aarch64")
        await browser.press("space")
        assert rows_of(browser).value != "aarch64"
        await to_value(browser, "x86_64_v3")
        await browser.press("space", "k")
        assert marks(browser) == {"aarch64": "+", "x86_64_v3": "+"}
        assert "⏎ takes 2 marked" in hints(browser)
        await browser.press("enter")
        assert browser.shown == sample_where(lambda r: r["target"] in ("aarch64", "x86_64_v3"))


async def test_excluded_values_are_shown_no_more() -> None:
    async with browsing() as browser:
        await open_values(browser, "compiler")
        await to_value(browser, "none")
        await browser.press("x")
        await to_value(browser, "gcc@13.2.0")
        await browser.press("x")
        assert marks(browser) == {"none": "!", "gcc@13.2.0": "!"}
        await browser.press("enter")
        assert browser.status.endswith("are asked for now; ⌫ takes the last off")
        assert browser.shown == sample_where(
            lambda r: FIELDS["compiler"](r)[0] not in ("none", "gcc@13.2.0")
        )


async def test_a_mark_can_be_changed_and_taken_off() -> None:
    async with browsing() as browser:
        await open_values(browser, "os")
        await to_value(browser, "ubuntu24.04")
        for key, sign in (("space", "+"), ("x", "!"), ("x", ""), ("x", "!"), ("space", "+")):
            await browser.press(key)
            assert marks(browser).get("ubuntu24.04", "") == sign
            await to_value(browser, "ubuntu24.04")
        await browser.press("space")
        assert marks(browser) == {}
        assert "⏎ takes this" in hints(browser)


async def test_variants_of_different_names_must_all_hold(tmp_path: Path) -> None:
    sets = [["+mpi", "~cuda"], ["+mpi", "+cuda"], ["~mpi", "~cuda"], ["build=Debug", "+mpi"]]
    write_page(tmp_path, "hdf5", [record(n, variants=v) for n, v in enumerate(sets)])
    async with browsing(tmp_path) as browser:
        await open_values(browser, "variants")
        assert dict(values(browser)) == Counter(v for variants in sets for v in variants)
        await to_value(browser, "+mpi")
        await browser.press("space")
        await to_value(browser, "~cuda")
        await browser.press("space", "enter")
        assert browser.shown == {hash_of(0)}
        await open_values(browser, "variants")
        assert marks(browser) == {"+mpi": "+", "~cuda": "+"}


async def test_marks_are_there_again_when_the_values_are_opened_again() -> None:
    async with browsing() as browser:
        await browser.ask("os=ubuntu24.04 !target=aarch64")
        await open_values(browser, "os")
        assert marks(browser) == {"ubuntu24.04": "+"}
        await browser.press("escape")
        await open_values(browser, "target")
        assert marks(browser) == {"aarch64": "!"}
        await to_value(browser, "x86_64_v3")
        await browser.press("x", "enter")
        assert browser.shown == sample_where(
            lambda r: r["os"] == "ubuntu24.04" and r["target"] not in ("aarch64", "x86_64_v3")
        )


async def test_a_value_that_is_asked_for_and_that_no_spec_has_is_still_there() -> None:
    async with browsing() as browser:
        await browser.ask("os=sequoia target=x86_64_v3")
        assert browser.shown == set()
        await open_values(browser, "os")
        assert ("sequoia", 0) in values(browser)
        assert marks(browser) == {"sequoia": "+"}
        await to_value(browser, "ubuntu24.04")
        await browser.press("enter")
        assert browser.shown == sample_where(
            lambda r: r["os"] == "ubuntu24.04" and r["target"] == "x86_64_v3"
        )


async def test_enter_on_no_marks_takes_the_conditions_of_the_column_off() -> None:
    async with browsing() as browser:
        await browser.ask("os=ubuntu24.04 target=aarch64")
        await open_values(browser, "os")
        await browser.press("u")
        assert marks(browser) == {}
        assert "⏎ takes conditions off" in hints(browser)
        await browser.press("enter")
        assert browser.query == "target=aarch64"
        assert browser.status == "nothing is asked of os now"
        await open_values(browser, "os")
        await browser.press("u")
        assert "⏎ takes this" in hints(browser)


async def test_what_was_asked_already_stays_as_it_was() -> None:
    async with browsing() as browser:
        await browser.ask("os=ubuntu24.04")
        await open_values(browser, "os")
        await browser.press("enter")
        assert browser.query == "os=ubuntu24.04"
        assert browser.status == "what is asked of os stays as it was"


async def test_escape_and_q_leave_everything_as_it_was() -> None:
    async with browsing() as browser:
        for key in ("escape", "q"):
            await open_values(browser, "os")
            await browser.press("space", key)
            assert browser.dialog is None
            assert browser.query == ""


async def test_keys_that_were_typed_ahead_meet_the_values() -> None:
    async with browsing() as browser:
        await browser.go_to_column("os")
        browser.send("v", "home", "j", "space", "enter")
        await browser.settle()
        second = Counter(r["os"] for r in SAMPLE).most_common()[1][0]
        assert browser.query == f"os={second}"


async def test_the_mouse_chooses_by_two_clicks() -> None:
    async with browsing() as browser:
        await open_values(browser, "os")
        value = values(browser)[1][0]
        await browser.click(rows_of(browser), 5, 1, times=2)
        assert browser.query == f"os={value}"


# From other panes


async def test_in_the_packages_the_values_are_the_packages() -> None:
    async with browsing() as browser:
        await browser.open_package("py-ml-dtypes")
        await browser.press("1", "v")
        assert dict(values(browser)) == Counter(r["package"] for r in SAMPLE)
        assert rows_of(browser).value == "py-ml-dtypes"
        await to_value(browser, "py-build")
        await browser.press("space")
        await to_value(browser, "py-safetensors")
        await browser.press("space", "enter")
        assert browser.shown == sample_where(
            lambda r: r["package"] in ("py-build", "py-safetensors")
        )
        await browser.press("v")
        await to_value(browser, "py-build")
        await browser.press("x", "enter")
        assert browser.shown == sample_where(lambda r: r["package"] == "py-safetensors")


async def test_a_package_that_stays_wanted_stays_selected() -> None:
    async with browsing() as browser:
        await browser.open_package("py-ml-dtypes")
        await browser.press("1", "v")
        await to_value(browser, "py-build")
        await browser.press("x", "enter")
        assert browser.selected == "py-ml-dtypes"
        assert browser.shown == sample_where(lambda r: r["package"] == "py-ml-dtypes")


async def test_in_the_detail_the_values_are_those_of_the_line() -> None:
    async with browsing() as browser:
        await browser.to_detail_line("os")
        wanted = browser.current.spec.os
        await browser.press("v")
        assert rows_of(browser).value == wanted
        assert title(browser).startswith("os")
        await browser.press("escape")
        stack = browser.current.spec.stacks[-1]
        await browser.to_detail_line(stack)
        await browser.press("v")
        assert rows_of(browser).value == stack
        await browser.press("escape", "home", "v")
        assert browser.dialog is None
        assert browser.status == "this line is no condition: choose a value"


@pytest.mark.parametrize("column", ["hash", "size"])
async def test_hash_and_size_say_that_they_have_no_list(column: str, tmp_path: Path) -> None:
    write_page(tmp_path, "zlib", [record(n, size=n * 1000) for n in range(3)])
    async with browsing(tmp_path) as browser:
        await browser.go_to_column(column)
        await browser.press("v")
        assert browser.dialog is None
        assert browser.status == f"a {column} is not chosen from a list; f types a filter for it"


# The filter


async def test_a_filter_narrows_the_values_and_escape_closes_it_first() -> None:
    async with browsing() as browser:
        await open_values(browser, "stack")
        every = values(browser)
        await browser.press("/")
        await browser.type("q")
        await browser.press("backspace")
        await browser.type("cuda")
        fitting = [pair for pair in every if "cuda" in pair[0]]
        assert sorted(values(browser)) == sorted(fitting)
        assert title(browser) == f"stacks · {len(fitting)} of {len(every)} values"
        assert hints(browser) == "⏎ goes to the values · esc closes the filter"
        await browser.press("enter", "j")
        value = rows_of(browser).value
        await browser.press("escape")
        assert values(browser) == every
        assert rows_of(browser).value == value
        await browser.press("escape")
        assert browser.dialog is None


async def test_marks_outlive_the_filter_and_a_filter_without_values_says_so() -> None:
    async with browsing() as browser:
        await open_values(browser, "os")
        await browser.press("f")
        await browser.type("ubuntu24")
        await browser.press("enter", "space", "/", "end", "ctrl+u")
        await browser.type("sequoia")
        await browser.press("tab", "x", "f")
        await browser.type("zzz[/]")
        assert "no value fits sequoiazzz[/]" in browser.text
        await browser.press("enter", "space", "enter")
        assert browser.query == "os=ubuntu24.04 !os=sequoia"


# Nothing to show


async def test_counting_that_takes_long_is_said_and_left_by_escape() -> None:
    began, released = threading.Event(), threading.Event()
    stopped: list[bool] = []

    def count(should_stop: ShouldStop) -> Values:
        began.set()
        released.wait()
        stopped.append(should_stop())
        raise Cancelled

    async with browsing() as browser:
        try:
            await show_values(browser, "os", count)
            await browser.until(began.is_set)
            assert "counting…" in browser.text
            assert title(browser) == "os"
            await browser.press("escape", settle=False)
            await browser.until(lambda: browser.dialog is None)
            await browser.press("2", "j")
            assert browser.table.rows.cursor == 1
        finally:
            released.set()
        await browser.until(lambda: stopped == [True])
        assert browser.query == ""


async def test_what_the_records_cannot_answer_is_said() -> None:
    async with browsing() as browser:
        catalog = browser.browser._catalog
        assert catalog is not None
        count = partial(count_values, catalog, parse("^zlib"), "os", None)
        await show_values(browser, "os", count)
        await browser.settle()
        assert "^zlib asks for dependencies" in browser.text
        await browser.press("enter", "space", "x", "u", "enter", "escape")
        assert browser.dialog is None


async def test_a_damaged_index_is_said_and_made_anew(tmp_path: Path) -> None:
    source, environ = tmp_path / "source", {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    for page in range(10):
        records = [record(page * 1000 + n, variants=[f"v={'x' * n}"]) for n in range(60)]
        write_page(source / f"p{page}", f"package-{page}", records)
    load([str(source)], Session(environ), keep=True)
    index = index_path([str(source)], Session(environ))
    assert index is not None
    async with browsing(source, environ=environ) as browser:
        damaged = browser.browser._catalog
        await browser.go_to_column("os")
        index.write_bytes(bytes(index.stat().st_size))
        await browser.press("v", settle=False)
        await browser.until(lambda: "the index is damaged and is being rebuilt" in browser.text)
        await browser.settle()
        await browser.press("escape")
        assert browser.browser._catalog is not damaged
        await open_values(browser, "os")
        assert values(browser) == [("ubuntu24.04", 600)]


async def test_no_value_at_all_is_said() -> None:
    async with browsing() as browser:
        await browser.ask("zzz")
        await open_values(browser, "os")
        assert "no spec fulfils the other conditions" in browser.text
        assert hints(browser) == "esc closes"


async def test_before_anything_is_read_there_are_no_values(tmp_path: Path) -> None:
    async with browsing(tmp_path / "nowhere") as browser:
        await browser.press("2", "l", "v")
        assert browser.dialog is None
        assert browser.status == "there are no values to choose from yet"


# Outside text, and screens of any size


@pytest.mark.parametrize("column", ["version", "compiler", "os", "target", "variants", "stack"])
async def test_hostile_values_are_shown_and_asked_for_as_plain_text(
    column: str, tmp_path: Path
) -> None:
    field = {"version": "versions", "stack": "stacks"}.get(column, column)
    texts: list[str | list[str]] = [*SHORT, *LONG]
    if field.endswith("s") and field != "os":
        texts = [[text] for text in [*SHORT, *LONG]]
    records = [record(number, **{field: text}) for number, text in enumerate(texts)]
    write_page(tmp_path, "zlib", records)
    async with browsing(tmp_path, size=(100, 30)) as browser:
        await open_values(browser, column)
        shown = [value for value, _ in values(browser)]
        for _ in range(len(shown) // 15):
            await browser.press("space", "x", "pagedown", settle=False)
            assert_plain(browser)
        await browser.press("u")
        for value in shown[::20]:
            rows_of(browser).move_to(shown.index(value))
            await browser.press("enter")
            assert_plain(browser)
            assert browser.dialog is None
            if not browser.status.startswith("no query can ask for this"):
                found = [BY_NAME[column].value(row.spec) for row in browser.rows]
                assert any(value in (v if isinstance(v, tuple) else (v,)) for v in found)
            await browser.press("ctrl+r", "v")


@pytest.mark.parametrize("size", [(50, 20), (80, 24), (160, 45)])
async def test_long_values_keep_both_ends_inside_the_screen(
    size: tuple[int, int], tmp_path: Path
) -> None:
    long = "begin-" + "x" * 300 + "-end"
    write_page(tmp_path, "zlib", [record(n, os=f"{long}{n}") for n in range(60)])
    async with browsing(tmp_path, size=size) as browser:
        await open_values(browser, "os")
        box = browser.app.screen.query_one(".dialog")
        assert browser.app.screen.region.contains_region(box.region)
        lines = [line for line in browser.lines if "│ ▸  begin-" in line]
        assert len(lines) == 1
        assert "-end0  1  │" in lines[0]
        assert 0 < rows_of(browser).size.height < size[1]
        await browser.resize(60, 20)
        assert browser.app.screen.region.contains_region(box.region)


async def test_marks_are_signs_and_no_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with browsing() as browser:
        await open_values(browser, "os")
        await browser.press("home", "space", "x")
        first, second = (value for value, _ in values(browser)[:2])
        assert f"+ {first}" in browser.text
        assert f"! {second}" in browser.text


def test_a_choice_is_said_in_one_sentence() -> None:
    before = parse("os=a ^zlib")
    cases: Mapping[str, Choice] = {
        "os=b is asked for now": Choice("os", frozenset({"b"})),
        "os=b | os=c is asked for now": Choice("os", frozenset({"b", "c"})),
        "nothing is asked of os now": Choice("os"),
        "what is asked of os stays as it was": Choice("os", frozenset({"a"})),
    }
    for sentence, choice in cases.items():
        assert said_of(choice, before, choice.applied(before)) == sentence
    only = Choice("stack", frozenset({"e4s"}))
    assert said_of(only, Query(), only.applied(Query())).endswith("; ⌫ takes it off")
