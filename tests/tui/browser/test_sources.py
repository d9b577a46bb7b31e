"""Several sources in the browser: their list, their failures, and their changes."""

import shutil
from pathlib import Path

from spackscope.model.sources.session import Session
from tests.browsing import browsing
from tests.builders.mirrors import mirror_v3, serve_files
from tests.builders.nodes import ZLIB
from tests.builders.pages import record, write_page
from tests.builders.spack import INSTALL_TREE, zlib_index
from tests.tui.browser.fake_host import FakeBrowser
from tests.web_server import is_silent, serving

MANIFEST = f"v3/manifests/spec/zlib/zlib-1.3.1-{ZLIB}.spec.manifest.json"


async def test_the_sources_are_listed_with_what_is_the_matter(here: Path) -> None:
    shutil.copytree(INSTALL_TREE.parents[1], "tree")

    async with browsing("tree", "gone", size=(120, 30)) as browser:
        await browser.press("S")

        assert "2 rows" in browser.lines[1]
        line = next(line for line in browser.lines if "install tree" in line)
        assert "22" in line
        line = next(line for line in browser.lines if "unreadable" in line)
        assert line.split()[-3:] == ["does", "not", "exist"], "it does not repeat the source"
        await browser.press("S", hides="twice")
        assert "does not exist" in browser.table_text
        assert "the source" not in browser.table_text


async def test_undo_is_offered_once_there_is_something_to_undo(tmp_path: Path) -> None:
    write_page(tmp_path, [record(1)])
    async with browsing(tmp_path, size=(120, 30)) as browser:
        assert "undo" not in browser.lines[-1]
        await browser.press("S", hints="undo")


def test_the_end_of_a_long_path_is_in_the_title(tmp_path: Path) -> None:
    for name in ("builds-of-today", "builds-of-yesterday"):
        shutil.copytree(INSTALL_TREE.parents[1], tmp_path / "a-long-way" / "from-here" / name)
    one, other = sorted((tmp_path / "a-long-way" / "from-here").iterdir())

    summary = FakeBrowser(one, other).load().summary
    assert [chip.name for chip in summary.chips] == ["builds-of-today", "builds-of-yesterday"]


async def test_a_mirror_that_is_down_is_shown_from_its_cached_copy_with_a_message(
    tmp_path: Path,
) -> None:
    environ = {"XDG_CACHE_HOME": str(tmp_path)}
    with serve_files(mirror_v3(zlib_index())) as server:
        async with browsing(server.url, environ=environ) as browser:
            assert ZLIB in browser.shown

    async with browsing(server.url, environ=environ, size=(120, 30)) as browser:
        assert ZLIB in browser.shown
        await browser.until(lambda: "using its cached copy, checked just now" in browser.status)
        await browser.press("S")
        await browser.until(lambda: "cannot be reached" in browser.text)


async def test_a_source_that_is_silent_hides_no_other(tmp_path: Path) -> None:
    environ = {"XDG_CACHE_HOME": str(tmp_path)}
    path = tmp_path / "index.json"
    path.write_bytes(zlib_index())
    with serving() as server:
        server.default = is_silent
        async with browsing(path, server.url, environ=environ, settled=False) as browser:
            await browser.until(lambda: ZLIB in browser.shown)
            await browser.until(lambda: "1 problem" in browser.text)
            await browser.press("S", settle=False)
            await browser.until(lambda: "has not answered" in browser.text)
            await browser.press("escape", settle=False)
            await browser.until(lambda: browser.status == "reading was stopped")
            assert ZLIB in browser.shown


def test_standard_input_is_called_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "spooled"
    path.write_bytes(zlib_index())

    browser = FakeBrowser("-", session=Session({}, piped={"-": str(path)})).load()
    assert [chip.name for chip in browser.summary.chips] == ["standard input"]
    assert ZLIB in browser.shown


async def test_what_is_secret_in_a_source_is_nowhere_on_the_screen() -> None:
    secret, query = "ann:s3cr3t@", "?token=s3cr3t"
    with serve_files(mirror_v3(zlib_index(version="1.3"))) as server:
        sources = [
            server.url.replace("://", f"://{secret}") + query,
            f"http://{secret}[::1/x{query}",
            f"file://{secret}there/x{query}",
            f"http:/{secret}h/x{query}",
        ]
        async with browsing(*sources, size=(160, 40)) as browser:
            seen = [browser.text]
            for keys in (["enter"], ["x"], ["escape"], ["S"], ["escape"]):
                await browser.press(*keys)
                seen.append(browser.text)

    assert "http://[::1/x?…" in "".join(seen)
    assert "s3cr3t" not in "".join(seen)
