"""What another query ends, and what leaves the query as it is."""

import pytest

from tests.browsing import INDEX, browsing


async def test_escape_leaves_the_query_as_it_is() -> None:
    async with browsing(size=(160, 45)) as browser:
        await browser.open_package("py-build")
        await browser.press("escape", "escape", "escape", focus="package-rows")
        assert (browser.query, browser.selected) == ("package=py-build", "py-build")
        assert browser.status == "Press q to quit"


@pytest.mark.parametrize("keys", [("slash", *"package=hdf5", "enter"), ("X",)])
async def test_scrolling_keeps_package_and_version_and_ends_with_the_query(
    keys: tuple[str, ...],
) -> None:
    async with browsing(INDEX, query="+mpi", size=(80, 24)) as browser:
        await browser.press("2")
        await browser.go_to_column(browser.table.columns.columns.scrolled[-1].name)
        heads = next(line for line in browser.lines if "‹" in line)
        assert heads.partition("‹")[2].split()[:2] == ["package", "version"]
        await browser.press(*keys, shows="version")
        assert not any("‹" in line for line in browser.lines)


async def test_no_rows_have_nothing_in_common() -> None:
    async with browsing() as browser:
        await browser.ask("py-build os=ubuntu24.04")
        await browser.press("enter", shows="same in all")
        await browser.ask("py-build os=nothing")
        await browser.press("enter", hides="same in all")
