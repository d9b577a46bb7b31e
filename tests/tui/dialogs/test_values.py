"""The values of a column: counted, marked, and applied to the query."""

from __future__ import annotations

import threading
from collections import Counter
from pathlib import Path
from typing import NoReturn

import pytest

from spackscope.model.catalog.facets import Facet
from spackscope.model.core.columns import BY_NAME
from spackscope.model.core.errors import Cancelled, Unanswerable
from spackscope.model.core.progress import ShouldStop
from spackscope.model.loader.load import index_path, load
from spackscope.model.query.ast import Query
from spackscope.model.sources.session import Session
from spackscope.tui.dialogs.filtered import ItemRows
from tests.browsing import SAMPLE, Browser, browsing, sample_where
from tests.builders import hash_of, record, write_page
from tests.tui.browser.test_hostile_text import LONG, SHORT, assert_plain


def rows_of(browser: Browser) -> ItemRows[Facet]:
    return browser.app.screen.query_one(ItemRows)


def value_of(browser: Browser) -> str | None:
    facet = rows_of(browser).item
    return facet.value if facet is not None else None


def values(browser: Browser) -> list[tuple[str, int]]:
    """All values that the dialog shows, with their counts."""
    return [(facet.value, facet.count) for facet in rows_of(browser).items]


def marks(browser: Browser) -> dict[str, str]:
    """The signs that stand before the values on the screen, but for blanks."""
    rows = rows_of(browser)
    drawn = ["".join(text for text, _ in rows.pieces(n, 60)) for n in range(rows.length)]
    signs = zip(rows.items, (line[1] for line in drawn), strict=True)
    return {facet.value: sign for facet, sign in signs if sign != " "}


def title(browser: Browser) -> str:
    return str(browser.app.screen.query_one(".dialog").border_title)


def hints(browser: Browser) -> str:
    return browser.lines[-1].strip()


async def open_values(browser: Browser, column: str) -> None:
    await browser.go_to_column(column)
    await browser.press("v")
    assert browser.dialog == "ValuesDialog"


async def to_value(browser: Browser, value: str) -> None:
    shown = [shown for shown, _ in values(browser)]
    browser.send("home", *["j"] * shown.index(value))
    await browser.settle()
    assert value_of(browser) == value


# Counts


async def test_thousands_and_long_values_are_shown_and_walked(tmp_path: Path) -> None:
    long = "begin-" + "x" * 300 + "-end"
    records = [
        record(n, os=f"os{max(0, n - 1200)}", target=f"{long}{n % 60}") for n in range(2500)
    ]
    write_page(tmp_path, records)
    async with browsing(tmp_path, size=(80, 24)) as browser:
        await open_values(browser, "os")
        assert title(browser) == "os · 1,300 values"
        (line,) = (line for line in browser.lines if "│ ▸  os0 " in line)
        assert line.index("os0") < line.index(" 1,201  │")
        await browser.press("G")
        assert "os999" in browser.text
        assert "1,300/1,300" in browser.text
        await browser.press("escape")

        await open_values(browser, "target")
        box = browser.app.screen.query_one(".dialog")
        for size in ((80, 24), (160, 45), (50, 20)):
            await browser.resize(*size)
            assert browser.app.screen.region.contains_region(box.region)
            (line,) = (line for line in browser.lines if "│ ▸  begin-" in line)
            assert f"-end0  {2500 // 60 + 1}  │" in line
            assert 0 < rows_of(browser).size.height < size[1]
        await browser.press("escape")
        await browser.resize(80, 24)
        await open_values(browser, "os")
        await browser.press("G", "k", "enter")
        assert browser.query == "os=os998"


# Choosing


async def test_one_value_is_chosen_with_enter_or_the_mouse() -> None:
    async with browsing() as browser:
        await browser.press("2", "G")
        wanted = browser.current.spec.target
        await open_values(browser, "target")
        assert value_of(browser) == wanted, "the cursor begins on the value of the row"
        await browser.press("enter")
        assert browser.shown == sample_where(lambda r: r["target"] == wanted)

        await browser.press("ctrl+r")
        await open_values(browser, "os")
        assert "⏎ apply" in hints(browser)
        await to_value(browser, "ubuntu24.04")
        await browser.press("enter")
        assert browser.dialog is None
        assert browser.query == "os=ubuntu24.04"
        assert browser.filter_text("os") == "=ubuntu24.04"
        assert browser.status == "Added os=ubuntu24.04 (⌫ removes)"
        assert browser.shown == sample_where(lambda r: r["os"] == "ubuntu24.04")
        await open_values(browser, "os")
        await browser.press("enter")
        assert browser.query == "os=ubuntu24.04", "what was asked already stays as it was"
        assert browser.status == "The filter on os is unchanged"
        await browser.press("backspace")
        assert len(browser.shown) == len(SAMPLE)

        for key in ("escape", "q"):
            await open_values(browser, "os")
            await browser.press("space", key)
            assert browser.dialog is None
            assert browser.query == ""

        await browser.go_to_column("os")
        browser.send("v", "home", "j", "space", "enter")
        await browser.settle()
        second = Counter(r["os"] for r in SAMPLE).most_common()[1][0]
        assert browser.query == f"os={second}", "keys typed ahead meet the values"

        await browser.press("backspace")
        await open_values(browser, "os")
        value = values(browser)[1][0]
        await browser.click(rows_of(browser), 5, 1, times=2)
        assert browser.query == f"os={value}"


async def test_several_values_are_included_and_excluded_and_removed_again() -> None:
    async with browsing() as browser:
        await open_values(browser, "target")
        await to_value(browser, "aarch64")
        await browser.press("space")
        assert value_of(browser) != "aarch64"
        await to_value(browser, "x86_64_v3")
        await browser.press("space", "k")
        assert marks(browser) == {"aarch64": "+", "x86_64_v3": "+"}
        assert "⏎ apply 2 marked" in hints(browser)
        await browser.press("enter")
        assert browser.shown == sample_where(lambda r: r["target"] in ("aarch64", "x86_64_v3"))

        await browser.press("ctrl+r")
        await open_values(browser, "compiler")
        for value in ("none", "gcc@13.2.0"):
            await to_value(browser, value)
            await browser.press("x")
        assert marks(browser) == {"none": "!", "gcc@13.2.0": "!"}
        await browser.press("enter")
        assert browser.status.endswith("(⌫ removes the last)")
        assert browser.shown == sample_where(
            lambda r: r["compiler"].replace("@=", "@") not in ("none", "gcc@13.2.0")
        )

        await browser.ask("os=ubuntu24.04 !target=aarch64")
        await open_values(browser, "os")
        assert marks(browser) == {"ubuntu24.04": "+"}
        await browser.press("escape")
        await open_values(browser, "target")
        assert marks(browser) == {"aarch64": "!"}
        assert dict(values(browser)) == Counter(
            r["target"] for r in SAMPLE if r["os"] == "ubuntu24.04"
        )
        await to_value(browser, "x86_64_v3")
        await browser.press("x", "enter")
        assert browser.shown == sample_where(
            lambda r: r["os"] == "ubuntu24.04" and r["target"] not in ("aarch64", "x86_64_v3")
        )

        await browser.ask("os=ubuntu24.04 target=aarch64")
        await open_values(browser, "os")
        await browser.press("u")
        assert marks(browser) == {}
        assert "⏎ remove filters" in hints(browser)
        await browser.press("enter")
        assert browser.query == "target=aarch64"
        assert browser.status == "Removed the filter on os"

        await browser.ask("os=sequoia target=x86_64_v3")
        assert browser.shown == set()
        await open_values(browser, "os")
        assert ("sequoia", 0) in values(browser), "asked for, though no spec has it"
        assert marks(browser) == {"sequoia": "+"}
        await to_value(browser, "ubuntu24.04")
        await browser.press("enter")
        assert browser.shown == sample_where(
            lambda r: r["os"] == "ubuntu24.04" and r["target"] == "x86_64_v3"
        )

        await browser.ask("zzz")
        await open_values(browser, "os")
        assert "no spec matches the other filters" in browser.text
        assert hints(browser) == "? help  esc close"


async def test_variants_of_different_names_must_all_hold(tmp_path: Path) -> None:
    sets = [["+mpi", "~cuda"], ["+mpi", "+cuda"], ["~mpi", "~cuda"], ["build=Debug", "+mpi"]]
    records = [record(n, variants=v, size=n * 1000) for n, v in enumerate(sets)]
    write_page(tmp_path, records, title="hdf5")
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
        await browser.press("escape", "ctrl+r")
        for column in ("hash", "size"):
            await browser.go_to_column(column)
            await browser.press("v")
            assert browser.dialog is None
            noun = {"hash": "Hashes", "size": "Sizes"}[column]
            said = f"{noun} have no value list. Press f to filter."
            assert browser.status == said


# From other panes


async def test_in_the_packages_the_values_are_the_packages_and_one_can_stay_selected() -> None:
    async with browsing() as browser:
        await browser.open_package("py-ml-dtypes")
        await browser.press("1", "v")
        assert dict(values(browser)) == Counter(r["package"] for r in SAMPLE)
        assert value_of(browser) == "py-ml-dtypes"
        await browser.press("space")
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
        await browser.press("ctrl+r")
        await browser.open_package("py-ml-dtypes")
        await browser.press("1", "v")
        await to_value(browser, "py-build")
        await browser.press("x", "enter")
        assert browser.selected == "py-ml-dtypes"
        assert browser.shown == sample_where(lambda r: r["package"] == "py-ml-dtypes")

        await browser.to_detail_line("os")
        wanted = browser.current.spec.os
        await browser.press("v")
        assert value_of(browser) == wanted, "in the detail they are those of the line"
        assert title(browser).startswith("os")
        await browser.press("escape")
        stack = browser.current.spec.stacks[-1]
        await browser.to_detail_line(stack)
        await browser.press("v")
        assert value_of(browser) == stack
        await browser.press("escape", "home", "v")
        assert browser.dialog is None
        assert browser.status == "Nothing to filter by on this line"


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
        assert hints(browser) == "⏎ to the values  esc close filter"
        await browser.press("enter", "j")
        value = value_of(browser)
        await browser.press("escape")
        assert values(browser) == every
        assert value_of(browser) == value
        await browser.press("escape")
        assert browser.dialog is None

        await open_values(browser, "os")
        await browser.press("f")
        await browser.type("ubuntu24")
        await browser.press("enter", "space", "/", "end", "ctrl+u")
        await browser.type("sequoia")
        await browser.press("tab", "x", "f")
        await browser.type("zzz[/]")
        assert "no value matches sequoiazzz[/]" in browser.text
        await browser.press("enter", "space", "enter")
        assert browser.query == "os=ubuntu24.04 !os=sequoia", "marks outlive the filter"


# Nothing to show


async def test_slow_and_impossible_counts_are_explained(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    began, released = threading.Event(), threading.Event()
    stopped: list[bool] = []

    def wait(*_: object, should_stop: ShouldStop, **__: object) -> NoReturn:
        began.set()
        released.wait()
        stopped.append(should_stop())
        raise Cancelled

    def refuse(*_: object, **__: object) -> NoReturn:
        raise Unanswerable("^zlib asks for dependencies", Query())

    async with browsing() as browser:
        try:
            with monkeypatch.context() as patch:
                patch.setattr("spackscope.model.assist.value_choice.facets", wait)
                await browser.go_to_column("os")
                await browser.press("v", settle=False)
                await browser.until(began.is_set)
                assert "counting…" in browser.text
                assert title(browser) == "os"
                await browser.press("escape", settle=False)
                await browser.until(lambda: browser.dialog is None)
                await browser.press("2", "j", settle=False)
                await browser.until(lambda: browser.table.rows.cursor == 1)
        finally:
            released.set()
        await browser.until(lambda: stopped == [True])
        assert browser.query == ""

        monkeypatch.setattr("spackscope.model.assist.value_choice.facets", refuse)
        await browser.press("v")
        assert "^zlib asks for dependencies" in browser.text
        await browser.press("enter", "space", "x", "u", "enter", "escape")
        assert browser.dialog is None


async def test_a_damaged_index_is_reported_and_rebuilt(tmp_path: Path) -> None:
    source, environ = tmp_path / "source", {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    for page in range(10):
        records = [record(page * 1000 + n, variants=[f"v={'x' * n}"]) for n in range(60)]
        write_page(source / f"p{page}", records, title=f"package-{page}")
    load([str(source)], Session(environ), keep=True)
    index = index_path([str(source)], Session(environ))
    assert index is not None
    async with browsing(source, environ=environ) as browser:
        await browser.go_to_column("os")
        index.write_bytes(bytes(index.stat().st_size))
        await browser.press("v", settle=False)
        await browser.until(lambda: "the index is damaged and is being rebuilt" in browser.text)
        await browser.settle()
        await browser.press("escape")
        assert index.read_bytes().startswith(b"SQLite format 3"), "it was rebuilt"
        await open_values(browser, "os")
        assert values(browser) == [("ubuntu24.04", 600)]


# Outside text


HOSTILE_COLUMNS = ("version", "compiler", "os", "target", "variants", "stack")


async def test_hostile_values_are_shown_and_asked_for_as_plain_text(tmp_path: Path) -> None:
    records = [
        record(
            number,
            versions=[text],
            compiler=text,
            os=text,
            target=text,
            variants=[text],
            stacks=[text],
        )
        for number, text in enumerate([*SHORT, *LONG])
    ]
    write_page(tmp_path, records)
    async with browsing(tmp_path, size=(100, 30)) as browser:
        for column in HOSTILE_COLUMNS:
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
                if not browser.status.startswith("no query can express this"):
                    found = [BY_NAME[column].value(row.spec) for row in browser.rows]
                    assert any(value in (v if isinstance(v, tuple) else (v,)) for v in found)
                await browser.press("ctrl+r", "v")
            await browser.press("escape")
