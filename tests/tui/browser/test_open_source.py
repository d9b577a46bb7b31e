"""Another source is opened from within the browser, from the first screen and where one fails."""

import json
import threading
from pathlib import Path
from zipfile import ZipFile

from spackscope.model.sources.source_name import SAMPLE
from spackscope.tui.widgets.frame import TitleLine
from tests.browsing import browsing
from tests.builders.manifests import MANIFEST
from tests.builders.mirrors import mirror_v3, tag_list, under, write_files
from tests.builders.nodes import node
from tests.builders.sample import EXAMPLES
from tests.builders.spack import write_index, zlib_index
from tests.program import PATIENCE
from tests.web_server import Exchange, serving


async def test_the_title_of_the_sample_opens_what_is_typed(tmp_path: Path) -> None:
    index = write_index(tmp_path, node(dependencies=[]))
    async with browsing(SAMPLE) as browser:
        assert browser.lines[0].split()[:3] == ["spackscope", "●", "sample"]
        assert browser.lines[0].rstrip().endswith("O open yours")
        await browser.click(browser.browser.query_one(TitleLine), len(browser.lines[0]) - 4, 0)
        assert "public  the public cache" in browser.text
        await browser.type("public")
        assert len([*filter(None, browser.picks)]) == 1, "it is offered once"
        await browser.press("ctrl+u")
        await browser.paste(str(index), "enter", packages={"zlib": 1}, hides="O open yours")


async def test_marks_are_kept_where_another_source_is_opened(here: Path) -> None:
    write_index(here, node(dependencies=[]))
    async with browsing() as browser:
        await browser.press("2", "space", "O")
        marks = browser.state.marks
        assert marks
        await browser.paste("./index.json", "enter", packages={"zlib": 1})
        assert browser.state.marks == marks


async def test_another_source_is_offered_where_none_can_be_read(here: Path) -> None:
    write_index(here, node(dependencies=[]))
    async with browsing(Path("gone.json")) as browser:
        await browser.press("O")
        for name in ("also-gone.json", "index.json"):
            await browser.press("ctrl+u")
            await browser.paste(name, "enter")
        assert browser.packages == {"zlib": 1}
        await browser.press("O", shows="gone.json")


async def test_what_is_shown_stays_where_another_source_cannot_be_read(here: Path) -> None:
    (here / "notes.json").write_text("none")
    async with browsing(query="py-build") as browser:
        await browser.press("2", "j")
        query, shown, current = browser.query, browser.shown, browser.current
        for name, why in (("gone", "does not exist"), ("notes.json", "is not JSON")):
            await browser.press("O")
            await browser.paste(f"./{name}")
            await browser.press("enter", says=why, shows=f"› ./{name} ")  # it can be corrected
            await browser.press("escape", "escape", dialog=None, query=query, shown=shown)
            assert browser.current_hash == current.spec.hash
            await browser.press("O", shows=name)  # it can be chosen again
            await browser.press("escape")


async def test_tab_completes_the_path_of_a_source(here: Path) -> None:
    (here / "caches").mkdir()
    write_index(here / "caches" / "large.json", node(dependencies=[]))
    (here / "caches" / "late.json").write_text("")
    async with browsing(size=(150, 30)) as browser:
        await browser.press("O", *"cac", "tab", "l", "tab", shows="late.json")
        assert "› caches/la " in browser.text, "as far as both agree"
        await browser.press("tab", "enter", packages={"zlib": 1})

        await browser.press("O", *"caches/large.jsn", "enter", says="does not exist")
        await browser.press("backspace", "backspace", "tab", "enter", dialog=None)
        assert browser.packages == {"zlib": 1}, "a name that was wrong is corrected"


async def test_another_source_is_shown_also_where_the_help_was_opened_meanwhile(
    tmp_path: Path,
) -> None:
    index = write_index(tmp_path, node(dependencies=[]))
    async with browsing() as browser:
        await browser.type_ahead("O", *str(index), "enter", "question_mark")
        if browser.dialog is not None:
            await browser.press("escape")
        assert browser.packages == {"zlib": 1}
        assert browser.dialog is None


async def test_an_address_of_the_site_opens_the_public_cache_with_its_query(
    tmp_path: Path,
) -> None:
    index = under("v1", mirror_v3(zlib_index()))
    tags = {"v1": [{"label": "root", "url": f"s3://spack-binaries/v1/{MANIFEST}"}]}
    name = "cache_spack_io_index.json"
    write_files(tmp_path, {**index, name: json.dumps(tags).encode()})
    environ = {"SPACKSCOPE_PUBLIC": str(tmp_path / name)}
    url = "https://cache.spack.io/?package=zlib&os=ubuntu&release=v1"
    async with browsing(SAMPLE, environ=environ) as browser:
        await browser.press("O")
        await browser.paste(f"{url}&stack=%1b")
        await browser.press("enter", says="stack= of the address has a character")
        await browser.press("ctrl+u")
        await browser.paste(f"{url}&odd=1", "enter", query="package=zlib os=*ubuntu*", says="odd=")
        assert "public:v1" in browser.lines[0]


async def test_the_address_of_a_shown_record_leads_to_it(tmp_path: Path) -> None:
    files = under("develop", mirror_v3(zlib_index()))
    name = "cache_spack_io_index.json"
    write_files(tmp_path, {**files, name: tag_list(files)})
    environ = {"SPACKSCOPE_PUBLIC": str(tmp_path / name)}
    async with browsing("public:develop", SAMPLE, environ=environ) as browser:
        await browser.ask("zlib")
        hash_ = browser.current_hash
        await browser.press("O")
        await browser.paste(f"https://cache.spack.io/?package=zlib&hash={hash_}")
        await browser.press("enter", dialog=None, current_hash=hash_)
        assert hash_ in browser.query
        assert len(browser.packages) > 1, "nothing was closed"


async def test_the_only_match_is_taken_by_enter(here: Path) -> None:
    write_index(here, node(dependencies=[]))
    (here / "notes.txt").touch()
    async with browsing(size=(80, 24)) as browser:
        await browser.press("O", *"in", "enter", packages={"zlib": 1})


async def test_escape_stops_the_reading_of_a_source_and_leaves_the_dialog_open() -> None:
    let_go = threading.Event()

    def respond(exchange: Exchange) -> None:
        let_go.wait(PATIENCE)
        exchange.respond(404)

    with serving() as server:
        server.default = respond
        async with browsing(query="py-build") as browser:
            await browser.press("O")
            await browser.paste(server.url)
            browser.send("enter")
            await browser.until(lambda: "esc stop" in browser.lines[-1])
            browser.send("escape")
            await browser.until(lambda: "esc stop" not in browser.lines[-1])
            let_go.set()
            await browser.settle()
            assert f"› {server.url} " in browser.text
            await browser.press("escape", "escape", query="package=py-build")


async def test_sources_of_the_current_directory_are_offered(here: Path) -> None:
    with ZipFile(EXAMPLES) as archive:
        archive.extractall(here)
    (here / "notes.json").write_text('{"a": 1}')
    (here / "empty").mkdir()
    async with browsing(size=(100, 30)) as browser:
        for key in "OD":
            await browser.press(key)
            offered = [" ".join(pick.split()) for pick in browser.picks]
            assert offered[:5] == [
                "index.json file",
                "mirror/ mirror",
                "new/ environment",
                "old/ environment",
                "tree/ install tree",
            ]
            assert not [pick for pick in offered if pick.startswith(("notes", "empty"))]
            await browser.press("escape")
        await browser.press("O", "down", "enter", title="● mirror")
