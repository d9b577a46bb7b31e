"""What rows say: no two in sight are alike, and a note repeats no cell of its row."""

import re
from collections import Counter

import pytest

from tests.browsing import INDEX, Browser, browsing
from tests.examples import cases, some_and_all

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
            await browser.ask(query)
            await browser.press("enter")
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
        await browser.ask(query)
        await browser.press("enter")
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
