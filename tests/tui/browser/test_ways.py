"""What users look for most takes few keys, and the tour names these."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.browsing import INDEX, ROOT, Browser, browsing
from tests.clipboard import Clipboard

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
    "why Spack does not reuse zlib-ng": Way(
        12, lambda browser, _: "reuse of 2 builds of zlib-ng@2.3.2" in browser.text
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
