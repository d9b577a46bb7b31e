"""What changed from one source to another, in the browser."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from spackscope.model.analysis import source_differences
from spackscope.model.core.tasks import check_cancelled
from spackscope.tui.browser.state import SPECS
from tests.browsing import browsing
from tests.builders.manifests import Files
from tests.builders.mirrors import mirror_v3, serve_files, tag_list, under
from tests.builders.nodes import Node, edge, node
from tests.builders.pages import hash_of
from tests.builders.spack import database, installs, write_index, zlib_index

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


async def test_tags_of_one_source_are_compared(tmp_path: Path) -> None:
    tags = ("v2026.03.0", "v2026.06.0")
    bucket: Files = {}
    for version, tag in enumerate(tags):
        bucket |= under(tag, mirror_v3(zlib_index(version=f"1.{version}")))
    with serve_files({**bucket, "list.json": tag_list(bucket)}) as server:
        environ = {"SPACKSCOPE_PUBLIC": f"{server.url}/list.json", "XDG_CACHE_HOME": str(tmp_path)}
        async with browsing(f"public:{','.join(tags)}", environ=environ) as browser:
            await browser.press("2", "D", command="diff public:v2026.03.0 public:v2026.06.0")
            assert "unchanged" in browser.text


async def test_causes_come_first_and_lead_to_their_specs(sources: list[Path]) -> None:
    async with browsing(*sources, size=(120, 30)) as browser:
        await browser.press("2", "D", shows="2 → 3 specs: 2 changed, 1 added")
        assert browser.cells("what") == [
            "only because of zlib 1.2 → 1.3",
            "zlib 1.2 → 1.3",
            "xz@5.8",
            "hdf5@1.14",
            "zlib@1.2 → 1.3",
        ]
        for row, hashes in enumerate(({OLD_ZLIB, NEW_ZLIB}, {OLD_ZLIB, NEW_ZLIB}, {XZ})):
            await browser.press("home", *["j"] * row, "enter", command="", shown=hashes)
            await browser.press("backspace")
        for row, hash_ in enumerate((NEW_HDF5, NEW_ZLIB), 3):
            await browser.press("home", *["j"] * row, "enter", command="", selected_hash=hash_)
            await browser.press("backspace")
        for row in (1, 0):
            await browser.press("home", *["j"] * row, "enter", "backspace")
            assert browser.table.rows.position[0] == row, "where it was chosen"
        # A spec is compared with the one that it took the place of.
        await browser.press("G", "d", command=f"diff /{NEW_ZLIB} /{OLD_ZLIB}")


async def test_a_title_that_is_cut_says_so_in_each_size(sources: list[Path]) -> None:
    async with browsing(*sources, size=(120, 30)) as browser:
        await browser.press("2", "D")
        for size, title in (
            ((34, 20), ["2 → 3 specs: 2 changed, 1", "added"]),
            ((34, 24), ["2 → 3 specs: 2 changed, 1", "added"]),
            ((34, 9), []),
            ((34, 14), ["2 → 3 specs: 2 changed, 1…"]),
        ):
            await browser.resize(*size)
            at = [n for n, line in enumerate(browser.lines) if "2 → 3" in line][:1]
            shown = [browser.lines[n].strip() for row in at for n in range(row, row + len(title))]
            assert shown == title, size


async def test_a_name_that_is_cut_is_read_below_the_rows(sources: list[Path]) -> None:
    async with browsing(*sources, size=(36, 28)) as browser:
        await browser.press("2", "D")
        below = " ".join(map(str.strip, browser.lines[-4:-2]))
        assert "only because of zlib 1.2 → 1.3" in below
        await browser.press("j")
        assert "zlib" not in "".join(browser.lines[-4:-2])


async def test_sources_that_are_the_same_have_no_rows(sources: list[Path]) -> None:
    sources[1].write_bytes(sources[0].read_bytes())
    async with browsing(*sources, size=(100, 30)) as browser:
        await browser.press("2", "D", shows="2 specs unchanged", cells={"what": []})


async def test_what_was_not_read_is_not_only_removed(sources: list[Path]) -> None:
    bad: Node = {hash_of(9): {"spec": []}}
    good = node(OLD_ZLIB, version="1.2", dependencies=...)
    sources[1].write_bytes(database(installs(good) | bad))
    async with browsing(*sources, size=(100, 30)) as browser:
        await browser.press("2", "D", shows="new.json was not read completely: 1 problem")
        assert "1 unchanged, 1 removed" in browser.text


async def test_two_of_more_sources_are_chosen(sources: list[Path], tmp_path: Path) -> None:
    async with browsing(*sources, tmp_path / "gone.json", size=(100, 30)) as browser:
        await browser.press("2", "D")
        assert len([line for line in browser.lines if " → " in line]) == 6
        await browser.press(*"new.json old.json", "down", "enter", shows="1 removed")
        await browser.press("escape", "D", *"gone", "enter")
        assert "does not exist" in browser.table_text


@pytest.fixture
def matching(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Specs are matched once this is set, which a stop does, too."""
    goes_on = threading.Event()
    match = source_differences.match_specs

    def wait_and_match(*arguments: Any) -> object:
        try:
            while not goes_on.wait(0.001):
                check_cancelled()
        finally:
            goes_on.set()
        return match(*arguments)

    monkeypatch.setattr(source_differences, "match_specs", wait_and_match)
    yield goes_on
    goes_on.set()


async def test_the_first_rows_stay_while_others_are_read(
    sources: list[Path], matching: threading.Event
) -> None:
    write_index(sources[0], node(OLD_ZLIB, version="1.2", dependencies=...))
    async with browsing(*sources, size=(120, 30)) as browser:
        await browser.press("2", "D", until=lambda: "comparing…" in browser.text)
        assert browser.cells("what") == ["hdf5@1.14", "xz@5.8"]
        await browser.press("j", until=lambda: browser.table.rows.position == (1, 2))
        matching.set()
        await browser.until(lambda: "comparing…" not in browser.text)
        number, count = browser.table.rows.position
        assert count > 2
        assert browser.cells("what")[number] == "xz@5.8"


async def test_the_reading_is_stopped(sources: list[Path], matching: threading.Event) -> None:
    async with browsing(*sources) as browser:
        await browser.press("D", until=lambda: "comparing…" in browser.text)
        await browser.press("escape")
        await browser.until(matching.is_set)
        assert browser.state.table is SPECS
