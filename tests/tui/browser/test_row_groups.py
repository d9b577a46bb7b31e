"""Tests of opened look-alikes: their kinds, their specs, and notes that tell all rows apart."""

import re
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from spackscope.model.index.order import RowRole
from tests.browsing import INDEX, Browser, browsing
from tests.builders.nodes import Node, edge, leaf, node
from tests.builders.pages import hash_of, record, write_page
from tests.builders.spack import write_index
from tests.clipboard import Clipboard
from tests.examples import cases, some_and_all

SPEC, GROUP, KIND, OPEN_KIND, MEMBER = RowRole
ONE, TWO, THREE, FOUR, OLD, NEW, GMAKE, USER = (hash_of(number) for number in range(1, 9))


def app(hash_: str, lib: str, *dependencies: Node) -> Node:
    return node(hash_, name="app", dependencies=[edge("lib", lib, ["link"]), *dependencies])


@pytest.fixture
def index(tmp_path: Path) -> Path:
    """Write an index of four builds of app, of which three run the same."""
    nodes = [
        app(ONE, NEW),
        app(TWO, OLD),
        app(THREE, NEW, edge("gmake", GMAKE, ["build"])),
        app(FOUR, NEW, edge("gmake", GMAKE, ["build"]), edge("lib", OLD, ["build"])),
        *(leaf(OLD, "lib", "1"), leaf(NEW, "lib", "2"), leaf(GMAKE, "gmake", "4")),
        node(USER, name="user", dependencies=[edge("app", THREE, ["link"])]),
    ]
    return write_index(tmp_path, *nodes)


@pytest.fixture
async def browser(index: Path, clipboard: Clipboard) -> AsyncIterator[Browser]:
    environ = clipboard.environ
    async with browsing(index, query="app", environ=environ, pane="specs") as opened:
        yield opened


def shown(browser: Browser) -> list[tuple[str, RowRole, int]]:
    return [(row.spec.hash, row.role, row.count) for row in browser.rows]


FOLDED = [(THREE, SPEC, 4)]
KINDS: Sequence[tuple[str, RowRole, int]] = [(THREE, GROUP, 4), (THREE, KIND, 3), (TWO, KIND, 1)]
SPECS = [
    (THREE, GROUP, 4),
    (THREE, OPEN_KIND, 3),
    *((hash_, MEMBER, 1) for hash_ in (THREE, ONE, FOUR)),
    (TWO, KIND, 1),
]


async def test_a_group_opens_into_kinds_and_a_kind_into_specs(browser: Browser) -> None:
    assert shown(browser) == FOLDED
    for keys, expected, at in (
        ("enter", KINDS, 0),
        ("j enter", SPECS, 1),
        ("enter", KINDS, 1),
        ("enter j j j", SPECS, 4),
        ("escape", KINDS, 1),
        ("k enter", FOLDED, 0),
        ("enter escape", FOLDED, 0),
        # It opens the row under the cursor; elsewhere it unfolds all, and then folds all.
        ("z", KINDS, 0),
        ("j z", SPECS, 1),
    ):
        await browser.press(*keys.split(), cursor=at)
        assert shown(browser) == expected, keys
    await browser.press("end", "z")
    assert {*shown(browser)} == {(hash_, SPEC, 1) for hash_ in (ONE, TWO, THREE, FOUR)}
    await browser.press("z", "escape", focus="package-rows")
    assert shown(browser) == FOLDED


async def test_of_every_row_the_hash_is_copied_that_it_shows(
    browser: Browser, clipboard: Clipboard
) -> None:
    any_of_3 = f"Copied {THREE[:7]}…, any of 3 that run the same ("
    most_used = f"Copied {THREE[:7]}… · most used of 4 builds, 2 ways to run "
    for keys, hash_, message in (
        ("y", THREE, f"{most_used}(⏎ shows them) ("),
        ("3 y", THREE, f"{most_used}(/"),  # ⏎ shows none there.
        ("3 2 y", THREE, f"{most_used}(⏎ shows them) ("),  # A key that copies opens nothing.
        ("enter y", THREE, f"{most_used}(/"),
        ("j y", THREE, any_of_3),
        ("3 y", THREE, any_of_3),
        ("3 2 j y", TWO, f"Copied {TWO[:7]}… ("),
    ):
        await browser.press(*keys.split(), says=message)
        assert clipboard.take() == hash_
    assert shown(browser) == KINDS


async def test_a_row_shows_a_build_that_runs_here_before_one_that_is_used(
    tmp_path: Path, clipboard: Clipboard
) -> None:
    libcs_of = (OLD, "glibc", "2.30"), (NEW, "glibc", "2.90")
    libcs = {hash_: edge("glibc", hash_, ["link"], ["libc"]) for hash_ in (OLD, NEW)}
    nodes = [
        node(ONE, name="app", dependencies=[libcs[NEW]]),
        node(TWO, name="app", dependencies=[libcs[OLD]]),
        node(USER, name="user", dependencies=[edge("app", ONE, ["link"])]),
        *({**leaf(*libc), "external": {"path": "/usr"}} for libc in libcs_of),
    ]
    path = write_index(tmp_path, *nodes)
    environ = {**clipboard.environ, "SPACKSCOPE_HOST": "platform=linux target=zen3 glibc=2.36"}
    async with browsing(path, query="app", environ=environ) as browser:
        chosen = "one that runs here, of 2 builds, 2 ways to run (⏎ shows them)"
        await browser.press("2", "y", says=f"Copied {TWO[:7]}… · {chosen} (")
        assert clipboard.take() == TWO


async def test_of_a_folded_row_that_runs_the_same_the_shown_hash_is_copied(
    tmp_path: Path, clipboard: Clipboard
) -> None:
    builds = (app(ONE, NEW), app(TWO, NEW, edge("gmake", GMAKE, ["build"])))
    path = write_index(tmp_path, *builds, leaf(NEW, "lib", "2"), leaf(GMAKE, "gmake", "4"))
    async with browsing(path, query="app", environ=clipboard.environ) as browser:
        await browser.press("2", "y", says=f"Copied {ONE[:7]}…, any of 2 that run the same (")
        assert clipboard.take() == ONE


async def test_a_jump_opens_the_kind_of_a_spec(browser: Browser) -> None:
    await browser.ask("user", "enter", "t", "j", "enter", current_hash=THREE)
    assert shown(browser) == SPECS


async def test_look_alikes_of_pages_open_into_specs(tmp_path: Path) -> None:
    write_page(tmp_path, [record(1), record(2)], title="zlib")
    async with browsing(tmp_path) as browser:
        for keys, expected in (("2 enter", [(SPEC, 1)] * 2), ("j escape", [(SPEC, 2)])):
            await browser.press(*keys.split(), focus="spec-rows")
            assert [row[1:] for row in shown(browser)] == expected
        await browser.press("escape", focus="package-rows")


async def test_kinds_are_shown_with_what_they_differ_in(index: Path) -> None:
    async with browsing(index, query="app", size=(60, 24)) as browser:
        await browser.press("2")
        (folded,) = row_texts(browser)
        assert " ".join(folded.split()) == "┃▸4 2222222 1"
        assert " ⏎ open " in browser.lines[-1]
        await browser.press("enter", hints=" ⏎ close ")
        await browser.press("j", "enter")
        assert [" ".join(line.split()) for line in row_texts(browser)] == [
            "▾4 2222222 1",
            "┃├▾3 2222222 1 only build tools",
            "│ 2222222 1 with gmake 4, lib 2",
            "│ 2222222 0 without gmake",
            "│ 2222222 0 lib 1,2, others 2",
            "└ 2222222 0 lib 1, others 2",
        ]
        await browser.press("h", row_count=3)
        await browser.press("escape", row_count=1)


async def test_what_tells_kinds_apart_has_the_blank_cells_before_the_hash() -> None:
    async with browsing("sample", size=(80, 24), pane="specs") as browser:
        await browser.press("j", "j", "enter", shows="│ ├     zlib-ng ~new_strategies   isgdaao")
        # There a kind has no cell: neither its hash nor a note has room.
        await browser.resize(12, 20)
        placed = browser.table.rows.heads.layout.placed
        assert [each.column.name for each in placed] == ["package"]
        assert "├▸3" in browser.text


async def test_kinds_may_be_opened_where_no_hash_has_room(tmp_path: Path) -> None:
    nodes = [app(ONE, NEW), app(TWO, OLD), node(THREE, name="app", version="0.9")]
    libs = [leaf(OLD, "lib", "1"), leaf(NEW, "lib", "2")]
    write_index(tmp_path, *nodes, *libs)
    async with browsing(tmp_path / "index.json", query="app", size=(10, 3)) as browser:
        await browser.press("2", "enter")
        await browser.resize(60, 24)
        assert len(row_texts(browser)) == 4


async def test_pages_say_once_that_they_list_no_dependencies(tmp_path: Path) -> None:
    write_page(tmp_path, [record(n) for n in range(6)], title="zlib")
    write_page(tmp_path, [record(n, os="sles15") for n in range(6, 9)], title="zlib", tag="b")
    async with browsing(tmp_path, size=(120, 24)) as browser:
        await browser.press("2", hides=(" ways ", "unknown"))  # a column that would be empty
        assert len(browser.rows) == 2
        assert [line.split()[-1] for line in row_texts(browser)] == ["2222222"] * 2, "no note"
        assert browser.text.count("no dependencies listed") == 1
        await browser.press("t", status="This source lists no dependencies")


def row_texts(browser: Browser) -> list[str]:
    """Return the rows of the table as they are on the screen."""
    region = browser.table.rows.region
    lines = [line[region.x : region.right] for line in browser.lines[region.y : region.bottom]]
    return [line for line in lines if line.strip()]


async def test_a_click_on_a_selected_row_opens_it(look_alikes: Path) -> None:
    async with browsing(look_alikes, query="hdf5") as browser:
        rows, count = browser.table.rows, len(browser.rows)
        await browser.press("home", "j")
        assert browser.current.count == 1
        await browser.click(rows, 4, 0)
        assert (rows.cursor, len(browser.rows)) == (0, count), "the first click selects"
        await browser.click(rows, 4, 0)
        assert len(browser.rows) > count
        await browser.click(rows, 4, 0, row_count=count)
        await browser.click(rows, 4, 0, times=2)
        assert len(browser.rows) > count, "two clicks open it once"


@pytest.mark.parametrize("opens", ["enter", "z"])
async def test_what_an_opened_row_at_the_bottom_has_below_it_comes_into_view(
    tmp_path: Path, opens: str
) -> None:
    # The sample lists dependencies, and the page does not: its groups have no head.
    page = write_page(tmp_path / "page", [record(n, versions=[f"1.{n // 3}"]) for n in range(60)])
    for source, query in (("sample", "hdf5"), (str(page), "")):
        async with browsing(source, query=query, size=(80, 24)) as browser:
            rows = browser.table.rows
            await browser.press("2", "G", opens)
            head, last = rows.row, rows.shown.row(rows.length - 1)
            assert rows.cursor < rows.length - 1
            assert getattr(head, "look_alike", None) == getattr(last, "look_alike", ...)
            assert rows.length == rows.top + rows.size.height > rows.cursor >= rows.top


SIZES = ((60, 20), (80, 24), (100, 28), (120, 35), (140, 40), (160, 45))
QUERIES = ("hdf5", "zlib-ng", "openmpi", "+mpi", "py-")


def told_rows(browser: Browser) -> list[str]:
    """Return what the rows in sight say, without what may differ between twins."""
    table, lines = browser.table.rows, browser.lines
    texts = []
    for number in range(table.top, min(table.top + table.size.height, table.length)):
        row = table.shown.row(number)
        assert row is not None
        region = table.region
        line = lines[region.y + number - table.top][region.x : region.right]
        line = re.sub(r"^[ ┃◆◇├└│]*(?:[▸▾][\d,]+)? *", "", line)
        text = re.sub(rf"{row.spec.hash[:7]} *(?:(?:[\d,]+|-) +)*", "| ", line).strip()
        cells, _, note = re.sub(r"… \d+$", "", text).partition("|")
        repeated = {"@", "%", "the only one", *cells.split()}.intersection(note.split())
        assert not repeated, (text, repeated)
        texts.append(text)
    return texts


@some_and_all(step=3)
@pytest.mark.parametrize("number", range(len(SIZES)))
async def test_rows_in_sight_differ_in_what_they_say(number: int, step: int) -> None:
    seen = 0
    async with browsing(INDEX, size=SIZES[number]) as browser:
        # Every query is asked in two sizes.
        for query in QUERIES[number % step :: step]:
            await browser.ask(query, "enter")
            for keys in ("home", "enter", "z", "z"):
                await browser.press(keys)
                rows = told_rows(browser)
                twins = {text: count for text, count in Counter(rows).items() if count > 1}
                assert not twins, (query, keys)
                seen += len(rows)
    assert seen > 10


async def test_the_rows_of_the_sample_differ_in_what_they_say() -> None:
    async with browsing() as browser:
        for size in SIZES[1:]:
            await browser.resize(*size)
            for key in ("home", "v", "escape", "2"):
                await browser.press(key)
                rows = told_rows(browser)
                assert len(set(rows)) == len(rows), (size, key)
            await browser.press("1")


@cases("query", QUERIES[:1], more=QUERIES[1:])
async def test_notes_are_those_for_the_columns_in_sight(query: str) -> None:
    async with browsing(INDEX, size=(160, 45)) as browser:
        await browser.ask(query, "enter")
        for key in ("v", "escape", "1", "2", "plus", "plus", "70x30", "100x30", "160x45"):
            if "x" in key:
                await browser.resize(*map(int, key.split("x")))
            else:
                await browser.press(key)
            rows = told_rows(browser)
            assert len(set(rows)) == len(rows), key
            # Rows that are read anew have no notes of other columns.
            await browser.press("X", "backspace")
            assert told_rows(browser) == rows, key
