"""Reading the sources: progress, stopping, failure, reading again, problems, a damaged index."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import pytest

from spackscope.model.loader.load import index_path, load
from spackscope.model.sources.session import Session
from tests.browsing import Browser, browsing
from tests.builders import hash_of, record, write_page


def said(browser: Browser) -> str:
    """What the screen says, its words joined over the ends of lines and panes."""
    return " ".join(browser.text.replace("│", " ").split())


async def test_a_source_that_does_not_exist_is_named_with_the_keys_that_help() -> None:
    for size in ((120, 30), (50, 20)):
        async with browsing("/no/such/place", size=size) as browser:
            assert "/no/such/place does not exist" in said(browser)
            assert "r reads again · q quits" in said(browser)
            await browser.press(
                "j", "enter", "y", "z", "s", "Y", "!", "space", "slash", "x", "escape"
            )
            assert browser.app.is_running


async def test_a_source_that_comes_to_exist_is_read_on_demand(tmp_path: Path) -> None:
    source = tmp_path / "later"
    async with browsing(source, query="zlib") as browser:
        assert "does not exist" in said(browser)
        write_page(source, [record(1)])
        await browser.press("r")
        assert browser.shown == {hash_of(1)}
        assert browser.query == "package=zlib"


@pytest.mark.parametrize("content", [None, "no page at all\n", "---\ntitle: x\n---\n"])
async def test_a_source_without_a_page_says_so(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "README.md").write_text(content)
    async with browsing(tmp_path) as browser:
        assert "contains no" in said(browser) or "There are no specs" in said(browser)


async def test_an_empty_page_shows_that_there_is_no_spec(tmp_path: Path) -> None:
    write_page(tmp_path, [])
    async with browsing(tmp_path) as browser:
        assert "There are no specs" in said(browser)
        assert "0 specs" in browser.lines[0]


async def test_reading_again_picks_up_changes_and_keeps_package_cursor_and_query(
    tmp_path: Path,
) -> None:
    zlib = write_page(tmp_path / "z", [record(n) for n in range(10, 20)])
    async with browsing(tmp_path) as browser:
        await browser.open_package("zlib")
        await browser.ask("package=zlib os=ubuntu24.04")
        await browser.leave_filter()
        await browser.press("j", "j", "j", "space", "k")
        spec = browser.current.spec

        write_page(tmp_path / "a", [record(n) for n in range(5)], title="abinit")
        write_page(zlib, [record(n) for n in range(1000, 8, -1)])
        await browser.press("r")
        assert set(browser.packages) == {"abinit", "zlib"}
        assert browser.selected == "zlib"
        assert browser.query == "package=zlib os=ubuntu24.04"
        assert len(browser.shown) == 992
        assert browser.current.spec == spec
        assert spec.hash[:7] in browser.text
        assert browser.specs_title.endswith("1 marked")
        assert browser.focus == "spec-rows"


async def test_reading_again_where_the_package_is_gone_goes_back_to_all(tmp_path: Path) -> None:
    write_page(tmp_path / "a", [record(1)], title="abinit")
    page = write_page(tmp_path / "z" / "specs.md", [record(2)])
    async with browsing(tmp_path) as browser:
        await browser.open_package("zlib")
        page.unlink()
        await browser.press("r")
        assert browser.packages == {"abinit": 1}
        assert browser.selected is None
        assert browser.shown == {hash_of(1)}


async def test_reading_again_from_a_source_that_is_gone_keeps_what_there_was(
    tmp_path: Path,
) -> None:
    page = write_page(tmp_path / "z" / "specs.md", [record(2)])
    async with browsing(tmp_path / "z") as browser:
        page.unlink()
        page.parent.rmdir()
        await browser.press("r")
        assert browser.shown == {hash_of(2)}
        assert "does not exist" in browser.status


async def test_what_could_not_be_read_is_counted_and_listed(tmp_path: Path) -> None:
    write_page(tmp_path / "good", [record(1)])
    bad = [record(2, hash="TOO-SHORT"), record(3)]
    write_page(tmp_path / "bad" / "specs.md", bad, title="hdf5")
    async with browsing(tmp_path) as browser:
        assert browser.shown == {hash_of(1), hash_of(3)}
        assert "! 1 problem" in browser.lines[-1]
        await browser.press("exclamation_mark")
        assert "problems 1" in browser.text
        assert "bad/specs.md" in said(browser)
        assert "record 1" in said(browser)
        await browser.press("q")
        assert browser.dialog is None
    async with browsing() as browser:
        assert "problem" not in browser.lines[-1]
        await browser.press("exclamation_mark")
        assert "read without a problem" in said(browser)


@pytest.fixture
def kept(tmp_path: Path) -> tuple[Path, dict[str, str], Path]:
    """A source, an environment in which its index is kept, and the file of the index."""
    source = tmp_path / "pages"
    environ = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    for page in range(10):
        records = [record(page * 100 + n, target=f"t{n % 7}") for n in range(60)]
        write_page(source / f"p{page}", records, title=f"package-{page:02}")
    load([str(source)], Session(environ), keep=True)
    index = index_path([str(source)], Session(environ))
    assert index is not None
    assert index.is_file()
    return source, environ, index


async def test_a_kept_index_is_shown_and_compared_with_its_pages(
    kept: tuple[Path, dict[str, str], Path],
) -> None:
    source, environ, _ = kept
    async with browsing(source, environ=environ) as browser:
        assert len(browser.rows) == 600
    write_page(source / "p0", [record(90_000)], title="package-00")
    async with browsing(source, environ=environ) as browser:
        assert len(browser.rows) == 541
        assert browser.packages["package-00"] == 1


@pytest.mark.parametrize(
    "damage", ["empty", "cut", "middle", "end", "byte", "all zero", "text", "meta", "version"]
)
async def test_a_damaged_index_is_rebuilt_and_said(
    kept: tuple[Path, dict[str, str], Path], damage: str
) -> None:
    source, environ, index = kept
    content = bytearray(index.read_bytes())
    if damage == "empty":
        content.clear()
    elif damage == "cut":
        del content[len(content) // 2 :]
    elif damage == "middle":
        content[4096:] = b"\xa5" * (len(content) - 4096)
    elif damage == "end":
        content[len(content) // 2 :] = b"\xa5" * (len(content) - len(content) // 2)
    elif damage == "byte":
        at = content.index(b"t5")
        content[at : at + 2] = b"t9"
    elif damage == "version":
        # The index of another version is rebuilt, but not damaged.
        content[71] -= 1
    elif damage == "all zero":
        content[:] = bytes(len(content))
    elif damage == "text":
        content[:] = b"this is no index\n"
    if damage == "meta":
        with contextlib.closing(sqlite3.connect(index)) as connection, connection:
            connection.execute("UPDATE meta SET value = 0 WHERE key = 'schema'")
    else:
        index.write_bytes(content)
    async with browsing(source, environ=environ) as browser:
        assert browser.rows, "looking at every row finds what is damaged"
        await browser.settle()
        assert len(browser.rows) == 600
        assert browser.packages["package-07"] == 60
        rebuilt = "the index was damaged and has been rebuilt"
        assert browser.status == ("" if damage == "version" else rebuilt)
        assert "t9" not in browser.text
        await browser.press("2", "end", "3", "exclamation_mark", "escape")


async def test_where_nothing_can_be_written_the_browser_works_and_says_so(
    kept: tuple[Path, dict[str, str], Path], tmp_path: Path
) -> None:
    source, _, _ = kept
    big = "x" * 1000
    for page in range(20):
        records = [record(page * 1000 + n, variants=[big]) for n in range(60)]
        write_page(source / f"q{page}", records, title=f"package-{page:02}")
    (tmp_path / "file").write_text("")
    async with browsing(source, environ={"XDG_CACHE_HOME": str(tmp_path / "file")}) as browser:
        assert len(browser.rows) == 1800
        assert "the index is kept in memory" in browser.status


async def test_reading_shows_how_far_it_is_and_escape_stops_it_and_r_starts_again(
    tmp_path: Path,
) -> None:
    for page in range(300):
        write_page(tmp_path / f"p{page}", [record(page)], title=f"package-{page:03}")
    for size in ((120, 30), (50, 20)):
        async with browsing(tmp_path, settled=False, size=size) as browser:
            await browser.press("escape")
            await browser.settle()
            if browser.packages:
                continue
            assert "reading was stopped" in said(browser)
            assert "r reads again" in said(browser)
            await browser.press("r")
            assert len(browser.packages) == 300


async def test_the_screen_may_change_its_size_while_the_sources_are_read(tmp_path: Path) -> None:
    for page in range(300):
        write_page(tmp_path / f"p{page}", [record(page)], title=f"package-{page:03}")
    async with browsing(tmp_path, settled=False) as browser:
        for size in ((50, 20), (1, 1), (300, 90), (80, 24)):
            await browser.pilot.resize_terminal(*size)
        await browser.settle()
        assert len(browser.packages) == 300
