"""The coverage of an environment that is one of the sources, on a screen of its own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from spackscope.model.report.coverage import MISSING, WHY
from spackscope.model.report.report import Report, Row, Section
from spackscope.tui.browser.answers import CACHES_LOADING, NO_CACHE, NO_ENVIRONMENT
from spackscope.tui.dialogs.coverage import CoverageScreen
from tests.browsing import browsing
from tests.builders import (
    Node,
    database,
    edge,
    environment,
    hash_of,
    installs,
    node,
    record,
    write_page,
)
from tests.tui.browser.fake_host import FakeBrowser

ZLIB, XZ, HDF5, OTHER, ALONE = (hash_of(number) for number in range(1, 6))
RHEL = {"platform": "linux", "platform_os": "rhel8", "target": "x86_64_v3"}


@pytest.fixture
def sources(tmp_path: Path) -> list[Path]:
    """Write an environment, and a cache that has zlib, and hdf5 for another system."""
    zlib = node(ZLIB, dependencies=...)
    xz = node(XZ, name="xz", version="5.8", dependencies=...)
    below = [edge("zlib", ZLIB, ["link"]), edge("xz", XZ, ["build"])]
    hdf5 = node(HDF5, name="hdf5", version="1.14", dependencies=below)
    other = node(OTHER, name="hdf5", version="1.14", dependencies=below, arch=RHEL)
    (tmp_path / "spack.lock").write_bytes(environment([zlib, xz, hdf5], HDF5))
    records = installs(zlib, other) | installs(xz, in_buildcache=False)
    (tmp_path / "index.json").write_bytes(database(records))
    return [tmp_path / "spack.lock", tmp_path / "index.json"]


def screen_of(browser: FakeBrowser) -> CoverageScreen:
    browser.controllers.answers.cover()
    browser.settle()
    screen, _ = browser.host.dialogs[-1]
    assert isinstance(screen, CoverageScreen)
    return screen


def test_what_is_missing_is_shown_with_the_nearest(sources: list[Path]) -> None:
    report = screen_of(FakeBrowser(*sources).load()).report

    assert report is not None
    assert report.title == (
        "1 of 3 cached · 2 missing · 1 of them needed by the rest · to fetch 1, to build 2"
    )
    xz, hdf5 = report.rows(MISSING)
    assert (xz.key, xz.leads_to, hdf5.key, hdf5.leads_to) == (XZ, "", HDF5, OTHER)
    assert hdf5.note == f"os ubuntu24.04 ≠ rhel8 (nearest {OTHER[:7]})"


@pytest.mark.parametrize(
    ("names", "remark"),
    [
        (["spack.lock"], "No cache is open to compare with: open one beside the environment"),
        (["spack.lock", "index.json", "gone"], "the source {}/gone does not exist"),
        (["spack.lock", "part.json"], "part.json was not read whole: 1 problem"),
        (["spack.lock", "gone", "part.json"], "2 sources were not read, or not whole: "),
    ],
)
def test_caches_that_are_not_there_are_noted(
    sources: list[Path], tmp_path: Path, names: list[str], remark: str
) -> None:
    bad: Node = {OTHER: {"spec": []}}
    zlib = node(ZLIB, dependencies=...)
    (tmp_path / "part.json").write_bytes(database(installs(zlib) | bad))
    screen = screen_of(FakeBrowser(*(tmp_path / name for name in names)).load())
    assert remark.format(tmp_path) in screen.notes()[0]


def test_a_cache_that_is_being_read_is_not_said_to_be_closed(sources: list[Path]) -> None:
    browser = FakeBrowser(sources[0]).load()
    browser.controllers.loading.load()
    browser.controllers.answers.cover()
    browser.host.work("menu")
    browser.host.work("cover")
    screen, _ = browser.host.dialogs[-1]
    assert isinstance(screen, CoverageScreen)
    assert screen.notes()[0] == CACHES_LOADING
    browser.settle()
    assert screen_of(browser).notes()[0] == NO_CACHE


def test_a_report_is_read_once(sources: list[Path]) -> None:
    browser = FakeBrowser(*sources).load()
    assert screen_of(browser).report is screen_of(browser).report


def test_without_an_environment_there_is_a_hint(sources: list[Path]) -> None:
    browser = FakeBrowser(sources[1]).load()
    browser.controllers.answers.cover()
    browser.settle()
    assert browser.host.message == NO_ENVIRONMENT
    assert not browser.host.dialogs


def test_what_is_asked_later_takes_the_place_of_what_waits_for_sources(
    sources: list[Path], tmp_path: Path
) -> None:
    browser = FakeBrowser(sources[1], tmp_path / "gone").load()
    browser.controllers.loading.load()
    browser.controllers.answers.cover()
    browser.host.work("menu")
    assert browser.host.is_running("awaited")
    browser.controllers.answers.changes(lambda row: None)
    assert not browser.host.is_running("awaited")
    assert len(browser.host.dialogs) == 1


def test_the_environment_of_the_selected_spec_is_shown_and_then_the_next(
    sources: list[Path], tmp_path: Path
) -> None:
    alone = node(ALONE, name="alone", version="1", dependencies=...)
    (tmp_path / "other.lock").write_bytes(environment([alone], ALONE))
    browser = FakeBrowser(*sources, tmp_path / "other.lock", query="alone").load()

    screen = screen_of(browser)
    for total in (1, 3, 1):
        assert screen.report is not None
        assert f" of {total} cached" in screen.report.title
        screen.action_other()
        browser.settle()


def test_escape_stops_what_is_still_read(sources: list[Path]) -> None:
    browser = FakeBrowser(*sources).load()
    browser.controllers.answers.cover()
    browser.host.work("menu")
    _, done = browser.host.dialogs[-1]
    assert browser.host.is_running("cover")
    assert done is not None
    done(None)
    assert not browser.host.is_running("cover")


def test_an_environment_that_has_gone_is_explained(sources: list[Path]) -> None:
    browser = FakeBrowser(*sources).load()
    sources[0].unlink()
    screen = screen_of(browser)
    assert screen.report is None


def test_the_nearest_can_be_gone_to(sources: list[Path]) -> None:
    browser = FakeBrowser(*sources).load()
    screen_of(browser)
    _, done = browser.host.dialogs[-1]
    assert done is not None
    done(OTHER)
    browser.settle()
    assert browser.state.selected is not None
    assert browser.state.selected.spec.hash == OTHER


async def test_the_screen_lists_reasons_and_specs(sources: list[Path]) -> None:
    async with browsing(*sources, size=(110, 20)) as browser:
        await browser.press("C")
        lines = [line.rstrip() for line in browser.lines if line.strip()]
        assert "spack.lock · 1 of 3 cached · 2 missing" in lines[0]
        assert "  why, by the nearest that is there" in lines
        assert "    1 of 2  no build of the package" in lines
        assert "    1 of 2  os only: ubuntu24.04 ≠ rhel8" in lines
        nearest = f"os ubuntu24.04 ≠ rhel8 (nearest {OTHER[:7]})"
        reason = "no build of the package".ljust(len(nearest))
        assert f"▸ xz@5.8     {reason}  build only, needed by 1 missing  {XZ[:7]}" in lines
        assert f"  hdf5@1.14  {nearest}  {'root':<31}  {HDF5[:7]}" in lines

        await browser.press("up", "up", "enter")
        assert "1 of 2  os only: ubuntu24.04 ≠ rhel8  ◂ only these" in browser.text
        assert "xz@5.8" not in browser.text
        await browser.press("end", "up", "enter")
        assert browser.dialog is None
        assert browser.state.selected is not None
        assert browser.state.selected.spec.hash == OTHER


def test_hashes_of_what_is_missing_are_copied(sources: list[Path]) -> None:
    browser = FakeBrowser(*sources).load()
    screen_of(browser).action_copy()
    browser.settle()
    assert browser.copied == [f"{XZ}\n{HDF5}"]


async def test_the_cursor_begins_on_a_spec_also_where_the_reasons_are_known(
    sources: list[Path],
) -> None:
    async with browsing(*sources, size=(110, 20)) as browser:
        for _ in "first", "read before":
            await browser.press("C")
            assert "▸ xz@5.8" in browser.text
            await browser.press("escape")


async def test_what_is_there_can_be_unfolded(sources: list[Path]) -> None:
    async with browsing(*sources, size=(110, 20)) as browser:
        await browser.press("C")
        assert "  there, or external (1 spec)  ▸" in [line.rstrip() for line in browser.lines]
        await browser.press("ctrl+a")
        assert f"  zlib@1.3.1  cached in {sources[1].parent}"[:60] in browser.text
        await browser.press("end", "up", "enter")
        assert "zlib@1.3.1  cached" not in browser.text
        await browser.press("enter", "end", "enter")
        assert browser.state.selected is not None
        assert browser.state.selected.spec.hash == ZLIB


async def test_letters_search_what_is_missing(sources: list[Path]) -> None:
    async with browsing(*sources, size=(110, 20)) as browser:
        await browser.press("C")
        await browser.type("rhel8")
        assert "▸ hdf5@1.14" in browser.text
        assert "xz@5.8" not in browser.text
        await browser.press("escape")
        assert "xz@5.8" in browser.text
        await browser.press("escape")
        assert browser.dialog is None


async def test_a_missing_spec_is_compared_with_the_nearest(sources: list[Path]) -> None:
    async with browsing(*sources, size=(110, 20)) as browser:
        await browser.press("C", "ctrl+d")
        assert "Go to a missing spec with a nearest one" in browser.status
        await browser.press("down", "ctrl+d")
        assert browser.lines[1].split() == [HDF5[:7], OTHER[:7]]
        assert any(line.split()[-2:] == ["ubuntu24.04", "rhel8"] for line in browser.lines)
        await browser.press("escape")
        assert browser.dialog == "CoverageScreen"
        await browser.press("ctrl+d", "enter")
        assert browser.dialog is None


async def test_a_narrow_screen_with_hostile_text_keeps_its_lines(tmp_path: Path) -> None:
    odd = node(HDF5, name="\x1b[31mhdf5", version="1\u202e", dependencies=...)
    (tmp_path / "spack.lock").write_bytes(environment([odd], HDF5))
    write_page(tmp_path / "pages", [record(1)])
    async with browsing(tmp_path / "spack.lock", tmp_path / "pages", size=(50, 12)) as browser:
        await browser.press("C")
        assert "0 of 1 cached" in browser.text
        assert "\x1b" not in browser.text
        assert "\u202e" not in browser.text


async def test_most_reasons_are_folded_and_the_rows_keep_their_room() -> None:
    reasons = [
        Row((f"{n:>2} of 30", f"reason {n}"), group=f"reason {n}") for n in range(12, 0, -1)
    ]
    missing = [Row((f"{n:07}", f"p{n}", ""), key=f"{n:07}".ljust(32, "a")) for n in range(20)]
    sections = Section("", [Row(("a note",))]), Section(WHY, reasons), Section(MISSING, missing)
    report = Report("0 of 30 cached " * 9, sections, dict)
    async with browsing(size=(40, 12)) as browser:
        screen = CoverageScreen(
            lambda hashes, what: None, lambda: None, lambda hashes: None, lambda hash_: None
        )
        screen.show_environment("spack.lock")
        screen.show_coverage(report)
        browser.app.push_screen(screen)
        await browser.settle()
        shown = [line for line in browser.lines if re.search(r" p\d", line)]
        assert len(shown) >= 3, browser.text
        await browser.press("home", *["down"] * 7)
        assert any("▸   6 more reasons" in line for line in browser.lines)
        await browser.press("enter", "down")
        assert "reason 1" in browser.text or "reason 2" in browser.text
