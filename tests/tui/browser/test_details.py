"""The detail of the selected spec, and how that relates to others."""

import threading
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from spackscope.model.analysis.nearest import nearest_look_alike
from spackscope.model.analysis.needs import read_needs
from spackscope.model.report.detail import DetailLine, blocks_of
from spackscope.tui.browser import read_details
from tests.browsing import SAMPLE, Browser, browsing
from tests.builders.manifests import ARCHIVE_TYPE, entry, manifest
from tests.builders.mirrors import mirror_v3, serve_files, signed_v3, write_files
from tests.builders.nodes import ZLIB, leaf
from tests.builders.pages import record, write_page
from tests.builders.spack import PROJECT_SUBKEY, write_index, zlib_index
from tests.clipboard import Clipboard
from tests.program import PATIENCE
from tests.tui.browser.look_alike_index import OTHER, A, B, C

MANIFEST = f"v3/manifests/spec/zlib/zlib-1.3.1-{ZLIB}.spec.manifest.json"
FITS = "runs here: ✓ runs on zen3"
ALONE = [
    FITS,
    "needs: nothing else",
    "download: 1 spec, size unknown",
    "used by: nothing here",
]
HOST = {"SPACKSCOPE_HOST": "target=zen3 glibc=2.35"}


@pytest.fixture
async def hdf5s(look_alikes: Path) -> AsyncIterator[Browser]:
    """Open the hdf5 that look the same, a row each."""
    async with browsing(look_alikes, query="hdf5", environ=HOST, size=(120, 40)) as browser:
        await browser.press("1", "z", "2")
        yield browser


def lines(browser: Browser) -> Sequence[DetailLine]:
    assert browser.state.details is not None
    return browser.state.details.lines


def relations(browser: Browser) -> list[str]:
    assert browser.state.details is not None
    blocks: list[str] = []
    for first, *others in blocks_of(browser.state.details.related.lines):
        leads = (each.lead if each.lead.startswith(" ") else f"  {each.lead}" for each in others)
        rest = "".join(lead + each.text for lead, each in zip(leads, others, strict=True))
        blocks.append(f"{first.label}: {first.text}{first.suffix}{rest}")
    return blocks


def late(function: Callable[..., Any], event: threading.Event) -> Callable[..., Any]:
    """Return a function that waits for an event first."""

    def wait_and_call(*arguments: Any, **options: Any) -> Any:
        assert event.wait(PATIENCE)
        return function(*arguments, **options)

    return wait_and_call


async def select(browser: Browser, hash_: str, *keys: str) -> None:
    number = [row.spec.hash for row in browser.rows].index(hash_)
    await browser.press("2", "home", *["j"] * number, *keys)


# Lines


async def test_the_detail_shows_the_row_under_the_cursor() -> None:
    async with browsing(folded=False, size=(160, 60)) as browser:
        await browser.open_package("py-ml-dtypes")
        for _ in range(3):
            spec = browser.current.spec
            (raw,) = (r for r in SAMPLE if r["hash"] == spec.hash)
            shown = "\n".join(browser.detail_lines)
            values = raw["os"], raw["target"], *raw["stacks"], *raw["variants"]
            for value in (spec.hash, f"py-ml-dtypes@{spec.version}", *values):
                assert value in shown
            await browser.press("j")


async def test_the_lines_of_the_last_spec_stay_until_those_of_the_next_are_read(
    clipboard: Clipboard,
) -> None:
    async with browsing(folded=False, environ=clipboard.environ) as browser:
        await browser.press("2")
        before = browser.detail_lines
        async with browser.holding("detail"):
            browser.send("j", "y")
            await browser.until(lambda: browser.status.startswith("Copied"))
            assert browser.detail_lines == before
            assert clipboard.take() == browser.current_hash != browser.rows[0].spec.hash
        assert any(browser.current_hash in line for line in browser.detail_lines)
        await browser.ask("zzz", "enter", detail_lines=[])


async def test_a_step_back_to_a_row_that_was_left_at_once_shows_its_own_tree(
    hdf5_index: Path,
) -> None:
    async with browsing(hdf5_index, folded=False) as browser:
        await browser.press("2")
        async with browser.holding("detail"):
            browser.send("j", "1", "end")
            await browser.until(lambda: browser.query == "package=zlib")
        assert "zlib@1.0" in browser.text
        await browser.press("backspace", "t", shows=("─ hdf5@1.0 ", "depends on 4"))


async def test_a_folded_row_of_several_kinds_shows_one_build_and_how_the_others_differ(
    look_alikes: Path, clipboard: Clipboard
) -> None:
    environ, size = {**HOST, **clipboard.environ}, (120, 40)
    async with browsing(look_alikes, query="hdf5@1.14", environ=environ, size=size) as browser:
        assert "4 builds look the same, but run in 2 ways" in browser.text
        assert f"spack install --cache-only /{browser.current_hash}" in browser.text
        own = ["differ in: zlib", "needs: mpich@4.3  zlib@1.3"]
        assert relations(browser)[:3] == [FITS, *own]
        several = "2 builds look the same here: press ⏎ to choose one"
        await browser.press("t", "j", "j", "j", "y", status=several)
        assert clipboard.take() is None
        await browser.press("escape", "enter", "j", shows=f" {browser.current_hash}")
        assert "3 builds look the same: only build dependencies differ" in browser.text


async def test_variants_are_told_apart_within_the_package_only(tmp_path: Path) -> None:
    records = [record(1, variants=["+shared", "~mpi"]), record(2, variants=["+shared", "+mpi"])]
    write_page(tmp_path / "zlib" / "specs.md", records, title="zlib")
    other = [record(3, variants=["~shared", "+hl"])]
    write_page(tmp_path / "hdf5" / "specs.md", other, title="hdf5")
    kinds = set()
    async with browsing(tmp_path) as browser:
        await browser.press("2")
        for _ in range(3):
            values = (value for row in browser.detail.lines.values for value in row)
            kinds |= {(value.text, value.style) for value in values if value.text[:1] in "+~"}
            await browser.press("j")
    same = {(text, "same") for text in ("+shared", "~shared", "+hl")}
    assert kinds == same | {("+mpi", "differs"), ("~mpi", "differs")}


async def test_the_size_of_what_is_looked_at_is_asked_of_its_mirror_once(tmp_path: Path) -> None:
    size = manifest(entry(ARCHIVE_TYPE, b"", contentLength=5_000_000))
    with serve_files(mirror_v3(zlib_index()) | {MANIFEST: size}) as server:
        async with browsing(server.url, environ={"XDG_CACHE_HOME": str(tmp_path)}) as browser:
            await browser.press("end", "home", "end", shows="5.0 MB")
        assert server.paths().count(f"/{MANIFEST}") == 1


async def test_who_signed_what_is_looked_at_is_asked_of_its_mirror(tmp_path: Path) -> None:
    mirror = write_files(tmp_path / "m", signed_v3())
    async with browsing(mirror, size=(160, 50)) as browser:
        await browser.open_package("ncurses", shows=f"by key {PROJECT_SUBKEY}")
        at = [line.label for line in lines(browser)].index("archive")
        missing, file = lines(browser)[at : at + 2]
        assert (missing.text, missing.style) == ("listed, but the archive is missing", "error")
        assert missing.text in browser.text
        write_files(tmp_path / "m", {file.text.partition("/m/")[2]: bytes(10_323)})
        await browser.press("r", shows=f"by key {PROJECT_SUBKEY}", hides=missing.text)


async def test_the_questions_about_rows_share_a_connection(tmp_path: Path) -> None:
    with serve_files(signed_v3()) as server:
        async with browsing(server.url, environ={"XDG_CACHE_HOME": str(tmp_path)}) as browser:
            await browser.open_package("bzip2", shows="signed ")
            before = len(server.connections)
            await browser.open_package("ncurses", shows="signed ")
            assert len(server.connections) == before


# Relations


NEAREST = [
    FITS,
    f"next to: {C[:7]}  zlib 1.3 ≠ 1.2 (mpich › zlib) · build dependencies: gmake 4.3 ≠ 4.4",
    "needs: mpich@4.3  zlib@1.3",
    "download: 3 specs, size unknown",
    "used by: vtk@9",
]


async def test_the_nearest_look_alike_of_another_kind_the_needs_and_the_users_are_shown(
    hdf5s: Browser,
) -> None:
    await select(hdf5s, B)
    assert relations(hdf5s) == NEAREST
    await select(hdf5s, OTHER)
    assert relations(hdf5s) == ALONE
    await select(hdf5s, C)
    assert relations(hdf5s)[1].startswith(f"next to: {B[:7]}"), "the most used of its kind"


async def test_what_takes_long_has_a_placeholder_where_it_will_stand(
    hdf5s: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    await hdf5s.press("end", current_hash=OTHER)
    is_needed, is_near = threading.Event(), threading.Event()
    for function, event in ((read_needs, is_needed), (nearest_look_alike, is_near)):
        monkeypatch.setattr(read_details, function.__name__, late(function, event))
    hdf5s.send("k")
    pending = ["runs here: …", "next to: …", "needs: …", "download: …", "used by: …"]
    await hdf5s.until(lambda: relations(hdf5s) == pending)
    is_needed.set()
    await hdf5s.until(lambda: relations(hdf5s)[:2] == [FITS, pending[1]])
    read = relations(hdf5s)[2:]
    is_near.set()
    await hdf5s.settle()
    assert relations(hdf5s)[0] == FITS
    assert pending[1] not in relations(hdf5s)
    assert relations(hdf5s)[2:] == read
    assert len(read) == 3


async def test_one_marked_spec_is_what_others_are_compared_with(hdf5s: Browser) -> None:
    await select(hdf5s, A, "space")
    await select(hdf5s, OTHER)
    assert relations(hdf5s)[1].startswith(f"next to: {A[:7]}  hdf5 1.12 ≠ 1.14")
    await select(hdf5s, B)
    beside = f"next to: {A[:7]}  runs the same · build dependencies: gmake 4.3 ≠ 4.4"
    assert relations(hdf5s)[1] == beside
    async with hdf5s.holding("detail"):
        hdf5s.send("U", "3")
        await hdf5s.until(lambda: hdf5s.focus == "detail", "no key waits for it")
        assert not hdf5s.state.marks
        assert relations(hdf5s)[1] == beside, "it stays until the other one is read"
    assert relations(hdf5s)[1].startswith(f"next to: {C[:7]}")


async def test_records_of_one_hash_in_two_sources_have_their_own_lines(
    look_alikes: Path, tmp_path: Path
) -> None:
    pages = tmp_path / "pages"
    write_page(pages / "hdf5" / "specs.md", [{**record(0), "hash": B}], title="hdf5", tag="v1")
    async with browsing(look_alikes, pages, query=f"/{B}", environ=HOST) as browser:
        seen = []
        for key in ("home", "j", "k"):
            await browser.press(key)
            seen.append("needs: mpich@4.3  zlib@1.3" in relations(browser))
    assert sorted(seen[:2]) == [False, True]
    assert seen[2] == seen[0]


async def test_pages_do_not_tell_relations(tmp_path: Path) -> None:
    write_page(tmp_path / "zlib" / "specs.md", [record(1), record(2)], title="zlib")
    async with browsing(tmp_path, environ=HOST) as browser:
        assert not relations(browser)
        await browser.press("z")
        (difference,) = relations(browser)
        assert difference.endswith("  Dependencies are not listed, so not compared")
        other = record(1, target="power9le")
        write_page(tmp_path / "zlib" / "specs.md", [other], title="zlib")
        await browser.press("r")
        assert relations(browser)[0].startswith("runs here: ✗"), "what is known is said"


async def test_the_values_of_the_last_spec_are_dimmed_while_another_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_let_go = threading.Event()
    path = write_index(tmp_path, leaf(A, "xz", "5"), leaf(B, "zlib", "1"), leaf(C, "zlib", "2"))
    async with browsing(path, size=(110, 30)) as browser:

        def dims() -> list[bool]:
            its = [segment for segment in browser.segments if segment.text.strip() == "xz@5"]
            return [bool(segment.style and segment.style.dim) for segment in its]

        await browser.press("2")
        assert dims() == [False]
        read_late = late(read_details.read_details, is_let_go)
        monkeypatch.setattr(read_details, "read_details", read_late)
        await browser.press("slash", *"zlib", until=lambda: dims() == [True])
        is_let_go.set()
        await browser.until(lambda: dims() == [])
