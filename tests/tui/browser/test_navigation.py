"""Jumps, steps back and forward, and paths, without an app."""

import gc
from pathlib import Path

import pytest

from spackscope.model.core.frozen import replace
from spackscope.model.index.order import Sort
from spackscope.model.index.tree import TreeNode
from spackscope.model.query.ast import Term
from spackscope.model.query.parser import parse
from spackscope.model.report.sheet import Sheet
from spackscope.tui.browser import navigation
from tests.builders.pages import record, write_page
from tests.tui.browser.fake_host import FakeBrowser


@pytest.fixture
def browser(hdf5_index: Path) -> FakeBrowser:
    browser = FakeBrowser(hdf5_index).load()
    select(browser, "hdf5")
    return browser


def select(browser: FakeBrowser, *names: str | None, walks: bool = False) -> None:
    """Select packages in the list, and go to the specs of the last one unless it is a walk."""
    browser.put(pane="packages", input=None)
    for name in names:
        browser.select(name)
    if not walks:
        browser.put(pane="specs")


def unfold(browser: FakeBrowser, name: str = "") -> None:
    """Unfold the dependencies, or one of them, as the pane does."""
    tree = browser.tree
    row = tree.lines.index(line(browser, name)) if name else tree.head("dependencies")
    browser.controllers.details.take_tree(tree.read_unfolded(row))


def line(browser: FakeBrowser, name: str) -> TreeNode:
    """Return the line of the tree with a dependency."""
    return next(n for n in browser.tree.lines if n.spec is not None and n.spec.name == name)


def jump(browser: FakeBrowser, *names: str) -> None:
    for name in names:
        if not browser.tree.unfolded_sections:
            unfold(browser)
        browser.put(pane="detail", position=(3, 1))
        browser.do(browser.navigation.jump_to, line(browser, name))


# Jumps


def test_a_query_in_the_way_is_removed_and_comes_back(browser: FakeBrowser) -> None:
    browser.type_text("package=hdf5 any=hdf5")
    browser.leave()
    query = browser.query
    jump(browser, "zlib")
    assert (browser.detail, browser.query) == ("zlib@1.0", "package=zlib")
    assert "does not match zlib" in browser.message
    browser.retrace(-1, detail="hdf5@1.0", query=query)


def test_among_all_packages_a_jump_stays_among_them(browser: FakeBrowser) -> None:
    select(browser, None)
    browser.go_to(1)
    assert browser.detail == "hdf5@1.0"
    jump(browser, "openmpi")
    assert (browser.selected, browser.detail) == (None, "openmpi@1.0")


def test_what_no_document_holds_and_the_spec_itself_cannot_be_gone_to(
    browser: FakeBrowser,
) -> None:
    jump(browser, "gone")
    assert browser.detail == "hdf5@1.0"
    assert "not in this index" in browser.message
    select(browser, "h5py")
    unfold(browser)
    jump(browser, "hdf5")
    browser.navigation.jump_to(replace(line(browser, "zlib"), id=browser.details.row.id))
    assert browser.message == "This spec is already selected"


# Steps


def test_a_walk_through_the_packages_is_one_step_until_rows_are_looked_at(
    browser: FakeBrowser,
) -> None:
    select(browser, "h5py", "hwloc", walks=True)
    browser.navigation.end_walk()
    select(browser, "openmpi", "zlib", walks=True)
    for by, name in ((-1, "hwloc"), (-1, None), (1, "hwloc"), (1, "zlib")):
        browser.retrace(by, selected=name)


def test_every_settled_view_is_one_step_but_not_every_letter(browser: FakeBrowser) -> None:
    def typing() -> None:
        browser.enter("hdf5 os=ubuntu24.04")

    views = [browser.state.view]
    for change in (
        browser.search.fold,
        browser.search.fold,
        lambda: browser.controllers.specs.sort(Sort("os")),
        lambda: browser.search.add(Term("os", "ubuntu24.04")),
        lambda: browser.search.choose(parse("hdf5"), "chosen"),
        typing,
        browser.search.clear,
        lambda: browser.search.select_package("zlib"),
    ):
        change()
        browser.settle()
        views.append(browser.state.view)
    for view in views[-2::-1]:
        browser.retrace(-1)
        assert browser.state.view == view
    browser.retrace(-1, query="")  # the list of all packages was the beginning
    browser.retrace(-1, message="Nothing to go back to")
    for view in views:
        browser.retrace(1)
        assert browser.state.view == view
    browser.retrace(1, message="Nothing to go forward to")


def test_a_step_after_going_back_replaces_those_that_were_ahead(browser: FakeBrowser) -> None:
    jump(browser, "openmpi", "hwloc")
    browser.retrace(-1)
    browser.retrace(-1, detail="hdf5@1.0")
    jump(browser, "zlib")
    browser.retrace(1, message="Nothing to go forward to", detail="zlib@1.0")


def test_reloading_forgets_the_steps_and_keeps_the_spec(
    browser: FakeBrowser, hdf5_index: Path
) -> None:
    jump(browser, "openmpi")
    hdf5_index.write_bytes(hdf5_index.read_bytes().replace(b'"1.0"', b'"2.0"'))
    browser.load()
    browser.retrace(-1, detail="openmpi@2.0", message="Nothing to go back to")


def test_steps_are_kept_to_a_number(browser: FakeBrowser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(navigation, "MAX_STEPS", 3)
    for column in ("os", "version", "hash"):
        browser.do(browser.controllers.specs.sort, Sort(column))
    for column in ("version", "os", "os"):
        browser.retrace(-1)
        assert browser.state.view.sort == Sort(column)
    assert browser.message == "Nothing to go back to"


@pytest.mark.parametrize("is_kept", [True, False])
def test_trees_of_steps_are_kept_to_a_number_of_lines_a_shared_one_once(
    browser: FakeBrowser, monkeypatch: pytest.MonkeyPatch, is_kept: bool
) -> None:
    unfold(browser)
    unfold(browser, "openmpi")
    lines = len(browser.tree.lines)
    monkeypatch.setattr(navigation, "MAX_LINES", lines if is_kept else lines - 1)
    browser.do(browser.controllers.specs.sort, Sort("os"))
    jump(browser, "hwloc")
    browser.retrace(-1, detail="hdf5@1.0")
    assert (len(browser.tree.lines) == lines) == is_kept


def test_sheets_that_are_too_large_together_are_read_again(
    browser: FakeBrowser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(navigation, "MAX_LINES", 3_000)
    columns = ("os", "target", "version", "compiler", "platform", "package", "namespace")
    for column in columns:
        browser.controllers.sheets.ask("stats", options={"by": (column,)})
        browser.settle()
    gc.collect()
    assert sum(isinstance(each, Sheet) for each in gc.get_objects()) < len(columns)
    for column in reversed(columns[:-1]):
        browser.retrace(-1)
        opened = browser.state.table
        assert opened.options["by"] == (column,)
        assert opened.is_read, opened.text


@pytest.mark.parametrize(
    ("jobs", "detail"), [(("load",), "openmpi@2.0"), (("load", "view"), "hdf5@2.0")]
)
def test_a_jump_goes_on_in_another_catalog_or_is_dropped_with_its_own(
    browser: FakeBrowser, hdf5_index: Path, jobs: tuple[str, ...], detail: str
) -> None:
    unfold(browser)
    browser.navigation.jump_to(line(browser, "openmpi"))
    hdf5_index.write_bytes(hdf5_index.read_bytes().replace(b'"1.0"', b'"2.0"'))
    browser.controllers.loading.load()
    browser.do(browser.host.work, *jobs, detail=detail)


def test_a_message_explains_that_no_dependencies_are_listed(tmp_path: Path) -> None:
    write_page(tmp_path, [record(1)])
    browser = FakeBrowser(tmp_path).load()
    details = browser.controllers.details
    assert browser.details.tree is None
    assert details.missing_tree() == "This source lists no dependencies"
    details.show(None)
    assert details.missing_tree() == "No spec is selected"
