"""What users look for most takes few keys, the tour names these, and every hint does something."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from spackscope.tui.widgets.frame import StatusLine
from tests.browsing import INDEX, ROOT, Browser, browsing
from tests.clipboard import Clipboard
from tests.documents import make_docs
from tests.examples import some_and_all

_KEYS = {"⇥": "tab", "⏎": "enter", "␣": "space"}
_LOCK = ROOT / "sample_data" / "environment" / "spack.lock"


class Way(NamedTuple):
    """The most keys of a way, what holds after them, and the source it begins with."""

    most: int
    holds: Callable[[Browser, str], bool]
    source: str = "cache.json.gz"


def _is_hdf5(browser: Browser, copied: str) -> bool:
    spec = browser.current.spec
    is_asked = (spec.package, spec.version) == ("hdf5", "1.14.6") and "+mpi" in str(spec.variants)
    return is_asked and spec.compiler.startswith("gcc@11") and copied == spec.hash


def _is_coverage(browser: Browser, copied: str) -> bool:
    return "of 104 cached" in browser.text


WAYS = {
    "the hash of the newest hdf5 +mpi for a zen3, by gcc 11": Way(30, _is_hdf5),
    "how many builds of each package have each `cuda_arch`": Way(
        10,
        lambda browser, _: browser.state.table.options.get("by") == ("package", "cuda_arch"),
    ),
    "whether Spack reuses cgns, and why not": Way(
        9, lambda browser, _: "reuse of 2 builds of cgns@4.5.0" in browser.text
    ),
    "what of `spack.lock` is cached, with a cache open": Way(14, _is_coverage),
    "the same, with the lock file open, for `cache.json.gz`": Way(14, _is_coverage, "spack.lock"),
    "three hashes in one line, as Spack takes them": Way(
        6, lambda _, copied: bool(re.fullmatch(r"/\w{32} /\w{32} /\w{32}", copied))
    ),
    "the builds that use openmpi": Way(8, lambda browser, _: browser.query == "^openmpi"),
}


def written() -> dict[str, str]:
    """Return the keys in the tour, by what they are for."""
    text = (ROOT / "docs" / "tour.md").read_text("utf-8")
    table = text.partition("| you look for | you type |\n")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| (.*?) \| `(.*?)` \|$", table, re.MULTILINE)
    return dict(rows)


def test_the_tour_names_each_way() -> None:
    assert list(written()) == list(WAYS)


@pytest.mark.parametrize("name", WAYS)
async def test_what_users_look_for_most_takes_few_keys(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    way, typed, clipboard = WAYS[name], written()[name], Clipboard(tmp_path)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    shutil.copy(INDEX, "cache.json.gz")
    shutil.copy(_LOCK, "spack.lock")
    assert len(typed) <= way.most
    async with browsing(way.source, size=(80, 24), environ=clipboard.environ) as browser:
        await browser.press(*(_KEYS.get(key, key) for key in typed))
        copied = clipboard.take() or ""
        assert way.holds(browser, copied), browser.text


async def test_each_step_of_the_tour_shows_what_it_says(here: Path) -> None:
    environ = {"TERM": "xterm-256color", "XDG_CACHE_HOME": str(here)}
    environ["XDG_STATE_HOME"] = str(here)
    async with browsing("sample", size=(112, 28), environ=environ) as browser:
        for step in make_docs.TOUR:
            for keys in step.presses():
                await browser.press(*keys)

            def is_seen(text: str = step.sees) -> bool:
                return text in browser.text

            await browser.until(is_seen, step.sees)


_SCREENS = (
    *("2", "1", "3", "2 slash", "2 f", "2 v", "2 t", "2 d", "2 space", "2 z", "2 Y", "2 e", "O"),
    *("2 F", "2 C", "2 P", "2 W", "2 S", "2 i", "2 u", "2 question_mark", "2 colon"),
)
_LEAVES = {"q", "ctrl+c"}
_NOTHING_TO_COMPLETE = ("2 e", "tab")
"""No path begins with the name that is offered."""


def hinted(browser: Browser) -> list[str]:
    """Return the keys of the hints in the last line."""
    line = browser.app.screen.query_one(StatusLine)
    hints, _ = line.read()
    return [hint.key for hint in hints if hint.word in browser.lines[-1]]


@some_and_all(step=12)
async def test_each_hint_does_something(here: Path, clipboard: Clipboard, step: int) -> None:
    for screen in _SCREENS[::step]:
        async with browsing(size=(160, 40), environ=clipboard.environ) as browser:
            await browser.press(*screen.split())
            keys = hinted(browser)
            assert keys, screen
        for key in keys:
            if key in _LEAVES or (screen, key) == _NOTHING_TO_COMPLETE:
                continue
            async with browsing(size=(160, 40), environ=clipboard.environ) as browser:
                await browser.press(*screen.split())
                before = browser.lines, browser.focus, browser.dialog
                await browser.press(key)
                after = browser.lines, browser.focus, browser.dialog
                assert after != before, (screen, key)
                said = browser.status
                assert not said.startswith(("No ", "Press ", "Only ", "There is no")), (key, said)
