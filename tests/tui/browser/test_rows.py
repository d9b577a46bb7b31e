"""The rows of specs: sorting, folding, marking."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from spackscope.model.core.columns import COLUMNS
from spackscope.tui.widgets.package_list import PackageRows
from tests.browsing import SAMPLE, Browser, browsing, sample_where
from tests.builders import Record, hash_of, record, write_page


def column_of(browser: Browser, name: str) -> list[object]:
    return [getattr(row.spec, name) for row in browser.rows]


def looks(record: Record) -> tuple[object, ...]:
    """Give all that tells a record apart but for its hash, as the program reads it."""
    compiler = record["compiler"].replace("@=", "@")
    stacks = tuple(sorted(record["stacks"]))
    alike = (record["versions"][0], compiler, record["os"], record["target"], stacks)
    return (record["package"], *alike, tuple(sorted(record["variants"])))


async def test_sorting_goes_up_down_and_back_to_the_order_of_the_cache() -> None:
    async with browsing() as browser:
        await browser.open_package("py-ml-dtypes")
        at_first = column_of(browser, "hash")
        await browser.go_to_column("os")
        await browser.press("s")
        up = column_of(browser, "os")
        assert up == sorted(up, key=str)
        assert "os↑" in browser.text
        await browser.press("s")
        down = column_of(browser, "os")
        assert down == sorted(down, key=str, reverse=True)
        assert "os↓" in browser.text
        await browser.press("s")
        assert column_of(browser, "hash") == at_first
        assert "os↑" not in browser.text
        assert "os↓" not in browser.text


async def test_versions_are_sorted_as_versions(tmp_path: Path) -> None:
    order = ["0.9", "1.2", "1.2.1", "1.10-rc1", "1.10", "2.0", "10.0", "main", "develop"]
    records = [record(number, versions=[order[number * 5 % 9]]) for number in range(9)]
    write_page(tmp_path, records)
    async with browsing(tmp_path) as browser:
        await browser.go_to_column("version")
        await browser.press("s")
        assert column_of(browser, "version") == order
        await browser.press("s")
        assert column_of(browser, "version") == order[::-1]


async def test_compilers_sizes_and_hashes_have_their_own_order(tmp_path: Path) -> None:
    compilers = ["gcc@9.1", "gcc@13.2", "clang@2", "gcc@10"]
    sizes = [9, 1_000_000, "-", 80_000]
    write_page(
        tmp_path,
        [record(n, compiler=compilers[n], size=sizes[n]) for n in range(4)],
    )
    async with browsing(tmp_path) as browser:
        await browser.go_to_column("compiler")
        await browser.press("s")
        assert column_of(browser, "compiler") == ["clang@2", "gcc@9.1", "gcc@10", "gcc@13.2"]
        await browser.go_to_column("size")
        await browser.press("s")
        assert column_of(browser, "size") == [None, 9, 80_000, 1_000_000]
        await browser.go_to_column("hash")
        await browser.press("s", "s")
        found = column_of(browser, "hash")
        assert found == sorted((hash_of(n) for n in range(4)), reverse=True)


async def test_sorting_keeps_the_cursor_on_its_spec() -> None:
    async with browsing() as browser:
        await browser.open_package("py-safetensors")
        await browser.press("j", "j", "j")
        spec = browser.current.spec
        await browser.go_to_column("target")
        for _ in range(3):
            await browser.press("s")
            assert browser.current.spec == spec


async def test_folding_shows_each_look_alike_once_with_its_count() -> None:
    async with browsing() as browser:
        await browser.press("z")
        distinct = {looks(record) for record in SAMPLE}
        assert len(browser.rows) == len(distinct)
        assert sum(row.count for row in browser.rows) == len(SAMPLE)
        assert browser.specs_title.startswith(f"specs {len(SAMPLE)} · {len(distinct)} rows")
        assert f"×{browser.rows[0].count}" in browser.text
        await browser.press("z")
        assert len(browser.rows) == len(SAMPLE)


async def test_enter_opens_one_fold_and_leaves_the_others() -> None:
    async with browsing() as browser:
        await browser.open_package("py-safetensors")
        await browser.press("z")
        folded = browser.rows
        at = next(number for number, row in enumerate(folded) if row.count > 2)
        await browser.press(*["j"] * at)
        spec, count = browser.current.spec, browser.current.count
        await browser.press("enter")
        assert len(browser.rows) == len(folded) - 1 + count
        assert browser.current.spec == spec
        assert browser.current.count == 1
        assert {row.look_alike for row in browser.rows} == {row.look_alike for row in folded}
        opened = [row for row in browser.rows if row.look_alike == browser.current.look_alike]
        assert len(opened) == count

        await browser.press("enter")
        assert browser.focus == "detail", "a row that is no fold leads to its detail"
        await browser.press("z", "z")
        assert len(browser.rows) == len(folded), "unfolding and folding closes it again"


async def test_a_fold_counts_only_what_the_filters_leave() -> None:
    async with browsing() as browser:
        await browser.open_package("py-pdm-backend")
        await browser.press("z")
        await browser.filter("os", "=ubuntu24.04")
        left = sample_where(
            lambda r: r["package"] == "py-pdm-backend" and r["os"] == "ubuntu24.04"
        )
        assert sum(row.count for row in browser.rows) == len(left)


async def test_marks_are_shown_and_counted_and_taken_away() -> None:
    async with browsing() as browser:
        await browser.open_package("py-build")
        await browser.press("space", "space", "j", "space")
        assert browser.specs_title.endswith("3 marked")
        marked = [line for line in browser.lines if "│ *" in line or "│▸*" in line]
        assert len(marked) == 3
        await browser.press("k", "space")
        assert browser.specs_title.endswith("2 marked")
        await browser.press("u")
        assert "marked" not in browser.specs_title
        assert not any("│ *" in line or "│▸*" in line for line in browser.lines)


async def test_marks_outlast_filters_and_packages() -> None:
    async with browsing() as browser:
        await browser.open_package("py-build")
        await browser.press("space")
        await browser.open_package("py-ml-dtypes")
        await browser.press("space")
        await browser.ask("zzz")
        assert browser.specs_title.endswith("2 marked")
        await browser.ask("")
        await browser.press("enter", "escape", "escape")
        assert browser.specs_title.endswith("2 marked")


@pytest.mark.parametrize("key", ["enter", "space"])
async def test_picking_gives_the_row_or_all_marked_ones(key: str) -> None:
    async with browsing(pick=True) as browser:
        await browser.open_package("py-build")
        await browser.press("j")
        first = browser.current.spec.hash
        if key == "space":
            await browser.press("space", "j")
            second = browser.current.spec.hash
            await browser.press("space", "enter")
        else:
            await browser.press("enter")
    assert browser.app.return_value == ([first] if key == "enter" else [first, second])


@pytest.mark.parametrize("keys", [["q"], ["ctrl+c"], ["escape"], ["j", "escape", "escape"]])
async def test_leaving_without_a_choice_picks_nothing(keys: list[str]) -> None:
    async with browsing(pick=True) as browser:
        browser.send(*keys)
        await browser.until(lambda: not browser.app.is_running or browser.app._exit)
    assert browser.app.return_value is None
    assert browser.app.return_code == 130


async def test_moving_stops_at_both_ends_and_pages_go_by_the_height() -> None:
    async with browsing() as browser:
        await browser.press("2")
        first = browser.current.spec
        await browser.press("k", "up", "ctrl+u", "home")
        assert browser.current.spec == first
        await browser.press("pagedown")
        assert 10 < browser.table.rows.cursor < 40
        await browser.press("pageup", "end")
        assert browser.current == browser.rows[-1]
        assert f"{len(SAMPLE)}/{len(SAMPLE)}" in browser.lines[-1]
        await browser.press("j", "down", "ctrl+d")
        assert browser.current == browser.rows[-1]
        await browser.press("g")
        assert browser.current.spec == first


async def test_the_detail_shows_the_row_under_the_cursor() -> None:
    async with browsing() as browser:
        await browser.open_package("py-ml-dtypes")
        for _ in range(3):
            await browser.press("j")
            spec = browser.current.spec
            said = "\n".join(browser.detail_lines)
            assert browser.detail_lines[0].strip() == f"py-ml-dtypes@{spec.version}"
            assert browser.detail_lines[1].strip() == spec.hash
            (raw,) = (r for r in SAMPLE if r["hash"] == spec.hash)
            for value in (raw["os"], raw["target"], *raw["stacks"], *raw["variants"]):
                assert value in said
            assert f"/{spec.hash}" in said


@pytest.mark.parametrize("pane", ["1", "2", "3"])
async def test_queued_moves_end_where_single_ones_do(pane: str) -> None:
    moves = ["j", "k", "down", "up", "pagedown", "ctrl+u", "g", "end", "h", "l", "right"]
    rng = random.Random(int(pane))
    keys = [key for _ in range(12) for key in [rng.choice(moves)] * rng.randint(1, 12)]
    # In the detail `h` leaves the pane, and in the packages `l` does.
    keys = [key for key in keys if pane == "2" or key not in ("h", "l", "right")]
    seen: list[object] = []
    async with browsing() as browser:
        for queued in (False, True):
            await browser.press("1", "home", "j", pane, "home")
            if queued:
                browser.send(*keys)
                await browser.settle()
            else:
                await browser.press(*keys, settle=False)
                await browser.settle()
            lists = (browser.names.query_one(PackageRows), browser.table.rows, browser.detail)
            places = [(rows.cursor, rows.top, rows.length) for rows in lists]
            seen.append((browser.focus, browser.selected, browser.table.column, places))
            seen.append(browser.lines)
            await browser.press("2", *["h"] * len(COLUMNS))
    assert seen[:2] == seen[2:]


async def test_letters_that_move_elsewhere_are_typed_in_a_filter() -> None:
    async with browsing() as browser:
        browser.send("2", *"jjj", "slash", *"jjkkgGhlj")
        await browser.settle()
        assert browser.query == "jjkkgGhlj"
