"""Several sources in the browser: which they are, what is the matter, what they tell later."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.model.mirrors import ARCHIVE, entry, manifest, served, v3
from tests.model.spack_documents import (
    GCC,
    INSTALL_TREE,
    ZLIB,
    database,
    index,
    installs,
    leaf,
    node,
)
from tests.tui.browsing import browsing

MANIFEST = f"v3/manifests/spec/zlib/zlib-1.3.1-{ZLIB}.spec.manifest.json"


async def test_the_sources_are_listed_with_what_is_the_matter(tmp_path: Path) -> None:
    tree, gone = tmp_path / "tree", tmp_path / "gone"
    shutil.copytree(INSTALL_TREE.parents[1], tree)

    async with browsing(tree, gone, size=(120, 30)) as browser:
        await browser.press("S")

        assert "sources 2" in browser.text
        (line,) = (line for line in browser.lines if "install tree" in line)
        assert "22" in line
        assert "unreadable" in browser.text
        assert "does not exist" in browser.text


async def test_what_is_there_for_others_only_is_listed_when_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "index.json"
    outside = installs(leaf(GCC, "gcc", "13.2.0"), in_buildcache=False)
    path.write_bytes(database(installs(node()) | outside))

    async with browsing(path) as browser:
        assert browser.shown == {ZLIB}
        await browser.press("a")
        await browser.until(lambda: browser.shown == {ZLIB, GCC})
        assert "2 specs · 2 packages · with all that others need" in browser.text
        await browser.press("a")
        await browser.until(lambda: browser.shown == {ZLIB})


async def test_the_size_of_what_is_looked_at_is_asked_of_its_mirror(tmp_path: Path) -> None:
    environ = {"XDG_CACHE_HOME": str(tmp_path)}
    files = v3(index()) | {MANIFEST: manifest(entry(ARCHIVE, b"", contentLength=5_000_000))}
    with served(files) as server:
        async with browsing(server.url, environ=environ) as browser:
            await browser.open_package("zlib")
            await browser.until(lambda: "size      5.0 MB" in "\n".join(browser.detail_lines))
            await browser.press("1", "k", "2", "1", "j", "2")

        assert server.paths().count(f"/{MANIFEST}") == 1


async def test_a_mirror_that_is_down_serves_its_last_copy_and_says_so(tmp_path: Path) -> None:
    environ = {"XDG_CACHE_HOME": str(tmp_path)}
    with served(v3(index())) as server:
        async with browsing(server.url, environ=environ) as browser:
            assert ZLIB in browser.shown

    async with browsing(server.url, environ=environ, size=(120, 30)) as browser:
        assert ZLIB in browser.shown
        await browser.press("S")
        await browser.until(lambda: "cannot be reached" in browser.text)
