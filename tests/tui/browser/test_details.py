"""The detail of the selected spec, and how that relates to others, without an app."""

import threading
from pathlib import Path
from typing import Any

import pytest

from spackscope.model.report.detail import BUILDS, blocks_of
from spackscope.tui import keymap
from spackscope.tui.browser import jobs, read_details
from spackscope.tui.browser.copy import copy_hash
from tests.browsing import SAMPLE, browsing
from tests.builders.manifests import ARCHIVE_TYPE, entry, manifest
from tests.builders.mirrors import mirror_v3, serve_files, signed_v3, write_files
from tests.builders.nodes import ZLIB, leaf
from tests.builders.pages import record, write_page
from tests.builders.spack import PROJECT_SUBKEY, write_index, zlib_index
from tests.program import PATIENCE
from tests.tui.browser.fake_host import FakeBrowser
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
def browser() -> FakeBrowser:
    return FakeBrowser(is_folded=False).load()


@pytest.fixture
def hdf5s(look_alikes: Path) -> FakeBrowser:
    return FakeBrowser(look_alikes, query="hdf5", environ=HOST, is_folded=False).load()


def texts(browser: FakeBrowser) -> list[str]:
    return [line.text for line in browser.details.lines]


def relations(browser: FakeBrowser) -> list[str]:
    blocks: list[str] = []
    for first, *others in blocks_of(browser.details.related.lines):
        leads = (each.lead if each.lead.startswith(" ") else f"  {each.lead}" for each in others)
        rest = "".join(lead + each.text for lead, each in zip(leads, others, strict=True))
        blocks.append(f"{first.label}: {first.text}{first.suffix}{rest}")
    return blocks


def select(browser: FakeBrowser, hash_: str, *, settled: bool = True) -> None:
    browser.move_to([row.spec.hash for row in browser.rows].index(hash_))
    if settled:
        browser.settle()


# Lines


def test_the_detail_shows_the_row_under_the_cursor(browser: FakeBrowser) -> None:
    browser.select("py-ml-dtypes")
    for number in range(3):
        spec = browser.go_to(number).spec
        (raw,) = (r for r in SAMPLE if r["hash"] == spec.hash)
        assert texts(browser)[:2] == [f"py-ml-dtypes@{spec.version}", spec.hash]
        for value in (raw["os"], raw["target"], *raw["stacks"], *raw["variants"]):
            assert any(value in text for text in texts(browser))


def test_the_lines_of_the_last_spec_stay_until_those_of_the_next_are_read(
    browser: FakeBrowser,
) -> None:
    before = browser.details
    browser.move_to(1)
    assert browser.details.is_pending, "and a pending one leaves the lines on the screen"
    assert browser.details.row != before.row, "what is copied is the row under the cursor"
    browser.go_to(2)
    assert not browser.details.is_pending
    assert texts(browser)[1] == browser.details.row.spec.hash

    browser.go_to(0)
    browser.type("os=")
    lines = browser.details.lines
    browser.type_text("os=ubuntu")
    browser.host.work("view")
    browser.move_to(0)
    assert not browser.host.is_running(jobs.DETAIL), "the same spec is not read again"
    assert browser.details.lines is lines
    browser.enter("zzz")
    assert browser.state.details is None, "without rows there is no detail"


def test_a_step_back_to_a_row_that_was_left_at_once_shows_its_own_tree(hdf5_index: Path) -> None:
    browser = FakeBrowser(hdf5_index, is_folded=False).load()
    browser.move_to(1)
    browser.select("zlib")
    browser.retrace(-1, detail="hdf5@1.0")
    assert browser.tree.id == browser.details.row.id


def test_a_folded_row_of_several_kinds_shows_one_build_and_how_the_others_differ(
    hdf5s: FakeBrowser,
) -> None:
    browser = hdf5s
    browser.search.fold()
    browser.enter("hdf5@1.14")
    details = browser.details
    assert details.row.count == 4
    hash_ = details.row.spec.hash
    lines = [line.text + line.suffix for line in details.lines[:4]]
    assert lines == [
        *("hdf5@1.14", hash_, "4 builds look the same, but run in 2 ways"),
        f"spack install --cache-only /{hash_}",
    ]
    own = ["differ in: zlib", "needs: mpich@4.3  zlib@1.3"]
    assert relations(browser)[:3] == [FITS, *own]
    assert browser.tree.members == tuple(sorted(browser.tree.members))
    assert len(browser.tree.members) == 4

    tree = browser.tree.read_unfolded(0)
    mpich = tree.lines[[line.builds for line in tree.lines].index(2)]
    browser.put(pane="detail", node=mpich)
    copy_hash(browser.controllers)
    browser.settle(copied=[], message="2 builds look the same here: press ⏎ to choose one")
    browser.put(pane="specs", node=None)
    browser.do(browser.controllers.specs.toggle, details.row)
    hash_ = browser.go_to(1).spec.hash
    lines = [
        line.text for line in browser.details.lines if line.style == "hash" or line.label == BUILDS
    ]
    assert lines == [hash_, "3 builds look the same: only build dependencies differ"]


def test_variants_are_told_apart_within_the_package_only(tmp_path: Path) -> None:
    records = [record(1, variants=["+shared", "~mpi"]), record(2, variants=["+shared", "+mpi"])]
    write_page(tmp_path / "zlib" / "specs.md", records, title="zlib")
    other = [record(3, variants=["~shared", "+hl"])]
    write_page(tmp_path / "hdf5" / "specs.md", other, title="hdf5")
    browser = FakeBrowser(tmp_path).load()
    kinds = set()
    for number in range(3):
        browser.go_to(number)
        lines = browser.details.lines
        kinds |= {(line.text, line.style) for line in lines if line.text[:1] in "+~"}
    same = {(text, "same") for text in ("+shared", "~shared", "+hl")}
    assert kinds == same | {("+mpi", "differs"), ("~mpi", "differs")}


def test_the_size_of_what_is_looked_at_is_asked_of_its_mirror_once(tmp_path: Path) -> None:
    files = mirror_v3(zlib_index()) | {
        MANIFEST: manifest(entry(ARCHIVE_TYPE, b"", contentLength=5_000_000))
    }
    with serve_files(files) as server:
        browser = FakeBrowser(server.url, environ={"XDG_CACHE_HOME": str(tmp_path)}).load()
        for package in ("zlib", None, "zlib"):
            browser.select(package)
        assert "5.0 MB" in texts(browser)
        assert server.paths().count(f"/{MANIFEST}") == 1


def test_who_signed_what_is_looked_at_is_asked_of_its_mirror(tmp_path: Path) -> None:
    browser = FakeBrowser(str(write_files(tmp_path / "m", signed_v3()))).load()
    browser.select("ncurses")
    signed = f"by key {PROJECT_SUBKEY}"
    lines = browser.details.lines
    assert ("signed", signed) in [(line.label, line.text) for line in lines]
    at = [line.label for line in lines].index("archive")
    missing, file = lines[at : at + 2]
    assert (missing.text, missing.style) == ("listed, but the archive is missing", "error")
    write_files(tmp_path / "m", {file.text.partition("/m/")[2]: bytes(10_323)})
    browser.load()
    assert signed in texts(browser)
    assert missing.text not in texts(browser)


def test_the_questions_about_rows_share_a_connection(tmp_path: Path) -> None:
    with serve_files(signed_v3()) as server:
        browser = FakeBrowser(server.url, environ={"XDG_CACHE_HOME": str(tmp_path)}).load()
        for package in ("bzip2", "ncurses"):
            browser.select(package)
            assert "signed" in [line.label for line in browser.details.lines]
        assert len(server.connections) == 2, "one of the index, and one of both specs"


# Relations


def seen_relations(browser: FakeBrowser, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Return a list that gets the relations whenever they are shown."""
    change, seen = browser.host.change, list[list[str]]()

    def see(**fields: Any) -> None:
        change(**fields)
        if not browser.details.is_pending:
            seen.append(relations(browser))

    monkeypatch.setattr(browser.host, "change", see)
    return seen


NEAREST = [
    FITS,
    f"next to: {C[:7]}  zlib 1.3 ≠ 1.2 (mpich › zlib) · build dependencies: gmake 4.3 ≠ 4.4",
    "needs: mpich@4.3  zlib@1.3",
    "download: 3 specs, size unknown",
    "used by: vtk@9",
]


def test_the_nearest_look_alike_of_another_kind_the_needs_and_the_users_are_shown(
    hdf5s: FakeBrowser,
) -> None:
    browser = hdf5s
    select(browser, B)
    assert relations(browser) == NEAREST
    select(browser, OTHER)
    assert relations(browser) == ALONE
    select(browser, C)
    assert relations(browser)[1].startswith(f"next to: {B[:7]}"), "the most used of its kind"


def test_what_takes_long_has_a_placeholder_where_it_will_stand(
    hdf5s: FakeBrowser, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser, seen = hdf5s, seen_relations(hdf5s, monkeypatch)
    select(browser, B, settled=False)
    browser.host.work("detail")
    assert seen == [NEAREST], "what is read at once is shown at once"

    seen.clear()
    select(browser, C, settled=False)
    browser.host.work("patience")
    assert not seen, "the last lines stay until something is read"
    browser.host.work("detail")
    pending = ["runs here: …", "next to: …", "needs: …", "download: …", "used by: …"]
    assert [FITS, pending[1]] == seen[1][:2]
    assert seen[0] == pending
    assert seen[1][2:] == seen[2][2:]
    assert [len(lines) for lines in seen] == 3 * [len(pending)]


def test_keys_wait_for_another_detail_but_not_for_what_a_mark_changes(
    hdf5s: FakeBrowser,
) -> None:
    browser, host, needs = hdf5s, hdf5s.host, {keymap.LINES, keymap.DETAIL}
    select(browser, A)
    browser.controllers.specs.mark(browser.row)
    select(browser, B, settled=False)
    assert host.blocked >= needs
    browser.controllers.specs.clear()
    assert host.blocked >= needs, "nothing of it is shown yet"
    browser.settle()
    browser.controllers.specs.mark(browser.row)
    select(browser, C)
    browser.controllers.specs.clear()
    assert host.is_running(jobs.DETAIL)
    assert host.blocked.isdisjoint(needs)
    browser.settle()
    browser.controllers.details.show(browser.row, browser.tree, (2, 1))
    assert host.blocked >= needs, "the place of a step back is still to be shown"


def test_keys_wait_for_the_tree_once_dependencies_are_read(look_alikes: Path) -> None:
    browser = FakeBrowser(look_alikes, query="hdf5", environ=HOST)
    browser.controllers.loading.load()
    browser.host.work("load", "view")
    browser.move_to(0)
    browser.controllers.details.connect()
    browser.host.work("detail")
    assert browser.details.tree is None
    browser.host.work("edges")
    assert browser.host.blocked >= {keymap.LINES, keymap.DETAIL}
    browser.settle()
    assert browser.tree.id == browser.details.row.id


def test_one_marked_spec_is_what_others_are_compared_with(
    hdf5s: FakeBrowser, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = hdf5s
    select(browser, A)
    browser.controllers.specs.mark(browser.row)
    select(browser, OTHER)
    assert relations(browser)[1].startswith(f"next to: {A[:7]}  hdf5 1.12 ≠ 1.14")
    select(browser, B)
    beside = f"next to: {A[:7]}  runs the same · build dependencies: gmake 4.3 ≠ 4.4"
    assert relations(browser)[1] == beside
    seen = seen_relations(browser, monkeypatch)
    browser.do(browser.controllers.specs.clear)
    (*before, (_, after, *_)) = (lines for lines in seen if lines[1] != beside)
    assert not before, "it stays until the other one is read"
    assert after.startswith(f"next to: {C[:7]}")


def test_records_of_one_hash_in_two_sources_have_their_own_lines(
    look_alikes: Path, tmp_path: Path
) -> None:
    pages = tmp_path / "pages"
    write_page(pages / "hdf5" / "specs.md", [{**record(0), "hash": B}], title="hdf5", tag="v1")
    browser = FakeBrowser(look_alikes, pages, query=f"/{B}", environ=HOST).load()
    seen = []
    for number in (0, 1, 0):
        browser.go_to(number)
        seen.append("needs: mpich@4.3  zlib@1.3" in relations(browser))
    assert sorted(seen[:2]) == [False, True]
    assert seen[2] == seen[0]


def test_pages_do_not_tell_relations(tmp_path: Path) -> None:
    write_page(tmp_path / "zlib" / "specs.md", [record(1), record(2)], title="zlib")
    (difference,) = relations(FakeBrowser(tmp_path, environ=HOST, is_folded=False).load())
    assert difference.endswith("  Dependencies are not listed, so not compared")
    assert not relations(FakeBrowser(tmp_path, environ=HOST).load())
    other = record(1, target="power9le")
    write_page(tmp_path / "zlib" / "specs.md", [other], title="zlib")
    verdict = relations(FakeBrowser(tmp_path, environ=HOST).load())[0]
    assert verdict.startswith("runs here: ✗"), "what is known is said"


async def test_the_values_of_another_package_are_dimmed_while_a_query_settles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_let_go, read = threading.Event(), read_details.read_details

    def wait_and_read(*arguments: Any, **options: Any) -> object:
        is_let_go.wait(PATIENCE)
        return read(*arguments, **options)

    # The moment after which all old values are dimmed does not come.
    monkeypatch.setattr(jobs, "DIM", PATIENCE)
    path = write_index(tmp_path, leaf(A, "xz", "5"), leaf(B, "zlib", "1"), leaf(C, "zlib", "2"))
    async with browsing(path, size=(110, 30)) as browser:

        def dims() -> list[bool]:
            its = [segment for segment in browser.segments if segment.text.strip() == "xz@5"]
            return [bool(segment.style and segment.style.dim) for segment in its]

        await browser.press("2")
        assert dims() == [False]
        monkeypatch.setattr(read_details, "read_details", wait_and_read)
        await browser.press("slash", *"zlib", until=lambda: dims() == [True])
        is_let_go.set()
        await browser.until(lambda: dims() == [])
