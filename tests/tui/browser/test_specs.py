"""The rows of specs: sorting, folding, marking, picking, moving."""

import random
import re
from pathlib import Path

from spackscope.model.index.order import Sort
from spackscope.tui.widgets.side_column import PackageRows
from tests.browsing import SAMPLE, Browser, browsing
from tests.builders.pages import Record, hash_of, record, write_page


def column_of(browser: Browser, name: str) -> list[object]:
    return [getattr(row.spec, name) for row in browser.rows]


def looks(record: Record) -> tuple[object, ...]:
    """Return all that tells a record apart but for its hash, as the program reads it."""
    compiler = record["compiler"].replace("@=", "@")
    stacks = tuple(sorted(record["stacks"]))
    alike = (record["versions"][0], compiler, record["os"], record["target"], stacks)
    return (record["package"], *alike, tuple(sorted(record["variants"])))


async def test_columns_are_sorted_up_down_and_back_each_in_its_own_order(tmp_path: Path) -> None:
    order = ["0.9", "1.2", "1.2.1", "1.10-rc1", "1.10", "2.0", "10.0", "main", "develop"]
    compilers = ["gcc@9.1", "gcc@13.2", "clang@2", "gcc@10"]
    sizes = [9, 1_000_000, "-", 80_000]
    write_page(
        tmp_path,
        [
            record(n, versions=[order[n * 5 % 9]], compiler=compilers[n % 4], size=sizes[n % 4])
            for n in range(9)
        ],
    )
    async with browsing(tmp_path) as browser:
        at_first = column_of(browser, "hash")
        await browser.press("2")
        for column, values in (
            ("version", order),
            ("compiler", ["clang@2"] * 2 + ["gcc@9.1"] * 3 + ["gcc@10"] * 2 + ["gcc@13.2"] * 2),
            ("size", [None] * 2 + [9] * 3 + [80_000] * 2 + [1_000_000] * 2),
            ("hash", sorted(hash_of(n) for n in range(9))),
        ):
            await browser.go_to_column(column, "j", "s", shows=f"{column}↑", cursor=0)
            assert column_of(browser, column) == values
            await browser.press("j", "s", shows=f"{column}↓")
            assert column_of(browser, column) == values[::-1]
            assert browser.table.rows.cursor == 0, "the cursor is on the first row"
            await browser.press("s")
            assert column_of(browser, "hash") == at_first
            assert "↑" not in browser.lines[3]


async def test_keys_act_on_the_first_column_of_the_rows_of_another_query() -> None:
    async with browsing(size=(120, 30)) as browser:
        await browser.go_to_column("package")
        await browser.ask("py-build", "enter")
        assert "py-build" in browser.head_line
        first = browser.table.columns.columns.names[0]
        assert browser.table.column == first
        await browser.press("s")
        assert browser.state.view.sort == Sort(first)


async def test_look_alikes_are_folded_and_rows_are_marked() -> None:
    async with browsing() as browser:
        distinct = {looks(record) for record in SAMPLE}
        assert len(browser.rows) == len(distinct)
        assert sum(row.count for row in browser.rows) == len(SAMPLE)
        assert browser.specs_title.startswith(f"{len(SAMPLE)} builds of 4 packages")
        assert f"▸{browser.rows[0].count}" in browser.text
        await browser.open_package("py-safetensors")
        folded = browser.rows
        at = next(number for number, row in enumerate(folded) if row.count > 2)
        await browser.press(*["j"] * at, settle=False)
        await browser.settle()
        spec, count = browser.current.spec, browser.current.count
        await browser.press("enter", row_count=len(folded) - 1 + count)
        assert browser.current.spec == spec
        assert browser.current.count == 1
        assert {row.look_alike for row in browser.rows} == {row.look_alike for row in folded}
        await browser.press("enter", focus="detail")  # a row of one spec leads to its detail
        await browser.press("z", "z")
        assert len(browser.rows) == len(folded), "unfolding and folding closes it again"

        await browser.clear("1", "z", "home")
        await browser.open_package("py-build", "space", "space", "j", "space")
        assert browser.marks_line.startswith("3 marked")
        marked = [line for line in browser.lines if re.search("[│┤]◆", line)]
        assert len(marked) == 3
        await browser.press("k", "space")
        assert browser.marks_line.startswith("2 marked")
        await browser.press("U")
        assert not browser.marks_line
        assert not any("◆" in line for line in browser.lines)
        await browser.press("1", "A")
        assert len(browser.state.marks) == len(browser.shown)


async def test_leaving_a_choice_gives_nothing() -> None:
    for keys in (["ctrl+c"], ["j", "escape", "escape"]):
        async with browsing(pick=True) as browser:
            browser.send(*keys)
            await browser.until(lambda browser=browser: not browser.app.is_running)  # type: ignore[misc]
        assert (browser.app.return_value, browser.app.return_code) == (None, 130)


async def test_picking_says_what_for_and_takes_the_hash_of_a_folded_row() -> None:
    words = "spack install py-build"
    async with browsing(pick=True, query="py-build", purpose=words, size=(80, 24)) as browser:
        assert browser.lines[0].startswith(f" choose for: {words}  ●")
        await browser.press("2")
        row, count = browser.current, len(browser.rows)
        assert row.count > 1
        assert f"⏎ pick one of {row.count}  → open" in browser.lines[-1]
        await browser.press("right", row_count=count - 1 + row.count)
        await browser.press("left", "home")
        hash_ = browser.current_hash
        browser.send("enter")
        await browser.until(lambda: not browser.app.is_running)
    assert browser.app.return_value == [hash_]


async def test_moves_stop_at_both_ends_and_queued_ones_end_where_single_ones_do() -> None:
    async with browsing(folded=False) as browser:
        await browser.press("2")
        first = browser.current.id
        await browser.press("k", "up", "ctrl+u", "home")
        assert browser.current.id == first
        await browser.press("pagedown")
        assert 7 <= browser.table.rows.cursor < 40
        await browser.press("pageup", "end", hints=f"{len(SAMPLE)}/{len(SAMPLE)}")
        assert browser.current.id == browser.rows[-1].id
        await browser.press("j", "down", "ctrl+d")
        assert browser.current.id == browser.rows[-1].id
        await browser.press("g")
        assert browser.current.id == first

        moves = ["j", "k", "down", "up", "pagedown", "ctrl+u", "g", "end", "h", "l", "right"]
        for pane in ("1", "2", "3"):
            rng = random.Random(int(pane))
            keys = [key for _ in range(8) for key in [rng.choice(moves)] * rng.randint(1, 9)]
            # In the detail `h` leaves the pane, and in the packages `l` does.
            keys = [key for key in keys if pane == "2" or key not in ("h", "l", "right")]
            seen: list[object] = []
            for queued in (False, True):
                await browser.press("1", "home", "j")
                # Other columns follow from the package.
                await browser.go_to_column("hash", pane, "home")
                if queued:
                    browser.send(*keys)
                else:
                    await browser.press(*keys, settle=False)
                await browser.settle()
                lists = (
                    browser.names.query_one(PackageRows),
                    browser.table.rows,
                    browser.detail.shown_list,
                )
                places = [(rows.cursor, rows.top, rows.length) for rows in lists]
                seen.append((browser.focus, browser.selected, browser.table.column, places))
                # The values are counted less often where keys follow each other at once.
                seen.append([line.replace("┃", " ") for line in browser.lines])
            assert seen[:2] == seen[2:], pane
        await browser.type_ahead("1", "2", *"jjj", "slash", *"jjkkgGhlj")
        assert browser.query.endswith("jjkkgGhlj"), "in a filter they are letters"
