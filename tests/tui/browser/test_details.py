"""The detail of the selected spec, without an app."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browsing import SAMPLE
from tests.builders import ARCHIVE_TYPE, ZLIB, entry, manifest, mirror_v3, serve_files, zlib_index
from tests.tui.browser.fake_host import FakeBrowser

MANIFEST = f"v3/manifests/spec/zlib/zlib-1.3.1-{ZLIB}.spec.manifest.json"


@pytest.fixture
def browser() -> FakeBrowser:
    return FakeBrowser().load()


def texts(browser: FakeBrowser) -> list[str]:
    details = browser.state.details
    assert details is not None
    return [line.text for line in details.lines]


def test_the_detail_shows_the_row_under_the_cursor(browser: FakeBrowser) -> None:
    browser.search.select_package("py-ml-dtypes")
    browser.settle()
    for number in range(3):
        browser.move_to(number)
        browser.settle()
        row = browser.host.where.row
        assert row is not None
        (raw,) = (r for r in SAMPLE if r["hash"] == row.spec.hash)
        assert texts(browser)[:2] == [f"py-ml-dtypes@{row.spec.version}", row.spec.hash]
        for value in (raw["os"], raw["target"], *raw["stacks"], *raw["variants"]):
            assert any(value in text for text in texts(browser))


def test_the_lines_of_the_last_spec_stay_until_those_of_the_next_are_read(
    browser: FakeBrowser,
) -> None:
    before = browser.state.details
    assert before is not None
    browser.move_to(1)
    pending = browser.state.details
    assert pending is not None
    assert pending.is_pending
    assert pending.lines is before.lines
    assert pending.row != before.row, "what is copied is the row under the cursor"
    browser.move_to(2)
    browser.settle()
    assert browser.state.details is not None
    assert not browser.state.details.is_pending
    assert texts(browser)[1] == browser.state.details.row.spec.hash


def test_the_same_spec_is_not_read_again_while_a_filter_is_typed(browser: FakeBrowser) -> None:
    browser.type("os=")
    details = browser.state.details
    assert details is not None
    browser.type_text("os=ubuntu")
    browser.host.work("view")
    browser.move_to(0)
    assert not browser.host.is_running("detail")
    assert browser.state.details is not None
    assert browser.state.details.lines is details.lines


def test_without_rows_there_is_no_detail(browser: FakeBrowser) -> None:
    browser.type("zzz")
    browser.leave()
    assert browser.state.details is None


def test_the_size_of_what_is_looked_at_is_asked_of_its_mirror_once(tmp_path: Path) -> None:
    environ = {"XDG_CACHE_HOME": str(tmp_path)}
    files = mirror_v3(zlib_index()) | {
        MANIFEST: manifest(entry(ARCHIVE_TYPE, b"", contentLength=5_000_000))
    }
    with serve_files(files) as server:
        browser = FakeBrowser(server.url, environ=environ).load()
        browser.search.select_package("zlib")
        browser.settle()
        assert "5.0 MB" in texts(browser)
        browser.search.select_package(None)
        browser.settle()
        browser.search.select_package("zlib")
        browser.settle()
        assert "5.0 MB" in texts(browser)
        assert server.paths().count(f"/{MANIFEST}") == 1
