"""Jumps, steps back and forward, and paths, without an app."""

from __future__ import annotations

from pathlib import Path

import pytest

from spackscope.model.core.frozen import replace
from spackscope.model.index.tree import Node as TreeNode
from spackscope.model.index.tree import read_unfolded
from spackscope.model.index.view import Sort
from spackscope.model.query.ast import Term
from spackscope.model.query.parser import parse
from spackscope.tui.browser import navigation
from spackscope.tui.dialogs.dependency_path import DependencyPathDialog, PathStep
from tests.builders import database, edge, hash_of, installs, record, write_page
from tests.tui.browser.fake_host import FakeBrowser
from tests.tui.browser.hdf5_index import HDF5, HWLOC, OTHER, spec, write_hdf5_index


@pytest.fixture
def index(tmp_path: Path) -> Path:
    path = tmp_path / "index.json"
    write_hdf5_index(path)
    return path


@pytest.fixture
def browser(index: Path) -> FakeBrowser:
    browser = FakeBrowser(index).load()
    select(browser, "hdf5")
    return browser


def select(browser: FakeBrowser, name: str | None) -> None:
    """Select a package in the list, and go to its specs."""
    browser.host.where = replace(browser.host.where, pane="packages", input=None)
    browser.search.select_package(name)
    browser.settle()
    browser.host.where = replace(browser.host.where, pane="specs")


def unfold(browser: FakeBrowser, name: str = "") -> None:
    """Unfold the dependencies, or one of them, as the pane does."""
    state = browser.state
    assert state.details is not None
    assert state.details.tree is not None
    assert state.catalog is not None
    tree = state.details.tree
    row = (
        next(n for n, line in enumerate(tree.lines) if (line.spec and line.spec.name) == name)
        if name
        else tree.head("dependencies")
    )
    browser.controllers.details.take_tree(read_unfolded(state.catalog, tree, row))


def line(browser: FakeBrowser, name: str) -> TreeNode:
    """Return the line of the tree with a dependency."""
    details = browser.state.details
    assert details is not None
    assert details.tree is not None
    return next(n for n in details.tree.lines if n.spec is not None and n.spec.name == name)


def jump(browser: FakeBrowser, name: str) -> None:
    details = browser.state.details
    assert details is not None
    assert details.tree is not None
    if not details.tree.unfolded_sections:
        unfold(browser)
    browser.host.where = replace(browser.host.where, pane="detail", position=(3, 1))
    browser.navigation.jump_to(line(browser, name))
    browser.settle()


def retrace(browser: FakeBrowser, by: int) -> None:
    browser.navigation.retrace(by)
    browser.settle()


# Jumps


def test_a_jump_selects_its_spec_and_back_brings_all_back(browser: FakeBrowser) -> None:
    browser.type("ubuntu", "os")
    browser.leave()
    unfold(browser)
    unfold(browser, "openmpi")
    before = browser.state
    jump(browser, "hwloc")

    assert (browser.detail, browser.selected) == ("hwloc@1.0", "hwloc")
    assert browser.host.where.row is not None
    assert browser.host.where.row.spec.hash == HWLOC
    assert browser.query == "package=hwloc os=*ubuntu*", "the query matches, so it stays"
    assert browser.host.where.pane == "detail"
    assert browser.state.can_go_back
    retrace(browser, -1)
    assert browser.state.view == before.view
    assert (browser.detail, browser.selected) == ("hdf5@1.0", "hdf5")
    assert browser.state.details is not None
    assert before.details is not None
    assert browser.state.details.tree == before.details.tree
    assert browser.state.details.at == (3, 1), "the cursor of the detail is back"
    retrace(browser, 1)
    assert browser.detail == "hwloc@1.0"


def test_a_query_in_the_way_is_removed_and_comes_back(browser: FakeBrowser) -> None:
    browser.type_text("package=hdf5 any=hdf5")
    browser.leave()
    query = browser.query
    jump(browser, "zlib")
    assert (browser.detail, browser.query) == ("zlib@1.0", "package=zlib")
    assert "does not match zlib" in browser.host.message
    retrace(browser, -1)
    assert (browser.detail, browser.query) == ("hdf5@1.0", query)


def test_among_all_packages_a_jump_stays_among_them(browser: FakeBrowser) -> None:
    select(browser, None)
    browser.move_to(1)
    browser.settle()
    assert browser.detail == "hdf5@1.0"
    jump(browser, "openmpi")
    assert browser.selected is None
    assert browser.detail == "openmpi@1.0"


def test_a_jump_finds_its_spec_among_folded_look_alikes(tmp_path: Path) -> None:
    twins = [hash_of(number) for number in range(20, 25)]
    records = installs(
        spec(HDF5, "hdf5", edge("zlib", twins[3], ["link"])),
        *(spec(hash_, "zlib") for hash_ in twins),
    )
    path = tmp_path / "index.json"
    path.write_bytes(database(records))
    browser = FakeBrowser(path).load()
    select(browser, "hdf5")
    browser.search.fold()
    browser.settle()
    jump(browser, "zlib")
    row = browser.host.where.row
    assert row is not None
    assert (row.spec.hash, row.count) == (twins[3], 1)


def test_what_has_no_row_is_shown_in_the_detail_alone(browser: FakeBrowser) -> None:
    jump(browser, "gcc")
    assert browser.detail == "gcc@1.0"
    assert browser.host.where.row is not None
    assert browser.host.where.row.spec.hash == HDF5
    assert "no row in the table" in browser.host.message
    retrace(browser, -1)
    assert browser.detail == "hdf5@1.0"
    retrace(browser, 1)
    assert browser.detail == "gcc@1.0"


def test_what_no_document_holds_and_the_spec_itself_cannot_be_gone_to(
    browser: FakeBrowser,
) -> None:
    jump(browser, "gone")
    assert browser.detail == "hdf5@1.0"
    assert "not in this index" in browser.host.message
    select(browser, "h5py")
    unfold(browser)
    jump(browser, "hdf5")
    browser.navigation.jump_to(replace(line(browser, "zlib"), id=line_id(browser)))
    assert browser.host.message == "this spec is the selected one"


def line_id(browser: FakeBrowser) -> int:
    assert browser.state.details is not None
    return browser.state.details.row.id


# Steps


def test_every_settled_view_is_a_step_but_not_every_letter(browser: FakeBrowser) -> None:
    browser.type("os=ubuntu24.04 package=hdf5")
    browser.leave()
    browser.search.sort(Sort("os"))
    browser.settle()
    browser.search.fold()
    browser.settle()
    views = []
    for _ in range(4):
        views.append((browser.query, browser.state.view.sort, browser.state.view.folded))
        retrace(browser, -1)
    assert views == [
        ("package=hdf5 os=ubuntu24.04", Sort("os"), False),
        ("package=hdf5 os=ubuntu24.04", Sort("os"), True),
        ("package=hdf5 os=ubuntu24.04", None, True),
        ("package=hdf5", None, True),
    ]
    assert browser.query == "", "the list of all packages was the beginning"
    retrace(browser, -1)
    assert browser.host.message == "Nothing to go back to"
    for _ in range(4):
        retrace(browser, 1)
    assert not browser.state.view.folded
    retrace(browser, 1)
    assert browser.host.message == "Nothing to go forward to"


def test_a_walk_through_the_packages_is_one_step(browser: FakeBrowser) -> None:
    select(browser, None)
    browser.host.where = replace(browser.host.where, pane="packages")
    for name in ("h5py", "hdf5", "hwloc", "openmpi"):
        browser.search.select_package(name)
        browser.settle()
    retrace(browser, -1)
    assert browser.selected in (None, "hdf5")
    retrace(browser, 1)
    assert browser.selected == "openmpi"


def test_a_walk_after_a_look_at_the_rows_is_another_step(browser: FakeBrowser) -> None:
    def walk(*names: str) -> None:
        browser.host.where = replace(browser.host.where, pane="packages")
        for name in names:
            browser.search.select_package(name)
            browser.settle()

    walk("h5py", "hwloc")
    browser.navigation.end_walk()
    walk("openmpi", "zlib")
    retrace(browser, -1)
    assert browser.selected == "hwloc"
    retrace(browser, 1)
    assert browser.selected == "zlib"


def test_every_change_of_the_view_is_one_step(browser: FakeBrowser) -> None:
    def typing() -> None:
        browser.type("hdf5 os=ubuntu24.04")
        browser.leave()

    changes = [
        lambda: browser.search.fold(),
        lambda: browser.search.fold(),
        lambda: browser.search.sort(Sort("os")),
        lambda: browser.search.add(Term("os", "ubuntu24.04")),
        lambda: browser.search.choose(parse("hdf5"), "chosen"),
        typing,
        lambda: browser.search.clear(),
        lambda: browser.search.select_package("zlib"),
    ]
    views = [browser.state.view]
    for change in changes:
        change()
        browser.settle()
        views.append(browser.state.view)
    for view in views[-2::-1]:
        retrace(browser, -1)
        assert browser.state.view == view
    for view in views[1:]:
        retrace(browser, 1)
        assert browser.state.view == view


def test_a_step_after_going_back_replaces_those_that_were_ahead(browser: FakeBrowser) -> None:
    jump(browser, "openmpi")
    jump(browser, "hwloc")
    retrace(browser, -1)
    retrace(browser, -1)
    assert browser.detail == "hdf5@1.0"
    jump(browser, "zlib")
    retrace(browser, 1)
    assert browser.host.message == "Nothing to go forward to"
    assert browser.detail == "zlib@1.0"


def test_reloading_forgets_the_steps_and_keeps_the_spec(browser: FakeBrowser, index: Path) -> None:
    jump(browser, "openmpi")
    index.write_bytes(index.read_bytes().replace(b'"1.0"', b'"2.0"'))
    browser.load()
    retrace(browser, -1)
    assert browser.detail == "openmpi@2.0"
    assert browser.host.message == "Nothing to go back to"


def test_steps_are_kept_to_a_number(browser: FakeBrowser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(navigation, "MAX_STEPS", 3)
    for column in ("os", "version", "hash"):
        browser.search.sort(Sort(column))
        browser.settle()
    for column in ("version", "os", "os"):
        retrace(browser, -1)
        assert browser.state.view.sort == Sort(column)
    assert browser.host.message == "Nothing to go back to"


@pytest.mark.parametrize("is_kept", [True, False])
def test_trees_of_steps_are_kept_to_a_number_of_lines_a_shared_one_once(
    browser: FakeBrowser, monkeypatch: pytest.MonkeyPatch, is_kept: bool
) -> None:
    unfold(browser)
    unfold(browser, "openmpi")
    assert browser.state.details is not None
    assert browser.state.details.tree is not None
    lines = len(browser.state.details.tree.lines)
    monkeypatch.setattr(navigation, "MAX_LINES", lines if is_kept else lines - 1)
    browser.search.sort(Sort("os"))
    browser.settle()
    jump(browser, "hwloc")
    retrace(browser, -1)
    assert browser.detail == "hdf5@1.0"
    assert browser.state.details.tree is not None
    assert (len(browser.state.details.tree.lines) == lines) == is_kept


# Why


def path_of(browser: FakeBrowser) -> list[PathStep]:
    """Return what the dialog that is open shows."""
    browser.settle()
    dialog, _ = browser.host.dialogs[-1]
    assert isinstance(dialog, DependencyPathDialog)
    return list(dialog.steps)


def names(path: list[PathStep]) -> list[str]:
    return [step.spec.name for step in path]


def test_a_path_leads_to_the_dependency_under_the_cursor(browser: FakeBrowser) -> None:
    unfold(browser)
    unfold(browser, "openmpi")
    details = browser.state.details
    assert details is not None
    assert details.tree is not None
    row = details.tree.lines.index(line(browser, "hwloc"))
    browser.host.where = replace(browser.host.where, pane="detail", tree_row=row)
    browser.navigation.explain()
    path = path_of(browser)
    assert names(path) == ["hdf5", "openmpi", "hwloc"]
    _, done = browser.host.dialogs[-1]
    assert done is not None
    done(path[1].id)
    browser.settle()
    assert browser.detail == "openmpi@1.0"


def test_a_path_connects_marked_specs_either_way(browser: FakeBrowser) -> None:
    browser.navigation.explain()
    assert "then press w" in browser.host.message
    browser.host.change(marks=(HDF5,))
    for package, expected in (
        ("hwloc", ["hdf5", "openmpi", "hwloc"]),
        ("h5py", ["h5py", "hdf5"]),
    ):
        select(browser, package)
        browser.navigation.explain()
        assert names(path_of(browser)) == expected
    browser.host.change(marks=(HDF5, OTHER))
    browser.navigation.explain()
    browser.settle()
    assert browser.host.message == "neither of the two depends on the other"
    browser.host.change(marks=(HDF5, HDF5))
    browser.navigation.explain()
    browser.settle()
    assert browser.host.message == "this is the spec itself"


def test_a_message_explains_that_no_dependencies_are_listed(tmp_path: Path) -> None:
    write_page(tmp_path, [record(1)])
    browser = FakeBrowser(tmp_path).load()
    assert browser.state.details is not None
    assert browser.state.details.tree is None
    assert browser.controllers.details.missing_tree() == "This source lists no dependencies"
    browser.controllers.details.show(None)
    assert browser.controllers.details.missing_tree() == "no spec is selected"
