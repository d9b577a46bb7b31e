"""What is asked while sources are still being read: it says so, and follows."""

import contextlib
import re
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from spackscope.model.sources import discover
from spackscope.tui.browser.search import read_results
from spackscope.tui.browser.state import SPECS
from tests.browsing import Browser, browsing
from tests.builders.mirrors import mirror_v3
from tests.builders.nodes import Node, edge, node
from tests.builders.pages import hash_of
from tests.builders.spack import database, environment, installs, write_index
from tests.program import PATIENCE
from tests.web_server import Exchange, WebServer, serving

STILL = "Sources are still being read"
HDF5, OTHER, THIRD, ALONE, ZLIB, ZLIB_2, XZ, NETCDF = (hash_of(number) for number in range(1, 9))


def hdf5(hash_: str, zlib: str) -> Node:
    return node(hash_, name="hdf5", version="1.14", dependencies=[edge("zlib", zlib, ["link"])])


def zlib(hash_: str, version: str) -> Node:
    return node(hash_, version=version, dependencies=...)


HERE = [hdf5(HDF5, ZLIB), zlib(ZLIB, "1.3.1"), hdf5(OTHER, ZLIB_2), zlib(ZLIB_2, "1.2")]
THERE = [
    hdf5(THIRD, ZLIB),
    zlib(ZLIB, "1.3.1"),
    zlib(hash_of(11), "1.1"),
    node(NETCDF, name="netcdf-c", dependencies=[edge("hdf5", HDF5, ["link"])]),
    node(XZ, name="xz", version="5.8", dependencies=...),
    node(hash_of(9), name="hdf5", version="1.12", dependencies=...),
]
BAD: Node = {hash_of(10): {"spec": []}}


class Held:
    """Mirrors on a server, each of which answers when it is let go."""

    def __init__(self, server: WebServer, **indexes: bytes) -> None:
        self.urls = {name: f"{server.url}/{name}" for name in indexes}
        self._files = {name: mirror_v3(index) for name, index in indexes.items()}
        self._let_go = {name: threading.Event() for name in indexes}
        server.default = self._respond

    def _respond(self, exchange: Exchange) -> None:
        _, name, path = exchange.request.path.split("/", 2)
        self._let_go[name].wait(PATIENCE)
        data = self._files[name].get(path)
        exchange.respond(404 if data is None else 200, data or b"")

    def let_go(self, *names: str) -> None:
        """Let some mirrors answer from now on."""
        for name in names:
            self._let_go[name].set()

    @contextlib.asynccontextmanager
    async def browsing(self, *sources: str | Path, query: str = "") -> AsyncIterator[Browser]:
        """Open the browser on some sources, and let the mirrors answer in the end."""
        async with browsing(*sources, query=query, settled=False, size=(120, 30)) as browser:
            try:
                yield browser
            finally:
                self.let_go(*self._let_go)


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[Held]:
    monkeypatch.setattr(discover, "_LATE_SECONDS", 0.0)
    hdf = node(hash_of(12), name="hdfview", version="3.3", dependencies=...)
    with serving() as server:
        yield Held(server, small=database(installs(hdf)), large=database(installs(*THERE) | BAD))


def text_of(browser: Browser) -> str:
    """Return the text of the screen without bars and repeated blanks."""
    return " ".join(re.sub("[█▉▊▋▌▍▎▏│]", " ", browser.text).split())


@pytest.mark.parametrize(
    ("keys", "first", "last"),
    [
        ("C", "0 of 4 cached", "1 of 4 cached"),
        ("2 F", "same in all: count 2", "zlib 3"),
        ("2 d", "used by 0 0", "used by 1 0"),
        ("S", "has not answered", "mirror v3 6"),
        ("S S", "has not answered", "node is a list, expected an object"),
    ],
)
async def test_a_dialog_says_that_sources_are_being_read_and_follows(
    held: Held, tmp_path: Path, keys: str, first: str, last: str
) -> None:
    (tmp_path / "spack.lock").write_bytes(environment(HERE, HDF5, OTHER))
    async with held.browsing(tmp_path / "spack.lock", held.urls["large"]) as browser:
        await browser.until(lambda: browser.state.results is not None)
        await browser.press(*keys.split(), settle=False)
        await browser.until(lambda: first in text_of(browser) and STILL in browser.text)
        held.let_go("large")
        await browser.settle()
        assert last in text_of(browser)
        assert STILL not in text_of(browser)


async def test_a_file_has_the_records_that_were_read_and_the_message_says_so(
    held: Held, here: Path
) -> None:
    (here / "spack.lock").write_bytes(environment(HERE, HDF5, OTHER))
    async with held.browsing(here / "spack.lock", held.urls["large"]) as browser:
        await browser.until(lambda: browser.state.results is not None)
        await browser.press("2", "e", until=lambda: "write 4 records so far" in text_of(browser))
        await browser.press("enter", until=lambda: browser.dialog is None)
        assert browser.status.startswith("Wrote 4 records to ")
        assert browser.status.endswith(STILL)


async def test_what_is_not_among_a_part_is_not_unknown(held: Held, tmp_path: Path) -> None:
    write_index(tmp_path, *HERE)
    async with held.browsing(tmp_path / "index.json", held.urls["large"], query="xz") as browser:
        await browser.until(lambda: "xz is not among what is read so far" in text_of(browser))
        await browser.until(lambda: "in 0 packages so far" in browser.lines[1])
        assert "Unknown" not in browser.text
        held.let_go("large")
        await browser.until(lambda: XZ in browser.shown)
        await browser.settle()
        assert "so far" not in browser.text


async def test_a_source_that_does_not_answer_is_waited_for_and_not_being_read(
    held: Held, tmp_path: Path
) -> None:
    write_index(tmp_path, *HERE)
    async with held.browsing(tmp_path / "index.json", held.urls["large"]) as browser:
        await browser.until(lambda: "waiting for" in browser.text)
        assert "100 %" not in browser.text


@pytest.mark.parametrize(("key", "until_then"), [("C", STILL), ("D", "esc stops")])
async def test_what_needs_more_sources_is_answered_once_they_are_read(
    held: Held, tmp_path: Path, key: str, until_then: str
) -> None:
    write_index(tmp_path, *HERE)
    async with held.browsing(tmp_path / "index.json", held.urls["large"]) as browser:
        await browser.until(lambda: browser.state.results is not None)
        await browser.press(key, until=lambda: until_then in browser.text)
        held.let_go("large")
        if key == "D":
            await browser.until(lambda: "→" in text_of(browser))
        else:
            # None of the sources is an environment.
            await browser.until(lambda: "coverage: add" in browser.text)


async def test_keys_typed_before_anything_is_read_go_where_they_would_go_afterwards(
    held: Held,
) -> None:
    # A terminal that is not set up yet sends Enter so.
    keys = ["slash", *"hdf", "tab", *"@1.14 os=", "tab", "ctrl+j", "j", "space"]
    async with held.browsing(*held.urls.values()) as browser:
        browser.send(*keys)
        await browser.until(lambda: browser.query == "hdf")
        held.let_go("small")
        await browser.until(lambda: browser.packages == {"hdfview": 1})
        assert browser.query == "hdf"
        held.let_go("large")
        await browser.settle()
        typed_ahead = browser.lines
    async with held.browsing(*held.urls.values()) as browser:
        await browser.settle()
        await browser.press(*keys)
        # Only here is there an earlier view, to which a hint leads back.
        assert browser.lines[:-1] == typed_ahead[:-1]
        assert browser.query == "package=hdf5 @1.14 os=ubuntu24.04"
        assert browser.focus == "spec-rows"


async def test_a_name_that_is_typed_before_its_index_is_read_names_the_package(held: Held) -> None:
    async with held.browsing(held.urls["large"]) as browser:
        browser.send("slash", *"hdf5 rocm")
        await browser.until(lambda: browser.query == "hdf5 rocm")
        held.let_go("large")
        await browser.settle()
        await browser.press("enter", query="hdf5 any=rocm", selected="hdf5")


async def test_the_note_on_a_text_goes_when_it_is_finished_before_anything_is_read(
    held: Held,
) -> None:
    async with held.browsing(held.urls["large"]) as browser:
        await browser.press("slash", *"target=", settle=False)
        await browser.until(lambda: "Expected a value after target=" in browser.note)
        await browser.press(*":zen3", until=lambda: browser.query == "target=:zen3")
        await browser.until(lambda: not browser.box)
        assert "esc stops" in browser.text


async def test_escape_stops_what_keys_wait_for(
    held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spackscope.tui.browser.jobs.TYPED_AHEAD", -1.0)
    async with held.browsing(held.urls["large"]) as browser:
        browser.send("a", "q", "escape")
        await browser.until(lambda: "reading was stopped" in browser.text)
        await browser.settle()
        assert browser.app.is_running, "what was typed ahead is forgotten"
        assert browser.focus == "spec-rows"


async def test_escape_closes_what_is_still_being_read_also_after_other_keys(
    held: Held, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spackscope.tui.browser.jobs.TYPED_AHEAD", -1.0)
    write_index(tmp_path, *HERE)
    async with held.browsing(tmp_path / "index.json", held.urls["large"]) as browser:
        await browser.until(lambda: browser.state.results is not None)
        # The answer reads the sources that it compares, whether the browser does or not.
        browser.send("D", "a")
        await browser.until(lambda: "esc stops" in browser.table_text)
        browser.send("escape")
        await browser.until(lambda: "reading was stopped" in browser.text)
        assert "esc stops" in browser.table_text
        browser.send("a", "escape")
        await browser.until(lambda: browser.state.table is SPECS)


async def test_a_title_says_that_the_rest_is_not_loaded_once_reading_was_stopped(
    held: Held, tmp_path: Path
) -> None:
    (tmp_path / "spack.lock").write_bytes(environment(HERE, HDF5, OTHER))
    async with held.browsing(tmp_path / "spack.lock", held.urls["large"]) as browser:
        await browser.until(lambda: "still loading" in browser.lines[0])
        await browser.press("escape", shows="reading was stopped", hides="still loading")
        assert "not all loaded" in browser.lines[0]
        problems = browser.lines[0].split("▲")[-1]
        async with browser.holding("load"):
            await browser.press("r", "escape", settle=False)
            await browser.settle_but("load")
        assert browser.lines[0].split("▲")[-1] == problems, "it is one problem however often"
        held.let_go("large")
        await browser.press("r")
        await browser.until(lambda: XZ in browser.shown)
        assert "loaded" not in browser.lines[0]


async def test_an_answer_does_not_wait_for_what_is_not_read_any_more(
    held: Held, tmp_path: Path
) -> None:
    write_index(tmp_path, *HERE)
    async with held.browsing(tmp_path / "index.json", held.urls["large"]) as browser:
        await browser.until(lambda: browser.state.results is not None)
        await browser.press("2", "F", settle=False)
        await browser.until(lambda: "stats" in browser.text and STILL in browser.text)
        await browser.press("escape", shows="stats", hides=STILL)


async def test_control_q_waits_for_no_source(held: Held) -> None:
    async with held.browsing(held.urls["large"]) as browser:
        browser.send("j", "ctrl+q")
        await browser.until(lambda: browser.app.return_code == 0)


async def test_a_package_is_known_once_its_source_is_read(held: Held, tmp_path: Path) -> None:
    write_index(tmp_path, *HERE)
    sources = tmp_path / "index.json", held.urls["large"]
    async with held.browsing(*sources, query="hdf5 netcdf-c") as browser:
        await browser.until(
            lambda: "netcdf-c is not among what is read so far" in text_of(browser)
        )
        assert "still loading" in browser.text
        held.let_go("large")
        await browser.settle()
        assert browser.packages == {"hdf5": 4, "netcdf-c": 1}


@pytest.fixture
def late_rows(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Rows of a second catalog are read once the event is set, as on a slow machine."""
    is_late, read, catalogs = threading.Event(), read_results, list[object]()

    def read_late(catalog: object, *arguments: Any, **options: Any) -> Any:
        catalogs.append(catalog)
        assert catalog is catalogs[0] or is_late.wait(PATIENCE)
        return read(catalog, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr("spackscope.tui.browser.search.read_results", read_late)
    yield is_late
    is_late.set()


@pytest.mark.parametrize(
    "nodes",
    [
        pytest.param(HERE, id="several", marks=pytest.mark.exhaustive),
        pytest.param(HERE[-1:], id="one"),
    ],
)
@pytest.mark.parametrize(
    "keys",
    [
        *("C", "C W", "C y", "S", "2 F", "2 d", "2 e", "2 W", "2 t", "2 t enter"),
        *("2 enter", "2 space j space d", "2 z", "2 z z", "2 h", "2 y", "2 Y", "3 j enter"),
        *("D", "slash z escape", "u", "A"),
    ],
)
async def test_keys_that_come_before_the_rows_of_another_catalog_act_on_what_is_shown(
    held: Held, late_rows: threading.Event, tmp_path: Path, keys: str, nodes: list[Node]
) -> None:
    # Of the only one, the number there is higher than all numbers here.
    (tmp_path / "spack.lock").write_bytes(environment(nodes, *(each["hash"] for each in nodes)))
    async with held.browsing(tmp_path / "spack.lock", held.urls["large"]) as browser:
        await browser.until(lambda: browser.state.details is not None)
        first = browser.state.summary
        held.let_go("large")
        await browser.until(lambda: browser.state.summary is not first)
        browser.send(*keys.split())
        await browser.settle_but("view")
        late_rows.set()
        await browser.settle()
        assert browser.app.is_running
        assert browser.state.catalog is browser.state.newest
