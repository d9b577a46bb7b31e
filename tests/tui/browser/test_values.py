"""The values of a column: how one gets to them, and the query that a choice makes."""

from pathlib import Path

from tests.browsing import SAMPLE, Browser, browsing, sample_where
from tests.builders.pages import record, write_page
from tests.tui.widgets.test_values_pane import current, pane


def counts(browser: Browser) -> dict[str, dict[str, int]]:
    """The counts of the values of each section."""
    return {
        section.key.label: {v.text: v.count for v in section.values if v.condition is None}
        for section in pane(browser).sections
    }


async def test_v_goes_to_the_values_of_a_column_a_variant_and_a_line_of_the_detail() -> None:
    async with browsing(query="package=py-ml-dtypes target=aarch64", size=(160, 45)) as browser:
        spec = browser.current.spec
        await browser.go_to_column("os", "v", focus="value-rows")
        assert current(browser) == ("os", spec.os)
        await browser.press("v", focus="spec-rows")
        pip = ("build_system", "python_pip")
        assert "build_system" not in counts(browser)
        await browser.go_to_column("+build_system", "v")
        assert current(browser) == pip, "it is shown even with one value"
        await browser.press("F")
        assert browser.command.startswith("stats --by build_system")
        await browser.press("escape", "v")
        for value, place in ((spec.os, ("os", spec.os)), ("build_system=", pip)):
            await browser.to_value(value)
            await browser.press("v")
            assert current(browser) == place


async def test_v_goes_to_the_value_of_the_row_of_those_of_its_variant(tmp_path: Path) -> None:
    modes = enumerate(("fast", "slow", "slow"))
    write_page(tmp_path, [record(n, variants=[f"mode={mode}"], os=f"{n}") for n, mode in modes])
    async with browsing(tmp_path, size=(160, 45)) as browser:
        await browser.go_to_column("+mode")
        for row in browser.rows:
            await browser.press("v")
            assert current(browser) == ("mode", row.spec.variants[0].removeprefix("mode="))
            await browser.press("v", "j")


async def test_columns_without_a_value_list_say_so(tmp_path: Path) -> None:
    write_page(tmp_path, [record(number, size=number * 1_000) for number in range(2)])
    async with browsing(tmp_path) as browser:
        for column, label in (("hash", "Hashes"), ("size", "Sizes")):
            message = f"{label} have no value list. Press f to filter."
            await browser.go_to_column(column, "v", status=message, focus="spec-rows")


async def test_the_position_is_that_among_the_values_that_are_shown() -> None:
    async with browsing(size=(160, 45)) as browser:
        await browser.go_to_column("os", "v", hints="8/32")
        await browser.press("f", *"ubuntu", hints="1/3")


async def test_what_is_chosen_is_the_query_at_once_and_one_step_of_undo() -> None:
    async with browsing(size=(160, 45)) as browser:
        await browser.go_to_column("os", "v")
        assert sum(counts(browser)["os"].values()) == len(SAMPLE)
        first = browser.current.spec.os
        assert current(browser) == ("os", first)
        names = list(counts(browser)["os"])
        second = names[names.index(first) + 1]
        for keys, query in (
            (["space"], f"os={first}"),
            (["j", "space"], f"os={first} | os={second}"),
            (["x"], f"os={first} !os={second}"),
            (["u"], ""),
            (["x"], f"!os={second}"),
            (["enter"], f"os={second}"),
        ):
            before = browser.query
            await browser.press(*keys, query=query)
            await browser.press("backspace", query=before)
            await browser.press("right_square_bracket", query=query)
        assert browser.shown == sample_where(lambda r: r["os"] == second)
