"""A package that was chosen in the list, and what is typed after it, without an app."""

from pathlib import Path

import pytest

from tests.browsing import browsing
from tests.builders.pages import hash_of, record, write_page
from tests.tui.browser.fake_host import FakeBrowser

PACKAGES = {"zlib": 1, "zlib-ng": 2, "hdf5": 3, "cuda": 4}


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    for name, number in PACKAGES.items():
        variants = ["+cuda"] if name == "hdf5" else ["+shared"]
        write_page(tmp_path / name, [record(number, variants=variants)], title=name)
    return tmp_path


@pytest.fixture
def browser(pages: Path) -> FakeBrowser:
    browser = FakeBrowser(pages).load()
    browser.select("hdf5")
    return browser


def typed(browser: FakeBrowser, text: str) -> str:
    """Type a text after the package, and return what the query line shows then."""
    line = browser.query + " "
    for letter in text:
        line += letter
        browser.ask(line)
        if browser.draft.replaces == line:
            line = browser.draft.parsed.text
    return line


@pytest.mark.parametrize(
    ("text", "line", "packages"),
    [
        ("zlib", "zlib", {"zlib"}),
        ("zlib-ng", "zlib-ng", {"zlib-ng"}),
        ("zl os=ubuntu24.04", "zl os=ubuntu24.04", {"zlib", "zlib-ng"}),
        ("zlib@1.3.1", "zlib@1.3.1", {"zlib"}),
        ("package=zlib", "package=zlib", {"zlib"}),
        ("cuda", "cuda", {"cuda"}),
        ("any=cuda", "package=hdf5 any=cuda", {"hdf5"}),
        ("+cuda", "package=hdf5 +cuda", {"hdf5"}),
    ],
)
def test_another_name_replaces_the_chosen_package(
    browser: FakeBrowser, text: str, line: str, packages: set[str]
) -> None:
    before = browser.state.view
    assert typed(browser, text) == line
    assert browser.shown == {hash_of(PACKAGES[name]) for name in packages}
    assert {name for name, count in browser.packages.items() if count} >= packages
    browser.leave()
    assert browser.shown == {hash_of(PACKAGES[name]) for name in packages}
    browser.retrace(-1)
    assert browser.state.view == before, "it is one step"


def test_what_no_spec_of_the_chosen_package_has_is_offered_without_it(
    browser: FakeBrowser,
) -> None:
    assert typed(browser, "+shared") == "package=hdf5 +shared"
    browser.leave(shown=set())
    relaxations = browser.results.relaxations
    assert ("+shared", 3) in [(str(each.query), each.count) for each in relaxations]


async def test_the_line_shows_that_the_package_was_replaced(pages: Path) -> None:
    async with browsing(pages) as browser:
        await browser.open_package("hdf5")
        await browser.press("slash")
        await browser.type("zlib-ng", query="zlib-ng", shown={hash_of(2)})
        await browser.press("escape", query="package=hdf5", selected="hdf5")
        await browser.type_ahead("slash", *"zlib@1.3", "enter", query="zlib@1.3")
        assert browser.shown == {hash_of(1)}


async def test_a_name_that_is_typed_to_its_end_is_marked_before_longer_ones(pages: Path) -> None:
    write_page(pages / "more", [record(5)], title="zlib-ng", tag="more")
    async with browsing(pages) as browser:
        await browser.press("slash")
        await browser.type("zli", marked="package=zlib-ng")
        await browser.type("b", marked="package=zlib")
