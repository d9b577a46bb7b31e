"""Loading, in the app and without: what is shown instead of rows, stopping, failure, reload."""

import os
import threading
from pathlib import Path
from typing import Any

import pytest
from textual.strip import Strip

from spackscope.model.core.frozen import replace
from spackscope.model.index.index_file import MAGIC
from spackscope.model.index.load import index_path, load
from spackscope.model.sources.session import Session
from spackscope.tui.browser import jobs, search
from spackscope.tui.browser.search import read_results
from spackscope.tui.browser.state import Refusal, Results, Summary
from spackscope.tui.widgets.table_rows import TableRows
from tests.browsing import Browser, browsing
from tests.builders.pages import hash_of, record, write_page
from tests.examples import cases
from tests.program import PATIENCE
from tests.tui.browser.fake_host import FakeBrowser


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
def test_a_damaged_index_is_rebuilt_with_a_message(
    kept: tuple[Path, dict[str, str], Path], damage: str
) -> None:
    source, environ, index = kept
    content = bytearray(index.read_bytes())
    # The index of another version is rebuilt, but not damaged.
    content[-100 if damage == "byte" else len(MAGIC)] ^= 1
    index.write_bytes(content)
    browser = FakeBrowser(source, environ=environ).load()
    assert len(browser.shown) == 600
    browser.settle()
    assert browser.packages["package-07"] == 60
    rebuilt = any("damaged and has been rebuilt" in said for said in browser.host.messages)
    assert rebuilt is (damage != "version")
    assert browser.state.catalog is not None
    assert "t9" not in browser.state.catalog.values("target")


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


def missing(browser: FakeBrowser) -> list[str]:
    """Return what was shown instead of rows, and the keys that were offered."""
    return [
        "\n".join([text, " ".join(choice.key for choice in choices)]).strip()
        for text, choices in browser.host.missing
    ]


def test_progress_is_shown_and_stopping_ends_it(tmp_path: Path) -> None:
    for number in range(3):
        write_page(tmp_path / str(number), [record(number)])
    browser = FakeBrowser(tmp_path)
    browser.controllers.loading.load()
    assert browser.controllers.loading.is_loading
    browser.controllers.loading.show_waiting()
    assert missing(browser) == ["reading the sources\nesc stops"]
    browser.controllers.loading.stop()
    assert not browser.controllers.loading.is_loading
    assert missing(browser)[-1] == "reading was stopped\nr O q"
    assert browser.controllers.loading.failure == ""
    browser.settle()
    assert browser.state.catalog is None
    browser.load()
    assert len(browser.shown) == 3
    (reading, bar, amount, stops) = next(t.split("\n") for t in missing(browser) if " %" in t)
    assert reading == f"reading {tmp_path}"
    assert bar.startswith("░")
    assert " of " in amount
    assert stops == "esc stops"
    write_page(tmp_path / "another", [record(3)])
    browser.load()
    assert any(text.startswith("░") for text in browser.host.progress)
    assert any(text.endswith("  esc stops") for text in browser.host.progress)
    assert browser.host.progress[-1] == ""
    assert browser.state.summary is not None
    whole = browser.state.catalog
    browser.load()
    assert browser.state.catalog is whole
    browser.host.change(summary=replace(browser.state.summary, is_part=True))
    browser.load()
    assert browser.state.catalog is not whole, "a part is read as if nothing was shown"
    browser.host.change(summary=replace(browser.state.summary, is_part=True))
    browser.controllers.loading.load()
    browser.controllers.loading.stop()
    assert browser.host.message == "reading was stopped"
    assert not browser.state.summary.is_part, "or Tab waits for a reload that nobody awaits"
    assert len(browser.shown) == 4


def test_reloading_picks_up_changes_and_keeps_package_cursor_marks_and_query(
    tmp_path: Path,
) -> None:
    zlib = write_page(tmp_path / "z", [record(n) for n in range(10, 20)])
    browser = FakeBrowser(tmp_path, is_folded=False).load()
    browser.enter("package=zlib os=ubuntu24.04")
    browser.do(browser.move_to, 3)
    row = browser.row
    browser.controllers.specs.mark(row)

    write_page(tmp_path / "a", [record(n) for n in range(5)], title="abinit")
    zlib.unlink()
    write_page(tmp_path / "z", [record(n) for n in range(1000, 8, -1)])
    browser.load()

    assert set(browser.packages) == {"abinit", "zlib"}
    assert (browser.selected, browser.query) == ("zlib", "package=zlib os=ubuntu24.04")
    assert len(browser.shown) == 992
    assert browser.row.spec.hash == row.spec.hash
    assert browser.state.marks == (row.spec.hash,)
    assert browser.host.focused == []


def test_a_cursor_on_the_first_row_stays_there_where_newer_specs_come(tmp_path: Path) -> None:
    specs = [record(1, versions=["1.9"]), record(2, versions=["1.10"])]
    write_page(tmp_path, specs[:1])
    browser = FakeBrowser(tmp_path).load()
    write_page(tmp_path, specs)
    browser.load()
    assert browser.row.spec.version == "1.10"


def test_reloading_where_the_package_is_gone_goes_back_to_all(tmp_path: Path) -> None:
    write_page(tmp_path / "a", [record(1)], title="abinit")
    page = write_page(tmp_path / "z", [record(2)])
    browser = FakeBrowser(tmp_path).load()
    browser.select("zlib")
    page.unlink()
    browser.load()
    assert (browser.packages, browser.selected, browser.query) == ({"abinit": 1}, None, "")


def test_an_index_that_is_ready_is_shown_before_it_is_compared(tmp_path: Path) -> None:
    environ = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    source = tmp_path / "pages"
    for page in range(4):
        records = [record(page * 100 + n, variants=["x" * 5_000]) for n in range(60)]
        write_page(source, records, title=f"p{page}")
    load([str(source)], Session(environ), keep=True)
    browser = FakeBrowser(source, environ=environ)
    totals: list[int] = []
    change = browser.host.change

    def note(**fields: object) -> None:
        summary = fields.get("summary")
        if isinstance(summary, Summary):
            totals.append(summary.total)
        change(**fields)

    browser.host.change = note  # type: ignore[method-assign]
    write_page(source, [record(9_000)], title="p0")
    browser.load()
    assert totals == [240, 181]
    assert len(browser.shown) == 181
