"""The detail of the selected spec, without an app."""

from __future__ import annotations

from pathlib import Path

import pytest

from spackscope.model.core.frozen import replace
from spackscope.model.index.tree import read_unfolded
from tests.browsing import SAMPLE
from tests.builders import (
    ARCHIVE_TYPE,
    PROJECT_KEY,
    PROJECT_SUBKEY,
    ZLIB,
    entry,
    manifest,
    mirror_v3,
    record,
    serve_files,
    signed_v3,
    write_files,
    write_page,
    zlib_index,
)
from tests.tui.browser.fake_host import FakeBrowser
from tests.tui.browser.hdf5_index import write_hdf5_index
from tests.tui.browser.look_alike_index import write_look_alikes

MANIFEST = f"v3/manifests/spec/zlib/zlib-1.3.1-{ZLIB}.spec.manifest.json"


@pytest.fixture
def browser() -> FakeBrowser:
    return FakeBrowser(is_folded=False).load()


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


def test_a_step_back_to_a_row_that_was_left_at_once_shows_its_own_tree(tmp_path: Path) -> None:
    write_hdf5_index(tmp_path / "index.json")
    browser = FakeBrowser(tmp_path / "index.json", is_folded=False).load()
    browser.move_to(1)
    browser.search.select_package("zlib")
    browser.settle()
    browser.navigation.retrace(-1)
    browser.settle()
    details = browser.state.details
    assert details is not None
    assert details.tree is not None
    assert browser.detail == "hdf5@1.0"
    assert details.tree.lines[0].id == details.row.id


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


def labelled(browser: FakeBrowser) -> dict[str, str]:
    """Return the values of each label, those of the title under an empty one."""
    details = browser.state.details
    assert details is not None
    values: dict[str, str] = {}
    label = ""
    for line in [*details.lines, *details.relations]:
        label = label if line.is_continued else line.label
        values[label] = f"{values[label]}  {line.text}" if label in values else line.text
    return values


def test_a_folded_row_of_several_kinds_has_no_hash_and_shows_what_its_kinds_share(
    tmp_path: Path,
) -> None:
    write_look_alikes(tmp_path / "index.json")
    browser = FakeBrowser(tmp_path / "index.json", query="hdf5@1.14").load()
    values = labelled(browser)
    details = browser.state.details
    assert details is not None
    assert details.row.count == 4
    assert not any(line.kind == "hash" for line in details.lines)
    assert [line.text + line.suffix for line in details.lines[:2]] == [
        "hdf5@1.14",
        "2 kinds, 4 builds: ⏎ opens",
    ]
    assert "install" not in values
    assert values["kinds differ"] == "zlib"
    assert values["needs to run"] == "mpich@4.3", "each mpich needs another zlib"
    assert values["used by"] == "vtk"
    assert details.tree is not None
    assert details.tree.members == tuple(sorted(details.tree.members))
    assert len(details.tree.members) == 4

    assert browser.state.catalog is not None
    tree = read_unfolded(browser.state.catalog, details.tree, 0)
    mpich = tree.lines[[line.builds for line in tree.lines].index(2)]
    browser.host.where = replace(browser.host.where, pane="detail", node=mpich)
    browser.controllers.copying.copy_hash()
    browser.settle()
    assert not browser.copied
    assert browser.host.message == "2 builds look the same here: ⏎ goes to them"

    browser.host.where = replace(browser.host.where, pane="specs", node=None)
    browser.controllers.rows.toggle(details.row)
    browser.settle()
    browser.move_to(1)
    browser.settle()
    details = browser.state.details
    assert details is not None
    kind = [line.text + line.suffix for line in details.lines if line.kind in ("hash", "dim")]
    assert kind[:2] == [details.row.spec.hash, "×3 run the same"]


def test_variants_are_told_apart_within_the_package_only(tmp_path: Path) -> None:
    records = [
        record(1, variants=["+shared", "~mpi"]),
        record(2, variants=["+shared", "+mpi"]),
    ]
    write_page(tmp_path / "zlib" / "specs.md", records, title="zlib")
    other = [record(3, variants=["~shared", "+hl"])]
    write_page(tmp_path / "hdf5" / "specs.md", other, title="hdf5")
    browser = FakeBrowser(tmp_path).load()
    kinds = set()
    for number in range(3):
        browser.move_to(number)
        browser.settle()
        details = browser.state.details
        assert details is not None
        kinds |= {(line.text, line.kind) for line in details.lines if line.text[:1] in "+~"}
    assert kinds == {
        ("+shared", "same"), ("~shared", "same"), ("+hl", "same"),
        ("+mpi", "differs"), ("~mpi", "differs"),
    }  # fmt: skip


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


def test_who_signed_what_is_looked_at_is_asked_of_its_mirror(tmp_path: Path) -> None:
    mirror = str(write_files(tmp_path / "m", signed_v3()))
    browser = FakeBrowser(mirror).load()
    browser.search.select_package("ncurses")
    browser.settle()

    details = browser.state.details
    assert details is not None
    values = [(line.label, line.text) for line in details.lines]
    assert ("signed", f"by subkey {PROJECT_SUBKEY} of {PROJECT_KEY}") in values
    at = next(n for n, line in enumerate(details.lines) if line.label == "archive")
    missing, file = details.lines[at : at + 2]
    assert (missing.text, missing.kind) == ("listed, but the archive is missing", "error")

    archive = file.text.partition("/m/")[2]
    write_files(tmp_path / "m", {archive: bytes(10_323)})
    browser.load()
    assert f"by subkey {PROJECT_SUBKEY} of {PROJECT_KEY}" in texts(browser)
    assert not any(text.startswith("listed, but") for text in texts(browser))
