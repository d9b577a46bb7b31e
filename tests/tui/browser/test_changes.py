"""What changed from one source to another, in the browser."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from spackscope.model.analysis import source_differences
from spackscope.tui.browser.answers import ONE_SOURCE
from tests.browsing import Browser, browsing
from tests.builders import SPACK_DATA, Node, database, edge, hash_of, installs, node
from tests.program import PATIENCE

OLD_ZLIB, NEW_ZLIB, OLD_HDF5, NEW_HDF5, XZ = (hash_of(number) for number in range(1, 6))


def hdf5(hash_: str, zlib: str) -> Node:
    return node(hash_, name="hdf5", version="1.14", dependencies=[edge("zlib", zlib, ["link"])])


@pytest.fixture
def sources(tmp_path: Path) -> list[Path]:
    old = node(OLD_ZLIB, version="1.2", dependencies=...), hdf5(OLD_HDF5, OLD_ZLIB)
    new = node(NEW_ZLIB, version="1.3", dependencies=...), hdf5(NEW_HDF5, NEW_ZLIB)
    xz = node(XZ, name="xz", version="5.8", dependencies=...)
    files = {"old.json": installs(*old), "new.json": installs(*new, xz)}
    for name, records in files.items():
        (tmp_path / name).write_bytes(database(records))
    return [tmp_path / name for name in files]


def changes(browser: Browser) -> list[str]:
    """Return the lines of the screen after the search, without blanks around them."""
    lines = [line.strip() for line in browser.lines]
    return list(filter(None, lines[lines.index("› type to search") + 1 : -1]))


async def test_causes_come_first_and_lead_to_their_specs(sources: list[Path]) -> None:
    async with browsing(*sources, size=(100, 30)) as browser:
        await browser.press("D")
        assert "old.json → " in browser.lines[0]
        assert "new.json · 2 → 3 specs: 2 changed, 1 added" in " ".join(browser.lines[:2])
        assert changes(browser)[:6] == [
            "changed because of others",
            "▸ 1 only because of zlib 1.2 → 1.3",
            "changed",
            "zlib 1.2 → 1.3, and 1 spec through it",
            "added: 1 package",
            "xz@5.8",
        ]
        await browser.press("enter")
        assert (browser.dialog, browser.query) == (None, "package=zlib")
        assert browser.shown == {OLD_ZLIB, NEW_ZLIB}
        await browser.press("backspace", "D", "x", "z")
        assert "1 of 3 lines" in " ".join(browser.lines[:2])
        await browser.press("enter")
        assert browser.shown == {XZ}
        assert f"source={sources[1]}" in browser.query
        await browser.press("D", "escape")
        assert (browser.dialog, browser.shown) == (None, {XZ})


async def test_a_line_on_no_package_leads_to_no_whole_source() -> None:
    mirrors = SPACK_DATA / "mirror-v2", SPACK_DATA / "mirror-v3"
    async with browsing(*mirrors, size=(100, 30)) as browser:
        await browser.press("D")
        assert "▸ spec format 4 → 5 (15 builds)" in changes(browser)
        assert "⏎" not in browser.lines[-1]
        await browser.press("enter")
        assert browser.dialog is not None
        await browser.press("down")
        assert "⏎ go to it" in browser.lines[-1]


async def test_sources_that_are_the_same_have_no_lines(sources: list[Path]) -> None:
    sources[1].write_bytes(sources[0].read_bytes())
    async with browsing(*sources, size=(100, 30)) as browser:
        await browser.press("D")
        assert browser.lines[0].strip().endswith("new.json · the same 2 specs")


async def test_what_was_not_read_is_not_only_removed(sources: list[Path]) -> None:
    bad: Node = {hash_of(9): {"spec": []}}
    good = node(OLD_ZLIB, version="1.2", dependencies=...)
    sources[1].write_bytes(database(installs(good) | bad))
    async with browsing(*sources, size=(100, 30)) as browser:
        await browser.press("D")
        assert "new.json was not read whole: 1 problem" in browser.lines[2]
        assert "1 the same, 1 removed" in browser.lines[0]


async def test_two_of_more_sources_are_chosen_and_one_is_not_enough(
    sources: list[Path], tmp_path: Path
) -> None:
    async with browsing(*sources, tmp_path / "gone.json") as browser:
        await browser.press("D")
        assert len([line for line in browser.lines if " → " in line]) == 6
        await browser.type("new.json old.json")
        await browser.press("down", "enter")
        assert "1 removed" in browser.text
        await browser.press("escape", "D")
        await browser.type("gone")
        await browser.press("enter")
        assert "does not exist" in browser.text
    async with browsing(sources[0]) as browser:
        await browser.press("D")
        assert browser.status == ONE_SOURCE


async def test_the_reading_is_stopped(
    sources: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    is_begun, is_stopped = threading.Event(), threading.Event()
    match = source_differences.match_specs

    def wait_and_match(*arguments: object, should_stop: object) -> object:
        assert callable(should_stop)
        is_begun.set()
        for _ in range(int(PATIENCE * 1000)):
            if should_stop():
                is_stopped.set()
                break
            threading.Event().wait(0.001)
        return match(*arguments, should_stop=should_stop)  # type: ignore[arg-type]

    monkeypatch.setattr(source_differences, "match_specs", wait_and_match)
    async with browsing(*sources) as browser:
        await browser.press("D", settle=False)
        await browser.until(lambda: is_begun.is_set() and "reading…" in browser.text)
        await browser.press("escape")
        await browser.until(is_stopped.is_set)
        assert browser.dialog is None
