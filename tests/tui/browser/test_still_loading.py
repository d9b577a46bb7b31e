"""What is asked while sources are still being read: it says so, and follows."""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from spackscope.model.sources import discover
from tests.browsing import Browser, browsing
from tests.builders import Node, database, edge, environment, hash_of, installs, mirror_v3, node
from tests.program import PATIENCE
from tests.web_server import Exchange, serving

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
    """Sources of which the last one answers when it is let go."""

    def __init__(self, *names: str) -> None:
        self.sources = names
        self.let_go = threading.Event()

    @contextlib.asynccontextmanager
    async def browsing(self) -> AsyncIterator[Browser]:
        """Open the browser with the first sources shown, and the last one to come."""
        async with browsing(*self.sources, settled=False, size=(120, 30)) as browser:
            try:
                await browser.until(lambda: browser.state.results is not None)
                yield browser
            finally:
                self.let_go.set()


@pytest.fixture
def held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Held]:
    monkeypatch.setattr(discover, "_LATE_SECONDS", 0.0)
    (tmp_path / "spack.lock").write_bytes(environment(HERE, HDF5, OTHER))
    files = mirror_v3(database(installs(*THERE) | BAD))
    with serving() as server:
        held = Held(str(tmp_path / "spack.lock"), server.url)

        def respond(exchange: Exchange) -> None:
            held.let_go.wait(PATIENCE)
            data = files.get(exchange.request.path.lstrip("/"))
            exchange.respond(404 if data is None else 200, data or b"")

        server.default = respond
        yield held


def text_of(browser: Browser) -> str:
    """Return the text of the screen without bars and repeated blanks."""
    return " ".join(re.sub("[█▉▊▋▌▍▎▏│]", " ", browser.text).split())


@pytest.mark.parametrize(
    ("keys", "first", "last"),
    [
        ("C", "0 of 4 cached", "1 of 4 cached"),
        ("2 F j", "▸ zlib 2", "▸ zlib 3"),
        ("2 d", "used by - -", "used by 1 -"),
        ("S", "has not answered yet", "mirror v3 · 6 specs"),
        ("exclamation_mark", "has not answered yet", "node is a list, expected an object"),
        ("2 e", "▸4 shown", "▸9 shown"),
    ],
)
async def test_a_dialog_says_that_sources_are_being_read_and_follows(
    held: Held, keys: str, first: str, last: str
) -> None:
    async with held.browsing() as browser:
        await browser.press(*keys.split(), settle=False)
        await browser.until(lambda: first in text_of(browser) and STILL in browser.text)
        held.let_go.set()
        await browser.settle()
        assert last in text_of(browser)
        assert STILL not in text_of(browser)
