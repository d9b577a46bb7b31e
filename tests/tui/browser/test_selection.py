"""Marks, picking and copying: what they take."""

import json
import re
from pathlib import Path

import pytest
import yaml

from spackscope.model.core.frozen import replace
from spackscope.model.index.tree import GraphSpec, TreeNode
from spackscope.model.query.parser import parse
from spackscope.tui.browser.copy import (
    ALL_MARKS,
    FORMS,
    CopyForm,
    copy_hash,
    open_menu,
    row_out_of_sight,
)
from spackscope.tui.browser.specs import MAX_MARKS
from spackscope.tui.browser.state import LOADING, NO_ROWS, NO_SPEC, STALE
from spackscope.tui.dialogs.dialog import PickDialog
from tests.browsing import SAMPLE, browsing, reading
from tests.builders.pages import record, write_page
from tests.clipboard import Clipboard
from tests.tui.browser.fake_host import FakeBrowser
from tests.tui.browser.hdf5_index import GONE, OPENMPI
from tests.tui.browser.look_alike_index import OTHER, A, B, C, D


@pytest.fixture
def browser() -> FakeBrowser:
    browser = FakeBrowser(is_folded=False).load()
    browser.host.focus("specs")
    return browser


BY_KEY = {form.key: form for form in FORMS}


def hash_at(browser: FakeBrowser, number: int) -> str:
    return browser.go_to(number).spec.hash


def mark(browser: FakeBrowser, number: int) -> str:
    row = browser.go_to(number)
    browser.do(browser.controllers.specs.mark, row)
    return row.spec.hash


def mark_all(browser: FakeBrowser) -> None:
    browser.do(browser.controllers.specs.mark_all)


def ask(browser: FakeBrowser, query: str) -> None:
    """Type a query, and go to its rows."""
    browser.enter(query)
    browser.host.focus("specs")


def copy(browser: FakeBrowser) -> str:
    """Copy as `y` does, and return what was copied; empty if nothing was."""
    browser.copied.clear()
    browser.do(copy_hash, browser.controllers)
    return "".join(browser.copied)


def choose(browser: FakeBrowser, form: CopyForm) -> str:
    """Choose a form in the menu, and return what was copied."""
    browser.do(open_menu, browser.controllers)
    dialog, done = browser.host.dialogs[-1]
    assert isinstance(dialog, PickDialog)
    done(form)
    browser.settle()
    return browser.copied[-1]


# Copying


def test_the_selected_spec_or_all_marks_in_their_order_are_copied(browser: FakeBrowser) -> None:
    hash_ = hash_at(browser, 2)
    assert copy(browser) == hash_
    assert browser.message == f"Copied {hash_[:7]}… (test)"
    hashes = [mark(browser, 2), mark(browser, 0)]
    assert copy(browser).splitlines() == hashes
    assert browser.message == "Copied 2 marked hashes (test)"
    assert choose(browser, BY_KEY["slash"]) == " ".join(f"/{hash_}" for hash_ in hashes)
    here = hash_at(browser, 3)
    browser.host.focus("detail")
    assert copy(browser) == here, "the detail copies its own spec, whatever is marked"
    assert browser.message == f"Copied {here[:7]}… (test)"


def test_marks_out_of_sight_are_copied_only_when_asked_for(browser: FakeBrowser) -> None:
    marked = [mark(browser, 0), mark(browser, 5)]
    ask(browser, "os=sequoia")
    here = [hash_at(browser, 0), mark(browser, 1)]
    assert copy(browser) == here[1]
    out_of_sight = "2 marked are out of sight (Y copies all)"
    misfit = "does not run on zen3"
    assert browser.message == f"Copied marked {here[1][:7]}… · {misfit} (test) · {out_of_sight}"
    mark(browser, 1)
    hash_at(browser, 0)
    assert copy(browser) == here[0], "without a mark in sight it is the row under the cursor"
    assert browser.message == f"Copied {here[0][:7]}… · {misfit} (test) · {out_of_sight}"
    assert choose(browser, ALL_MARKS).splitlines() == marked
    assert browser.message == "Copied all 2 marked hashes (test)"
    mark(browser, 0)
    mark(browser, 1)
    assert set(copy(browser).split()) == {*here}
    assert browser.message.startswith("Copied 2 marked hashes · 2 do not run on zen3 (test)")


def test_a_line_of_the_tree_copies_its_own_hash(hdf5_index: Path) -> None:
    browser = FakeBrowser(hdf5_index, query="hdf5").load()
    browser.host.focus("detail")
    for spec in (GraphSpec("openmpi", "1", OPENMPI), GraphSpec("gone", "", GONE, "absent")):
        with reading():
            ids = [row.id for row in browser.catalog.by_hash(spec.hash)]
        browser.put(node=TreeNode(ids[0] if ids else 99, "dependencies", 0, 1, None, spec))
        assert copy(browser) == spec.hash
        assert browser.message == f"Copied {spec.hash[:7]}… (test)"


def test_a_row_that_is_not_on_the_screen_is_not_copied(browser: FakeBrowser) -> None:
    hash_at(browser, 2)
    here = browser.host.where
    for fields, message in (
        ({"is_waiting": True}, LOADING),
        ({"row": None}, NO_SPEC),
        ({"is_row_seen": False}, row_out_of_sight()),
    ):
        browser.host.place = replace(here, **fields)
        assert (copy(browser), browser.message) == ("", message)


def test_nothing_is_copied_or_marked_without_rows_of_the_query(browser: FakeBrowser) -> None:
    fresh = FakeBrowser()
    assert (copy(fresh), fresh.message) == ("", LOADING)
    browser.type("os=sequ oia")
    assert browser.shown, "the last rows stay while no row matches"
    mark_all(browser)
    assert (browser.state.marks, browser.message) == ((), STALE)
    browser.host.focus("specs")
    assert (copy(browser), browser.message) == ("", STALE)
    ask(browser, "zzz")
    assert (copy(browser), browser.message) == ("", NO_ROWS)
    browser.do(open_menu, browser.controllers, message=NO_ROWS)
    assert browser.host.dialogs == []


def test_each_form_is_copied(browser: FakeBrowser) -> None:
    hash_ = hash_at(browser, 0)
    (raw,) = (r for r in SAMPLE if r["hash"] == hash_)
    texts = {form.key: choose(browser, form) for form in FORMS}
    assert not any(text.endswith("\n") for text in texts.values())
    assert texts.pop("y") == hash_
    assert texts.pop("slash") == f"/{hash_}"
    assert texts.pop("i") == f"spack install --cache-only /{hash_}"
    assert texts.pop("o") == f"https://cache.spack.io/?package=py-build&hash={hash_}"
    built = f"{raw['versions'][0]}~virtualenv build_system="
    spec = texts.pop("s")
    assert spec.startswith(f"py-build@{built}")
    assert f"os={raw['os']} target=" in spec
    (required,) = yaml.safe_load(texts.pop("r"))["packages"]["py-build"]["require"]
    assert required.startswith(f"@={built.replace('~', ' ~', 1)}")
    copied = json.loads(texts.pop("J"))
    assert copied["hash"] == hash_
    assert set(copied["variants"]) == set(raw["variants"])


def test_equal_lines_are_copied_once(browser: FakeBrowser) -> None:
    for number in range(3):
        mark(browser, number)
    assert len(choose(browser, BY_KEY["slash"]).split()) == 3
    assert len(choose(browser, BY_KEY["s"]).splitlines()) == 1


def test_every_form_has_a_letter_of_its_own() -> None:
    keys = [form.key for form in FORMS]
    assert len(set(keys)) == len(keys)
    assert not {"escape", "q", "enter", "up", "down"} & set(keys)


# Picking


@pytest.mark.parametrize("is_marked", [False, True])
def test_picking_ends_with_the_row_or_all_marks(is_marked: bool, tmp_path: Path) -> None:
    environ = {"XDG_STATE_HOME": str(tmp_path)}
    browser = FakeBrowser(is_pick=True, environ=environ, is_folded=False).load()
    marked = [mark(browser, 0)] if is_marked else []
    ask(browser, "os=sequoia")
    if is_marked:
        marked.append(mark(browser, 0))
        browser.controllers.specs.pick(browser.row)
        assert browser.host.ended is None
        assert browser.message == (
            "1 of 2 marked specs are out of sight: ⏎ again picks all, U clears the marks"
        )
    hash_ = hash_at(browser, 2)
    browser.do(browser.controllers.specs.pick, browser.row)
    assert browser.host.ended == (marked or [hash_], 0)
    assert (tmp_path / "spackscope" / "history").read_text() == "os=sequoia\n"


def test_a_row_is_picked_while_the_same_query_is_asked_of_a_newer_catalog(
    tmp_path: Path,
) -> None:
    environ = {"XDG_STATE_HOME": str(tmp_path)}
    browser = FakeBrowser(is_pick=True, environ=environ, is_folded=False).load()
    hash_, row, view = hash_at(browser, 2), browser.row, browser.host.state.view
    browser.host.change(view=replace(view, query=parse("os=sequoia")))
    browser.controllers.specs.pick(row)
    browser.settle(message=LOADING)  # the row is not one of this query
    assert browser.host.ended is None
    browser.host.change(view=replace(view))
    assert not browser.host.state.is_shown
    browser.do(browser.controllers.specs.pick, row)
    assert browser.host.ended == ([hash_], 0)


# Marking


def test_marks_go_by_the_hash_and_outlast_queries(browser: FakeBrowser) -> None:
    first, second = mark(browser, 0), mark(browser, 5)
    ask(browser, "os=windows")
    assert list(browser.state.marks) == [first, second]
    browser.do(browser.search.clear)
    assert mark(browser, 0) == first
    assert list(browser.state.marks) == [second]
    browser.controllers.specs.clear()
    assert not browser.state.marks


def test_all_shown_specs_are_marked_and_unmarked(browser: FakeBrowser) -> None:
    other = mark(browser, 0)
    ask(browser, "os=sequoia")
    shown = browser.shown
    mark_all(browser)
    assert set(browser.state.marks) == shown | {other}
    assert browser.message == f"Marked {len(shown)} shown specs"
    mark_all(browser)
    assert browser.state.marks == (other,), "marks out of sight stay"
    assert browser.message == f"Unmarked {len(shown)} shown specs"


def test_more_specs_than_can_be_marked_are_refused(tmp_path: Path) -> None:
    write_page(tmp_path, [record(number=number) for number in range(MAX_MARKS + 1)])
    browser = FakeBrowser(tmp_path).load()
    mark_all(browser)
    assert not browser.state.marks
    assert browser.message.startswith(f"At most {MAX_MARKS} specs can be marked")


async def test_marks_are_the_hashes_that_rows_show(
    look_alikes: Path, clipboard: Clipboard
) -> None:
    async with browsing(look_alikes, query="hdf5", environ=clipboard.environ) as browser:

        def marked(*hashes: str) -> bool:
            return set(browser.state.marks) == set(hashes)

        await browser.press("home", "space")
        assert browser.status.startswith(f"Marked {B[:7]}… · most used of 4 builds, 2 ways to run")
        assert marked(B)
        await browser.press("home", "space", "home", "enter", "j")
        assert marked()
        shown = browser.current_hash
        assert browser.current.count == 3
        await browser.press("space")
        assert marked(shown)
        assert browser.status.endswith(", any of 3 that run the same; opened, A marks all")
        await browser.press("k", "space")
        assert marked()
        await browser.press("k", "space", "j", "space", "Y", "i")
        assert marked(shown, OTHER)
        hashes = " ".join(f"/{mark}" for mark in browser.state.marks)
        assert clipboard.text == f"spack install --cache-only {hashes}"

        await browser.press("U", "home", "A", status="Marked 4 builds of the opened row")
        assert marked(A, B, C, D)
        await browser.press("A", "j", "enter", "j", "A")
        assert browser.status == "Marked 3 builds of the opened row"
        assert marked(A, B, D)
        await browser.press("end", "A")
        assert marked(A, B, C, D, OTHER)


async def test_rows_are_marked_at_speed(look_alikes: Path, clipboard: Clipboard) -> None:
    async with browsing(look_alikes, query="hdf5", environ=clipboard.environ) as browser:
        await browser.type_ahead("space", "space", "space", "space", "y")
        assert browser.state.marks == (B, OTHER)
        assert sorted(clipboard.text.split()) == sorted(browser.state.marks)


@pytest.mark.parametrize("keys", [("2",), ("3",), ("2", "z", "space")])
async def test_nothing_is_copied_where_no_row_is_drawn(
    keys: tuple[str, ...], clipboard: Clipboard
) -> None:
    async with browsing(size=(1, 1), environ=clipboard.environ) as browser:
        await browser.press(*keys, "y")
        assert clipboard.take() is None
        assert browser.status.startswith("The row under the cursor was out of sight")


async def test_where_dependencies_are_not_listed_a_row_stands_for_the_hash_that_it_shows(
    clipboard: Clipboard,
) -> None:
    async with browsing(size=(120, 30), environ=clipboard.environ) as browser:
        await browser.press("2")
        row = browser.current
        assert row.count > 1
        assert row.spec.hash[:7] in browser.text
        about = f"one of {row.count} that look the same (dependencies are not listed)"
        await browser.press("y", says=about)
        assert clipboard.take() == row.spec.hash
        await browser.press("space", says=about)
        assert browser.state.marks == (row.spec.hash,)


async def test_the_line_of_marks_names_the_keys_that_mean_the_marks(clipboard: Clipboard) -> None:
    async with browsing(size=(120, 30), environ=clipboard.environ, folded=False) as browser:

        def shown(*words: str) -> bool:
            line = browser.lines[browser.browser.panes.marks.region.y]
            offered = re.findall(r"[dyU] (diff|copy|clear)", line)
            return offered == [*words]

        await browser.open_package("py-build", "space", "space")
        assert shown("diff", "copy", "clear")
        await browser.press("slash")
        assert shown(), "letters are typed"
        await browser.press("escape")
        await browser.ask("py-safetensors", "enter")
        assert shown("diff", "clear"), "y copies the row"
        await browser.press("y")
        assert clipboard.take() == browser.current_hash
        await browser.press("d")
        assert shown("copy", "clear"), "they are compared already"


async def test_one_mark_is_not_compared_by_a_key_that_compares_look_alikes() -> None:
    async with browsing(size=(120, 30)) as browser:
        await browser.press("2")
        assert browser.current.count > 1
        await browser.press("space")
        line = browser.browser.panes.marks.region.y
        assert browser.current.count > 1
        assert "d diff" not in browser.lines[line]
        at = next(n for n, row in enumerate(browser.rows) if row.count == 1)
        await browser.press("g", *["j"] * at)
        assert "d diff" in browser.lines[line]
