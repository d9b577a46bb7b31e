"""Loading: what is shown instead of rows, stopping, failure, reload."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from textual.strip import Strip

from spackscope.model.core.tasks import report_progress
from spackscope.model.index.index_file import MAGIC
from spackscope.model.index.load import index_path, load
from spackscope.model.sources.session import Session
from spackscope.tui.browser import jobs, loading, search
from spackscope.tui.browser.search import read_results
from spackscope.tui.browser.state import Refusal, Results
from spackscope.tui.widgets.table_rows import TableRows
from tests.browsing import Browser, browsing
from tests.builders.pages import hash_of, record, write_page
from tests.examples import cases
from tests.program import PATIENCE


def shown_text(browser: Browser) -> str:
    """Return the text of the screen, its words joined over the ends of lines and panes."""
    return " ".join(browser.text.replace("│", " ").split())


async def test_the_first_frame_has_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "FIRST_FRAME", PATIENCE)
    drawn, render = list[int](), TableRows.render_line

    def render_line(rows: TableRows, line: int) -> Strip:
        drawn.append(len(rows.shown))
        return render(rows, line)

    monkeypatch.setattr(TableRows, "render_line", render_line)
    async with browsing():
        assert drawn
        assert 0 not in drawn


async def test_packages_are_listed_before_the_first_rows(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    let_go = threading.Event()

    def read_late(*asked: Any, **how: Any) -> Results | Refusal:
        let_go.wait(PATIENCE)
        return read_results(*asked, **how)

    monkeypatch.setattr(search, "read_results", read_late)
    write_page(tmp_path, [record(1)], title="zlib")
    async with browsing(tmp_path, settled=False) as browser:
        await browser.until(lambda: browser.packages == {"zlib": 1})
        assert browser.state.results is None
        let_go.set()


async def test_failures_empty_sources_and_problems_are_shown(tmp_path: Path) -> None:
    for size in ((120, 30), (50, 20)):
        async with browsing("/no/such/place", size=size) as browser:
            assert "/no/such/place does not exist" in shown_text(browser)
            assert "┃ reload the sources r open another source O quit q" in shown_text(browser)
            assert (browser.packages_title, browser.specs_title) == ("packages", "")
            assert browser.lines[-1].split("  ")[:3] == [" ⏎ take it", "q quit", "? help"]
            await browser.press("s", status="No source was read")
            await browser.press("y", "z", "s", "Y", "!", "space", "slash", "x", "escape", "h", "l")
            assert browser.app.is_running
    write_page(tmp_path / "empty", [])
    async with browsing(tmp_path / "empty") as browser:
        assert "There are no specs" in shown_text(browser)
        assert "empty" in browser.lines[0]
        await browser.press("S", "S")
        assert "read without a problem" in shown_text(browser)
    write_page(tmp_path / "good", [record(1)])
    write_page(
        tmp_path / "bad" / "specs.md", [record(2, hash="TOO-SHORT"), record(3)], title="hdf5"
    )
    async with browsing(tmp_path) as browser:
        assert browser.shown == {hash_of(1), hash_of(3)}
        assert "▲ 1" in browser.lines[0]
        await browser.press("S", "S", shows="1 problem")
        assert "bad/specs.md" in shown_text(browser)
        assert "record 1" in shown_text(browser)
        await browser.press("escape", dialog=None)


@pytest.fixture
def kept(tmp_path: Path) -> tuple[Path, dict[str, str], Path]:
    """A source, an environment in which its index is kept, and the file of the index."""
    source = tmp_path / "pages"
    environ = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    for page in range(10):
        records = [record(page * 100 + n, target=f"t{n % 7}") for n in range(60)]
        write_page(source / f"p{page}", records, title=f"package-{page:02}")
    load([str(source)], Session(environ), keep=True)
    kept_at = index_path([str(source)], Session(environ))
    assert kept_at is not None
    index = Path(kept_at)
    assert index.is_file()
    return source, environ, index


@pytest.mark.parametrize("damage", ["byte", "version"])
async def test_a_damaged_index_is_rebuilt_with_a_message(
    kept: tuple[Path, dict[str, str], Path], damage: str
) -> None:
    source, environ, index = kept
    content = bytearray(index.read_bytes())
    # The index of another version is rebuilt, but not damaged.
    content[-100 if damage == "byte" else len(MAGIC)] ^= 1
    index.write_bytes(content)
    async with browsing(source, environ=environ) as browser:
        assert browser.builds == 600
        assert browser.packages["package-07"] == 60
        rebuilt = "damaged and has been rebuilt" in browser.status
        assert rebuilt is (damage != "version")


async def test_where_nothing_can_be_written_the_browser_works_with_a_message(
    kept: tuple[Path, dict[str, str], Path], tmp_path: Path
) -> None:
    source, _, _ = kept
    big = "x" * 1000
    for page in range(20):
        records = [record(50_000 + page * 100 + n, variants=[big]) for n in range(60)]
        write_page(source / f"q{page}", records, title=f"package-{page:02}")
    (tmp_path / "file").write_text("")
    async with browsing(source, environ={"XDG_CACHE_HOME": str(tmp_path / "file")}) as browser:
        assert len(browser.shown) == 1800
        assert "the index is kept in memory" in browser.status


async def test_loading_can_be_stopped_and_the_screen_may_change_its_size(tmp_path: Path) -> None:
    for page in range(300):
        write_page(tmp_path / f"p{page}", [record(page)], title=f"package-{page:03}")
    for size in ((120, 30), (50, 20)):
        async with browsing(tmp_path, settled=False, size=size) as browser:
            await browser.press("escape")
            await browser.settle()
            if not browser.packages:
                assert "reading was stopped" in shown_text(browser)
                assert "reload the sources" in shown_text(browser)
                browser.send("r")
            for other in ((50, 20), (1, 1), (300, 90), (80, 24)):
                await browser.pilot.resize_terminal(*other)
            await browser.settle()
            assert len(browser.packages) == 300


@cases("rounds", [2], more=[10])
async def test_descriptors_and_catalogs_do_not_grow_with_reloads(
    kept: tuple[Path, dict[str, str], Path], rounds: int
) -> None:
    source, environ, _ = kept
    async with browsing(source, environ=environ) as browser:
        counts: list[int] = []
        for number in range(2 * rounds):
            for is_changed in (True, False):
                if is_changed:
                    write_page(source / "p0", [record(90_000 + number)], title="package-00")
                catalog = browser.state.catalog
                await browser.press("r")
                assert (browser.state.catalog is catalog) is not is_changed
            counts.append(len(os.listdir("/proc/self/fd")))
        assert min(counts[rounds:]) <= max(counts[:rounds])


async def test_what_can_be_done_without_rows_is_chosen_with_enter(tmp_path: Path) -> None:
    source = tmp_path / "pages"
    async with browsing(source, size=(80, 24)) as browser:
        assert browser.focus == "spec-rows"
        write_page(source, [])
        await browser.press("enter")
        assert "There are no specs" in browser.text, browser.lines
        lines = [line.strip(" ┃") for line in browser.lines if " reload the sources " in line]
        assert len(lines) == 1
        await browser.press("j", "enter")
        assert browser.lines[1].startswith(" › sources"), "the second line lists the sources"
        await browser.press("escape")
        write_page(source, [record(1)])
        await browser.press("k", "enter", shown={hash_of(1)})


@pytest.fixture
def let_go(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Sources are a quarter read until this is set."""
    event = threading.Event()

    def load_late(*asked: Any, **how: Any) -> Any:
        while not event.wait(0.01):
            report_progress("reading these", 1_000, 4_000)
        return load(*asked, **how)

    monkeypatch.setattr(loading, "load", load_late)
    yield event
    event.set()


async def test_reading_shows_how_much_is_read_in_the_place_of_the_rows_or_below_them(
    tmp_path: Path, let_go: threading.Event
) -> None:
    write_page(tmp_path, [record(1)])
    async with browsing(tmp_path, settled=False, size=(120, 30)) as browser:
        bar = f"{'█' * 6}{'░' * 18}  25 %"
        await browser.until(lambda: bar in browser.text)
        assert "reading these" in browser.text
        assert " of 4.0 kB, 0 B a second" in browser.text
        assert "esc stops" in browser.text
        let_go.set()
        await browser.settle()
        let_go.clear()
        browser.send("r")
        await browser.until(lambda: f"{'█' * 3}{'░' * 9}  25 %  reading these" in browser.text)
        assert "esc stops" in browser.text
        assert browser.shown == {hash_of(1)}
        let_go.set()
        await browser.settle()
        assert "░" not in browser.text


async def test_reloading_picks_up_changes_and_keeps_package_cursor_marks_and_query(
    tmp_path: Path,
) -> None:
    zlib = write_page(tmp_path / "z", [record(n) for n in range(10, 20)])
    query = "package=zlib os=ubuntu24.04"
    async with browsing(tmp_path, folded=False) as browser:
        await browser.ask(query, "enter", "j", "j", "j", "space", "k")
        hash_ = browser.current_hash
        write_page(tmp_path / "a", [record(n) for n in range(5)], title="abinit")
        zlib.unlink()
        write_page(tmp_path / "z", [record(n) for n in range(1000, 8, -1)])
        await browser.press("r", query=query, selected="zlib", builds=992, current_hash=hash_)
        assert set(browser.packages) == {"abinit", "zlib"}
        assert browser.state.marks == (hash_,)
        assert browser.focus == "spec-rows"


async def test_a_cursor_on_the_first_row_stays_there_where_newer_specs_come(
    tmp_path: Path,
) -> None:
    specs = [record(1, versions=["1.9"]), record(2, versions=["1.10"])]
    write_page(tmp_path, specs[:1])
    async with browsing(tmp_path) as browser:
        write_page(tmp_path, specs)
        await browser.press("r", current_hash=hash_of(2))


async def test_reloading_where_the_package_is_gone_goes_back_to_all(tmp_path: Path) -> None:
    write_page(tmp_path / "a", [record(1)], title="abinit")
    page = write_page(tmp_path / "z", [record(2)])
    async with browsing(tmp_path) as browser:
        await browser.open_package("zlib")
        page.unlink()
        await browser.press("r", packages={"abinit": 1}, selected=None, query="")


async def test_an_index_that_is_ready_is_shown_before_it_is_compared(
    kept: tuple[Path, dict[str, str], Path], let_go: threading.Event
) -> None:
    source, environ, _ = kept
    write_page(source / "p0", [record(9_000)], title="package-00")
    async with browsing(source, environ=environ, settled=False) as browser:
        await browser.until(lambda: browser.builds == 600)
        let_go.set()
        await browser.settle()
        assert browser.builds == 541
