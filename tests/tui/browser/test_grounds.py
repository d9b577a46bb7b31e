"""What could not be read is in the title and above each answer, as long as it is so."""

import shutil
from pathlib import Path

from tests.browsing import Browser, browsing
from tests.builders.nodes import ZLIB, leaf, node
from tests.builders.spack import INSTALL_TREE, SpackRoot, environment, write_index

SMALL = (80, 24)


def line_with(browser: Browser, text: str) -> int:
    """Return the number of the first line that has a text."""
    return next(number for number, line in enumerate(browser.lines) if text in line)


async def test_a_source_that_is_unread_is_said_before_what_the_others_give(here: Path) -> None:
    """`0 of 127 cached` stood there alone."""
    wanted = [node(dependencies=...)]
    (here / "spack.lock").write_bytes(environment(wanted, ZLIB))
    async with browsing("nonexist.json", "spack.lock", size=SMALL) as browser:
        assert "▲ 1" in browser.lines[0]
        await browser.press("C")
        assert line_with(browser, "nonexist.json does not") < line_with(browser, "0 of 1 cached")


async def test_a_failed_reload_is_shown_until_one_succeeds(here: Path) -> None:
    tree, away = here / "tree", here / "away"
    shutil.copytree(INSTALL_TREE.parents[1], tree)
    async with browsing("tree", size=(100, 26)) as browser:
        shown = browser.shown
        assert "▲" not in browser.lines[0]
        tree.rename(away)
        await browser.press("S", "r")
        assert "▲" in browser.lines[0]
        assert "the source tree does not exist" in browser.lines[3]
        await browser.press("escape", "S", "S")
        assert "does not exist" in browser.table_text
        await browser.press("escape", shown=shown)
        away.rename(tree)
        await browser.press("r", "S")
        assert "▲" not in browser.lines[0]
        assert "does not exist" not in browser.lines[3]


async def test_an_unread_configuration_is_in_the_title_and_above_what_rests_on_it(
    spack: SpackRoot,
    tmp_path: Path,
) -> None:
    spack.write("home/.spack/packages.yaml", "packages: [")
    write_index(tmp_path, leaf(ZLIB, "zlib", "1.3"))
    unread = "the configuration of Spack was not read"
    async with browsing(tmp_path / "index.json", environ=spack.environ, size=SMALL) as browser:
        await browser.until(lambda: "▲ 1" in browser.lines[0])
        await browser.press("2", "W")
        assert line_with(browser, unread) < line_with(browser, "Spack can reuse it")
        await browser.press("escape", "S", "S", shows="packages.yaml")
        await browser.press("escape", "S", shows=unread)
        await browser.press("escape", "2", "F", hides=unread)
        spack.write("home/.spack/packages.yaml", "packages: {zlib: {require: '@2:'}}")
        await browser.press("escape", "r")
        await browser.until(lambda: "▲" not in browser.lines[0])
        await browser.press("2", "W", shows="packages.yaml requires @2:")
