"""A damaged index never ends the browser: it is rebuilt once, with a message."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from spackscope.model.catalog.tree import SECTIONS, read_unfolded
from spackscope.model.catalog.view import Sort
from spackscope.model.core.errors import IndexDamaged
from spackscope.model.loader.load import STILL_DAMAGED, index_path, load
from spackscope.model.sources.session import Session
from tests.browsing import browsing
from tests.builders import all_records
from tests.tui.browser.fake_host import FakeBrowser

SOURCE = str(Path(__file__).parents[2] / "data" / "spack" / "install-tree-1.2")
KEYS = ("2", "end", "3", "t", "t", "w", "1", "j", "enter", "z", "s", "exclamation_mark")


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    environ = {"XDG_CACHE_HOME": str(tmp_path)}
    load([SOURCE], Session(environ), keep=True)
    return environ


def kept(environ: dict[str, str]) -> Path:
    kept_at = index_path([SOURCE], Session(environ))
    assert kept_at is not None
    return Path(kept_at)


def look_around(browser: FakeBrowser) -> None:
    """Use everything that reads the index, without checks of the results."""
    controllers, host = browser.controllers, browser.host
    if (results := host.state.results) is not None:
        browser.move_to(len(results.listing) - 1)
        browser.settle()
    details = host.state.details
    catalog = host.state.catalog
    if details is not None and details.tree is not None and catalog is not None:
        for section in SECTIONS:
            row, tree = details.tree.head(section), details.tree
            host.run(
                lambda _, tree=tree, row=row: read_unfolded(catalog, tree, row),
                controllers.details.take_tree,
                group="unfold",
            )
            browser.settle()
    controllers.navigation.explain()
    for change in (controllers.search.fold, lambda: controllers.search.sort(Sort("os"))):
        change()
        browser.settle()
    if (last := host.state.catalog) is not None:
        host.run(lambda _: (last.problems, last.sources), lambda _: None, group="menu")
    browser.settle()


def kept_hashes(environ: dict[str, str]) -> list[str]:
    catalog = load([SOURCE], Session(environ))
    assert not catalog.was_damaged
    return [spec.hash for spec in all_records(catalog)]


@pytest.mark.parametrize("seed", range(5))
def test_one_changed_byte_changes_nothing(seed: int, environ: dict[str, str]) -> None:
    whole, path, chance = kept_hashes(environ), kept(environ), random.Random(seed)
    data = bytearray(path.read_bytes())
    data[chance.randrange(len(data))] ^= chance.randrange(1, 256)
    path.write_bytes(data)

    look_around(FakeBrowser(SOURCE, environ=environ).load())

    assert kept_hashes(environ) == whole


async def test_an_index_that_is_damaged_again_is_reported_and_not_rebuilt(
    environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise IndexDamaged("a hash is missing")

    monkeypatch.setattr("spackscope.model.catalog.unpack_hashes", fail)
    async with browsing(SOURCE, environ=environ) as browser:
        assert browser.status == f"{STILL_DAMAGED}: a hash is missing"
        built = kept(environ).stat().st_ino
        for key in KEYS:
            await browser.press(key, settle=False)
        await browser.settle()
        assert kept(environ).stat().st_ino == built
        monkeypatch.undo()
        await browser.press("escape", "r")
        assert browser.shown
