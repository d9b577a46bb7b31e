"""Words and texts of the query line: what they mean, and how they come back."""

from pathlib import Path

import pytest

from tests.browsing import INDEX, browsing, sample_where
from tests.program import Program
from tests.tui.browser.fake_host import FakeBrowser


async def test_a_query_means_the_same_as_in_the_shell(program: Program) -> None:
    found = {
        query: set(program("find", "-f", str(INDEX), "--hashes", query).stdout.split())
        for query in ("hdf5 +mpi", "hdf5 %gcc", "hdf5-vol-* zstd")
    }
    assert [len(hashes) for hashes in found.values()][:2] == [14, 17]
    async with browsing(INDEX) as browser:
        for query, hashes in found.items():
            await browser.ask(query, shown=hashes)
        await browser.ask("hd", query="hd")
        assert len(browser.shown) > 17, "a word that is still typed is looked for everywhere"
        await browser.press("enter", query="any=hd")


async def test_a_word_that_names_no_package_is_shown_with_its_key_once_it_is_left() -> None:
    async with browsing(size=(120, 30)) as browser:
        await browser.ask("ubuntu !'24' py-build")
        rows = browser.shown
        assert rows == sample_where(
            lambda r: r["package"] == "py-build" and "ubuntu" in r["os"] and "24" not in str(r)
        )
        assert browser.query == "ubuntu !'24' py-build", "not while it is typed"
        await browser.press("enter", query="any=ubuntu !any=24 py-build", shown=rows)


async def test_undo_brings_the_text_back_as_it_was_typed() -> None:
    async with browsing() as browser:
        for keys in (("X", "backspace"), ("slash", *"os=sequoia", "enter", "backspace")):
            await browser.ask("py-build~virtualenv   target=aarch64")
            await browser.press("enter", *keys, query="py-build~virtualenv   target=aarch64")


@pytest.mark.parametrize("is_left", [False, True])
def test_a_name_that_is_typed_before_its_index_is_read_names_the_package(is_left: bool) -> None:
    browser = FakeBrowser()
    browser.controllers.loading.load()
    browser.type_text("py-build rocm")
    if is_left:
        browser.search.leave()
    browser.settle(query="package=py-build any=rocm")


async def test_an_unknown_word_is_named_as_in_the_shell(
    hdf5_index: Path, program: Program
) -> None:
    for query in ("hdf5 h5p@1", "hdf5 or zlib"):
        first = program("find", "-f", str(hdf5_index), query).stderr.splitlines()[1]
        sentence = first.removeprefix("spackscope: ")
        async with browsing(hdf5_index, query=query, size=(140, 30)) as browser:
            assert sentence in browser.text, "as the argument"
            await browser.ask("zlib")
            await browser.press("enter", builds=2)
            await browser.ask(query)
            assert browser.shown, "the last rows stay"
            await browser.press("enter", shown=set(), shows=sentence)  # once it is left


async def test_a_word_that_no_column_shows_is_named_as_a_package_would_be(
    hdf5_index: Path,
) -> None:
    async with browsing(hdf5_index, size=(140, 30)) as browser:
        await browser.ask("hdf5 latest")
        sentence = "Unknown package latest, and no hdf5 shows it in any column"
        assert sentence in browser.text
        await browser.press("enter", shows=(sentence, "without any=latest"))
