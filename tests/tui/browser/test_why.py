"""Why Spack does not take a spec, since when it is there, and other reports, in the browser."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

import pytest

from spackscope.model.core.errors import Cancelled
from spackscope.model.core.records import Spec
from spackscope.model.sources.mirror_spec import MirrorEntry, Mirrors
from spackscope.model.sources.session import Session
from spackscope.tui.settings import Settings
from tests.browsing import browsing
from tests.builders import SPACK_DATA, SpackRoot, database, edge, environment, installs, leaf, node

OLD, NEW, WANTED = (letter * 32 for letter in "onw")


@pytest.fixture
def session(tmp_path: Path) -> Session:
    """Configure a Spack that takes no zlib 1.2 from caches."""
    spack = SpackRoot(tmp_path)
    text = "concretizer:\n  reuse:\n    exclude:\n    - zlib@1.2\n"
    spack.write("home/.spack/concretizer.yaml", text)
    # No C library is asked for, as the leaves have none.
    return Session(
        {**spack.environ, "XDG_STATE_HOME": str(tmp_path / "state")}, host="target=zen3"
    )


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    path = tmp_path / "cache.json"
    path.write_bytes(database(installs(leaf(OLD, "zlib", "1.2"), leaf(NEW, "zlib", "1.3"))))
    return path


async def test_the_line_of_the_configuration_is_named_and_leads_on(
    session: Session, cache: Path
) -> None:
    async with browsing(cache, session=session, query=f"/{OLD}", size=(110, 24)) as browser:
        await browser.press("W")
        assert f"zlib@1.2 /{OLD[:7]}: Spack cannot reuse it on zen3" in browser.lines[0]
        assert "concretizer:reuse excludes zlib@1.2" in browser.text
        assert "concretizer.yaml:4" in browser.text
        await browser.press("enter")
        assert browser.dialog is None
        assert browser.current.spec.hash == OLD


async def test_a_missing_spec_is_asked_by_what_comes_nearest(
    session: Session, cache: Path, tmp_path: Path
) -> None:
    lock = tmp_path / "spack.lock"
    lock.write_bytes(environment([leaf(WANTED, "zlib", "1.2")], WANTED))
    async with browsing(cache, lock, session=session, size=(200, 24)) as browser:
        await browser.press("C", "ctrl+r")
        assert f"zlib@1.2 /{WANTED[:7]}: no cache has it" in browser.lines[0]
        row = next(line for line in browser.lines[1:] if WANTED[:7] in line)
        assert OLD[:7] in row
        assert "concretizer:reuse" in row
        assert "only dependencies differ" in browser.text
        await browser.press("escape")
        assert browser.dialog == "CoverageScreen"
        await browser.press("ctrl+r", "end", "enter")
        assert browser.dialog is None
        selected = browser.state.selected
        assert selected is not None
        assert selected.spec.hash == OLD


async def test_all_builds_of_a_row_are_asked_and_those_to_reuse_come_first(tmp_path: Path) -> None:
    old, new = leaf(OLD, "lib", "1"), leaf(NEW, "lib", "2")
    excludes = "concretizer:\n  reuse:\n    exclude:\n    - app ^lib@2\n"
    spack = SpackRoot(tmp_path)
    spack.write("home/.spack/concretizer.yaml", excludes)
    session = Session(spack.environ, host="target=zen3")
    apps = [
        node(letter * 32, name="app", dependencies=[edge("lib", hash_, ["link"])])
        for letter, hash_ in (("a", OLD), ("b", NEW), ("c", OLD))
    ]
    path = tmp_path / "index.json"
    path.write_bytes(database(installs(old, new, *apps)))
    async with browsing(path, session=session, query="app", size=(110, 24)) as browser:
        assert browser.current.count == 3
        await browser.press("W")
        assert "Spack can reuse 2 of 3 builds on zen3" in browser.lines[0]
        lines = [line.strip("▸ ") for line in browser.lines[1:] if "  app  " in line]
        assert [line.split()[0] for line in lines] == ["c" * 7, "a" * 7, "b" * 7]


async def test_what_no_cache_has_is_asked_by_its_version(
    session: Session, cache: Path, tmp_path: Path
) -> None:
    lock = tmp_path / "spack.lock"
    other = "h" * 32
    lock.write_bytes(environment([leaf(WANTED, "zlib", "1.3"), leaf(other, "m4", "1.4")], WANTED))
    async with browsing(cache, lock, session=session, query=f"/{WANTED}") as browser:
        await browser.press("W")
        assert f"zlib@1.3 /{WANTED[:7]}: no cache has it" in browser.lines[0]
        assert NEW[:7] in browser.text
        await browser.press("escape")
        await browser.ask(f"/{other}")
        await browser.press("enter", "W")
        assert f"m4@1.4 /{other[:7]}: no cache has it" in browser.lines[0]
        assert "no build of the package" in browser.text


async def test_versions_are_shown_over_time(session: Session, cache: Path) -> None:
    settings = Settings(history=True)
    async with browsing(cache, session=session, settings=settings, size=(110, 24)) as browser:
        await browser.press("r")
        await browser.press("2", "H")
        assert "history · zlib: 2 timelines" in browser.lines[0]
        assert "2 observations" in browser.text
        await browser.press("enter")
        assert browser.query == f"/{NEW}"


async def test_a_line_that_leads_nowhere_is_read_and_copied_only(
    session: Session, cache: Path
) -> None:
    async with browsing(cache, session=session, query="zlib", size=(60, 24)) as browser:
        await browser.press("H")
        assert "⏎ go to it" in browser.lines[-1]
        await browser.press("home")
        assert "⏎" not in browser.lines[-1]
        assert f"{cache}: 1 observation" in "".join(map(str.strip, browser.lines))
        await browser.press("enter")
        assert browser.dialog is not None


async def test_the_weather_has_a_trend_and_leads_to_what_is_missing(
    session: Session, cache: Path, tmp_path: Path
) -> None:
    lock = tmp_path / "spack.lock"
    lock.write_bytes(environment([leaf(WANTED, "zlib", "1.2"), leaf(OLD, "zlib", "1.2")], WANTED))
    settings = Settings(history=True)
    async with browsing(cache, lock, session=session, settings=settings) as browser:
        await browser.press("r", "E")
        # A snapshot of the environment itself has all of it.
        assert "50 → 50 %" in browser.text
        await browser.resize(40, 12)
        assert "specs 2" in browser.text, "heads that have no room stand before their cells"
        await browser.press("enter")
        assert browser.dialog == "CoverageScreen"
        assert f"{WANTED[:7]}" in browser.text


async def test_what_cannot_be_read_of_the_past_is_said(
    session: Session, cache: Path, tmp_path: Path
) -> None:
    settings = Settings(history=True)
    async with browsing(cache, session=session, settings=settings, size=(160, 24)) as browser:
        await browser.press("r")
        for path in (tmp_path / "state").rglob("*.json.gz"):
            path.write_bytes(b"broken")
        for key in ("E", "H"):
            await browser.press("2", key)
            assert "cannot be read" in browser.text
            await browser.press("escape")


async def test_one_environment_that_is_broken_keeps_no_other_out(
    session: Session, cache: Path, tmp_path: Path
) -> None:
    good, broken = tmp_path / "good.lock", tmp_path / "broken.lock"
    good.write_bytes(environment([leaf(OLD, "zlib", "1.2")], OLD))
    broken.write_bytes(b"{")
    async with browsing(cache, good, broken, session=session, size=(160, 24)) as browser:
        await browser.press("E")
        assert browser.lines[0].strip() == "how much is there · 1 environment"
        assert "broken.lock cannot be read" in browser.text
        assert any("good.lock" in line and "100 %" in line for line in browser.lines)


async def test_there_is_no_weather_of_nothing(session: Session, tmp_path: Path) -> None:
    path, lock = tmp_path / "cache.json", tmp_path / "spack.lock"
    path.write_bytes(database(installs()))
    lock.write_bytes(environment([leaf(WANTED, "zlib", "1.2")], WANTED))
    for source, why in (path, "The sources have no specs"), (lock, "No cache is open"):
        async with browsing(source, session=session) as browser:
            await browser.press("E")
            assert why in browser.text


async def test_what_was_not_read_is_no_answer_of_its_own(
    session: Session, cache: Path, tmp_path: Path
) -> None:
    async with browsing(cache, tmp_path / "none.json", session=session) as browser:
        await browser.press("2", "space")
        for key in "MPEWH":
            await browser.press("2", key)
            assert "none.json" in browser.lines[2] + browser.lines[3]
            await browser.press("escape")


async def test_how_many_mirrors_were_asked_is_shown_and_can_be_stopped(
    session: Session, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_stopped = threading.Event()

    def entries(mirrors: Mirrors, _: Spec) -> list[MirrorEntry]:
        while True:
            try:
                mirrors.session.check_cancelled()
            except Cancelled:
                is_stopped.set()
                raise
            threading.Event().wait(0.001)

    monkeypatch.setattr(Mirrors, "entries", entries)
    copy = tmp_path / "copy.json"
    shutil.copy(cache, copy)
    async with browsing(cache, copy, session=session) as browser:
        await browser.press("2", "M", settle=False)
        await browser.until(lambda: "0 of 2 hashes compared…" in browser.text)
        await browser.press("escape")
        await browser.until(is_stopped.is_set)


async def test_a_search_finds_the_copies_of_a_package(session: Session, tmp_path: Path) -> None:
    mirror = SPACK_DATA / "mirror-v3"
    shutil.copytree(mirror, tmp_path / "copy")
    async with browsing(mirror, tmp_path / "copy", session=session) as browser:
        await browser.press("2", "M")
        await browser.type("bzip2")
        assert "· 2 of " in browser.lines[0]
        assert "bzip2 " in browser.text
        await browser.press("enter")
        assert browser.query.startswith("/")


async def test_an_answer_without_lines_is_the_title(session: Session, cache: Path) -> None:
    async with browsing(cache, session=session, size=(60, 24)) as browser:
        await browser.press("M")
        assert "what mirrors have · no hash is in several mirrors" in browser.lines[0]
        assert "0 lines" not in browser.text


@pytest.mark.parametrize(
    ("command", "heading", "text"),
    [
        ("Show how much of", "how much is there", "spack.lock"),
        ("Compare what several", "what mirrors have", "no hash is in several mirrors"),
    ],
)
async def test_the_palette_has_the_other_reports(
    command: str,
    heading: str,
    text: str,
    session: Session,
    cache: Path,
    tmp_path: Path,
) -> None:
    lock = tmp_path / "spack.lock"
    lock.write_bytes(environment([leaf(WANTED, "zlib", "1.2")], WANTED))
    async with browsing(cache, lock, session=session, size=(110, 24)) as browser:
        await browser.press("colon")
        await browser.type(command)
        await browser.press("enter")
        assert heading in browser.lines[0]
        assert text in browser.text
        await browser.press("escape")
        assert browser.dialog is None


async def test_only_marked_specs_are_offered_to_be_pruned(session: Session, cache: Path) -> None:
    async with browsing(cache, session=session, size=(110, 24)) as browser:
        await browser.press("2", "P")
        assert browser.status == "Mark the specs to prune (space), then press P."
        await browser.press("colon")
        await browser.type("Preview what")
        assert "pruning" not in browser.text
        # The search is cleared first.
        await browser.press("escape", "escape", "space", "colon")
        await browser.type("Preview what")
        await browser.press("enter")
        assert "Prune preview: removes 1 of 2 specs" in browser.lines[0]
        await browser.press("enter")
        assert (browser.dialog, browser.query) == (None, f"/{NEW}")
