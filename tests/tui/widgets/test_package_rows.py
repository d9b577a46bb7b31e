"""The overview of packages: what it shows of each, and what is said below it."""

from tests.browsing import INDEX, browsing


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
        await browser.ask("any=hdf5")
        await browser.press("enter", "1")
        await browser.see()
        row = next(line for line in browser.lines if line.startswith("  hdf5 "))
        assert row.split()[:3] == ["hdf5", "1.14.6", "17"]
