"""Several sources in the browser: their list, their failures, their changes, what is unread."""

import shutil
from pathlib import Path

from spackscope.model.sources.session import Session
from tests.browsing import Browser, browsing
from tests.builders.mirrors import mirror_v3, serve_files
from tests.builders.nodes import ZLIB, leaf, node
from tests.builders.pages import record, write_page
from tests.builders.spack import INSTALL_TREE, SpackRoot, environment, write_index, zlib_index
from tests.web_server import is_silent, serving

MANIFEST = f"v3/manifests/spec/zlib/zlib-1.3.1-{ZLIB}.spec.manifest.json"


async def test_the_sources_are_listed_with_what_is_the_matter(here: Path) -> None:
    shutil.copytree(INSTALL_TREE.parents[1], "tree")

    async with browsing("tree", "gone", size=(120, 30)) as browser:
        await browser.press("S", query_line="2 rows")
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


async def test_the_end_of_a_long_path_is_in_the_title(tmp_path: Path) -> None:
    for name in ("builds-of-today", "builds-of-yesterday"):
        shutil.copytree(INSTALL_TREE.parents[1], tmp_path / "a-long-way" / "from-here" / name)
    one, other = sorted((tmp_path / "a-long-way" / "from-here").iterdir())
    async with browsing(one, other, size=(160, 30)) as browser:
        assert " builds-of-today " in browser.lines[0]
        assert " builds-of-yesterday " in browser.lines[0]


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
            await browser.press("S", until=lambda: "has not answered" in browser.text)
            await browser.press("escape", until=lambda: browser.status == "reading was stopped")
            assert ZLIB in browser.shown


async def test_standard_input_is_called_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "spooled"
    path.write_bytes(zlib_index())

    async with browsing("-", session=Session({}, piped={"-": str(path)})) as browser:
        assert "● standard input" in browser.lines[0]
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


SMALL = (80, 24)


def line_with(browser: Browser, text: str) -> int:
    """Return the number of the first line that has a text."""
    return next(number for number, line in enumerate(browser.lines) if text in line)


async def test_a_source_that_is_unread_is_said_before_what_the_others_give(here: Path) -> None:
    """`0 of 127 cached` stood there alone."""
    wanted = [node(dependencies=...)]
    (here / "spack.lock").write_bytes(environment(wanted, ZLIB))
    async with browsing("nonexist.json", "spack.lock", size=SMALL) as browser:
        assert "▲ 1" in browser.lines[0]
        await browser.press("C")
        assert line_with(browser, "nonexist.json does not") < line_with(browser, "0 of 1 cached")


async def test_a_failed_reload_is_shown_until_one_succeeds(here: Path) -> None:
    tree, away = here / "tree", here / "away"
    shutil.copytree(INSTALL_TREE.parents[1], tree)
    async with browsing("tree", size=(100, 26)) as browser:
        shown = browser.shown
        assert "▲" not in browser.lines[0]
        tree.rename(away)
        await browser.press("S", "r", title="▲")
        assert "the source tree does not exist" in browser.lines[3]
        await browser.press("escape", "S", "S")
        assert "does not exist" in browser.table_text
        await browser.press("escape", shown=shown)
        away.rename(tree)
        await browser.press("r", "S")
        assert "▲" not in browser.lines[0]
        assert "does not exist" not in browser.lines[3]


async def test_an_unread_configuration_is_in_the_title_and_above_what_rests_on_it(
    spack: SpackRoot,
    tmp_path: Path,
) -> None:
    spack.write("home/.spack/packages.yaml", "packages: [")
    write_index(tmp_path, leaf(ZLIB, "zlib", "1.3"))
    unread = "the configuration of Spack was not read"
    async with browsing(tmp_path / "index.json", environ=spack.environ, size=SMALL) as browser:
        await browser.until(lambda: "▲ 1" in browser.lines[0])
        await browser.press("2", "W")
        assert line_with(browser, unread) < line_with(browser, "Spack can reuse it")
        await browser.press("escape", "S", "S", shows="packages.yaml")
        await browser.press("escape", "S", shows=unread)
        await browser.press("escape", "2", "F", hides=unread)
        spack.write("home/.spack/packages.yaml", "packages: {zlib: {require: '@2:'}}")
        await browser.press("escape", "r")
        await browser.until(lambda: "▲" not in browser.lines[0])
        await browser.press("2", "W", shows="packages.yaml requires @2:")
